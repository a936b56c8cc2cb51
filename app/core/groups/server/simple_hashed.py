"""The share groups' simple assignor of Kafka 4.1: members are hashed to partitions, then owned ones, then in turn.

Goals, in order: each partition has a member, and each member a partition; members have about as many partitions; owned
partitions stay.

    hash     each member gets the partition at |hash of its id mod number of target partitions|
    owned    owners keep partitions that no member was hashed to, up to ⌈partitions / members⌉ a member
    in turn  the members in the order of a hash map get the partitions that are left, up to one more than that

If members subscribe to different topics, each is hashed to the partitions of its own topics. Partitions that have no
member by hash and no owner are then assigned in turn to the subscribers of each topic, and owners keep all other
partitions that they subscribe to, however many.

Targets are the topics in the order of a hash set and their partitions ascending. The order of a hash map of all owned
partitions decides which of them an owner keeps.

Source: KIP-932; `org.apache.kafka.coordinator.group.assignor.SimpleAssignor` of Apache Kafka 4.1.
"""

from collections.abc import Iterable, Mapping, Sequence
from itertools import cycle

from app.core.groups.model import GroupAssignment, Member
from app.core.groups.server.group import ServerGroup, SubscriptionType, require_subscribed_topics
from app.core.groups.server.share_group import Assignable, ShareTopics, TopicPartition
from app.core.jvm import string_hash_order
from app.core.jvm.hashes import string_hash_codes
from app.core.kafka_versions import KafkaRange, Replayed
from app.errors.kafka import AssignorLosesCount, KafkaError

REPLAYS = Replayed("org.apache.kafka.coordinator.group.assignor.SimpleAssignor", KafkaRange("4.1", "4.1"))


def assign(
    members: Sequence[Member],
    topics: Mapping[str, int],
    *,
    subscription_type: SubscriptionType | None = None,
    assignable: Assignable | None = None,
) -> GroupAssignment:
    """Assign partitions as `SimpleAssignor` of Kafka 4.1 does. O(partitions + members + owned).

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
    AssignorLosesCount : if all members are full while partitions are left.
    """
    group = ServerGroup.of(members, subscription_type)
    require_subscribed_topics(group.subscriptions, topics, first_only=group.is_homogeneous)
    shared = ShareTopics(group.members, topics, assignable)
    if not group.is_homogeneous:
        lists = _heterogeneous(group, shared)
    elif group.members and group.members[0].topics:
        lists = _homogeneous(group, shared)
    else:
        return shared.assignment([], [], [])
    ids = [member.id for member in group.members]
    return shared.assignment(ids, [lists[member] for member in ids], [()] * len(ids))


def _homogeneous(group: ServerGroup, shared: ShareTopics) -> dict[str, dict[TopicPartition, None]]:
    subscribed = list(dict.fromkeys(group.members[0].topics))
    targets = shared.targets(subscribed)
    share = -(-len(targets) // len(group.members))
    lists: dict[str, dict[TopicPartition, None]] = {member.id: {} for member in group.members}
    hashed = _hashed([member.id for member in group.members], targets)
    for member, partition in hashed.items():
        lists[member][partition] = None
    assigned = set(hashed.values())
    topics = {shared.index_of[topic] for topic in subscribed}
    owned = _owned(group, shared)
    owners_of = _owners(owned)
    for partition in shared.map_order([partition for partition, _ in owned]):
        if partition[0] in topics and partition not in assigned:
            for member in owners_of[partition]:
                if len(lists[member]) < share:
                    lists[member][partition] = None
    assigned.update(*lists.values())
    _deal([partition for partition in targets if partition not in assigned], lists, share + 1)
    return lists


def _deal(partitions: Sequence[TopicPartition], lists: Mapping[str, dict[TopicPartition, None]], limit: int) -> None:
    """Give each partition to the next member that has fewer than `limit`; a full member leaves the round."""
    remaining = list(lists)
    turn = 0
    for partition in partitions:
        while True:
            if turn == len(remaining):
                turn = 0
            if not remaining:
                raise AssignorLosesCount(
                    f"all {len(lists)} members of the share group have {limit} partitions, and partitions are left",
                    kafka=KafkaError("PartitionAssignorException", "Inconsistent number of member IDs"),
                    path=("members",),
                    members=len(lists),
                    limit=limit,
                )
            if len(lists[remaining[turn]]) < limit:
                break
            del remaining[turn]
        lists[remaining[turn]][partition] = None
        turn += 1


def _heterogeneous(group: ServerGroup, shared: ShareTopics) -> dict[str, dict[TopicPartition, None]]:
    lists: dict[str, dict[TopicPartition, None]] = {member.id: {} for member in group.members}
    by_id = {member.id: member for member in group.members if member.topics}
    targets: dict[TopicPartition, None] = {}
    subscribers_of: dict[int, dict[str, None]] = {}
    for member in (list(by_id)[index] for index in string_hash_order(list(by_id)).tolist()):
        own = shared.targets(dict.fromkeys(by_id[member].topics))
        targets |= dict.fromkeys(own)
        for topic, _ in own:
            subscribers_of.setdefault(topic, {})[member] = None
        lists[member] |= dict.fromkeys(_hashed([member], own).values())
    assigned = frozenset[TopicPartition]().union(*lists.values())
    owners_of = _owners(_owned(group, shared))
    turns = {topic: cycle(line) for topic, line in subscribers_of.items()}
    for partition in targets:
        if partition not in assigned and partition not in owners_of:
            lists[next(turns[partition[0]])][partition] = None
    for partition, owners in owners_of.items():
        for member in owners if partition not in assigned else ():
            if member in subscribers_of.get(partition[0], ()):
                lists[member][partition] = None
    return lists


def _hashed(members: Sequence[str], targets: Sequence[TopicPartition]) -> dict[str, TopicPartition]:
    """The partition that each member's id hashes to; the remainder has the sign of the hash code in Java."""
    if not targets:
        return {}
    codes = string_hash_codes(members).tolist()
    return {member: targets[abs(code) % len(targets)] for member, code in zip(members, codes, strict=True)}


def _owned(group: ServerGroup, shared: ShareTopics) -> list[tuple[TopicPartition, str]]:
    """The owned partitions and their members, as the members' lists name them."""
    return [(partition, member.id) for member in group.members for partition in shared.owned(member)]


def _owners(owned: Iterable[tuple[TopicPartition, str]]) -> dict[TopicPartition, list[str]]:
    """The owners of each owned partition, in the order in which it is named first."""
    owners_of: dict[TopicPartition, list[str]] = {}
    for partition, member in owned:
        owners_of.setdefault(partition, []).append(member)
    return owners_of
