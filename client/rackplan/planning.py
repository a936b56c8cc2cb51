"""Making plans: immediately, or as jobs."""

from __future__ import annotations

from collections.abc import Generator, Mapping
from typing import Any, Unpack

import rackplan.requests as fields
from rackplan import models
from rackplan.exchange import exchange, path
from rackplan.flows import Bound, Flow, K, Request, Session, Step, operation
from rackplan.jobs import Job
from rackplan.plans import (
    ConsumersPlan,
    GroupPlan,
    ReassignmentPlan,
    ReplicaPlan,
    RestartPlan,
    StreamsPlan,
    if_match_header,
)
from rackplan.problems import TooLarge
from rackplan.waiting import Progress

_AS_A_JOB = {"Prefer": "respond-async"}


class PlanningOperations(Bound[K]):
    """Operations that make plans, and the check of a reassignment of any source.

    `plan_…` returns the plan. If the service says that the request is too large to be answered immediately, it is sent
    again as a job, and waited for. `submit_…` returns a job at once. Every one takes

    if_match : the content hash of a snapshot; raises `PreconditionFailed` if its cluster has changed since.
    progress : how a job is waited for, as of `Job.wait`.
    """

    @operation
    def plan_replicas(
        self, *, if_match: str | None = None, progress: Progress = False, **request: Unpack[fields.PlaceRequest]
    ) -> Flow[ReplicaPlan[K]]:
        """Place the replicas of new topics or partitions."""
        made = yield from _made(self._client, "replicas", request, if_match, progress)
        return ReplicaPlan(made, self._client)

    @operation
    def plan_reassignment(
        self,
        *,
        if_match: str | None = None,
        progress: Progress = False,
        **request: Unpack[fields.PlanReassignmentRequest],
    ) -> Flow[ReassignmentPlan[K]]:
        """Change brokers, replication factors or balance with the least movement."""
        made = yield from _made(self._client, "reassignment", request, if_match, progress)
        return ReassignmentPlan(made, self._client)

    @operation
    def plan_group(
        self, *, if_match: str | None = None, progress: Progress = False, **request: Unpack[fields.PlanGroupRequest]
    ) -> Flow[GroupPlan[K]]:
        """Assign partitions to the members of a group."""
        made = yield from _made(self._client, "group", request, if_match, progress)
        return GroupPlan(made, self._client)

    @operation
    def plan_streams(
        self, *, if_match: str | None = None, progress: Progress = False, **request: Unpack[fields.PlanStreamsRequest]
    ) -> Flow[StreamsPlan[K]]:
        """Assign tasks to the clients of a Streams application."""
        made = yield from _made(self._client, "streams", request, if_match, progress)
        return StreamsPlan(made, self._client)

    @operation
    def plan_restart(
        self, *, if_match: str | None = None, progress: Progress = False, **request: Unpack[fields.PlanRestartRequest]
    ) -> Flow[RestartPlan[K]]:
        """Restart the brokers of a cluster in the fewest waves."""
        made = yield from _made(self._client, "restart", request, if_match, progress)
        return RestartPlan(made, self._client)

    @operation
    def plan_consumers(
        self,
        *,
        if_match: str | None = None,
        progress: Progress = False,
        **request: Unpack[fields.PlanConsumersRequest],
    ) -> Flow[ConsumersPlan[K]]:
        """Find the fewest consumers of a group over time, with the least movement."""
        made = yield from _made(self._client, "consumers", request, if_match, progress)
        return ConsumersPlan(made, self._client)

    @operation
    def submit_replicas(self, *, if_match: str | None = None, **request: Unpack[fields.PlaceRequest]) -> Flow[Job[K]]:
        """`plan_replicas` as a job."""
        return _submitted(self._client, "replicas", request, if_match)

    @operation
    def submit_reassignment(
        self, *, if_match: str | None = None, **request: Unpack[fields.PlanReassignmentRequest]
    ) -> Flow[Job[K]]:
        """`plan_reassignment` as a job."""
        return _submitted(self._client, "reassignment", request, if_match)

    @operation
    def submit_group(self, *, if_match: str | None = None, **request: Unpack[fields.PlanGroupRequest]) -> Flow[Job[K]]:
        """`plan_group` as a job."""
        return _submitted(self._client, "group", request, if_match)

    @operation
    def submit_streams(
        self, *, if_match: str | None = None, **request: Unpack[fields.PlanStreamsRequest]
    ) -> Flow[Job[K]]:
        """`plan_streams` as a job."""
        return _submitted(self._client, "streams", request, if_match)

    @operation
    def submit_restart(
        self, *, if_match: str | None = None, **request: Unpack[fields.PlanRestartRequest]
    ) -> Flow[Job[K]]:
        """`plan_restart` as a job."""
        return _submitted(self._client, "restart", request, if_match)

    @operation
    def submit_consumers(
        self, *, if_match: str | None = None, **request: Unpack[fields.PlanConsumersRequest]
    ) -> Flow[Job[K]]:
        """`plan_consumers` as a job."""
        return _submitted(self._client, "consumers", request, if_match)

    @operation
    def check_reassignment(self, **request: Unpack[fields.CheckRequest]) -> Flow[models.CheckDocument]:
        """Verify a reassignment from any source."""
        response = yield from exchange(self._client, Request("POST", path("checks"), json=request))
        return models.CheckDocument(response.json())


def _made(
    session: Session, kind: str, request: Mapping[str, Any], if_match: str | None, progress: Progress
) -> Generator[Step, Any, Mapping[str, Any]]:
    """The document of a plan that is made immediately, or by a job if it is too large for that."""
    made: Mapping[str, Any]
    try:
        response = yield from exchange(session, _request(kind, request, if_match_header(if_match)))
        made = response.json()
    except TooLarge as too_large:
        if "respond-async" not in too_large.detail:
            raise
        job = yield from _submitted(session, kind, request, if_match)
        plan = yield from Job.wait.flow(job, progress=progress)
        made = plan.raw
    return made


def _submitted(session: Session, kind: str, request: Mapping[str, Any], if_match: str | None) -> Flow[Job[Any]]:
    response = yield from exchange(session, _request(kind, request, if_match_header(if_match) | _AS_A_JOB))
    return Job(response.json(), session)


def _request(kind: str, request: Mapping[str, Any], headers: Mapping[str, str]) -> Request:
    return Request("POST", path("plans", kind), json=request, headers=headers)
