"""The sticky assignors for members that all subscribe to the same topics (constrained builder).

Every member gets minQuota = ⌊partitions / members⌋ partitions or one more; the number of members with one more is the
remainder. Within these quotas

1. a member keeps, of its owned partitions, those with the lowest ids (of equal ids, from the topics that sort
   first), up to maxQuota while members above minQuota are still expected, else up to minQuota. If racks decide,
   partitions without a replica in its rack do not count as owned;
2. if racks decide, the unassigned partitions go to members near them in turn: first to members below minQuota, then to
   those at it. Partitions with few members near them go first;
3. the rest goes to members in turn.

Ids and topics are visited in sorted order, owned partitions in the order of Kafka's map of owners.

Kafka searches linked lists; here arrays are searched, and only if a member in one of a partition's racks is below its
quota. The answer is the same, since the arrays contain the same members in the same order. O(partitions · racks), and
one pass over the members for each member that reaches its quota.

A claim to a partition that its topic does not have stays with its claimant. Kafka's comparison of all partitions with
the kept ones stops at the first of these, so that every later partition is assigned again, kept or not; if these exceed
the members' quotas, Kafka fails.

Source: KIP-54, KIP-881; `AbstractStickyAssignor.ConstrainedAssignmentBuilder` of Apache Kafka 4.0.
"""

import numpy as np

from app.core.counting_kernel import grouped
from app.core.groups.sticky_builders import constrained_kernel as kernel
from app.core.groups.sticky_builders.group import StickyGroup, count_failure
from app.core.model import NO_MEMBER, Int64s
from app.errors.kafka import KafkaError, NoMembers


def build(group: StickyGroup, *, cooperative: bool) -> tuple[Int64s, Int64s]:
    """Assign; if `cooperative`, withhold partitions that another member must first revoke.

    Returns
    -------
    offsets : (members + 1,) int64. numbers : (assigned,) int64 partitions by number, in the order of Kafka's lists.

    Raises
    ------
    NoMembers : if there are none.
    OwnedPartitionMissing, AssignorLosesCount : if Kafka's own code finds its bookkeeping wrong.
    """
    members, existing = len(group.ids), group.partitions.existing
    if members == 0:
        detail = "a group needs 1 member or more; 0 given"
        raise NoMembers(detail, kafka=KafkaError("ArithmeticException", "/ by zero"), path=("members",))
    bounds, owned, revoked_by = _owned(group)
    under, exact, sizes = (np.empty(size, np.int64) for size in (members, 2 * members, members))
    numbers, owners = np.empty((2, len(owned) + existing), np.int64)
    quotas, progress = (existing // members, -(-existing // members), existing % members), np.zeros(6, np.int64)
    filling = kernel.Filling(*quotas, progress, under, exact, sizes, revoked_by, numbers, owners)
    kernel.keep_owned(group.owned_order, np.diff(bounds), filling)
    for candidates in (under[: progress[kernel.UNDER]], exact[: progress[kernel.EXACT]]):
        candidates[:] = candidates[np.argsort(group.rank[candidates])]
    kernel.keep(bounds, owned, filling)
    unassigned = _unassigned(group, numbers[: progress[kernel.LISTED]])
    if cooperative:
        revoked_by[group.claims.disputed] = members
    else:
        revoked_by[:] = NO_MEMBER
    racks = group.racks
    if racks is not None:
        _, unassigned = grouped(unassigned, racks.members_near[unassigned], members + 1)
        unassigned = kernel.assign_near(
            unassigned, racks.of_partition, racks.table.of_member, racks.table.count, filling
        )
    kernel.assign_in_turn(unassigned, filling)
    _verify(group, filling)
    return grouped(numbers[: progress[kernel.LISTED]], owners[: progress[kernel.LISTED]], members)


def _owned(group: StickyGroup) -> tuple[Int64s, Int64s, Int64s]:
    """Owned partitions as bounds and lists by member, and by partition the member that revokes it for its rack."""
    claims, partitions = group.claims, group.partitions
    revoked_by = np.full(len(partitions.topic_of), NO_MEMBER, np.int64)
    numbers = np.flatnonzero(claims.accepted >= 0)
    owner = claims.members[claims.accepted[numbers]]
    if group.racks is not None and len(numbers):
        is_away = group.racks.are_away(owner, numbers)
        revoked_by[numbers[is_away]] = owner[is_away]
        numbers, owner = numbers[~is_away], owner[~is_away]
    is_undisputed = ~claims.disputed[numbers]
    numbers, owner = numbers[is_undisputed], owner[is_undisputed]
    id_of = partitions.id_of
    if len(id_of) > partitions.existing:
        # Ids that are only claimed can be any int32; only their order matters.
        id_of = np.unique(id_of, return_inverse=True)[1].astype(np.int32)
        # The numbers of such partitions are last, and are sorted in among others of their topic.
        by_topic = np.lexsort((numbers, partitions.topic_of[numbers]))
        numbers, owner = numbers[by_topic], owner[by_topic]
    ids = id_of[numbers].astype(np.int64)
    _, order = grouped(np.arange(len(ids)), ids, int(ids.max(initial=0)) + 1)
    return *grouped(numbers[order], owner[order], len(group.ids)), revoked_by


def _unassigned(group: StickyGroup, kept: Int64s) -> Int64s:
    """Partitions that Kafka takes to be unassigned, by topic and id: int64 numbers."""
    partitions = group.partitions
    is_unassigned = np.ones(partitions.existing, np.bool_)
    is_unassigned[kept[kept < partitions.existing]] = False
    only_claimed = kept[kept >= partitions.existing]
    if len(only_claimed):
        first = only_claimed.min()  # they are numbered by topic, then by id
        is_unassigned[partitions.offsets[partitions.topic_of[first] + (partitions.id_of[first] >= 0)] :] = True
    return np.flatnonzero(is_unassigned)


def _verify(group: StickyGroup, filling: kernel.Filling) -> None:
    """Raise where Kafka's final checks fail."""
    message = None
    under = filling.under[: filling.progress[kernel.UNDER]]
    short = under[filling.sizes[under] != filling.low]
    if filling.progress[kernel.FAILED]:
        message = "No more unfilled consumers to be assigned."
    elif len(under) and filling.progress[kernel.OVER] != filling.expected:
        message = (
            "We haven't reached the expected number of members with more than the minQuota partitions, "
            "but no more partitions to be assigned"
        )
    elif len(short):
        name = group.ids[short[0]]
        message = f"Consumer: [{name}] doesn't reach minQuota partitions, and no more partitions to be assigned"
    if message is not None:
        raise count_failure(group, KafkaError("IllegalStateException", message))
