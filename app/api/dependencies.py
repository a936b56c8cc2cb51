"""What operations are given: the unit of work and the operator's limits, which the composition root put on the app."""

from collections.abc import Iterator
from typing import Annotated

from fastapi import Depends, Request

from app.errors import UnsupportedMediaType
from app.services.limits import Limits
from app.store.database import Database, UnitOfWork


def _unit_of_work(request: Request) -> Iterator[UnitOfWork]:
    database: Database = request.app.state.database
    with database.begin() as uow:
        yield uow


def _limits(request: Request) -> Limits:
    limits: Limits = request.app.state.limits
    return limits


def json_only(request: Request) -> None:
    """Raise `UnsupportedMediaType` unless the body is announced as JSON."""
    media_type = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if media_type != "application/json":
        detail = f"the body is {media_type or 'of no type'}; it has to be application/json"
        raise UnsupportedMediaType(detail, offered=["application/json"])


async def _raw_body(request: Request) -> bytes:
    return await request.body()


# The scope makes the commit happen before the response is sent: one that fails is then a 500, never a 201.
Uow = Annotated[UnitOfWork, Depends(_unit_of_work, scope="function")]
RequestLimits = Annotated[Limits, Depends(_limits)]
RawBody = Annotated[bytes, Depends(_raw_body)]
