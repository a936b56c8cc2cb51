"""Operations: their declaration, and their JSON bodies, whose members are not repeated."""

from collections.abc import Callable, Coroutine, Mapping
from enum import Enum
from inspect import cleandoc
from typing import Any, TypeVar

from fastapi import APIRouter, Depends, Request, Response, Security
from fastapi.responses import JSONResponse
from fastapi.routing import APIRoute

from app.api.http.auth import principal
from app.api.problems.responses import responses
from app.errors import Failure
from app.errors.access import UnsupportedMediaType
from app.formats.syntax import unique_json

EndpointT = TypeVar("EndpointT", bound=Callable[..., Response])


class Operations(APIRouter):
    """The operations of a resource; `scope` is the one that each of them needs.

    An operation is a function: its name is the id, and its docstring the summary and, after an empty line, the
    description.
    """

    def __init__(self, prefix: str = "", tag: str = "", *, scope: str | None = None) -> None:
        tags: list[str | Enum] = [tag] if tag else []
        super().__init__(prefix=prefix, tags=tags, route_class=_JsonRoute, dependencies=_needed(scope))

    def operation(
        self,
        method_and_path: str,
        *failures: type[Failure],
        answer: Any = None,
        status: int = 200,
        scope: str | None = None,
        takes: Callable[..., Any] | None = None,
        others: Mapping[int, Mapping[str, Any]] | None = None,
        **options: Any,
    ) -> Callable[[EndpointT], EndpointT]:
        """Declare an operation, `GET /{job_id}`, with its failures besides those that every operation has.

        Parameters
        ----------
        answer : type of JSON answers in the documentation; None if `others` describes them, or without JSON answers.
        scope : the scope that the caller needs; None if a parameter of the function, or the resource, states it.
        takes : the dependency that rejects bodies of other media types.
        others : other answers, by their status.
        """
        method, _, path = method_and_path.partition(" ")

        def declared(function: EndpointT) -> EndpointT:
            summary, _, description = cleandoc(function.__doc__ or "").partition("\n\n")
            self.add_api_route(
                path,
                function,
                methods=[method],
                status_code=status,
                operation_id=function.__name__,
                summary=summary.removesuffix("."),
                description=description,
                response_model=answer,
                response_class=Response if answer is None else JSONResponse,
                responses=responses(*failures, *([UnsupportedMediaType] if takes else []), others=others),
                dependencies=[*([Depends(takes)] if takes else []), *_needed(scope)],
                **options,
            )
            return function

        return declared


def _needed(scope: str | None) -> list[Any]:
    return [] if scope is None else [Security(principal, scopes=[scope])]


class _JsonRoute(APIRoute):
    """A route that rejects a JSON body with a repeated member (400); the problem names the member."""

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        """The handler of FastAPI, which reads the body with `Request.json`."""
        handle = super().get_route_handler()

        async def handled(request: Request) -> Response:
            return await handle(_JsonRequest(request.scope, request.receive))

        return handled


class _JsonRequest(Request):
    async def json(self) -> Any:
        return unique_json.loads(await self.body())
