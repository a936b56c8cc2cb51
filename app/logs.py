"""Logging: structured lines on standard error, each with the id of its request."""

import io
import logging
import sys
from contextlib import suppress
from typing import Literal, TextIO, cast

# structlog imports `rich` if that is installed, for tracebacks that are written otherwise here: 70 ms of each start.
_IS_RICH_LOADED = "rich" in sys.modules
if not _IS_RICH_LOADED:
    sys.modules["rich"] = None  # type: ignore[assignment] # so that the import fails, as if it was not installed
import structlog  # noqa: E402 -- as above

if not _IS_RICH_LOADED:
    del sys.modules["rich"]

from app.errors.quotation import escaped  # noqa: E402 -- as above

# The local variables of the frames of a request contain its headers, and so its API key.
_WITHOUT_LOCALS = structlog.tracebacks.ExceptionDictTransformer(show_locals=False)


class _StandardError(io.TextIOBase):
    """Standard error as it is when a line is written. A line that cannot be written, as to a closed pipe, is lost."""

    def write(self, text: str) -> int:
        with suppress(OSError, ValueError):
            sys.stderr.write(text)
        return len(text)

    def flush(self) -> None:
        with suppress(OSError, ValueError):
            sys.stderr.flush()


def configure(log_format: Literal["auto", "json", "console"], level: str) -> None:
    """Write structlog's and the standard library's lines by one renderer.

    `auto` is `console` if standard error is a terminal, and otherwise JSON.
    """
    is_console = log_format == "console" or (log_format == "auto" and sys.stderr.isatty())
    shared: list[structlog.typing.Processor] = [
        structlog.contextvars.merge_contextvars,
        structlog.processors.add_log_level,
        structlog.processors.TimeStamper(fmt="iso", utc=True),
    ]
    renderers: list[structlog.typing.Processor] = (
        [_escape, structlog.dev.ConsoleRenderer(exception_formatter=_write_traceback)]
        if is_console
        else [structlog.processors.ExceptionRenderer(_WITHOUT_LOCALS), structlog.processors.JSONRenderer()]
    )
    structlog.configure(
        processors=[*shared, *renderers],
        # Not through a record of the standard library, which takes three times as long: a tenth of a small request.
        logger_factory=structlog.WriteLoggerFactory(cast("TextIO", _StandardError())),
        wrapper_class=structlog.make_filtering_bound_logger(getattr(logging, level.upper())),
        cache_logger_on_first_use=True,
    )
    handler = logging.StreamHandler()
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
    structlog.dev.plain_traceback(written, exception)
    stream.write("\n".join([f"    {escaped(line)}" if line else "" for line in written.getvalue().split("\n")]))
