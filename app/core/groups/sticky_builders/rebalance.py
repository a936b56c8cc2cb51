"""Moving partitions until the lists are as even as may be; and back, where that was in vain."""

from dataclasses import dataclass

import numpy as np

from app.core.groups.sticky_builders import general_kernel as kernel
from app.core.groups.sticky_builders.endless import EndlessPasses
from app.core.groups.sticky_builders.group import StickyGroup
from app.core.groups.sticky_builders.lists_kernel import Lists, Readers
from app.core.groups.sticky_builders.map_order import MapOrder
from app.core.groups.sticky_builders.odd_sets import OddSets, no_moves
from app.core.groups.sticky_builders.refusals import lost_count
from app.core.model import Int64s
from app.errors import KafkaError


@dataclass(frozen=True, slots=True, eq=False)
class Work:
    """Which partitions, by number, are gone through, list after list; `fresh` : nothing was owned before."""

    lists: tuple[Int64s, ...]
    fresh: bool


def rebalance(group: StickyGroup, readers: Readers, lists: Lists, work: Work, order: MapOrder) -> Lists:
    """The lists after all moves, or as they are where those did not make sizes more even.

    Parameters
    ----------
    lists : ranked by those members that take part; not changed.

    Raises
    ------
    OwnedPartitionMissing, AssignorLosesCount : Kafka's own code looks up a member that it has set aside.
    AssignorNeverEnds : it moves the same partitions for ever.
    """
    if not any(map(len, work.lists)) or (len(lists.ranking) and _are_even(lists)):
        return lists
    moved = Lists(*(array.copy() for array in lists))
    loop = _Loop(group, readers, moved, order)
    for numbers in work.lists:
        changed = loop.run(numbers)
    if changed and not work.fresh and _score(moved) >= _score(lists):
        order.was_undone = True
        return lists
    return moved


def _are_even(lists: Lists) -> bool:
    return bool(lists.sizes[lists.ranking[0]] >= lists.sizes[lists.ranking[-1]] - 1)


def _score(lists: Lists) -> int:
    """The sum of differences over all pairs of those that take part, in Java's 32-bit arithmetic."""
    sizes = np.sort(lists.sizes[lists.ranking])
    weights = 2 * np.arange(len(sizes)) - len(sizes) + 1
    return int(np.array(sizes @ weights, np.int64).astype(np.int32))


class _Loop:
    """The compiled loop, with Java's own sets beside it for those that it cannot order."""

    def __init__(self, group: StickyGroup, readers: Readers, lists: Lists, order: MapOrder) -> None:
        self._group = group
        self._readers = readers
        self._lists = lists
        self._ledger = _ledger(group, readers, lists, order)
        self._moves = no_moves(group.partitions)
        self._odd = OddSets(group.partitions, self._moves)
        self._version = 0

    def run(self, numbers: Int64s) -> bool:
        """Go through partitions until none moves; says whether any did."""
        progress = np.zeros(10, np.int64)
        progress[[kernel.ANSWER, kernel.POOR]] = -1
        progress[kernel.VERSION] = self._version
        endless = EndlessPasses(self._lists, self._moves)
        while outcome := kernel.rebalance(
            numbers, self._group.claims.previous, self._lists, self._readers, self._moves, self._ledger, progress
        ):
            if outcome == kernel.WANTS_FIRST:
                progress[kernel.ANSWER] = self._odd.first_of(int(progress[kernel.WANTED]))
            elif outcome == kernel.PASS_ENDS:
                endless.watch()
            elif outcome == kernel.HAS_NEWS:
                self._odd.hear()
            elif outcome == kernel.NULL_POINTER:
                raise lost_count(self._group, KafkaError("NullPointerException"))
            else:
                raise lost_count(self._group, KafkaError("NoSuchElementException"))
        self._version = int(progress[kernel.VERSION])
        return bool(progress[kernel.CHANGED])


def _ledger(group: StickyGroup, readers: Readers, lists: Lists, order: MapOrder) -> kernel.Ledger:
    members, topics = len(group.ids), len(group.partitions.topics)
    only_claimed = lists.holder[group.partitions.known :]
    if (only_claimed >= 0).any():
        tally, position = np.empty((0, topics), np.int32), order.while_moving
    else:
        known = slice(0, group.partitions.known)
        cells = lists.holder[known] * topics + readers.topic_of[known]
        tally = np.bincount(cells, minlength=members * topics).astype(np.int32).reshape(members, topics)
        position = np.empty(0, np.int64)
    # Where a subscription names a topic twice, looking at it twice finds nothing new.
    kinds, named = np.nonzero(readers.reads)
    return kernel.Ledger(
        tally=tally,
        best=np.full(topics, -1, np.int64),
        best_at=np.full(topics, -1, np.int64),
        order=group.order,
        position=position,
        starts=np.searchsorted(kinds, np.arange(len(readers.reads) + 1)),
        named=named,
    )
