"""Reassignment loop of the general builder: moves partitions until the lists are balanced, and undoes useless moves.

The compiled loop (`general_kernel`) stops when it needs an answer that depends on Java's collections: the order of
Kafka's map of lists (`MapOrder`), the first element of a hash set with a treeified bin (`TreeifiedSets`), or whether it
cycles (`CycleDetector`).
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from app.core.groups.sticky_builders import general_kernel as kernel
from app.core.groups.sticky_builders import general_state_kernel as sets
from app.core.groups.sticky_builders.general_state_kernel import MemberLists, PartitionMovements, PotentialMembers
from app.core.groups.sticky_builders.group import NumberedPartitions, StickyGroup, count_failure
from app.core.jvm import JavaHashMap, JavaHashSet
from app.core.jvm.hashes import STRING, TOPIC_PARTITION, string_hash_codes, topic_partition_hash_codes
from app.core.model import Bools, Int64s
from app.errors.kafka import AssignorNeverEnds, KafkaError


@dataclass(frozen=True, slots=True, eq=False)
class ReassignmentPlan:
    """The partitions to visit.

    Parameters
    ----------
    sequences : partitions by number, one array for each call of Kafka's `performReassignments`.
    is_fresh : whether no partition was kept before.
    """

    sequences: tuple[Int64s, ...]
    is_fresh: bool


def reassign(
    group: StickyGroup, potential: PotentialMembers, lists: MemberLists, plan: ReassignmentPlan, order: "MapOrder"
) -> MemberLists:
    """The lists after all moves, or unchanged if the moves did not improve the balance.

    Parameters
    ----------
    lists : with the ranking of the active members; not changed.

    Raises
    ------
    OwnedPartitionMissing, AssignorLosesCount : if Kafka's own code looks up a member that it has removed.
    AssignorNeverEnds : if it moves the same partitions forever.
    """
    if not any(map(len, plan.sequences)) or (len(lists.ranking) and _is_balanced(lists)):
        return lists
    moved = MemberLists(*(array.copy() for array in lists))
    loop = _Loop(group, potential, moved, order)
    for numbers in plan.sequences:
        changed = loop.run(numbers)
    if changed and not plan.is_fresh and _score(moved) >= _score(lists):
        order.was_undone = True
        return lists
    return moved


def _is_balanced(lists: MemberLists) -> bool:
    return bool(lists.sizes[lists.ranking[0]] >= lists.sizes[lists.ranking[-1]] - 1)


def _score(lists: MemberLists) -> int:
    """The sum of size differences over all pairs of active members, in Java's 32-bit arithmetic."""
    sizes = np.sort(lists.sizes[lists.ranking])
    weights = 2 * np.arange(len(sizes)) - len(sizes) + 1
    return int(np.array(sizes @ weights, np.int64).astype(np.int32))


class _Loop:
    """The compiled loop, and Java's own sets for those that it cannot order."""

    def __init__(self, group: StickyGroup, potential: PotentialMembers, lists: MemberLists, order: "MapOrder") -> None:
        self._group = group
        self._potential = potential
        self._lists = lists
        self._index = _balance_index(group, potential, lists, order)
        self._moves = no_movements(group.partitions)
        self._treeified = TreeifiedSets(group.partitions, self._moves)
        self._version = 0

    def run(self, numbers: Int64s) -> bool:
        """Visit partitions until none moves; returns whether any did."""
        progress = np.zeros(10, np.int64)
        progress[[kernel.FIRST_ELEMENT, kernel.SMALLER]] = -1
        progress[kernel.VERSION] = self._version
        cycles = CycleDetector(self._lists, self._moves)
        while outcome := kernel.reassign(
            numbers, self._group.claims.previous, self._lists, self._potential, self._moves, self._index, progress
        ):
            if outcome == kernel.NEEDS_FIRST:
                progress[kernel.FIRST_ELEMENT] = self._treeified.first_of(int(progress[kernel.REQUESTED_SET]))
            elif outcome == kernel.PASS_ENDS:
                cycles.end_pass()
            elif outcome == kernel.HAS_EVENTS:
                self._treeified.apply_events()
            elif outcome == kernel.NULL_POINTER:
                raise count_failure(self._group, KafkaError("NullPointerException"))
            else:
                raise count_failure(self._group, KafkaError("NoSuchElementException"))
        self._version = int(progress[kernel.VERSION])
        return bool(progress[kernel.CHANGED])


