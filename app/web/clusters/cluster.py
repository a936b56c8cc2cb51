"""`/clusters/{name}`: the map of a cluster, what is left after a loss, a topic, a broker, and its history."""

from collections.abc import Sequence
from datetime import datetime
from http import HTTPStatus
from typing import Annotated, Any, Literal
from uuid import UUID

from fastapi import APIRouter, HTTPException, Query, Response
from fastapi.responses import RedirectResponse

from app.core.measures.partition_table import BrokerLoads, PartitionTable
from app.core.model import NO_REPLICA
from app.errors.lookups import SnapshotNotFound
from app.services import snapshots
from app.store.database import Database, UnitOfWork
from app.store.records import PlanFilter, Snapshot
from app.web import charts
from app.web.access import Access
from app.web.clusters import map_picture
from app.web.clusters.broker_map import MEASURES, available, broker_map
from app.web.clusters.directories import directories
from app.web.clusters.health import findings
from app.web.clusters.tables import RecentTables
from app.web.clusters.view import ClusterView
from app.web.pages import download, page
from app.web.pictures.files import FileType, Options, picture_file

MOST_TOPICS = 500
"""Topics that the page offers to choose from."""
MOST_ROWS = 100
"""Partitions of a topic, and topics of a broker, that the page lists."""
MOST_SNAPSHOTS = 200
"""Snapshots of the history."""
_HISTORY = {
    "offline": "offline",
    "under_replicated": "under-replicated",
    "not_rack_safe": "not rack-safe",
    "not_preferred": "not led by the preferred leader",
}
Text = Annotated[str, Query(max_length=300)]


def router(database: Database, access: Access) -> APIRouter:
    """The pages of clusters and their pictures; deleting a snapshot needs the right of an administrator."""
    routes = APIRouter(include_in_schema=False)
    tables = RecentTables()

    @routes.get("/clusters/{name:path}")
    def cluster_page(
        name: str,
        snapshot: Text = "",
        measure: Text = "",
        topic: Text = "",
        broker: Text = "",
        lose: Annotated[Sequence[str], Query()] = (),
        file: Literal["", "json"] = "",
    ) -> Response:
        view = ClusterView.of(name, snapshot=snapshot, measure=measure, topic=topic, broker=broker, lost=lose)
        try:
            with database.begin() as uow:
                shown = _snapshot(uow, view)
                if file:
                    document = uow.snapshots.document(shown.id)
                    return download(document, "application/json", f"snapshot-{shown.id}.json")
                cluster, table, losses = tables.of(uow, shown.id)
                view = view.within(table)
                values = _related(uow, view)
        except SnapshotNotFound:
            return page("cluster_not_found.html", status=HTTPStatus.NOT_FOUND, cluster=name[:300])
        disks = directories(cluster, int(view.broker)) if view.broker else []
        return page(
            "cluster.html",
            view=view,
            snapshot=shown,
            directories=disks,
            losses=losses,
            **values,
            **_values(view, shown, table),
        )

    @routes.post("/snapshots/{snapshot_id}/delete", dependencies=[access.admin])
    def delete(snapshot_id: UUID) -> Response:
        """A snapshot that a plan, a sweep or a job needs stays: a page says so."""
        with database.begin() as uow:
            cluster = uow.snapshots.get(snapshot_id).cluster
            uow.snapshots.delete(snapshot_id)
            is_left = uow.snapshots.newest(cluster) is not None
        return RedirectResponse(ClusterView(cluster).address if is_left else "/", HTTPStatus.SEE_OTHER)

    @routes.get("/pictures/cluster-map.{file_type}")
    def map_picture_file(
        file_type: FileType,
        cluster: Text,
        options: Options,
        snapshot: Text = "",
        measure: Text = "",
        topic: Text = "",
        lose: Annotated[Sequence[str], Query()] = (),
    ) -> Response:
        view = ClusterView.of(cluster, snapshot=snapshot, measure=measure, topic=topic, broker="", lost=lose)
        try:
            with database.begin() as uow:
                shown = _snapshot(uow, view)
                _, table, _ = tables.of(uow, shown.id)
                view = view.within(table)
        except SnapshotNotFound:
            raise HTTPException(404) from None
        lost, loads, _ = _loads(view, table)
        title = f"Cluster {cluster}" + (f", topic {view.topic}" if view.topic else "")
        drawn = broker_map(table, loads, lost, view.measure)
        return picture_file(
            lambda style: map_picture.draw(title, drawn, style=style), file_type, options, style=map_picture.MAP_STYLE
        )

    @routes.get("/pictures/cluster-history.{suffix}")
    def history(
        suffix: charts.Suffix, cluster: Text, theme: charts.Theme = "light", width: charts.Width = charts.WIDTH
    ) -> Response:
        with database.begin() as uow:
            recent = uow.snapshots.page(cluster=cluster, before=None, size=MOST_SNAPSHOTS).items
        return charts.response(charts.lines(_history(recent), x="", y="partitions"), suffix, theme=theme, width=width)

    return routes


