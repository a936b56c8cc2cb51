"""Whether a database lacks examples of the documentation: all starts but the first find none missing."""

from app.api import examples
from app.errors.failure import NotFound
from app.store.database import Database


def lacks_examples(database: Database, *, has_webhooks: bool) -> bool:
    """Whether any example has to be stored."""
    with database.begin() as uow:
        try:
            uow.snapshots.get(examples.EXAMPLE_SNAPSHOT_ID)
            uow.snapshots.get(examples.EXAMPLE_GROUPS_SNAPSHOT_ID)
            for plan_id in examples.EXAMPLE_PLAN_IDS:
                uow.plans.get(plan_id)
            uow.jobs.get(examples.EXAMPLE_JOB_ID)
            uow.sweeps.get(examples.EXAMPLE_SWEEP_ID)
            if has_webhooks:
                uow.webhooks.get(examples.EXAMPLE_WEBHOOK_ID)
        except NotFound:
            return True
    return False
