"""The progress of a reassignment: which of its steps are done, in progress or left, by where the replicas are now.

The steps of a partition lead through lists L0, L1, …, Ln, each of which a batch requests of Kafka. A partition is

- at Lk if that is its list and no reassignment of it is in progress: its first k steps are done;
- on its way to Lk if that is the target of the reassignment in progress: the steps from the list where it began
  (the replicas that are not being added) to Lk are in progress. Kafka keeps all of `adding` and `removing` until every
  added replica is in sync, so that they say where it began. If it began at no list of the plan, or at a later one,
  the step that ends at Lk is in progress;
- in another order if its replicas are those of Lk, as after Kafka's own cancelling: the last step up to Lk is left,
  which then copies nothing;
- drifted otherwise: something else has moved or deleted it. Its steps are neither done nor left.
"""

from dataclasses import dataclass, field
from enum import IntEnum

import numpy as np
from numpy.typing import NDArray

from app.core.model import NO_REPLICA, UNKNOWN_SIZE, Bools, Float64s, Int32s, Int64s
from app.core.replica_lists import not_among, sums_by, widened


class StepState(IntEnum):
    """The state of a step."""

    NOT_STARTED = 0
    IN_PROGRESS = 1
    DONE = 2
    DRIFTED = 3


@dataclass(frozen=True, slots=True, eq=False)
class PlannedSteps:
    """The steps of a plan, by batch: those of one partition follow one another.

    Parameters
    ----------
    rows : (steps,) int64 partition of each step, 0 … partitions - 1, each with a step.
    batch_of : (steps,) int64, ascending.
    before, after : (steps, …) int32 broker ids, padded with `NO_REPLICA`.
    """

    rows: Int64s = field(repr=False)
    batch_of: Int64s = field(repr=False)
    before: Int32s = field(repr=False)
    after: Int32s = field(repr=False)


@dataclass(frozen=True, slots=True, eq=False)
class PartitionsNow:
    """The partitions of a plan as a later snapshot has them: (partitions, …) int32 broker ids each, padded.

    Parameters
    ----------
    is_present : (partitions,) bool, whether the partition is there, and the one that the plan moves.
    target : the replicas, or those that the reassignment in progress leads to, the preferred leader first.
    replicas, adding, isr : all replicas, those being added, and those in sync. A partition of which all replicas are in
        sync while some are being added has no reported ISR: those being added count as not in sync.
    is_moving : (partitions,) bool, whether a reassignment of it is in progress.
    size_bytes : (partitions,) int64 bytes that a new replica copies, or `UNKNOWN_SIZE`.
    ingress_bytes_per_s : (partitions,) float64, 0 if unknown.
    """

    is_present: Bools = field(repr=False)
    target: Int32s = field(repr=False)
    replicas: Int32s = field(repr=False)
    adding: Int32s = field(repr=False)
    isr: Int32s = field(repr=False)
    is_moving: Bools = field(repr=False)
    size_bytes: Int64s = field(repr=False)
    ingress_bytes_per_s: Float64s = field(repr=False)


@dataclass(frozen=True, slots=True, eq=False)
class StepProgress:
    """The progress of every step and partition.

    Parameters
    ----------
    state : (steps,) int8 `StepState`.
    copies : (steps, widest) bool, the replicas of `PlannedSteps.after` that are still to be copied.
    is_begun : (steps,) bool, whether going back undoes the step: it is done, in progress, or left in another order.
    differs : (partitions,) bool, partitions to which going back requests the list before the plan.
    is_lost : (partitions,) bool, drifted: no list of the plan has its replicas, or it is not there.
    is_reordered : (partitions,) bool, whether it has the replicas of a list of the plan in another order.
    is_returning : (partitions,) bool, on its way back to the list before the plan.
    """

    state: NDArray[np.int8] = field(repr=False)
    copies: Bools = field(repr=False)
    is_begun: Bools = field(repr=False)
    differs: Bools = field(repr=False)
    is_lost: Bools = field(repr=False)
    is_reordered: Bools = field(repr=False)
    is_returning: Bools = field(repr=False)


@dataclass(frozen=True, slots=True, eq=False)
class BatchCounts:
    """What is left of each batch: (batches,) int64 each.

    Parameters
    ----------
    steps : (batches, 4) int64 partitions of each `StepState`.
    replicas_left, bytes_left, unknown_sizes : replicas to copy, their bytes, and those of unknown size.
    """

    steps: Int64s
    replicas_left: Int64s
    bytes_left: Int64s
    unknown_sizes: Int64s


