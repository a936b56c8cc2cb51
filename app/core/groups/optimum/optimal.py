"""The best a group could have: balanced first, then read in rack as far as can be, then moved as little as can be.

Hard constraints: every partition that somebody subscribes to is read by exactly one of its subscribers.
Goals, each exactly reached among the assignments that are best in all before it:

1. the fairest loads: `fair_shares` says what that is, with unequal subscriptions too;
2. the most partitions (or the most weight: bytes/s) read by a member whose rack holds a replica;
3. the fewest partitions that go from one member to another, by what the members own.

The second and third are minimum-cost flows. Partitions are units of flow: those with the same topic class, racks, owner
and weight are one node, since exchanging them changes none of the goals:

    partitions with an owner ──(stay: free)──────────────────────────────────────────────────→ owner ──→ sink
        └──(move: 1)──→ partitions alike ──(out of rack: weight)──→ a rack ──→ members alike ──→ member ──┘

What has no owner starts at "partitions alike"; staying with an owner of another rack costs the weight as well. A
member takes `high` or `high` − 1 of its share, and arcs lead only within a share, so that exactly the fairest
assignments are flows. So 10⁵ partitions of 1,000 members are some thousand nodes.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from app.core.flow import Flow, largest_cost, min_cost_flow
from app.core.groups.arrays.partition_table import NOBODY, assignment_of, owners, partition_table
from app.core.groups.arrays.rack_match import rack_match
from app.core.groups.arrays.readership import readership
from app.core.groups.arrays.weights import Weights, weights_of_rows
from app.core.groups.model import GroupAssignment, GroupMetadata, Member
from app.core.groups.optimum.fair_shares import Share, fair_shares
from app.core.groups.optimum.network import Group, OptimalNetwork, optimal_network
from app.errors import LimitExceeded

SOLVER = "ortools min-cost flow"


@dataclass(frozen=True, slots=True)
class Certificate:
    """The proof that nothing is better, from the duals of the flows.

    Parameters
    ----------
    in_rack_bound : no assignment with the fairest loads reads more in rack. Weight, where weights were given.
    moved_bound : none of those that read so much in rack moves fewer partitions.
    optimal : whether both bounds are reached; gap : the part of the in-rack bound that is not, 0.0 where it is.
    """

    in_rack_bound: int
    moved_bound: int
    optimal: bool
    gap: float
    solver: str


@dataclass(frozen=True, slots=True, eq=False)
class Optimum:
    """The best assignment, and what it comes to.

    Parameters
    ----------
    in_rack : partitions read in rack; their weight where weights were given.
    moved : partitions that had an owner among the members and have another.
    spread : the largest difference between members of one share; at most 1.
    shares : who shares with whom: the members by index, and the loads `low` … `high` they can have.
    """

    assignment: GroupAssignment
    in_rack: int
    moved: int
    spread: int
    shares: tuple["SharedLoad", ...]
    certificate: Certificate


@dataclass(frozen=True, slots=True, eq=False)
class SharedLoad:
    """Members that share some topics among themselves, and how many partitions each of them reads at best."""

    members: Sequence[int] = field(repr=False)
    partitions: int
    low: int
    high: int


def assign(members: Sequence[Member], metadata: GroupMetadata) -> GroupAssignment:
    """The optimum's assignment: each member's partitions by topic name, ascending within.

    No Kafka assignor makes it. It can be handed to a group by an assignor that reads it, or be measured against.
    """
    return optimum(members, metadata).assignment


def optimum(members: Sequence[Member], metadata: GroupMetadata, *, weights: Weights | None = None) -> Optimum:
    """Find the best assignment, with its certificate.

    The same input gives the same assignment. Among equally good ones the choice is arbitrary.

    Parameters
    ----------
    weights : what reading each partition in rack is worth, as bytes/s; None: 1 each. Balance counts partitions all the
        same; `by_load` balances weight.

    Raises
    ------
    LimitExceeded : if a weight is so large that sums over the group leave 64 bits.
    """
    table = partition_table(metadata)
    readers = readership(members, table)
    shares = fair_shares(readers)
    worth = np.ones(table.rows, np.int64) if weights is None else weights_of_rows(table, weights)
    group = Group(table, readers, rack_match(members, metadata, table), owners(table, members), worth)
    network = optimal_network(group, shares)
    _check_weights(worth, len(network.flow.supplies))
    flow = min_cost_flow(network.flow, (network.out_of_rack, network.moving))
    held = network.carried_out(flow.amounts)
    rows = np.flatnonzero(held != NOBODY)
    in_rack = int(worth[rows][group.racks.is_in_rack(rows, group.racks.of_member[held[rows]])].sum())
    owned = group.owned[rows]
    moved = int(np.count_nonzero((owned != NOBODY) & (owned != held[rows])))
    loads = np.bincount(held[rows], minlength=len(members))
    shared = tuple(_shared_load(group, share) for share in shares)
    return Optimum(
        assignment=assignment_of(table, held, [member.id for member in members]),
        in_rack=in_rack,
        moved=moved,
        spread=max((int(np.ptp(loads[share.members])) for share in shared), default=0),
        shares=shared,
        certificate=_certificate(network, flow, int(worth[rows].sum()), in_rack, moved),
    )


def _check_weights(worth: np.ndarray[tuple[int], np.dtype[np.int64]], nodes: int) -> None:
    largest, limit = int(worth.max(initial=0)), largest_cost(nodes)
    if largest > limit:
        raise LimitExceeded(
            f"a partition weighs {largest}; in a group of this size weights up to {limit} can be compared exactly",
            weight=largest,
            limit=limit,
        )


def _shared_load(group: Group, share: Share) -> SharedLoad:
    members = np.flatnonzero(np.isin(group.readers.member_class, share.member_classes))
    return SharedLoad(members.tolist(), share.partitions, share.low, share.high)


def _certificate(network: OptimalNetwork, flow: Flow, total: int, in_rack: int, moved: int) -> Certificate:
    in_rack_bound = total - flow.lower_bounds[0]
    moved_bound = flow.lower_bounds[1] + network.moved_anyway
    return Certificate(
        in_rack_bound=in_rack_bound,
        moved_bound=moved_bound,
        optimal=in_rack == in_rack_bound and moved == moved_bound,
        gap=(in_rack_bound - in_rack) / in_rack_bound if in_rack_bound else 0.0,
        solver=SOLVER,
    )
