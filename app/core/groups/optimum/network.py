"""The optimum's flow network, and back from its flow to who reads which partition."""

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from app.core.flow import Network
from app.core.groups.arrays.partition_table import NOBODY, PartitionTable
from app.core.groups.arrays.rack_match import NO_RACK, RackMatch
from app.core.groups.arrays.readership import NO_CLASS, Readership
from app.core.groups.optimum.fair_shares import Share
from app.core.model import Int32s, Int64s


@dataclass(frozen=True, slots=True, eq=False)
class Group:
    """What there is to assign.

    Parameters
    ----------
    owned : (rows,) int32 the member that has each row now, or `NOBODY`. worth : (rows,) int64 of reading it in rack.
    """

    table: PartitionTable
    readers: Readership
    racks: RackMatch
    owned: Int32s = field(repr=False)
    worth: Int64s = field(repr=False)


@dataclass(frozen=True, slots=True, eq=False)
class OptimalNetwork:
    """The network, the two costs of its arcs, and which rows start where.

    Parameters
    ----------
    out_of_rack, moving : (arcs,) int64: the weight that a unit on the arc reads out of rack, and whether it moves.
    moved_anyway : owned partitions that their owners keep in none of the fairest assignments.
    layers : the first node of each layer. Arcs lead from a layer to a later one; the last two are members and the sink.
    """

    flow: Network
    out_of_rack: Int64s
    moving: Int64s
    moved_anyway: int
    layers: tuple[int, ...]
    _start_of_row: Int64s = field(repr=False)
    """(rows,) int64 nodes; `_UNREAD` where nobody subscribes."""

    def carried_out(self, amounts: Int64s) -> Int32s:
        """Who reads each row if so much flows on each arc: (rows,) int32 indices of members, or `NOBODY`.

        The rows at a node are alike: they are handed on in their order along the node's arcs in theirs.
        """
        at = self._start_of_row.copy()
        tails, heads = self.flow.tails, self.flow.heads
        for first, end in zip(self.layers[:-2], self.layers[1:-1], strict=True):
            arcs = np.flatnonzero((tails >= first) & (tails < end))
            arcs = arcs[np.argsort(tails[arcs], kind="stable")]
            here = np.flatnonzero((at >= first) & (at < end))
            here = here[np.argsort(at[here], kind="stable")]
            at[here] = np.repeat(heads[arcs], amounts[arcs])
        return np.where(at == _UNREAD, NOBODY, at - self.layers[-2]).astype(np.int32)


_UNREAD = -1


@dataclass(frozen=True, slots=True, eq=False)
class _Alike:
    """Classes of things: `number` is each thing's class, `example` one thing of each class, `size` how many it has."""

    number: Int64s
    example: Int64s
    size: Int64s

    @classmethod
    def by(cls, *keys: NDArray[np.integer]) -> "_Alike":
        """Things are alike if all their keys are; classes are numbered in ascending order of the keys."""
        number = np.zeros(len(keys[0]), np.int64)
        for key in keys:
            values, place = np.unique(key, return_inverse=True)
            # Numbered anew with each key, so that the product stays within 64 bits.
            _, number = np.unique(number * len(values) + place, return_inverse=True)
        _, example, size = np.unique(number, return_index=True, return_counts=True)
        return cls(number, example.astype(np.int64), size.astype(np.int64))


