"""Where the clock of a machine is read, which may jump and differ from the clocks of others, and why it may be."""

import ast
from collections.abc import Iterator

import pytest

from tests.conftest import ROOT

WALL_CLOCKS = {
    "app/cli/database_commands.py": "an expiry in days from now, and what a list says of expired keys",
    "app/cli/watching.py": "names and lines of a terminal",
    "app/core/compiled/__init__.py": "ages of files, as in the two below: at worst a loop is compiled again",
    "app/core/compiled/entries.py": "unused entries of the cache are deleted by the times of their files",
    "app/core/compiled/sources.py": "a source that was changed since the start",
    "app/jobs/webhooks.py": "the time in a signature, which the receiver compares with its own clock",
    "app/services/oidc/sign_in.py": "a sign-in that has begun ends after minutes, by the clock that began it",
    "app/services/oidc/tokens.py": "the times in tokens of the issuer, with the leeway of the settings",
    "app/services/plans/status.py": "the history of a plan, which is in the order of its changes",
    "app/store/transaction.py": "ids: their order is that of a list, and any order has each item on one page",
    "app/store/webhooks.py": "the time that an event states",
    "app/web/administration/keys.py": "an expiry in days from now",
    "app/web/pages.py": "how long ago something was, in words",
}
"""Other comparisons of moments use the clock of the database; pauses and deadlines of requests use monotonic clocks."""
_READ = {"now", "utcnow", "today", "time", "time_ns", "localtime", "gmtime", "ctime", "strftime"}
_OF = {"datetime", "date", "time"}


def wall_clocks(source: str) -> Iterator[int]:
    """The lines on which a wall clock is read, or named so that it can be."""
    tree = ast.parse(source)
    imported = {
        alias.asname or alias.name
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom) and node.module == "time"
        for alias in node.names
        if alias.name in _READ
    }
    for node in ast.walk(tree):
        match node:
            case ast.Attribute(value=ast.Name(id=module), attr=name) if module in _OF and name in _READ:
                yield node.lineno
            case ast.Name(id=name) if name in imported:
                yield node.lineno


@pytest.mark.long
def test_wall_clocks_are_read_where_it_is_stated() -> None:
    """Leases, expiries and deadlines that are compared with one are off by the clocks' difference."""
    found = {
        str(path.relative_to(ROOT))
        for path in (ROOT / "app").rglob("*.py")
        if any(wall_clocks(path.read_text(encoding="utf-8")))
    }
    assert found == set(WALL_CLOCKS)


def test_each_way_to_read_one_is_found() -> None:
    read = ["datetime.now(UTC)", "date.today()", "time.time()", "f(clock=time.time)", "time_ns()"]
    for line in read:
        assert list(wall_clocks(f"from time import time_ns\n{line}")) == [2]
    for line in ("time.monotonic()", "func.now()", "datetime.fromtimestamp(0, UTC)", "perf_counter()"):
        assert not list(wall_clocks(f"from time import perf_counter\n{line}"))
