"""An operation that plans: answered at once, or accepted as a job. Every kind of plan uses it."""

from collections.abc import Callable, Mapping
from functools import partial
from typing import Annotated, Any, Protocol, Self, TypeVar
from uuid import UUID

from fastapi import Depends, Header, Request, Response

from app.api.http.auth import RequestLimits, Uow, json_only
from app.api.http.following import JobPreference, Observation, awaited
from app.api.http.idempotency import OnceOnly
from app.api.http.operations import EndpointT, Operations, json_response, matched_hashes
from app.api.jobs import JobDocument, accepted, observed
from app.api.problems.documents import of_stored_failure
from app.services.plans import Plan, Planner, PlanRequest, check_job, load, make_plan, plan_json
from app.store.database import UnitOfWork

IfMatch = Annotated[
    str | None, Header(description="The content hash of a snapshot: 412 if its cluster has changed since.")
]
LATER: Mapping[int, Mapping[str, Any]] = {202: {"model": JobDocument, "description": "The request is a job"}}
RequestT = TypeVar("RequestT", bound=PlanRequest)
RequestT_co = TypeVar("RequestT_co", bound=PlanRequest, covariant=True)


class PlanBody(Protocol[RequestT_co]):
    """The body of a request for a plan."""

    def on_newest(self, uow: UnitOfWork) -> Self:
        """The body with the id of its snapshot."""

    def service(self) -> RequestT_co:
        """The request as the planner takes it."""


class Planning:
    """The planning of one request: answered at once, or accepted as a job if the header `Prefer` says so.

    A repeated request of the same Idempotency-Key gets the first answer; if that is a job, it waits for the same job.
    """

    def __init__(
        self,
        request: Request,
        uow: Uow,
        once: OnceOnly,
        limits: RequestLimits,
        prefer: JobPreference,
        if_match: IfMatch = None,
    ) -> None:
        self._http = request
        self._uow = uow
        self._once = once
        self._limits = limits
        self._prefer = prefer
        self._if_match = matched_hashes(if_match)

    def answer(self, planner: Planner[RequestT, Any, Any], body: PlanBody[RequestT]) -> Response:
        """Plan once."""
        response = self._once(lambda: self._answer(planner, body.on_newest(self._uow).service()))
        if not self._prefer.respond_async:
            return response
        job_id = UUID(response.headers["Location"].rpartition("/")[2])
        render = partial(_ended, self._http, job_id)
        return awaited(self._http, self._prefer, response, observe=partial(observed, job_id=job_id), render=render)

    def _answer(self, planner: Planner[RequestT, Any, Any], request: RequestT) -> Response:
        if not self._prefer.respond_async:
            return created(make_plan(self._uow, planner, request, self._limits, if_match=self._if_match))
        check_job(self._uow, planner, request, self._limits, if_match=self._if_match)
        job = self._uow.jobs.enqueue(planner.kind, planner.stored(request), deadline_s=self._prefer.deadline_s)
        return accepted(job, self._prefer)


PlanningOnce = Annotated[Planning, Depends(scope="function")]


def plan_operation(router: Operations, kind: str, answer: Any) -> Callable[[EndpointT], EndpointT]:
    """Declare `POST /v1/plans/<kind>`; `answer` is the document of the plan."""
    return router.operation(f"POST /{kind}", answer=answer, status=201, takes=json_only, others=LATER)


def created(plan: Plan) -> Response:
    """201: the plan, and where it is."""
    headers = {"Location": f"/v1/plans/{plan.head.id}"}
    return Response(plan_json(plan), 201, headers=headers, media_type="application/json")


def _ended(request: Request, job_id: UUID, uow: UnitOfWork, observation: Observation) -> Response:
    """The answer to a request that waited for its job: as without a job; the job if it has neither plan nor error."""
    job = uow.jobs.get(job_id)
    if job.plan_id is not None:
        return created(load(uow, job.plan_id))
    if job.error is not None:
        return of_stored_failure(request, job.error)
    return json_response(observation.document)