@dataclass(frozen=True, slots=True, eq=False)
class _Partitions:
    """The rows that somebody reads, as classes.

    Parameters
    ----------
    rows : (read,) int64; topic_class, owner : (read,) of each; the owner is `NOBODY` where it cannot keep the row.
    alike : rows of one topic class, rack set and worth. owned : places in `rows` that have an owner.
    staying : of those, the rows that are alike and have the same owner.
    """

    rows: Int64s
    topic_class: Int32s
    owner: Int32s
    alike: _Alike
    owned: Int64s
    staying: _Alike

    @classmethod
    def of(cls, group: Group, within: NDArray[np.bool_]) -> "_Partitions":
        """Sort a group's rows into classes; `within` says which topic classes stay within whose shares."""
        readers = group.readers
        classes = readers.topic_class[group.table.topic_of_rows()]
        rows = np.flatnonzero(classes != NO_CLASS)
        topic_class = classes[rows]
        owner = group.owned[rows]
        # A member without a class has no column; the one added last says that it keeps nothing.
        keeps = np.append(within, np.zeros((len(within), 1), np.bool_), axis=1)
        owner = np.where(keeps[topic_class, readers.member_class[owner]], owner, NOBODY).astype(np.int32)
        owner[group.owned[rows] == NOBODY] = NOBODY
        alike = _Alike.by(topic_class, *_rack_sets(group.racks, rows), group.worth[rows])
        owned = np.flatnonzero(owner != NOBODY)
        return cls(rows, topic_class, owner, alike, owned, _Alike.by(alike.number[owned], owner[owned]))

    def starts(self) -> Int64s:
        """The node at which each row starts: its class and owner, or where it has none, its class among all."""
        starts = self.alike.number + len(self.staying.size)
        starts[self.owned] = self.staying.number
        return starts


@dataclass(frozen=True, slots=True, eq=False)
class _Readers:
    """The members in circles of the same topics and rack, and what leads to them.

    Parameters
    ----------
    members : those who read something. circle : of them, those of one member class and rack.
    outlet_of_arc, circle_of_arc : which circles an outlet leads to; an outlet is a topic class as read in one rack.
    outlet_topic_class, outlet_rack : of each outlet, by ascending topic class.
    """

    members: Int64s
    circle: _Alike
    outlet_of_arc: Int64s
    circle_of_arc: Int64s
    outlet_topic_class: Int64s
    outlet_rack: Int32s

    @classmethod
    def of(cls, group: Group, within: NDArray[np.bool_]) -> "_Readers":
        """Sort a group's members into circles."""
        member_class, rack = group.readers.member_class, group.racks.of_member
        members = np.flatnonzero(member_class != NO_CLASS)
        circle = _Alike.by(member_class[members], rack[members])
        example = members[circle.example]
        topic_class, circle_of_arc = np.nonzero(within[:, member_class[example]])
        racks = rack[example][circle_of_arc]
        outlet = _Alike.by(topic_class, racks)
        return cls(members, circle, outlet.number, circle_of_arc, topic_class[outlet.example], racks[outlet.example])


@dataclass(slots=True)
class _Arcs:
    """Arcs as they are laid, kind after kind: tails, heads, capacities, weight out of rack, moves."""

    kinds: list[tuple[NDArray[np.integer], ...]] = field(default_factory=list)

    def lay(
        self, tails: Int64s, heads: Int64s, capacities: Int64s | int, *, weight: Int64s | int = 0, moving: int = 0
    ) -> None:
        """Lay arcs, from tails to heads one by one."""
        self.kinds.append(np.broadcast_arrays(tails, heads, capacities, weight, moving))

    def joined(self) -> list[Int64s]:
        """The five columns of all arcs that can carry something."""
        columns = [np.concatenate(column).astype(np.int64) for column in zip(*self.kinds, strict=True)]
        usable = columns[2] > 0
        return [column[usable] for column in columns]