def _balance_index(
    group: StickyGroup, potential: PotentialMembers, lists: MemberLists, order: "MapOrder"
) -> kernel.BalanceIndex:
    members, topics = len(group.ids), len(group.partitions.topics)
    only_claimed = lists.member[group.partitions.existing :]
    if (only_claimed >= 0).any():
        counts, position = np.empty((0, topics), np.int32), order.while_moving
    else:
        existing = slice(0, group.partitions.existing)
        cells = lists.member[existing] * topics + potential.topic_of[existing]
        counts = np.bincount(cells, minlength=members * topics).astype(np.int32).reshape(members, topics)
        position = np.empty(0, np.int64)
    # A topic that a subscription names twice is visited once; the second visit would change nothing.
    subscriptions, named = np.nonzero(potential.subscribes)
    return kernel.BalanceIndex(
        counts=counts,
        best=np.full(topics, -1, np.int64),
        best_at=np.full(topics, -1, np.int64),
        order=group.order,
        position=position,
        starts=np.searchsorted(subscriptions, np.arange(len(potential.subscribes) + 1)),
        named=np.ascontiguousarray(named),
    )


class CycleDetector:
    """Detects that Kafka would move partitions forever, which claims of several generations can cause.

    A partition may return to its owner in an older generation, or replace another one that has moved the other way, and
    then a move need not start at a larger member. A pass over the partitions depends only on the lists and on the moves
    so far; so if both are equal to those after an earlier pass, the passes repeat. They are compared with one earlier
    state, which is replaced after 1, 2, 4, 8 … more passes: this detects a cycle of any length (R. P. Brent, "An
    improved Monte Carlo factorization algorithm", 1980).
    """

    def __init__(self, lists: MemberLists, moves: PartitionMovements) -> None:
        self._lists = lists
        self._moves = moves
        self._passes = 0
        self._compared_until = 1
        self._earlier = self._copy()

    def end_pass(self) -> None:
        """Call at the end of each pass. Raises `AssignorNeverEnds` if the state is equal to an earlier one."""
        self._passes += 1
        current = self._copy()
        if all(np.array_equal(*pair) for pair in zip(self._earlier, current, strict=True)):
            raise AssignorNeverEnds(
                "Kafka's sticky assignor would move the same partitions to and fro for ever, since members claim them "
                f"in several generations; found after {self._passes} passes over the partitions",
                passes=self._passes,
            )
        if self._passes == self._compared_until:
            self._compared_until *= 2
            self._earlier = current

    def _copy(self) -> tuple[np.ndarray[tuple[int, ...], np.dtype[np.generic]], ...]:
        lists, moves = self._lists, self._moves
        twin_is_first = lists.twin_stamp < lists.stamp
        changing = lists.member, lists.twin_member, twin_is_first, moves.origin, moves.following, moves.sets
        return tuple(array.copy() for array in changing)


