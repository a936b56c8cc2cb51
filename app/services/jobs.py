"""The same requests, answered later: a stored job that a worker runs."""

from collections.abc import Callable, Mapping
from uuid import UUID

from app.errors import Failure, Json
from app.services import replicas
from app.services.limits import Limits
from app.services.plans import Plan
from app.store.database import Database, UnitOfWork

Run = Callable[[UnitOfWork, Mapping[str, Json], Limits], Plan]

KINDS: Mapping[str, Run] = {replicas.KIND: replicas.run}
"""How a job of each kind is run: the same service that answers the request at once."""


def run(database: Database, job_id: UUID, limits: Limits) -> None:
    """Run one job to its end, and store what became of it.

    The plan and the job's end are one transaction: a worker that dies in between leaves a job that another runs anew,
    and the plan, being addressed by its content, is then kept once all the same. A failure of the domain ends the job;
    anything else goes to the queue, which tries again.
    """
    with database.begin() as uow:
        job = uow.jobs.start(job_id)
    if job is None:
        return
    try:
        with database.begin() as uow:
            plan = KINDS[job.kind](uow, job.request, limits)
            uow.jobs.succeed(job_id, plan.head.id)
    except Failure as failure:
        with database.begin() as uow:
            uow.jobs.fail(job_id, {**failure.context, "code": failure.code, "detail": failure.detail})


def give_up(database: Database, job_id: UUID, detail: str) -> None:
    """End a job that could not be run, for a reason that is none of the caller's."""
    with database.begin() as uow:
        uow.jobs.fail(job_id, {"code": "internal_error", "detail": detail})