def _snapshot(uow: UnitOfWork, view: ClusterView) -> Snapshot:
    """The snapshot that a view shows. Raises `SnapshotNotFound`."""
    if not view.snapshot:
        return snapshots.newest(uow, view.cluster)
    try:
        shown = uow.snapshots.get(UUID(view.snapshot))
    except ValueError:
        raise SnapshotNotFound(f"{view.snapshot} is not the id of a snapshot") from None
    if shown.cluster != view.cluster:
        raise SnapshotNotFound(f"snapshot {view.snapshot} is of another cluster")
    return shown


def _related(uow: UnitOfWork, view: ClusterView) -> dict[str, Any]:
    recent = uow.snapshots.page(cluster=view.cluster, before=None, size=20)
    plans = uow.plans.page(PlanFilter(cluster=view.cluster), before=None, size=10)
    ledger = uow.plans.ledger(cluster=view.cluster, size=10)
    return {"recent": recent.items, "plans": plans.items, "ledger": ledger, "has_history": len(recent.items) > 1}


def _loads(view: ClusterView, table: PartitionTable) -> tuple[Any, BrokerLoads, slice]:
    lost = table.lost(view.lost_brokers, view.lost_racks)
    rows = (table.rows_of(view.topic) if view.topic else None) or slice(0, len(table.partition_ids))
    return lost, table.loads(lost, rows), rows


def _values(view: ClusterView, snapshot: Snapshot, table: PartitionTable) -> dict[str, Any]:
    lost, loads, rows = _loads(view, table)
    names = available(table, loads)
    position = {int(broker): index for index, broker in enumerate(table.brokers.ids)}.get(int(view.broker or -1))
    is_known = not view.topic or view.topic in table.topics
    return {
        "map": broker_map(table, loads, lost, view.measure),
        "measures": {name: MEASURES[name].label for name in names},
        "findings": findings(snapshot),
        "topics": table.topics[:MOST_TOPICS],
        "topic_count": len(table.topics),
        "loss": _loss(view, table, loads, rows) if view.lost else None,
        "partitions": _partitions(table, rows) if view.topic and is_known else None,
        "is_known_topic": is_known,
        "on_broker": None if position is None else table.topics_on(position, MOST_ROWS),
        "warnings": snapshot.summary.get("warnings") or [],
        "most_rows": MOST_ROWS,
    }


def _loss(view: ClusterView, table: PartitionTable, loads: BrokerLoads, rows: slice) -> dict[str, Any]:
    """What a loss costs, with the topics of the partitions that go offline, if all topics are shown."""
    new = loads.offline & ~table.loads(table.lost(), rows).offline
    return {
        "offline": int(new.sum()),
        "elected": loads.elected,
        "reduced": int(loads.reduced.sum()),
        "topics": [] if view.topic else table.counts_by_topic(new)[:MOST_ROWS],
    }


def _partitions(table: PartitionTable, rows: slice) -> list[dict[str, Any]]:
    """The first partitions of a topic, as the page lists them."""
    ids = table.brokers.ids
    listed = []
    for row in range(rows.start, min(rows.stop, rows.start + MOST_ROWS)):
        replicas = table.replicas[row]
        leader = int(table.leaders[row])
        listed.append(
            {
                "id": int(table.partition_ids[row]),
                "leader": None if leader < 0 else int(ids[leader]),
                "replicas": [int(ids[broker]) for broker in replicas[replicas != NO_REPLICA]],
                "out_of_sync": [
                    int(ids[broker])
                    for broker, is_in_sync in zip(replicas, table.in_sync[row], strict=True)
                    if broker != NO_REPLICA and not is_in_sync
                ],
                "bytes": int(table.size_bytes[row]),
            }
        )
    return listed


def _history(recent: Sequence[Snapshot]) -> list[dict[str, object]]:
    def rows(snapshot: Snapshot, moment: datetime) -> list[dict[str, object]]:
        health: Any = snapshot.summary.get("health")
        if not isinstance(health, dict):
            return []
        return [{"x": moment.isoformat(), "y": health[name], "series": words} for name, words in _HISTORY.items()]

    return [row for snapshot in reversed(recent) for row in rows(snapshot, snapshot.created_at)]
