"""`/clusters/{name}` and its rooms: the map, the state after a loss, brokers, topics, groups, plans, history."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from http import HTTPStatus
from itertools import compress, pairwise
from operator import itemgetter
from typing import Annotated, Any, TypeAlias
from urllib.parse import quote, urlencode
from uuid import UUID

import numpy as np
from fastapi import APIRouter, Query, Request, Response
from fastapi.responses import RedirectResponse

from app.core.measures.losses import loss_counts
from app.core.measures.partition_table import Bools, BrokerLoads, PartitionTable
from app.core.model import Cluster
from app.errors.requests import SnapshotNotFound
from app.services import snapshots
from app.services.snapshots.records import Recent
from app.store.database import Database, UnitOfWork
from app.store.records import PlanFilter, Snapshot
from app.web import charts
from app.web.access import Access
from app.web.clusters import broker_map as map_picture
from app.web.clusters import rooms, states
from app.web.clusters.broker_map import MEASURES, available, broker_map
from app.web.clusters.directories import directories
from app.web.clusters.health import PARTITION_WORDS, findings, plan_form
from app.web.clusters.losses import Analysis
from app.web.clusters.view import OPEN, ROOMS, STUDY, ClusterView, place, viewed
from app.web.lists import id_of
from app.web.pages import Pages, download, is_shared, page
from app.web.pictures.files import FileType, Options, picture_file
from app.web.plans.selection import twin_studies, twins
from app.web.sweeps import plots

MOST_BYTES = 120 * 2**20
"""Memory of all cached analyses: some three million partitions with three replicas."""
Analyses: TypeAlias = Recent[UUID, Analysis]
"""By the id of their snapshot, which never changes."""
MOST_TOPICS = 500
"""Topics that the page offers to choose from."""
MOST_OPEN = 3
"""Open plans of the overview; the room of plans has all of them."""
MOST_SNAPSHOTS = 200
"""Snapshots of the history."""
_HISTORY = {each: PARTITION_WORDS[each] for each in ("offline", "under_replicated", "not_rack_safe", "not_preferred")}
Text = Annotated[str, Query(max_length=300)]


class Shown:
    """A page of a cluster: its snapshot, the state that its address names, and the unit of work.

    The cluster and its analysis are read by the rooms that show some of it.
    """

    def __init__(self, uow: UnitOfWork, view: ClusterView, recent: Analyses) -> None:
        self.uow, self._recent, self.snapshot = uow, recent, _snapshot(uow, view)
        self.view = view.within(self.table) if view.lost else view

    @cached_property
    def cluster(self) -> Cluster:
        """The cluster of the snapshot."""
        return snapshots.load(self.uow, self.snapshot.id)[1]

    @cached_property
    def losses(self) -> Analysis:
        """Its partitions, and what each loss costs."""
        analysis = self._recent.get(self.snapshot.id)
        if analysis is None:
            analysis = Analysis(self.cluster)
            self._recent.keep(self.snapshot.id, analysis, analysis.memory_bytes)
        return analysis

    @property
    def table(self) -> PartitionTable:
        """Its partitions."""
        return self.losses.table


def router(database: Database, access: Access) -> APIRouter:
    """The pages of clusters and their pictures; deleting a snapshot needs the right of an administrator."""
    routes = Pages()
    recent: Analyses = Recent(MOST_BYTES)

    @routes.get("/clusters/{name:path}")
    def cluster_page(request: Request) -> Response:
        return _room(database, recent, request)

    @routes.post("/snapshots/{snapshot_id}/delete", dependencies=[access.admin])
    def delete(snapshot_id: UUID) -> Response:
        """A snapshot that a plan, a sweep or a job needs stays: a page says so."""
        with database.begin() as uow:
            cluster = uow.snapshots.get(snapshot_id).cluster
            uow.snapshots.delete(snapshot_id)
            is_left = uow.snapshots.newest(cluster) is not None
        return RedirectResponse(ClusterView(cluster).address if is_left else "/", HTTPStatus.SEE_OTHER)

    @routes.get("/pictures/cluster-map.{file_type}")
    def map_picture_file(request: Request, file_type: FileType, cluster: Text, options: Options) -> Response:
        view = ClusterView.of(f"/clusters/{quote(cluster, safe='')}", request.query_params.multi_items())
        return _map_picture(database, recent, view, file_type, options)

    @routes.get("/pictures/cluster-history.{suffix}")
    def history(
        suffix: charts.Suffix, cluster: Text, theme: charts.Theme = "light", width: charts.Width = charts.WIDTH
    ) -> Response:
        with database.begin() as uow:
            recent = uow.snapshots.page(cluster=cluster, before=None, size=MOST_SNAPSHOTS).items
        return charts.response(charts.steps(_history(recent), y="partitions"), suffix, theme=theme, width=width)

    return routes


def _room(database: Database, recent: Analyses, request: Request) -> Response:
    """A page of a cluster, or its snapshot as a file. Raises `SnapshotNotFound`."""
    view = viewed(request)
    with database.begin() as uow:
        shown = Shown(uow, view, recent)
        if request.query_params.get("file") == "json":
            document = uow.snapshots.document(shown.snapshot.id)
            return download(document, "application/json", f"snapshot-{shown.snapshot.id}.json")
        values = _VALUES[view.room](shown)
        if view.room == "capacity" and not values["studies"] and not is_shared():
            return RedirectResponse(f"/plan/sweep?{urlencode({'cluster': view.cluster})}")
        where = place(uow, shown.view, shown.snapshot)
    name = f"cluster_{(view.room or 'overview').replace('-', '_')}.html"
    return page(name, view=shown.view, snapshot=shown.snapshot, place=where, plan_form=plan_form, **values)


def _map_picture(
    database: Database, recent: Analyses, view: ClusterView, file_type: FileType, options: Options
) -> Response:
    """The map of a view as a file. Raises `SnapshotNotFound`."""
    with database.begin() as uow:
        shown = Shown(uow, view, recent)
        lost, loads, _ = _loads(shown)
    view = shown.view
    title = f"Cluster {view.cluster}" + (f", topic {view.topic}" if view.topic else "")
    drawn = broker_map(shown.table, loads, lost, view.measure)
    return picture_file(
        lambda style: map_picture.draw(title, drawn, style=style), file_type, options, style=map_picture.MAP_STYLE
    )


def _snapshot(uow: UnitOfWork, view: ClusterView) -> Snapshot:
    """The snapshot that a view shows. Raises `SnapshotNotFound`."""
    if not view.snapshot:
        return snapshots.newest(uow, view.cluster)
    shown = uow.snapshots.get(id_of(view.snapshot, SnapshotNotFound))
    if shown.cluster != view.cluster:
        raise SnapshotNotFound(f"snapshot {view.snapshot} is of another cluster")
    return shown


def _loads(shown: Shown) -> tuple[Bools, BrokerLoads, slice]:
    view, table = shown.view, shown.table
    lost, rows = table.lost(view.lost_brokers, view.lost_racks), table.rows_of(view.topic)
    return lost, table.loads(lost, rows) if view.lost or view.topic else shown.losses.loads, rows


def _map(shown: Shown) -> dict[str, Any]:
    """The map, and the cost of the losses of the view."""
    lost, loads, rows = _loads(shown)
    return {
        "map": broker_map(shown.table, loads, lost, shown.view.measure),
        "measures": {name: MEASURES[name].label for name in available(shown.table, loads)},
        "loss": _loss(shown, loads, rows) if shown.view.lost else None,
        "topics": shown.table.topics[:MOST_TOPICS],
    }


def _loss(shown: Shown, loads: BrokerLoads, rows: slice) -> dict[str, Any]:
    """The cost of a loss, with the topics of the partitions that go offline, most first, if all topics are shown."""
    view, table = shown.view, shown.table
    before = table.loads(table.lost(), rows) if view.topic else shown.losses.loads
    lost = np.where(table.lost(view.lost_brokers, view.lost_racks), 0, -1).astype(np.int32)
    (counts,) = loss_counts(table.states(rows).losses_of(lost, 1), is_known=bool(table.min_isr[rows].any()))
    stopped = [] if view.topic else table.counts_by_topic(loads.offline & ~before.offline)
    return {
        "counts": counts,
        "most_leaders": (int(before.leaders.max(initial=0)), int(loads.leaders.max(initial=0))),
        "topics": sorted(stopped, key=itemgetter(1), reverse=True),
    }


def _overview(shown: Shown) -> Mapping[str, Any]:
    recent, _ = _recent(shown, 20)
    plans = shown.uow.plans.selected(PlanFilter(cluster=shown.view.cluster), before=None, size=20).items
    most, listed = shown.losses.most, compress(shown.table.brokers.brokers, shown.table.is_listed)
    return _map(shown) | {
        "findings": findings(shown.snapshot, most, [broker.id for broker in listed if broker.fenced]),
        "health": shown.snapshot.summary.get("health") or {},
        "warnings": shown.snapshot.summary.get("warnings") or [],
        "lines": {state: rooms.sparkline(recent, state) for state in _HISTORY | {"under_min_isr": ""}},
        "fullest": most.get("replica"),
        "worst": shown.losses.racks[0] if shown.losses.racks else None,
        "changes": [(new, old, words) for new, old in pairwise(recent) if (words := states.in_words(old, new))][:3],
        "plans": (open_ones := [plan for plan in plans if plan.status in OPEN][:MOST_OPEN]),
        "twins": twins(shown.uow, open_ones),
        "studies": _studies(shown.uow, shown.view)[:3],
    }


def _brokers(shown: Shown) -> Mapping[str, Any]:
    _lost, loads, _rows = _loads(shown)
    values = {"rows": [], "total": len(shown.table.brokers.ids), "measures": {n: MEASURES[n].label for n in MEASURES}}
    if not shown.view.item:
        listed = rooms.broker_rows(shown.table, loads, shown.view.start)
        return values | {"rows": listed, "page": rooms.PAGE, "extremes": rooms.extremes(shown.table, loads)}
    at = {str(broker): at for at, broker in enumerate(shown.table.brokers.ids.tolist())}.get(shown.view.item)
    if at is None:
        raise SnapshotNotFound(f"the snapshot has no broker {shown.view.item[:100]}")
    rows = np.flatnonzero((shown.table.replicas == at).any(axis=1))
    return values | {
        "rows": rooms.broker_rows(shown.table, loads, at)[:1],
        "directories": directories(shown.cluster, int(shown.view.item)),
        "topics": shown.table.topics_on(at, rooms.MOST_ROWS),
        "partitions": rooms.partition_rows(shown.table, rows),
        "partitions_in_all": len(rows),
        "loss": next((row.counts for row in shown.losses.brokers if row.loss == f"broker:{shown.view.item}"), None),
    }


def _topics(shown: Shown) -> Mapping[str, Any]:
    values = {"total": len(shown.table.topics), "page": rooms.PAGE, "words": PARTITION_WORDS, "topic": None}
    if not shown.view.item and not shown.view.state:
        return values | {
            "rows": rooms.topic_rows(shown.losses.states, shown.cluster, shown.view.start),
            "partitions": None,
        }
    if shown.view.item and shown.view.item not in shown.table.topics:
        raise SnapshotNotFound(f"the snapshot has no topic {shown.view.item[:300]}")
    chosen = rooms.rows_in(shown.table, shown.cluster, shown.view.topic, shown.view.state)
    at = shown.table.topics.index(shown.view.item) if shown.view.item else 0
    listed = {"partitions": rooms.partition_rows(shown.table, chosen), "partitions_in_all": len(chosen)}
    if not shown.view.item:
        return values | listed
    topic = {"topic": shown.cluster.topics[at], **rooms.topic_rows(shown.losses.states, shown.cluster, at)[0]}
    return values | _map(shown) | topic | listed


def _groups(shown: Shown) -> Mapping[str, Any]:
    groups = [group for group in shown.cluster.groups if shown.view.item in ("", group.group_id)]
    if shown.view.item and not groups:
        raise SnapshotNotFound(f"the snapshot has no group {shown.view.item[:300]}")
    listed = groups[shown.view.start : shown.view.start + rooms.PAGE]
    return {"rows": [rooms.group_row(group) for group in listed], "total": len(groups), "page": rooms.PAGE}


def _what_if(shown: Shown) -> Mapping[str, Any]:
    return _map(shown) | {"losses": shown.losses}


def _plans(shown: Shown) -> Mapping[str, Any]:
    plans = shown.uow.plans.selected(PlanFilter(cluster=shown.view.cluster), before=None, size=50)
    ledger = shown.uow.plans.ledger(cluster=shown.view.cluster, size=10)
    return {"plans": plans.items, "more": plans.has_more, "twins": twins(shown.uow, plans.items), "ledger": ledger}


def _capacity(shown: Shown) -> Mapping[str, Any]:
    studies = _studies(shown.uow, shown.view)
    sized = next((each for each in studies if (each.kind, each.state) == ("capacity", "succeeded")), None)
    answer = {"sizes": plots.sizes(shown.uow, sized), "horizon": plots.horizon_of(sized)} if sized else {}
    return {"studies": studies, "twins": twin_studies(studies), "sized": sized, **answer}


def _studies(uow: UnitOfWork, view: ClusterView) -> Sequence[Any]:
    newest = uow.sweeps.page(kind=None, state=None, before=None, size=50).items
    return [sweep for sweep in newest if sweep.labels.get(STUDY) == view.cluster]


def _snapshots(shown: Shown) -> Mapping[str, Any]:
    recent, more = _recent(shown, 50)
    changed = [(old, states.in_words(old, new)) for new, old in pairwise(recent)]
    compared = None
    if shown.view.against:
        other = _snapshot(shown.uow, replace(shown.view, snapshot=shown.view.against))
        one, two = sorted((shown.snapshot, other), key=lambda each: each.last_seen_at)
        compared = states.differences(one, two, *(snapshots.load(shown.uow, each.id)[1] for each in (one, two)))
    return {"recent": recent, "changed": [*changed, (None, [])], "more": more, "compared": compared}


def _recent(shown: Shown, size: int) -> tuple[list[Snapshot], bool]:
    """Snapshots by their latest state, which a later post of the same state renews; and whether there are more."""
    found = shown.uow.snapshots.page(cluster=shown.view.cluster, before=None, size=size)
    return sorted(found.items, key=lambda each: each.last_seen_at, reverse=True), found.has_more


_VALUES = dict(
    zip(ROOMS, (_overview, _brokers, _topics, _groups, _what_if, _plans, _capacity, _snapshots), strict=True)
)
"""By room, the function for the values of its page."""


def _history(recent: Sequence[Snapshot]) -> list[dict[str, object]]:
    return [
        {"x": snapshot.created_at.isoformat(), "y": health[name], "series": words}
        for snapshot in reversed(recent)
        if isinstance(health := snapshot.summary.get("health"), dict)
        for name, words in _HISTORY.items()
    ]
