"""The JVM behind a Spark session: how it is started, and that it ends with this process.

The JVM holds the other end of a pipe from this process and ends when it closes, which happens even where this process
is killed. What it starts itself (Python workers, executors of a cluster) ends with it.
"""

import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import threading
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import pyspark
from py4j.protocol import Py4JError
from pyspark import SparkConf, SparkContext
from pyspark.errors import PySparkException
from pyspark.java_gateway import launch_gateway
from pyspark.sql import SparkSession

from app.errors import SparkUnavailable
from app.jobs import java, shipping
from app.services.spark_master import SparkMaster

_LOGGING = Path(__file__).parent / "log4j2.properties"
_ENDS_WITHIN_S = 10.0
_ANSWERS_WITHIN_S = 3.0
_ROWS_AT_ONCE = 65_536
_DRIVER_ADDRESS = re.compile(r"^\s*spark\.driver\.(host|bindAddress)\b", re.MULTILINE)
_STARTING = threading.Lock()  # PySpark takes its environment from the process, and one context at a time


class Connection:
    """A session, its JVM, and the folder of what they need.

    Parameters
    ----------
    properties : a file of further Spark properties, in the form of spark-defaults.conf. Where it says how executors
        reach the driver, that holds; what else is set here wins over it.

    Raises
    ------
    JavaNotFound
        There is no Java for the JVM.
    SparkUnavailable
        The master does not answer, or Spark gives up on it.
    """

    def __init__(self, master: SparkMaster, *, driver_memory: str, properties: Path | None) -> None:
        local_address = "127.0.0.1" if master.is_local else master.connect(within_s=_ANSWERS_WITHIN_S)
        self._master = master
        self.had_executors = False
        found = java.find()
        self._folder = Path(tempfile.mkdtemp(prefix="rackplan-spark-"))
        self._process: subprocess.Popen[bytes] | None = None
        try:
            self.session = self._start(
                self._variables(found, properties),
                configured=SparkConf(loadDefaults=False).setAll(
                    list(self._properties(local_address, driver_memory, properties).items())
                ),
            )
            self.archive = shipping.write_archive(self._folder)
            self.session.sparkContext.addFile(str(self.archive))
        except (Py4JError, PySparkException) as failure:
            self.end()
            raise SparkUnavailable(
                f"no session could be started on {master.url}: {_first_line(failure)}", master=master.url
            ) from failure
        except BaseException:
            self.end()
            raise

    @property
    def is_alive(self) -> bool:
        """Whether the JVM runs and its context has not been stopped, as Spark does when it gives a master up."""
        if self._process is None or self._process.poll() is not None:
            return False
        try:
            # PySpark has no public way to ask these two things of the JVM.
            return not self.session.sparkContext._jsc.sc().isStopped()  # noqa: SLF001
        except (Py4JError, OSError):  # it ends at this moment
            return False

    @property
    def executors(self) -> int:
        """How many executors the session has; in local mode the driver is one."""
        known = int(self.session.sparkContext._jsc.sc().getExecutorMemoryStatus().size())  # noqa: SLF001
        return known if self._master.is_local else known - 1

    def close(self) -> None:
        """Stop the session, then the JVM."""
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", RuntimeWarning)  # of a JVM that is gone already
                self.session.stop()
        except (Py4JError, OSError):
            pass  # the same of a session that is gone; the JVM is ended below whatever state it is in
        finally:
            self.end()

    def end(self) -> None:
        """End the JVM without asking it, and forget it."""
        if self._process is not None:
            if self._process.stdin is not None:
                self._process.stdin.close()
            try:
                self._process.wait(_ENDS_WITHIN_S)
            except subprocess.TimeoutExpired:
                self._process.kill()
                self._process.wait()
            self._gateway.shutdown()
        # PySpark keeps the first JVM of a process for ever, and would hand a dead one to the next session.
        SparkContext._gateway = SparkContext._jvm = None  # noqa: SLF001
        SparkContext._active_spark_context = None  # noqa: SLF001
        SparkSession._instantiatedSession = None  # noqa: SLF001
        shutil.rmtree(self._folder, ignore_errors=True)

    def _start(self, variables: Mapping[str, str], configured: SparkConf) -> SparkSession:
        with _STARTING, _environment(variables):
            self._gateway = launch_gateway(configured)  # type: ignore[no-untyped-call] # PySpark gives it no types
            self._process = self._gateway.proc
            return SparkSession(SparkContext(conf=configured, gateway=self._gateway))

    def _variables(self, found: java.Java, properties: Path | None) -> Mapping[str, str]:
        variables = {
            "JAVA_HOME": str(java.make_home(found, self._folder / "java")),
            # Spark of another version, which the variable may lead to, would not understand this one's Python.
            "SPARK_HOME": str(Path(pyspark.__file__).parent),
            "PYSPARK_PIN_THREAD": "true",
            "PYSPARK_SUBMIT_ARGS": "pyspark-shell",
        }
        if properties is not None:
            variables["PYSPARK_SUBMIT_ARGS"] = shlex.join(["--properties-file", str(properties), "pyspark-shell"])
        if self._master.is_local:
            variables |= {"SPARK_LOCAL_IP": "127.0.0.1", "PYSPARK_PYTHON": sys.executable}
        elif "PYSPARK_PYTHON" not in os.environ:
            variables["PYSPARK_PYTHON"] = "python3"  # of the executors' PATH
        return variables

    def _properties(
        self, local_address: str | None, driver_memory: str, properties_file: Path | None
    ) -> Mapping[str, str]:
        properties = {
            "spark.master": self._master.url,
            "spark.app.name": "rackplan",
            "spark.driver.memory": driver_memory,
            "spark.ui.enabled": "false",
            "spark.ui.showConsoleProgress": "false",
            # Several sweeps run beside each other: each gets its share of the executors.
            "spark.scheduler.mode": "FAIR",
            "spark.sql.execution.arrow.maxRecordsPerBatch": str(_ROWS_AT_ONCE),
            "spark.sql.warehouse.dir": (self._folder / "warehouse").as_uri(),
            # What the operator adds in spark.driver.extraJavaOptions comes after these, and wins.
            "spark.driver.defaultJavaOptions": f"-Dlog4j2.configurationFile={_LOGGING.as_uri()}",
        }
        text = "" if properties_file is None else properties_file.read_text(encoding="utf-8")
        if local_address is not None and not _DRIVER_ADDRESS.search(text):
            properties |= {"spark.driver.bindAddress": local_address, "spark.driver.host": local_address}
        return properties


@contextmanager
def _environment(given: Mapping[str, str]) -> Iterator[None]:
    """Set variables of this process for a while: PySpark hands its own environment on, and takes no other."""
    before = {name: os.environ.get(name) for name in given}
    os.environ.update(given)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value


def _first_line(failure: Exception) -> str:
    return next((line for line in str(failure).splitlines() if line.strip()), type(failure).__name__)
