"""The sticky assignors where all members subscribe to the same topics.

Every member gets ⌊partitions / members⌋ or one more; as many get one more as must. Within that

1. a member keeps of what it owns the lowest partition numbers (of equal ones those of the topics that sort first), up
   to the higher quota while there are members left that may reach it, else up to the lower. Where racks decide, what
   has no replica in its rack does not count as owned;
2. where racks decide, what is left goes to members near it in turn: first to those below the lower quota, then to those
   at it. Partitions that few members are near to go first;
3. the rest goes to members in turn.

Ids and topics are taken in sorted order, owned partitions in the order of Kafka's map of owners.

What Kafka looks for in linked lists is looked for in arrays, and not at all where no member of a partition's racks has
room; the answer is the same, since the lists hold the same members in the same order. O(partitions · racks), and for
each member that fills up one pass over the members.

A claim to a partition that its topic does not have stays with its claimant. Kafka's comparison of all partitions with
the kept ones stops at the first of these, so that every later one is given away again, kept or not; where that
is more than the members have room for, Kafka fails.

Source: KIP-54, KIP-881; `AbstractStickyAssignor.ConstrainedAssignmentBuilder` of Apache Kafka 4.0.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from app.core.groups.sticky_builders import constrained_kernel as kernel
from app.core.groups.sticky_builders.group import StickyGroup
from app.core.groups.sticky_builders.refusals import lost_count
from app.core.model import Int64s
from app.errors import KafkaError, NoMembers


@dataclass(frozen=True, slots=True)
class Quotas:
    """How many partitions a member gets: `low` or `high`; `expected` members get more than `low`."""

    low: int
    high: int
    expected: int

    @classmethod
    def of(cls, partitions: int, members: int) -> "Quotas":
        """Raises NoMembers where there are none."""
        if members == 0:
            raise NoMembers(
                "a group needs 1 member or more; 0 given",
                kafka=KafkaError("ArithmeticException", "/ by zero"),
                path=("members",),
            )
        return cls(partitions // members, -(-partitions // members), partitions % members)


def build(group: StickyGroup, *, cooperative: bool) -> tuple[Int64s, Int64s]:
    """Assign, and where `cooperative` withhold what another member must first give up.

    Returns
    -------
    offsets : (members + 1,) int64. numbers : (assigned,) int64 partitions by number, in the order of Kafka's lists.

    Raises
    ------
    NoMembers : where there are none.
    OwnedPartitionMissing, AssignorLosesCount : Kafka's own code finds its bookkeeping wrong.
    """
    members = len(group.ids)
    quotas = Quotas.of(group.partitions.known, members)
    bounds, lists, revoked_by = _owned(group)
    under, exact = np.empty(members, np.int64), np.empty(2 * members, np.int64)
    progress = np.zeros(6, np.int64)
    owned = np.diff(bounds)
    kept = kernel.keep_owned(group.owned_order, owned, quotas.low, quotas.high, quotas.expected, under, exact, progress)
    for names, count in ((under, progress[kernel.UNDER]), (exact, progress[kernel.EXACT])):
        names[:count] = names[:count][np.argsort(group.rank[names[:count]])]
    free = np.ones(len(revoked_by), np.bool_)
    kernel.split(bounds, lists, kept, free, revoked_by)
    left = _left(group, free)
    sizes = kept.copy()
    deals = np.empty((len(left), 2), np.int64)
    racks = group.racks
    if racks is not None:
        left = kernel.by_count(left, racks.members_near, members)
        left = kernel.deal_near(
            left, racks.of_partition, racks.of_member, racks.count, quotas.low, quotas.high, quotas.expected,
            under, exact, sizes, deals, progress,
        )  # fmt: skip
    kernel.deal_in_turn(left, quotas.low, quotas.high, under, exact, sizes, deals, progress)
    _verify(group, quotas, sizes, under[: progress[kernel.UNDER]], progress)
    deals = deals[: progress[kernel.DEALT]]
    if cooperative:
        waits = kernel.withheld(deals, revoked_by, group.claims.disputed)
    else:
        waits = np.full(len(revoked_by), -1, np.int64)
    offsets, numbers = kernel.collect(bounds, lists, kept, deals, waits, sizes)
    return offsets, numbers


def _owned(group: StickyGroup) -> tuple[Int64s, Int64s, Int64s]:
    """What counts as owned, as bounds and lists by member, and who gives up what for being in another rack."""
    claims, partitions = group.claims, group.partitions
    revoked_by = np.full(len(partitions.topic_of), -1, np.int64)
    numbers = np.flatnonzero(claims.believed >= 0)
    owner = claims.members[claims.believed[numbers]]
    if group.racks is not None and len(numbers):
        away = group.racks.are_away(owner, numbers)
        revoked_by[numbers[away]] = owner[away]
        numbers, owner = numbers[~away], owner[~away]
    settled = ~claims.disputed[numbers]
    numbers, owner = numbers[settled], owner[settled]
    id_of = partitions.id_of
    if len(id_of) > partitions.known:
        # Ids that are only claimed can be as large as a number can be; only their order is asked for.
        id_of = np.unique(id_of, return_inverse=True)[1].astype(np.int32)
        # The numbers of such partitions come last, and belong among the others of their topic.
        by_topic = np.lexsort((numbers, partitions.topic_of[numbers]))
        numbers, owner = numbers[by_topic], owner[by_topic]
    bounds, lists = kernel.owned_lists(numbers, owner, id_of, len(group.ids), int(id_of.max(initial=0)))
    return bounds, lists, revoked_by


def _left(group: StickyGroup, free: NDArray[np.bool_]) -> Int64s:
    """The partitions that Kafka takes for not yet assigned, by topic and number; `free` : (numbers,) bool."""
    partitions = group.partitions
    only_claimed = partitions.known + np.flatnonzero(~free[partitions.known :])
    seen = free[: partitions.known].copy()
    if len(only_claimed):
        # They are numbered by topic, then by their own number.
        first = only_claimed[0]
        seen[partitions.offsets[partitions.topic_of[first] + (partitions.id_of[first] >= 0)] :] = True
    left: Int64s = np.flatnonzero(seen)
    return left


def _verify(group: StickyGroup, quotas: Quotas, sizes: Int64s, under: Int64s, progress: Int64s) -> None:
    """What Kafka checks at the end."""
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
        raise lost_count(group, KafkaError("IllegalStateException", message))
