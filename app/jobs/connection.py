"""The JVM behind a Spark session: how it is started, and that it ends with this process.

The JVM has the other end of a pipe from this process and ends when the pipe closes, which happens even if this process
is killed. Its own children (Python workers, executors of a cluster) end with it.
"""

import os
import re
import shlex
import subprocess
import sys
import threading
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path

import psutil
import pyspark
import structlog
from py4j.protocol import Py4JError
from pyspark import SparkConf, SparkContext
from pyspark.errors import PySparkException
from pyspark.java_gateway import launch_gateway
from pyspark.sql import SparkSession

from app.core.compiled import entries
from app.errors.machine import SparkUnavailable
from app.jobs import java, shipping
from app.jobs.processes import kill_with_descendants
from app.services.spark_master import SparkMaster
from app.store.scratch import Scratch

_LOGGING = Path(__file__).parent / "log4j2.properties"
_STOPS_WITHIN_S = 1.0
_ANSWERS_WITHIN_S = 3.0
_ROWS_AT_ONCE = 65_536
_DRIVER_ADDRESS = re.compile(r"^[ \t]*+spark\.driver\.(host|bindAddress)\b", re.MULTILINE)
_PROTECTIONS = {
    name: re.compile(rf"^[ \t]*+{re.escape(name)}[ \t=:]++true\b", re.MULTILINE)
    for name in ("spark.authenticate", "spark.network.crypto.enabled")
}
"""Settings that keep others on a network from running code on executors and from reading traffic."""
_STARTING = threading.Lock()  # PySpark reads the environment of the process, and allows one context at a time


