"""One rebalance of a group: the partitions that its protocol revokes, and its phases.

Eager: every member revokes all its partitions, then the assignor's answer takes effect at once.

Cooperative: members keep their partitions while the assignor runs. A partition that moves is left out of the answer,
its owner revokes it, and the group rebalances again; the second phase assigns it to its new member. Kafka's
cooperative-sticky assignor leaves such partitions out itself; for any other assignor this module does, since Kafka
would reject the answer.

Reconciled: the coordinator calls its assignor once and stores the answer as the group's target. Each member revokes the
partitions beyond its target, and gets the rest of its target as soon as no other member owns it: two phases.

Source: KIP-429, "Proposed Changes"; KIP-848, "Group Coordinator".
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import Enum

import numpy as np

from app.core.groups.arrays.owned import owned_after, owning_members
from app.core.groups.arrays.partition_table import (
    NO_ROW,
    PartitionTable,
    assigned_members,
    assignment_of,
    members_of_entries,
    partition_table,
)
from app.core.groups.model import Assign, GroupAssignment, GroupMetadata, Member
from app.core.model import NO_MEMBER, Int32s

MOST_PHASES = 8
"""A cooperative group that still moves partitions after this number of phases does not converge."""


class Protocol(Enum):
    """The rebalance protocol of a group."""

    EAGER = "eager"
    COOPERATIVE = "cooperative"
    RECONCILED = "reconciled"


@dataclass(frozen=True, slots=True)
class Phase:
    """One round of joining and assigning.

    Parameters
    ----------
    assignment : at the end of the phase.
    revoked : number of partitions that members revoked; all that they owned if the protocol is eager.
    added : number of partitions that members have at the end and did not have at the start.
    pending : number of revoked partitions that no member has at the end; the next phase assigns them.
    """

    assignment: GroupAssignment
    revoked: int
    added: int
    pending: int


@dataclass(frozen=True, slots=True, eq=False)
class GroupRebalance:
    """A rebalance from its start until no member has to revoke a partition.

    Parameters
    ----------
    answer : of the assignor to the members as they joined.
    members : at the end, with their owned partitions and generation.
    phases : in order.
    settled : False if a cooperative group still moves partitions after `MOST_PHASES`.
    """

    answer: GroupAssignment
    members: tuple[Member, ...]
    phases: tuple[Phase, ...]
    settled: bool

    @property
    def assignment(self) -> GroupAssignment:
        """The assignment at the end."""
        return self.phases[-1].assignment


def with_owned(
    members: Sequence[Member], metadata: GroupMetadata, assignment: GroupAssignment, *, protocol: Protocol
) -> tuple[Member, ...]:
    """The members after an assignment took effect, in the next generation.

    An eager member lists its owned partitions (for a sticky assignor) in the order of the assignment, other members by
    topic and partition.
    """
    generation = max((member.generation_id for member in members if member.generation_id is not None), default=0) + 1
    if protocol is not Protocol.EAGER:
        table = partition_table(metadata)
        ids = [member.id for member in members]
        assignment = assignment_of(table, assigned_members(table, assignment, ids), ids)
    owned = owned_after(assignment)
    return tuple(replace(member, owned=owned.get(member.id, ()), generation_id=generation) for member in members)


def rebalance(
    members: Sequence[Member], metadata: GroupMetadata, *, assign: Assign, protocol: Protocol
) -> GroupRebalance:
    """Rebalance a group, from the partitions that its members claim to own.

    In a group without members the assignor is not called; its one phase assigns no partition.

    Parameters
    ----------
    assign : any assignor.
    protocol : the rebalance protocol of its members.
    """
    if not members:
        empty = assignment_of(table := partition_table(metadata), np.full(table.rows, NO_MEMBER, np.int32), ())
        return GroupRebalance(empty, (), (Phase(empty, 0, 0, 0),), settled=True)
    phases: list[Phase] = []
    current = tuple(members)
    answer = first = assign(members, metadata)
    while len(phases) < MOST_PHASES:
        phase = _phase(current, metadata, answer, protocol)
        phases.append(phase)
        current = with_owned(current, metadata, phase.assignment, protocol=protocol)
        if protocol is Protocol.EAGER or not phase.revoked:
            return GroupRebalance(first, current, tuple(phases), settled=True)
        if protocol is Protocol.COOPERATIVE:
            answer = assign(current, metadata)
    return GroupRebalance(first, current, tuple(phases), settled=False)


def _phase(members: Sequence[Member], metadata: GroupMetadata, answer: GroupAssignment, protocol: Protocol) -> Phase:
    table = partition_table(metadata)
    ids = [member.id for member in members]
    owners = owning_members(table, members)
    if protocol is not Protocol.EAGER:
        answer = _without_owned_by_others(table, answer, owners, ids)
    assigned = assigned_members(table, answer, ids)
    had_owner, is_assigned, differs = owners != NO_MEMBER, assigned != NO_MEMBER, owners != assigned
    is_revoked = had_owner if protocol is Protocol.EAGER else had_owner & differs
    return Phase(
        assignment=answer,
        revoked=int(np.count_nonzero(is_revoked)),
        added=int(np.count_nonzero(is_assigned & differs)),
        pending=int(np.count_nonzero(is_revoked & ~is_assigned)),
    )


def _without_owned_by_others(
    table: PartitionTable, answer: GroupAssignment, owners: Int32s, ids: Sequence[str]
) -> GroupAssignment:
    """The answer without the partitions that other members own."""
    rows = table.rows_of(answer.topics, answer.topic_index, answer.partitions)
    owner_of_entry = np.append(owners, NO_MEMBER)[rows]
    is_free = (owner_of_entry == NO_MEMBER) | (owner_of_entry == members_of_entries(answer, ids))
    is_kept = (rows == NO_ROW) | is_free
    member_of_entry = np.repeat(np.arange(len(answer.members)), np.diff(answer.offsets))
    counts = np.bincount(member_of_entry[is_kept], minlength=len(answer.members))
    offsets = np.concatenate([np.zeros(1, np.int64), np.cumsum(counts, dtype=np.int64)])
    return replace(
        answer, offsets=offsets, topic_index=answer.topic_index[is_kept], partitions=answer.partitions[is_kept]
    )
