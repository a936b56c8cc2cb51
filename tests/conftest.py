"""Fixtures of tests: a real Postgres, migrated, and the real service on a socket."""

import gc
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import httpx
import pytest

from app.store import embedded, migrations
from app.store.database import Database
from tests import databases, distribution, premises, profiles
from tests.service import client_of, served

if TYPE_CHECKING:
    from playwright.sync_api import Browser as Chromium
    from playwright.sync_api import BrowserContext

    from app.jobs.spark import Spark
    from tests.web.chromium import Visit

profiles.register()

# Where several files are tested at once, the processes that do so ignore Ctrl-C, and children would inherit it.
signal.signal(signal.SIGINT, signal.default_int_handler)

ROOT = Path(__file__).parents[1]
SAMPLES = ROOT / "tests" / "samples"
VECTORS = ROOT / "tests" / "vectors"


def pytest_configure(config: pytest.Config) -> None:
    """Add the rules by which tests are distributed, left out and judged."""
    # Imported and collected objects are not garbage; looking for it takes a tenth of the time. Not when this
    # module is imported: benchmarks and fuzzing import it, too, and their garbage would stay.
    gc.disable()
    for rules in (premises, profiles):
        config.pluginmanager.register(rules)
    if config.pluginmanager.has_plugin("xdist"):
        config.pluginmanager.register(distribution)


def pytest_collection_finish() -> None:
    """Exclude imported and collected objects, which stay until the end, from later collections of garbage."""
    gc.freeze()
    gc.enable()


@pytest.fixture(scope="session")
def postgres() -> Iterator[embedded.Server]:
    """A Postgres for the whole run."""
    with (
        databases.folder_of_postgres() as folder,
        embedded.running(folder / "data", shelter=folder / "shelter") as server,
    ):
        yield server


@pytest.fixture(scope="session")
def migrated_data_dir() -> Iterator[Path]:
    """A data folder of `rackplan serve` whose Postgres is initialised, migrated and stopped, for copies."""
    with databases.folder_of_postgres() as folder:
        with embedded.running(folder / "data") as server, Database(server.url) as database:
            migrations.upgrade(database.engine)
        yield folder / "data"


@pytest.fixture(scope="session")
def template(postgres: embedded.Server) -> str:
    """The name of a migrated database without rows, for copies."""
    with Database(postgres.url) as database:
        migrations.upgrade(database.engine)
    databases.create(databases.TEMPLATE, server=postgres.url, template=embedded.DATABASE)
    return databases.TEMPLATE


@pytest.fixture
def scratch(postgres: embedded.Server, template: str) -> Iterator[Database]:
    """A migrated database of the test's own, which it may break."""
    with databases.copied(template, server=postgres.url) as database:
        yield database


@pytest.fixture(scope="session")
def rows(postgres: embedded.Server, template: str) -> Iterator[databases.Rows]:
    """The rows of the database of the run."""
    with databases.copied(template, server=postgres.url) as database:
        yield databases.Rows(database)


@pytest.fixture
def database(rows: databases.Rows, request: pytest.FixtureRequest) -> Database:
    """The database of the run: without rows, or with the documentation's examples if the test has a client."""
    rows.reset(examples="client" in request.fixturenames)
    return rows.database


@pytest.fixture(scope="session")
def address(rows: databases.Rows) -> Iterator[str]:
    """The service of the run, on a free loopback port: the real application in a real server."""
    with served(rows.database) as address:
        yield address


@pytest.fixture
def client(address: str, database: Database) -> Iterator[httpx.Client]:  # noqa: ARG001 -- its rows are reset
    """A client of the service, over a database that has the documentation's examples and nothing else."""
    with client_of(address) as client:
        yield client


@pytest.fixture(scope="session")
def spark(tmp_path_factory: pytest.TempPathFactory) -> Iterator["Spark"]:
    """The local Spark that tests of a process share, as PySpark allows one at a time and it takes 5 s to start.

    The first job starts its session; a test may close it, and the next job starts another. `tests/distribution.py`
    has the files that use it run by one process.
    """
    from app.jobs.spark import Spark  # noqa: PLC0415 -- PySpark takes half a second to import; few files need it
    from tests.jobs.cluster import quick_java  # noqa: PLC0415 — PySpark takes half a second to import; few files need it

    with Spark("local[2]", properties=quick_java(tmp_path_factory.mktemp("driver"))) as spark:
        yield spark


@pytest.fixture(scope="module")  # its event loop runs until the end, and other tests of the process have their own
def chromium() -> Iterator["Chromium"]:
    """The system's Chromium, headless."""
    # Its driver takes half a second to import; few files need it.
    from playwright.sync_api import sync_playwright  # noqa: PLC0415 — few files need a browser

    from tests.web.chromium import CHROMIUM  # noqa: PLC0415 — few files need a browser

    if CHROMIUM is None:
        pytest.skip("no Chromium is installed; `make tools` installs it")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield browser
        browser.close()


@pytest.fixture(scope="module")
def windows(chromium: "Chromium") -> Iterator["BrowserContext"]:
    """Shared by the pages of a module: the process that renders them, and the scripts that it has compiled."""
    with chromium.new_context() as windows:
        yield windows


@pytest.fixture
def visit(windows: "BrowserContext", address: str) -> Iterator["Visit"]:
    """A page of the service in a browser that has no cookie; the service stores nothing else in browsers."""
    from tests.web.chromium import Visit  # noqa: PLC0415 — few files need a browser

    windows.clear_cookies()
    visit = Visit(windows.new_page(), address)
    yield visit
    visit.page.close()
