"""A group as the coordinator's assignors read it, and what they all refuse."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Self

from app.core.groups.arrays.audiences import Audiences
from app.core.groups.arrays.member_order import hash_ordered
from app.core.groups.model import Member
from app.core.groups.server.topic_ids import set_order
from app.core.model import Int64s
from app.errors import KafkaError, SubscribedTopicMissing


class SubscriptionType(StrEnum):
    """Whether the coordinator takes all members to subscribe to the same topics."""

    HOMOGENEOUS = "HOMOGENEOUS"
    HETEROGENEOUS = "HETEROGENEOUS"


@dataclass(frozen=True, slots=True, eq=False)
class ServerGroup:
    """A group in the order in which the coordinator's hash map has its members.

    Parameters
    ----------
    ids : of the members, in the caller's order.
    hashed : (members,) int64, which of the caller's members each one is. members, audiences : in this order.
    subscription_type : as told, or else as it is.
    """

    ids: Sequence[str]
    hashed: Int64s = field(repr=False)
    members: Sequence[Member] = field(repr=False)
    audiences: Audiences
    subscription_type: SubscriptionType

    @classmethod
    def of(cls, members: Sequence[Member], subscription_type: SubscriptionType | None) -> Self:
        """Read a group. No members are homogeneous."""
        ids = [member.id for member in members]
        hashed = hash_ordered(ids)
        read = [members[index] for index in hashed.tolist()]
        audiences = Audiences.of(read)
        return cls(ids, hashed, read, audiences, subscription_type or type_of(audiences))

    @property
    def is_homogeneous(self) -> bool:
        """Whether it is dealt with as such."""
        return self.subscription_type is SubscriptionType.HOMOGENEOUS


def type_of(audiences: Audiences) -> SubscriptionType:
    """Homogeneous where all members subscribe to the same set of topics, in whatever order."""
    is_homogeneous = all(len(kinds) == len(audiences.kinds) for kinds in audiences.kinds_in)
    return SubscriptionType.HOMOGENEOUS if is_homogeneous else SubscriptionType.HETEROGENEOUS


def refuse_missing(audiences: Audiences, topics: Mapping[str, int], *, first_only: bool) -> None:
    """Raise `SubscribedTopicMissing` for the topic that Kafka comes upon first, of those that do not exist.

    Members are gone through in order, the topics of each in the order of its hash set.

    Parameters
    ----------
    first_only : look at what the first member subscribes to, as is enough where all subscribe to the same.
    """
    if all(map(topics.__contains__, audiences.topics)):
        return
    # The first member of each kind comes in the order of the members.
    for kind in audiences.kinds[:1] if first_only else audiences.kinds:
        named = [audiences.topics[topic] for topic in kind.tolist()]
        if not all(map(topics.__contains__, named)):
            refuse_first_missing([named[place] for place in set_order(named).tolist()], topics)


def refuse_first_missing(in_order: Sequence[str], topics: Mapping[str, int]) -> None:
    """Raise `SubscribedTopicMissing` for the first of some topics that does not exist."""
    for topic in in_order:
        if topic not in topics:
            message = f"Members are subscribed to topic {topic} which doesn't exist in the topic metadata."
            raise SubscribedTopicMissing(
                f"members subscribe to topic {topic}, which does not exist",
                kafka=KafkaError("PartitionAssignorException", message),
                path=("members",),
                topic=topic,
            )