class Connection:
    """A session, its JVM, and their folder.

    Parameters
    ----------
    properties : a file of further Spark properties, in the format of spark-defaults.conf. Its address of the driver
        has precedence; all other properties that are set here have precedence over the file.

    Raises
    ------
    JavaNotFound
        No Java was found.
    SparkUnavailable
        The master does not answer, or Spark cannot start on it.
    """

    def __init__(self, master: SparkMaster, *, driver_memory: str, properties: Path | None) -> None:
        local_address = "127.0.0.1" if master.is_local else master.connect(within_s=_ANSWERS_WITHIN_S)
        self._master = master
        if missing := [] if master.is_local else unprotected(properties):
            structlog.get_logger().warning("spark.unprotected", master=master.url, missing=missing)
        self.had_executors = False
        runtime = java.find()
        scratch = os.environ.get("SPARK_LOCAL_DIRS") if master.is_local else None
        self._scratch = Scratch("rackplan-spark-", within=scratch and scratch.split(",")[0])
        self._folder = self._scratch.path
        self._process: subprocess.Popen[bytes] | None = None
        try:
            self.session = self._start(
                self._variables(runtime, properties),
                configured=SparkConf(loadDefaults=False).setAll(
                    list(self._properties(local_address, driver_memory, properties).items())
                ),
            )
            self.archive = shipping.write_archive(self._folder)
            self.session.sparkContext.addFile(str(self.archive))
        except (Py4JError, PySparkException, ConnectionError) as failure:  # a JVM that the master rejects ends
            self.end()
            raise SparkUnavailable(
                f"no session could be started on {master.url}: {_first_line(failure)}", master=master.url
            ) from failure
        except BaseException:
            self.end()
            raise

    @property
    def is_alive(self) -> bool:
        """Whether the JVM runs and its context is not stopped; Spark stops it when it loses the master."""
        if self._process is None or self._process.poll() is not None:
            return False
        try:
            # PySpark has no public API for these two.
            return not self.session.sparkContext._jsc.sc().isStopped()  # noqa: SLF001 — PySpark has no public way
        except (Py4JError, OSError):  # the JVM is ending
            return False

    @property
    def executors(self) -> int:
        """Number of executors of the session; in local mode the driver is one."""
        count = int(self.session.sparkContext._jsc.sc().getExecutorMemoryStatus().size())  # noqa: SLF001 — PySpark has no public way
        return count if self._master.is_local else count - 1

    def close(self) -> None:
        """Unregister from the master of a cluster, and end the JVM.

        A master that does not answer within a second notices the end of the connection. A local session is only ended:
        stopping it takes a second, and leaves nothing behind that `end` would.
        """
        if not self._master.is_local:
            stopping = threading.Thread(target=self._stop, daemon=True)
            stopping.start()
            stopping.join(_STOPS_WITHIN_S)
        self.end()

    def end(self) -> None:
        """End the JVM and its Python workers without stopping the session, and remove its folder."""
        if self._process is not None:
            with suppress(psutil.NoSuchProcess):
                kill_with_descendants(psutil.Process(self._process.pid))
            if self._process.stdin is not None:
                self._process.stdin.close()
            self._process.wait()
            self._gateway.shutdown()
        # PySpark caches the first JVM of a process, and would use a dead one for the next session.
        SparkContext._gateway = SparkContext._jvm = None  # noqa: SLF001 — PySpark has no public way
        SparkContext._active_spark_context = None  # noqa: SLF001 — PySpark has no public way
        SparkSession._instantiatedSession = None  # noqa: SLF001 — PySpark has no public way
        self._scratch.remove()

    def _stop(self) -> None:
        # If the session has ended already, PySpark warns or raises.
        with warnings.catch_warnings(), suppress(Py4JError, OSError):
            warnings.simplefilter("ignore", RuntimeWarning)
            self.session.stop()

    def _start(self, variables: Mapping[str, str], configured: SparkConf) -> SparkSession:
        with _STARTING, _environment(variables):
            self._gateway = launch_gateway(configured)  # type: ignore[no-untyped-call] # PySpark has no types for it
            self._process = self._gateway.proc
            context = SparkContext(conf=configured, gateway=self._gateway)
            # The end of the JVM would be printed with a traceback.
            context._accumulatorServer.handle_error = lambda *_: None  # type: ignore[method-assign] # noqa: SLF001 — PySpark has no public way
            return SparkSession(context)

    def _variables(self, runtime: java.Java, properties: Path | None) -> Mapping[str, str]:
        variables = {
            "JAVA_HOME": str(java.make_home(runtime, self._folder / "java")),
            # The variable may name a Spark of another version, which is incompatible with this PySpark.
            "SPARK_HOME": str(Path(pyspark.__file__).parent),
            "PYSPARK_PIN_THREAD": "true",
            "PYSPARK_SUBMIT_ARGS": "pyspark-shell",
        }
        if properties is not None:
            variables["PYSPARK_SUBMIT_ARGS"] = shlex.join(["--properties-file", str(properties), "pyspark-shell"])
        if self._master.is_local:
            variables |= {"SPARK_LOCAL_IP": "127.0.0.1", "PYSPARK_PYTHON": sys.executable}
            # A JVM that is killed leaves its files, so that they are in the folder that `end` removes.
            variables["SPARK_LOCAL_DIRS"] = str(self._folder / "scratch")
            # Executors run the same loops as this installation, so they need not compile them.
            variables[entries.READ_ONLY_PATH] = str(entries.installed_folder())
        elif "PYSPARK_PYTHON" not in os.environ:
            variables["PYSPARK_PYTHON"] = "python3"  # of the executors' PATH
        return variables

    def _properties(
        self, local_address: str | None, driver_memory: str, properties_file: Path | None
    ) -> Mapping[str, str]:
        properties = {
            "spark.master": self._master.retrying,
            "spark.app.name": "rackplan",
            "spark.driver.memory": driver_memory,
            "spark.ui.enabled": "false",
            "spark.ui.showConsoleProgress": "false",
            # Several sweeps run concurrently: each gets its share of the executors.
            "spark.scheduler.mode": "FAIR",
            "spark.sql.execution.arrow.maxRecordsPerBatch": str(_ROWS_AT_ONCE),
            "spark.sql.warehouse.dir": (self._folder / "warehouse").as_uri(),
            # The operator's spark.driver.extraJavaOptions follow these, and have precedence.
            "spark.driver.defaultJavaOptions": f"-Dlog4j2.configurationFile={_LOGGING.as_uri()} "
            f"-Djava.io.tmpdir={self._folder}",
        }
        text = "" if properties_file is None else properties_file.read_text(encoding="utf-8")
        if local_address is not None and not _DRIVER_ADDRESS.search(text):
            properties |= {"spark.driver.bindAddress": local_address, "spark.driver.host": local_address}
        return properties


def unprotected(properties: Path | None) -> list[str]:
    """The properties that protect the connections of a cluster and that the file does not set to true."""
    text = "" if properties is None else properties.read_text(encoding="utf-8")
    return [name for name, pattern in _PROTECTIONS.items() if not pattern.search(text)]


@contextmanager
def _environment(variables: Mapping[str, str]) -> Iterator[None]:
    """Set environment variables of this process temporarily: PySpark passes no others on."""
    before = {name: os.environ.get(name) for name in variables}
    os.environ.update(variables)
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
