"""Input and output of an assignor: members, topics' metadata, assignment. Partitions are arrays inside."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from app.core.model import Int32s, Int64s


@dataclass(frozen=True, slots=True, eq=False)
class Owned:
    """Partitions of one topic that a member claims to own, in its own order."""

    topic: str
    partitions: Int32s


@dataclass(frozen=True, slots=True, eq=False)
class Member:
    """A member of a group as the leader (or the coordinator) knows it.

    Parameters
    ----------
    topics : the subscription, in the member's own order. For the coordinator's assignors they
        are topic ids (base64), in the order of its set of them.
    rack_id : None or `""` if it has none.
    group_instance_id : of a static member, else None.
    owned : partitions that it claims to own.
    generation_id : of these claims, or None.
    owned_since : by topic, the rebalance in which the coordinator first assigned some of it, and the place of that
        among its insertions: the order of its maps if two topic ids share a bucket. A topic that is missing was there
        before all others.
    """

    id: str
    topics: tuple[str, ...]
    rack_id: str | None = None
    group_instance_id: str | None = None
    owned: Sequence[Owned] = ()
    generation_id: int | None = None
    owned_since: Mapping[str, tuple[int, int]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, eq=False)
class TopicMetadata:
    """A topic of the metadata.

    Parameters
    ----------
    replicas : (partitions, widest) int32 broker ids, padded.
    topic_id : 16 bytes in URL-safe base64, 22 characters, which the coordinator uses; None if unknown.
    """

    name: str
    replicas: Int32s
    topic_id: str | None = None


@dataclass(frozen=True, slots=True, eq=False)
class GroupMetadata:
    """The cluster as an assignor knows it.

    Parameters
    ----------
    rack_of : by broker id; a missing broker has no rack.
    topics : by name.
    """

    rack_of: Mapping[int, str | None]
    topics: Mapping[str, TopicMetadata]


@dataclass(frozen=True, slots=True, eq=False)
class GroupAssignment:
    """The partitions of each member, in the exact order of Kafka's lists.

    Member i of `members` is assigned entries offsets[i] … offsets[i + 1] − 1 of `topic_index` and `partitions`.

    Parameters
    ----------
    members : ids. A member that Kafka's answer leaves out is not among them.
    topics : names; `topic_index` points into them.
    offsets : (members + 1,) int64.
    topic_index, partitions : (assigned,) int32.
    without_partitions : (member, topic) indices if the answer names a topic for a member without any partition, which
        the coordinator's assignors sometimes do. It has no effect on the member.
    insertions : (inserted, 2) int64 indices of member and topic of the partitions that the coordinator's assignor adds
        to members, in its order; None if it is not known.
    arbitrary_choices : how often the assignor takes one of several partitions out of a set without a defined order. If
        it does, it may assign otherwise in another process.
    """

    members: Sequence[str]
    topics: Sequence[str]
    offsets: Int64s = field(repr=False)
    topic_index: Int32s = field(repr=False)
    partitions: Int32s = field(repr=False)
    without_partitions: Sequence[tuple[int, int]] = ()
    insertions: Int64s | None = field(default=None, repr=False)
    arbitrary_choices: int = 0


class Assign(Protocol):
    """An assignor: the assignment of the metadata's partitions to the members."""

    def __call__(self, members: Sequence[Member], metadata: GroupMetadata) -> GroupAssignment: ...
