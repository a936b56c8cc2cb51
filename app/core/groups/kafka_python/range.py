"""The range assignor of kafka-python; racks have no influence.

Each topic is divided into contiguous ranges, the first subscribers getting one partition more if there is a remainder.
Subscribers are ordered as Kafka's are, static members by group instance id and then the others by member id. But only
the last run of static and the last run of other subscribers in the list of the coordinator count. If static and other
members alternate in this list, the earlier ones are assigned nothing:

    static C0, then C1, then static C2 subscribe to t0 with four partitions

    C0 → none        C1 → t0: 2 3        C2 → t0: 0 1        by Kafka: C0 → t0: 0 1, C2 → t0: 2, C1 → t0: 3

Texts are ordered by code point. Kafka orders by UTF-16 code units, which differs beyond U+FFFF.

Source: `kafka.coordinator.assignors.range.RangePartitionAssignor` of kafka-python 3.0.0 to 3.0.12.
"""

from collections.abc import Sequence
from itertools import groupby

import numpy as np

from app.core.groups.arrays.partition_table import PartitionOwners, range_owners
from app.core.groups.arrays.subscriptions import Subscriptions
from app.core.groups.model import GroupAssignment, GroupMetadata, Member
from app.core.kafka_versions import KafkaRange, ReplayedLibrary
from app.core.model import Int32s

REPLAYS = ReplayedLibrary(
    "kafka-python", "kafka.coordinator.assignors.range.RangePartitionAssignor", KafkaRange("3.0.0", "3.0.12")
)


def assign(members: Sequence[Member], metadata: GroupMetadata) -> GroupAssignment:
    """Assign partitions as `RangePartitionAssignor` does. O(members log members · subscriber sets + partitions).

    Parameters
    ----------
    members : of distinct ids, in the order in which the coordinator lists them; racks and owned partitions have no
        influence.
    metadata : subscribed topics that it does not know are left out.

    Returns
    -------
    Every member has a list, by topic name and partition. No members, no lists.

    Examples
    --------
    >>> import numpy as np
    >>> from app.core.groups.model import GroupMetadata, Member, TopicMetadata
    >>> t0 = TopicMetadata("t0", np.zeros((4, 1), np.int32))
    >>> members = [Member("C0", ("t0",), group_instance_id="a"), Member("C1", ("t0",)),
    ...            Member("C2", ("t0",), group_instance_id="b")]
    >>> answer = assign(members, GroupMetadata({}, {"t0": t0}))
    >>> answer.offsets.tolist(), answer.partitions.tolist()
    ([0, 0, 2, 4], [2, 3, 0, 1])
    """
    subscriptions = Subscriptions.of(members)
    subscriber_sets = subscriptions.subscriber_sets(np.arange(len(members)))
    visited = [_visited(members, subscribers.tolist()) for subscribers in subscriber_sets]
    subscribers_of = dict(zip(subscriptions.topics, subscriptions.subscriber_set_of_topic.tolist(), strict=True))
    names = sorted(name for name in subscriptions.topics if name in metadata.topics)
    keys = [(subscribers_of[name], len(metadata.topics[name].replicas)) for name in names]
    number_of = {key: number for number, key in enumerate(dict.fromkeys(keys))}
    patterns = [visited[each][range_owners(partitions, len(visited[each]))] for each, partitions in number_of]
    owners = PartitionOwners.of_patterns(names, [number_of[key] for key in keys], patterns)
    return owners.assignment([member.id for member in members])


def _visited(members: Sequence[Member], subscribers: Sequence[int]) -> Int32s:
    """The subscribers that are assigned partitions, in order: int32 indices."""

    def is_static(index: int) -> bool:
        return members[index].group_instance_id is not None

    def key(index: int) -> tuple[str, str]:
        return members[index].group_instance_id or "", members[index].id

    # The library groups neighbours and stores each group under its kind, so that a later one replaces an earlier one.
    last_run = {kind: sorted(run, key=key) for kind, run in groupby(subscribers, key=is_static)}
    return np.array(last_run.get(True, []) + last_run.get(False, []), np.int32)
