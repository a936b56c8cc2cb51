"""Plans of a few partitions that were executed in part, and the expected state of each partition."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from app.core.model import padded, unpadded
from app.core.reassignment.batches.cutting import cut_batches
from app.core.reassignment.progress import PartitionsNow, PlannedSteps, StepState
from tests import draws as st
from tests.core.reassignment.small_reassignments import all_limits, reassignments

Lists = list[list[int]]
FOREIGN = 500
"""A broker that no plan has."""


@dataclass(frozen=True)
class Partition:
    """One partition as Kafka has it, and its expected state.

    `lists` are of its steps, the first one before the plan; `done` and `requested` count its first steps that are
    done, and those that are done or in progress; `reached` is the list that it has or is on its way to.
    """

    lists: Lists
    target: list[int]
    replicas: list[int]
    adding: list[int]
    isr: list[int]
    is_moving: bool = False
    is_present: bool = True
    done: int = 0
    requested: int = 0
    reached: int = 0
    is_lost: bool = False
    is_reordered: bool = False

    def state(self, step: int) -> StepState:
        if self.is_lost:
            return StepState.DRIFTED
        if step < self.done:
            return StepState.DONE
        return StepState.IN_PROGRESS if step < self.requested else StepState.NOT_STARTED


@dataclass(frozen=True)
class PartWay:
    """A plan, and its partitions by row."""

    planned: PlannedSteps
    partitions: Sequence[Partition]
    batches: int

    @property
    def now(self) -> PartitionsNow:
        every = self.partitions
        return PartitionsNow(
            is_present=np.array([one.is_present for one in every], np.bool_),
            target=padded([one.target for one in every]),
            replicas=padded([one.replicas for one in every]),
            adding=padded([one.adding for one in every]),
            isr=padded([one.isr for one in every]),
            is_moving=np.array([one.is_moving for one in every], np.bool_),
            size_bytes=np.arange(len(every), dtype=np.int64) - 1,
            ingress_bytes_per_s=np.zeros(len(every)),
        )

    def level_of(self, step: int) -> int:
        """The index of a step in its partition."""
        return int(np.count_nonzero(self.planned.rows[:step] == self.planned.rows[step]))


@st.composite
def plans_part_way(draw: st.DrawFn) -> PartWay:
    """Batches are executed in order up to the middle of one, or partitions are anywhere on their way."""
    reassigned = draw(reassignments())
    batches = cut_batches(reassigned, draw(all_limits))
    _, rows = np.unique(batches.rows, return_inverse=True)
    batch_of = np.repeat(np.arange(len(batches)), np.diff(batches.offsets))
    planned = PlannedSteps(rows, batch_of, batches.before, batches.after)
    middle = draw(st.none() | st.integers(0, max(len(batches) - 1, 0)))
    partitions = []
    for row in range(int(rows.max(initial=-1)) + 1):
        its = np.flatnonzero(rows == row)
        lists = [*unpadded(planned.before[its[:1]]), *unpadded(planned.after[its])]
        if middle is None:
            partitions.append(draw(anywhere(lists)))
            continue
        start = int(np.count_nonzero(batch_of[its] < middle))
        is_in_batch = bool((batch_of[its] == middle).any())
        how = draw(st.sampled_from(["untouched", "in progress", "done"])) if is_in_batch else "untouched"
        partitions.append(
            at(lists, start + (how == "done")) if how != "in progress" else draw(moving(lists, start, start + 1))
        )
        if draw(st.integers(0, 5)) == 0:
            partitions[-1] = draw(drifted(lists))
    return PartWay(planned, partitions, len(batches))


@st.composite
def anywhere(draw: st.DrawFn, lists: Lists) -> Partition:
    """At any list, between any two, forwards or back, or drifted."""
    start, end = draw(st.integers(0, len(lists) - 1)), draw(st.integers(0, len(lists) - 1))
    chosen: Partition = draw(st.one_of(st.just(at(lists, start)), moving(lists, start, end), drifted(lists)))
    return chosen


def at(lists: Lists, level: int) -> Partition:
    return Partition(lists, lists[level], lists[level], [], lists[level], done=level, requested=level, reached=level)


@st.composite
def moving(draw: st.DrawFn, lists: Lists, start: int, end: int) -> Partition:
    """From one list to another; Kafka completes one that adds and removes nothing at once."""
    before, after = lists[start], lists[end]
    adding = [broker for broker in after if broker not in before]
    removing = [broker for broker in before if broker not in after]
    if not adding:
        return at(lists, end)
    lagging = draw(st.lists(st.sampled_from(adding), min_size=1, unique=True))
    isr = [broker for broker in after + removing if broker not in lagging]
    done = start if start < end else max(end - 1, 0)
    return Partition(lists, after, after + removing, adding, isr, is_moving=True, done=done, requested=end, reached=end)


@st.composite
def drifted(draw: st.DrawFn, lists: Lists) -> Partition:
    """Deleted, on brokers of no list, on its way there, or with a list of the plan in another order."""
    how = draw(st.sampled_from(["deleted", "elsewhere", "going elsewhere", "reordered"]))
    level = draw(st.integers(0, len(lists) - 1))
    if how == "deleted":
        return Partition(lists, [], [], [], [], is_present=False, is_lost=True)
    if how == "elsewhere":
        other = [FOREIGN, *lists[level][1:]]
        return Partition(lists, other, other, [], other, is_lost=True)
    if how == "going elsewhere":
        other = [*lists[level], FOREIGN]
        return Partition(lists, other, other, [FOREIGN], lists[level], is_moving=True, is_lost=True)
    order = draw(st.permutations(lists[level]))
    if order in lists:
        return at(lists, lists.index(order))
    last = max(place for place, one in enumerate(lists) if sorted(one) == sorted(order))
    done = max(last - 1, 0)
    return Partition(lists, order, order, [], order, done=done, requested=done, reached=last, is_reordered=True)
