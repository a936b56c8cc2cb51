"""Which tests run in the same process, and in which order, if several processes share them (`make test`)."""

from contextlib import suppress
from importlib import import_module
from pathlib import Path, PurePath

import pytest
from xdist.scheduler import LoadFileScheduling  # type: ignore[import-untyped] # it has none

ONE_SESSION = (
    *("tests/jobs/test_spark_local.py", "tests/jobs/test_sweeps_docs.py", "tests/client/test_client_docs.py"),
    *("tests/jobs/test_hostile_datasets.py", "tests/jobs/test_key_skew.py", "tests/jobs/test_sweep_chunks.py"),
    "tests/jobs/test_spark_ends.py",
)
"""Files that use the local Spark session, of which a process has one, in the order in which they leave it usable."""
LONGEST = (
    *(PurePath(path).name for path in ONE_SESSION),
    *("test_sweep_faults.py", "test_spark_cluster.py"),
    *("test_stopping.py", "test_unprivileged.py", "test_webhooks.py", "test_cli.py", "test_fuzz.py", "test_jobs.py"),
    *("test_compiled_entries.py", "test_cli_check.py", "test_reassignment_docs.py", "test_console_in_chromium.py"),
    *("test_embedded.py", "test_access_matrix.py", "test_kafka_python.py", "test_reassignment_laws.py"),
)
"""Files that take longest, or wait most: begun first, so that others use the cores meanwhile and all end together."""
DIVISIBLE = ("test_sweep_faults.py", "test_stopping.py")
"""Files whose tests share nothing that is costly, so that any process may run any of them."""


class Files(LoadFileScheduling):  # type: ignore[misc] # it has no types
    """A file is run by one process; some are divided, and some run by the same process."""

    def _split_scope(self, nodeid: str) -> str:
        path = PurePath(nodeid.split("::", 1)[0])
        if path.as_posix() in ONE_SESSION:
            return "spark"
        return nodeid if path.name in DIVISIBLE else str(path)


def pytest_xdist_make_scheduler(config: pytest.Config, log: object) -> Files:
    """Distribute tests by `Files`."""
    return Files(config, log)


@pytest.hookimpl(tryfirst=True)
def pytest_collection(session: pytest.Session) -> None:
    """Import a share of the modules before all of them are collected, in each of several processes.

    Each process collects every file. On a fresh clone it would rewrite the assertions of all of them, which takes half
    of the time to collect; it reads those that another process has rewritten and stored. Failures are left to the
    collection, which reports them.
    """
    share = getattr(session.config, "workerinput", None)
    if share is None:
        return
    first, step = int(share["workerid"].removeprefix("gw")), share["workercount"]
    for path in sorted(session.config.rootpath.glob("tests/**/test_*.py"))[first::step]:
        if any(path.is_relative_to(Path(argument).absolute()) for argument in session.config.args):
            with suppress(Exception, pytest.skip.Exception):
                import_module(".".join(path.relative_to(session.config.rootpath).with_suffix("").parts))


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Put the longest files first; everything else stays in its order."""
    items.sort(key=lambda item: LONGEST.index(item.path.name) if item.path.name in LONGEST else len(LONGEST))
