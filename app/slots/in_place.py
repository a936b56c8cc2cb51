"""Functions that block: in threads of a process that serves many requests, in place in one that serves one at a time.

A hop to a thread and back takes a tenth of a millisecond of processor time, several times a request.
"""

from collections.abc import Callable
from contextvars import ContextVar
from functools import wraps
from inspect import iscoroutinefunction
from typing import Any, TypeVar

from fastapi.concurrency import run_in_threadpool
from fastapi.routing import APIRoute

ResultT = TypeVar("ResultT")

IS_ALONE: ContextVar[bool] = ContextVar("is_alone", default=False)
"""Whether a request has the event loop to itself."""


async def blocking(function: Callable[..., ResultT], *arguments: Any, **named: Any) -> ResultT:
    """The result of a function that may wait for the database or compute."""
    return function(*arguments, **named) if IS_ALONE.get() else await run_in_threadpool(function, *arguments, **named)


class BlockingRoute(APIRoute):
    """A route whose endpoint is called by `blocking`, if it is a plain function."""

    def __init__(self, path: str, endpoint: Callable[..., Any], **options: Any) -> None:
        @wraps(endpoint)
        async def called(**values: Any) -> Any:
            return await blocking(endpoint, **values)

        super().__init__(path, endpoint if iscoroutinefunction(endpoint) else called, **options)
