"""Consumer groups as they were when the cluster was described: what a plan starts from, not yet what an assignor takes.

What was recorded depends on who was asked. A table of `kafka-consumer-groups` says which partitions a member has, and
nothing of its rack or subscription; the coordinator's own answer says all of it. None stands for what was not said, so
that a plan can tell "no rack" from "nobody knows".
"""

from dataclasses import dataclass
from typing import NamedTuple


class TopicPartitions(NamedTuple):
    """Partitions of one topic, in the order in which somebody lists them."""

    topic: str
    partitions: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class RecordedMember:
    """A member of a group.

    Parameters
    ----------
    topics : its subscription, in its own order; None where the record does not say. Then it says nothing either of
        `rack_id`, `owned`, `generation_id` and `user_data`, all of which a subscription carries.
    rack_id : None, beside a subscription, where the member has none.
    owned : what it said it owns, each topic once. generation_id : of that; None where it did not say.
    user_data : the assignor's own bytes in the subscription.
    assigned : what it was given, each topic once; None where the record does not say, as while the group rebalances.
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


@dataclass(frozen=True, slots=True)
class RecordedOffset:
    """How far a group has read a partition.

    Parameters
    ----------
    current_offset, log_end_offset : None where nothing is committed, or nobody knows the log's end.
    lag : records; below 0 where the log was cut back.
    member_id : who reads it, None for nobody; as recorded, so perhaps a member that has left since.
    """

    topic: str
    partition: int
    current_offset: int | None = None
    log_end_offset: int | None = None
    lag: int | None = None
    member_id: str | None = None


@dataclass(frozen=True, slots=True)
class RecordedGroup:
    """A group.

    Parameters
    ----------
    state, assignor : as Kafka names them (`Stable`, `range`); None where the record does not say.
    members : in the order in which they were listed. It is the coordinator's, and the leader gets them in it.
    offsets : by topic and partition.
    """

    group_id: str
    state: str | None = None
    assignor: str | None = None
    members: tuple[RecordedMember, ...] = ()
    offsets: tuple[RecordedOffset, ...] = ()
