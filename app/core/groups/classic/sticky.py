"""The classic sticky assignor: balanced shares that keep as many owned partitions as possible.

If all members subscribe to the same topics, shares differ by at most one partition (`constrained`); otherwise no member
could take a partition from one that has two more (`general`). The next goals are racks, if they distinguish partitions,
and ownership. The protocol is eager: members revoke all partitions before they join, and get the answer at once.

Owned partitions and their generation are in the assignor's user data. Of several claims the newest generation counts;
if two members of one generation claim a partition, neither owns it.

Source: KIP-54, KIP-341, KIP-881; `org.apache.kafka.clients.consumer.StickyAssignor` of Apache Kafka 4.0.
"""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from app.core.groups.model import GroupAssignment, GroupMetadata, Member, Owned
from app.core.groups.sticky_builders import sticky_assignment
from app.core.jvm import JavaHashMap
from app.core.jvm.hashes import STRING
from app.core.kafka_versions import Replayed
from app.core.model import Int32s

REPLAYS = Replayed("org.apache.kafka.clients.consumer.StickyAssignor")


def assign(members: Sequence[Member], metadata: GroupMetadata) -> GroupAssignment:
    """Assign partitions as `StickyAssignor` does. O(partitions · racks + members²) if subscriptions are equal.

    Parameters
    ----------
    members : in the order in which they are put into the map of subscriptions. `owned` and `generation_id` as in the
        user data, see `in_user_data`; without a generation there is no user data, and the member owns nothing.
    metadata : subscribed topics without metadata or partitions are left out, but count when subscriptions are compared.

    Returns
    -------
    Every member has a list, in Kafka's order.

    Raises
    ------
    NoMembers : if there are none; Kafka's own code fails.
    OwnedPartitionMissing, AssignorLosesCount : if Kafka's own code fails on the owned partitions.
    AssignorNeverEnds : if Kafka's own code does not terminate on the owned partitions.

    Examples
    --------
    >>> import numpy as np
    >>> from app.core.groups.model import GroupMetadata, Member, Owned, TopicMetadata
    >>> t = TopicMetadata("t", np.zeros((4, 1), np.int32))
    >>> owned = (Owned("t", np.array([1, 2, 3], np.int32)),)
    >>> members = [Member("C0", ("t",), owned=owned, generation_id=1), Member("C1", ("t",))]
    >>> answer = assign(members, GroupMetadata({}, {"t": t}))
    >>> answer.offsets.tolist(), answer.partitions.tolist()
    ([0, 2, 4], [1, 2, 0, 3])
    """
    claimed = {member.id: member.generation_id for member in members}
    generations = {member: generation for member, generation in claimed.items() if generation is not None}
    return sticky_assignment(members, metadata, claimed_generation=generations, cooperative=False)


def in_user_data(member: Member) -> Member:
    """The member with its owned partitions in the order in which its client writes them into the user data.

    The client groups them by topic, in the order in which a HashMap iterates over the topics. Partitions that were read
    from user data are in that order already, and must not be grouped again: topics whose hashes collide would change
    places.
    """
    by_topic: JavaHashMap[str, list[Int32s]] = JavaHashMap(STRING)
    for run in member.owned:
        # Kafka looks up the topic's list once for each partition, and a lookup alone can enlarge the map.
        for partitions in (run.partitions[:1], run.partitions[1:]):
            if len(partitions):
                by_topic.compute_if_absent(run.topic, list).append(partitions)
    owned = tuple(Owned(topic, np.concatenate(runs)) for topic, runs in by_topic.items())
    return replace(member, owned=owned)