def optimal_network(group: Group, shares: Sequence[Share]) -> OptimalNetwork:
    """Build the network whose flows are exactly the assignments of the fairest loads."""
    within = _within_shares(group.readers, shares)
    partitions, readers = _Partitions.of(group, within), _Readers.of(group, within)
    members = len(group.racks.of_member)
    counts = (len(partitions.staying.size), len(partitions.alike.size), len(readers.outlet_rack))
    layers = (0, *np.cumsum([*counts, len(readers.circle.size), members]).tolist())
    arcs = _Arcs()
    _lay_from_owned(arcs, group, partitions, layers)
    _lay_to_outlets(arcs, group, partitions, readers, layers)
    _, _, outlets, circles, first_member, sink = layers
    arcs.lay(outlets + readers.outlet_of_arc, circles + readers.circle_of_arc, len(partitions.rows))
    arcs.lay(circles + readers.circle.number, first_member + readers.members, len(partitions.rows))
    low, high, above = _loads(group.readers, shares)
    arcs.lay(first_member + np.arange(members), np.full(members, sink), high - low)
    tails, heads, capacities, out_of_rack, moving = arcs.joined()
    starts = partitions.starts()
    supplies = np.bincount(starts, minlength=sink + 1).astype(np.int64)
    supplies[first_member:sink] = -low
    supplies[sink] = -above
    start_of_row = np.full(group.table.rows, _UNREAD, np.int64)
    start_of_row[partitions.rows] = starts
    had_owner = np.count_nonzero(group.owned[partitions.rows] != NOBODY)
    return OptimalNetwork(
        flow=Network(supplies, tails.astype(np.int32), heads.astype(np.int32), capacities),
        out_of_rack=out_of_rack,
        moving=moving,
        moved_anyway=int(had_owner) - len(partitions.owned),
        layers=layers,
        _start_of_row=start_of_row,
    )


def _lay_from_owned(arcs: _Arcs, group: Group, partitions: _Partitions, layers: tuple[int, ...]) -> None:
    """From rows with an owner: to the owner, or to all rows that are alike, which is a move."""
    places = partitions.owned[partitions.staying.example]
    rows, owner = partitions.rows[places], partitions.owner[places].astype(np.int64)
    in_rack = group.racks.is_in_rack(rows, group.racks.of_member[owner])
    nodes, sizes = np.arange(len(places)), partitions.staying.size
    arcs.lay(nodes, layers[4] + owner, sizes, weight=np.where(in_rack, 0, group.worth[rows]))
    arcs.lay(nodes, layers[1] + partitions.alike.number[places], sizes, moving=1)


def _lay_to_outlets(
    arcs: _Arcs, group: Group, partitions: _Partitions, readers: _Readers, layers: tuple[int, ...]
) -> None:
    """From rows that are alike to every outlet of their topic class."""
    places = partitions.alike.example
    topic_class = partitions.topic_class[places]
    first = np.searchsorted(readers.outlet_topic_class, topic_class)
    counts = np.searchsorted(readers.outlet_topic_class, topic_class, side="right") - first
    pool = np.repeat(np.arange(len(places)), counts)
    outlet = np.arange(len(pool)) - np.repeat(np.cumsum(counts) - counts - first, counts)
    rows = partitions.rows[places][pool]
    in_rack = group.racks.is_in_rack(rows, readers.outlet_rack[outlet])
    weight = np.where(in_rack, 0, group.worth[rows])
    arcs.lay(layers[1] + pool, layers[2] + outlet, partitions.alike.size[pool], weight=weight)


def _within_shares(readers: Readership, shares: Sequence[Share]) -> NDArray[np.bool_]:
    """(topic classes, member classes): who reads what in some fairest assignment."""
    of_topic, of_member = np.empty(len(readers.partitions), np.int64), np.empty(len(readers.members), np.int64)
    for number, share in enumerate(shares):
        of_topic[share.topic_classes] = number
        of_member[share.member_classes] = number
    within: NDArray[np.bool_] = readers.reads & (of_topic[:, None] == of_member[None, :])
    return within


def _loads(readers: Readership, shares: Sequence[Share]) -> tuple[Int64s, Int64s, int]:
    """The least and the most that each member reads, (members,) int64, and how many partitions are above the least."""
    low, high = np.zeros(len(readers.members) + 1, np.int64), np.zeros(len(readers.members) + 1, np.int64)
    for share in shares:
        low[share.member_classes], high[share.member_classes] = share.low, share.high
    above = sum(share.partitions - share.low * share.members for share in shares)
    # A member without a class is at the end of both, with nothing.
    return low[readers.member_class], high[readers.member_class], above


def _rack_sets(racks: RackMatch, rows: Int64s) -> list[Int32s]:
    """Keys that are equal where rows have replicas in the same racks, whatever their order."""
    held = np.sort(racks.of_replicas[:, rows], axis=0)
    held[1:][held[1:] == held[:-1]] = NO_RACK
    return list(np.sort(held, axis=0))
