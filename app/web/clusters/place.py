"""The cluster in whose context a page is shown: what the rail lists, and the bar that stays."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

from app.store.database import UnitOfWork
from app.store.records import PlanFilter, Snapshot
from app.web.clusters.health import findings, severity
from app.web.clusters.view import ROOMS, ClusterView

MOST_LISTED = 50
"""Clusters that the rail offers, and plans, studies and snapshots that it counts."""
OPEN = ("proposed", "approved", "executing")
STUDY = "cluster"
"""The label of a sweep that names the cluster that it is about."""


@dataclass(frozen=True, slots=True)
class Place:
    """A cluster at a snapshot, and the page of it that is shown.

    Parameters
    ----------
    clusters : the names of the clusters that the rail offers. counts : of the rooms, as texts.
    """

    view: ClusterView
    snapshot: Snapshot
    clusters: Sequence[str]
    counts: Mapping[str, str]
    rooms: ClassVar[Mapping[str, str]] = ROOMS

    @property
    def state(self) -> tuple[str, str]:
        """How bad the worst finding is, and how many findings there are."""
        listed = findings(self.snapshot)
        if not self.snapshot.summary.get("health"):
            return "muted", "state unknown"
        worst = severity(listed)
        return worst, "well" if worst == "good" else f"{len(listed)} finding{'s' if len(listed) > 1 else ''}"


def place(uow: UnitOfWork, view: ClusterView, snapshot: Snapshot | None = None) -> Place | None:
    """The place of a view, at a snapshot or the newest one; None if the cluster has none."""
    snapshot = snapshot or uow.snapshots.newest(view.cluster)
    if snapshot is None:
        return None
    plans = uow.plans.page(PlanFilter(cluster=view.cluster), before=None, size=MOST_LISTED)
    stored = uow.snapshots.page(cluster=view.cluster, before=None, size=MOST_LISTED)
    studies = uow.sweeps.page(kind=None, state=None, before=None, size=MOST_LISTED).items
    counts = {
        **{name: f"{snapshot.summary.get(name) or 0:,}" for name in ("brokers", "topics", "groups")},
        "what-if": f"{len(view.lost)} lost" if view.lost else "",
        "plans": f"{sum(plan.status in OPEN for plan in plans.items)}{'+' if plans.has_more else ''} open",
        "capacity": str(sum(sweep.labels.get(STUDY) == view.cluster for sweep in studies) or ""),
        "history": f"{len(stored.items)}{'+' if stored.has_more else ''}",
    }
    return Place(view, snapshot, sorted(uow.snapshots.clusters())[:MOST_LISTED], counts)
