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

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from enum import Enum
from types import MappingProxyType

import numpy as np

from app.core.groups.arrays.owned import OwnedRuns, owned_after, owned_topics, owning_members
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

FEWEST_ORDERED_TOPICS = 2
"""Least number of topics that can be in an order."""
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
    members: Sequence[Member],
    metadata: GroupMetadata,
    assignment: GroupAssignment,
    *,
    protocol: Protocol,
    insertions: Mapping[tuple[str, str], tuple[int, int]] = MappingProxyType({}),
) -> tuple[Member, ...]:
    """The members after an assignment took effect, in the next generation.

    An eager member lists its owned partitions (for a sticky assignor) in the order of the assignment, other members by
    topic and partition.

    Parameters
    ----------
    insertions : `owned_since` of a member's id and a topic that is new to it.
    """
    generation = max((member.generation_id for member in members if member.generation_id is not None), default=0) + 1
    if protocol is not Protocol.EAGER:
        table = partition_table(metadata)
        ids = [member.id for member in members]
        assignment = assignment_of(table, assigned_members(table, assignment, ids), ids)
    owned = owned_after(assignment)
    if protocol is not Protocol.RECONCILED:
        return tuple(replace(member, owned=owned.get(member.id, ()), generation_id=generation) for member in members)
    return tuple(
        replace(
            member,
            owned=owned.get(member.id, ()),
            generation_id=generation,
            owned_since=_since(member, owned.get(member.id), insertions),
        )
        for member in members
    )


def _since(
    member: Member, owned: OwnedRuns | None, insertions: Mapping[tuple[str, str], tuple[int, int]]
) -> dict[str, tuple[int, int]]:
    if owned is None or not (insertions or member.owned_since):
        return {}
    had = owned_topics(member)
    since = {}
    for topic in (owned.topics[index] for index in np.unique(owned.topic_index).tolist()):
        known = member.owned_since.get(topic) if topic in had else insertions.get((member.id, topic))
        if known is not None:
            since[topic] = known
    return since


def _insertions(members: Sequence[Member], answer: GroupAssignment) -> dict[tuple[str, str], tuple[int, int]]:
    """The rebalance after all that the members know of, and the place of the first partition of each topic in it."""
    if answer.insertions is None or len(answer.topics) < FEWEST_ORDERED_TOPICS:
        return {}
    number = 1 + max((since for member in members for since, _ in member.owned_since.values()), default=0)
    pairs, places = np.unique(answer.insertions, axis=0, return_index=True)
    return {
        (answer.members[member], answer.topics[topic]): (number, place)
        for (member, topic), place in zip(pairs.tolist(), places.tolist(), strict=True)
    }


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
    insertions = _insertions(members, answer)
    while len(phases) < MOST_PHASES:
        phase = _phase(current, metadata, answer, protocol)
        phases.append(phase)
        current = with_owned(current, metadata, phase.assignment, protocol=protocol, insertions=insertions)
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
