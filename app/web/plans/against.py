"""The differences of a plan of replicas from a snapshot of its cluster, which is chosen."""

from collections.abc import Mapping
from typing import Any

from app.errors import Failure
from app.services.plans import Plan
from app.services.plans.kinds import KINDS
from app.store.database import UnitOfWork
from app.web.lists import as_id

MOST_SNAPSHOTS = 20
MOST_ROWS = 100


def against(uow: UnitOfWork, plan: Plan, chosen: str) -> Mapping[str, Any]:
    """The snapshots of the cluster, newest first, and the differences from the one with that id.

    Without one that is known there are no `counts` and `rows` as the API has them, but the `problem`; empty for no id.
    """
    cluster = plan.head.cluster
    found = [] if cluster is None else uow.snapshots.page(cluster=cluster, before=None, size=MOST_SNAPSHOTS).items
    without = {"snapshots": found, "chosen": "", "counts": None, "rows": (), "problem": ""}
    if (snapshot_id := as_id(chosen)) is None:
        return {**without, "problem": chosen and f"{chosen[:100]} is not the id of a snapshot"}
    try:
        difference = KINDS[plan.head.kind].difference(uow, plan, snapshot_id)
    except Failure as failure:
        return {**without, "problem": failure.detail}
    return {**without, "chosen": chosen, "counts": difference.summary, "rows": difference.items(0, MOST_ROWS)}
