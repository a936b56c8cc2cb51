"""A plan that is asked for: answered at once, or accepted as a job. What the kinds of plans share of that."""

from collections.abc import Callable, Mapping, Sequence
from typing import Annotated, Any, Protocol, TypeVar
from uuid import UUID

from fastapi import Header, Response

from app.api.idempotency import OnceOnly
from app.api.jobs import JobDocument, accepted, wants_job
from app.api.negotiation import matched_hashes
from app.api.plans import created
from app.errors import Json
from app.services import snapshots
from app.services.plans import Plan
from app.store.database import UnitOfWork

Prefer = Annotated[str | None, Header(description="`respond-async` makes it a job.", max_length=200)]
IfMatch = Annotated[
    str | None, Header(description="The content hash of a snapshot: 412 if its cluster has changed since.")
]
LATER: Mapping[int, Mapping[str, Any]] = {202: {"model": JobDocument, "description": "It is a job now"}}


class OnSnapshot(Protocol):
    """A request that may name a snapshot."""

    @property
    def snapshot_id(self) -> UUID | None:
        """The snapshot."""


Wanted = TypeVar("Wanted", bound=OnSnapshot)


def planned(
    uow: UnitOfWork,
    once: OnceOnly,
    read: Callable[[], Wanted],
    *,
    kind: str,
    prefer: str | None,
    if_match: str | None,
    check: Callable[[Wanted], None],
    stored: Callable[[Wanted], Mapping[str, Json]],
    plan: Callable[[Wanted, Sequence[str]], Plan],
) -> Response:
    """Answer a request for a plan once.

    Parameters
    ----------
    read : the request as the service knows it. check : what is wrong with it before anything is looked up.
    stored : as a job keeps it. plan : makes the plan, if the snapshot's cluster still is as one of the hashes says.
    """

    def answer() -> Response:
        wanted, hashes = read(), matched_hashes(if_match)
        if not wants_job(prefer):
            return created(plan(wanted, hashes))
        check(wanted)
        if hashes and wanted.snapshot_id is not None:
            # The cluster is looked at now, when the caller asks, and not when a worker comes to it.
            snapshots.require_unchanged(uow, uow.snapshots.get(wanted.snapshot_id).cluster, hashes)
        return accepted(uow.jobs.enqueue(kind, stored(wanted)))

    return once(answer)
