"""Text of a request in a log line stays inside its line, for people as for programs."""

import fcntl
import io
import json
import logging
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Literal

import httpx
import psycopg
import pytest
import sqlalchemy as sa
import structlog
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from app import logs
from app.errors.requests import InvalidField
from app.store.database import Database
from tests import forked
from tests.api.conftest import environment_of
from tests.conftest import ROOT
from tests.service import client_of

HOSTILE = "/a\x1b]0;owned\x07\n2026-01-01T00:00:00Z [info     ] request.answered status=200\u202e\x9b31m\u2028"


Capture = pytest.CaptureFixture[str]


@pytest.fixture(autouse=True)
def restored() -> Iterator[None]:
    """Logging is as it was before the test."""
    root = logging.getLogger()
    before, level = root.handlers[:], root.level
    yield
    root.handlers[:] = before
    root.setLevel(level)
    structlog.reset_defaults()


def uncoloured(text: str) -> str:
    """A console's text without the styles of its renderer."""
    for style in vars(structlog.dev).values():
        if isinstance(style, str) and style.startswith("\x1b["):
            text = text.replace(style, "")
    return text


@given(text=st.text(st.characters(exclude_categories=["Cs"])) | st.just(HOSTILE))
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_a_value_ends_no_line_of_the_console(capsys: Capture, text: str) -> None:
    logs.configure("console", "info")
    structlog.get_logger("t").info("request.answered", path=text)
    logging.getLogger("library").warning(text)
    lines = uncoloured(capsys.readouterr().err).split("\n")
    assert len(lines) == 3
    assert all(line.isprintable() for line in lines)


def test_a_traceback_on_the_console_is_indented_and_acts_on_no_terminal(capsys: Capture) -> None:
    logs.configure("console", "info")
    structlog.get_logger("t").error("request.failed", exc_info=ValueError(HOSTILE))
    first, *rest = uncoloured(capsys.readouterr().err).rstrip("\n").split("\n")
    assert "request.failed" in first
    assert any("ValueError" in line for line in rest)
    assert all(line.startswith("    ") and line.isprintable() for line in rest)


def test_a_line_of_json_is_one_line_in_ascii(capsys: Capture) -> None:
    logs.configure("json", "info")
    structlog.get_logger("t").info("request.answered", path=HOSTILE)
    (line,) = capsys.readouterr().err.splitlines()
    assert line.isascii()
    assert json.loads(line)["path"] == HOSTILE


def test_a_line_that_cannot_be_written_is_lost(monkeypatch: pytest.MonkeyPatch) -> None:
    """As to a pipe whose reader has ended: the request that is logged succeeds all the same."""
    logs.configure("json", "info")
    closed = io.StringIO()
    closed.close()
    monkeypatch.setattr(sys, "stderr", closed)
    structlog.get_logger("t").info("lost")
    open_again = io.StringIO()
    monkeypatch.setattr(sys, "stderr", open_again)
    structlog.get_logger("t").info("written")
    assert json.loads(open_again.getvalue())["event"] == "written"


MARKER = "marker-of-a-value"
OF_ENGINE = {
    "a text that is no UUID": "SELECT CAST(:value AS uuid)",
    "a text that is no number": "SELECT CAST(:value AS integer)",
    "a check that fails": "WITH made AS (SELECT CAST(:value AS text) AS t) SELECT CAST('{' || t AS json) FROM made",
    "two rows of one key": "INSERT INTO installation_keys (purpose, key) VALUES (:value, 'a'), (:value, 'b')",
    "a column that must have a value": "INSERT INTO installation_keys (purpose, key) VALUES (:value, NULL)",
    "a table that is not there": "SELECT :value FROM no_such_table",
    "a raised exception": "DO $$ BEGIN RAISE EXCEPTION '" + MARKER + "'; END $$",
}


@pytest.mark.parametrize("log_format", ["console", "json"])
@pytest.mark.parametrize("statement", OF_ENGINE.values(), ids=OF_ENGINE)
def test_no_value_of_a_statement_is_logged(
    database: Database, capsys: Capture, log_format: Literal["console", "json"], statement: str
) -> None:
    logs.configure(log_format, "info")
    shown = statement.replace(MARKER, ":value")
    with database.engine.connect() as connection:
        with pytest.raises(sa.exc.StatementError) as raised:
            connection.execute(sa.text(statement), {"value": MARKER} if shown == statement else {})
        if shown == statement:
            _log_of(raised.value, "SELECT" if "SELECT" in statement else "INSERT", capsys)
        of_psycopg = connection.connection.driver_connection
        assert isinstance(of_psycopg, psycopg.Connection)
        cursor = psycopg.ClientCursor(of_psycopg)  # its statements have the values
        connection.rollback()
        with pytest.raises(psycopg.Error) as of_driver:
            cursor.execute(statement.replace(":value", "%(value)s"), {"value": MARKER} if shown == statement else None)
        _log_of(of_driver.value, type(of_driver.value).__name__, capsys)


def test_a_text_that_the_driver_rejects_is_not_logged(database: Database, capsys: Capture) -> None:
    logs.configure("json", "info")
    with database.engine.connect() as connection, pytest.raises(InvalidField) as raised:
        connection.execute(sa.text("SELECT CAST(:value AS text)"), {"value": f"{MARKER}\0"})
    _log_of(raised.value, "InvalidField", capsys)


