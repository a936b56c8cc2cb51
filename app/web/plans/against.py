"""The differences of a plan of replicas from a snapshot of its cluster, which is chosen."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from app.errors import Failure
from app.services.plans import Plan
from app.services.plans.kinds import KINDS
from app.store.database import UnitOfWork
from app.store.records import Snapshot
from app.web.lists import as_id

MOST_SNAPSHOTS = 20
MOST_ROWS = 100


@dataclass(frozen=True, slots=True)
class Against:
    """Content of the page.

    Parameters
    ----------
    snapshots : of the cluster, newest first. chosen : the id of one; empty for none.
    counts, rows : of the differences, as the API has them; the first rows. problem : why there are none.
    """

    snapshots: Sequence[Snapshot]
    chosen: str = ""
    counts: Mapping[str, Any] | None = None
    rows: Sequence[Any] = ()
    problem: str = ""


def against(uow: UnitOfWork, plan: Plan, chosen: str) -> Against:
    """The differences from the snapshot with that id; from none if it is empty."""
    cluster = plan.head.cluster
    found = [] if cluster is None else uow.snapshots.page(cluster=cluster, before=None, size=MOST_SNAPSHOTS).items
    if (snapshot_id := as_id(chosen)) is None:
        return Against(found, problem=chosen and f"{chosen[:100]} is not the id of a snapshot")
    try:
        difference = KINDS[plan.head.kind].difference(uow, plan, snapshot_id)
    except Failure as failure:
        return Against(found, problem=failure.detail)
    return Against(found, chosen, difference.summary, difference.items(0, MOST_ROWS))
