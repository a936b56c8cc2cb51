"""The cooperative-sticky assignor of librdkafka, which confluent-kafka, node-rdkafka, rust-rdkafka and php-rdkafka run.

It is a port of an early sticky assignor of Kafka's Java client, with orders of its own. Ids and names are compared by
their UTF-8 bytes. Its steps:

1. A partition belongs to the claimant of the newest generation; the one before that is its previous member. If two
   claims are of one generation, the partition belongs to no member.
2. A member keeps its partitions of topics that it subscribes to; if racks decide and it has one, those in its rack.
3. Partitions are put in order. If all members can read the same partitions, those that belong to a member are first:
   always the next one of the member with the most left (of several, the largest id), a partition with a previous member
   before others, then the smallest topic and number. The rest follow in reverse order of the metadata: the last topic
   first, its largest number first. If no partition belongs to a member, the order is by topic and number. If members
   can read different partitions, it is by the number of subscribed members, then by topic and number.
4. In this order, each partition without a member goes to the subscribed member with the fewest partitions, of several
   the smallest id. If racks decide, a pass that takes only members near the partition goes before.
5. The balance is improved (`librdkafka_balance`), and left as it was if it does not get better.
6. A partition that another member claims is withheld from its new member. One that is assigned to no member stays with
   its last claimant, even if it does not exist.

Members without a subscription are left out. If racks decide, an empty rack is one that no broker is in.

Source: measured on librdkafka 2.16.0, whose `rdkafka_sticky_assignor.c` has the steps; KIP-54, KIP-429, KIP-881.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from heapq import heapify, heapreplace
from itertools import chain

from app.core.groups.arrays.owned import MemberPartitions
from app.core.groups.classic.librdkafka_balance import UNDEFINED, Balancing, Partition, Readers
from app.core.groups.model import GroupAssignment, GroupMetadata, Member
from app.core.kafka_versions import KafkaRange, ReplayedLibrary
from app.errors.kafka import NoMembers

REPLAYS = ReplayedLibrary("librdkafka", "rdkafka_sticky_assignor.c", KafkaRange("2.16.0", "2.16.0"))
NO_GENERATION = -1


def assign(members: Sequence[Member], metadata: GroupMetadata) -> GroupAssignment:
    """Assign partitions as a leader with librdkafka does: the lists of the current phase.

    O(partitions · members) if subscriptions are equal; else every move can cost as much again.

    Parameters
    ----------
    members : in the order of the coordinator's response. `owned` counts with and without `generation_id`; a missing one
        is −1.
    metadata : `topics` in the order of the broker's response. It decides only the order in which partitions without a
        member are assigned, if others have one and all members can read the same partitions.

    Returns
    -------
    Every member with a subscription has a list, by topic and partition, without withheld partitions.

    Raises
    ------
    NoMembers : if no member has a subscription.
    AssignorLosesCount : if librdkafka's own code fails.

    Examples
    --------
    >>> import numpy as np
    >>> from app.core.groups.model import GroupMetadata, Member, Owned, TopicMetadata
    >>> t = TopicMetadata("t", np.zeros((4, 1), np.int32))
    >>> owned = (Owned("t", np.array([1], np.int32)),)
    >>> members = [Member("C0", ("t",), owned=owned, generation_id=1), Member("C1", ("t",))]
    >>> answer = assign(members, GroupMetadata({}, {"t": t}))
    >>> answer.offsets.tolist(), answer.partitions.tolist()
    ([0, 2, 4], [1, 2, 0, 3])
    """
    subscribed = [member for member in members if member.topics]
    if not subscribed:
        raise NoMembers("no member of the group has a subscription", kafka=UNDEFINED)
    readers, claims = Readers.of(subscribed, metadata), _Claims.of(subscribed)
    kept = [
        [partition for partition in own if readers.can_keep(member, partition)]
        for member, own in enumerate(claims.accepted)
    ]
    order = _ordered(readers, claims)
    has_member = {partition for own in kept for partition in own}
    balancing = Balancing(
        readers,
        kept,
        {partition: member for partition, member in claims.holder.items() if partition in has_member},
        claims.previous,
    )
    exist = sum(map(readers.exists, chain.from_iterable(claims.accepted)))
    unassigned = [partition for partition in order if partition not in has_member]
    balancing.balance(unassigned, order, is_revoking=len(has_member) < exist)
    assigned = {partition: member for member, own in enumerate(balancing.held) for partition in own.elements()}
    return _assignment(readers.ids, _cooperative(assigned, claims.last))


@dataclass(frozen=True, slots=True, eq=False)
class _Claims:
    """Partitions that members claim to own.

    Parameters
    ----------
    accepted : by member, the partitions that belong to it, sorted.
    previous : the claimant before that.
    last : the claimant that is last among the members, whatever its generation.
    holder : the same of partitions that belong to a member: librdkafka moves a partition away from this one.
    """

    accepted: Sequence[Sequence[Partition]]
    previous: Mapping[Partition, int]
    last: Mapping[Partition, int]
    holder: Mapping[Partition, int] = field(repr=False)

    @classmethod
    def of(cls, members: Sequence[Member]) -> "_Claims":
        claims: dict[Partition, list[tuple[int, int]]] = {}
        last: dict[Partition, int] = {}
        for place, member in enumerate(members):
            generation = NO_GENERATION if member.generation_id is None else member.generation_id
            for run in member.owned:
                for number in run.partitions.tolist():
                    claims.setdefault((run.topic, number), []).append((generation, place))
                    last[run.topic, number] = place
        accepted: list[list[Partition]] = [[] for _ in members]
        previous, holder = {}, {}
        for partition in sorted(claims):
            newest = sorted(claims[partition], reverse=True)
            if len({generation for generation, _ in newest}) < len(newest):
                continue
            accepted[newest[0][1]].append(partition)
            holder[partition] = last[partition]
            if newest[1:]:
                previous[partition] = newest[1][1]
        return cls(accepted, previous, last, holder)


def _ordered(readers: Readers, claims: _Claims) -> list[Partition]:
    """All partitions, in the order in which they are assigned and moved."""
    backwards = [(topic, p) for topic in reversed(list(readers.counts)) for p in reversed(range(readers.counts[topic]))]
    if len(set(readers.topics_of)) > 1:
        return sorted(backwards, key=lambda partition: (len(readers.members_of[partition[0]]), partition))
    queues = []
    for member, own in enumerate(claims.accepted):
        left = [partition for partition in own if readers.exists(partition)]
        if left:
            # The next partition is taken from the end.
            left.sort(key=lambda partition: (partition not in claims.previous, partition), reverse=True)
            queues.append((-len(left), -readers.rank[member], left))
    if not queues:
        return sorted(backwards)
    heapify(queues)
    ordered = []
    while queues[0][0] < 0:
        left_over, rank, left = queues[0]
        ordered.append(left.pop())
        heapreplace(queues, (left_over + 1, rank, left))
    owned = set(ordered)
    return ordered + [partition for partition in backwards if partition not in owned]


def _cooperative(assigned: Mapping[Partition, int], claimants: Mapping[Partition, int]) -> dict[Partition, int]:
    """The assignment of this phase: withheld partitions are left out, unassigned ones stay with their claimants."""
    free = {partition: member for partition, member in assigned.items() if claimants.get(partition, member) == member}
    return free | {partition: member for partition, member in claimants.items() if partition not in assigned}


def _assignment(ids: tuple[str, ...], assigned: Mapping[Partition, int]) -> GroupAssignment:
    topics = sorted({topic for topic, _ in assigned})
    index_of = {topic: index for index, topic in enumerate(topics)}
    rows = ((member, index_of[topic], number) for (topic, number), member in assigned.items())
    return MemberPartitions.of_rows(rows).assignment(ids, topics)
