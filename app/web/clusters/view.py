"""The state of a cluster's page, from its address: every state of each page has an address."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import ClassVar
from urllib.parse import quote, unquote, urlencode

from fastapi import Request

from app.core.measures.health import STATES
from app.core.measures.partition_table import PartitionTable
from app.store.database import UnitOfWork
from app.store.records import PlanFilter, Snapshot
from app.web.clusters.broker_map import MEASURES
from app.web.clusters.health import findings, severity

RACK, BROKER = "rack", "broker"
ROOMS: Mapping[str, str] = MappingProxyType(
    {
        "": "Overview",
        "brokers": "Brokers",
        "topics": "Topics",
        "groups": "Groups",
        "what-if": "What if",
        "plans": "Plans",
        "capacity": "Capacity",
        "history": "History",
    }
)
"""The pages of a cluster by the last part of their address, which the overview does not have, with their titles."""
_MOST_LOSSES = 100
_DEFAULT_MEASURE = "replicas"


@dataclass(frozen=True, slots=True)
class ClusterView:
    """The state of a page of a cluster.

    Parameters
    ----------
    cluster : its name. room : of `ROOMS`. item : the topic, broker or group that the page is about; empty for a list.
    snapshot : the id as text; empty for the newest. against : of another one, with which it is compared.
    measure : of `MEASURES`. state : of `STATES`, of the listed partitions; empty for all.
    start : the first row of a long list.
    lost : racks and brokers that are taken to be lost, each as `rack:name` or `broker:id`.
    """

    cluster: str
    room: str = ""
    item: str = ""
    snapshot: str = ""
    measure: str = _DEFAULT_MEASURE
    state: str = ""
    start: int = 0
    lost: tuple[str, ...] = ()
    against: str = ""

    @classmethod
    def of(cls, path: str, query: Sequence[tuple[str, str]]) -> "ClusterView":
        """The view that an address asks for; unknown parts are left out.

        Parameters
        ----------
        path : as it was sent, in which the slashes of names are escaped.
        query : its parts, of which the form that opens a topic sends `topic`.
        """
        name, *rest = path.removeprefix("/clusters/").split("/")
        if not rest or rest[0] not in ROOMS or not rest[0]:
            name, rest = "/".join([name, *rest]), [""]
        given = dict(query)
        start = given.get("start", "")
        lost = dict.fromkeys(loss for key, loss in query if key == "lose" and loss.partition(":")[0] in (RACK, BROKER))
        return cls(
            unquote(name),
            rest[0],
            unquote("/".join(rest[1:])) or (given.get("topic", "").strip() if rest[0] == "topics" else ""),
            given.get("snapshot", ""),
            measure if (measure := given.get("measure", "")) in MEASURES else _DEFAULT_MEASURE,
            state if (state := given.get("state", "")) in STATES else "",
            int(start) if start.isascii() and start.isdigit() and len(start) < 10 else 0,
            tuple(lost)[:_MOST_LOSSES],
            given.get("against", ""),
        )

    @property
    def topic(self) -> str:
        """The only topic that counts; empty for all."""
        return self.item if self.room == "topics" else ""

    @property
    def title(self) -> str:
        """The page's subject."""
        return f"{ROOMS[self.room].removesuffix('s')} {self.item}" if self.item else ROOMS[self.room]

    @property
    def lost_racks(self) -> tuple[str, ...]:
        """The names of the racks that are lost."""
        return tuple(loss.removeprefix("rack:") for loss in self.lost if loss.startswith("rack:"))

    @property
    def lost_brokers(self) -> tuple[int, ...]:
        """The ids of the brokers that are lost by themselves."""
        ids = (loss.removeprefix("broker:") for loss in self.lost if loss.startswith("broker:"))
        return tuple(int(broker) for broker in ids)

    def within(self, table: PartitionTable) -> "ClusterView":
        """The view without the losses of racks and brokers that the cluster does not have."""
        known = {f"{RACK}:{rack}" for rack in table.brokers.racks}
        known.update(f"{BROKER}:{broker}" for broker in table.brokers.ids.tolist())
        return replace(self, lost=tuple(loss for loss in self.lost if loss in known))

    @property
    def address(self) -> str:
        """The address of the page in this state."""
        parts = [quote(part, safe="") for part in (self.cluster, self.room, self.item) if part]
        return f"/clusters/{'/'.join(parts)}{self._query()}"

    def picture(self, file_type: str) -> str:
        """The address of the map in this state as SVG or PNG."""
        first = [("cluster", self.cluster), *([("topic", self.topic)] if self.topic else [])]
        return f"/pictures/cluster-map.{file_type}{self._query(first)}"

    def document(self, snapshot: str) -> str:
        """The address of a snapshot as JSON, in the form of a request that stores it."""
        address = ClusterView(self.cluster, snapshot=snapshot).address
        return f"{address}&file=json"

    def to(self, room: str, item: str = "") -> "ClusterView":
        """Another page of the cluster at the same snapshot with the same losses."""
        return replace(self, room=room, item=item, state="", start=0, against="")

    def at(self, room: str, item: str = "") -> str:
        """The address of another page of the cluster."""
        return self.to(room, item).address

    def showing(self, **changes: str | int | tuple[str, ...]) -> str:
        """The address of the page with some fields changed."""
        return replace(self, **{"start": 0, **changes}).address  # type: ignore[arg-type] # the fields are of these types

    def toggled(self, loss: str) -> str:
        """The address of the page with a loss added, or taken back."""
        lost = tuple(each for each in self.lost if each != loss) if loss in self.lost else (*self.lost, loss)
        return replace(self, lost=lost).address

    def _query(self, first: Sequence[tuple[str, str]] = ()) -> str:
        stated = [
            *first,
            *((name, value) for name in ("snapshot", "state", "against") if (value := getattr(self, name))),
            *([("measure", self.measure)] if self.measure != _DEFAULT_MEASURE else []),
            *([("start", str(self.start))] if self.start else []),
            *(("lose", loss) for loss in self.lost),
        ]
        return f"?{urlencode(stated)}" if stated else ""


def viewed(request: Request) -> ClusterView:
    """The view of a request for a page of a cluster. The path as it was sent tells the slashes of names from others."""
    return ClusterView.of(request.scope["raw_path"].decode(), request.query_params.multi_items())


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
    plans = uow.plans.selected(PlanFilter(cluster=view.cluster), before=None, size=MOST_LISTED)
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
