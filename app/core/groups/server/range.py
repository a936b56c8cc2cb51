"""The group coordinator's range assignor (KIP-848). As shipped it ignores racks and owned partitions.

Each topic is divided among its subscribers into ranges whose sizes differ by at most 1; topics with as many partitions
and the same subscribers are divided alike. Static members are first, by group instance id, then the others by member
id; the first members get the remainder.

    M0 and M1 subscribe to T1 and T2, of three partitions each

    M0 → T1: 0 1, T2: 0 1        M1 → T1: 2, T2: 2

Source: KIP-848; `org.apache.kafka.coordinator.group.assignor.RangeAssignor` of Kafka 4.0.
"""

from collections.abc import Mapping, Sequence

import numpy as np

from app.core.groups.arrays.partition_table import PartitionOwners, range_owners
from app.core.groups.arrays.subscriptions import static_first
from app.core.groups.model import GroupAssignment, Member
from app.core.groups.server.group import ServerGroup, SubscriptionType
from app.core.kafka_versions import Replayed
from app.core.model import Int64s
from app.errors.kafka import KafkaError, SubscribedTopicMissing

REPLAYS = Replayed("org.apache.kafka.coordinator.group.assignor.RangeAssignor")


def assign(
    members: Sequence[Member], topics: Mapping[str, int], *, subscription_type: SubscriptionType | None = None
) -> GroupAssignment:
    """Assign partitions as the coordinator's `RangeAssignor` does. O(partitions + members log members).

    Parameters
    ----------
    members : of distinct ids, subscribed to topic ids.
    topics : number of partitions by topic id.
    subscription_type : None to derive it. In a group declared homogeneous, all members are taken to subscribe to the
        topics of the first member.

    Returns
    -------
    Every member has a list, by topic id and partition.

    Raises
    ------
    SubscribedTopicMissing : if a member subscribes to a topic that is not in `topics`.

    Examples
    --------
    >>> from app.core.groups.model import Member
    >>> t1, t2 = "AAAAAAAAAAAAAAAAAAAAAQ", "AAAAAAAAAAAAAAAAAAAAAg"
    >>> answer = assign([Member("M0", (t1, t2)), Member("M1", (t1, t2))], {t1: 3, t2: 3})
    >>> answer.offsets.tolist(), answer.topic_index.tolist(), answer.partitions.tolist()
    ([0, 4, 6], [0, 0, 1, 1, 0, 1], [0, 1, 0, 1, 2, 2])
    """
    group = ServerGroup.of(members, subscription_type)
    in_order = static_first(group.members)
    subscriptions = group.subscriptions
    if not group.is_homogeneous:
        shape_of: dict[str, tuple[int, int]] = {
            topic: (_partitions(topic, topics), subscribers)
            for topic, subscribers in zip(
                subscriptions.topics, subscriptions.subscriber_set_of_topic.tolist(), strict=True
            )
        }
        orders = subscriptions.subscriber_sets(in_order)
    else:
        first = subscriptions.indices[subscriptions.list_of_member[in_order[0]]].tolist() if len(in_order) else []
        shape_of = {
            subscriptions.topics[topic]: (_partitions(subscriptions.topics[topic], topics), 0) for topic in first
        }
        orders = [in_order]
    number_of = {shape: number for number, shape in enumerate(dict.fromkeys(shape_of.values()))}
    patterns = [_pattern(group.hashed[orders[subscribers]], partitions) for partitions, subscribers in number_of]
    names = sorted(shape_of)
    return PartitionOwners.of_patterns(names, [number_of[shape_of[name]] for name in names], patterns).assignment(
        group.ids
    )


def _partitions(topic: str, topics: Mapping[str, int]) -> int:
    if topic not in topics:
        raise SubscribedTopicMissing(
            f"members subscribe to topic {topic}, which does not exist",
            kafka=KafkaError("PartitionAssignorException", "Member is subscribed to a non-existent topic"),
            path=("members",),
            topic=topic,
        )
    return topics[topic]


def _pattern(members: Int64s, partitions: int) -> np.ndarray[tuple[int], np.dtype[np.int32]]:
    return members[range_owners(partitions, len(members))].astype(np.int32)
