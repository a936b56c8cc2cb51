"""The two clients: what takes the steps of operations over HTTP, at once or asynchronously."""

from __future__ import annotations

import os
import time
from collections.abc import AsyncIterator, Callable, Iterator
from functools import partial
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

from rackplan.audit import AuditOperations
from rackplan.flows import Async, Flow, Item, Items, K, Line, Pause, Request, Settings, Step, Sync
from rackplan.jobs import JobOperations
from rackplan.keys import KeyOperations
from rackplan.planning import PlanningOperations
from rackplan.plans import PlanOperations
from rackplan.problems import ServiceUnavailable
from rackplan.service import ServiceOperations
from rackplan.share_links import ShareLinkOperations
from rackplan.snapshots import SnapshotOperations
from rackplan.sweeps import SweepOperations
from rackplan.webhooks import WebhookOperations

if TYPE_CHECKING:
    import httpx

URL = "http://127.0.0.1:8080"
"""Where `rackplan serve` listens."""


class Operations(
    SnapshotOperations[K],
    PlanningOperations[K],
    PlanOperations[K],
    KeyOperations[K],
    SweepOperations[K],
    JobOperations[K],
    ShareLinkOperations[K],
    WebhookOperations[K],
    AuditOperations[K],
    ServiceOperations[K],
):
    """Every operation of the service.

    Parameters
    ----------
    url : of the service; by default the environment's RACKPLAN_URL, or else `http://127.0.0.1:8080`.
    key : an API key or an access token; by default the environment's RACKPLAN_KEY. A service without keys needs none.
    team : that is acted for, if the key is one of all teams; by default the environment's RACKPLAN_TEAM, or else none.
    timeout : seconds in which the service has to accept a connection, and to answer.
    retries : how often a request is repeated if the service is busy or out of reach.
    """

    def __init__(self, url: str | None, key: str | None, *, team: str | None, timeout: float, retries: int) -> None:
        self.url = (url or os.environ.get("RACKPLAN_URL") or URL).rstrip("/")
        self.settings = Settings(retries=retries)
        self._client = self  # type: ignore[assignment] # the two clients are sessions
        self._key = key or os.environ.get("RACKPLAN_KEY") or None
        self._team = team or os.environ.get("RACKPLAN_TEAM") or None
        self._timeout = timeout

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.url!r})"

    def _arguments(self, request: Request) -> dict[str, Any]:
        """The arguments of httpx for a request."""
        headers = {"Accept": "application/json", "User-Agent": "rackplan-client", **request.headers}
        if self._key is not None:
            headers["Authorization"] = f"Bearer {self._key}"
        if self._team is not None:
            headers["Rackplan-Team"] = self._team
        return {
            "method": request.method,
            "url": self.url + request.path,
            "params": {name: value for name, value in request.query.items() if value is not None},
            "headers": headers,
            "json": request.json,
            "data": dict(request.fields) or None,
            "files": {name: (name, text) for name, text in request.texts.items()} or None,
            "timeout": self._timeout,
        }

    def _unavailable(self, error: httpx.TransportError) -> ServiceUnavailable:
        return ServiceUnavailable(f"{self.url}: {str(error) or type(error).__name__}")


