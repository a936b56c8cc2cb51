"""The share groups' simple assignor, as Kafka 4.0 has it: every member gets every partition of its topics.

Members of a share group may read one partition together, so that no partition has to be divided; racks and owned
partitions have no influence. Later releases divide the partitions: `simple_hashed`, `simple_shared`.

    M0 and M1 subscribe to T1, of three partitions

    M0 → T1: 0 1 2        M1 → T1: 0 1 2

Source: KIP-932; `org.apache.kafka.coordinator.group.assignor.SimpleAssignor` of Kafka 4.0.
"""

from collections.abc import Mapping, Sequence

import numpy as np

from app.core.groups.arrays.subscriptions import Subscriptions
from app.core.groups.model import GroupAssignment, Member
from app.core.groups.server.group import ServerGroup, SubscriptionType, require_subscribed_topics
from app.core.kafka_versions import KafkaRange, Replayed
from app.core.model import Int32s, Int64s

REPLAYS = Replayed("org.apache.kafka.coordinator.group.assignor.SimpleAssignor", KafkaRange("4.0", "4.0"))


def assign(
    members: Sequence[Member], topics: Mapping[str, int], *, subscription_type: SubscriptionType | None = None
) -> GroupAssignment:
    """Assign partitions as the share groups' `SimpleAssignor` does.

    The answer is as large as members × partitions: ten members of a million partitions have ten million entries.

    Parameters
    ----------
    members : of distinct ids, subscribed to topic ids.
    topics : number of partitions by topic id.
    subscription_type : None to derive it. In a group declared homogeneous, all members are taken to subscribe to the
        topics of the first member in the order of Kafka's hash map.

    Returns
    -------
    Lists by topic id and partition. Members that subscribe to nothing are left out.

    Raises
    ------
    SubscribedTopicMissing : if a member subscribes to a topic that is not in `topics`.

    Examples
    --------
    >>> from app.core.groups.model import Member
    >>> t1 = "AAAAAAAAAAAAAAAAAAAAAQ"
    >>> answer = assign([Member("M0", (t1,)), Member("M1", (t1,))], {t1: 3})
    >>> answer.offsets.tolist(), answer.partitions.tolist()
    ([0, 3, 6], [0, 1, 2, 0, 1, 2])
    """
    group = ServerGroup.of(members, subscription_type)
    subscriptions = group.subscriptions
    require_subscribed_topics(subscriptions, topics, first_only=group.is_homogeneous)
    list_of = np.zeros(len(group.ids), np.int64)
    if not group.is_homogeneous:
        list_of[group.hashed] = subscriptions.list_of_member
    names = sorted(filter(topics.__contains__, subscriptions.topics))
    counts = np.array([topics[name] for name in names], np.int64)
    topics_of_list = _known_topics(subscriptions, names)
    present = [index for index, number in enumerate(list_of.tolist()) if len(topics_of_list[number])]
    lists = [_all_partitions(places, counts[places]) for places in topics_of_list]
    chosen = [lists[list_of[index]] for index in present]
    empty = np.empty(0, np.int32)
    return GroupAssignment(
        members=[group.ids[index] for index in present],
        topics=names,
        offsets=np.cumsum([0, *(len(partitions) for _, partitions in chosen)], dtype=np.int64),
        topic_index=np.concatenate([empty, *(places for places, _ in chosen)]),
        partitions=np.concatenate([empty, *(partitions for _, partitions in chosen)]),
        without_partitions=[
            (member, place)
            for member, index in enumerate(present)
            for place in topics_of_list[list_of[index]][counts[topics_of_list[list_of[index]]] == 0].tolist()
        ],
    )


def _known_topics(subscriptions: Subscriptions, names: Sequence[str]) -> list[Int64s]:
    """Of each distinct subscription, the places in `names` of its topics that exist, ascending: int64."""
    place_of = {name: place for place, name in enumerate(names)}
    places = np.array([place_of.get(topic, -1) for topic in subscriptions.topics], np.int64)
    return [np.sort(known[known >= 0]) for known in (places[indices] for indices in subscriptions.indices)]


def _all_partitions(places: Int64s, counts: Int64s) -> tuple[Int32s, Int32s]:
    """Topic index and partition id of each partition of the topics: two int32 arrays."""
    starts = np.repeat(np.cumsum(counts) - counts, counts)
    numbers = np.arange(counts.sum(), dtype=np.int64) - starts
    return np.repeat(places.astype(np.int32), counts), numbers.astype(np.int32)
