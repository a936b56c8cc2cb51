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

from dataclasses import dataclass

import numpy as np

from app.core.groups.sticky_builders import constrained_kernel as kernel
from app.core.groups.sticky_builders.group import StickyGroup, count_failure
from app.core.model import NO_MEMBER, Bools, Int64s
from app.errors.kafka import KafkaError, NoMembers


@dataclass(frozen=True, slots=True)
class Quotas:
    """A member gets `low` (minQuota) or `high` (maxQuota) partitions; `expected` members get more than `low`."""

    low: int
    high: int
    expected: int

    @classmethod
    def of(cls, partitions: int, members: int) -> "Quotas":
        """The quotas. Raises `NoMembers` if there are none."""
        if members == 0:
            raise NoMembers(
                "a group needs 1 member or more; 0 given",
                kafka=KafkaError("ArithmeticException", "/ by zero"),
                path=("members",),
            )
        return cls(partitions // members, -(-partitions // members), partitions % members)


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
    members = len(group.ids)
    quotas = Quotas.of(group.partitions.existing, members)
    bounds, lists, revoked_by = _owned(group)
    under, exact = np.empty(members, np.int64), np.empty(2 * members, np.int64)
    progress = np.zeros(6, np.int64)
    owned = np.diff(bounds)
    kept_counts = kernel.keep_owned(
        group.owned_order, owned, quotas.low, quotas.high, quotas.expected, under, exact, progress
    )
    for candidates, count in ((under, progress[kernel.UNDER]), (exact, progress[kernel.EXACT])):
        candidates[:count] = candidates[:count][np.argsort(group.rank[candidates[:count]])]
    is_free = np.ones(len(revoked_by), np.bool_)
    kernel.split(bounds, lists, kept_counts, is_free, revoked_by)
    unassigned = _unassigned(group, is_free)
    sizes, additions = kept_counts.copy(), np.empty((len(unassigned), 2), np.int64)
    racks = group.racks
    if racks is not None:
        unassigned = kernel.by_count(unassigned, racks.members_near, members)
        unassigned = kernel.assign_near(
            unassigned, racks.of_partition, racks.table.of_member, racks.table.count,
            quotas.low, quotas.high, quotas.expected, under, exact, sizes, additions, progress,
        )  # fmt: skip
    kernel.assign_in_turn(unassigned, quotas.low, quotas.high, under, exact, sizes, additions, progress)
    _verify(group, quotas, sizes, under[: progress[kernel.UNDER]], progress)
    additions = additions[: progress[kernel.ADDED]]
    nothing = np.full(len(revoked_by), NO_MEMBER, np.int64)
    waiting = kernel.withheld(additions, revoked_by, group.claims.disputed) if cooperative else nothing
    collected: tuple[Int64s, Int64s] = kernel.collect(bounds, lists, kept_counts, additions, waiting, sizes)
    return collected


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
    bounds, lists = kernel.owned_lists(numbers, owner, id_of, len(group.ids), int(id_of.max(initial=0)))
    return bounds, lists, revoked_by


def _unassigned(group: StickyGroup, is_free: Bools) -> Int64s:
    """Partitions that Kafka takes to be unassigned, by topic and id: int64 numbers; `is_free` : (numbers,) bool."""
    partitions = group.partitions
    only_claimed = partitions.existing + np.flatnonzero(~is_free[partitions.existing :])
    is_unassigned = is_free[: partitions.existing].copy()
    if len(only_claimed):
        # They are numbered by topic, then by id.
        first = only_claimed[0]
        is_unassigned[partitions.offsets[partitions.topic_of[first] + (partitions.id_of[first] >= 0)] :] = True
    unassigned: Int64s = np.flatnonzero(is_unassigned)
    return unassigned


def _verify(group: StickyGroup, quotas: Quotas, sizes: Int64s, under: Int64s, progress: Int64s) -> None:
    """Raise where Kafka's final checks fail."""
    message = None
    short = under[sizes[under] != quotas.low]
    if progress[kernel.FAILED]:
        message = "No more unfilled consumers to be assigned."
    elif len(under) and progress[kernel.OVER] != quotas.expected:
        message = (
            "We haven't reached the expected number of members with more than the minQuota partitions, "
            "but no more partitions to be assigned"
        )
    elif len(short):
        name = group.ids[short[0]]
        message = f"Consumer: [{name}] doesn't reach minQuota partitions, and no more partitions to be assigned"
    if message is not None:
        raise count_failure(group, KafkaError("IllegalStateException", message))
