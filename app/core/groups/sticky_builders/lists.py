"""The general builder's lists: made from what members keep, ranked, and written out in Kafka's order."""

import numpy as np
from numpy.typing import NDArray

from app.core.groups.sticky_builders.group import NOBODY, StickyGroup
from app.core.groups.sticky_builders.lists_kernel import Lists
from app.core.groups.sticky_builders.map_order import MapOrder
from app.core.model import Int64s


def new_lists(group: StickyGroup, numbers: Int64s, owners: Int64s) -> Lists:
    """Lists of what members keep, in the order in which they claim it; all members are active."""
    count = len(group.partitions.topic_of)
    holder, stamp = np.full(count, NOBODY, np.int64), np.full(count, NOBODY, np.int64)
    holder[numbers] = owners
    stamp[numbers] = group.claims.believed[numbers]
    lists = Lists(
        holder,
        stamp,
        twin_holder=np.full(count, NOBODY, np.int64),
        twin_stamp=np.full(count, NOBODY, np.int64),
        clock=np.array([len(group.claims.members)], np.int64),
        sizes=np.bincount(owners, minlength=len(group.ids)).astype(np.int64),
        ranking=np.empty(0, np.int64),
        place=np.empty(0, np.int64),
    )
    return ranked(lists, group.rank, np.ones(len(group.ids), np.bool_))


def ranked(lists: Lists, rank: Int64s, active: NDArray[np.bool_]) -> Lists:
    """The same lists with a ranking of those that are active; the rest share their arrays."""
    members = np.flatnonzero(active)
    ranking = members[np.lexsort((rank[members], lists.sizes[members]))]
    place = np.full(len(active), -1, np.int64)
    place[ranking] = np.arange(len(ranking))
    return lists._replace(ranking=ranking, place=place)


def withheld(group: StickyGroup, lists: Lists, order: MapOrder) -> NDArray[np.bool_]:
    """What its holder did not own, and another owned and does not hold: it must be given up first.

    Ownership is what members say, of whatever generation.

    Returns
    -------
    (2, numbers) bool : of partitions and of their twins, those that are left out.
    """
    members, numbers = group.claims.members, group.claims.partitions
    holders = np.stack([lists.holder, lists.twin_holder])
    is_mine = members == holders[:, numbers]
    owned = np.zeros(holders.shape, np.bool_)
    for place in (0, 1):
        owned[place, numbers[is_mine[place]]] = True
    revoked = np.zeros(len(lists.holder), np.bool_)
    revoked[numbers[~is_mine.any(axis=0)]] = True
    added = (holders != NOBODY) & ~owned
    left_out: NDArray[np.bool_] = added & revoked
    for number in np.flatnonzero(left_out.all(axis=0)).tolist():
        left_out[:, number] = False
        left_out[_waiting_twin(lists, order, number), number] = True
    return left_out


def _waiting_twin(lists: Lists, order: MapOrder, number: int) -> int:
    """Which of two mentions of a partition Kafka removes: the later list's, or the first in one list."""
    if lists.holder[number] == lists.twin_holder[number]:
        return int(lists.twin_stamp[number] < lists.stamp[number])
    return int(order.in_the_end(lists.twin_holder[number]) > order.in_the_end(lists.holder[number]))


def in_order(lists: Lists, left_out: NDArray[np.bool_]) -> tuple[Int64s, Int64s]:
    """Each member's list: offsets (members + 1,) and the partitions by number."""
    holders = np.stack([lists.holder, lists.twin_holder])
    listed = (holders != NOBODY) & ~left_out
    owners = holders[listed]
    stamps = np.stack([lists.stamp, lists.twin_stamp])[listed]
    numbers = np.nonzero(listed)[1]
    offsets = np.concatenate([np.zeros(1, np.int64), np.cumsum(np.bincount(owners, minlength=len(lists.sizes)))])
    return offsets, numbers[np.lexsort((stamps, owners))]
