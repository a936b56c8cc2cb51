"""A group as a snapshot recorded it: its members as they will rejoin, its lag, and what the record does not say."""

import numpy as np

from app.core.groups.arrays.partition_table import Weights
from app.core.groups.model import GroupMetadata, Member, Owned
from app.core.model import Cluster, Int64s
from app.core.recorded import RecordedGroup, RecordedMember, TopicPartitions
from app.errors.requests import ConflictingFields
from app.services.cautions import Caution
from app.services.groups.members import ListedMember


def recorded_group(cluster: Cluster, group_id: str) -> RecordedGroup:
    """The group of a snapshot, or `ConflictingFields`."""
    group = cluster.group(group_id)
    if group is None:
        there = ", ".join(each.group_id for each in cluster.groups[:10]) or "none"
        detail = f"the snapshot has no group {group_id}; it has {there}"
        raise ConflictingFields(detail, path=("group",), value=group_id)
    return group


def recorded_member(recorded: RecordedMember) -> ListedMember:
    """A member as it will rejoin: it owns what it was assigned, whatever it owned when it joined last."""
    has = recorded.assigned if recorded.assigned is not None else recorded.owned or ()
    topics = recorded.topics
    return ListedMember(
        Member(
            id=recorded.member_id,
            topics=tuple(sorted({run.topic for run in has})) if topics is None else topics,
            rack_id=recorded.rack_id,
            group_instance_id=recorded.group_instance_id,
            owned=tuple([_owned(run) for run in has]),
            # All members of a stable group have the generation of its last rebalance, whichever that was.
            generation_id=0,
        )
    )


def _owned(run: TopicPartitions) -> Owned:
    return Owned(run.topic, np.array(run.partitions, np.int32))


def missing_from(group: RecordedGroup) -> list[Caution]:
    """What the record of a group does not say, and what is taken instead."""
    of = f"of {len(group.members)} members"
    cautions = []
    without = tuple(member.member_id for member in group.members if member.topics is None)
    if without:
        detail = (
            f"the subscriptions, racks and generations of {len(without)} {of} are not recorded; they are taken to "
            "subscribe to the topics they read, to be in no rack and of one generation"
        )
        cautions.append(Caution("subscriptions_not_recorded", detail, members=without))
    unassigned = tuple(member.member_id for member in group.members if member.assigned is None)
    if unassigned:
        detail = f"what {len(unassigned)} {of} are assigned is not recorded; they are taken to have nothing else"
        cautions.append(Caution("assignment_not_recorded", detail, members=unassigned))
    if group.state not in (None, "Stable"):
        cautions.append(Caution("group_not_stable", f"the group was {group.state} when it was recorded"))
    return cautions


def recorded_lag(group: RecordedGroup, metadata: GroupMetadata) -> Weights | None:
    """The lag of each partition, 0 where none is recorded; None where no lag is."""
    lag: dict[str, Int64s] = {}
    for offset in group.offsets:
        topic = metadata.topics.get(offset.topic)
        if topic is None or offset.lag is None or offset.partition >= len(topic.replicas):
            continue
        per_partition = lag.setdefault(offset.topic, np.zeros(len(topic.replicas), np.int64))
        # A log that was cut back leaves a lag below 0; nothing is left to read there.
        per_partition[offset.partition] = max(offset.lag, 0)
    return lag or None
