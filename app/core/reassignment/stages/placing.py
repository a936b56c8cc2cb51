"""Place replicas by count, bytes or throughput, part by part; and what is violated by a placement.

Replicas that move for the balance of leaders: forced moves first or, if the problem is small, all together.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial

import numpy as np

from app.core.certificate import Certificate
from app.core.flow import InfeasibleFlow
from app.core.model import NO_REPLICA, Int32s
from app.core.reassignment.goals.answers import EXACT_SOLVER
from app.core.reassignment.goals.by_load import place_by_load
from app.core.reassignment.goals.exact import Stages, is_small_band
from app.core.reassignment.model import KEEP, NO_LIMIT, Band, BrokerBounds, KnownSets, ReplicaPlacement
from app.core.reassignment.parts import ProblemPart, joined
from app.core.reassignment.problem import BudgetConflict, Infeasible, Problem, SetsConflict
from app.core.reassignment.resource_problem import RESOURCES, ResourceProblem
from app.core.reassignment.rules import load_rules, moved_weight
from app.core.reassignment.solvers.exact.placement_model import NotProven
from app.core.reassignment.solvers.flow.destinations import spread_destinations
from app.core.reassignment.solvers.flow.least_movement import BudgetTooSmall, least_movement, trade_off, within_budget
from app.core.reassignment.solvers.flow.per_topic import balance_topics
from app.core.reassignment.solvers.flow.places import in_order
from app.core.reassignment.solvers.leaders.by_moves import MovedForLeaders, move_for_leaders
from app.core.reassignment.solvers.search.search import first_leaders, led_by
from app.core.reassignment.stages.known_sets import BoundedLoad, SetChoice
from app.core.reassignment.stages.sets_of_width import place_on_sets, sets_of_width_violations
from app.core.reassignment.verifier import placement_violations, topic_violations
from app.core.replica_lists import per_broker


def move_for_balance(problem: Problem) -> tuple[list[MovedForLeaders], list[BudgetConflict]]:
    """Each part, with forced moves and those that the band of leaders needs. Raises `BudgetConflict`."""
    moved, conflicts = list[MovedForLeaders](), list[BudgetConflict]()
    for part in problem.parts:
        forced = least_movement(part.movement, KEEP, is_over=problem.is_over)
        if problem.movement.share is None:
            forced = spread_destinations(part.movement, forced, part.ties)
        try:
            moved.append(_moved(problem, part, forced, problem.max_moved_bytes))
        except BudgetTooSmall as short:
            conflicts.append(problem.relax(BudgetConflict(short.minimum, short.minimum)))
            moved.append(_moved(problem, part, forced, short.minimum))
    return moved, conflicts


def _moved(problem: Problem, part: ProblemPart, forced: ReplicaPlacement, budget: int | None) -> MovedForLeaders:
    objective = problem.leaders
    moved = move_for_leaders(
        part.movement,
        forced.replicas,
        objective.may_lead,
        objective.base_load,
        objective.balance,
        budget=budget,
        fewest_changes=objective.fewest_changes,
        is_ready=problem.ready(forced.replicas, part.rows),
        is_over=problem.is_over,
    )
    if moved.placement.certificate.optimal or budget is not None or objective.fewest_changes:
        return moved
    return replace(moved, placement=_exactly(problem, part, moved))


def _exactly(problem: Problem, part: ProblemPart, moved: MovedForLeaders) -> ReplicaPlacement:
    """The placement, or the best one with leaders within its bounds if the problem is small and that is proven."""
    movement, objective, column = part.movement, problem.leaders, RESOURCES.index("leaders")
    none, placement = np.zeros(len(part.rows), np.int64), moved.placement
    rules = load_rules(movement, none)
    if not is_small_band(rules):
        return placement
    resources = replace(
        ResourceProblem.of_one_load(movement, column, none + 1, none, objective.base_load),
        leader=problem.current_leaders()[part.rows],
        may_lead=objective.may_lead,
        is_ready=problem.ready(movement.current, part.rows),
    )
    start = led_by(placement.replicas, first_leaders(resources, placement.replicas))
    stages, led = Stages(resources, rules, start, problem.is_over), movement.target & objective.may_lead
    stages.lower[led, column], stages.upper[led, column] = moved.bounds.low[led], moved.bounds.high[led]
    try:
        least = stages.moved()
    except NotProven:
        return placement
    proof = replace(placement.certificate, value=least, lower_bound=least, solver=EXACT_SOLVER)
    return replace(placement, replicas=in_order(movement, stages.at), certificate=proof)


TRADE_OFF_POINTS = 12
"""The most points of movement against balance."""


@dataclass(frozen=True, slots=True, eq=False)
class PlacedReplicas:
    """Replica lists with their lower bounds.

    Parameters
    ----------
    whole : all rows. parts : of each part of the problem, in their order.
    largest_bounds : of each part, the lower bound on the largest load, if something else than counts is balanced.
    conflicts : that were relaxed.
    leaders : of each part, the bounds of leaders that replicas moved for; empty if they moved for none.
    """

    whole: ReplicaPlacement
    parts: Sequence[ReplicaPlacement] = field(repr=False)
    largest_bounds: Sequence[int | None]
    conflicts: Sequence[Infeasible] = ()
    leaders: Sequence[BrokerBounds] = ()

    @property
    def largest_bound(self) -> int | None:
        """A lower bound on the largest load of all parts; None if counts are balanced."""
        return max((bound for bound in self.largest_bounds if bound is not None), default=None)

    def reaches_bounds(self, problem: Problem) -> bool:
        """Whether the movement, and the largest load of each part if it has a bound, are at their lower bounds."""
        loads = problem.replicas.loads(self.whole.replicas)
        return self.whole.certificate.optimal and all(
            bound is None or loads[part.movement.target].max(initial=0) <= bound
            for part, bound in zip(problem.parts, self.largest_bounds, strict=True)
        )

    @classmethod
    def of(
        cls,
        problem: Problem,
        parts: Sequence[ReplicaPlacement],
        largest_bounds: Sequence[int | None] = (),
        conflicts: Sequence[Infeasible] = (),
    ) -> "PlacedReplicas":
        """The placements of all parts of a problem, put together."""
        whole = joined([(part.rows, placement) for part, placement in zip(problem.parts, parts, strict=True)])
        return cls(whole, parts, largest_bounds or [None] * len(parts), conflicts)

    def violations(self, problem: Problem) -> list[str]:
        """Violations of replica lists, part by part; empty if they are legal."""
        return [
            violation
            for part, placement in zip(problem.parts, self.parts, strict=True)
            for violation in (*_violations(problem, part, placement), *_outside(part, placement))
        ]

    def violations_of_sets(self, problem: Problem) -> list[str]:
        """Violations of the sets of a scatter width, part by part; empty without any, or if they are relaxed."""
        if problem.sets_of_width is None or any(isinstance(each, SetsConflict) for each in self.conflicts):
            return []
        return [
            violation
            for part, placement, sets in zip(problem.parts, self.parts, problem.sets_of_width, strict=True)
            for violation in sets_of_width_violations(placement.replicas[~np.isin(part.rows, list(problem.pins))], sets)
        ]


def place(problem: Problem) -> PlacedReplicas:
    """Place the replicas. Raises `BudgetConflict`, `SetsConflict`, `TooManyPairs`."""
    placed = _place(problem)
    return placed if problem.known_sets is None else _on_known_sets(problem, problem.known_sets, placed)


def _on_known_sets(problem: Problem, known: KnownSets, placed: PlacedReplicas) -> PlacedReplicas:
    """The placement without sets that are not known; pins override them."""
    parts, conflicts = list[ReplicaPlacement](), list(placed.conflicts)
    for part, placement in zip(problem.parts, placed.parts, strict=True):
        found = _part_on_known_sets(problem, known, part, placement)
        if found is not None and found.moved > placement.moved and problem.max_moved_bytes is not None:
            found = None  # the budget is spent on balance already
        if found is None:
            conflicts.append(problem.relax(SetsConflict(part.rows[known.opened(placement.replicas)])))
        parts.append(found or placement)
    whole = PlacedReplicas.of(problem, parts).whole
    # Leaders may not reach the bounds that other lists were placed for.
    leaders = placed.leaders if np.array_equal(whole.replicas, placed.whole.replicas) else ()
    return replace(placed, whole=whole, parts=parts, conflicts=conflicts, leaders=leaders)


def _part_on_known_sets(
    problem: Problem, known: KnownSets, part: ProblemPart, placement: ReplicaPlacement
) -> ReplicaPlacement | None:
    """A part on known sets within its bounds, or at the same largest load; None if it is not found.

    Known sets and less movement come before the smallest largest load if nothing is to be balanced.
    """
    objective, movement, replicas = problem.replicas, part.movement, placement.replicas
    is_pinned = np.isin(part.rows, list(problem.pins))
    if is_pinned[known.opened(replicas)].all():
        return placement
    topic_of = None if part.topics is None else part.topics.topic_of
    load, band = objective.load[part.rows], placement.band
    target, within = movement.is_bounded, placement.bounds or (None if band is None else movement.bounds(band))
    is_free = within is None
    if within is None:
        total = objective.base_load + per_broker(replicas, len(target), load)
        target, within = (
            movement.target,
            BrokerBounds.of(Band(0, int(total[movement.target].max(initial=0))), len(target)),
        )
    low, high = np.where(target, within.low, 0), np.where(target, within.high, NO_LIMIT)
    loads = [] if topic_of is not None else [BoundedLoad(load, objective.base_load, low, high)]
    moves, seconds = not problem.leaders.moves_replicas, problem.remaining_s()
    choice = SetChoice(known, movement, replicas, is_pinned, loads, topic_of, moves, seconds)
    found, weight = choice.solved(), partial(moved_weight, load_rules(movement, load))
    if loads and (band is None if found is None else is_free and weight(found) > placement.moved):
        unbounded = replace(choice, loads=[]).solved()
        found = min((each for each in (found, unbounded) if each is not None), key=weight, default=None)
    if found is None:
        return None
    (least, more), proof = choice.least, placement.certificate
    words = f"replica sets of the cluster: {more} partitions copy more replicas, since no set has all that stay"
    bound, constraints = max(proof.lower_bound, least), (*proof.constraints, *([words] if more else []))
    proof = replace(proof, value=weight(found), lower_bound=bound, constraints=constraints)
    return replace(placement, replicas=found, certificate=proof)


def _on_sets_of_width(problem: Problem, sets: Sequence[Mapping[int, Int32s]]) -> PlacedReplicas:
    """Every part on its sets; the plan without them if they conflict and that is relaxed. Raises `SetsConflict`."""
    parts = list[ReplicaPlacement]()
    for part, of_part in zip(problem.parts, sets, strict=True):
        is_pinned = np.isin(part.rows, list(problem.pins))
        try:
            parts.append(place_on_sets(part.movement, of_part, is_pinned, problem.is_over))
        except InfeasibleFlow:
            conflict = problem.relax(SetsConflict(part.rows[~is_pinned]))
            placed = _place(replace(problem, sets_of_width=None))
            return replace(placed, conflicts=[*placed.conflicts, conflict])
    return PlacedReplicas.of(problem, parts)


def _place(problem: Problem) -> PlacedReplicas:
    if problem.sets_of_width is not None:
        return _on_sets_of_width(problem, problem.sets_of_width)
    if problem.leaders_only:
        return PlacedReplicas.of(problem, [_as_it_is(problem)])
    if problem.topics is not None:
        balance = problem.replicas.balance
        of_topics = [
            balance_topics(part.movement, balance, part.topics, is_over=problem.is_over)
            for part in problem.parts
            if part.topics is not None
        ]
        return PlacedReplicas.of(problem, of_topics)
    if problem.leaders.moves_replicas:
        moved, conflicts = move_for_balance(problem)
        placed = PlacedReplicas.of(problem, [each.placement for each in moved], (), conflicts)
        return replace(placed, leaders=[each.bounds for each in moved])
    objective = problem.replicas
    if objective.by == "count":
        placements, conflicts = _within_budget(problem)
        # Ties balance the bytes of brokers, all alike.
        if not problem.is_over() and problem.movement.share is None:
            pairs = zip(problem.parts, placements, strict=True)
            placements = [spread_destinations(part.movement, placement, part.ties) for part, placement in pairs]
        return PlacedReplicas.of(problem, placements, (), conflicts)
    solutions = [
        place_by_load(part.movement, objective.load[part.rows], objective.base_load, objective.balance, problem.is_over)
        for part in problem.parts
    ]
    bounds = [solution.largest.lower_bound for solution in solutions]
    return PlacedReplicas.of(problem, [solution.placement for solution in solutions], bounds)


def trade_off_of(problem: Problem) -> Sequence[Sequence[ReplicaPlacement]]:
    """Movement against balance, point by point: the placement of each part."""
    movements = [part.movement for part in problem.parts]
    return trade_off(movements, points=TRADE_OFF_POINTS, is_over=problem.is_over)


def _within_budget(problem: Problem) -> tuple[Sequence[ReplicaPlacement], list[BudgetConflict]]:
    budget, movements = problem.max_moved_bytes, [part.movement for part in problem.parts]
    placements = [least_movement(each, problem.replicas.balance, is_over=problem.is_over) for each in movements]
    if budget is None or sum(placement.moved for placement in placements) <= budget:
        return placements, []
    try:
        return within_budget(movements, budget, is_over=problem.is_over), []
    except BudgetTooSmall as short:
        conflict = problem.relax(BudgetConflict(short.minimum, short.minimum))
    placements = [least_movement(movement, KEEP, is_over=problem.is_over) for movement in movements]
    return placements, [conflict]


def _as_it_is(problem: Problem) -> ReplicaPlacement:
    """Every replica on its current broker: what a plan of leaders alone starts from."""
    factors = problem.movement.factors
    if (problem.before[:, factors.max(initial=0) :] != NO_REPLICA).any():
        raise RuntimeError("leaders alone change no factor")
    certificate = Certificate("moved weight", 0, 0, "none: no replica moves", ("every replica stays",))
    return ReplicaPlacement(problem.before, None, certificate)


def _violations(problem: Problem, part: ProblemPart, replicas: ReplicaPlacement) -> list[str]:
    """Violations of the replica lists of a part."""
    movement, band = part.movement, replicas.band
    if problem.objective is not None:  # the verifier of resources knows which leaders are kept
        movement = movement.freed(np.ones_like(movement.target))
    if part.topics is not None:
        topic_bands = part.topics.bands(movement)
        return [
            *placement_violations(movement, replicas),
            *topic_violations(movement, replicas, part.topics.topic_of, *topic_bands),
        ]
    if problem.replicas.by == "count" or band is None:
        return placement_violations(movement, replicas)
    # The core's verifier counts; here the band is one of loads.
    objective = problem.replicas
    loads = objective.base_load + per_broker(replicas.replicas, len(objective.base_load), objective.load[part.rows])
    outside = np.flatnonzero(movement.target & ((loads < band.low) | (loads > band.high)))
    return placement_violations(movement, replace(replicas, band=None)) + [
        f"broker {movement.broker_ids[broker]} has {loads[broker]}, not {band.low} to {band.high}" for broker in outside
    ]


def _outside(part: ProblemPart, placement: ReplicaPlacement) -> list[str]:
    """Rows of a part with replicas on brokers of another part; ten at most."""
    outside = ~np.append(part.share.brokers, True)[placement.replicas]
    return [f"row {row} has replicas outside its broker set" for row in part.rows[outside.any(axis=1)][:10].tolist()]
