"""`/`: the fleet, all clusters by severity, and the form that adds one."""

from functools import partial
from http import HTTPStatus
from importlib.resources import files
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
from app.store.records import Snapshot
from app.web.access import Access
from app.web.clusters.health import SEVERITIES, findings, severity
from app.web.clusters.view import ClusterView
from app.web.forms.fields import PastedTexts, texts_of
from app.web.pages import Pages, page

MOST_CLUSTERS = 200
LONGEST_NAME = 249
EXAMPLE = "example-shop"
"""The name of the example cluster: skewed, with a hot topic, and unsafe without one of its racks."""


def router(database: Database, limits: Limits, access: Access) -> APIRouter:
    """The home page; storing a cluster needs the right to plan."""
    routes = Pages()

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
        newest = uow.snapshots.newest_of_all(most=MOST_CLUSTERS)
    cards = [(snapshot, listed, severity(listed)) for snapshot in newest for listed in [findings(snapshot)]]
    order = [*SEVERITIES, "good"]
    cards.sort(key=lambda card: (order.index(card[2]), -len(card[1]), card[0].cluster))
    status = HTTPStatus.OK if problem is None else HTTPStatus.UNPROCESSABLE_ENTITY
    shown = partial(page, "clusters.html", status=status, most=MOST_CLUSTERS, view_of=ClusterView)
    return shown(cards=cards, typed=typed, problem=problem)


def _store(uow: UnitOfWork, typed: PastedTexts, limits: Limits) -> Snapshot:
    """Store the pasted cluster. Raises as reading it does."""
    if not (0 < len(typed.cluster) <= LONGEST_NAME and typed.cluster.isprintable()):
        detail = f"a cluster's name has 1 to {LONGEST_NAME} printable characters"
        raise ConflictingFields(detail, path=("cluster",), value=typed.cluster[:300])
    assembled = assembly.assemble(typed.cluster, typed.uploads())
    if uow.snapshots.newest(typed.cluster) is not None:
        return snapshots.store_later(uow, assembled, limits)
    return snapshots.store(uow, assembled.cluster, limits, cautions=snapshots.of_assembly(assembled))
