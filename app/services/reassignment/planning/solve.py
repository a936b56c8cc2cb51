"""From the problem to replica lists, leaders, batches and log directories."""

from collections.abc import Iterator, Sequence
from dataclasses import fields, replace
from functools import partial
from time import monotonic
from typing import cast

import numpy as np
from numpy.typing import NDArray

from app.core.model import Int32s
from app.core.reassignment import (
    KEEP,
    TIGHT,
    TOLERATES_KEPT_SINCE,
    Batches,
    BrokerDisks,
    Cordons,
    ReassignedPartitions,
    cut_batches,
    execution_steps,
    leader_violations,
)
from app.errors.failure import Failure
from app.errors.reassignments import BudgetBelowMinimum, NotFeasible
from app.errors.requests import BatchesOutOfDisk, MoveExceedsBatchLimit
from app.services.reassignment.planning.bounds import bytes_bound
from app.services.reassignment.planning.completion import incomplete_lists
from app.services.reassignment.planning.kafka_generate import generated_movement
from app.services.reassignment.planning.leading import current_leaders, lead, leaders_with_resources
from app.services.reassignment.planning.log_dir_avoidance import in_log_dirs, place_with_log_dirs
from app.services.reassignment.planning.log_dirs import LogDirSolution
from app.services.reassignment.planning.movement import Moves
from app.services.reassignment.planning.placing import trade_off_of
from app.services.reassignment.planning.resources import (
    ResourceSolution,
    led_afterwards,
    place_resources,
    require_provable,
)
from app.services.reassignment.planning.solution import (
    Executions,
    PlacedReassignment,
    ReassignmentSolution,
)
from app.services.reassignment.problem.conflicts import Option, explained
from app.services.reassignment.problem.domains import Relaxation
from app.services.reassignment.problem.problem import ReassignmentProblem, tally_of
from app.services.reassignment.problem.rebalances import rebalances_of


def solve(problem: ReassignmentProblem) -> ReassignmentSolution:
    """Place replicas, choose leaders, and cut the moves into batches. Raises as the planner's `solve` does."""
    try:
        found = placed_and_led(problem)
    except (NotFeasible, BudgetBelowMinimum) as refused:
        raise explained(refused, problem.options(), partial(_attempt, problem, refused)) from None
    points = trade_off_of(problem) if problem.has_trade_off and problem.replicas.by == "count" else None
    reassigned, steps = _cut(problem, found.leaders.after, found.log_dirs)
    return ReassignmentSolution(
        **{each.name: getattr(found, each.name) for each in fields(found)},
        trade_off=points,
        reassigned=reassigned,
        steps=steps,
        executions=_executions(problem, steps),
        generated=generated_movement(
            problem.brokers,
            problem.scope,
            problem.sizes.size_bytes,
            version=problem.version,
        ),
        rebalances=rebalances_of(problem.subscriptions, problem.brokers, problem.scope, steps),
        tally=tally_of(problem, problem.as_ids(found.leaders.after)),
        tally_before=tally_of(problem, problem.scope.before, is_before=True),
        seconds=monotonic() - problem.started_s,
    )


def _attempt(problem: ReassignmentProblem, refused: Failure, dropped: Sequence[Option]) -> None:
    """Place what is left of a refused problem without some options, as far as that decides whether it is refused.

    Raises as `resolve` and `placed_and_led` do.
    """
    left = problem.without(dropped)
    if "required" in refused.context:  # limits that are proven to conflict
        require_provable(left, current_leaders(left))
        if left.leaders.minimums is None and not left.leaders.evacuates:  # nothing else refuses it
            return
    if isinstance(refused, BudgetBelowMinimum):  # no balance decides it
        objective = None if left.objective is None else replace(left.objective, priorities=())
        left = replace(left, objective=objective, replicas=replace(left.replicas, balance=KEEP))
    placed_and_led(left)


def placed_and_led(problem: ReassignmentProblem) -> PlacedReassignment:
    """Place replicas, then choose their leaders and log directories over the result.

    Raises `BudgetBelowMinimum`, `NotFeasible` unless conflicts are relaxed, and `LimitExceeded`.
    """
    resources, relaxed = _place_resources(problem)
    if resources is None:
        found = place_with_log_dirs(problem)
        placed, leaders, log_dirs = found.placed, found.leaders, found.log_dirs
        relaxed += found.relaxed
    else:
        if _leads_afterwards(problem):
            leaders, more = lead(problem, resources.lists)
            resources, of_limits = led_afterwards(problem, resources, leaders.after[:, 0])
            others = (each for each in relaxed if not each.constraint.startswith("limits."))
            relaxed = [*others, *of_limits, *more]
        else:
            leaders = leaders_with_resources(problem, resources)
        placed = resources.placed(problem)
        log_dirs = in_log_dirs(problem, leaders.after, relaxes=problem.relaxes)
    relaxed += () if log_dirs is None else log_dirs.relaxed
    return PlacedReassignment(placed, leaders, resources, log_dirs, (*problem.relaxed, *relaxed))


