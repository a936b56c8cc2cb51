"""The best possible of a share group: the smallest largest load that covers every partition, and its spread."""

from collections.abc import Sequence
from dataclasses import dataclass

from app.core.groups.arrays.partition_table import partition_table
from app.core.groups.arrays.subscriptions import subscription_classes
from app.core.groups.model import GroupMetadata, Member
from app.core.groups.optimum.fair_shares import fair_shares


@dataclass(frozen=True, slots=True)
class BestSharing:
    """What no assignment that covers every subscribed partition improves.

    Parameters
    ----------
    largest_load : in partitions of a member.
    spread : largest − smallest load, with that largest load. Members share partitions to reach it.
    """

    largest_load: int
    spread: int


def best_sharing(members: Sequence[Member], metadata: GroupMetadata) -> BestSharing:
    """The best largest load and spread, exactly. The largest load is that of the fairest division of partitions among
    members; a member with less can read partitions of others, up to all that it subscribes to.

    Parameters
    ----------
    metadata : with the partitions that may be assigned.

    Examples
    --------
    >>> from app.core.groups.model import TopicMetadata
    >>> def topic(name, partitions):
    ...     return TopicMetadata(name, np.empty((partitions, 0), np.int32))
    >>> metadata = GroupMetadata({}, {"a": topic("a", 1), "b": topic("b", 6)})
    >>> best_sharing([Member("M0", ("a",)), Member("M1", ("b",)), Member("M2", ("a", "b"))], metadata)
    BestSharing(largest_load=3, spread=2)
    """
    table = partition_table(metadata)
    shares = fair_shares(subscription_classes(members, table))
    largest = max((share.high for share in shares), default=0)
    sizes = {topic: len(metadata.topics[topic].replicas) for topic in metadata.topics}
    reach = min((sum(sizes.get(topic, 0) for topic in set(member.topics)) for member in members), default=0)
    return BestSharing(largest, largest - min(largest, reach))
