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

from app.core.certificate import Certificate
from app.core.flow import largest_cost, min_cost_flow
from app.core.groups.arrays.owned import owning_members
from app.core.groups.arrays.partition_table import Weights, assignment_of, partition_table, weights_of_rows
from app.core.groups.arrays.racks import rack_table
from app.core.groups.arrays.subscriptions import subscription_classes
from app.core.groups.model import GroupAssignment, GroupMetadata, Member
from app.core.groups.optimum.fair_shares import Share, fair_shares
from app.core.groups.optimum.network import OptimumProblem, optimal_network
from app.core.model import NO_MEMBER
from app.errors.requests import LimitExceeded

SOLVER = "ortools min-cost flow"


@dataclass(frozen=True, slots=True, eq=False)
class Optimum:
    """The optimal assignment, its measures and their certificates.

    Parameters
    ----------
    in_rack : partitions read in rack; their weight if weights are given.
    moved : partitions that had an owner among the members and have another one.
    spread : the largest difference between members of one share; at most 1.
    shares : the members that share topics, by index, and the loads `low` … `high` that they can have.
    certificate : of the weight that is read out of rack, then of the moves.
    moves : the second of these certificates.
    """

    assignment: GroupAssignment
    in_rack: int
    moved: int
    spread: int
    shares: tuple["SharedLoad", ...]
    certificate: Certificate[int]
    moves: Certificate[int]


@dataclass(frozen=True, slots=True, eq=False)
class SharedLoad:
    """Members that share some topics among themselves, and the bounds of their optimal loads in partitions."""

    members: Sequence[int] = field(repr=False)
    partitions: int
    low: int
    high: int


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
    loads = np.bincount(reader_of_row[rows], minlength=len(members))
    shared_loads = tuple(_shared_load(problem, share) for share in shares)
    return Optimum(
        assignment=assignment_of(table, reader_of_row, [member.id for member in members]),
        in_rack=in_rack,
        moved=moved,
        spread=max((int(np.ptp(loads[share.members])) for share in shared_loads), default=0),
        shares=shared_loads,
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


def _shared_load(problem: OptimumProblem, share: Share) -> SharedLoad:
    members = np.flatnonzero(np.isin(problem.classes.member_class, share.member_classes))
    return SharedLoad(members.tolist(), share.partitions, share.low, share.high)
