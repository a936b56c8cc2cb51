"""Jobs: plans that are too large to be answered immediately."""

from __future__ import annotations

from rackplan import models
from rackplan.exchange import exchange, path
from rackplan.flows import Bound, Flow, K, Request, operation
from rackplan.plans import AnyPlan, PlanOperations
from rackplan.resources import Resource
from rackplan.waiting import Progress, wait


class JobOperations(Bound[K]):
    """Operations on jobs."""

    @operation
    def get_job(self, job_id: str) -> Flow[Job[K]]:
        """Read the state of a job."""
        response = yield from exchange(self._client, Request("GET", path("jobs", job_id)))
        return Job(response.json(), self._client)


class Job(models.JobDocument, Resource[K]):
    """A job. `plan` is the path of its plan once it has succeeded, `error` its problem once it has failed."""

    @operation
    def refresh(self) -> Flow[Job[K]]:
        """The job as it is now."""
        return JobOperations.get_job.flow(self._client, self.id)

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
