"""What tests run against: a real Postgres, migrated, and the real service on a socket."""

import signal
import tempfile
from collections.abc import Iterator
from pathlib import Path
from threading import Thread

import httpx
import pytest
import sqlalchemy as sa
import uvicorn
from hypothesis import HealthCheck, settings

from app.api.seeding import keep_example_reassignment, keep_example_sweep, keep_examples
from app.main import create_app
from app.settings import Settings
from app.store import embedded, migrations
from app.store.database import Database
from app.store.tables import metadata

# Machines are noisy: an example that takes long is no failure, and the first one may load compiled loops.
settings.register_profile("rackplan", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("rackplan")

# Where several files are tested at once, the processes that do so ignore Ctrl-C, and what tests start would inherit it.
signal.signal(signal.SIGINT, signal.default_int_handler)

ROOT = Path(__file__).parents[1]
LONGEST = ("test_sweep_faults.py", "test_fuzz.py")
"""Files that take minutes: begun first, so that those who test at once end together."""
SAMPLES = ROOT / "tests" / "samples"
VECTORS = ROOT / "tests" / "vectors"


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Put the longest files first; everything else stays in its order."""
    items.sort(key=lambda item: item.path.name not in LONGEST)


@pytest.fixture(scope="session")
def postgres() -> Iterator[embedded.Server]:
    """A Postgres for the whole run, in a folder that its account can reach."""
    with tempfile.TemporaryDirectory(prefix="rackplan-tests-") as folder:
        Path(folder).chmod(0o755)
        with embedded.running(Path(folder, "data"), shelter=Path(folder, "shelter")) as server:
            yield server


@pytest.fixture(scope="session")
def migrated(postgres: embedded.Server) -> Iterator[Database]:
    """The database of the run, migrated."""
    with Database(postgres.url) as database:
        migrations.upgrade(database.engine)
        yield database


@pytest.fixture
def database(migrated: Database) -> Iterator[Database]:
    """The database, empty again after the test."""
    yield migrated
    with migrated.engine.begin() as connection:
        names = ", ".join(table.name for table in metadata.sorted_tables)
        connection.execute(sa.text(f"TRUNCATE {names}, procrastinate_jobs, procrastinate_events CASCADE"))


@pytest.fixture(scope="session")
def address(migrated: Database) -> Iterator[str]:
    """The service of the run, on a free loopback port: the real application in a real server."""
    configured = Settings(database_url=migrated.url.render_as_string(hide_password=False), log_level="warning")
    app = create_app(configured)
    config = uvicorn.Config(app, host="127.0.0.1", port=0, log_config=None, access_log=False)
    server = uvicorn.Server(config)
    thread = Thread(target=server.run, daemon=True)
    thread.start()
    while not server.started:
        assert thread.is_alive(), "the service did not start"
        thread.join(0.02)
    assert app.state.is_prepared.wait(300), "the examples were not kept"
    yield f"http://127.0.0.1:{server.servers[0].sockets[0].getsockname()[1]}"
    server.should_exit = True
    thread.join(20)


@pytest.fixture
def client(address: str, database: Database) -> Iterator[httpx.Client]:
    """A client of the service, over a database that holds the documentation's examples and nothing else."""
    keep_examples(database)
    keep_example_reassignment(database)
    keep_example_sweep(database)
    with httpx.Client(base_url=address, timeout=60) as client:
        yield client