def progress_of_steps(planned: PlannedSteps, now: PartitionsNow) -> StepProgress:
    """The state of every step, by where the replicas of its partition are.

    Complexity: O(steps · log(steps) + steps · widest²), vectorised.

    Examples
    --------
    Broker 1 is to be replaced by 2, and then 2 by 3; the first step is in progress.

    >>> import numpy as np
    >>> planned = PlannedSteps(np.array([0, 0]), np.array([0, 1]), np.array([[1], [2]], np.int32),
    ...                        np.array([[2], [3]], np.int32))
    >>> now = PartitionsNow(np.array([True]), np.array([[2]], np.int32), np.array([[2, 1]], np.int32),
    ...                     np.array([[2]], np.int32), np.array([[1]], np.int32), np.array([True]),
    ...                     np.array([700]), np.zeros(1))
    >>> progress = progress_of_steps(planned, now)
    >>> [StepState(state).name for state in progress.state], progress.copies.tolist()
    (['IN_PROGRESS', 'NOT_STARTED'], [[True], [True]])
    """
    partitions, width = len(now.is_present), _width(planned, now)
    order = np.argsort(planned.rows, kind="stable")
    rows, before, after = planned.rows[order], planned.before[order], planned.after[order]
    n_steps = np.bincount(rows, minlength=partitions)
    first = np.cumsum(n_steps) - n_steps
    level = np.arange(len(rows)) - first[rows]
    begins = widened(before[first], width)
    lists = np.concatenate([begins, widened(after, width)])
    row_of, level_of = np.concatenate([np.arange(partitions), rows]), np.concatenate([0 * first, level + 1])
    target = widened(now.target, width)
    at = _last_level(_equal(lists, target[row_of]) & now.is_present[row_of], row_of, level_of, partitions)
    among = _last_level(_equal_sets(lists, target[row_of]) & now.is_present[row_of], row_of, level_of, partitions)
    is_reordered = (at < 0) & (among >= 0)
    at = np.where(at < 0, among, at)
    began = np.where(now.is_moving, _began_at(now, at, lists, row_of, level_of), -1)
    # A step whose end is in another order is left, so that its batch requests that end again.
    settled = np.where(is_reordered, np.maximum(at - 1, 0), at)
    done = np.where(now.is_moving, np.where(began >= 0, began, np.maximum(at - 1, 0)), settled)
    requested = np.where(now.is_moving, at, settled)
    state = _states(at[rows] < 0, level < done[rows], level < requested[rows])
    differs = (at >= 0) & ~_equal(target, begins)
    is_begun = level < np.where(at < 0, 0, np.maximum(at, differs))[rows]
    back = np.argsort(order)
    return StepProgress(
        state=state[back],
        copies=_copies(before, after, state, (began < 0)[rows], rows, now)[back],
        is_begun=is_begun[back],
        differs=differs,
        is_lost=at < 0,
        is_reordered=is_reordered,
        is_returning=now.is_moving & (at == 0),
    )


def _states(is_drifted: Bools, is_done: Bools, is_requested: Bools) -> NDArray[np.int8]:
    """(steps,) int8 `StepState`: the first that holds."""
    states = [np.int8(state) for state in (StepState.DRIFTED, StepState.DONE, StepState.IN_PROGRESS)]
    return np.select([is_drifted, is_done, is_requested], states, np.int8(StepState.NOT_STARTED))


def counts_of_batches(planned: PlannedSteps, progress: StepProgress, now: PartitionsNow, batches: int) -> BatchCounts:
    """The rest of each batch, of a plan with this number of batches."""
    pairs = planned.batch_of * len(StepState) + progress.state
    steps = np.bincount(pairs, minlength=batches * len(StepState)).reshape(batches, len(StepState))
    left, size = progress.copies.sum(axis=1), now.size_bytes[planned.rows]
    is_unknown = size == UNKNOWN_SIZE
    return BatchCounts(
        steps=steps.astype(np.int64),
        replicas_left=sums_by(planned.batch_of, left, batches),
        bytes_left=sums_by(planned.batch_of, np.where(is_unknown, 0, size) * left, batches),
        unknown_sizes=sums_by(planned.batch_of, np.where(is_unknown, left, 0), batches),
    )


def _began_at(now: PartitionsNow, at: Int64s, lists: Int32s, row_of: Int64s, level_of: Int64s) -> Int64s:
    """(partitions,) int64 the list from which a reassignment in progress leads to the one `at`; -1 if it is none."""
    is_added = ~not_among(now.replicas, now.adding) & (now.replicas != NO_REPLICA)
    origin = widened(np.where(is_added, np.int32(NO_REPLICA), now.replicas), lists.shape[1])
    return _last_level(_equal_sets(lists, origin[row_of]) & (level_of < at[row_of]), row_of, level_of, len(at))


def _copies(
    before: Int32s, after: Int32s, state: NDArray[np.int8], is_detour: Bools, rows: Int64s, now: PartitionsNow
) -> Bools:
    """(steps, widest) bool: replicas of `after` that a step has to copy, and that are not there yet.

    Parameters
    ----------
    is_detour : (steps,) bool, whether what is in progress began at no list of the plan; all that it adds is copied.
    """
    reports_isr = not_among(now.replicas, now.isr).any(axis=1) | ~now.is_moving
    isr = np.where(reports_isr[:, None], now.isr, np.int32(NO_REPLICA))
    gained = not_among(after, before)
    is_added = ~not_among(after, now.adding[rows]) & (after != NO_REPLICA)
    in_progress = (gained | is_detour[:, None]) & is_added & not_among(after, isr[rows])
    # What the target has stays, so that a later step finds it there.
    left = gained & not_among(after, now.target[rows])
    states = state[:, None]
    return np.asarray(
        ((states == StepState.IN_PROGRESS) & in_progress) | ((states == StepState.NOT_STARTED) & left), np.bool_
    )


def _width(planned: PlannedSteps, now: PartitionsNow) -> int:
    lists = (planned.before, planned.after, now.target, now.replicas)
    return max(1, *(int(each.shape[1]) for each in lists))


def _equal(lists: Int32s, others: Int32s) -> Bools:
    return np.asarray((lists == others).all(axis=1), np.bool_)


def _equal_sets(lists: Int32s, others: Int32s) -> Bools:
    return _equal(np.sort(lists, axis=1), np.sort(others, axis=1))


def _last_level(is_match: Bools, row_of: Int64s, level_of: Int64s, partitions: int) -> Int64s:
    """(partitions,) int64: the highest level of a match, or -1."""
    last = np.full(partitions, -1, np.int64)
    np.maximum.at(last, row_of[is_match], level_of[is_match])
    return last
