"""The JSON of request bodies, without repeated members."""

from collections.abc import Callable, Coroutine
from typing import Any

from fastapi import Request, Response
from fastapi.routing import APIRoute

from app.formats.syntax import unique_json


class JsonRoute(APIRoute):
    """An operation that rejects a JSON body with a repeated member (400); the problem names the member."""

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        """The handler of FastAPI, which reads the body with `Request.json`."""
        handle = super().get_route_handler()

        async def handled(request: Request) -> Response:
            return await handle(_JsonRequest(request.scope, request.receive))

        return handled


class _JsonRequest(Request):
    async def json(self) -> Any:
        return unique_json.loads(await self.body())
