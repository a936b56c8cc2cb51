"""From a group to Kafka's answer, by the builder that its subscriptions call for."""

import numpy as np

from app.core.groups.model import GroupAssignment
from app.core.groups.sticky_builders import constrained, general
from app.core.groups.sticky_builders.group import StickyGroup


def assignment_of(group: StickyGroup, *, cooperative: bool) -> GroupAssignment:
    """Every member has a list; members come in the order in which they are given.

    Parameters
    ----------
    cooperative : leave out what another member must first give up.
    """
    builder = constrained if group.subscriptions.all_equal else general
    offsets, numbers = builder.build(group, cooperative=cooperative)
    partitions = group.partitions
    return GroupAssignment(
        members=group.ids,
        topics=partitions.topics,
        offsets=np.asarray(offsets, np.int64),
        topic_index=partitions.topic_of[numbers],
        partitions=partitions.id_of[numbers],
    )
