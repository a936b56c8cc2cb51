"""From a problem to replica lists, leaders, log directories and batches: the stages, one after another.

Beside the plan and its verifier: what a plan copies and removes, a lower bound on the bytes, and the batches with the
cordons of their execution.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Literal

import numpy as np

from app.core.certificate import Certificate
from app.core.model import NO_REPLICA, Bools, Int32s
from app.core.reassignment.batches.cutting import cut_batches
from app.core.reassignment.batches.execution import Cordons, ExecutionStep, execution_steps, execution_violations
from app.core.reassignment.batches.model import Batches, BrokerDisks, ReassignedPartitions
from app.core.reassignment.batches.verifier import batch_violations
from app.core.reassignment.model import TIGHT, ReplicaPlacement
from app.core.reassignment.problem import Infeasible, LimitsConflict, Problem, ResourceObjective, SetsConflict
from app.core.reassignment.solvers.leaders.problem import leader_violations
from app.core.reassignment.stages.leading import LeaderSolution, lead, leaders_with_resources, place_and_lead
from app.core.reassignment.stages.log_dirs import LogDirSolution, choose_log_dirs, place_with_log_dirs
from app.core.reassignment.stages.placing import PlacedReplicas, trade_off_of
from app.core.reassignment.stages.resources import ResourceSolution, led_afterwards, place_resources


@dataclass(frozen=True, slots=True)
class Executions:
    """The order of execution, with the cordons that are set and lifted.

    Parameters
    ----------
    batches : one after another. rollback : their inverses, from the last to the first.
    at_once : the whole plan as one batch. rollback_at_once : its inverse.
    """

    batches: tuple[ExecutionStep, ...]
    rollback: tuple[ExecutionStep, ...]
    at_once: tuple[ExecutionStep, ...]
    rollback_at_once: tuple[ExecutionStep, ...]


def cut(problem: Problem, after: Int32s, log_dirs: LogDirSolution | None) -> Batches:
    """Cut the moves to (rows, widest) int32 positions into batches.

    Raises `MoveExceedsBatchLimit`, `BatchesOutOfDisk`, with the row.
    """
    disks = None if log_dirs is None else log_dirs.disks
    return cut_batches(_reassigned(problem, after), problem.batches.limits, _disks(problem, log_dirs), disks)


def executions_of(problem: Problem, steps: Batches) -> Executions | None:
    """The order of execution; None if no broker is or becomes cordoned, so that batches are executed as they are."""
    if not problem.batches.cordons.during:
        return None
    return Executions(*(tuple(execution_steps(*each)) for each in _requested(problem, steps)))


def cut_violations(
    problem: Problem, after: Int32s, log_dirs: LogDirSolution | None, steps: Batches, executions: Executions | None
) -> list[str]:
    """Violations of batches and of their order of execution; empty if they are legal."""
    disks = None if log_dirs is None else log_dirs.disks
    reassigned, limits = _reassigned(problem, after), problem.batches.limits
    found = batch_violations(reassigned, steps, limits, _disks(problem, log_dirs), disks)
    planned = [] if executions is None else [getattr(executions, name) for name in Executions.__dataclass_fields__]
    return [
        *(violation.detail for violation in found),
        *(
            violation
            for order, requested in zip(planned, _requested(problem, steps), strict=False)
            for violation in execution_violations(order, *requested)
        ),
    ]


def _reassigned(problem: Problem, after: Int32s) -> ReassignedPartitions:
    rules = problem.batches
    never = rules.completion.incomplete(np.arange(len(after)), problem.before, after)
    return ReassignedPartitions(
        before=problem.before,
        after=after,
        size_bytes=rules.size_bytes,
        stored_bytes=problem.size_bytes,
        heat=rules.heat,
        broker_ids=problem.movement.broker_ids,
        rack_of=rules.rack_of,
        is_barred=rules.is_barred,
        waits=never.waits | never.has_no_source,
        leaders=rules.leaders,
    )


def _disks(problem: Problem, log_dirs: LogDirSolution | None) -> BrokerDisks | None:
    """The disks of batches: log directories if they are chosen, else those of brokers."""
    if problem.log_dirs is None or log_dirs is None:
        return problem.batches.disks
    return replace(problem.log_dirs.disks, max_bytes=log_dirs.max_bytes)


def _requested(problem: Problem, steps: Batches) -> Iterator[tuple[Sequence[Int32s], Sequence[int], Cordons]]:
    """The lists that the files of a plan request, their order and the cordons, for each field of `Executions`."""
    cordons = problem.batches.cordons
    after, before = problem.as_ids(steps.after), problem.as_ids(steps.before)
    numbers = range(len(steps))
    yield [after[steps.steps(number)] for number in numbers], numbers, cordons
    yield [before[steps.steps(number)] for number in numbers], numbers[::-1], cordons.undone
    once = range(min(len(steps), 1))
    # A partition's first step begins with the list before the plan, and its last one ends with the final list.
    _, first = np.unique(steps.rows, return_index=True)
    last = len(steps.rows) - 1 - np.unique(steps.rows[::-1], return_index=True)[1]
    yield [after[last]], once, cordons
    yield [before[first]], once, cordons.undone


Status = Literal["optimal", "feasible", "deadline"]


@dataclass(frozen=True, slots=True, eq=False)
class Plan:
    """Where every replica is in the end, which one leads, and the batches that move them.

    Parameters
    ----------
    placed : replica lists with their lower bounds. leaders : the lists with their leaders first.
    resources : replicas and leaders over resources; None if the objective is not over them.
    log_dirs : the directory of every replica; None if the problem does not choose them.
    conflicts : the constraints that were relaxed.
    trade_off : the least movement of each part in ever wider bands; None unless the problem has it.
    steps : the batches; None if the moves are not cut. executions : None if no broker is or becomes cordoned.
    status : `optimal` if movement, leader changes and every largest load reach their lower bounds; else `deadline` if
        the deadline has passed, else `feasible`.
    """

    placed: PlacedReplicas
    leaders: LeaderSolution
    resources: ResourceSolution | None
    log_dirs: LogDirSolution | None
    conflicts: tuple[Infeasible, ...]
    trade_off: Sequence[Sequence[ReplicaPlacement]] | None
    steps: Batches | None
    executions: Executions | None
    status: Status

    @property
    def placement(self) -> ReplicaPlacement:
        """The replica lists of all parts."""
        return self.placed.whole


def plan(problem: Problem, *, in_batches: bool = True) -> Plan:
    """Reassign the partitions of a problem with the least movement that reaches its goals.

    Hard: eligible brokers, one replica of a partition on a broker, rack rules, limits. Goals: the band of replicas or
    the priorities over resources, then movement, then the band of leaders and their changes; each is minimised among
    the placements that are best for the goals before it.

    Parameters
    ----------
    in_batches : whether the moves are cut into batches, which sweeps, checks and the search for a conflict leave out.

    Raises
    ------
    Infeasible : with the conflict, unless the problem relaxes it.
    TooManyPairs : topics are balanced, and too many partitions have several replicas in a rack.
    MoveExceedsBatchLimit, BatchesOutOfDisk : with the row that cannot be moved.
    """
    resources, log_dirs, table = None, None, problem.log_dirs
    if problem.objective is not None:
        resources, leaders, conflicts = _over_resources(problem, problem.objective)
        placed = resources.placed(problem)
        if table is not None:
            log_dirs = choose_log_dirs(problem, table, leaders.after, relaxes=problem.relaxes)
    elif table is not None:
        placed, leaders, conflicts, log_dirs = place_with_log_dirs(problem, table)
    else:
        placed, leaders, conflicts = place_and_lead(problem)
    has_trade_off = in_batches and problem.has_trade_off and problem.replicas.by == "count"
    points = trade_off_of(problem) if has_trade_off else None
    steps = cut(problem, leaders.after, log_dirs) if in_batches else None
    others = _certificates(leaders, resources, log_dirs)
    is_optimal = placed.reaches_bounds(problem) and all(each.optimal for each in others)
    return Plan(
        placed=placed,
        leaders=leaders,
        resources=resources,
        log_dirs=log_dirs,
        conflicts=(*conflicts, *(() if log_dirs is None else log_dirs.conflicts)),
        trade_off=points,
        steps=steps,
        executions=None if steps is None else executions_of(problem, steps),
        status="optimal" if is_optimal else "deadline" if problem.is_over() else "feasible",
    )


def verify(problem: Problem, plan: Plan) -> list[str]:
    """Violations of replica lists, leaders, limits, log directories and batches; empty if the plan is legal."""
    resources, after = plan.resources, plan.leaders.after
    # With resources, leaders also change for other reasons than their count, so that no band holds.
    is_led_after = problem.objective is None or problem.objective.leads_afterwards
    balance = problem.leaders.balance if is_led_after else TIGHT
    return [
        *([] if problem.leaders_only else plan.placed.violations(problem)),
        *_opened_sets(problem, plan),
        *plan.placed.violations_of_sets(problem),
        *(
            violation
            for part in plan.leaders.parts
            for violation in leader_violations(part.problem, part.choice, balance)
        ),
        *(
            violation
            for _, topic in plan.leaders.spread
            for violation in leader_violations(topic.problem, topic.choice, TIGHT)
        ),
        *([] if resources is None else resources.violations()),
        *([] if plan.log_dirs is None else plan.log_dirs.violations()),
        *([] if plan.steps is None else cut_violations(problem, after, plan.log_dirs, plan.steps, plan.executions)),
    ]


def _opened_sets(problem: Problem, plan: Plan) -> list[str]:
    """Partitions on a replica set that the cluster does not have, unless that is relaxed; ten at most."""
    if problem.known_sets is None or any(isinstance(each, SetsConflict) for each in plan.conflicts):
        return []
    rows = np.setdiff1d(problem.known_sets.opened(plan.leaders.after), list(problem.pins))
    return [f"row {row} is on a replica set that no partition had" for row in rows[:10].tolist()]


@dataclass(frozen=True, slots=True, eq=False)
class Moves:
    """Replicas that are copied and replicas that are removed.

    Parameters
    ----------
    is_removed : (rows, widest) bool, replicas of the lists before that are not there afterwards.
    is_copied : (rows, widest) bool, replicas of the lists afterwards that have to be copied.
    """

    is_removed: Bools = field(repr=False)
    is_copied: Bools = field(repr=False)

    @classmethod
    def of(cls, problem: Problem, after: Int32s) -> "Moves":
        """Compare (rows, widest) int32 positions with where the replicas are."""
        before = problem.before
        stays = (before[:, :, None] == after[:, None, :]) & (before != NO_REPLICA)[:, :, None]
        # A partition that is yet to be has nothing that could be copied.
        is_there = ~problem.is_new[:, None]
        is_copied = (after != NO_REPLICA) & ~stays.any(axis=1) & is_there
        return cls((before != NO_REPLICA) & ~stays.any(axis=2), is_copied)


def bytes_bound(problem: Problem, placement: ReplicaPlacement, moved_bytes: int) -> int:
    """Lower bound on the bytes that a placement moves, which are `moved_bytes`."""
    proven = placement.certificate.lower_bound if problem.counts_bytes else _unavoidable_bytes(problem)
    return min(proven, moved_bytes)


def _over_resources(
    problem: Problem, objective: ResourceObjective
) -> tuple[ResourceSolution, LeaderSolution, list[Infeasible]]:
    """Replicas and leaders together, or the leaders afterwards, within the limits."""
    resources, conflicts = place_resources(problem, objective)
    if not objective.leads_afterwards:
        return resources, leaders_with_resources(problem, resources), conflicts
    leaders, more = lead(problem, resources.lists)
    resources, of_limits = led_afterwards(problem, resources, leaders.after[:, 0])
    others = (each for each in conflicts if not isinstance(each, LimitsConflict))
    return resources, leaders, [*others, *of_limits, *more]


def _certificates(
    leaders: LeaderSolution, resources: ResourceSolution | None, log_dirs: LogDirSolution | None
) -> Iterator[Certificate[int] | Certificate[Fraction]]:
    """Of leader changes, of goals over resources and, broker by broker, of log directories."""
    yield leaders.changes
    if resources is not None:
        yield from (goal.largest for goal in resources.placement.goals)
    for of_broker in () if log_dirs is None else log_dirs.brokers:
        yield of_broker.placement.moved
        yield of_broker.placement.largest


def _unavoidable_bytes(problem: Problem) -> int:
    """Lower bound on moved bytes if something else is minimised: the replicas that cannot stay."""
    movement = problem.movement
    stays = movement.may_stay & ~movement.is_copied
    lacking = np.maximum(movement.factors - stays.sum(axis=1), 0)
    lacking[problem.is_new] = 0
    return int((lacking * np.maximum(problem.batches.size_bytes, 0)).sum())