def found_violations(problem: ReassignmentProblem, found: PlacedReassignment) -> list[str]:
    """Violations of replica lists, leaders, limits and log directories; empty if the placement is legal."""
    resources = found.resources
    # With resources, leaders also change for other reasons than their count, so that no band holds.
    balance = problem.leaders.balance if resources is None or _leads_afterwards(problem) else TIGHT
    return [
        *([] if problem.leaders_only else found.placed.violations(problem)),
        *(
            violation
            for part in found.leaders.parts
            for violation in leader_violations(part.problem, part.choice, balance)
        ),
        *([] if resources is None else resources.violations()),
        *([] if found.log_dirs is None else found.log_dirs.violations()),
    ]


def _leads_afterwards(problem: ReassignmentProblem) -> bool:
    """Whether leaders are chosen after a placement over resources."""
    return problem.objective is not None and problem.objective.leads_afterwards


def least_repair(problem: ReassignmentProblem) -> tuple[int, int, int]:
    """Bytes and replicas that the problem moves at least, and the lower bound on the bytes. Raises `NotFeasible`."""
    placement = placed_and_led(problem).placement
    copied = Moves.of(problem, placement.replicas).is_copied.sum(axis=1)
    moved_bytes = int((copied * problem.sizes.size_bytes).sum())
    return moved_bytes, int(copied.sum()), bytes_bound(problem, placement, moved_bytes)


def _place_resources(problem: ReassignmentProblem) -> tuple[ResourceSolution | None, list[Relaxation]]:
    """Replicas and leaders together, if the objective is over resources. Raises `NotFeasible`."""
    if problem.objective is None:
        return None, []
    return place_resources(problem, problem.objective, current_leaders(problem))


def _disks(problem: ReassignmentProblem, log_dirs: LogDirSolution | None) -> BrokerDisks | None:
    """The disks of batches: log directories if they are chosen, else those of brokers."""
    if problem.log_dirs is None or log_dirs is None:
        return problem.batches.disks
    return replace(problem.log_dirs.disks, max_bytes=log_dirs.max_bytes)


def _barred(problem: ReassignmentProblem) -> NDArray[np.bool_] | None:
    """(brokers,) bool, brokers that no list between may have: Kafka rejects cordoned ones, and before 4.3 does not
    complete lists with brokers that are down; or None.
    """
    brokers, cordons = problem.brokers, problem.batches.cordons
    is_barred = brokers.mask(cordons.during if cordons.rejects_lists else ())
    if problem.version < TOLERATES_KEPT_SINCE:
        is_barred |= brokers.is_offline
    return is_barred if is_barred.any() else None


def _cut(
    problem: ReassignmentProblem, after: Int32s, log_dirs: LogDirSolution | None
) -> tuple[ReassignedPartitions, Batches]:
    """Cut the moves to (rows, widest) int32 positions into batches.

    Raises `MoveExceedsBatchLimit`, `BatchesOutOfDisk`, with the partition.
    """
    rules = problem.batches
    never = incomplete_lists(problem, np.arange(len(after)), problem.before, after)
    reassigned = ReassignedPartitions(
        before=problem.before,
        after=after,
        size_bytes=rules.size_bytes,
        heat=rules.heat,
        broker_ids=problem.brokers.ids,
        rack_of=problem.brokers.rack_of if problem.brokers.racks else None,
        is_barred=_barred(problem),
        waits=never.waits | never.has_no_source,
    )
    try:
        disks = _disks(problem, log_dirs)
        return reassigned, cut_batches(reassigned, rules.limits, disks, None if log_dirs is None else log_dirs.disks)
    except (MoveExceedsBatchLimit, BatchesOutOfDisk) as failure:
        # The core knows rows; a caller knows partitions.
        context = {name: value for name, value in failure.context.items() if name != "row"}
        partition = problem.scope.name(cast("int", failure.context["row"]))
        detail = f"{partition}: {failure.detail}"
        path = failure.path if isinstance(failure, MoveExceedsBatchLimit) else problem.batches.disk_path
        raise type(failure)(detail, path=path, partition=partition, **context) from None


def _executions(problem: ReassignmentProblem, steps: Batches) -> Executions | None:
    """The order of execution; None if no broker is or becomes cordoned, so that batches are executed as they are."""
    cordons = problem.batches.cordons
    if not cordons.during:
        return None
    return Executions(*(tuple(execution_steps(*each)) for each in _requested(problem, steps, cordons)))


def _requested(
    problem: ReassignmentProblem, steps: Batches, cordons: Cordons
) -> Iterator[tuple[Sequence[Int32s], Sequence[int], Cordons]]:
    """The lists that the files of a plan request, their order and the cordons, for each field of `Executions`."""
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
