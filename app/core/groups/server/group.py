"""A group as the coordinator's assignors read it, and the check of its topics that they share."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Self

from app.core.groups.arrays.subscriptions import Subscriptions, hash_ordered
from app.core.groups.model import Member
from app.core.groups.server.topic_ids import set_order
from app.core.model import Int64s
from app.errors.kafka import KafkaError, SubscribedTopicMissing


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
    hashed : (members,) int64, the caller's index of each member.
    members, subscriptions : in this order.
    subscription_type : as declared, else derived.
    """

    ids: Sequence[str]
    hashed: Int64s = field(repr=False)
    members: Sequence[Member] = field(repr=False)
    subscriptions: Subscriptions
    subscription_type: SubscriptionType

    @classmethod
    def of(cls, members: Sequence[Member], subscription_type: SubscriptionType | None) -> Self:
        """Read a group. A group without members is homogeneous."""
        ids = [member.id for member in members]
        hashed = hash_ordered(ids)
        in_hash_order = [members[index] for index in hashed.tolist()]
        subscriptions = Subscriptions.of(in_hash_order)
        return cls(ids, hashed, in_hash_order, subscriptions, subscription_type or type_of(subscriptions))

    @property
    def is_homogeneous(self) -> bool:
        """Whether all members are taken to subscribe to the same topics."""
        return self.subscription_type is SubscriptionType.HOMOGENEOUS


def type_of(subscriptions: Subscriptions) -> SubscriptionType:
    """Homogeneous if all members subscribe to the same set of topics, in any order."""
    is_homogeneous = all(len(lists) == len(subscriptions.lists) for lists in subscriptions.lists_of_subscriber_set)
    return SubscriptionType.HOMOGENEOUS if is_homogeneous else SubscriptionType.HETEROGENEOUS


def require_subscribed_topics(subscriptions: Subscriptions, topics: Mapping[str, int], *, first_only: bool) -> None:
    """Raise `SubscribedTopicMissing` for the missing topic that Kafka visits first.

    Members are visited in order, the topics of each in the order of its hash set.

    Parameters
    ----------
    first_only : check the subscription of the first member only.
    """
    if all(map(topics.__contains__, subscriptions.topics)):
        return
    # Distinct subscriptions are in the order of their first members.
    for indices in subscriptions.indices[:1] if first_only else subscriptions.indices:
        names = [subscriptions.topics[topic] for topic in indices.tolist()]
        if not all(map(topics.__contains__, names)):
            require_topics([names[index] for index in set_order(names).tolist()], topics)


def require_topics(names: Sequence[str], topics: Mapping[str, int]) -> None:
    """Raise `SubscribedTopicMissing` for the first name that is not in `topics`."""
    for topic in names:
        if topic not in topics:
            message = f"Members are subscribed to topic {topic} which doesn't exist in the topic metadata."
            raise SubscribedTopicMissing(
                f"members subscribe to topic {topic}, which does not exist",
                kafka=KafkaError("PartitionAssignorException", message),
                path=("members",),
                topic=topic,
            )
