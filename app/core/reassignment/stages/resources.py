"""Place replicas and leaders together: within limits of resources, and balanced by the capacities of brokers."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np

from app.core.certificate import Certificate
from app.core.model import NO_LEADER, NO_REPLICA, Bools, Int32s, Int64s, padded
from app.core.reassignment.goals.answers import with_leaders
from app.core.reassignment.goals.balancing import reach_goals
from app.core.reassignment.goals.budget import BudgetNotReached, reach_within, relieve
from app.core.reassignment.goals.exact import is_small
from app.core.reassignment.model import KEEP, KnownSets, ReplicaPlacement
from app.core.reassignment.parts import (
    Pinned,
    PlacedPart,
    ProblemPart,
    balanced,
    joined_resources,
    part_of,
    part_of_resources,
    summed,
)
from app.core.reassignment.problem import (
    GOAL_OF,
    BudgetConflict,
    Infeasible,
    LimitsConflict,
    Problem,
    ResourceObjective,
    SetsConflict,
)
from app.core.reassignment.resource_problem import (
    RESOURCES,
    TOPIC_REPLICAS,
    ResourceLoads,
    ResourcePlacement,
    ResourceProblem,
    capacity_weights,
    loads_of,
)
from app.core.reassignment.solvers.exact.limit_model import limits_conflict
from app.core.reassignment.solvers.flow.least_movement import least_movement
from app.core.reassignment.solvers.leaders.problem import LeaderChoice, LeaderProblem
from app.core.reassignment.solvers.search.search import rules_of
from app.core.reassignment.stages.known_sets import resources_on_known_sets
from app.core.reassignment.stages.placing import PlacedReplicas
from app.core.reassignment.verifier import resource_violations
from app.core.replica_lists import widened, with_leader_first

MOST_SOLVES = 3
"""The number of placements after which no partition keeps a leader that is out of sync."""


@dataclass(frozen=True, slots=True, eq=False)
class ResourceSolution:
    """A placement over resources.

    Parameters
    ----------
    parts : the parts of the problem without pinned partitions, in their order, each with its placement.
    pinned : the pinned rows and their placement; None if no partition is pinned.
    placement : all rows.
    """

    parts: tuple[PlacedPart, ...]
    pinned: Pinned | None
    placement: ResourcePlacement

    def placed(self, problem: Problem) -> PlacedReplicas:
        """The replica lists of each part of the problem."""
        if len(problem.parts) == 1:
            return PlacedReplicas.of(problem, [self.placement.replicas_only])
        return PlacedReplicas.of(
            problem, [self._lists(part, each) for part, each in zip(problem.parts, self.parts, strict=True)]
        )

    def _lists(self, part: ProblemPart, placed: PlacedPart) -> ReplicaPlacement:
        """The replica lists of a part of the problem, pinned ones included."""
        if self.pinned is None:
            return placed.placement.replicas_only
        certificate = placed.placement.replicas_only.certificate
        is_pinned = np.isin(part.rows, self.pinned[0])
        pinned = part_of(part.movement, np.flatnonzero(is_pinned), np.zeros_like(part.movement.target))
        constant = least_movement(pinned, KEEP).certificate
        return ReplicaPlacement(self.placement.replicas[part.rows], None, summed([certificate, constant]))

    @property
    def free(self) -> Bools:
        """(rows,) bool, rows that are not pinned."""
        pinned = np.zeros(0, np.int64) if self.pinned is None else self.pinned[0]
        return ~np.isin(np.arange(len(self.placement.leaders)), pinned)

    @property
    def lists(self) -> Int32s:
        """(rows, widest) int32 positions, the leader of each row first."""
        replicas = self.placement.replicas
        lists = replicas if replicas.shape[1] else np.full((len(replicas), 1), NO_REPLICA, np.int32)
        return with_leader_first(lists, self.placement.leaders)

    def choice(self, leaders: LeaderProblem) -> LeaderChoice:
        """The leaders as a choice for the problem of leaders alone."""
        lists, changes = self.lists[self.free], self.placement.movement.then
        chosen = np.where(lists[:, 0] == NO_REPLICA, np.int32(NO_LEADER), lists[:, 0]).astype(np.int32)
        bound = 0 if changes is None else int(changes.lower_bound)
        solver, constraints = self.placement.movement.solver, self.placement.movement.constraints
        n_changes = leaders.changes(chosen)
        largest = int(leaders.loads(chosen)[leaders.target].max(initial=0))
        return LeaderChoice(
            leaders=chosen,
            band=None,
            certificate=Certificate("leader changes", n_changes, min(bound, n_changes), solver, constraints),
            largest=Certificate("leaders of a broker", largest, 0, solver, constraints),
            without_choice=leaders.without_choice(),
        )

    def violations(self) -> list[str]:
        """Violations of the placement; empty if it is legal and its figures are right."""
        return [each for part in self.parts for each in resource_violations(part.problem, part.placement)]


def place_resources(problem: Problem, objective: ResourceObjective) -> tuple[ResourceSolution, list[Infeasible]]:
    """Place replicas and leaders. Raises `BudgetConflict`, `LimitsConflict` unless the problem relaxes them."""
    leaders, (resources, pinned) = problem.current_leaders(), _stated(problem, objective)
    is_ready, solves = problem.ready(resources.movement.current), 0
    keeps_leader = np.full(len(leaders), problem.leaders.balance.tolerance is None)
    while True:
        is_kept = keeps_leader[:, None] & (resources.movement.current == leaders[:, None])
        resources, solves = replace(resources, is_ready=is_ready | is_kept), solves + 1
        split = [_shared(problem, objective, part, *_split(resources, part, pinned)) for part in problem.parts]
        placements, conflicts = _reached(problem, objective, [each for _, each in split], pinned)
        parts = [PlacedPart(*of_part, placement) for of_part, placement in zip(split, placements, strict=True)]
        if problem.max_moved_bytes is None:
            parts = [_within_limits(problem, objective, part) for part in parts]
        opened = list[SetsConflict]()
        if problem.known_sets is not None:
            parts = [_on_known_sets(problem, problem.known_sets, part, opened) for part in parts]
        placement = joined_resources(resources, parts, pinned)
        changes = problem.changes_replicas(placement.replicas)
        if not (keeps_leader & changes & _is_led_behind(problem, placement)).any():
            limits = _require_limits(problem, placement)
            return ResourceSolution(tuple(parts), pinned, placement), [*conflicts, *opened, *limits]
        # A leader out of sync is kept only if its partition stays as it is.
        keeps_leader &= ~changes & (solves < MOST_SOLVES)


def _on_known_sets(problem: Problem, known: KnownSets, part: PlacedPart, opened: list[SetsConflict]) -> PlacedPart:
    """A part on known sets; as it is, with its conflict in `opened`, if none is found and that is relaxed."""
    found = resources_on_known_sets(known, part.problem, part.placement, problem.remaining_s())
    if found is not None and (found.moved <= part.placement.moved or problem.max_moved_bytes is None):
        return replace(part, placement=found)
    opened.append(problem.relax(SetsConflict(part.rows[known.opened(part.placement.replicas)])))
    return part


def limits_are_infeasible(problem: Problem) -> bool:
    """Whether hard limits are proven to conflict, whatever is balanced."""
    if problem.objective is None:
        return False
    resources, pinned = _stated(problem, problem.objective)
    resources = replace(resources, movement=resources.movement.freed(np.ones_like(problem.movement.target)))
    return any(limits_conflict(_split(resources, part, pinned)[1]) for part in problem.parts)


def _stated(problem: Problem, objective: ResourceObjective) -> tuple[ResourceProblem, Pinned | None]:
    """The problem over resources, in which pinned rows are part of the base and current leaders stay ready with `keep`;
    and the pinned rows.
    """
    has_topics = any(goal.name == TOPIC_REPLICAS for group in objective.priorities for goal in group)
    loads, leaders = _weighted(problem, objective.loads), problem.current_leaders()
    keeps_leader, current = problem.leaders.balance.tolerance is None, problem.movement.current
    resources = ResourceProblem(
        movement=problem.movement,
        loads=loads,
        limits=problem.limits.without_removed(problem.is_removed, loads.base),
        leader=leaders,
        may_lead=problem.leaders.may_lead,
        topic_of=problem.topic_of.astype(np.int32) if has_topics else None,
        is_ready=problem.ready(current) | (keeps_leader & (current == leaders[:, None])),
    )
    pinned = _pinned(problem)
    if pinned is None:
        return resources, None
    return replace(resources, loads=_with_pinned(problem, resources, pinned)), pinned


def _is_led_behind(problem: Problem, placement: ResourcePlacement) -> Bools:
    """(rows,) bool, partitions that are led by a replica out of sync although another one is in sync."""
    is_ready = problem.ready(placement.replicas)
    leads = placement.replicas == placement.leaders[:, None]
    return np.asarray(is_ready.any(axis=1) & ~(is_ready & leads).any(axis=1), np.bool_)


def led_afterwards(
    problem: Problem, solution: ResourceSolution, leaders: Int32s
) -> tuple[ResourceSolution, list[LimitsConflict]]:
    """The same replicas, led by (rows,) int32 leaders. Raises `LimitsConflict` unless the problem relaxes it."""
    parts = tuple(
        replace(
            part,
            problem=replace(part.problem, is_ready=None),  # which leaders stay depends on the lists
            placement=with_leaders(part.problem, part.placement, leaders[part.rows]),
        )
        for part in solution.parts
    )
    placement = joined_resources(parts[0].problem, parts, solution.pinned)
    return ResourceSolution(parts, solution.pinned, placement), _require_limits(problem, placement)


def _reached(
    problem: Problem, objective: ResourceObjective, parts: Sequence[ResourceProblem], pinned: Pinned | None
) -> tuple[Sequence[ResourcePlacement], list[BudgetConflict]]:
    """The placements of all parts, within the budget if there is one. Raises `BudgetConflict`."""
    budget = problem.max_moved_bytes
    if budget is not None:
        fixed = 0 if pinned is None else pinned[1].moved
        try:
            return reach_within(parts, objective.priorities, budget - fixed, problem.is_over), []
        except BudgetNotReached as short:
            conflict = problem.relax(BudgetConflict(short.least + fixed, short.bound + fixed))
        return [relieve(part, problem.is_over) for part in parts], [conflict]
    of_parts = [reach_goals(part, objective.priorities, problem.is_over, problem.ends_search()) for part in parts]
    return of_parts, []


def _within_limits(problem: Problem, objective: ResourceObjective, part: PlacedPart) -> PlacedPart:
    """The part, or a placement with less load above limits that does not keep the leaders of lowered factors: of those
    on brokers above limits, then of all. If the problem is small, of all at once.
    """
    for is_of_all in sorted({is_small(rules_of(part.problem)), True}):
        excess, movement = part.placement.excess, part.problem.movement
        if excess is None or not excess.above.any():
            break
        freed = replace(part.problem, movement=movement.freed(np.asarray(is_of_all | (excess.above > 0).any(axis=1))))
        if np.array_equal(freed.movement.must_keep, movement.must_keep):
            continue
        [other], _ = _reached(problem, objective, [freed], None)
        if other.excess is None or other.excess.values < excess.values:
            part = PlacedPart(part.rows, freed, other)
    return part


def _weighted(problem: Problem, loads: ResourceLoads) -> ResourceLoads:
    """The loads, with weights in place of the capacities for counts and for what replicas are balanced by."""
    weights = problem.movement.share
    if weights is None:
        return loads
    capacity = loads.capacity.copy()
    for name in {"replicas", "leaders", GOAL_OF[problem.replicas.by]}:
        capacity[:, RESOURCES.index(name)] = weights
    return replace(loads, capacity=capacity)


def _split(resources: ResourceProblem, part: ProblemPart, pinned: Pinned | None) -> tuple[Int64s, ResourceProblem]:
    """The rows of a part that are not pinned, and their problem."""
    rows = part.rows if pinned is None else np.setdiff1d(part.rows, pinned[0])
    if len(rows) == len(resources.leader):
        return rows, resources
    return rows, part_of_resources(resources, rows, part.movement.target, part.share.brokers)


def _shared(
    problem: Problem, objective: ResourceObjective, part: ProblemPart, rows: Int64s, resources: ResourceProblem
) -> tuple[Int64s, ResourceProblem]:
    """A part in which brokers that may not receive share the loads of goals by which they are balanced, or keep theirs
    if these are so small.
    """
    inside, movement = part.share.brokers, resources.movement
    stays, targets = inside & ~(problem.is_removed | problem.is_offline), resources.targets
    goals = [goal for group in objective.priorities for goal in group if goal.name != TOPIC_REPLICAS]
    if not (stays & ~problem.may_receive).any() or not goals:
        return rows, resources
    of_part = replace(resources.loads, base=np.where(inside[:, None], resources.loads.base, 0))
    lists = movement.current, np.where(movement.may_stay, movement.current, np.int32(NO_REPLICA))
    before, staying = (loads_of(of_part, movement.rack_of, each, resources.leader) for each in lists)
    reach, kept = _reach(of_part, resources, before), np.zeros_like(before)
    weights = capacity_weights(resources.loads, np.repeat(stays[:, None], len(RESOURCES), axis=1))
    for goal in goals:
        column = RESOURCES.index(goal.name)
        # The targets of the movement are those of this balance.
        if goal.name != GOAL_OF[problem.replicas.by] or problem.replicas.balance.tolerance is None:
            # Without a floor, a broker that has little lowers no bound of the others, although nothing fills it.
            below = goal.tolerance if goal.has_floor else Fraction(1)
            targets[:, column] = balanced(
                before[:, column], stays, problem.may_receive, weights[:, column], below, reach[:, column]
            )
        if np.array_equal(of_part.of_leader[:, column], of_part.of_follower[:, column]):  # else a leader can fill it
            is_kept = stays & ~(problem.may_receive | targets[:, column])
            kept[:, column] = np.where(is_kept, staying[:, column], 0)
    resources = replace(resources, kept=kept)
    if [len(group) for group in objective.priorities] == [1] and goals:
        column = RESOURCES.index(goals[0].name)
        return rows, replace(resources, movement=replace(movement, target=targets[:, column]))
    return rows, replace(resources, sharing=targets)


def _reach(loads: ResourceLoads, resources: ResourceProblem, before: Int64s) -> Int64s:
    """(brokers, resources) int64 the loads of brokers that lead all their replicas, if they may lead."""
    rows, columns = np.nonzero(resources.movement.current != NO_REPLICA)
    as_leaders = loads.base.copy()
    np.add.at(as_leaders, resources.movement.current[rows, columns], loads.of_leader[rows])
    return np.where(resources.may_lead[:, None], np.maximum(as_leaders, before), before)


def _pinned(problem: Problem) -> Pinned | None:
    """The pinned rows and their lists, in the order of their pins; None without pins."""
    if not problem.pins:
        return None
    rows = np.array(sorted(problem.pins), np.int64)
    movement = part_of(problem.movement, rows, np.zeros_like(problem.movement.target))
    placement = least_movement(movement, KEEP)
    lists = padded([problem.pins[row] for row in rows.tolist()])
    return rows, replace(placement, replicas=widened(lists, placement.replicas.shape[1]))


def _with_pinned(problem: Problem, resources: ResourceProblem, pinned: Pinned) -> ResourceLoads:
    """The loads, with those of pinned rows in the base."""
    rows, placement = pinned
    every = np.ones_like(problem.movement.target)
    of_pinned = part_of_resources(resources, rows, every, every).loads
    lists = placement.replicas
    return replace(resources.loads, base=loads_of(of_pinned, problem.movement.rack_of, lists, lists[:, 0]))


def _require_limits(problem: Problem, placement: ResourcePlacement) -> list[LimitsConflict]:
    """The conflict of exceeded hard limits if there is one. Raises it unless the problem relaxes conflicts."""
    excess = placement.excess
    if excess is None or not excess.hard.value:
        return []
    exceeded = np.flatnonzero((excess.above > 0).any(axis=0) & ~problem.limits.is_soft)
    return [problem.relax(LimitsConflict(placement, tuple(exceeded.tolist())))]
