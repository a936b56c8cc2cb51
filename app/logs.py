"""Logging: structured lines on standard error, each with the id of its request.

A write to a pipe that no process reads blocks once the pipe is full. Lines for anything but a regular file are
therefore written by a thread, from a queue of limited size; lines beyond it are dropped and counted.
"""

import atexit
import io
import logging
import os
import stat
import sys
from collections import deque
from contextlib import suppress
from threading import Condition, Thread, get_ident
from typing import TYPE_CHECKING, Any, Final, Literal, TextIO, cast

# structlog imports `rich` if that is installed, for tracebacks that are written otherwise here: 70 ms of each start.
_IS_RICH_LOADED = "rich" in sys.modules
if not _IS_RICH_LOADED:
    sys.modules["rich"] = None  # type: ignore[assignment] # so that the import fails, as if it was not installed
import structlog  # noqa: E402 — it tries to import rich

if not _IS_RICH_LOADED:
    del sys.modules["rich"]

from app.errors.quotation import escaped  # noqa: E402 — after the others

if TYPE_CHECKING:
    import psycopg

# The local variables of the frames of a request contain its headers, and so its API key.
_WITHOUT_LOCALS = structlog.tracebacks.ExceptionDictTransformer(show_locals=False)
_VALUELESS = frozenset({"08", "25", "40", "42", "53", "55", "57"})
"""Classes of SQLSTATE whose primary messages have names of the schema at most, and no value of a row or statement."""
_SYNTAX_ERROR = "42601"


MOST_QUEUED_BYTES: Final = 128 * 1024
"""Bytes of lines that wait to be written: some 500 requests, beside as many bytes as the pipe itself holds."""
_FLUSHED_WITHIN_S: Final = 2.0


class _Queue:
    """Lines that a thread writes to a file descriptor. A fork of the process begins with an empty queue."""

    def __init__(self) -> None:
        self._changed = Condition()
        self._lines: deque[tuple[int, bytes]] = deque()
        self._bytes = 0
        self._writer: Thread | None = None
        self._unreported = 0
        self.dropped = 0

    def add(self, descriptor: int, text: str) -> None:
        """Add a line, or drop it if the queue is full."""
        line = text.encode(errors="backslashreplace")
        with self._changed:
            if self._writer is not None and self._writer.ident == get_ident():
                _write(descriptor, line)
                return
            if self._bytes and self._bytes + len(line) > MOST_QUEUED_BYTES:
                self.dropped += 1
                self._unreported += 1
                return
            self._lines.append((descriptor, line))
            self._bytes += len(line)
            if self._writer is None:
                self._writer = Thread(target=self._write_lines, name="log", daemon=True)
                self._writer.start()
            self._changed.notify_all()

    def flush(self, within_s: float) -> None:
        """Wait until every line is written, for a limited time."""
        with self._changed:
            self._changed.wait_for(lambda: self._bytes <= 0, within_s)

    def _write_lines(self) -> None:
        while True:
            with self._changed:
                self._changed.wait_for(lambda: self._lines)
                lines, self._lines = self._lines, deque()
            for descriptor, line in lines:
                _write(descriptor, line)
                with self._changed:
                    self._bytes -= len(line)
            with self._changed:
                unreported, self._unreported = self._unreported, 0
                self._changed.notify_all()
            if unreported:
                structlog.get_logger().warning("log.dropped", detail=f"{unreported} lines dropped", lines=unreported)


def _write(descriptor: int, line: bytes) -> None:
    """Write a line; one that cannot be written, as to a closed pipe, is lost."""
    with suppress(OSError):
        while line:
            line = line[os.write(descriptor, line) :]


_QUEUE: Final = _Queue()
os.register_at_fork(after_in_child=lambda: _Queue.__init__(_QUEUE))


class _StandardError(io.TextIOBase):
    """Standard error as it is when a line is written. A line that cannot be written, as to a closed pipe, is lost."""

    def __init__(self) -> None:
        self._stream: TextIO | None = None
        self._blocking: int | None = None

    def write(self, text: str) -> int:
        if sys.stderr is not self._stream:
            self._stream, self._blocking = sys.stderr, _blocking_descriptor(sys.stderr)
        if self._blocking is None:
            with suppress(OSError, ValueError):
                sys.stderr.write(text)
        else:
            _QUEUE.add(self._blocking, text)
        return len(text)

    def flush(self) -> None:
        if self._blocking is None:
            with suppress(OSError, ValueError):
                sys.stderr.flush()


