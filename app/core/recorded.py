"""Groups of a snapshot: the start of a plan, before they become the input of an assignor.

The recorded fields depend on the source. A table of `kafka-consumer-groups` has the partitions of a member, but not its
rack or subscription; the coordinator's own answer has all fields. None stands for a field that the source does not
have, so that a plan can distinguish "no rack" from "unknown".
"""

from dataclasses import dataclass
from typing import Literal, NamedTuple, TypeAlias


class TopicPartitions(NamedTuple):
    """Partitions of one topic, in the order of the source."""

    topic: str
    partitions: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class RecordedTasks:
    """The tasks of a member of a Streams group: `<subtopology>_<partition>`, in the order of the source."""

    active: tuple[str, ...] = ()
    standby: tuple[str, ...] = ()
    warmup: tuple[str, ...] = ()


class RecordedMember(NamedTuple):
    """A member of a group; a tuple, since there can be a million.

    Parameters
    ----------
    topics : the subscription, in its own order; None if unknown. Then `rack_id`, `owned`, `generation_id` and
        `user_data` are unknown too, since they are parts of a subscription.
    rack_id : None, beside a subscription, if the member has none.
    owned : partitions that it claims to own, each topic once.
    generation_id : of these claims, or None.
    user_data : the assignor's own bytes in the subscription.
    assigned : assigned partitions, each topic once; None if unknown, as while the group rebalances.
    member_epoch : of the protocols of KIP-848, KIP-932 and KIP-1071; None if unknown, or a classic member.
    target : the partitions of the coordinator's target assignment (KIP-848); None if unknown.
    process_id : the process of a member of a Streams group; members of one process share its state.
    tasks, target_tasks : of a member of a Streams group, as `assigned` and `target`.
    """

    member_id: str
    client_id: str | None = None
    host: str | None = None
    group_instance_id: str | None = None
    rack_id: str | None = None
    topics: tuple[str, ...] | None = None
    owned: tuple[TopicPartitions, ...] | None = None
    generation_id: int | None = None
    user_data: bytes | None = None
    assigned: tuple[TopicPartitions, ...] | None = None
    member_epoch: int | None = None
    target: tuple[TopicPartitions, ...] | None = None
    process_id: str | None = None
    tasks: RecordedTasks | None = None
    target_tasks: RecordedTasks | None = None


class RecordedOffset(NamedTuple):
    """The committed offset of a group in a partition; a tuple, since there can be a million.

    Parameters
    ----------
    current_offset : None if no offset is committed; the start offset of a share group's partition.
    log_end_offset : None if unknown.
    lag : in records; below 0 if the log was truncated.
    member_id : the member that reads the partition, or None; as recorded, so that it may have left since.
    """

    topic: str
    partition: int
    current_offset: int | None = None
    log_end_offset: int | None = None
    lag: int | None = None
    member_id: str | None = None


GroupType: TypeAlias = Literal["consumer", "share", "streams"]
"""A group of the new protocols (KIP-848, KIP-932, KIP-1071), in Kafka's words."""


@dataclass(frozen=True, slots=True)
class RecordedGroup:
    """A group.

    Parameters
    ----------
    type : None for a classic group, and if it is unknown.
    group_epoch, assignment_epoch, topology_epoch : of the group, of its target assignment and of its topology, as the
        coordinator counts them; None for a classic group, and if they are unknown.
    state, assignor : in Kafka's words (`Stable`, `range`); None if unknown.
    members : in the order of the source, which is the coordinator's, and in which the leader gets them.
    offsets : by topic and partition.
    """

    group_id: str
    state: str | None = None
    assignor: str | None = None
    members: tuple[RecordedMember, ...] = ()
    offsets: tuple[RecordedOffset, ...] = ()
    type: GroupType | None = None
    group_epoch: int | None = None
    assignment_epoch: int | None = None
    topology_epoch: int | None = None
