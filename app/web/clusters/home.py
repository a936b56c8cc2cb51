"""`/`: all clusters with their health, the form that adds one, and the newest plans."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from http import HTTPStatus
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Request, Response, params
from fastapi.responses import RedirectResponse
from starlette.datastructures import UploadFile

from app.errors import Failure
from app.errors.requests import ConflictingFields
from app.formats.snapshots import assembly
from app.formats.snapshots.pasted import Upload
from app.formats.syntax.lines import decode
from app.services import snapshots
from app.services.limits import Limits
from app.store.database import Database, UnitOfWork
from app.store.records import PlanFilter, Snapshot
from app.web.clusters.health import Finding, findings
from app.web.clusters.view import ClusterView
from app.web.forms import first_plan
from app.web.pages import page

MOST_CLUSTERS = 200
NEWEST = 10
_MOST_FILES = 100


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


@dataclass(frozen=True, slots=True)
class _Pasted:
    """The fields of the form that adds a cluster."""

    cluster: str
    text: str
    files: Sequence[tuple[str, bytes]]


def router(
    database: Database,
    limits: Limits,
    *,
    dependencies: Sequence[params.Depends] = (),
    form_dependencies: Sequence[params.Depends] = (),
) -> APIRouter:
    """The home page.

    Parameters
    ----------
    dependencies : apply to every request. form_dependencies : apply also to a request that stores a cluster.
    """
    routes = APIRouter(include_in_schema=False, dependencies=list(dependencies))

    async def pasted(request: Request) -> _Pasted:
        form = request.form(max_fields=_MOST_FILES, max_files=_MOST_FILES, max_part_size=limits.max_body_bytes)
        async with form as parts:
            files = [
                (f.filename or "file", await f.read()) for f in parts.getlist("files") if isinstance(f, UploadFile)
            ]
            texts = {name: str(parts.get(name, "")) for name in ("cluster", "text")}
        return _Pasted(texts["cluster"].strip(), texts["text"], [(name, content) for name, content in files if content])

    @routes.get("/")
    def home() -> Response:
        return _page(database)

    @routes.post("/clusters", dependencies=list(form_dependencies))
    def add(typed: Annotated[_Pasted, Depends(pasted)]) -> Response:
        try:
            with database.begin() as uow:
                snapshot = _store(uow, typed, limits)
        except Failure as failure:
            return _page(database, typed=typed, problem=failure)
        return RedirectResponse(ClusterView(snapshot.cluster).address, HTTPStatus.SEE_OTHER)

    @routes.post("/clusters/example", dependencies=list(form_dependencies))
    def add_example() -> Response:
        wanted = first_plan.read(first_plan.EXAMPLE)
        with database.begin() as uow:
            snapshot = snapshots.store(uow, wanted.cluster, limits)
        return RedirectResponse(ClusterView(snapshot.cluster).address, HTTPStatus.SEE_OTHER)

    return routes


def _page(database: Database, *, typed: _Pasted | None = None, problem: Failure | None = None) -> Response:
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


def _store(uow: UnitOfWork, typed: _Pasted, limits: Limits) -> Snapshot:
    """Store the pasted cluster. Raises what reading it raises."""
    if not first_plan.is_cluster_name(typed.cluster):
        raise ConflictingFields(first_plan.CLUSTER_NAMES, path=("cluster",), value=typed.cluster[:300])
    uploads = [Upload(decode(content, name), name) for name, content in typed.files]
    if typed.text.strip():
        uploads.insert(0, Upload(typed.text))
    assembled = assembly.assemble(typed.cluster, uploads)
    return snapshots.store(uow, assembled.cluster, limits, cautions=snapshots.of_assembly(assembled))
