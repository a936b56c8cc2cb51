"""`/`: the fleet, all clusters by severity; the form that adds one, and the newest plans."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from http import HTTPStatus
from importlib.resources import files
from itertools import groupby, islice
from operator import attrgetter
from typing import Annotated

from fastapi import APIRouter, Depends, Response
from fastapi.responses import RedirectResponse

from app.errors import Failure
from app.errors.requests import ConflictingFields
from app.formats.snapshots import assembly
from app.formats.snapshots.pasted import Upload
from app.services import snapshots
from app.services.limits import Limits
from app.store.database import Database, UnitOfWork
from app.store.records import PlanFilter, Snapshot
from app.web.access import Access
from app.web.clusters.health import SEVERITIES, Finding, findings, severity
from app.web.clusters.rooms import changes
from app.web.clusters.view import ClusterView
from app.web.forms.fields import PastedTexts, texts_of
from app.web.pages import page
from app.web.plans.selection import twins

MOST_CLUSTERS = 200
NEWEST = 10
LONGEST_NAME = 249
EXAMPLE = "example-shop"
"""The name of the example cluster: skewed, with a hot topic, and unsafe without one of its racks."""


@dataclass(frozen=True, slots=True)
class ClusterCard:
    """A cluster in the list: its newest state, its problems, and the changes since the state before."""

    snapshot: Snapshot
    findings: Sequence[Finding]
    changes: Sequence[str]

    @property
    def view(self) -> ClusterView:
        """The cluster's page."""
        return ClusterView(self.snapshot.cluster)

    @property
    def severity(self) -> str:
        """The worst severity of the findings, or `good`."""
        return severity(self.findings)


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
        text = files("app.web").joinpath("static", "example.txt").read_text(encoding="utf-8")
        with database.begin() as uow:
            snapshot = snapshots.store(uow, assembly.assemble(EXAMPLE, [Upload(text)]).cluster, limits)
        return RedirectResponse(ClusterView(snapshot.cluster).address, HTTPStatus.SEE_OTHER)

    return routes


def _page(database: Database, *, typed: PastedTexts | None = None, problem: Failure | None = None) -> Response:
    with database.begin() as uow:
        newest = groupby(uow.snapshots.newest_of_all(most=MOST_CLUSTERS, each=2), attrgetter("cluster"))
        cards = [_card(*of_cluster) for _, of_cluster in islice(newest, MOST_CLUSTERS)]
        order = [*SEVERITIES, "good"]
        cards.sort(key=lambda card: (order.index(card.severity), -len(card.findings), card.snapshot.cluster))
        listed = uow.plans.selected(PlanFilter(), before=None, size=NEWEST).items
        told_apart = twins(uow, listed)
    status = HTTPStatus.OK if problem is None else HTTPStatus.UNPROCESSABLE_ENTITY
    around = partial(page, "clusters.html", status=status, most=MOST_CLUSTERS)
    return around(cards=cards, plans=listed, twins=told_apart, typed=typed, problem=problem)


def _card(snapshot: Snapshot, before: Snapshot | None = None) -> ClusterCard:
    changed = [] if before is None else changes(before.summary, snapshot.summary)
    return ClusterCard(snapshot, findings(snapshot), changed)


def _store(uow: UnitOfWork, typed: PastedTexts, limits: Limits) -> Snapshot:
    """Store the pasted cluster. Raises as reading it does."""
    if not (0 < len(typed.cluster) <= LONGEST_NAME and typed.cluster.isprintable()):
        detail = f"a cluster's name has 1 to {LONGEST_NAME} printable characters"
        raise ConflictingFields(detail, path=("cluster",), value=typed.cluster[:300])
    assembled = assembly.assemble(typed.cluster, typed.uploads())
    if uow.snapshots.newest(typed.cluster) is not None:
        return snapshots.store_later(uow, assembled, limits)
    return snapshots.store(uow, assembled.cluster, limits, cautions=snapshots.of_assembly(assembled))
