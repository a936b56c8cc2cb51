"""Place replicas and leaders together: within limits of resources, and balanced by the capacities of brokers."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from app.core.certificate import Certificate
from app.core.model import NO_LEADER, NO_REPLICA, Int32s, Int64s
from app.core.reassignment import (
    KEEP,
    LeaderChoice,
    LeaderProblem,
    ReplicaPlacement,
    least_movement,
    part_of,
    summed,
)
from app.core.reassignment.resources import (
    RESOURCES,
    TOPIC_REPLICAS,
    BudgetNotReached,
    LimitConflict,
    PlacedPart,
    ResourceLoads,
    ResourcePlacement,
    ResourceProblem,
    joined_resources,
    limits_conflict,
    loads_of,
    part_of_resources,
    reach_goals,
    reach_within,
    relieve,
    resource_violations,
    with_leaders,
    without_removed,
)
from app.core.replica_lists import with_leader_first
from app.errors.reassignments import BudgetBelowMinimum, NotFeasible
from app.services.reassignment.planning.movement import changes_replicas
from app.services.reassignment.planning.placing import PlacedReplicas
from app.services.reassignment.problem.brokers import NAMED_BROKERS
from app.services.reassignment.problem.domains import Relaxation
from app.services.reassignment.problem.objectives import ResourceObjective
from app.services.reassignment.problem.parts import ProblemPart
from app.services.reassignment.problem.problem import ReassignmentProblem
from app.services.reassignment.problem.units import in_unit
from app.services.reassignment.problem.weights import GOAL_OF

MOST_SOLVES = 3
"""After so many placements, no partition keeps a leader that is out of sync."""


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
    pinned: tuple[Int64s, ReplicaPlacement] | None
    placement: ResourcePlacement

    def placed(self, problem: ReassignmentProblem) -> PlacedReplicas:
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
    def free(self) -> NDArray[np.bool_]:
        """(rows,) bool, rows that are not pinned."""
        free = np.ones(len(self.placement.leaders), np.bool_)
        if self.pinned is not None:
            free[self.pinned[0]] = False
        return free

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
            prices=np.zeros(len(leaders.base), np.int64),
        )

    def violations(self) -> list[str]:
        """Violations of the placement; empty if it is legal and its figures are right."""
        return [each for part in self.parts for each in resource_violations(part.problem, part.placement)]


def place_resources(
    problem: ReassignmentProblem, objective: ResourceObjective, leaders: Int32s
) -> tuple[ResourceSolution, list[Relaxation]]:
    """Place replicas and leaders.

    Parameters
    ----------
    leaders : (rows,) int32 current leaders.

    Raises `NotFeasible` if hard limits do not hold, unless conflicts are relaxed.
    """
    resources, pinned = _stated(problem, leaders)
    is_ready, solves = problem.ready(resources.movement.current), 0
    keeps_leader = np.full(len(leaders), problem.leaders.balance.tolerance is None)
    while True:
        is_kept = keeps_leader[:, None] & (resources.movement.current == leaders[:, None])
        resources, solves = replace(resources, is_ready=is_ready | is_kept), solves + 1
        split = [_split(resources, part, pinned) for part in problem.parts]
        placements, relaxed = _reached(problem, objective, [each for _, each in split], pinned)
        parts = tuple(
            PlacedPart(rows, of_part, placement) for (rows, of_part), placement in zip(split, placements, strict=True)
        )
        placement = joined_resources(resources, parts, pinned)
        changes = changes_replicas(problem, placement.replicas)
        if not (keeps_leader & changes & _is_led_behind(problem, placement)).any():
            return ResourceSolution(parts, pinned, placement), [*relaxed, *_require_limits(problem, placement)]
        # A leader out of sync is kept only if its partition stays as it is.
        keeps_leader &= ~changes & (solves < MOST_SOLVES)


def require_provable(problem: ReassignmentProblem, leaders: Int32s) -> None:
    """Raise `NotFeasible`, without words, if hard limits are proven to conflict. leaders : as of `place_resources`."""
    resources, pinned = _stated(problem, leaders)
    if any(limits_conflict(_split(resources, part, pinned)[1]) for part in problem.parts):
        raise NotFeasible("no placement is within the limits", path=("limits",))


def _stated(
    problem: ReassignmentProblem, leaders: Int32s
) -> tuple[ResourceProblem, tuple[Int64s, ReplicaPlacement] | None]:
    """The problem over resources, in which pinned rows are part of the base and current leaders stay ready with `keep`;
    and the pinned rows.
    """
    goals = [] if problem.objective is None else [goal for group in problem.objective.priorities for goal in group]
    has_topics = any(goal.name == TOPIC_REPLICAS for goal in goals)
    loads = _weighted(problem, problem.resources.row_loads(problem.movement.factors))
    keeps_leader, current = problem.leaders.balance.tolerance is None, problem.movement.current
    resources = ResourceProblem(
        movement=problem.movement,
        loads=loads,
        limits=without_removed(problem.limits, problem.brokers.is_removed, loads.base),
        leader=leaders,
        may_lead=problem.leaders.may_lead,
        topic_of=problem.scope.topic_of.astype(np.int32) if has_topics else None,
        is_ready=problem.ready(current) | (keeps_leader & (current == leaders[:, None])),
    )
    pinned = _pinned(problem)
    if pinned is None:
        return resources, None
    return replace(resources, loads=_with_pinned(problem, resources, pinned)), pinned


def _is_led_behind(problem: ReassignmentProblem, placement: ResourcePlacement) -> NDArray[np.bool_]:
    """(rows,) bool, partitions that are led by a replica out of sync although another one is in sync."""
    is_ready = problem.ready(placement.replicas)
    leads = placement.replicas == placement.leaders[:, None]
    return np.asarray(is_ready.any(axis=1) & ~(is_ready & leads).any(axis=1), np.bool_)


def led_afterwards(
    problem: ReassignmentProblem, solution: ResourceSolution, leaders: Int32s
) -> tuple[ResourceSolution, list[Relaxation]]:
    """The same replicas, led by (rows,) int32 leaders. Raises `NotFeasible` if that exceeds hard limits."""
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
    problem: ReassignmentProblem,
    objective: ResourceObjective,
    parts: Sequence[ResourceProblem],
    pinned: tuple[Int64s, ReplicaPlacement] | None,
) -> tuple[Sequence[ResourcePlacement], list[Relaxation]]:
    """The placements of all parts, within the budget if there is one. Raises `BudgetBelowMinimum`."""
    budget = problem.max_moved_bytes
    if budget is not None:
        fixed = 0 if pinned is None else pinned[1].moved
        try:
            return reach_within(parts, objective.priorities, budget - fixed, problem.is_over), []
        except BudgetNotReached as short:
            detail = _over_budget(short, budget, fixed)
            if not problem.relaxes:
                minimum = short.least + fixed
                path = ("max_moved_bytes",)
                raise BudgetBelowMinimum(detail, path=path, value=budget, minimum_bytes=minimum) from None
        return [relieve(part, problem.is_over) for part in parts], [Relaxation("max_moved_bytes", detail)]
    if objective.priorities:
        of_parts = [reach_goals(part, objective.priorities, problem.is_over, problem.ends_search()) for part in parts]
        return of_parts, []
    return [relieve(part, problem.is_over) for part in parts], []


def _over_budget(short: BudgetNotReached, budget: int, fixed: int) -> str:
    least, bound = short.least + fixed, short.bound + fixed
    if bound > budget:
        return f"the change and its limits move {bound} bytes at least; {budget} may be moved"
    return (
        f"no plan within the limits that moves {budget} bytes or fewer was found, and that there is none is not "
        f"proven: the least found moves {least} bytes, and none moves less than {bound}"
    )


def _weighted(problem: ReassignmentProblem, loads: ResourceLoads) -> ResourceLoads:
    """The loads, with weights in place of the capacities for counts and for what replicas are balanced by."""
    weights = problem.movement.share
    if weights is None:
        return loads
    capacity = loads.capacity.copy()
    for name in {"replicas", "leaders", GOAL_OF[problem.replicas.by]}:
        capacity[:, RESOURCES.index(name)] = weights
    return replace(loads, capacity=capacity)


def _split(
    resources: ResourceProblem, part: ProblemPart, pinned: tuple[Int64s, ReplicaPlacement] | None
) -> tuple[Int64s, ResourceProblem]:
    """The rows of a part that are not pinned, and their problem."""
    rows = part.rows if pinned is None else np.setdiff1d(part.rows, pinned[0])
    if len(rows) == len(resources.leader):
        return rows, resources
    return rows, part_of_resources(resources, rows, part.movement.target, part.share.brokers)


def _pinned(problem: ReassignmentProblem) -> tuple[Int64s, ReplicaPlacement] | None:
    """The pinned rows and their lists, in the order of their pins; None without pins."""
    if not problem.pins:
        return None
    rows = np.array(sorted(problem.pins), np.int64)
    movement = part_of(problem.movement, rows, np.zeros_like(problem.movement.target))
    placement = least_movement(movement, KEEP)
    lists = np.full_like(placement.replicas, NO_REPLICA)
    for place, row in enumerate(rows.tolist()):
        lists[place, : len(problem.pins[row])] = problem.pins[row]
    return rows, replace(placement, replicas=lists)


def _with_pinned(
    problem: ReassignmentProblem, resources: ResourceProblem, pinned: tuple[Int64s, ReplicaPlacement]
) -> ResourceLoads:
    """The loads, with those of pinned rows in the base."""
    rows, placement = pinned
    every = np.ones_like(problem.movement.target)
    of_pinned = part_of_resources(resources, rows, every, every).loads
    lists = placement.replicas
    return replace(resources.loads, base=loads_of(of_pinned, problem.movement.rack_of, lists, lists[:, 0]))


def _require_limits(problem: ReassignmentProblem, placement: ResourcePlacement) -> list[Relaxation]:
    excess = placement.excess
    if excess is None or not excess.hard.value:
        return []
    exceeded = np.flatnonzero((excess.above > 0).any(axis=0) & ~problem.limits.is_soft).tolist()
    details = {column: _exceeded(problem, placement, column) for column in exceeded}
    if problem.relaxes:
        return [Relaxation(f"limits.{RESOURCES[column]}", detail) for column, detail in details.items()]
    if not excess.conflicts:
        names = ", ".join(RESOURCES[column] for column in exceeded)
        detail = (
            f"no placement within the limits was found, and that there is none is not proven: {details[exceeded[0]]}"
        )
        raise NotFeasible(
            detail,
            path=("limits", RESOURCES[exceeded[0]]),
            lifted_by=[
                f"larger limits of {names}",
                "more brokers",
                '"on_conflict": "relax" for the least excess found',
            ],
        )
    raise _infeasible(problem, excess.conflicts)


def _infeasible(problem: ReassignmentProblem, conflicts: Sequence[LimitConflict]) -> NotFeasible:
    """The failure of the first conflict, with what lifts all of them."""
    first = conflicts[0]
    return NotFeasible(
        _conflict_words(problem, first),
        path=("limits", first.resource.split("+")[0]),
        lifted_by=[words for conflict in conflicts for words in _lifted_by(problem, conflict)],
        required=first.required,
        available=first.available,
    )


def _conflict_words(problem: ReassignmentProblem, conflict: LimitConflict) -> str:
    column = RESOURCES.index(conflict.resource.split("+")[0])
    ids = problem.brokers.ids[list(conflict.brokers)].tolist()
    named = ", ".join(map(str, ids[:NAMED_BROKERS])) + (" …" if len(ids) > NAMED_BROKERS else "")
    if not conflict.is_of_sums:
        first, *others = conflict.resource.split("+")
        held = f"if those of {_listed(others)} hold, " if others else ""
        return (
            f"no placement is within the limits of {_listed([first, *others])} on brokers {named}: {held}the load of "
            f"{first} above its limits is at least {in_unit(conflict.required - conflict.available, column)}"
        )
    return (
        f"every placement puts at least {in_unit(conflict.required, column)} of {conflict.resource} on brokers "
        f"{named}, and their limits allow {in_unit(conflict.available, column)}"
    )


def _listed(names: Sequence[str]) -> str:
    return " and ".join(filter(None, [", ".join(names[:-1]), names[-1]]))


def _lifted_by(problem: ReassignmentProblem, conflict: LimitConflict) -> list[str]:
    """What resolves the conflict: so many brokers of the usual limit, or a larger limit."""
    first, *others = conflict.resource.split("+")
    column = RESOURCES.index(first)
    limits = problem.limits.upper[list(conflict.brokers), column]
    usual = int(np.median(limits)) if len(limits) else 0
    missing = conflict.required - conflict.available
    if not conflict.is_of_sums:
        larger = f"limits of {first} that are larger by at least {in_unit(missing, column)} in all"
        return [larger, f"more brokers with limits of {_listed(sorted([first, *others], key=RESOURCES.index))}"]
    words = []
    if usual > 0:
        count = -(-missing // usual)
        profile = f"a limit of {in_unit(usual, column)} of {conflict.resource}"
        words.append(f"{count} more broker{'s' if count > 1 else ''}{_rack_words(problem, conflict)} with {profile}")
    words.append(f"limits of {conflict.resource} that are larger by {in_unit(missing, column)} in all")
    return words


def _rack_words(problem: ReassignmentProblem, conflict: LimitConflict) -> str:
    """The rack in which further brokers help, if the conflict is of some brokers of one rack."""
    brokers, of_conflict = problem.brokers, list(conflict.brokers)
    racks = np.unique(brokers.rack_of[of_conflict]).tolist()
    if len(racks) != 1 or len(brokers.racks) < 2 or racks[0] >= len(brokers.racks):
        return ""
    return f" in the rack {brokers.racks[racks[0]]}"


def _exceeded(problem: ReassignmentProblem, placement: ResourcePlacement, column: int) -> str:
    """The broker that is farthest above its limit of a resource, in words."""
    above = np.zeros_like(placement.loads[:, column]) if placement.excess is None else placement.excess.above[:, column]
    worst = int(above.argmax())
    load, limit = int(placement.loads[worst, column]), int(problem.limits.upper[worst, column])
    return (
        f"broker {problem.brokers.ids[worst]} has {in_unit(load, column)} of {RESOURCES[column]}, and its limit is "
        f"{in_unit(limit, column)}; {int(np.count_nonzero(above))} brokers are above theirs"
    )
