"""Keep what the documentation's examples name, so that each of them works on a new service."""

from app.api.examples import EXAMPLE_JOB_ID, EXAMPLE_PLAN_ID, EXAMPLE_SNAPSHOT_ID, PLACE, SNAPSHOT
from app.api.replicas import PlaceRequest
from app.api.snapshots import SnapshotRequest
from app.errors import JobNotFound
from app.services import replicas, snapshots
from app.services.limits import Limits
from app.store.database import Database


def keep_examples(database: Database, limits: Limits) -> None:
    """Keep the example snapshot, plan and job where they are missing; what is there stays as it is."""
    wanted = PlaceRequest.model_validate_json(PlaceRequest(**PLACE | {"seed": 42}).model_dump_json()).service()
    with database.begin() as uow:
        cluster = SnapshotRequest.model_validate(SNAPSHOT).core()
        snapshots.keep(uow, cluster, limits, snapshot_id=EXAMPLE_SNAPSHOT_ID)
        replicas.place(uow, wanted, limits, plan_id=EXAMPLE_PLAN_ID)
        try:
            uow.jobs.get(EXAMPLE_JOB_ID)
        except JobNotFound:
            uow.jobs.enqueue(replicas.KIND, replicas.stored(wanted), job_id=EXAMPLE_JOB_ID)
