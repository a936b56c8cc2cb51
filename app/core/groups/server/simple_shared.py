"""The share groups' simple assignor since Kafka 4.2: balanced, then as it was.

Goals, in order: the numbers of partitions of members differ by 1 at most; each partition has S = ⌈members / partitions⌉
members; owned partitions stay.

    1. Members keep their partitions. Member k of n in hash-map order is to have ⌈q(k + 1)⌉ − ⌈qk⌉ partitions,
       where q = S · partitions / n. One with more loses the first ones in the order of its hash set.
    2. A partition with more than S members loses the first ones in the order of a hash set of member numbers.
    3. The partitions in the order of a hash map, first those that were owned and then the others, take members that
       have too few, in turn, until they have S.

If members subscribe to different topics, all of this is done for each topic by itself, among its subscribers, and owned
partitions of a topic without subscribers stay.

Step 3 has a fault that is repeated here: when the last member with too few partitions is full in the middle of a
partition, the assignor fails.

    M0, M1 and M2 subscribe to T1 of two partitions: S = 2, q = 4/3, and M0 is to have two, the others one

    M0 → T1: 0 1        M1 → T1: 0        M2 → T1: 1

Source: KIP-932; `SimpleHomogeneousAssignmentBuilder` and `SimpleHeterogeneousAssignmentBuilder` in
`org.apache.kafka.coordinator.group.assignor` of Apache Kafka 4.2 to 4.4.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import ceil

import numpy as np

from app.core.groups.model import GroupAssignment, Member
from app.core.groups.server.group import ServerGroup, SubscriptionType, require_topics, set_order
from app.core.groups.server.share_group import Assignable, ShareTopics, TopicPartition, sized_for
from app.core.jvm import JavaHashSet, hash_order
from app.core.jvm.hashes import INTEGER
from app.core.kafka_versions import KafkaRange, Replayed
from app.core.model import Int32s
from app.errors.kafka import AssignorRunsOutOfMembers, KafkaError

REPLAYS = Replayed("org.apache.kafka.coordinator.group.assignor.SimpleAssignor", KafkaRange("4.2", "4.4"))


def assign(
    members: Sequence[Member],
    topics: Mapping[str, int],
    *,
    subscription_type: SubscriptionType | None = None,
    assignable: Assignable | None = None,
) -> GroupAssignment:
    """Assign partitions as `SimpleAssignor` of Kafka 4.2 and later does. O(members · S + partitions + owned).

    Parameters
    ----------
    members : of distinct ids, subscribed to topic ids; several may own one partition.
    topics : number of partitions by topic id.
    subscription_type : None to derive it. In a group declared homogeneous, all members are taken to subscribe to the
        topics of the first member in the order of Kafka's hash map.
    assignable : the partitions that may be assigned; None for all.

    Returns
    -------
    Lists by topic id and partition for every member; none if the members subscribe to nothing.

    Raises
    ------
    SubscribedTopicMissing : if a member subscribes to a topic that is not in `topics`.
    AssignorRunsOutOfMembers : if Kafka's own code fails since no member with too few partitions is left.
    """
    group = ServerGroup.of(members, subscription_type)
    subscribed = _subscribed(group)
    require_topics(subscribed, topics)
    shared = ShareTopics(group.members, topics, assignable)
    if not subscribed:
        return shared.assignment([], [], [])
    named = [{shared.index_of[run.topic] for run in member.owned} for member in group.members]
    owned = [shared.owned(member) for member in group.members]
    if group.is_homogeneous:
        among = {shared.index_of[topic] for topic in subscribed}
        named = [topics_of_member & among for topics_of_member in named]
        lists = [dict.fromkeys(partition for partition in own if partition[0] in among) for own in owned]
        _Sharing(lists, range(len(lists)), shared.targets(subscribed), shared.codes).settle()
    else:
        lists = _shared_by_topic(group, shared, subscribed, owned)
    return shared.assignment([member.id for member in group.members], lists, named)


def _subscribed(group: ServerGroup) -> list[str]:
    """The topics in the order of the first member, or of a hash set of all members' if subscriptions differ."""
    if group.is_homogeneous:
        return list(dict.fromkeys(group.members[0].topics)) if group.members else []
    listed = list(dict.fromkeys(topic for member in group.members for topic in member.topics))
    return [listed[index] for index in set_order(listed).tolist()]


def _shared_by_topic(
    group: ServerGroup, shared: ShareTopics, subscribed: Sequence[str], owned: Sequence[Sequence[TopicPartition]]
) -> list[dict[TopicPartition, None]]:
    """Share the partitions of each topic among its subscribers; owned partitions of other topics stay."""
    subscribers_of: dict[str, list[int]] = {}
    for number, member in enumerate(group.members):
        for topic in dict.fromkeys(member.topics):
            subscribers_of.setdefault(topic, []).append(number)
    owned_of_topic: dict[int, list[tuple[int, TopicPartition]]] = {}
    for number, own in enumerate(owned):
        for partition in own:
            owned_of_topic.setdefault(partition[0], []).append((number, partition))
    lists: list[dict[TopicPartition, None]] = [{} for _ in group.members]
    for topic in subscribed:
        of_topic: list[dict[TopicPartition, None]] = [{} for _ in group.members]
        for number, partition in owned_of_topic.pop(shared.index_of[topic], ()):
            of_topic[number][partition] = None
        _Sharing(of_topic, subscribers_of[topic], shared.targets([topic]), _numbers).settle()
        for assigned, settled in zip(lists, of_topic, strict=True):
            assigned.update(settled)
    for others in owned_of_topic.values():
        for number, partition in others:
            lists[number][partition] = None
    return lists


