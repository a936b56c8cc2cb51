"""The share groups' simple assignor, as Kafka 4.0 has it: every member gets every partition of what it reads.

A share group's members may read one partition together, so that nothing has to be divided; neither racks nor what
members own count. Later releases divide the partitions (KAFKA-18757), which this does not predict.

    M0 and M1 read T1, of three partitions

    M0 → T1: 0 1 2        M1 → T1: 0 1 2

Source: KIP-932; `org.apache.kafka.coordinator.group.assignor.SimpleAssignor` of Kafka 4.0.
"""

from collections.abc import Mapping, Sequence

import numpy as np

from app.core.groups.model import GroupAssignment, Member
from app.core.groups.server.group import ServerGroup, SubscriptionType, refuse_missing
from app.core.model import Int32s, Int64s


def assign(
    members: Sequence[Member], topics: Mapping[str, int], *, subscription_type: SubscriptionType | None = None
) -> GroupAssignment:
    """Assign partitions as the share groups' `SimpleAssignor` does.

    The answer is as large as members × partitions: ten members of a million partitions have ten million entries.

    Parameters
    ----------
    members : of distinct ids, subscribed to topic ids.
    topics : partitions by topic id.
    subscription_type : None: as it is. A group said to be homogeneous reads what its first member, in the order of
        Kafka's hash map, reads.

    Returns
    -------
    Members that subscribe to nothing are left out. Lists go by topic id and partition.

    Raises
    ------
    SubscribedTopicMissing : where a member subscribes to a topic that is not in `topics`.
    """
    group = ServerGroup.of(members, subscription_type)
    audiences = group.audiences
    refuse_missing(audiences, topics, first_only=group.is_homogeneous)
    kind_of = np.zeros(len(group.ids), np.int64)
    if not group.is_homogeneous:
        kind_of[group.hashed] = audiences.kind_of
    names = sorted(topic for topic in audiences.topics if topic in topics)
    place_of = {name: place for place, name in enumerate(names)}
    read = [
        sorted(place_of[audiences.topics[topic]] for topic in kind.tolist() if audiences.topics[topic] in topics)
        for kind in audiences.kinds
    ]
    present = [index for index, kind in enumerate(kind_of.tolist()) if read[kind]]
    lists = [_all_partitions(places, np.array([topics[names[place]] for place in places], np.int64)) for places in read]
    chosen = [lists[kind_of[index]] for index in present]
    nothing = np.empty(0, np.int32)
    return GroupAssignment(
        members=[group.ids[index] for index in present],
        topics=names,
        offsets=np.cumsum([0, *(len(partitions) for _, partitions in chosen)], dtype=np.int64),
        topic_index=np.concatenate([nothing, *(places for places, _ in chosen)]),
        partitions=np.concatenate([nothing, *(partitions for _, partitions in chosen)]),
        without_partitions=[
            (member, place)
            for member, index in enumerate(present)
            for place in read[kind_of[index]]
            if not topics[names[place]]
        ],
    )


def _all_partitions(places: Sequence[int], counts: Int64s) -> tuple[Int32s, Int32s]:
    """The topic of each partition, and its number."""
    starts = np.repeat(np.cumsum(counts) - counts, counts)
    numbers = np.arange(counts.sum(), dtype=np.int64) - starts
    return np.repeat(np.array(places, np.int32), counts), numbers.astype(np.int32)
