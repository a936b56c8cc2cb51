"""What a log line repeats of a request stays inside its line, for people as for programs."""

import io
import json
import logging
import sys
from collections.abc import Iterator

import pytest
import structlog
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from app import logs

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