def _blocking_descriptor(stream: TextIO) -> int | None:
    """The file descriptor of a stream, if a write to it may wait for a reader; None of a regular file or a text."""
    with suppress(OSError, ValueError):
        descriptor = stream.fileno()
        return None if stat.S_ISREG(os.fstat(descriptor).st_mode) else descriptor
    return None


def dropped() -> int:
    """Lines of this process that were dropped because the queue was full."""
    return _QUEUE.dropped


def flush() -> None:
    """Wait until every line is written, for at most 2 s. A process that ends as usual does so by itself."""
    _QUEUE.flush(_FLUSHED_WITHIN_S)


atexit.register(flush)


def configure(log_format: Literal["auto", "json", "console"], level: str) -> None:
    """Write structlog's and the standard library's lines by one renderer.

    `auto` is `console` if standard error is a terminal, and otherwise JSON.
    """
    standard_error = cast("TextIO", _StandardError())
    is_console = log_format == "console" or (log_format == "auto" and sys.stderr.isatty())
    shared: list[structlog.typing.Processor] = [
        structlog.contextvars.merge_contextvars,
        structlog.processors.add_log_level,
        structlog.processors.TimeStamper(fmt="iso", utc=True),
    ]
    renderers: list[structlog.typing.Processor] = (
        [_escape, structlog.dev.ConsoleRenderer(exception_formatter=_write_traceback)]
        if is_console
        else [structlog.processors.ExceptionRenderer(_traceback_document), structlog.processors.JSONRenderer()]
    )
    structlog.configure(
        processors=[*shared, *renderers],
        # Not through a record of the standard library, which takes three times as long: a tenth of a small request.
        logger_factory=structlog.WriteLoggerFactory(standard_error),
        wrapper_class=structlog.make_filtering_bound_logger(getattr(logging, level.upper())),
        cache_logger_on_first_use=True,
    )
    handler = logging.StreamHandler(standard_error)
    handler.setFormatter(
        structlog.stdlib.ProcessorFormatter(
            foreign_pre_chain=shared,
            processors=[structlog.stdlib.ProcessorFormatter.remove_processors_meta, *renderers],
        )
    )
    root = logging.getLogger()
    root.handlers[:] = [handler]
    root.setLevel(level.upper())
    # Procrastinate logs every poll of its queue, and Py4J a trace for a JVM that has ended; jobs are in the database.
    for chatty in ("procrastinate", "alembic", "py4j"):
        logging.getLogger(chatty).setLevel(max(logging.WARNING, root.level))
    # Every request is logged once, by the middleware, with its id.
    logging.getLogger("uvicorn.access").disabled = True


def _escape(
    _: structlog.typing.WrappedLogger, __: str, event: structlog.typing.EventDict
) -> structlog.typing.EventDict:
    """Escape characters that control a terminal or begin a line: a path or an error of a library may contain them."""
    return {name: escaped(value) if isinstance(value, str) else value for name, value in event.items()}


def _write_traceback(stream: TextIO, exception: structlog.typing.ExcInfo) -> None:
    """Write an indented traceback, so that no line of a message in it looks like a line of the log."""
    written = io.StringIO()
    _remove_values(exception[1])
    structlog.dev.plain_traceback(written, exception)
    stream.write("\n".join([f"    {escaped(line)}" if line else "" for line in written.getvalue().split("\n")]))


def _traceback_document(exc_info: structlog.typing.ExcInfo) -> list[dict[str, Any]]:
    _remove_values(exc_info[1])
    return _WITHOUT_LOCALS(exc_info)


def _remove_values(exception: BaseException | None) -> None:
    """Replace the messages of database errors in the chain of an exception: they repeat values of statements."""
    if "psycopg" not in sys.modules:
        return
    import psycopg  # noqa: PLC0415 -- processes without a database do without
    import sqlalchemy as sa  # noqa: PLC0415 — processes without a database do without

    seen: set[int] = set()
    remaining = [exception]
    while remaining:
        each = remaining.pop()
        if each is None or id(each) in seen:
            continue
        seen.add(id(each))
        remaining += [each.__cause__, each.__context__, *getattr(each, "exceptions", ())]
        error = each.orig if isinstance(each, sa.exc.StatementError) else each
        if isinstance(error, psycopg.Error):
            each.args = (_valueless(error),)


def _valueless(error: "psycopg.Error") -> str:
    """A database error by its code, and by the names of the schema that it is about."""
    about = error.diag
    message = about.message_primary or ""
    if error.sqlstate is None or error.sqlstate[:2] not in _VALUELESS or error.sqlstate == _SYNTAX_ERROR:
        message = ", ".join(filter(None, (about.table_name, about.column_name, about.constraint_name)))
    return f"{type(error).__name__} ({error.sqlstate or 'of the driver'}) {message}".rstrip()
