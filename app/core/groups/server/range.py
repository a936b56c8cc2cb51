"""The group coordinator's range assignor (KIP-848). As shipped it ignores racks, and what members own.

Each topic is dealt out to its subscribers in ranges whose sizes differ by one at most; topics of as many partitions and
of the same subscribers are dealt out alike. Subscribers stand in line: static members by instance id, then the others
by member id; the first of them have the remainder.

    M0 and M1 read T1 and T2, of three partitions each

    M0 → T1: 0 1, T2: 0 1        M1 → T1: 2, T2: 2

Source: KIP-848; `org.apache.kafka.coordinator.group.assignor.RangeAssignor` of Kafka 4.0.
"""

from collections.abc import Mapping, Sequence

import numpy as np

from app.core.groups.arrays.member_order import static_first
from app.core.groups.arrays.owners import Owners
from app.core.groups.arrays.ranges import in_ranges
from app.core.groups.model import GroupAssignment, Member
from app.core.groups.server.group import ServerGroup, SubscriptionType
from app.core.model import Int64s
from app.errors import KafkaError, SubscribedTopicMissing


def assign(
    members: Sequence[Member], topics: Mapping[str, int], *, subscription_type: SubscriptionType | None = None
) -> GroupAssignment:
    """Assign partitions as the coordinator's `RangeAssignor` does.

    Parameters
    ----------
    members : of distinct ids, subscribed to topic ids.
    topics : partitions by topic id.
    subscription_type : None: as it is. A group said to be homogeneous reads what its first member in line reads.

    Returns
    -------
    Every member has a list, by topic id and partition.

    Raises
    ------
    SubscribedTopicMissing : where a member subscribes to a topic that is not in `topics`.
    """
    group = ServerGroup.of(members, subscription_type)
    line = static_first(group.members)
    audiences = group.audiences
    if not group.is_homogeneous:
        dealt: dict[str, tuple[int, int]] = {
            topic: (_partitions(topic, topics), audience)
            for topic, audience in zip(audiences.topics, audiences.audience_of.tolist(), strict=True)
        }
        lines = [audiences.members_of(audience, line) for audience in range(len(audiences.kinds_in))]
    else:
        first = audiences.kinds[audiences.kind_of[line[0]]].tolist() if len(line) else []
        dealt = {audiences.topics[topic]: (_partitions(audiences.topics[topic], topics), 0) for topic in first}
        lines = [line]
    number_of = {shape: number for number, shape in enumerate(dict.fromkeys(dealt.values()))}
    patterns = [_pattern(group.hashed[lines[audience]], partitions) for partitions, audience in number_of]
    names = sorted(dealt)
    return Owners.alike(names, [number_of[dealt[name]] for name in names], patterns).assignment(group.ids)


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
    return members[in_ranges(partitions, len(members))].astype(np.int32)
