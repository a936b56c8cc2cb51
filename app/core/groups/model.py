"""What an assignor works on: members, the topics' metadata, and its answer. Arrays inside, so that millions are few."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from app.core.model import Int32s, Int64s


@dataclass(frozen=True, slots=True, eq=False)
class Owned:
    """Partitions that a member says it owns: runs of one topic, in the order in which it lists them."""

    topic: str
    partitions: Int32s


@dataclass(frozen=True, slots=True, eq=False)
class Member:
    """A member of a group as the leader (or the coordinator) sees it.

    Parameters
    ----------
    topics : as subscribed, in the member's own order. For the coordinator's assignors they are topic ids (base64).
    rack_id : None where it has none; `""` counts as none.
    owned : what it says it owns; generation_id : of that, None where it does not say.
    """

    id: str
    topics: tuple[str, ...]
    rack_id: str | None = None
    group_instance_id: str | None = None
    owned: Sequence[Owned] = ()
    generation_id: int | None = None


@dataclass(frozen=True, slots=True, eq=False)
class TopicMetadata:
    """A topic that the metadata knows.

    Parameters
    ----------
    replicas : (partitions, widest) int32 broker ids, padded.
    topic_id : 16 bytes in URL-safe base64, 22 characters, by which the coordinator knows it; None where nobody said.
    """

    name: str
    replicas: Int32s
    topic_id: str | None = None


@dataclass(frozen=True, slots=True, eq=False)
class GroupMetadata:
    """What an assignor may know of the cluster: racks of brokers (a broker not named has none), topics by name."""

    rack_of: Mapping[int, str | None]
    topics: Mapping[str, TopicMetadata]


@dataclass(frozen=True, slots=True, eq=False)
class GroupAssignment:
    """Who gets what, in the exact order of Kafka's lists.

    Member i of `members` gets entries offsets[i] … offsets[i + 1] − 1 of `topic_index` and `partitions`.

    Parameters
    ----------
    members : ids. A member that Kafka's answer leaves out is not among them.
    topics : names; `topic_index` points into them.
    offsets : (members + 1,) int64. topic_index, partitions : (assigned,) int32.
    without_partitions : (member, topic) indices where the answer names a topic for a member and gives it no partition
        of it, which the coordinator's assignors do here and there. It means nothing to the member.
    """

    members: Sequence[str]
    topics: Sequence[str]
    offsets: Int64s = field(repr=False)
    topic_index: Int32s = field(repr=False)
    partitions: Int32s = field(repr=False)
    without_partitions: Sequence[tuple[int, int]] = ()


class Assign(Protocol):
    """An assignor: who gets what of the topics that the metadata knows."""

    def __call__(self, members: Sequence[Member], metadata: GroupMetadata) -> GroupAssignment: ...
