"""What is measured over HTTP: a real Postgres, and the real service in a process of its own."""

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

import httpx
import sqlalchemy as sa

from app.api.examples import EXAMPLE_SWEEP_ID
from app.store import embedded, migrations
from app.store.database import Database
from app.store.tables import plans

ROOT = Path(__file__).parents[1]
_STARTS_WITHIN_S = 180.0
_STOPS_WITHIN_S = 15.0


@dataclass(frozen=True, slots=True)
class Service:
    """A service that answers."""

    client: httpx.Client
    database: Database
    """The one that the service keeps its plans in; connections from this process are others than the service's."""
    pid: int

    def kept_plans(self) -> int:
        """How many plans the service has stored."""
        with self.database.engine.connect() as connection:
            return connection.execute(sa.select(sa.func.count()).select_from(plans)).scalar_one()

    def memory_bytes(self) -> dict[str, int]:
        """How much of the server's memory is resident: now, and at most since it started."""
        status = Path(f"/proc/{self.pid}/status").read_text(encoding="ascii")
        kib = {
            name: int(value.split()[0])
            for name, _, value in (line.partition(":") for line in status.splitlines())
            if name in ("VmRSS", "VmHWM")
        }
        return {"resident_bytes": kib["VmRSS"] * 1024, "peak_bytes": kib["VmHWM"] * 1024}


@contextmanager
def database() -> Iterator[Database]:
    """An empty, migrated database in a Postgres of its own."""
    with tempfile.TemporaryDirectory(prefix="rackplan-benchmarks-") as folder:
        Path(folder).chmod(0o755)  # root's Postgres runs as another account, which has to get there
        with embedded.running(Path(folder)) as server, Database(server.url) as found:
            migrations.upgrade(found.engine)
            yield found


@contextmanager
def running(**settings: str) -> Iterator[Service]:
    """The service and its database, with the examples and these settings: none of the environment counts."""
    with database() as found, tempfile.TemporaryFile() as log:
        environment = {name: value for name, value in os.environ.items() if not name.startswith("RACKPLAN_")}
        environment |= {"RACKPLAN_EXAMPLES": "yes", **settings}
        environment["RACKPLAN_DATABASE_URL"] = found.url.render_as_string(hide_password=False)
        server = subprocess.Popen(
            [sys.executable, "-m", "benchmarks.baseline"],
            cwd=ROOT,
            env=environment,
            stdout=subprocess.PIPE,
            stderr=log,
            text=True,
        )
        try:
            assert server.stdout is not None
            address = f"http://127.0.0.1:{server.stdout.readline().strip()}"
            with httpx.Client(base_url=address, timeout=60) as client:
                if not _is_prepared(client, server):
                    log.seek(0)
                    raise RuntimeError(f"the service did not start: {log.read().decode(errors='replace')[-4000:]}")
                yield Service(client, found, server.pid)
        finally:
            server.terminate()
            try:
                server.wait(_STOPS_WITHIN_S)
            except subprocess.TimeoutExpired:
                server.kill()
                server.wait()


def _is_prepared(client: httpx.Client, server: subprocess.Popen[str]) -> bool:
    """Wait for the last of the examples, which the service stores while it answers already."""
    deadline = time.monotonic() + _STARTS_WITHIN_S
    while server.poll() is None and time.monotonic() < deadline:
        with suppress(httpx.TransportError):  # it has the port, but does not listen yet
            if client.get(f"/v1/sweeps/{EXAMPLE_SWEEP_ID}").is_success:
                return True
        time.sleep(0.05)
    return False
