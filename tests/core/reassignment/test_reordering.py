"""Plans that only change the order of replica lists, and so their leaders: they copy nothing, in no batch."""

import numpy as np
from hypothesis import event, given

from app.core.model import NO_REPLICA, Int32s, Int64s, padded, unpadded
from app.core.reassignment.batches.cutting import cut_batches
from app.core.reassignment.batches.execution import BatchCopies, batch_durations, throttled
from app.core.reassignment.batches.model import Batches, BatchLimits, BrokerDisks, ReassignedPartitions
from app.core.reassignment.batches.verifier import batch_violations
from app.core.reassignment.progress import (
    PartitionsNow,
    PlannedSteps,
    StepState,
    counts_of_batches,
    progress_of_steps,
)
from tests import draws as st
from tests.core.reassignment.small_reassignments import all_limits, reassignments
from tests.premises import reaches
from tests.profiles import examples


@st.composite
def reorderings(draw: st.DrawFn) -> ReassignedPartitions:
    """Every list becomes another order of itself, or stays; sizes, racks, cordons and rates are any."""
    sampled = draw(reassignments())
    before = [row or after for row, after in zip(unpadded(sampled.before), unpadded(sampled.after), strict=True)]
    return ReassignedPartitions(
        before=padded(before),
        after=padded([draw(st.permutations(row)) for row in before]),
        size_bytes=sampled.size_bytes,
        heat=sampled.heat,
        broker_ids=sampled.broker_ids,
        rack_of=sampled.rack_of,
        is_barred=sampled.is_barred,
    )


@reaches("reordered", 0.6)
@examples(150)
@given(reorderings(), all_limits)
def test_an_order_moves_no_bytes_fills_no_disk_and_takes_no_time(
    reassigned: ReassignedPartitions, limits: BatchLimits
) -> None:
    """On disks without a free byte, over limits that permit a single move, at a throttle of one byte a second."""
    used = np.full(len(reassigned.broker_ids), 100, np.int64)
    full = BrokerDisks(used, used - 50)
    batches = cut_batches(reassigned, limits, full)
    assert batch_violations(reassigned, batches, limits, full) == []
    assert not batches.moves_data.any()
    for figure in (batches.moved_replicas, batches.moved_bytes, batches.unknown_sizes, batches.max_bytes_in):
        assert not figure.any()
    assert batches.seconds is None or not batches.seconds.any()
    nothing = np.zeros(0, np.int64)
    copies = BatchCopies(nothing, nothing.astype(np.int32), nothing.astype(np.int32), nothing, np.zeros(0))
    assert not batch_durations(copies, throttled(1, len(used)), len(batches)).any()
    differs = (reassigned.before != reassigned.after).any(axis=1)
    assert sorted(batches.rows.tolist()) == np.flatnonzero(differs).tolist()
    if differs.any():
        event("reordered")


@examples(150)
@given(reorderings(), all_limits)
def test_a_rollback_restores_the_order(reassigned: ReassignedPartitions, limits: BatchLimits) -> None:
    """Batch by batch from the last one, and from the middle of every batch."""
    batches = cut_batches(reassigned, limits)
    for executed in range(len(batches.rows) + 1):
        lists = reassigned.before.copy()
        for step in range(executed):
            _put(lists, batches, step, batches.after[step].tolist())
        for step in reversed(range(executed)):
            _put(lists, batches, step, batches.before[step].tolist())
        assert unpadded(lists) == unpadded(reassigned.before)


@examples(150)
@given(reorderings(), all_limits, st.data())
def test_progress_over_orders(reassigned: ReassignedPartitions, limits: BatchLimits, data: st.DataObject) -> None:
    """Kafka executes an order at once: a step is done or not started, none is in progress, nothing is left to copy,
    and an order of the plan is no drift; another order is. Going on ends at the plan, going back at the first lists.
    """
    batches = cut_batches(reassigned, limits)
    rows, before, after = batches.rows, unpadded(batches.before), unpadded(batches.after)
    batch_of = np.repeat(np.arange(len(batches)), np.diff(batches.offsets))
    planned = PlannedSteps(np.arange(len(rows)), batch_of, batches.before, batches.after)
    orders = [
        data.draw(st.sampled_from([was, now]) | st.permutations(was)) for was, now in zip(before, after, strict=True)
    ]
    now = _now(orders, reassigned.size_bytes[rows])
    found = progress_of_steps(planned, now)
    is_done = [order == its for order, its in zip(orders, after, strict=True)]
    assert found.state.tolist() == [StepState.DONE if done else StepState.NOT_STARTED for done in is_done]
    assert found.is_reordered.tolist() == [
        order not in (was, its) for order, was, its in zip(orders, before, after, strict=True)
    ]
    assert not found.is_lost.any()
    assert not found.copies.any()
    assert found.differs.tolist() == [order != was for order, was in zip(orders, before, strict=True)]
    counts = counts_of_batches(planned, found, now, len(batches))
    for left in (counts.replicas_left, counts.bytes_left, counts.unknown_sizes):
        assert not left.any()
    assert counts.steps[:, StepState.DONE].sum() == sum(is_done)
    assert counts.steps[:, StepState.IN_PROGRESS].sum() == 0


def _put(lists: Int32s, batches: Batches, step: int, row: list[int]) -> None:
    """Execute the list of a step."""
    lists[batches.rows[step]] = NO_REPLICA
    lists[batches.rows[step], : len(row)] = row[: lists.shape[1]]


def _now(orders: list[list[int]], size_bytes: Int64s) -> PartitionsNow:
    lists = padded(orders)
    none = np.empty((len(lists), 0), np.int32)
    return PartitionsNow(
        is_present=np.ones(len(lists), np.bool_),
        target=lists,
        replicas=lists,
        adding=none,
        isr=lists,
        is_moving=np.zeros(len(lists), np.bool_),
        size_bytes=size_bytes,
        ingress_bytes_per_s=np.zeros(len(lists)),
    )