def _numbers(partitions: Sequence[TopicPartition]) -> Int32s:
    """Hash codes of partitions that are keyed by their number alone."""
    return np.array([number for _, number in partitions], np.int32)


@dataclass(slots=True)
class _Sharing:
    """The three steps over one set of targets.

    Parameters
    ----------
    lists : of each member, its partitions; changed in place to its assignment.
    subscribers : the members that are to have targets, ascending.
    targets : the partitions to share.
    codes : the hash codes of partitions as keys.
    """

    lists: Sequence[dict[TopicPartition, None]]
    subscribers: Sequence[int]
    targets: Sequence[TopicPartition]
    codes: Callable[[Sequence[TopicPartition]], Int32s]

    def settle(self) -> None:
        """Revoke partitions above the targets, then assign missing ones."""
        sharing = -(-len(self.subscribers) // len(self.targets)) if self.targets else 0
        wanted = self._wanted(sharing)
        members_of: dict[TopicPartition, JavaHashSet[int]] = {}
        for member, own in enumerate(self.lists):
            for partition in own:
                members_of.setdefault(partition, JavaHashSet(INTEGER)).add(member)
        self._revoke_from_overfilled(wanted, members_of)
        for partition, sharers in members_of.items():
            for member in list(sharers)[: max(len(sharers) - sharing, 0)]:
                sharers.discard(member)
                del self.lists[member][partition]
        is_known = not self.targets or self.targets[-1] in members_of
        for partition in self.targets:
            members_of.setdefault(partition, JavaHashSet(INTEGER))
        order = hash_order(
            self.codes(list(members_of)),
            initial_capacity=sized_for(len(self.targets)),
            computed=True,
            recomputed=is_known,
        )
        partitions = list(members_of)
        self._assign_missing(sharing, wanted, {partitions[index]: members_of[partitions[index]] for index in order})

    def _wanted(self, sharing: int) -> list[int]:
        """How many of the targets each member is to have; 0 if it does not subscribe to them."""
        wanted = [0] * len(self.lists)
        precise = sharing * len(self.targets) / len(self.subscribers)
        for place, member in enumerate(self.subscribers):
            wanted[member] = ceil(precise * (place + 1)) - ceil(precise * place)
        return wanted

    def _revoke_from_overfilled(
        self, wanted: Sequence[int], members_of: Mapping[TopicPartition, JavaHashSet[int]]
    ) -> None:
        for member, own in enumerate(self.lists):
            if len(own) > wanted[member]:
                for partition in self._ordered(list(own))[: len(own) - wanted[member]]:
                    del own[partition]
                    members_of[partition].discard(member)

    def _assign_missing(
        self, sharing: int, wanted: Sequence[int], members_of: Mapping[TopicPartition, JavaHashSet[int]]
    ) -> None:
        unfilled = [member for member in self.subscribers if len(self.lists[member]) < wanted[member]]
        capacity = sized_for(len(self.lists))
        unfilled = [unfilled[index] for index in hash_order(np.array(unfilled, np.int32), initial_capacity=capacity)]
        turn, has_assigned = 0, False
        for partition, sharers in members_of.items():
            if not unfilled:
                return
            # Kafka notes no new sharers: a second round may give a partition to the same members again.
            missing = sharing - len(sharers)
            while missing > 0:
                if turn == len(unfilled):
                    if not has_assigned:
                        break
                    turn, has_assigned = 0, False
                    if not unfilled:
                        raise _out_of_members(len(self.lists), sharing)
                member = unfilled[turn]
                turn += 1
                if member not in sharers:
                    missing -= 1
                    self.lists[member][partition] = None
                    has_assigned = True
                    if len(self.lists[member]) >= wanted[member]:
                        turn -= 1
                        del unfilled[turn]

    def _ordered(self, partitions: Sequence[TopicPartition]) -> list[TopicPartition]:
        """Distinct partitions in the order of a HashSet, filled as listed."""
        order: Iterable[int] = hash_order(self.codes(partitions)).tolist()
        return [partitions[index] for index in order]


def _out_of_members(members: int, sharing: int) -> AssignorRunsOutOfMembers:
    return AssignorRunsOutOfMembers(
        "Kafka's own assignor fails with a NoSuchElementException: "
        f"each partition is to have {sharing} of the {members} "
        "members, and none is left that has too few partitions",
        kafka=KafkaError("NoSuchElementException"),
        path=("members",),
        members=members,
        sharing=sharing,
    )
