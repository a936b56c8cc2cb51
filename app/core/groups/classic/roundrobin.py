"""The classic round-robin assignor; racks do not count.

Members stand in a circle: static ones by instance id, then the others by member id. All partitions, by topic name and
number, are dealt out around it; who does not subscribe to the topic is passed over. Where all subscribe to the same
topics, shares differ by one partition at most; where they do not, nothing is promised:

    C0 reads t0; C1 reads t0 t1; C2 reads t0 t1 t2; the topics have 1, 2 and 3 partitions

    C0 → t0: 0        C1 → t1: 0        C2 → t1: 1, t2: 0 1 2

Within a topic the circle is that of its subscribers, so that a topic is dealt out at once, whatever lies between them.

Source: `org.apache.kafka.clients.consumer.RoundRobinAssignor`.
"""

from collections.abc import Sequence

import numpy as np

from app.core.groups.arrays.audiences import Audiences
from app.core.groups.arrays.member_order import hash_ordered, static_first
from app.core.groups.arrays.owners import Owners
from app.core.groups.model import GroupAssignment, GroupMetadata, Member
from app.core.jvm.hashes import utf16_order
from app.core.model import Int32s
from app.errors import KafkaError, NoMembers


def assign(members: Sequence[Member], metadata: GroupMetadata) -> GroupAssignment:
    """Assign partitions as `RoundRobinAssignor` does.

    Parameters
    ----------
    members : of distinct ids; what they own does not count.
    metadata : subscribed topics that it does not know, or knows without partitions, are left out.

    Returns
    -------
    Every member has a list, by topic name and partition.

    Raises
    ------
    NoMembers : where there are none; Kafka's own code fails then.
    """
    if not members:
        raise NoMembers(
            "a group needs 1 member or more; 0 given",
            kafka=KafkaError("IllegalArgumentException", "CircularIterator can only be used on non-empty lists"),
            path=("members",),
        )
    audiences = Audiences.of(members)
    hashed = hash_ordered([member.id for member in members])
    circle = hashed[static_first([members[index] for index in hashed.tolist()])]
    position_of = np.empty(len(members), np.int64)
    position_of[circle] = np.arange(len(members))
    readers = [audiences.members_of(audience, circle).astype(np.int32) for audience in range(len(audiences.kinds_in))]
    stand_at = [position_of[dealt_to] for dealt_to in readers]
    names: list[str] = []
    patterns: list[Int32s] = []
    at = 0
    for index in sorted(range(len(audiences.topics)), key=lambda topic: utf16_order(audiences.topics[topic])):
        topic = metadata.topics.get(audiences.topics[index])
        if topic is None or not len(topic.replicas):
            continue
        audience = audiences.audience_of[index]
        first = int(np.searchsorted(stand_at[audience], at))
        owners = _around(readers[audience], first, len(topic.replicas))
        names.append(topic.name)
        patterns.append(owners)
        at = int(position_of[owners[-1]]) + 1
    return Owners.alike(names, range(len(names)), patterns).assignment([member.id for member in members])


def _around(circle: Int32s, first: int, count: int) -> Int32s:
    """So many in a row around a circle, from the one at `first`, which may be its length: (count,)."""
    end = first + count
    # Most topics of a large group end before the circle does; a slice of it then costs nothing.
    laid_out = circle if end <= len(circle) else np.tile(circle, -(-end // len(circle)))
    return laid_out[first:end]
