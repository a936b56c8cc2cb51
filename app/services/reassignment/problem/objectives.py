"""What a request optimises over several resources: within limits, jointly, or in order of priority."""

from collections.abc import Iterator
from fractions import Fraction

from app.core.model import Int64s
from app.core.reassignment import Balance
from app.core.reassignment.problem import GOAL_OF, ResourceObjective
from app.core.reassignment.resources import TOPIC_REPLICAS, Goal
from app.errors import FieldPath, Json
from app.errors.requests import ConflictingFields
from app.services.reassignment.problem.capacities import require_rates
from app.services.reassignment.problem.loads import IngressRates, PartitionSizes
from app.services.reassignment.problem.resources import Resources
from app.services.reassignment.problem.scope import PartitionScope
from app.services.reassignment.requests.balance import Tolerance
from app.services.reassignment.requests.request import ReassignmentRequest
from app.services.reassignment.requests.resources import GoalsRequest

_OF_LEADERS = frozenset(("nic_out", "cpu", "leaders"))
"""Goals that depend on which replica leads."""


def objective_of(
    request: ReassignmentRequest,
    scope: PartitionScope,
    sizes: PartitionSizes,
    rates: IngressRates | None,
    loads: Resources,
    factors: Int64s,
    *,
    is_weighted: bool,
) -> ResourceObjective | None:
    """The objective over resources; None if the request is about counts, or bytes or throughput without weights.

    Parameters
    ----------
    factors : (rows,) int64 replication factors after the change.

    Raises
    ------
    ConflictingFields : a field that does not go together with resources.
    SizesMissing, RatesMissing : the loads of a goal are unknown.
    """
    resources, limits = request.balance.resources, request.limits.stated()
    by_weight = is_weighted and request.balance.replicas_by != "count" and not request.leaders_only
    by_weight = by_weight and request.replicas_balance.tolerance is not None
    if not (limits or resources or by_weight or request.objective != "balance"):
        return None
    for path, value, detail in _conflicts(request):
        raise ConflictingFields(detail, path=path, value=value)
    for name, path in _balanced(request):
        if name == "disk":
            sizes.require("a balance of disk", path)
        elif name in ("nic_in", "nic_out", "cpu"):
            require_rates(f"a balance of {name}", path, scope, rates)
    return ResourceObjective(_priorities(request), loads.row_loads(factors), leads_afterwards(request))


def _balanced(request: ReassignmentRequest) -> Iterator[tuple[str, FieldPath]]:
    """What is balanced, and the field that says so."""
    if isinstance(request.objective, GoalsRequest):
        for place, goal in enumerate(request.objective.goals):
            yield goal.goal, ("objective", "goals", place)
    elif request.objective == "balance":
        yield GOAL_OF[request.balance.replicas_by], ("balance", "replicas_by")
        for place, name in enumerate(request.balance.resources):
            yield name, ("balance", "resources", place)


def _priorities(request: ReassignmentRequest) -> tuple[tuple[Goal, ...], ...]:
    objective = request.objective
    if isinstance(objective, GoalsRequest):
        return tuple((Goal(goal.goal, Fraction(repr(goal.tolerance))),) for goal in objective.goals)
    if objective == "relieve":
        return ()
    joint: dict[str, Goal] = {name: Goal(name) for name in request.balance.resources}
    for name, balance in (
        (GOAL_OF[request.balance.replicas_by], request.replicas_balance),
        ("leaders", request.leaders_balance),
    ):
        if balance.tolerance is not None and not (name == "leaders" and leads_afterwards(request)):
            joint.setdefault(name, _goal(name, balance))
    return (tuple(joint.values()),) if joint else ()


def leads_afterwards(request: ReassignmentRequest) -> bool:
    """Whether constraints on leaders are met by choosing them after the replicas, within the limits."""
    return bool(request.preferred_racks or request.min_leaders_per_broker or request.spread_leaders)


def _goal(name: str, balance: Balance) -> Goal:
    return Goal(name, balance.tolerance or Fraction(0))


def _conflicts(request: ReassignmentRequest) -> Iterator[tuple[FieldPath, Json, str]]:
    together = "limits, balance.resources, objective and weights of bytes place replicas and leaders together"
    if request.leaders_only:
        yield ("leaders_only",), True, f"{together}, and leaders_only moves no replica"
    for name in ("preferred_racks", "min_leaders_per_broker", "spread_leaders"):
        balanced = [goal.name for group in _priorities(request) for goal in group if goal.name in _OF_LEADERS]
        if getattr(request, name) and balanced:
            words = f"{name} chooses leaders after the replicas, and the goal {balanced[0]} depends on leaders"
            yield (name,), balanced[0], words
    if request.trade_off:
        yield ("trade_off",), True, f"{together}, and trade_off is of balanced counts"
    if request.balance.leaders_by != "count":
        detail = f"{together}: leaders are balanced by count, and what they send by the resource nic_out"
        yield ("balance", "leaders_by"), request.balance.leaders_by, detail
    if request.balance.leaders == "preferred":
        yield ("balance", "leaders"), "preferred", f"{together}, and preferred keeps the order of replica lists"
    if isinstance(request.balance.leaders, Tolerance) and request.balance.leaders.below is not None:
        detail = f"{together}: leaders are as far below their mean as above it"
        yield ("balance", "leaders", "below"), request.balance.leaders.below, detail
    if request.objective != "balance":
        yield from _of_objective(request)


def _of_objective(request: ReassignmentRequest) -> Iterator[tuple[FieldPath, Json, str]]:
    is_of_topics = isinstance(request.objective, GoalsRequest) and any(
        goal.goal == TOPIC_REPLICAS for goal in request.objective.goals
    )
    if request.pins and is_of_topics:
        detail = "the goal topic_replicas counts the replicas that it places, and those of pins are placed already"
        yield ("pins",), len(request.pins), detail
    if request.objective == "relieve" and not request.limits.stated() and request.limits.log_dirs is None:
        yield ("objective",), "relieve", "objective relieve brings brokers below limits, and limits has none"
    for name in ("resources", "replicas", "leaders"):
        if getattr(request.balance, name) not in (None, (), [], "keep"):
            detail = f"the objective states what is balanced, and balance.{name} does, too; leave one of them out"
            yield ("balance", name), name, detail
