"""`/plans/{id}`: the page of a plan of any kind."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from http import HTTPStatus
from typing import Annotated, Any, cast

from fastapi import APIRouter, Depends, Form, Query, Response
from fastapi.responses import RedirectResponse

from app.core.model import Cluster
from app.errors import Failure
from app.errors.requests import PlanNotFound
from app.services import consumers, groups, plans, reassignment, replicas, restarts, streams
from app.services.limits import Limits
from app.services.plans import Plan, PlanPatch, Status
from app.services.plans.kinds import KINDS
from app.services.plans.status import TRANSITIONS
from app.store.database import Database, UnitOfWork
from app.store.records import PlanHead
from app.web.access import Access
from app.web.clusters.view import ClusterView, Place, place
from app.web.forms.fields import PastedTexts, texts_of
from app.web.lists import id_of
from app.web.pages import Pages, page
from app.web.pictures.files import FileType, Options, picture_file
from app.web.pictures.rendering import STYLE
from app.web.plans import comparison, files
from app.web.plans import consumers as consumer_plans
from app.web.plans import groups as group_plans
from app.web.plans import reassignment as reassignment_plans
from app.web.plans import replicas as replica_plans
from app.web.plans import restarts as restart_plans
from app.web.plans import selection as labels
from app.web.plans import streams as streams_plans
from app.web.plans.against import against
from app.web.plans.execution import NEWEST, Execution, execution, states_after, store_pasted
from app.web.plans.selection import Selection, select
from app.web.plans.view import View, ViewedPlan

VIEWS: Mapping[str, View] = {
    replicas.KIND: replica_plans.VIEW,
    reassignment.KIND: reassignment_plans.VIEW,
    groups.KIND: group_plans.VIEW,
    streams.KIND: streams_plans.VIEW,
    restarts.KIND: restart_plans.VIEW,
    consumers.KIND: consumer_plans.VIEW,
}
"""The view of each kind of plan."""
MOST_TOPICS = 300
"""Topics that the field of a topic suggests."""


@dataclass(frozen=True, slots=True)
class Refused:
    """Why a form changed nothing, and its typed values."""

    detail: str
    typed: Mapping[str, str] = field(repr=False)


@dataclass(frozen=True, slots=True)
class Chosen:
    """Choices in the address of a page.

    Parameters
    ----------
    batch : brokers are shown after that many batches. select : the broker, rack or topic whose moves are shown.
    against : the id of the snapshot from which the differences of a plan of replicas are shown. tab : of `tabs_of`.
    """

    batch: int = 0
    select: str = ""
    against: str = ""
    tab: str = ""


_NOTHING = Chosen()
_NOT_EXECUTED = Execution(())


def router(database: Database, limits: Limits, access: Access) -> APIRouter:
    """The pages of plans; every change beside a plan needs the right to plan."""
    routes = Pages()
    typed = texts_of(limits.max_body_bytes)
    routes.routes += comparison.router(database).routes  # before the pages of plans, whose ids it would be
    routes.routes += files.router(database).routes

    @routes.get("/plans/{plan_id}")
    @routes.get("/plans/{plan_id}/{tab}")
    def plan_page(
        plan_id: str,
        tab: str = "",
        batch: Annotated[int, Query(ge=0)] = 0,
        progress: Annotated[str, Query(max_length=100)] = "",
        select: Annotated[str, Query(max_length=300)] = "",
        snapshot: Annotated[str, Query(alias="against", max_length=100)] = "",
    ) -> Response:
        return _page(database, plan_id, progress=progress, chosen=Chosen(batch, select, snapshot, tab))

    @routes.post("/plans/{plan_id}/progress", dependencies=[access.plan])
    def state_of_now(plan_id: str, pasted: Annotated[PastedTexts, Depends(typed)]) -> Response:
        return _pasted(database, plan_id, pasted, limits)

    @routes.post("/plans/{plan_id}/status")
    def change_status(
        plan_id: str,
        person: Annotated[str, access.plan],
        status: Annotated[str, Form(max_length=20)],
        revision: Annotated[int, Form()],
        notes: Annotated[str, Form(max_length=10_000)] = "",
        stated: Annotated[str, Form(alias="labels", max_length=30_000)] = "",
    ) -> Response:
        typed = {"status": status, "notes": notes, "labels": stated}
        return _changed(database, plan_id, person, typed, revision=revision)

    @routes.post("/plans/{plan_id}/delete", dependencies=[access.admin])
    def delete(plan_id: str) -> Response:
        with database.begin() as uow:
            uow.plans.delete(id_of(plan_id, PlanNotFound))
        return RedirectResponse("/plans", HTTPStatus.SEE_OTHER)

    @routes.get("/pictures/plan.{file_type}")
    def picture(file_type: FileType, plan: Annotated[str, Query(max_length=100)], options: Options) -> Response:
        with database.begin() as uow:
            drawn = _loaded(uow, plan)
        view = VIEWS[drawn.head.kind]
        return picture_file(lambda style: view.draw(drawn, style), file_type, options)

    return routes


def _pasted(database: Database, plan_id: str, pasted: PastedTexts, limits: Limits) -> Response:
    """Store the pasted texts as the current state, and show the progress. Raises `PlanNotFound`."""
    try:
        with database.begin() as uow:
            snapshot = store_pasted(uow, plans.load(uow, id_of(plan_id, PlanNotFound)), pasted.uploads(), limits)
    except PlanNotFound:
        raise
    except Failure as failure:
        return _page(database, plan_id, problem=failure.detail, text=pasted.text, chosen=Chosen(tab="execute"))
    return RedirectResponse(f"/plans/{plan_id}/execute?progress={snapshot.id}#execution", HTTPStatus.SEE_OTHER)


def _page(
    database: Database,
    plan_id: str,
    *,
    progress: str = "",
    problem: str = "",
    text: str = "",
    chosen: Chosen = _NOTHING,
    refused: Refused | None = None,
) -> Response:
    """The page of a stored plan.

    Raises `PlanNotFound`, also for a tab that the plan does not have.

    Parameters
    ----------
    progress : the snapshot at which it is shown. problem, text : why the pasted text is no state, and that text.
    """
    with database.begin() as uow:
        viewed = _loaded(uow, plan_id)
        view, head = VIEWS[viewed.head.kind], viewed.head
        if chosen.tab not in tabs_of(view):
            raise PlanNotFound(f"the page of a {head.kind} plan has no tab {chosen.tab[:100]}")
        if chosen.tab == "execute" and head.status in ("approved", "executing"):
            progress = progress or NEWEST
        now = execution(uow, viewed.plan, progress, problem=problem, text=text) if view.has_batches else _NOT_EXECUTED
        changes = against(uow, viewed.plan, chosen.against) if head.kind == replicas.KIND else None
        where = place(uow, ClusterView(head.cluster, "plans")) if head.cluster else None
    return shown(viewed, view, now=now, chosen=chosen, refused=refused, changes=changes, where=where)


def tabs_of(view: View) -> Mapping[str, str]:
    """The tabs of a kind of plan by the last part of their address, with their titles."""
    return {"": "Summary", **view.tabs, "about": "About"}


def _loaded(uow: UnitOfWork, plan_id: str) -> ViewedPlan:
    """A plan, and the cluster that it was made on. Raises `PlanNotFound`."""
    plan = plans.load(uow, id_of(plan_id, PlanNotFound))
    return ViewedPlan(plan, plans.made_on(uow, plan.head))


def _beside(head: PlanHead) -> Mapping[str, str]:
    """The fields of the form for labels and notes."""
    return {"notes": head.notes or "", "status": "", "labels": labels.write(head.labels)}


def _changed(database: Database, plan_id: str, person: str, typed: Mapping[str, str], *, revision: int) -> Response:
    """Change status, notes and labels, or show why nothing was changed. Raises `PlanNotFound`."""
    known = id_of(plan_id, PlanNotFound)
    try:
        new = labels.read(typed["labels"])
        with database.begin() as uow:
            head = uow.plans.get(known)
            removed = dict.fromkeys(head.labels)
            # A status that there is not follows no other, which `change` rejects.
            status, notes = cast("Status", typed["status"]), typed["notes"].strip() or None
            patch = PlanPatch(frozenset({"status", "notes", "labels"}), status, {**removed, **new}, notes)
            plans.change(uow, known, patch, principal=person, is_current=lambda head: head.revision == revision)
    except PlanNotFound:
        raise
    except Failure as failure:
        return _page(database, plan_id, refused=Refused(failure.detail, typed), chosen=Chosen(tab="about"))
    tab = "/execute" if typed["status"] == "approved" and VIEWS[head.kind].has_batches else ""
    return RedirectResponse(f"/plans/{plan_id}{tab}#status", HTTPStatus.SEE_OTHER)


def shown(
    viewed: ViewedPlan,
    view: View,
    *,
    now: Execution = _NOT_EXECUTED,
    chosen: Chosen = _NOTHING,
    refused: Refused | None = None,
    changes: Mapping[str, Any] | None = None,
    where: Place | None = None,
) -> Response:
    """The page of a plan over its cluster.

    Parameters
    ----------
    now : the execution, of a kind that has batches. refused : why the form of the status changed nothing.
    changes : the differences from a snapshot. where : its cluster.
    """
    plan, head = viewed.plan, viewed.head
    picture, selection = _drawn(viewed, view, chosen)
    topics = [placement.topic for placement in plan.placements]
    return page(
        view.template,
        status=HTTPStatus.UNPROCESSABLE_ENTITY if refused or now.problem else HTTPStatus.OK,
        tab=chosen.tab,
        tabs=tabs_of(view),
        topics=topics[:MOST_TOPICS],
        formats=[name for name in KINDS[head.kind].exports if plans.FORMATS[name].has_topics],
        execution=now,
        following=TRANSITIONS.get(cast("Status", head.status), ()),
        refused=refused and refused.detail,
        typed=refused.typed if refused else _beside(head),
        title=view.title(head, topics),
        plan=plan,
        answer=head.answer,
        picture=picture,
        selection=selection,
        total=sum(map(len, (placement.replicas for placement in plan.placements))),
        batch=chosen.batch,
        states=states_after(head, viewed.transfers, chosen.batch) if chosen.tab == "brokers" else None,
        **view.values(viewed),
        changes=changes,
        place=where,
    )


def _drawn(viewed: ViewedPlan, view: View, chosen: Chosen) -> tuple[str, Selection | None]:
    """The picture of a tab that has one, with the selection marked; of kinds that have batches also the selection."""
    if chosen.tab not in ("", "changes"):
        return "", None
    picture = view.draw(viewed, "")
    if not view.has_batches:
        return picture, None
    selection = select(viewed.transfers, chosen.select)
    return selection.marked(picture), selection


def plan_picture(plan: Plan, cluster: Cluster) -> bytes:
    """The plan over its cluster, as a whole SVG document."""
    return VIEWS[plan.head.kind].draw(ViewedPlan(plan, cluster), STYLE).encode()
