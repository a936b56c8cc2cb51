"""One rebalance of a group: what its protocol has the members give up, and the phases it takes.

Eager: every member gives up all it has, then the assignor's answer is taken over whole.

Cooperative: members keep what they have while the assignor answers. A partition that goes from one member to another
is left out of the answer, its owner gives it up, and the group rebalances once more; the second phase hands it to its
new reader. Kafka's cooperative-sticky assignor leaves such partitions out itself; for any other it is done here, since
Kafka would refuse the answer.

Reconciled: the coordinator asks its assignor once and keeps the answer as the group's target. Each member gives up what
it has beyond its target, and takes up the rest of that as soon as nobody else has it: the same two phases, one answer.

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
"""A cooperative group that still hands over after so many phases is not going to settle."""


class Protocol(Enum):
    """How the members of a group hand partitions over."""

    EAGER = "eager"
    COOPERATIVE = "cooperative"
    RECONCILED = "reconciled"


@dataclass(frozen=True, slots=True)
class Phase:
    """One round of joining and assigning.

    Parameters
    ----------
    assignment : what each member has at its end.
    revoked : partitions that members gave up: all that they had, where it is eager.
    added : partitions that members have at its end and had not at its start.
    pending : partitions that were given up and that nobody has at its end; the next phase hands them out.
    """

    assignment: GroupAssignment
    revoked: int
    added: int
    pending: int


@dataclass(frozen=True, slots=True, eq=False)
class Rebalance:
    """A rebalance from its start until nobody has to give anything up.

    Parameters
    ----------
    answer : of the assignor to the members as they joined.
    members : as they are at the end, with what they own and its generation.
    settled : False where a cooperative group still handed over after `MOST_PHASES`.
    """

    answer: GroupAssignment
    members: tuple[Member, ...]
    phases: tuple[Phase, ...]
    settled: bool

    @property
    def assignment(self) -> GroupAssignment:
        """What each member has at the end."""
        return self.phases[-1].assignment


def with_owned(
    members: Sequence[Member], metadata: GroupMetadata, assignment: GroupAssignment, *, protocol: Protocol
) -> tuple[Member, ...]:
    """The members as they are when they have taken an assignment over, one generation on.

    An eager member says what it owns (to a sticky assignor) in the order in which it was assigned, others by topic and
    partition.
    """
    generation = max((member.generation_id for member in members if member.generation_id is not None), default=0) + 1
    if protocol is not Protocol.EAGER:
        table = partition_table(metadata)
        ids = [member.id for member in members]
        assignment = assignment_of(table, assigned_members(table, assignment, ids), ids)
    owned = owned_after(assignment)
    return tuple(replace(member, owned=owned.get(member.id, ()), generation_id=generation) for member in members)


def rebalance(members: Sequence[Member], metadata: GroupMetadata, *, assign: Assign, protocol: Protocol) -> Rebalance:
    """Have a group rebalance, from what its members say they own.

    A group without members has nobody to call the assignor; its one phase assigns nothing.
    """
    if not members:
        empty = assignment_of(table := partition_table(metadata), np.full(table.rows, NO_MEMBER, np.int32), ())
        return Rebalance(empty, (), (Phase(empty, 0, 0, 0),), settled=True)
    phases: list[Phase] = []
    current = tuple(members)
    answer = first = assign(members, metadata)
    while len(phases) < MOST_PHASES:
        phase = _phase(current, metadata, answer, protocol)
        phases.append(phase)
        current = with_owned(current, metadata, phase.assignment, protocol=protocol)
        if protocol is Protocol.EAGER or not phase.revoked:
            return Rebalance(first, current, tuple(phases), settled=True)
        if protocol is Protocol.COOPERATIVE:
            answer = assign(current, metadata)
    return Rebalance(first, current, tuple(phases), settled=False)


def _phase(members: Sequence[Member], metadata: GroupMetadata, answer: GroupAssignment, protocol: Protocol) -> Phase:
    table = partition_table(metadata)
    ids = [member.id for member in members]
    owned = owning_members(table, members)
    if protocol is not Protocol.EAGER:
        answer = _left_out(table, answer, owned, ids)
    held = assigned_members(table, answer, ids)
    had, has, differs = owned != NO_MEMBER, held != NO_MEMBER, owned != held
    given_up = had if protocol is Protocol.EAGER else had & differs
    return Phase(
        assignment=answer,
        revoked=int(np.count_nonzero(given_up)),
        added=int(np.count_nonzero(has & differs)),
        pending=int(np.count_nonzero(given_up & ~has)),
    )


def _left_out(table: PartitionTable, answer: GroupAssignment, owned: Int32s, ids: Sequence[str]) -> GroupAssignment:
    """An answer without the partitions that other members own."""
    rows = table.rows_of(answer.topics, answer.topic_index, answer.partitions)
    now = np.append(owned, NO_MEMBER)[rows]
    kept = (rows == NO_ROW) | (now == NO_MEMBER) | (now == members_of_entries(answer, ids))
    places = np.repeat(np.arange(len(answer.members)), np.diff(answer.offsets))
    counts = np.bincount(places[kept], minlength=len(answer.members))
    offsets = np.concatenate([np.zeros(1, np.int64), np.cumsum(counts, dtype=np.int64)])
    return replace(answer, offsets=offsets, topic_index=answer.topic_index[kept], partitions=answer.partitions[kept])