def _log_of(failure: Exception, expected: str, capsys: Capture) -> None:
    """Log a failure as the service, a library and another failure that it is the cause of do."""
    outer = RuntimeError("defect")
    outer.__cause__ = failure
    for each in (failure, outer, ExceptionGroup("several", [failure])):
        structlog.get_logger().error("request.failed", exc_info=each)
        logging.getLogger("library").error("failed", exc_info=each)
        text = capsys.readouterr().err
        assert MARKER not in text
        assert expected in text


class TestUnreadPipe:
    """A pipe whose reader has stopped: a write to it blocks for as long as it is full."""

    REQUESTS = 1000

    @pytest.mark.long
    @pytest.mark.parametrize("solver_processes", ["0", "1"])
    def test_a_service_answers_and_counts_the_lines_that_are_missing(
        self, scratch: Database, tmp_path: Path, solver_processes: str
    ) -> None:
        with unread(tmp_path / "log") as pipe:
            environment = environment_of(
                scratch, RACKPLAN_PORT="0", RACKPLAN_LOG_FORMAT="json", RACKPLAN_SOLVER_PROCESSES=solver_processes
            )
            service = forked.start(
                arguments=["rackplan", "serve", "--no-worker"],
                environment=environment,
                out=tmp_path / "out",
                err=tmp_path / "log",
            )
            try:
                with closing(client_of(announced(tmp_path / "out"))) as client:
                    for number in range(self.REQUESTS):
                        assert client.get(f"/v1/plans?kind=none{number}").status_code == 422
                    assert client.get("/healthz").status_code == 200
                    dropped = counted_by_metrics(client)
                    assert dropped > 0
                    lines = read(pipe, until="log.dropped")
                    client.get("/v1/plans?kind=last")
                    lines += read(pipe, until="/v1/plans")
            finally:
                service.terminate()
                service.wait(20)
            lines += read(pipe)
        (reported,) = [line for line in lines if line["event"] == "log.dropped"]
        assert reported["lines"] == dropped
        assert reported["detail"] == f"{dropped} lines dropped"
        answered = [line for line in lines if line["event"] == "request.answered" and line["path"] == "/v1/plans"]
        assert len(answered) + dropped == self.REQUESTS + 1

    @pytest.mark.slow
    def test_a_process_ends_although_its_last_lines_cannot_be_written(self, tmp_path: Path) -> None:
        with unread(tmp_path / "log"):
            code = (
                "from app import logs; import structlog; logs.configure('json', 'info')\n"
                "for n in range(5000): structlog.get_logger().info('line', number=n)"
            )
            assert logging_to(tmp_path / "log", code) == 0

    @pytest.mark.parametrize("count", [1, 300])
    def test_lines_are_written_before_a_process_ends(self, tmp_path: Path, count: int) -> None:
        with unread(tmp_path / "log") as pipe:
            code = (
                "from app import logs; import structlog; logs.configure('json', 'info')\n"
                f"for n in range({count}): structlog.get_logger().info('line', number=n)"
            )
            assert logging_to(tmp_path / "log", code) == 0
            assert [line["number"] for line in read(pipe)] == list(range(count))

    def test_a_fork_writes_lines_of_its_own(self, tmp_path: Path) -> None:
        with unread(tmp_path / "log") as pipe:
            code = (
                "import os, structlog; from app import logs; logs.configure('json', 'info')\n"
                "structlog.get_logger().info('before'); logs.flush()\n"
                "pid = os.fork()\n"
                "structlog.get_logger().info('parent' if pid else 'child'); logs.flush()\n"
                "os.waitpid(pid, 0) if pid else os._exit(0)"
            )
            assert logging_to(tmp_path / "log", code) == 0
            assert sorted(str(line["event"]) for line in read(pipe)) == ["before", "child", "parent"]


def logging_to(pipe: Path, code: str) -> int:
    """Run code in an interpreter of its own, whose standard error is a pipe; the exit code."""
    with pipe.open("wb") as log:
        return subprocess.run([sys.executable, "-c", code], stderr=log, cwd=ROOT, timeout=60, check=False).returncode


@contextmanager
def unread(path: Path) -> Iterator[int]:
    """A named pipe that is open and that nothing reads; the context's value is the descriptor to read it by."""
    os.mkfifo(path)
    pipe = os.open(path, os.O_RDWR | os.O_NONBLOCK)
    fcntl.fcntl(pipe, fcntl.F_SETPIPE_SZ, 64 * 1024)
    try:
        yield pipe
    finally:
        os.close(pipe)


def read(pipe: int, until: str | None = None) -> list[dict[str, object]]:
    """The log lines that are in a pipe; `until` waits for one with this text, and for the whole of it.

    Python writes warnings itself, such as one that FastAPI silences by a filter that all threads share.
    """
    text, ends = b"", time.monotonic() + 20
    while True:
        try:
            text += os.read(pipe, 2**20)
        except BlockingIOError:
            if until is None or (until.encode() in text and text.endswith(b"\n")):
                return [json.loads(line) for line in text.splitlines() if line.startswith(b"{")]
            assert time.monotonic() < ends, text[-2000:]
            time.sleep(0.01)


def announced(said: Path) -> str:
    """The address that a service prints."""
    ends = time.monotonic() + 60
    while True:
        for word in said.read_text().split() if said.exists() else ():
            if word.startswith("http://"):
                return word
        assert time.monotonic() < ends
        time.sleep(0.05)


def counted_by_metrics(client: httpx.Client) -> int:
    """The lines that a service has dropped by its metrics."""
    for line in client.get("/metrics").text.splitlines():
        if line.startswith("rackplan_dropped_log_lines_total "):
            return int(float(line.split()[1]))
    raise AssertionError("the metric is missing")
