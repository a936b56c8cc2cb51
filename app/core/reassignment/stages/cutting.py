"""Cut the moves of a placement into batches, and set the cordons of their execution."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from app.core.model import Int32s
from app.core.reassignment.batches.cutting import cut_batches
from app.core.reassignment.batches.execution import Cordons, ExecutionStep, execution_steps, execution_violations
from app.core.reassignment.batches.model import Batches, BrokerDisks, ReassignedPartitions
from app.core.reassignment.batches.verifier import batch_violations
from app.core.reassignment.problem import Problem
from app.core.reassignment.stages.log_dirs import LogDirSolution


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
