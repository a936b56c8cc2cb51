"""The classic round-robin assignor; racks have no influence.

Members form a circle: static members by group instance id, then the others by member id. The partitions, by topic name
and id, go to the members around the circle, skipping members that do not subscribe to the topic. If all members
subscribe to the same topics, shares differ by at most one partition; otherwise there is no guarantee:

    C0 subscribes to t0; C1 to t0 t1; C2 to t0 t1 t2; the topics have 1, 2 and 3 partitions

    C0 → t0: 0        C1 → t1: 0        C2 → t1: 1, t2: 0 1 2

Within a topic the circle consists of its subscribers, so that a topic is assigned in one slice.

Source: `org.apache.kafka.clients.consumer.RoundRobinAssignor`.
"""

from collections.abc import Sequence

import numpy as np

from app.core.groups.arrays.partition_table import PartitionOwners
from app.core.groups.arrays.subscriptions import Subscriptions, static_first
from app.core.groups.model import GroupAssignment, GroupMetadata, Member
from app.core.jvm import string_hash_order
from app.core.jvm.hashes import utf16_order
from app.core.kafka_versions import Replayed
from app.core.model import Int32s
from app.errors.kafka import KafkaError, NoMembers

REPLAYS = Replayed("org.apache.kafka.clients.consumer.RoundRobinAssignor")


def assign(members: Sequence[Member], metadata: GroupMetadata) -> GroupAssignment:
    """Assign partitions as `RoundRobinAssignor` does. O(members log members + partitions).

    Parameters
    ----------
    members : of distinct ids; owned partitions have no influence.
    metadata : subscribed topics that it does not know, or knows without partitions, are left out.

    Returns
    -------
    Every member has a list, by topic name and partition.

    Raises
    ------
    NoMembers : if there are none; Kafka's own code fails.

    Examples
    --------
    >>> import numpy as np
    >>> from app.core.groups.model import GroupMetadata, Member, TopicMetadata
    >>> counts = {"t0": 1, "t1": 2, "t2": 3}
    >>> topics = {name: TopicMetadata(name, np.zeros((count, 1), np.int32)) for name, count in counts.items()}
    >>> members = [Member("C0", ("t0",)), Member("C1", ("t0", "t1")), Member("C2", ("t0", "t1", "t2"))]
    >>> answer = assign(members, GroupMetadata({}, topics))
    >>> answer.offsets.tolist(), answer.topic_index.tolist(), answer.partitions.tolist()
    ([0, 1, 2, 6], [0, 1, 1, 2, 2, 2], [0, 0, 1, 0, 1, 2])
    """
    if not members:
        raise NoMembers(
            "a group needs 1 member or more; 0 given",
            kafka=KafkaError("IllegalArgumentException", "CircularIterator can only be used on non-empty lists"),
            path=("members",),
        )
    subscriptions = Subscriptions.of(members)
    hashed = string_hash_order([member.id for member in members])
    circle = hashed[static_first([members[index] for index in hashed.tolist()])]
    position_of = np.empty(len(members), np.int64)
    position_of[circle] = np.arange(len(members))
    circles = [subscribers.astype(np.int32) for subscribers in subscriptions.subscriber_sets(circle)]
    positions = [position_of[members_of_topic] for members_of_topic in circles]
    names: list[str] = []
    patterns: list[Int32s] = []
    at = 0
    for index in sorted(range(len(subscriptions.topics)), key=lambda topic: utf16_order(subscriptions.topics[topic])):
        topic = metadata.topics.get(subscriptions.topics[index])
        if topic is None or not len(topic.replicas):
            continue
        number = subscriptions.subscriber_set_of_topic[index]
        first = int(np.searchsorted(positions[number], at))
        owners = _around(circles[number], first, len(topic.replicas))
        names.append(topic.name)
        patterns.append(owners)
        at = int(position_of[owners[-1]]) + 1
    return PartitionOwners.of_patterns(names, range(len(names)), patterns).assignment([member.id for member in members])


def _around(circle: Int32s, first: int, count: int) -> Int32s:
    """(count,) members around a circle, from position `first` on, which may equal its length."""
    end = first + count
    # Most topics of a large group end before the circle does; a slice of it then costs nothing.
    laid_out = circle if end <= len(circle) else np.tile(circle, -(-end // len(circle)))
    return laid_out[first:end]
