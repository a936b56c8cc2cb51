"""The classic cooperative-sticky assignor: the sticky one, in two phases.

Members keep what they have while they rejoin. A partition that goes from one member to another is therefore left out
of the new one's list as long as the old one has it; when that has given it up, the group rebalances again, and then it
is free. So an assignment is final when nothing was withheld.

What members own and their generation are fields of the subscription itself.

Source: KIP-429, KIP-881; `org.apache.kafka.clients.consumer.CooperativeStickyAssignor` of Apache Kafka 4.0.
"""

from collections.abc import Sequence

from app.core.groups.model import GroupAssignment, GroupMetadata, Member


def assign(members: Sequence[Member], metadata: GroupMetadata) -> GroupAssignment:
    """Assign partitions as `CooperativeStickyAssignor` does: the lists that members are sent in this phase.

    Parameters
    ----------
    members : in the order in which they go into the map of subscriptions. `owned` counts with and without
        `generation_id`; none and negative ones are older than any.
    metadata : as for the sticky assignor.

    Returns
    -------
    Every member has a list, in Kafka's order, without what it must wait for.

    Raises
    ------
    NoMembers : where there are none; Kafka's own code fails then.
    OwnedPartitionMissing, AssignorLosesCount : Kafka's own code fails on what members say they own.
    AssignorNeverEnds : it does not come to an end on what members say they own.
    """
    from app.core.groups.sticky_builders.assignment import assignment_of  # noqa: PLC0415 — numba takes long to import
    from app.core.groups.sticky_builders.group import group_of  # noqa: PLC0415 — as above

    generations = {member.id: max(-1, -1 if (own := member.generation_id) is None else own) for member in members}
    return assignment_of(group_of(members, metadata, claimed_generation=generations), cooperative=True)
