"""Dependencies of operations: the unit of work and the limits, which the composition root put on the app."""

from collections.abc import AsyncIterator
from typing import Annotated

from anyio import CancelScope
from fastapi import Depends, Request
from fastapi.concurrency import run_in_threadpool

from app.api.http.audit import caller_of
from app.errors.access import UnsupportedMediaType
from app.errors.quotation import quoted
from app.services.limits import Limits
from app.services.outbound import Outbound
from app.slots.admission import Admission
from app.store.database import Database, UnitOfWork


async def _unit_of_work(request: Request) -> AsyncIterator[UnitOfWork]:
    database: Database = request.app.state.database
    admission: Admission = request.app.state.admission
    async with admission.slot(caller=caller_of(request.scope)):
        uow = database.unit_of_work()
        try:
            yield uow
        except BaseException:
            # A client that disconnects cancels this task: the connection is returned all the same.
            with CancelScope(shield=True):
                await run_in_threadpool(uow.rollback)
            raise
        if uow.is_open:
            with CancelScope(shield=True):
                await run_in_threadpool(uow.commit)


async def _limits(request: Request) -> Limits:
    limits: Limits = request.app.state.limits
    return limits


async def _outbound(request: Request) -> Outbound:
    outbound: Outbound = request.app.state.outbound
    return outbound


async def json_only(request: Request) -> None:
    """Raise `UnsupportedMediaType` unless the body is announced as JSON."""
    _require_media_type(request, "application/json")


async def merge_patch_only(request: Request) -> None:
    """Raise `UnsupportedMediaType` unless the body is announced as a JSON merge patch, or as JSON."""
    _require_media_type(request, "application/json", "application/merge-patch+json")


def _require_media_type(request: Request, *offered: str) -> None:
    media_type = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if media_type not in offered:
        detail = f"the body is {quoted(media_type) or 'of no type'}; it has to be {' or '.join(offered)}"
        raise UnsupportedMediaType(detail, offered=list(offered))


async def _raw_body(request: Request) -> bytes:
    return await request.body()


# The scope makes the commit happen before the response is sent: one that fails is then a 500, never a 201.
Uow = Annotated[UnitOfWork, Depends(_unit_of_work, scope="function")]
RequestLimits = Annotated[Limits, Depends(_limits)]
OutboundCalls = Annotated[Outbound, Depends(_outbound)]
RawBody = Annotated[bytes, Depends(_raw_body)]
