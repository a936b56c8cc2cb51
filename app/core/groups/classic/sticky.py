"""The classic sticky assignor: even shares, and of what members owned as much as possible stays.

Where all subscribe to the same topics, shares differ by one partition at most (`constrained`); else nobody could
take a partition from one who has two more (`general`). Racks decide next, where they do, then ownership. The
protocol is eager: members give up everything before they join, so whatever is assigned they get at once.

What members owned, and in which generation, arrives in the assignor's user data; of several generations the newest is
believed, and two members of one generation that claim the same lose it both.

Source: KIP-54, KIP-341, KIP-881; `org.apache.kafka.clients.consumer.StickyAssignor` of Apache Kafka 4.0.
"""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from app.core.groups.model import GroupAssignment, GroupMetadata, Member, Owned
from app.core.jvm import JavaHashMap
from app.core.jvm.hashes import STRING
from app.core.model import Int32s


def assign(members: Sequence[Member], metadata: GroupMetadata) -> GroupAssignment:
    """Assign partitions as `StickyAssignor` does.

    Parameters
    ----------
    members : in the order in which they go into the map of subscriptions. `owned` and `generation_id` as the user data
        says them, see `in_user_data`; without a generation there is no user data, and nothing is owned.
    metadata : subscribed topics that it does not know, or knows without partitions, are left out; yet they count where
        subscriptions are compared.

    Returns
    -------
    Every member has a list, in Kafka's order.

    Raises
    ------
    NoMembers : where there are none; Kafka's own code fails then.
    OwnedPartitionMissing, AssignorLosesCount : Kafka's own code fails on what members say they own.
    AssignorNeverEnds : it does not come to an end on what members say they own.
    """
    from app.core.groups.sticky_builders.assignment import assignment_of  # noqa: PLC0415 — numba takes long to import
    from app.core.groups.sticky_builders.group import group_of  # noqa: PLC0415 — as above

    last = {member.id: member.generation_id for member in members}
    generations = {member: generation for member, generation in last.items() if generation is not None}
    return assignment_of(group_of(members, metadata, claimed_generation=generations), cooperative=False)


def in_user_data(member: Member) -> Member:
    """The member with its owned partitions as its client writes them into the user data.

    The client groups them by topic, in the order in which a HashMap iterates over the topics. What was read from user
    data is in that order already, and must not be grouped again: topics whose hashes collide would change places.
    """
    by_topic: JavaHashMap[str, list[Int32s]] = JavaHashMap(STRING)
    for run in member.owned:
        # Kafka asks for the topic's list once a partition, and asking alone may let the map grow.
        for partitions in (run.partitions[:1], run.partitions[1:]):
            if len(partitions):
                by_topic.compute_if_absent(run.topic, list).append(partitions)
    owned = tuple(Owned(topic, np.concatenate(runs)) for topic, runs in by_topic.items())
    return replace(member, owned=owned)
