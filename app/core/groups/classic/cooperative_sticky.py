"""The classic cooperative-sticky assignor: the sticky one, in two phases.

Members keep their partitions while they rejoin. A partition that moves is therefore left out of its new member's list
until its old member has revoked it; then the group rebalances again. So an assignment is final if no partition was
withheld.

Owned partitions and their generation are fields of the subscription itself.

Source: KIP-429, KIP-881; `org.apache.kafka.clients.consumer.CooperativeStickyAssignor` of Apache Kafka 4.0.
"""

from collections.abc import Sequence

from app.core.groups.model import GroupAssignment, GroupMetadata, Member
from app.core.groups.sticky_builders import sticky_assignment
from app.core.kafka_versions import Replayed

REPLAYS = Replayed("org.apache.kafka.clients.consumer.CooperativeStickyAssignor")


def assign(members: Sequence[Member], metadata: GroupMetadata) -> GroupAssignment:
    """Assign partitions as `CooperativeStickyAssignor` does: the lists of the current phase.

    Parameters
    ----------
    members : in the order in which they are put into the map of subscriptions. `owned` counts with and without
        `generation_id`; a missing or negative generation is older than any.
    metadata : as for the sticky assignor.

    Returns
    -------
    Every member has a list, in Kafka's order, without withheld partitions.

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
    >>> answer.offsets.tolist(), answer.partitions.tolist()  # partition 3 is withheld from C1 until C0 revokes it
    ([0, 2, 3], [1, 2, 0])
    """
    generations = {
        member.id: max(-1, -1 if (generation := member.generation_id) is None else generation) for member in members
    }
    return sticky_assignment(members, metadata, claimed_generation=generations, cooperative=True)