class Client(Operations[Sync]):
    """A client of Rackplan.

    >>> with Client() as client:  # doctest: +SKIP
    ...     snapshot = client.create_snapshot(cluster="prod", texts=[Path("brokers.txt"), Path("topics.txt")])
    ...     plan = client.plan_reassignment(snapshot_id=snapshot.id, remove_brokers=[105])
    ...     plan.export("batches", "batches/")
    """

    def __init__(
        self,
        url: str | None = None,
        key: str | None = None,
        *,
        team: str | None = None,
        timeout: float = 120.0,
        retries: int = 4,
        http: httpx.Client | None = None,
    ) -> None:
        """As `Operations`; `http` is a client of httpx, with proxies or certificates of its own."""
        import httpx  # noqa: PLC0415 -- it takes longer to import than everything else here

        super().__init__(url, key, team=team, timeout=timeout, retries=retries)
        self._http = http or httpx.Client()
        self._transport_error = httpx.TransportError

    def close(self) -> None:
        """Close the connections."""
        self._http.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def run(self, flow: Flow[Any]) -> Any:
        """The result of an operation."""
        advance: Callable[[], Any] = partial(next, flow)
        while True:
            try:
                step = advance()
            except StopIteration as ended:
                return ended.value
            advance = self._after(flow, step)

    def iterate(self, items: Items[Any]) -> Iterator[Any]:
        """The items of an operation."""
        advance: Callable[[], Any] = partial(next, items)
        opened: list[httpx.Response] = []
        try:
            while True:
                try:
                    step = advance()
                except StopIteration:
                    return
                if isinstance(step, Item):
                    yield step.value
                    advance = partial(items.send, None)
                else:
                    advance = self._after(items, step, opened)
        finally:
            for response in opened:
                response.close()

    def _after(self, flow: Any, step: Step, opened: list[httpx.Response] | None = None) -> Callable[[], Any]:
        """Take a step; what continues the operation with its outcome."""
        try:
            return partial(flow.send, self._taken(step, opened))
        except self._transport_error as error:
            return partial(flow.throw, self._unavailable(error))

    def _taken(self, step: Step, opened: list[httpx.Response] | None) -> Any:
        if isinstance(step, Pause):
            return self._pause(step.seconds)
        if isinstance(step, Line):
            return next(step.response.extensions["lines"], None)
        response = self._http.send(self._http.build_request(**self._arguments(step)), stream=True)
        if step.is_stream and opened is not None and not response.is_error:
            response.extensions["lines"] = response.iter_lines()
            opened.append(response)
        else:
            response.read()
        return response

    def _pause(self, seconds: float) -> None:
        time.sleep(seconds)


class AsyncClient(Operations[Async]):
    """`Client` for asyncio: the same operations, each to be awaited, or iterated over with `async for`."""

    def __init__(
        self,
        url: str | None = None,
        key: str | None = None,
        *,
        team: str | None = None,
        timeout: float = 120.0,
        retries: int = 4,
        http: httpx.AsyncClient | None = None,
    ) -> None:
        """As `Operations`; `http` is a client of httpx, with proxies or certificates of its own."""
        import httpx  # noqa: PLC0415 -- it takes longer to import than everything else here

        super().__init__(url, key, team=team, timeout=timeout, retries=retries)
        self._http = http or httpx.AsyncClient()
        self._transport_error = httpx.TransportError

    async def close(self) -> None:
        """Close the connections."""
        await self._http.aclose()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    async def run(self, flow: Flow[Any]) -> Any:
        """The result of an operation."""
        advance: Callable[[], Any] = partial(next, flow)
        while True:
            try:
                step = advance()
            except StopIteration as ended:
                return ended.value
            advance = await self._after(flow, step)

    async def iterate(self, items: Items[Any]) -> AsyncIterator[Any]:
        """The items of an operation."""
        advance: Callable[[], Any] = partial(next, items)
        opened: list[httpx.Response] = []
        try:
            while True:
                try:
                    step = advance()
                except StopIteration:
                    return
                if isinstance(step, Item):
                    yield step.value
                    advance = partial(items.send, None)
                else:
                    advance = await self._after(items, step, opened)
        finally:
            for response in opened:
                await response.aclose()

    async def _after(self, flow: Any, step: Step, opened: list[httpx.Response] | None = None) -> Callable[[], Any]:
        try:
            return partial(flow.send, await self._taken(step, opened))
        except self._transport_error as error:
            return partial(flow.throw, self._unavailable(error))

    async def _taken(self, step: Step, opened: list[httpx.Response] | None) -> Any:
        if isinstance(step, Pause):
            return await self._pause(step.seconds)
        if isinstance(step, Line):
            return await anext(step.response.extensions["lines"], None)
        response = await self._http.send(self._http.build_request(**self._arguments(step)), stream=True)
        if step.is_stream and opened is not None and not response.is_error:
            response.extensions["lines"] = response.aiter_lines()
            opened.append(response)
        else:
            await response.aread()
        return response

    async def _pause(self, seconds: float) -> None:
        import asyncio  # noqa: PLC0415 -- half of what `import rackplan` would take

        await asyncio.sleep(seconds)
