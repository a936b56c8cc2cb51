"""How a process logs: structured lines on standard error, each with the id of the request that it is about."""

import io
import logging
import sys
from typing import Literal, TextIO

import structlog

from app.errors.quotation import escaped

# The local variables of a request's frames hold its headers, and so its key.
_WITHOUT_LOCALS = structlog.tracebacks.ExceptionDictTransformer(show_locals=False)


def configure(log_format: Literal["auto", "json", "console"], level: str) -> None:
    """Send structlog's and the standard library's lines through one renderer.

    `auto` is for people where standard error is a terminal, and JSON everywhere else.
    """
    for_people = log_format == "console" or (log_format == "auto" and sys.stderr.isatty())
    shared: list[structlog.typing.Processor] = [
        structlog.contextvars.merge_contextvars,
        structlog.processors.add_log_level,
        structlog.processors.TimeStamper(fmt="iso", utc=True),
    ]
    renderers: list[structlog.typing.Processor] = (
        [_escape, structlog.dev.ConsoleRenderer(exception_formatter=_write_traceback)]
        if for_people
        else [structlog.processors.ExceptionRenderer(_WITHOUT_LOCALS), structlog.processors.JSONRenderer()]
    )
    structlog.configure(
        processors=[*shared, structlog.stdlib.ProcessorFormatter.wrap_for_formatter],
        logger_factory=structlog.stdlib.LoggerFactory(),
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
    # The queue tells of every look it takes; what a worker does is in the jobs.
    for chatty in ("procrastinate", "alembic"):
        logging.getLogger(chatty).setLevel(max(logging.WARNING, root.level))
    # Every request is logged once, by the middleware, with its id.
    logging.getLogger("uvicorn.access").disabled = True


def _escape(
    _: structlog.typing.WrappedLogger, __: str, event: structlog.typing.EventDict
) -> structlog.typing.EventDict:
    """Write what would act on a terminal, or begin a line, as escapes: a path or an error of a library may hold it."""
    return {name: escaped(value) if isinstance(value, str) else value for name, value in event.items()}


def _write_traceback(stream: TextIO, exception: structlog.typing.ExcInfo) -> None:
    """A traceback for people, indented: no line of a message in it is taken for a line of the log."""
    written = io.StringIO()
    structlog.dev.plain_traceback(written, exception)
    stream.write("\n".join([f"    {escaped(line)}" if line else "" for line in written.getvalue().split("\n")]))
