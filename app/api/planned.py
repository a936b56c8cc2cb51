"""An operation that plans: answered at once, or accepted as a job. Every kind of plan uses it."""

from collections.abc import Callable, Mapping
from typing import Annotated, Any, TypeVar

from fastapi import Header, Response

from app.api.idempotency import OnceOnly
from app.api.jobs import JobDocument, accepted, wants_job
from app.api.negotiation import matched_hashes
from app.services.limits import Limits
from app.services.plans import Plan, Planner, PlanRequest, check_job, make_plan
from app.services.plans.kinds import to_json
from app.store.database import UnitOfWork

Prefer = Annotated[str | None, Header(description="`respond-async` makes it a job.", max_length=200)]
IfMatch = Annotated[
    str | None, Header(description="The content hash of a snapshot: 412 if its cluster has changed since.")
]
LATER: Mapping[int, Mapping[str, Any]] = {202: {"model": JobDocument, "description": "It is a job now"}}
RequestT = TypeVar("RequestT", bound=PlanRequest)


def planned(
    uow: UnitOfWork,
    once: OnceOnly,
    limits: Limits,
    planner: Planner[RequestT, Any, Any],
    read: Callable[[], RequestT],
    *,
    prefer: str | None,
    if_match: str | None,
) -> Response:
    """Answer a request for a plan once.

    Parameters
    ----------
    read : returns the request as the service takes it.
    prefer, if_match : the headers of these names.
    """

    def answer() -> Response:
        request, hashes = read(), matched_hashes(if_match)
        if not wants_job(prefer):
            return created(make_plan(uow, planner, request, limits, if_match=hashes))
        check_job(uow, planner, request, limits, if_match=hashes)
        return accepted(uow.jobs.enqueue(planner.kind, planner.stored(request)))

    return once(answer)


def created(plan: Plan) -> Response:
    """201: the plan, and where it is."""
    headers = {"Location": f"/v1/plans/{plan.head.id}"}
    return Response(to_json(plan), 201, headers=headers, media_type="application/json")
