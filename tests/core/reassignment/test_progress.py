"""The progress of a plan in the middle of every batch, against each partition's constructed state."""

import numpy as np
from hypothesis import given

from app.core.model import NO_REPLICA, UNKNOWN_SIZE, unpadded
from app.core.reassignment.progress import StepState, counts_of_batches, progress_of_steps
from tests.core.reassignment.part_way import PartWay, plans_part_way
from tests.profiles import examples


@examples(150)
@given(plans_part_way())
def test_every_step_has_the_state_that_its_partition_is_in(case: PartWay) -> None:
    found = progress_of_steps(case.planned, case.now)
    expected = [case.partitions[row].state(case.level_of(step)) for step, row in enumerate(case.planned.rows)]
    assert found.state.tolist() == expected
    assert found.is_lost.tolist() == [one.is_lost for one in case.partitions]
    assert found.is_reordered.tolist() == [one.is_reordered for one in case.partitions]
    assert found.is_returning.tolist() == [
        one.is_moving and not one.is_lost and not one.reached for one in case.partitions
    ]


@examples(150)
@given(plans_part_way())
def test_left_to_copy_is_what_no_list_has_yet(case: PartWay) -> None:
    """Followed along the lists that are left: the additions of each, without replicas in sync."""
    found = progress_of_steps(case.planned, case.now)
    left: dict[int, list[int]] = {}
    for step, (row, is_left) in enumerate(zip(case.planned.rows.tolist(), found.copies, strict=True)):
        left.setdefault(row, []).extend(case.planned.after[step][is_left].tolist())
    for row, one in enumerate(case.partitions):
        expected: list[int] = []
        if not one.is_lost and (one.requested or not one.is_moving):
            expected += [broker for broker in one.adding if broker not in one.isr]
        if not one.is_lost:
            for before, after in zip(one.lists[one.reached :], one.lists[one.reached + 1 :], strict=False):
                expected += [broker for broker in after if broker not in before]
        assert sorted(left.get(row, [])) == sorted(expected)


@examples(150)
@given(plans_part_way())
def test_going_on_ends_at_the_plan(case: PartWay) -> None:
    """Executing the rest of each batch, in their order, once reassignments in progress are complete."""
    found = progress_of_steps(case.planned, case.now)
    lists = [one.target for one in case.partitions]
    for step in np.flatnonzero(found.state == StepState.NOT_STARTED).tolist():
        [lists[case.planned.rows[step]]] = unpadded(case.planned.after[step : step + 1])
    for one, reached in zip(case.partitions, lists, strict=True):
        assert reached == (one.target if one.is_lost else one.lists[-1])


@examples(150)
@given(plans_part_way())
def test_going_back_ends_at_the_lists_before_the_plan(case: PartWay) -> None:
    """Inverses of begun batches, from the last batch to the first, and the same at once."""
    found = progress_of_steps(case.planned, case.now)
    lists = [one.target for one in case.partitions]
    for step in reversed(np.flatnonzero(found.is_begun).tolist()):
        [lists[case.planned.rows[step]]] = unpadded(case.planned.before[step : step + 1])
    for row, (one, reached) in enumerate(zip(case.partitions, lists, strict=True)):
        assert reached == (one.target if one.is_lost else one.lists[0])
        assert found.differs[row] == (not one.is_lost and one.target != one.lists[0])


@given(plans_part_way())
def test_the_counts_of_batches_are_those_of_their_steps(case: PartWay) -> None:
    found, now = progress_of_steps(case.planned, case.now), case.now
    counts = counts_of_batches(case.planned, found, now, case.batches)
    for batch in range(case.batches):
        its = np.flatnonzero(case.planned.batch_of == batch)
        assert counts.steps[batch].tolist() == [int((found.state[its] == state).sum()) for state in StepState]
        left = [(now.size_bytes[case.planned.rows[step]], int(found.copies[step].sum())) for step in its]
        assert counts.replicas_left[batch] == sum(copies for _, copies in left)
        assert counts.bytes_left[batch] == sum(copies * size for size, copies in left if size != UNKNOWN_SIZE)
        assert counts.unknown_sizes[batch] == sum(copies for size, copies in left if size == UNKNOWN_SIZE)
    assert (case.planned.after[found.copies] != NO_REPLICA).all()
