"""`/plans/compare`: two plans of one kind side by side."""

from collections.abc import Mapping, Sequence
from http import HTTPStatus
from typing import Annotated, Any
from uuid import UUID

from fastapi import APIRouter, Query, Response

from app.errors import Failure
from app.services import plans, reassignment
from app.services.plans import Plan
from app.services.plans.kinds import KINDS
from app.services.reassignment.differences import BrokerTransfer
from app.store.database import Database, UnitOfWork
from app.store.records import ListedPlan, PlanFilter
from app.web.clusters.view import ClusterView, place
from app.web.lists import as_id
from app.web.pages import Pages, page
from app.web.plans.selection import differing, twins
from app.web.words import measured

MOST_ROWS = 100


def _differences(uow: UnitOfWork, first: Plan, second: Plan) -> Mapping[str, Any]:
    """Changes of the second plan against the first one: `GET /v1/plans/{second}/diff?against={first}`.

    The plans may be of different snapshots: each has the whole placement of its topics, members or tasks. `counts` are
    as in the API by name without those that are 0, `rows` the first that differ, of `total`. `brokers`, of
    reassignments, are those that the plans leave differently, the largest difference first.
    """
    found = KINDS[second.head.kind].difference(uow, second, first.head.id)
    summary: Any = found.summary
    counts = [(name, value) for name, value in summary.items() if isinstance(value, int) and value]
    brokers = summary["brokers"] if second.head.kind == reassignment.KIND else []
    return {
        "counts": [(name.replace("_", " "), measured(name, value)) for name, value in counts],
        "total": found.total,
        "rows": found.items(0, MOST_ROWS),
        "brokers": sorted(filter(_apart, brokers), key=_apart, reverse=True),
        "most_brokers": MOST_BROKERS,
    }


def _apart(broker: BrokerTransfer) -> tuple[int, ...]:
    """The differences of a broker between two plans in replicas, leaders and bytes; empty if there are none."""
    apart = tuple(
        abs(getattr(broker, f"{figure}_after") - getattr(broker, f"{figure}_before"))
        for figure in ("replicas", "leaders", "bytes")
    )
    return apart if any(apart) else ()


MOST_PLANS = 50
MOST_BROKERS = 20
Text = Annotated[str, Query(max_length=100)]


def router(database: Database) -> APIRouter:
    """The page that compares plans."""
    routes = Pages()

    @routes.get("/plans/compare")
    def compare(a: Text = "", b: Text = "", plan: Annotated[Sequence[str], Query()] = ()) -> Response:
        a, b, *_ = (a, b) if a or b else (*plan, "", "")  # boxes of a list are of one name
        try:
            with database.begin() as uow:
                return _page(uow, as_id(a), as_id(b))
        except Failure as failure:
            with database.begin() as uow:
                return _page(uow, None, None, problem=failure.detail)

    return routes


def _page(uow: UnitOfWork, first: UUID | None, second: UUID | None, *, problem: str = "") -> Response:
    one = None if first is None else plans.load(uow, first)
    choices = others(uow, one)
    if one is not None and second is None:  # an alternative to the plan, else the newest one
        alike = sorted(choices, key=lambda each: each.title != one.head.title)
        second = next((each.id for each in alike if each.id != first), None)
    other = None if second is None else plans.load(uow, second)
    values: dict[str, Any] = {}
    if one is not None and other is not None:
        problem = _incomparable(one, other)
        values = {} if problem else _values(uow, one, other)
    cluster = None if one is None else one.head.cluster
    return page(
        "plans_compared.html",
        status=HTTPStatus.UNPROCESSABLE_ENTITY if problem else HTTPStatus.OK,
        first=one,
        second=other,
        choices=choices,
        twins=twins(uow, choices),
        place=place(uow, ClusterView(cluster, "plans")) if cluster else None,
        problem=problem,
        compared=values,
        largest_loads=_largest_loads,
    )


def _largest_loads(answer: Mapping[str, Any]) -> list[tuple[str, float, float]]:
    """By resource, the largest load of any broker as a share of its capacity, after the plan and its worst loss."""
    largest: dict[str, tuple[float, float]] = {}
    for loads in (answer.get("loads") or {}).values():
        for resource, load in loads.items():
            if load["capacity"]:
                worst = max(load["after"], *(load["after_worst_loss"][of] or 0 for of in ("broker", "rack")))
                after, lost = largest.get(resource, (0.0, 0.0))
                shares = load["after"] / load["capacity"], worst / load["capacity"]
                largest[resource] = max(after, shares[0]), max(lost, shares[1])
    return [(resource, *shares) for resource, shares in largest.items()]


def others(uow: UnitOfWork, plan: Plan | None) -> Sequence[ListedPlan]:
    """The newest plans of the kind and cluster of a plan, or of all."""
    alike = PlanFilter() if plan is None else PlanFilter(kind=plan.head.kind, cluster=plan.head.cluster)
    return uow.plans.selected(alike, before=None, size=MOST_PLANS).items


def _incomparable(one: Plan, other: Plan) -> str:
    if one.head.kind != other.head.kind:
        return f"a {one.head.kind} plan and a {other.head.kind} plan have nothing in common"
    if one.head.cluster != other.head.cluster:
        return f"the plans are for two clusters, {one.head.cluster or 'none'} and {other.head.cluster or 'none'}"
    return ""


def _values(uow: UnitOfWork, one: Plan, other: Plan) -> dict[str, Any]:
    return {
        "fields": differing(one.head.request, other.head.request),
        "is_same_snapshot": one.head.snapshot_id == other.head.snapshot_id,
        "differences": _differences(uow, one, other),
    }
