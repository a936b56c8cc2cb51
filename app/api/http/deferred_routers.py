"""Routers that are built when a request arrives for one of their paths, or ahead of it.

An application starts without importing its operations' code. A router takes its place among the others when it is
built, so that the order of operations is always the same.
"""

import warnings
from collections.abc import Callable, Collection, Iterator, Mapping
from functools import partial
from threading import Event

from fastapi import APIRouter, Request
from fastapi.concurrency import run_in_threadpool
from fastapi.dependencies.models import Dependant
from fastapi.routing import APIRoute
from pydantic.warnings import UnsupportedFieldAttributeWarning
from starlette.routing import Match
from starlette.types import ASGIApp, Receive, Scope, Send

from app.api.problems.field_errors import first_of, pointer
from app.deferred import IMPORTING
from app.errors.quotation import quoted, suggestion
from app.errors.requests import InvalidField

# FastAPI silences it while it reads a parameter, by filters that all threads share: another thread that changes filters
# meanwhile, as imports do, would undo that, and the warning would be a line of the log that is not JSON.
warnings.filterwarnings("ignore", "The 'alias' attribute with value", UnsupportedFieldAttributeWarning)


class DeferredRouters:
    """The routers of an application.

    Parameters
    ----------
    builders : by the operation that a router has (`GET /v1/plans`), or the path that its operations are at or below.
    apart : beginnings of paths that the router of `/` has nothing below.
    """

    def __init__(self, builders: Mapping[str, Callable[[], APIRouter]], *, apart: Collection[str]) -> None:
        self._apart = tuple(apart)
        self._builders = dict(builders)
        self._ahead = dict.fromkeys(builders)
        self.places = {key: _Place(partial(self.is_below, parent=key.rpartition(" ")[2])) for key in builders}
        """Empty routers for the application to include; FastAPI sees routes that are added to them later."""

    def ahead_of(self, method: str, path: str) -> list[str]:
        """Unbuilt routers that a request needs: its operation's, or all that its path is below."""
        if f"{method} {path}" in self.places:
            return [key for key in (f"{method} {path}",) if key in self._ahead]
        return [key for key in tuple(self._ahead) if self.is_below(path, key.rpartition(" ")[2])]

    def build(self, key: str) -> None:
        """Build a router, unless that has been done. Importing takes up to half a second: not for an event loop.

        One at a time: modules that are imported by several threads at once may wait for each other.
        """
        with IMPORTING:
            if key in self._ahead:
                self.places[key].include_router(self._builders[key]())
                del self._ahead[key]

    def build_all(self, stop: Event | None = None) -> None:
        """Build every router; `stop` ends the work early."""
        for key in self.places:
            if stop is not None and stop.is_set():
                return
            if key in self._ahead:
                self.build(key)

    def is_below(self, path: str, parent: str) -> bool:
        """Whether a path is a router's, or below it."""
        if parent == "/":
            return not path.startswith(self._apart)
        return path == parent or path.startswith(f"{parent}/")


class _Place(APIRouter):
    """A router that no path of another one is compared with: comparing each with all routes takes 1 ms."""

    def __init__(self, may_have: Callable[[str], bool]) -> None:
        super().__init__()
        self._may_have = may_have

    def matches(self, scope: Scope) -> tuple[Match, Scope]:
        return super().matches(scope) if self._may_have(scope["path"]) else (Match.NONE, {})


class BuildRouters:
    """The middleware that builds the routers of a request, in a thread."""

    def __init__(self, app: ASGIApp, *, routers: DeferredRouters) -> None:
        self._app, self._routers = app, routers

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http":
            for key in self._routers.ahead_of(scope["method"], scope["path"]):
                await run_in_threadpool(self._routers.build, key)
        await self._app(scope, receive, send)


async def only_known_query(request: Request) -> None:
    """Raise `InvalidField`, with each query parameter that the operation of the request does not have."""
    if not request.url.query:
        return
    route: APIRoute = request.scope["route"]
    known = frozenset(_parameters(route.dependant))
    unknown = [name for name in dict.fromkeys(request.query_params) if name not in known]
    if unknown:
        errors = [
            {
                "pointer": quoted(f"#query{pointer((name,))}"),
                "detail": f"there is no query parameter {quoted(name)} here" + suggestion(name, known),
            }
            for name in unknown
        ]
        raise InvalidField(first_of(errors, total=len(errors)), errors=errors, known=sorted(known))


def _parameters(dependant: Dependant) -> Iterator[str]:
    for parameter in dependant.query_params:
        yield parameter.alias
    for dependency in dependant.dependencies:
        yield from _parameters(dependency)
