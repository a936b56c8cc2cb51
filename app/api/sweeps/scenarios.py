"""Results of `/v1/sweeps/{id}`: scored scenarios, distributions of their figures, and the best one."""

from collections.abc import Sequence
from typing import Annotated, Literal

from fastapi import APIRouter, Query, Request, Response, Security
from pydantic import Field

from app.api import examples
from app.api.http.auth import RequestLimits, Uow, principal
from app.api.http.idempotency import OnceOnly
from app.api.http.json_bodies import JsonRoute
from app.api.http.negotiation import chosen, json_response
from app.api.http.pagination import PageSize, PageToken, place_of_token, token_of_place
from app.api.planned import created
from app.api.problems.responses import responses
from app.api.sweeps.documents import FrontDocument, ScenariosPage
from app.errors import access, kafka, reassignments, requests
from app.formats.tables import scenario_tables
from app.services.fields import NAMED_VALUE, Id
from app.services.groups.answers import GroupPlanDocument
from app.services.reassignment.reports.report import ReassignmentPlanDocument
from app.services.replicas.answers import PlanDocument
from app.services.sweeps import results
from app.services.sweeps.answers import BestDocument, ComparisonDocument, ScenarioDocument, SummaryDocument
from app.services.sweeps.results import ScenarioFilter

router = APIRouter(route_class=JsonRoute, prefix="/v1/sweeps", tags=["sweeps"])

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


@router.get(
    "/{sweep_id}/scenarios",
    operation_id="list_scenarios",
    summary="List scored scenarios",
    response_model=ScenariosPage,
    responses=responses(
        requests.SweepNotFound,
        access.InvalidPageToken,
        access.NotAcceptable,
        requests.UnknownFigure,
        requests.UnknownAxis,
        requests.NotForThisKind,
        others={200: {"content": {media_type: {} for media_type in TABLES}, "description": "Scenarios"}},
    ),
    dependencies=[Security(principal, scopes=["read"])],
)
def scenarios(
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
    page_size: PageSize = 100,
    page_token: PageToken = None,
) -> Response:
    """Page through the scenarios, or return all that match the filter as CSV, Parquet or Arrow (`Accept`)."""
    media_type = chosen(request, [JSON, *TABLES])
    selection = ScenarioFilter(feasible, _named_axes(axis))

    if media_type != JSON:
        rows = results.every(uow, sweep_id, selection, sort=sort, descending=descending)
        return Response(TABLES[media_type](rows, results.columns(uow, sweep_id)), media_type=media_type)
    after = place_of_token(page_token)
    page = results.scenarios(uow, sweep_id, selection, sort=sort, descending=descending, after=after, size=page_size)
    token = token_of_place(results.place(page.items[-1][1], sort)) if page.has_more else None
    return json_response({"items": [row for _, row in page.items], "next_page_token": token})


@router.get(
    "/{sweep_id}/scenarios/{index}",
    operation_id="get_scenario",
    summary="Read one scored scenario",
    response_model=ScenarioDocument,
    responses=responses(requests.SweepNotFound, requests.ScenarioNotFound),
    dependencies=[Security(principal, scopes=["read"])],
)
def scenario(uow: Uow, sweep_id: SweepId, index: examples.ScenarioIndex) -> Response:
    """Return all figures of one scenario."""
    return json_response(results.one(uow, sweep_id, index))


@router.post(
    "/{sweep_id}/scenarios/{index}/plan",
    status_code=201,
    operation_id="open_scenario",
    summary="Store a scenario as a plan",
    response_model=PlanDocument | ReassignmentPlanDocument | GroupPlanDocument,
    responses=responses(
        requests.SweepNotFound,
        requests.ScenarioNotFound,
        requests.SnapshotNotFound,
        requests.NotForThisKind,
        requests.LimitExceeded,
        requests.ConflictingFields,
        kafka.ArithmeticOverflow,
        kafka.OwnedPartitionMissing,
        kafka.SubscribedTopicMissing,
        kafka.PartitionsLeftUnassigned,
        kafka.AssignorLosesCount,
        kafka.AssignorNeverEnds,
        requests.ImpossibleValue,
        kafka.InvalidReplicationFactor,
        kafka.BrokersWithoutRack,
        reassignments.NotFeasible,
        access.IdempotencyKeyInFlight,
    ),
)
def open_scenario(
    uow: Uow, once: OnceOnly, limits: RequestLimits, sweep_id: SweepId, index: examples.ScenarioIndex
) -> Response:
    """Create a plan of the placement, group or reassignment that was scored, with its measures, picture and exports.

    Scenarios of a key skew place nothing that a plan could contain.

    A group plan is of the remaining and the added members; partitions of lost members are taken up in it.
    """
    return once(lambda: created(results.opened(uow, sweep_id, index, limits)))


@router.get(
    "/{sweep_id}/summary",
    operation_id="summarise_sweep",
    summary="Get the distributions of a sweep's figures",
    response_model=SummaryDocument,
    responses=responses(requests.SweepNotFound, requests.UnknownAxis, requests.NotForThisKind),
    dependencies=[Security(principal, scopes=["read"])],
)
def summary(
    uow: Uow,
    sweep_id: SweepId,
    feasible: FeasibleFilter = None,
    axis: AxisFilter = None,
) -> Response:
    """Least, mean, median, 95th percentile (nearest rank), largest and a histogram of every figure of the sweep's kind,
    over all that has been scored, or over the scenarios of some axes' values.
    """
    return json_response(results.summary(uow, sweep_id, ScenarioFilter(feasible, _named_axes(axis))))


@router.get(
    "/{sweep_id}/front",
    operation_id="get_front",
    summary="Read the Pareto front",
    response_model=FrontDocument,
    responses=responses(requests.SweepNotFound, requests.NotForThisKind),
    dependencies=[Security(principal, scopes=["read"])],
)
def front(uow: Uow, sweep_id: SweepId) -> Response:
    """The Pareto front over cost, headroom and cross-rack bytes, of what is feasible and keeps the constraints.

    Of capacity sweeps; other kinds have no objective, and a summary.
    """
    return json_response({"items": results.front(uow, sweep_id)})


@router.get(
    "/{sweep_id}/best",
    operation_id="get_best",
    summary="Get the best scenario, and why cheaper neighbours are not acceptable",
    response_model=BestDocument,
    responses=responses(requests.SweepNotFound, requests.NotForThisKind),
    dependencies=[Security(principal, scopes=["read"])],
)
def best(uow: Uow, sweep_id: SweepId) -> Response:
    """The best by the sweep's objective; for each cheaper neighbour, the limit that breaks or the violated constraint.

    Of capacity sweeps; other kinds have no objective, and a summary.
    """
    return json_response(results.best(uow, sweep_id))


@router.get(
    "/{sweep_id}/comparison",
    operation_id="compare_sweeps",
    summary="Compare two sweeps",
    response_model=ComparisonDocument,
    responses=responses(requests.SweepNotFound, requests.NotForThisKind),
    dependencies=[Security(principal, scopes=["read"])],
)
def comparison(
    uow: Uow,
    sweep_id: SweepId,
    against: Annotated[Id, Query(description="Another sweep.", examples=[str(examples.EXAMPLE_SWEEP_ID)])],
) -> Response:
    """Return the best scenario of each of two capacity sweeps, and the number of acceptable scenarios."""
    return json_response(results.compared(uow, sweep_id, against))


def _named_axes(pairs: Sequence[str] | None) -> dict[str, str]:
    return dict(pair.split("=", 1) for pair in pairs or ())