class TreeifiedSets:
    """Java's own sets beside those compiled sets of moved partitions in which a bin has become a tree."""

    def __init__(self, partitions: NumberedPartitions, moves: PartitionMovements) -> None:
        self._partitions = partitions
        self._moves = moves
        self._sets: dict[int, JavaHashSet[tuple[str, int]]] = {}

    def apply_events(self) -> None:
        """Apply the events to the sets; call after each move that has some."""
        for event, number_of_set, number in self._moves.events[: self._moves.n_events[0]].tolist():
            if event == sets.TREEIFIES:
                table = int(self._moves.sets[number_of_set, sets.TABLE])
                self._sets[number_of_set] = JavaHashSet(TOPIC_PARTITION, initial_capacity=table)
                for member in self._listed(number_of_set):
                    self._sets[number_of_set].add(self._key(member))
            elif event == sets.ADDED:
                self._sets[number_of_set].add(self._key(number))
            else:
                self._sets[number_of_set].discard(self._key(number))
        self._moves.n_events[0] = 0

    def first_of(self, number_of_set: int) -> int:
        """The number of the first partition in the iteration order of a set."""
        topic, partition = next(iter(self._sets[number_of_set]))
        return int(self._partitions.offsets[self._partitions.topics.index(topic)]) + partition

    def _listed(self, number_of_set: int) -> Iterator[int]:
        number = int(self._moves.sets[number_of_set, sets.FIRST])
        while number >= 0:
            yield number
            number = int(self._moves.following[number])

    def _key(self, number: int) -> tuple[str, int]:
        return self._partitions.topics[self._partitions.topic_of[number]], int(self._partitions.id_of[number])


def no_movements(partitions: NumberedPartitions) -> PartitionMovements:
    """The sets before the first move."""
    hashes = topic_partition_hash_codes(string_hash_codes(partitions.topics)[partitions.topic_of], partitions.id_of)
    table = np.zeros((partitions.existing + 1, 8), np.int64)
    table[:, sets.NEXT] = np.arange(1, len(table) + 1)
    return PartitionMovements(
        origin=np.full(len(hashes), -1, np.int64),
        following=np.full(len(hashes), -1, np.int64),
        bins=(hashes.view(np.uint32) ^ (hashes.view(np.uint32) >> np.uint32(16))).astype(np.int64),
        sets=table,
        of_topic=np.full(len(partitions.topics), -1, np.int64),
        free=np.zeros(1, np.int64),
        events=np.zeros((2, 3), np.int64),
        n_events=np.zeros(1, np.int64),
    )


class MapOrder:
    """Iteration order of Kafka's map of lists, which decides ties if a partition is in two lists.

    While partitions move, only active members are in the map; at the end all are. Both orders are replayed on a Java
    map on first access, which is rare.
    """

    def __init__(self, group: StickyGroup, active: Bools) -> None:
        self._group = group
        self._active = active
        self.was_undone = False

    @cached_property
    def while_moving(self) -> Int64s:
        """(members,) int64 position of each active member; undefined for the others."""
        return self._positions(self._active_only()[0])

    def at_the_end(self, member: int) -> int:
        """The position of a member when Kafka compares owned with assigned partitions."""
        return int(self._final[member])

    @cached_property
    def _final(self) -> Int64s:
        lists, fixed = self._active_only()
        if self.was_undone:
            copy: JavaHashMap[str, int] = JavaHashMap(STRING)
            copy.update(lists)
            for name in copy:
                del lists[name]
            lists.update(copy)
        lists.update(fixed)
        return self._positions(lists)

    def _active_only(self) -> tuple[JavaHashMap[str, int], JavaHashMap[str, int]]:
        """The map without the inactive members, and the map that stores them meanwhile."""
        ids, order = self._group.ids, self._group.order.tolist()
        lists: JavaHashMap[str, int] = JavaHashMap(STRING)
        topics: JavaHashMap[str, int] = JavaHashMap(STRING, initial_capacity=len(ids))
        fixed: JavaHashMap[str, int] = JavaHashMap(STRING)
        for member in order:
            lists[ids[member]] = topics[ids[member]] = member
        for name, member in topics.items():
            if not self._active[member]:
                fixed[name] = lists.pop(name)
        return lists, fixed

    def _positions(self, lists: JavaHashMap[str, int]) -> Int64s:
        positions = np.full(len(self._group.ids), -1, np.int64)
        positions[list(lists.values())] = np.arange(len(lists))
        return positions
