"""The two builders that the sticky assignors share, behind one function.

group.py         a group as arrays: members, topics, partitions, claims, racks; group_kernel.py has its loops
constrained.py   equal subscriptions; constrained_kernel.py has its loops
general.py       different subscriptions; reassignment.py is its loop
general_kernel.py  the compiled part of this loop; general_state_kernel.py has the arrays that it works on
"""

from collections.abc import Mapping, Sequence

import numpy as np

from app.core.groups.model import GroupAssignment, GroupMetadata, Member
from app.core.groups.sticky_builders import constrained, general
from app.core.groups.sticky_builders.group import group_of


def sticky_assignment(
    members: Sequence[Member], metadata: GroupMetadata, *, claimed_generation: Mapping[str, int], cooperative: bool
) -> GroupAssignment:
    """Assign by the builder that the subscriptions require; every member has a list, in the order of `members`.

    Parameters
    ----------
    claimed_generation : by member id, the generation of the member's claims; the claims of other members do not count.
    cooperative : withhold partitions that another member must first revoke.

    Raises
    ------
    NoMembers, OwnedPartitionMissing, AssignorLosesCount, AssignorNeverEnds : as Kafka's own code fails.
    """
    group = group_of(members, metadata, claimed_generation=claimed_generation)
    builder = constrained if group.all_equal else general
    offsets, numbers = builder.build(group, cooperative=cooperative)
    partitions = group.partitions
    return GroupAssignment(
        members=group.ids,
        topics=partitions.topics,
        offsets=np.asarray(offsets, np.int64),
        topic_index=partitions.topic_of[numbers],
        partitions=partitions.id_of[numbers],
    )
