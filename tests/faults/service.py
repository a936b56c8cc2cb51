"""The service under faults, as an operator runs it: started again whenever its main process has ended."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from secrets import token_hex

import httpx
import psutil

from app.store import embedded
from tests.conftest import ROOT
from tests.jobs.cluster import free_port, quick_java

READY_WITHIN_S = 180.0
ENDS_WITHIN_S = 60.0
# Not RACKPLAN_…: the JVM of Spark and its children have none of these variables.
_MARK = "MARK_OF_TEST_RUN"
_SERVE = (
    "from app.cli import main, worker_process as w; w._MODULE = 'tests.faults.worker'; "
    "w._RESTARTED_AFTER_S = (0.2, 0.5, 1.0); main()"
)


class Service:
    """`rackplan serve` over a data folder, with Spark in its worker.

    Parameters
    ----------
    folder : for data, temporary files and logs.
    """

    def __init__(self, folder: Path) -> None:
        self.folder, self.data, self.temporary = folder, folder / "data", folder / "tmp"
        self.log = folder / "log"
        self.temporary.mkdir(mode=0o755)
        self.port = free_port()
        self.address = f"http://127.0.0.1:{self.port}"
        self.starts = 0
        self._mark = token_hex(8)
        self._process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        """Start it, unless it runs."""
        if self._process is not None and self._process.poll() is None:
            return
        inherited = {name: value for name, value in os.environ.items() if not name.startswith("RACKPLAN_")}
        own = {
            "PORT": str(self.port),
            "DATA_DIR": str(self.data),
            "SOLVER_PROCESSES": "1",
            "READER_PROCESSES": "1",
            "SPARK_MASTER": "local[2]",
            "SPARK_PROPERTIES": str(quick_java(self.folder)),
            # On a machine that is busy with faults a request is slow, not stuck.
            "DEADLINE_SECONDS": "120",
            "QUEUE_SECONDS": "60",
            "GRACE_SECONDS": "1",
        }
        environment = inherited | {f"RACKPLAN_{name}": value for name, value in own.items()}
        environment |= {"TMPDIR": str(self.temporary), "PYSPARK_PYTHON": sys.executable, _MARK: self._mark}
        options = ["--allow-root"] if os.geteuid() == 0 else []
        self.starts += 1
        with self.log.open("ab") as log:
            self._process = subprocess.Popen(
                [sys.executable, "-c", _SERVE, "serve", *options],
                cwd=ROOT,
                env=environment,
                stdout=log,
                stderr=log,
                start_new_session=True,
            )

    def wait_until_ready(self) -> None:
        """Wait until it is ready, and start it again if it ends meanwhile."""
        ends = time.monotonic() + READY_WITHIN_S
        while not self.is_ready():
            assert time.monotonic() < ends, f"the service is not ready: {self.log.read_text()[-3000:]}"
            self.start()
            time.sleep(0.1)

    def is_ready(self) -> bool:
        """Whether it answers that it is ready."""
        try:
            return httpx.get(f"{self.address}/readyz", timeout=5, verify=False).status_code == 200  # noqa: S501 -- no TLS
        except httpx.HTTPError:
            return False

    def stop(self) -> None:
        """Stop it as an operator does."""
        assert self._process is not None
        self._process.terminate()
        self._process.wait(ENDS_WITHIN_S)

    def kill(self) -> None:
        """End all that is left of it, after a test that failed."""
        for process in self.processes():
            with suppress(psutil.NoSuchProcess):
                process.kill()

    def url(self) -> str | None:
        """The URL of its Postgres, if that runs."""
        return embedded.url_of_running(self.data)

    def processes(self) -> list[psutil.Process]:
        """Every process that has its mark, or works in its data folder."""
        return [process for process in psutil.process_iter() if self._is_own(process)]

    def parts(self) -> dict[str, list[psutil.Process]]:
        """Targets of faults, by name; a part that does not run now is left out."""
        found: dict[str, list[psutil.Process]] = {}
        for process in self.processes():
            with suppress(psutil.Error):
                name = self._part(process)
                if name is not None and process.status() != psutil.STATUS_ZOMBIE:
                    found.setdefault(name, []).append(process)
        return found

    def _part(self, process: psutil.Process) -> str | None:
        words = " ".join(process.cmdline())
        if self._process is not None and process.pid == self._process.pid:
            return "api"
        names: dict[str, Callable[[], bool]] = {
            "postgres": lambda: words.split(" ")[0].endswith("/postgres"),
            "backend": lambda: words.startswith("postgres: ") and "rackplan rackplan 127" in words,
            "slot": lambda: process.name() == "rackplan-slots" or "multiprocessing.forkserver" in words,
            "worker": lambda: "tests.faults.worker" in words,
            "jvm": lambda: process.name() == "java" and "SparkSubmit" in words,
            "executor": lambda: "pyspark.daemon" in words or "pyspark/daemon" in words,
        }
        return next((name for name, matches in names.items() if matches()), None)

    def _is_own(self, process: psutil.Process) -> bool:
        try:
            if process.environ().get(_MARK) == self._mark:
                return True
        except (psutil.Error, OSError):
            pass
        try:
            return Path(process.cwd()).is_relative_to(self.data)
        except (psutil.Error, OSError):
            return False

    def files(self) -> Iterator[Path]:
        """Its temporary files."""
        return (path for path in self.temporary.rglob("*") if not path.is_dir())


def resume(process: psutil.Process) -> None:
    """Let a paused process go on, if it is still there."""
    with suppress(psutil.NoSuchProcess):
        process.send_signal(signal.SIGCONT)
