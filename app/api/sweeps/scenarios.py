"""Results of `/v1/sweeps/{id}`: scored scenarios, distributions of their figures, and the best one."""

from collections.abc import Sequence
from typing import Annotated, Literal

from fastapi import Query, Request, Response
from pydantic import Field

from app.api import examples
from app.api.http import operations
from app.api.http.auth import RequestLimits, Uow
from app.api.http.idempotency import OnceOnly
from app.api.planned import created
from app.api.sweeps.documents import FrontDocument, ScenariosPage
from app.formats.tables import scenario_tables
from app.services.fields import NAMED_VALUE, Id
from app.services.groups.answers import GroupPlanDocument
from app.services.reassignment.reports.report import ReassignmentPlanDocument
from app.services.replicas.answers import PlanDocument
from app.services.sweeps import results
from app.services.sweeps.answers import BestDocument, ComparisonDocument, ScenarioDocument, SummaryDocument
from app.services.sweeps.results import ScenarioFilter

router = operations.Operations("/v1/sweeps", "sweeps")

JSON = "application/json"
TABLES = {table.media_type: table.write for table in scenario_tables.TABLES.values()}
"""The formats of scenarios besides JSON: all scenarios of the filter, not a page of them."""

SweepId = Annotated[Id, examples.SWEEP_ID]
FeasibleFilter = Annotated[
    bool | None,
    Query(
        description="Of a sweep of the kind `capacity` or `reassignment`: only feasible scenarios, or only the others."
    ),
]
AxisFilter = Annotated[
    list[Annotated[str, Field(max_length=900, pattern=NAMED_VALUE)]] | None,
    Query(
        description="`name=value`: only scenarios in which the axis has this value, as in JSON (text without quotes).",
        max_length=16,
    ),
]


@router.operation(
    "GET /{sweep_id}/scenarios",
    answer=ScenariosPage,
    scope="read",
    others={200: {"content": {media_type: {} for media_type in TABLES}, "description": "Scenarios"}},
)
def list_scenarios(
    request: Request,
    uow: Uow,
    sweep_id: SweepId,
    feasible: FeasibleFilter = None,
    axis: AxisFilter = None,
    sort: Annotated[
        Literal[tuple(results.SORTABLE)],  # type: ignore[valid-type] # the kinds decide
        Query(description="The sort key: the index, or a figure of the sweep's kind."),
    ] = "index",
    descending: Annotated[bool, Query(description="The largest first.")] = False,
    page_size: operations.PageSize = 100,
    page_token: operations.PageToken = None,
) -> Response:
    """List scored scenarios.

    Page through the scenarios, or return all that match the filter as CSV, Parquet or Arrow (`Accept`).
    """
    media_type = operations.chosen(request, [JSON, *TABLES])
    selection = ScenarioFilter(feasible, _named_axes(axis))

    if media_type != JSON:
        rows = results.every(uow, sweep_id, selection, sort=sort, descending=descending)
        return Response(TABLES[media_type](rows, results.columns(uow, sweep_id)), media_type=media_type)
    after = operations.place_of_token(page_token)
    page = results.scenarios(uow, sweep_id, selection, sort=sort, descending=descending, after=after, size=page_size)
    token = operations.token_of_place(results.place(page.items[-1][1], sort)) if page.has_more else None
    return operations.json_response({"items": [row for _, row in page.items], "next_page_token": token})


@router.operation("GET /{sweep_id}/scenarios/{index}", answer=ScenarioDocument, scope="read")
def get_scenario(uow: Uow, sweep_id: SweepId, index: examples.ScenarioIndex) -> Response:
    """Read one scored scenario.

    Return all figures of one scenario.
    """
    return operations.json_response(results.one(uow, sweep_id, index))


@router.operation(
    "POST /{sweep_id}/scenarios/{index}/plan",
    answer=PlanDocument | ReassignmentPlanDocument | GroupPlanDocument,
    status=201,
)
def open_scenario(
    uow: Uow, once: OnceOnly, limits: RequestLimits, sweep_id: SweepId, index: examples.ScenarioIndex
) -> Response:
    """Store a scenario as a plan.

    Create a plan of the placement, group or reassignment that was scored, with its measures, picture and exports.

    Scenarios of a key skew place nothing that a plan could contain.

    A group plan is of the remaining and the added members; partitions of lost members are taken up in it.
    """
    return once(lambda: created(results.opened(uow, sweep_id, index, limits)))


@router.operation("GET /{sweep_id}/summary", answer=SummaryDocument, scope="read")
def summarise_sweep(uow: Uow, sweep_id: SweepId, feasible: FeasibleFilter = None, axis: AxisFilter = None) -> Response:
    """Get the distributions of a sweep's figures.

    Least, mean, median, 95th percentile (nearest rank), largest and a histogram of every figure of the sweep's kind,
    over all that has been scored, or over the scenarios of some axes' values.
    """
    return operations.json_response(results.summary(uow, sweep_id, ScenarioFilter(feasible, _named_axes(axis))))


@router.operation("GET /{sweep_id}/front", answer=FrontDocument, scope="read")
def get_front(uow: Uow, sweep_id: SweepId) -> Response:
    """Read the Pareto front.

    The Pareto front over cost, headroom and cross-rack bytes, of feasible scenarios within the constraints.

    Of capacity sweeps; other kinds have no objective, and a summary.
    """
    return operations.json_response({"items": results.front(uow, sweep_id)})


@router.operation("GET /{sweep_id}/best", answer=BestDocument, scope="read")
def get_best(uow: Uow, sweep_id: SweepId) -> Response:
    """Get the best scenario, and why cheaper neighbours are not acceptable.

    The best by the sweep's objective; for each cheaper neighbour, the limit that breaks or the violated constraint.

    Of capacity sweeps; other kinds have no objective, and a summary.
    """
    return operations.json_response(results.best(uow, sweep_id))


@router.operation("GET /{sweep_id}/comparison", answer=ComparisonDocument, scope="read")
def compare_sweeps(
    uow: Uow,
    sweep_id: SweepId,
    against: Annotated[Id, Query(description="Another sweep.", examples=[str(examples.EXAMPLE_SWEEP_ID)])],
) -> Response:
    """Compare two sweeps.

    Return the best scenario of each of two capacity sweeps, and the number of acceptable scenarios.
    """
    return operations.json_response(results.compared(uow, sweep_id, against))


def _named_axes(pairs: Sequence[str] | None) -> dict[str, str]:
    return dict(pair.split("=", 1) for pair in pairs or ())
