"""Jobs: plans that are too large to be answered immediately."""

from __future__ import annotations

import rackplan.requests as fields
from rackplan import models
from rackplan.exchange import exchange, pages, path
from rackplan.flows import Bound, Flow, Items, K, Request, iteration, operation
from rackplan.plans import AnyPlan, PlanOperations
from rackplan.resources import Resource
from rackplan.waiting import Progress, follow, wait


class JobOperations(Bound[K]):
    """Operations on jobs."""

    @operation
    def get_job(self, job_id: str) -> Flow[Job[K]]:
        """Read the state of a job."""
        response = yield from exchange(self._client, Request("GET", path("jobs", job_id)))
        return Job(response.json(), self._client)

    @iteration
    def list_jobs(
        self,
        *,
        kind: fields.ListJobsKind | None = None,
        state: fields.ListJobsState | None = None,
        page_size: int | None = None,
    ) -> Items[Job[K]]:
        """Iterate over jobs, newest first.

        Parameters
        ----------
        page_size : how many are read at a time.
        """
        request = Request("GET", path("jobs"), {"kind": kind, "state": state, "page_size": page_size})
        return pages(self._client, request, lambda raw: Job(raw, self._client))

    @operation
    def cancel_job(self, job_id: str) -> Flow[Job[K]]:
        """End a job without a plan."""
        response = yield from exchange(self._client, Request("DELETE", path("jobs", job_id)))
        return Job(response.json(), self._client)

    @iteration
    def follow_job(self, job_id: str) -> Items[Job[K]]:
        """Iterate over the job's states as the service sends them, until it has ended."""
        return follow(self._client, path("jobs", job_id, "events"), lambda raw: Job(raw, self._client))


class Job(models.JobDocument, Resource[K]):
    """A job. `plan` is the path of its plan once it has succeeded, `error` its problem once it has failed."""

    @operation
    def refresh(self) -> Flow[Job[K]]:
        """The job as it is now."""
        return JobOperations.get_job.flow(self._client, self.id)

    @operation
    def cancel(self) -> Flow[Job[K]]:
        """End the job without a plan."""
        return JobOperations.cancel_job.flow(self._client, self.id)

    @iteration
    def follow(self) -> Items[Job[K]]:
        """Iterate over the job's states as the service sends them, until it has ended."""
        return JobOperations.follow_job.flow(self._client, self.id)

    @operation
    def wait(self, timeout: float | None = None, *, progress: Progress = False) -> Flow[AnyPlan[K]]:
        """Wait until the job has succeeded, and return its plan.

        Parameters
        ----------
        timeout : seconds; without one until it has ended.
        progress : True prints to stderr; a function gets the job whenever it was looked at.

        Raises `JobFailed`, `JobCancelled`, and `TimeoutError`, after which the job goes on.
        """
        ended = yield from wait(self, lambda: Job.refresh.flow(self), timeout=timeout, progress=progress)
        plan: AnyPlan[K] = yield from PlanOperations.get_plan.flow(self._client, ended["plan"].rpartition("/")[2])
        return plan
