"""`/plans/{id}`: the page of a plan of any kind."""

from collections.abc import Mapping, Sequence
from http import HTTPStatus
from types import MappingProxyType
from uuid import UUID

from fastapi import APIRouter, Response, params

from app.core.model import Cluster
from app.errors.lookups import PlanNotFound
from app.services import groups, plans, reassignment, replicas, streams
from app.services.plans import Plan
from app.store.database import Database
from app.web import group_plans, reassignment_plans, replica_plans, streams_plans
from app.web.pages import page
from app.web.pictures import STYLE
from app.web.views import View

VIEWS: Mapping[str, View] = MappingProxyType(
    {
        replicas.KIND: replica_plans.VIEW,
        reassignment.KIND: reassignment_plans.VIEW,
        groups.KIND: group_plans.VIEW,
        streams.KIND: streams_plans.VIEW,
    }
)
"""The view of each kind of plan."""


def router(database: Database, *, dependencies: Sequence[params.Depends] = ()) -> APIRouter:
    """The pages of plans; `dependencies` apply to every request."""
    routes = APIRouter(include_in_schema=False, dependencies=list(dependencies))

    @routes.get("/plans/{plan_id}")
    def plan_page(plan_id: str) -> Response:
        try:
            with database.begin() as uow:
                plan = plans.load(uow, _id(plan_id))
                cluster = plans.made_on(uow, plan.head)
        except PlanNotFound:
            return page("plan_not_found.html", status=HTTPStatus.NOT_FOUND, plan_id=plan_id[:100])
        return shown(plan, cluster, VIEWS[plan.head.kind])

    return routes


def shown(plan: Plan, cluster: Cluster, view: View) -> Response:
    """The page of a plan over its cluster."""
    return page(
        view.template,
        title=view.title(plan.head, [placement.topic for placement in plan.placements]),
        plan=plan,
        answer=plan.head.answer,
        prediction=view.prediction(plan.head),
        picture=view.draw(plan, cluster, ""),
        total=sum(len(placement.replicas) for placement in plan.placements),
        **view.values(plan, cluster),
    )


def plan_picture(plan: Plan, cluster: Cluster) -> bytes:
    """The plan over its cluster, as a whole SVG document."""
    return VIEWS[plan.head.kind].draw(plan, cluster, STYLE).encode()


def _id(text: str) -> UUID:
    try:
        return UUID(text)
    except ValueError:
        raise PlanNotFound(f"{text[:100]} is not the id of a plan") from None
