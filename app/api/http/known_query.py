"""Query parameters that an operation does not have: an error, as unknown fields of a body are."""

from collections.abc import Iterator

from fastapi import Request
from fastapi.dependencies.models import Dependant
from fastapi.routing import APIRoute

from app.api.problems.field_errors import first_of, pointer
from app.errors.quotation import quoted
from app.errors.requests import InvalidField
from app.errors.suggestions import suggestion


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
