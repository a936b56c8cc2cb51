"""The group coordinator's uniform assignor (KIP-848). As shipped it ignores racks.

Where all members subscribe to the same topics, one builder makes every member's count the same within one, and keeps
what members own up to their share. Where they do not, another one spreads topic after topic over its subscribers and
then evens out, up to 16 times over all topics.

Source: KIP-848; `org.apache.kafka.coordinator.group.assignor.UniformAssignor` of Kafka 4.0.
"""

from collections.abc import Mapping, Sequence

from app.core.groups.model import GroupAssignment, Member
from app.core.groups.server import uniform_heterogeneous, uniform_homogeneous
from app.core.groups.server.group import ServerGroup, SubscriptionType


def assign(
    members: Sequence[Member], topics: Mapping[str, int], *, subscription_type: SubscriptionType | None = None
) -> GroupAssignment:
    """Assign partitions as the coordinator's `UniformAssignor` does.

    Parameters
    ----------
    members : of distinct ids, subscribed to topic ids; `owned` is what the coordinator has assigned to them so far.
    topics : partitions by topic id.
    subscription_type : None: as it is. A group said to be homogeneous reads what its first member, in the order of
        Kafka's hash map, reads.

    Returns
    -------
    Lists go by topic id and partition. A group that subscribes to nothing has no lists, others one for every member.
    Where subscriptions differ, a partition that two members own can stay with both, as in Kafka.

    Raises
    ------
    SubscribedTopicMissing : where a member subscribes to a topic that is not in `topics`.
    OwnedPartitionMissing : where subscriptions differ and a member owns a partition that its topic does not have.
    PartitionsLeftUnassigned : where they are the same, and a member owns such a partition or one that another owns.
    """
    group = ServerGroup.of(members, subscription_type)
    if group.is_homogeneous:
        return uniform_homogeneous.build(group, topics)
    return uniform_heterogeneous.build(group, topics)
