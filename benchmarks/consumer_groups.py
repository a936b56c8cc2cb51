"""The consumer groups that assignors are measured on; they can be repeated from what is said here.

Brokers 0 … 29, broker i in `rack{i % 3}`. Topics `topic-0000` …; partition p of topic t has replicas on the brokers
(p + t) % 30 and (p + t + 1) % 30. Members `member-00000` …, member m in `rack{m % 3}`.
"""

import base64
import hashlib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType

import numpy as np

from app.core.groups.model import GroupMetadata, Member, TopicMetadata
from app.core.model import Int32s
from app.errors import Json

BROKERS = 30
RACKS = 3


def _equal(_member: int, _topic: int) -> bool:
    return True


def _unequal(member: int, topic: int) -> bool:
    return (topic + member) % 3 != 0


SUBSCRIPTIONS: Mapping[str, Callable[[int, int], bool]] = MappingProxyType({"equal": _equal, "unequal": _unequal})
"""Whether member m subscribes to topic t.

equal : all members to all topics. unequal : member m lacks the topics with (t + m) % 3 = 0.
"""


@dataclass(frozen=True, slots=True)
class Size:
    """How large a group is.

    Parameters
    ----------
    partitions : of each topic. subscriptions : as `SUBSCRIPTIONS` says.
    """

    topics: int
    partitions: int
    members: int
    subscriptions: str

    @property
    def all_partitions(self) -> int:
        """Of all topics."""
        return self.topics * self.partitions

    @property
    def parameters(self) -> Mapping[str, Json]:
        """What a result says of it."""
        return {
            "partitions": self.all_partitions,
            "topics": self.topics,
            "members": self.members,
            "subscriptions": self.subscriptions,
        }


@dataclass(frozen=True, slots=True, eq=False)
class ConsumerGroup:
    """A group whose members own nothing yet, and what its leader knows of the cluster."""

    members: tuple[Member, ...]
    metadata: GroupMetadata


def consumer_group(size: Size) -> ConsumerGroup:
    """A group as its leader has it: with racks, its topics by name."""
    names = [f"topic-{topic:04d}" for topic in range(size.topics)]
    topics = [TopicMetadata(name, _replicas(topic, size.partitions)) for topic, name in enumerate(names)]
    rack_of = {broker: f"rack{broker % RACKS}" for broker in range(BROKERS)}
    subscribes = SUBSCRIPTIONS[size.subscriptions]
    members = tuple(
        Member(
            f"member-{member:05d}",
            _own(name for topic, name in enumerate(names) if subscribes(member, topic)),
            rack_id=f"rack{member % RACKS}",
        )
        for member in range(size.members)
    )
    return ConsumerGroup(members, GroupMetadata(rack_of, {topic.name: topic for topic in topics}))


def with_topic_ids(group: ConsumerGroup) -> ConsumerGroup:
    """The same group as the coordinator has it: its topics by id, which is the first half of the name's SHA-256."""
    id_of = {name: _topic_id(name) for name in group.metadata.topics}
    members = tuple(replace(member, topics=_own(map(id_of.__getitem__, member.topics))) for member in group.members)
    topics = {id_of[name]: replace(topic, name=id_of[name]) for name, topic in group.metadata.topics.items()}
    return ConsumerGroup(members, GroupMetadata(group.metadata.rack_of, topics))


def _replicas(topic: int, partitions: int) -> Int32s:
    first = np.arange(topic, topic + partitions, dtype=np.int32)
    return np.stack([first, first + 1], axis=1) % np.int32(BROKERS)


def _own(names: Iterable[str]) -> tuple[str, ...]:
    """Strings that no other member shares, as those of members that were read from their bytes."""
    return tuple(" ".join(names).split())


def _topic_id(name: str) -> str:
    half = hashlib.sha256(name.encode()).digest()[:16]
    return base64.urlsafe_b64encode(half).decode().rstrip("=")
