"""A group balanced by load (lag, bytes/s, records/s) instead of by number of partitions, with a bound on the best.

To minimise the largest load over whole partitions is NP-hard: two members and a list of loads are the partition
problem. So this answers a good assignment, and a load that no assignment can stay below:

- what the members of some share would read if partitions could be cut to pieces, rounded up (`fair_shares` by load);
- the heaviest partition; and the two lightest of the n + 1 heaviest, of which n members must read two together.

Partitions are dealt out heaviest first. Each goes to a subscriber that reads no more than its own load over the least
loaded: if there is one, to its owner in a rack of its replicas, else to another in such a rack, else to its owner. The
lighter the partitions become, the closer the loads must be. Loads count first, numbers of partitions second, so that
partitions without any load are spread as well.

Source: the longest-processing-time rule is Graham's (1969); the relaxation is this project's.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from app.core.groups.arrays.partition_table import NOBODY, assignment_of, owners, partition_table
from app.core.groups.arrays.rack_match import rack_match
from app.core.groups.arrays.readership import NO_CLASS, Readership, readership
from app.core.groups.arrays.weights import Weights, weights_of_rows
from app.core.groups.model import GroupAssignment, GroupMetadata, Member
from app.core.groups.optimum.fair_shares import fair_shares
from app.core.model import Int64s
from app.errors import LimitExceeded

LARGEST_SUM = 1 << 61
"""Loads are added in 64 bits, each times the number of partitions; half of what fits leaves room for rounding."""


@dataclass(frozen=True, slots=True, eq=False)
class LoadBalance:
    """An assignment balanced by load, and how far it can be from the best.

    Parameters
    ----------
    largest_load : of a member. bound : no assignment's largest load is smaller.
    gap : (largest_load − bound) / bound; optimal : whether it is 0.
    in_rack, moved : partitions, as in `optimal.Optimum`; good, not proven.
    """

    assignment: GroupAssignment
    largest_load: int
    bound: int
    optimal: bool
    gap: float
    in_rack: int
    moved: int


def balance_by_load(members: Sequence[Member], metadata: GroupMetadata, load: Weights) -> LoadBalance:
    """Balance a group by load.

    Raises
    ------
    LimitExceeded : if the loads are so large that their sum, counted exactly, leaves 64 bits.
    """
    from app.core.groups.optimum.by_load_kernel import deal_out  # noqa: PLC0415 — numba takes most of a second to import

    table = partition_table(metadata)
    readers = readership(members, table)
    racks, owned = rack_match(members, metadata, table), owners(table, members)
    topic_class = readers.topic_class[table.topic_of_rows()]
    rows = np.flatnonzero(topic_class != NO_CLASS)
    loads = weights_of_rows(table, load)
    _check_loads(loads[rows])
    # Load first and number second, as one number.
    combined = loads * (len(rows) + 1) + 1
    class_of_arc, member_class = np.nonzero(readers.reads)
    starts, listed = _members_of(readers, class_of_arc, member_class)
    order = rows[np.argsort(-combined[rows], kind="stable")]
    held = deal_out(order, combined, topic_class, starts, listed, owned, racks.of_replicas, racks.of_member)
    per_member = np.zeros(len(members), np.int64)
    np.add.at(per_member, held[rows], loads[rows])
    largest, bound = int(per_member.max(initial=0)), _bound(readers, topic_class[rows], loads[rows])
    return LoadBalance(
        assignment=assignment_of(table, held, [member.id for member in members]),
        largest_load=largest,
        bound=bound,
        optimal=largest == bound,
        gap=(largest - bound) / bound if bound else 0.0,
        in_rack=int(np.count_nonzero(racks.is_in_rack(rows, racks.of_member[held[rows]]))),
        moved=int(np.count_nonzero((owned[rows] != NOBODY) & (owned[rows] != held[rows]))),
    )


def _check_loads(loads: Int64s) -> None:
    total, limit = float(loads.sum(dtype=np.float64)), LARGEST_SUM // (len(loads) + 1)
    if total > limit:
        raise LimitExceeded(
            f"the loads come to {total:.3g}; in a group of this size up to {limit} can be added exactly",
            load=total,
            limit=limit,
        )


def _members_of(readers: Readership, topic_class: Int64s, member_class: Int64s) -> tuple[Int64s, Int64s]:
    """The members that read each topic class, one list behind the other, and where each begins and ends."""
    by_class = np.argsort(readers.member_class, kind="stable")[np.count_nonzero(readers.member_class == NO_CLASS) :]
    ends = np.cumsum(readers.members)
    sizes = readers.members[member_class]
    places = np.arange(int(sizes.sum())) + np.repeat(
        (ends - readers.members)[member_class] - np.cumsum(sizes) + sizes, sizes
    )
    per_topic = np.zeros(len(readers.partitions), np.int64)
    np.add.at(per_topic, topic_class, sizes)
    return np.concatenate([np.zeros(1, np.int64), np.cumsum(per_topic)]), by_class[places]


def _bound(readers: Readership, topic_class: np.ndarray[tuple[int], np.dtype[np.int32]], loads: Int64s) -> int:
    by_class = np.zeros(len(readers.partitions), np.int64)
    np.add.at(by_class, topic_class, loads)
    members = int(readers.members.sum())
    heaviest = -np.sort(-loads)
    crowded = int(heaviest[members - 1] + heaviest[members]) if 0 < members < len(heaviest) else 0
    cut = max((share.high for share in fair_shares(replace(readers, partitions=by_class))), default=0)
    return max(cut, crowded, int(heaviest.max(initial=0)))
