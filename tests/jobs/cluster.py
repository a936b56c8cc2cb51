"""A real standalone Spark cluster on loopback, from the installed package: a master and workers, each a process."""

import os
import signal
import socket
import subprocess
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from types import MappingProxyType
from typing import TypeAlias

import httpx
import pyspark

from app.jobs import java
from tests.jobs import class_archive

MASTER, WORKER = "org.apache.spark.deploy.master.Master", "org.apache.spark.deploy.worker.Worker"
EXECUTORS_NEED = ("numpy", "numba", "pyarrow")
SPARK_CLASS = Path(pyspark.__file__).parent / "bin" / "spark-class"
STARTS_WITHIN_S = 60.0
QUICK = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC -XX:-UsePerfData"
"""A JVM that lives for seconds is done sooner where it compiles once, and little."""

Condition: TypeAlias = Callable[[], bool]


def master_arguments(port: int, web_port: int) -> list[str]:
    """Arguments of a master."""
    return ["--host", "127.0.0.1", "--port", str(port), "--webui-port", str(web_port)]


def worker_arguments(work: Path) -> list[str]:
    """Arguments of a worker, without the master's address."""
    sized = ["--cores", "1", "--memory", "512m"]
    return ["--host", "127.0.0.1", *sized, "--webui-port", "0", "--work-dir", str(work)]


class Cluster:
    """One master and the workers that were started for it; each has its own process group.

    Parameters
    ----------
    folder : for the processes' files. Nothing leads from there to our code, nor does their environment.
    properties : of the master and the workers, in the file that Spark reads.
    """

    def __init__(self, folder: Path, properties: Mapping[str, str] = MappingProxyType({})) -> None:
        self.folder = folder
        self.port, self.web_port = free_port(), free_port()
        self.url = f"spark://127.0.0.1:{self.port}"
        self.environment = {
            "PATH": os.environ["PATH"],
            "JAVA_HOME": str(java.make_home(java.find(), folder / "java")),
            "SPARK_LOCAL_IP": "127.0.0.1",
            "SPARK_LOCAL_DIRS": str(folder),
            "SPARK_DAEMON_MEMORY": "256m",
            "SPARK_DAEMON_JAVA_OPTS": f"{QUICK} {class_archive.options()}",
        }
        if properties:
            Path(folder, "spark-defaults.conf").write_text("".join(f"{k} {v}\n" for k, v in properties.items()))
            self.environment["SPARK_CONF_DIR"] = str(folder)
        self.master: subprocess.Popen[bytes] | None = None
        self.workers: list[subprocess.Popen[bytes]] = []

    def start_master(self) -> None:
        """Start the master, at the same port each time."""
        self.master = self._start(MASTER, *master_arguments(self.port, self.web_port))
        self._wait(lambda: self._alive_workers() is not None)

    def start_worker(self) -> subprocess.Popen[bytes]:
        """Start a worker of one core, and wait until the master has it."""
        before = self._alive_workers() or 0
        work = self.folder / f"worker-{len(self.workers)}"
        worker = self._start(WORKER, *worker_arguments(work), self.url)
        self.workers.append(worker)
        self._wait(lambda: (self._alive_workers() or 0) > before)
        return worker

    def kill(self, process: subprocess.Popen[bytes]) -> None:
        """Kill a process and its children: a worker takes its executors with it."""
        os.killpg(process.pid, signal.SIGKILL)
        process.wait(20)
        if process in self.workers:
            self.workers.remove(process)

    def stop(self) -> None:
        """End every process that was started."""
        for process in [*self.workers, *([self.master] if self.master else [])]:
            if process.poll() is None:
                self.kill(process)

    def _start(self, *arguments: str) -> subprocess.Popen[bytes]:
        with Path(self.folder, "log").open("ab") as log:
            return subprocess.Popen(
                [SPARK_CLASS, *arguments],
                env=self.environment,
                cwd=self.folder,
                stdout=log,
                stderr=log,
                start_new_session=True,
            )

    def _alive_workers(self) -> int | None:
        return alive_workers(self.web_port)

    def _wait(self, until: Condition) -> None:
        wait_for(until, within_s=STARTS_WITHIN_S, report=lambda: Path(self.folder, "log").read_text()[-2000:])


def alive_workers(web_port: int) -> int | None:
    """The number of workers that a master has; None if it does not answer yet."""
    try:
        state = httpx.get(f"http://127.0.0.1:{web_port}/json/", timeout=2, verify=False)  # noqa: S501 -- no TLS
        return int(state.json()["aliveworkers"])
    except (httpx.HTTPError, ValueError):  # there is no listener yet, or not for this path
        return None


def wait_for(until: Condition, *, within_s: float, report: Callable[[], str] = lambda: "") -> None:
    """Wait until something holds; fail where it does not in time."""
    ends = time.monotonic() + within_s
    while not until():
        assert time.monotonic() < ends, report()
        time.sleep(0.05)


def free_port() -> int:
    """A port without a listener."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        return int(server.getsockname()[1])


def quick_java(folder: Path, **further: str) -> Path:
    """A file of Spark properties whose JVMs start quickly, with others: `executor_memory="512m"`."""
    quick = f"{QUICK} {class_archive.options()}"
    given = {"driver_extraJavaOptions": quick, "executor_extraJavaOptions": quick} | further
    path = folder / "spark.conf"
    path.write_text("".join(f"spark.{name.replace('_', '.', 1)} {value}\n" for name, value in given.items()))
    return path


@contextmanager
def running(
    folder: Path, *, workers: int = 2, properties: Mapping[str, str] = MappingProxyType({})
) -> Iterator[Cluster]:
    """A cluster of workers, each of one core and 512 MiB, that ends with the block."""
    cluster = Cluster(folder, properties)
    try:
        cluster.start_master()
        for _ in range(workers):
            cluster.start_worker()
        yield cluster
    finally:
        cluster.stop()
