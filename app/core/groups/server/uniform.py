"""The group coordinator's uniform assignor (KIP-848). As shipped it ignores racks.

Hard constraints: each partition of a subscribed topic is assigned to one subscriber, except that Kafka lets two
members keep a partition that both own if subscriptions differ. Soft goals: balance first, then stickiness.

If all members subscribe to the same topics, `uniform_homogeneous` assigns, and its `Remainder` differs between
releases; else `uniform_heterogeneous`, which is the same in all.

Source: KIP-848; `org.apache.kafka.coordinator.group.assignor.UniformAssignor` of Apache Kafka 4.0.0 to 4.4.
"""

from collections.abc import Mapping, Sequence

from app.core.groups.model import GroupAssignment, Member
from app.core.groups.server import uniform_heterogeneous, uniform_homogeneous
from app.core.groups.server.group import ServerGroup, SubscriptionType
from app.core.groups.server.uniform_homogeneous import Remainder
from app.core.kafka_versions import KafkaRange, Replayed

_SOURCE = "org.apache.kafka.coordinator.group.assignor.UniformAssignor"
REPLAYS: Mapping[Remainder, Replayed] = {
    Remainder.FIRST_MEMBERS: Replayed(_SOURCE, KafkaRange("4.0.0", "4.0.0")),
    Remainder.OWNERS: Replayed(_SOURCE, KafkaRange("4.0.1", "4.4")),
}


def assign(
    members: Sequence[Member],
    topics: Mapping[str, int],
    *,
    subscription_type: SubscriptionType | None = None,
    remainder: Remainder = Remainder.FIRST_MEMBERS,
) -> GroupAssignment:
    """Assign partitions as the coordinator's `UniformAssignor` does.

    O(partitions + members) if the group is homogeneous, else O(rounds · (partitions + subscriptions)).

    Parameters
    ----------
    members : of distinct ids, subscribed to topic ids; `owned` is their current assignment.
    topics : number of partitions by topic id.
    subscription_type : None to derive it. In a group declared homogeneous, all members are taken to subscribe to the
        topics of the first member in the order of Kafka's hash map.
    remainder : which members of a homogeneous group have one partition more than others.

    Returns
    -------
    Lists by topic id and partition: none if no member subscribes to a topic, else one for every member. If
    subscriptions differ, a partition that two members own can stay with both, as in Kafka.

    Raises
    ------
    SubscribedTopicMissing : if a member subscribes to a topic that is not in `topics`.
    OwnedPartitionMissing : if subscriptions differ and a member owns a partition that its topic does not have.
    PartitionsLeftUnassigned : if subscriptions are equal, and a member owns such a partition or one that another owns.

    Examples
    --------
    >>> from app.core.groups.model import Member
    >>> t1, t2 = "AAAAAAAAAAAAAAAAAAAAAQ", "AAAAAAAAAAAAAAAAAAAAAg"
    >>> answer = assign([Member("M0", (t1,)), Member("M1", (t1, t2)), Member("M2", (t2,))], {t1: 4, t2: 4})
    >>> answer.members, answer.offsets.tolist()
    (['M0', 'M1', 'M2'], [0, 2, 5, 8])
    >>> answer.topic_index.tolist(), answer.partitions.tolist()
    ([0, 0, 0, 0, 1, 1, 1, 1], [0, 2, 1, 3, 3, 0, 1, 2])
    """
    group = ServerGroup.of(members, subscription_type)
    if group.is_homogeneous:
        return uniform_homogeneous.assign(group, topics, remainder)
    return uniform_heterogeneous.assign(group, topics)
