"""`/search`: clusters, brokers, topics, groups, plans and studies by a part of their name or id."""

from dataclasses import dataclass
from typing import Annotated, Any, cast

from fastapi import APIRouter, Query, Response

from app.services import snapshots
from app.store.database import Database, UnitOfWork
from app.store.records import PlanFilter, Snapshot
from app.web.clusters.view import ClusterView, place
from app.web.pages import Pages, page
from app.web.plans.selection import twins

MOST_FOUND = 10
"""Results of each kind."""
MOST_CLUSTERS, MOST_PARTITIONS = 50, 500_000
"""Clusters whose brokers, topics and groups are searched, and their partitions; the cluster in context always is."""
MOST_LISTED = 300
"""The newest plans and studies that are searched by name."""


@dataclass(frozen=True, slots=True)
class Found:
    """A result: its kind, its name, the address of its page, and the cluster that it is in; empty for none."""

    kind: str
    name: str
    address: str
    cluster: str = ""


def router(database: Database) -> APIRouter:
    """The results as a page, which the field in the rail leads to."""
    routes = Pages()

    @routes.get("/search")
    def search(
        q: Annotated[str, Query(max_length=300)] = "", cluster: Annotated[str, Query(max_length=300)] = ""
    ) -> Response:
        wanted = q.strip().casefold()
        with database.begin() as uow:
            where = place(uow, ClusterView(cluster, "search")) if cluster else None
            results = _results(uow, wanted, cluster) if wanted else {}
        return page("search.html", query=q.strip(), most=MOST_FOUND, listed=MOST_LISTED, place=where, **results)

    return routes


def _results(uow: UnitOfWork, wanted: str, cluster: str) -> dict[str, Any]:
    """Clusters and parts of them by name, equal names first; plans by title and id, studies by name and id."""
    within, totals, left_out = in_clusters(uow, wanted, first=cluster)
    named = [name for name in sorted(uow.snapshots.clusters()) if wanted in name.casefold()]
    found = [*(Found("cluster", name, ClusterView(name).address) for name in named[:MOST_FOUND]), *within]
    totals["cluster"] = len(named)
    found.sort(key=lambda each: (each.name.casefold() != wanted, each.cluster != cluster))
    listed = uow.plans.selected(PlanFilter(), before=None, size=MOST_LISTED).items
    plans = [plan for plan in listed if wanted in f"{plan.title} {plan.id}".casefold()][:MOST_FOUND]
    sweeps = uow.sweeps.page(kind=None, state=None, before=None, size=MOST_LISTED).items
    studies = [each for each in sweeps if wanted in f"{each.labels.get('study', '')} {each.id}".casefold()]
    rest = {"plans": plans, "twins": twins(uow, plans), "studies": studies[:MOST_FOUND]}
    return {"found": found, "totals": totals, "left_out": left_out, **rest}


def in_clusters(
    uow: UnitOfWork, wanted: str, *, first: str, most_partitions: int = MOST_PARTITIONS
) -> tuple[list[Found], dict[str, int], list[str]]:
    """The first matches in the newest snapshots, the number of all by kind, and the clusters that were left out."""
    newest = uow.snapshots.newest_of_all(most=MOST_LISTED)
    newest.sort(key=lambda snapshot: (snapshot.cluster != first, _size(snapshot)))
    found: dict[str, list[Found]] = {"broker": [], "topic": [], "group": []}
    totals = dict.fromkeys(found, 0)
    left_out, partitions = [], 0
    for position, snapshot in enumerate(newest):
        partitions += _size(snapshot)
        if snapshot.cluster != first and (position >= MOST_CLUSTERS or partitions > most_partitions):
            left_out.append(snapshot.cluster)
            continue
        _, cluster = snapshots.load(uow, snapshot.id)
        brokers = ("broker", [str(broker.id) for broker in cluster.brokers])
        topics = ("topic", [topic.name for topic in cluster.topics])
        for kind, names in (brokers, topics, ("group", [group.group_id for group in cluster.groups])):
            chosen = [name for name in names if wanted in name.casefold()]
            first_of_kind = chosen[: MOST_FOUND - len(found[kind])]
            view = ClusterView(snapshot.cluster)
            found[kind] += (Found(kind, name, view.at(f"{kind}s", name), snapshot.cluster) for name in first_of_kind)
            totals[kind] += len(chosen)
    return [each for results in found.values() for each in results], totals, left_out


def _size(snapshot: Snapshot) -> int:
    return cast("int", snapshot.summary["partitions"])
