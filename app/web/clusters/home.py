"""`/`: all clusters with their health, the form that adds one, and the newest plans."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from http import HTTPStatus
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Response
from fastapi.responses import RedirectResponse

from app.errors import Failure
from app.errors.requests import ConflictingFields
from app.formats.snapshots import assembly
from app.services import snapshots
from app.services.limits import Limits
from app.store.database import Database, UnitOfWork
from app.store.records import PlanFilter, Snapshot
from app.web.access import Access
from app.web.clusters.health import Finding, findings
from app.web.clusters.view import ClusterView
from app.web.forms import first_plan
from app.web.forms.texts import PastedTexts, texts_of
from app.web.pages import page

MOST_CLUSTERS = 200
NEWEST = 10


@dataclass(frozen=True, slots=True)
class ClusterCard:
    """A cluster in the list: its newest state, what is wrong with it, and what changed since the state before."""

    snapshot: Snapshot
    findings: Sequence[Finding]
    changes: Sequence[str]

    @property
    def address(self) -> str:
        """The address of the cluster's page."""
        return ClusterView(self.snapshot.cluster).address


def router(database: Database, limits: Limits, access: Access) -> APIRouter:
    """The home page; storing a cluster needs the right to plan."""
    routes = APIRouter(include_in_schema=False)

    @routes.get("/")
    def home() -> Response:
        return _page(database)

    @routes.post("/clusters", dependencies=[access.plan])
    def add(typed: Annotated[PastedTexts, Depends(texts_of(limits.max_body_bytes))]) -> Response:
        try:
            with database.begin() as uow:
                snapshot = _store(uow, typed, limits)
        except Failure as failure:
            return _page(database, typed=typed, problem=failure)
        return RedirectResponse(ClusterView(snapshot.cluster).address, HTTPStatus.SEE_OTHER)

    @routes.post("/clusters/example", dependencies=[access.plan])
    def add_example() -> Response:
        wanted = first_plan.read(first_plan.EXAMPLE)
        with database.begin() as uow:
            snapshot = snapshots.store(uow, wanted.cluster, limits)
        return RedirectResponse(ClusterView(snapshot.cluster).address, HTTPStatus.SEE_OTHER)

    return routes


def _page(database: Database, *, typed: PastedTexts | None = None, problem: Failure | None = None) -> Response:
    with database.begin() as uow:
        newest = uow.snapshots.newest_of_all(most=MOST_CLUSTERS)
        cards = [_card(uow, snapshot) for snapshot in newest]
        listed = uow.plans.page(PlanFilter(), before=None, size=NEWEST)
    status = HTTPStatus.OK if problem is None else HTTPStatus.UNPROCESSABLE_ENTITY
    values: Mapping[str, Any] = {"cards": cards, "plans": listed.items, "typed": typed, "problem": problem}
    return page("clusters.html", status=status, most=MOST_CLUSTERS, **values)


def _card(uow: UnitOfWork, snapshot: Snapshot) -> ClusterCard:
    recent = uow.snapshots.page(cluster=snapshot.cluster, before=None, size=2).items
    before = next((each for each in recent if each.id != snapshot.id), None)
    changes = [] if before is None else _changes(before.summary, snapshot.summary)
    return ClusterCard(snapshot, findings(snapshot), changes)


def _changes(before: Mapping[str, Any], after: Mapping[str, Any]) -> list[str]:
    """How the counts of two summaries differ, in words."""
    return [
        f"{name} {difference:+,}"
        for name in ("brokers", "racks", "topics", "partitions", "groups")
        if (difference := int(after.get(name) or 0) - int(before.get(name) or 0))
    ]


def _store(uow: UnitOfWork, typed: PastedTexts, limits: Limits) -> Snapshot:
    """Store the pasted cluster. Raises what reading it raises."""
    if not first_plan.is_cluster_name(typed.cluster):
        raise ConflictingFields(first_plan.CLUSTER_NAMES, path=("cluster",), value=typed.cluster[:300])
    assembled = assembly.assemble(typed.cluster, typed.uploads())
    return snapshots.store(uow, assembled.cluster, limits, cautions=snapshots.of_assembly(assembled))
