"""The optimal assignment of a group: balance first, then reads in rack, then the fewest moves.

Hard constraints: every partition with a subscriber is read by exactly one of its subscribers.
Goals, each exactly reached among the assignments that are optimal for all goals before it:

1. the fairest loads, as `fair_shares` defines them, for different subscriptions too;
2. the most partitions (or the most weight: bytes/s) read by a member whose rack contains a replica;
3. the fewest partitions that move from the member that owns them to another.

The second and third are minimum-cost flows. Partitions are units of flow: those with the same topic class, racks, owner
and weight are one node, since exchanging them changes none of the goals:

    partitions with an owner ──(stay: free)──────────────────────────────────────────────────→ owner ──→ sink
        └──(move: 1)──→ pool ──(out of rack: weight)──→ topic class in a rack ──→ members of a rack ──→ member ──┘

Partitions without an owner start at their pool; staying with an owner in another rack costs the weight as well. A
member gets `high` or `high` − 1 partitions of its share, and arcs exist only within a share, so that the flows are
exactly the fairest assignments. 10⁵ partitions of 1,000 members are some thousand nodes.

Complexity: one minimum-cost flow for each of two costs, over O(classes · racks + members) nodes.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from app.core.certificate import Certificate
from app.core.flow import Network, largest_cost, min_cost_flow
from app.core.groups.arrays.owned import owning_members
from app.core.groups.arrays.partition_table import (
    PartitionTable,
    Weights,
    assignment_of,
    partition_table,
    weights_of_rows,
)
from app.core.groups.arrays.racks import RackTable, rack_table
from app.core.groups.arrays.subscriptions import NO_CLASS, SubscriptionClasses, subscription_classes
from app.core.groups.model import GroupAssignment, GroupMetadata, Member
from app.core.groups.optimum.fair_shares import Share, fair_shares
from app.core.model import NO_MEMBER, NO_RACK, Bools, Int32s, Int64s
from app.errors.requests import LimitExceeded


@dataclass(frozen=True, slots=True, eq=False)
class OptimumProblem:
    """A group as arrays.

    Parameters
    ----------
    owners : (rows,) int32 the member that owns each row now, or `NO_MEMBER`.
    worth : (rows,) int64 weight of reading each row in rack.
    """

    table: PartitionTable
    classes: SubscriptionClasses
    racks: RackTable
    owners: Int32s = field(repr=False)
    worth: Int64s = field(repr=False)


@dataclass(frozen=True, slots=True, eq=False)
class OptimalNetwork:
    """The network, the two costs of its arcs, and the node at which each row starts.

    Parameters
    ----------
    out_of_rack : (arcs,) int64 cost: the weight that a unit of flow on the arc reads out of rack.
    moving : (arcs,) int64 cost: 1 if a unit of flow on the arc is a partition that moves.
    moved_anyway : owned partitions that their owners keep in none of the fairest assignments.
    layers : the first node of each layer. Arcs lead from a layer to a later one; the last two are members and the sink.
    """

    flow: Network
    out_of_rack: Int64s
    moving: Int64s
    moved_anyway: int
    layers: tuple[int, ...]
    _start_of_row: Int64s = field(repr=False)
    """(rows,) int64 nodes; `_UNREAD` if the topic has no subscriber."""

    def readers_of_rows(self, amounts: Int64s) -> Int32s:
        """The member that reads each row under a flow: (rows,) int32 indices of members, or `NO_MEMBER`.

        The rows at a node are interchangeable: they follow the node's arcs, both in ascending order.

        Parameters
        ----------
        amounts : (arcs,) int64 flow on each arc.
        """
        node_of_row = self._start_of_row.copy()
        tails, heads = self.flow.tails, self.flow.heads
        for first, end in zip(self.layers[:-2], self.layers[1:-1], strict=True):
            arcs = np.flatnonzero((tails >= first) & (tails < end))
            arcs = arcs[np.argsort(tails[arcs], kind="stable")]
            rows = np.flatnonzero((node_of_row >= first) & (node_of_row < end))
            rows = rows[np.argsort(node_of_row[rows], kind="stable")]
            node_of_row[rows] = np.repeat(heads[arcs], amounts[arcs])
        return np.where(node_of_row == _UNREAD, NO_MEMBER, node_of_row - self.layers[-2]).astype(np.int32)


_UNREAD = -1


@dataclass(frozen=True, slots=True, eq=False)
class _EqualityClasses:
    """Classes of items with equal keys.

    Parameters
    ----------
    number : (items,) the class of each item.
    example : (classes,) one item of each class.
    size : (classes,) number of items.
    """

    number: Int64s
    example: Int64s
    size: Int64s

    @classmethod
    def by(cls, *keys: NDArray[np.integer]) -> "_EqualityClasses":
        """Items are in one class if all their keys are equal; classes are numbered in ascending order of the keys."""
        number = np.zeros(len(keys[0]), np.int64)
        for key in keys:
            values, inverse = np.unique(key, return_inverse=True)
            # Numbered anew with each key, so that the product stays within 64 bits.
            _, number = np.unique(number * len(values) + inverse, return_inverse=True)
        _, example, size = np.unique(number, return_index=True, return_counts=True)
        return cls(number, example.astype(np.int64), size.astype(np.int64))


@dataclass(frozen=True, slots=True, eq=False)
class _Partitions:
    """The rows with subscribers, as classes.

    Parameters
    ----------
    rows : (subscribed,) int64.
    topic_class : (subscribed,) int32.
    owner : (subscribed,) int32; `NO_MEMBER` if the row has no owner, or one that cannot keep it.
    pools : rows of one topic class, rack set and worth.
    owned : indices into `rows` of rows with an owner.
    staying : of those, the rows of one pool and owner.
    """

    rows: Int64s
    topic_class: Int32s
    owner: Int32s
    pools: _EqualityClasses
    owned: Int64s
    staying: _EqualityClasses

    @classmethod
    def of(cls, problem: OptimumProblem, within: Bools) -> "_Partitions":
        """Sort rows into classes; `within` : (topic classes, member classes) bool, as `_within_shares` returns it."""
        classes = problem.classes.topic_class[problem.table.topic_of_rows()]
        rows = np.flatnonzero(classes != NO_CLASS)
        topic_class = classes[rows]
        owner = problem.owners[rows]
        # A member without a class has no column; the last column is False for it.
        keeps = np.append(within, np.zeros((len(within), 1), np.bool_), axis=1)
        owner = np.where(keeps[topic_class, problem.classes.member_class[owner]], owner, NO_MEMBER).astype(np.int32)
        owner[problem.owners[rows] == NO_MEMBER] = NO_MEMBER
        pools = _EqualityClasses.by(topic_class, *_rack_sets(problem.racks, rows), problem.worth[rows])
        owned = np.flatnonzero(owner != NO_MEMBER)
        return cls(rows, topic_class, owner, pools, owned, _EqualityClasses.by(pools.number[owned], owner[owned]))

    def starts(self) -> Int64s:
        """The node at which each row starts: of its pool and owner or, without an owner, of its pool."""
        starts = self.pools.number + len(self.staying.size)
        starts[self.owned] = self.staying.number
        return starts


@dataclass(frozen=True, slots=True, eq=False)
class _Members:
    """The members with topics, as classes of the same topics and rack, and the arcs that lead to them.

    Parameters
    ----------
    members : (with topics,) int64.
    rack_classes : of those, the members of one member class and rack.
    outlet_of_arc, rack_class_of_arc : (arcs,) the arcs from outlets to rack classes; an outlet is a topic class as read
        in one rack.
    outlet_topic_class, outlet_rack : (outlets,) by ascending topic class.
    """

    members: Int64s
    rack_classes: _EqualityClasses
    outlet_of_arc: Int64s
    rack_class_of_arc: Int64s
    outlet_topic_class: Int64s
    outlet_rack: Int32s

    @classmethod
    def of(cls, problem: OptimumProblem, within: Bools) -> "_Members":
        """Sort members into classes."""
        member_class, rack = problem.classes.member_class, problem.racks.of_member
        members = np.flatnonzero(member_class != NO_CLASS)
        rack_classes = _EqualityClasses.by(member_class[members], rack[members])
        example = members[rack_classes.example]
        topic_class, rack_class_of_arc = np.nonzero(within[:, member_class[example]])
        racks = rack[example][rack_class_of_arc]
        outlet = _EqualityClasses.by(topic_class, racks)
        return cls(
            members, rack_classes, outlet.number, rack_class_of_arc, topic_class[outlet.example], racks[outlet.example]
        )


@dataclass(slots=True)
class _Arcs:
    """Arcs, one batch after another: tails, heads, capacities, weight out of rack, moves."""

    batches: list[tuple[NDArray[np.integer], ...]] = field(default_factory=list)

    def add(
        self, tails: Int64s, heads: Int64s, capacities: Int64s | int, *, weight: Int64s | int = 0, moving: int = 0
    ) -> None:
        """Add one arc for each pair of tail and head."""
        self.batches.append(np.broadcast_arrays(tails, heads, capacities, weight, moving))

    def joined(self) -> list[Int64s]:
        """The five columns of all arcs that can carry something."""
        columns = [np.concatenate(column).astype(np.int64) for column in zip(*self.batches, strict=True)]
        usable = columns[2] > 0
        return [column[usable] for column in columns]


def optimal_network(problem: OptimumProblem, shares: Sequence[Share]) -> OptimalNetwork:
    """Build the network whose flows are exactly the assignments of the fairest loads."""
    within = _within_shares(problem.classes, shares)
    partitions, targets = _Partitions.of(problem, within), _Members.of(problem, within)
    members = len(problem.racks.of_member)
    counts = (len(partitions.staying.size), len(partitions.pools.size), len(targets.outlet_rack))
    layers = (0, *np.cumsum([*counts, len(targets.rack_classes.size), members]).tolist())
    arcs = _Arcs()
    _add_from_owned(arcs, problem, partitions, layers)
    _add_to_outlets(arcs, problem, partitions, targets, layers)
    _, _, outlets, rack_classes, first_member, sink = layers
    arcs.add(outlets + targets.outlet_of_arc, rack_classes + targets.rack_class_of_arc, len(partitions.rows))
    arcs.add(rack_classes + targets.rack_classes.number, first_member + targets.members, len(partitions.rows))
    low, high, above = _load_bounds(problem.classes, shares)
    arcs.add(first_member + np.arange(members), np.full(members, sink), high - low)
    tails, heads, capacities, out_of_rack, moving = arcs.joined()
    starts = partitions.starts()
    supplies = np.bincount(starts, minlength=sink + 1).astype(np.int64)
    supplies[first_member:sink] = -low
    supplies[sink] = -above
    start_of_row = np.full(problem.table.rows, _UNREAD, np.int64)
    start_of_row[partitions.rows] = starts
    had_owner = np.count_nonzero(problem.owners[partitions.rows] != NO_MEMBER)
    return OptimalNetwork(
        flow=Network(supplies, tails.astype(np.int32), heads.astype(np.int32), capacities),
        out_of_rack=out_of_rack,
        moving=moving,
        moved_anyway=int(had_owner) - len(partitions.owned),
        layers=layers,
        _start_of_row=start_of_row,
    )


def _add_from_owned(arcs: _Arcs, problem: OptimumProblem, partitions: _Partitions, layers: tuple[int, ...]) -> None:
    """From rows with an owner: to the owner, or to all rows that are pools, which is a move."""
    places = partitions.owned[partitions.staying.example]
    rows, owner = partitions.rows[places], partitions.owner[places].astype(np.int64)
    in_rack = problem.racks.is_in_rack(rows, problem.racks.of_member[owner])
    nodes, sizes = np.arange(len(places)), partitions.staying.size
    arcs.add(nodes, layers[4] + owner, sizes, weight=np.where(in_rack, 0, problem.worth[rows]))
    arcs.add(nodes, layers[1] + partitions.pools.number[places], sizes, moving=1)


def _add_to_outlets(
    arcs: _Arcs, problem: OptimumProblem, partitions: _Partitions, targets: _Members, layers: tuple[int, ...]
) -> None:
    """From pools to every outlet of their topic class."""
    places = partitions.pools.example
    topic_class = partitions.topic_class[places]
    first = np.searchsorted(targets.outlet_topic_class, topic_class)
    counts = np.searchsorted(targets.outlet_topic_class, topic_class, side="right") - first
    pool = np.repeat(np.arange(len(places)), counts)
    outlet = np.arange(len(pool)) - np.repeat(np.cumsum(counts) - counts - first, counts)
    rows = partitions.rows[places][pool]
    in_rack = problem.racks.is_in_rack(rows, targets.outlet_rack[outlet])
    weight = np.where(in_rack, 0, problem.worth[rows])
    arcs.add(layers[1] + pool, layers[2] + outlet, partitions.pools.size[pool], weight=weight)


def _within_shares(classes: SubscriptionClasses, shares: Sequence[Share]) -> Bools:
    """(topic classes, member classes) bool: whether the members read the topics in some fairest assignment."""
    of_topic, of_member = np.empty(len(classes.partitions), np.int64), np.empty(len(classes.members), np.int64)
    for number, share in enumerate(shares):
        of_topic[share.topic_classes] = number
        of_member[share.member_classes] = number
    within: Bools = classes.subscribes & (of_topic[:, None] == of_member[None, :])
    return within


def _load_bounds(classes: SubscriptionClasses, shares: Sequence[Share]) -> tuple[Int64s, Int64s, int]:
    """Least and most partitions of each member, two (members,) int64, and the number of partitions above the least."""
    low, high = np.zeros(len(classes.members) + 1, np.int64), np.zeros(len(classes.members) + 1, np.int64)
    for share in shares:
        low[share.member_classes], high[share.member_classes] = share.low, share.high
    above = sum(share.partitions - share.low * share.members for share in shares)
    # The last entry of both is for members without a class, which read nothing.
    return low[classes.member_class], high[classes.member_class], above


def _rack_sets(racks: RackTable, rows: Int64s) -> list[Int32s]:
    """Keys that are equal if rows have replicas in the same racks, in any order."""
    racks_of_rows = np.sort(racks.of_replicas[:, rows], axis=0)
    racks_of_rows[1:][racks_of_rows[1:] == racks_of_rows[:-1]] = NO_RACK
    return list(np.sort(racks_of_rows, axis=0))


SOLVER = "ortools min-cost flow"


@dataclass(frozen=True, slots=True, eq=False)
class Optimum:
    """The optimal assignment, its measures and their certificates.

    Parameters
    ----------
    in_rack : partitions read in rack; their weight if weights are given.
    moved : partitions that had an owner among the members and have another one.
    certificate : of the weight that is read out of rack, then of the moves.
    moves : the second of these certificates.
    """

    assignment: GroupAssignment
    in_rack: int
    moved: int
    certificate: Certificate[int]
    moves: Certificate[int]


def assign(members: Sequence[Member], metadata: GroupMetadata) -> GroupAssignment:
    """The assignment of `optimum`: each member's partitions by topic name, ascending within a topic.

    No assignor of Kafka returns it. It is a reference for them, or the input of a custom assignor.

    Examples
    --------
    >>> import numpy as np
    >>> from app.core.groups.model import GroupMetadata, Member, TopicMetadata
    >>> t = TopicMetadata("t", np.array([[0], [1], [0], [1]], np.int32))
    >>> members = [Member("A", ("t",), rack_id="a"), Member("B", ("t",), rack_id="b")]
    >>> answer = assign(members, GroupMetadata({0: "a", 1: "b"}, {"t": t}))
    >>> answer.offsets.tolist(), answer.partitions.tolist()
    ([0, 2, 4], [0, 2, 1, 3])
    """
    return optimum(members, metadata).assignment


def optimum(members: Sequence[Member], metadata: GroupMetadata, *, weights: Weights | None = None) -> Optimum:
    """Find the optimal assignment, with its certificate.

    The same input gives the same assignment; among equally good ones the choice is arbitrary.

    Parameters
    ----------
    weights : of reading each partition in rack, such as bytes/s; None for 1 each. Balance always counts partitions;
        `by_load` balances weight.

    Raises
    ------
    LimitExceeded : if a weight is so large that sums over the group exceed 64 bits.
    """
    table = partition_table(metadata)
    classes = subscription_classes(members, table)
    shares = fair_shares(classes)
    worth = np.ones(table.rows, np.int64) if weights is None else weights_of_rows(table, weights)
    problem = OptimumProblem(
        table, classes, rack_table(members, metadata, table), owning_members(table, members), worth
    )
    network = optimal_network(problem, shares)
    _check_weights(worth, len(network.flow.supplies))
    flow = min_cost_flow(network.flow, (network.out_of_rack, network.moving))
    reader_of_row = network.readers_of_rows(flow.amounts)
    rows = np.flatnonzero(reader_of_row != NO_MEMBER)
    in_rack = int(worth[rows][problem.racks.is_in_rack(rows, problem.racks.of_member[reader_of_row[rows]])].sum())
    owners = problem.owners[rows]
    moved = int(np.count_nonzero((owners != NO_MEMBER) & (owners != reader_of_row[rows])))
    out_of_rack = int(worth[rows].sum()) - in_rack
    moves = Certificate("moved partitions", moved, flow.lower_bounds[1] + network.moved_anyway, SOLVER)
    return Optimum(
        assignment=assignment_of(table, reader_of_row, [member.id for member in members]),
        in_rack=in_rack,
        moved=moved,
        certificate=Certificate("weight read out of rack", out_of_rack, flow.lower_bounds[0], SOLVER, then=moves),
        moves=moves,
    )


def _check_weights(worth: np.ndarray[tuple[int], np.dtype[np.int64]], nodes: int) -> None:
    largest, limit = int(worth.max(initial=0)), largest_cost(nodes)
    if largest > limit:
        raise LimitExceeded(
            f"a partition weighs {largest}; in a group of this size weights up to {limit} can be compared exactly",
            weight=largest,
            limit=limit,
        )
