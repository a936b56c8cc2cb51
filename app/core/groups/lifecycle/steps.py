"""Events in order, and the rebalances, revocations, moves and locality that each of them causes.

Events of a share group (KIP-932): members read partitions together, so that nothing is handed over.

A member gets its target at once: no other member has to give up partitions first. If Kafka's own
assignor fails, the coordinator keeps the target assignment that it has.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TypeVar

import numpy as np

from app.core.groups.arrays.owned import owned_after
from app.core.groups.arrays.partition_table import assigned_members, partition_table
from app.core.groups.lifecycle.events import Event, GroupChange, GroupState, SingleEvent, change_of, singles_of
from app.core.groups.lifecycle.rebalance import GroupRebalance, Protocol, rebalance
from app.core.groups.lifecycle.rebalance_trigger import Trigger
from app.core.groups.measures.locality import Handover, Locality, handover, locality
from app.core.groups.measures.sharing import member_partitions, shared_assignment
from app.core.groups.model import Assign, GroupAssignment, GroupMetadata, Member
from app.core.model import NO_MEMBER, Int64s
from app.errors.kafka import KafkaRefuses
from app.errors.requests import ConflictingFields

Step = TypeVar("Step")


def pauses(metadata: GroupMetadata, assignments: Sequence[GroupAssignment], *, is_eager: bool) -> Int64s:
    """Count the rebalances in each of which a partition is revoked from one member before it is assigned.

    In an eager rebalance, members revoke all partitions; in others, those that change members. A partition that has
    no member before or after a rebalance is not paused by it.

    Parameters
    ----------
    assignments : before the first rebalance, and after each.

    Returns
    -------
    (rows,) int64 by partition, as `partition_table` numbers them.
    """
    table = partition_table(metadata)
    ids = list(dict.fromkeys(member for assignment in assignments for member in assignment.members))
    owners = np.array([assigned_members(table, assignment, ids) for assignment in assignments])
    is_read = owners != NO_MEMBER
    is_paused = is_read[:-1] & is_read[1:] & (is_eager | (owners[:-1] != owners[1:]))
    return np.asarray(is_paused.sum(axis=0), np.int64)


@dataclass(frozen=True, slots=True, eq=False)
class GroupStep:
    """One event and its effects.

    Parameters
    ----------
    index : of the event that the step is, or is part of.
    starting : the members at the start of the first rebalance: after the event, with partitions owned before.
    members, metadata : after the event; the members own their assignment.
    rebalances : in order; empty if the group does not rebalance.
    trigger : the leader's decision, for events that change the metadata; None for the others.
    assignment : after the event.
    handover : from before the event to after it.
    revoked : number of partitions that members revoked over all phases. Eager members revoke all, so that it exceeds
        the number of partitions that they lose.
    locality_before : with the members and metadata before the event.
    pauses : (rows,) int64 number of the rebalances that pause each partition of `metadata`.
    """

    index: int
    event: SingleEvent
    starting: tuple[Member, ...]
    members: tuple[Member, ...]
    metadata: GroupMetadata
    rebalances: tuple[GroupRebalance, ...]
    trigger: Trigger | None
    assignment: GroupAssignment
    handover: Handover
    revoked: int
    locality_before: Locality
    pauses: Int64s = field(repr=False)


def apply_events(
    members: Sequence[Member],
    metadata: GroupMetadata,
    events: Sequence[Event],
    *,
    assign: Assign,
    protocol: Protocol,
    leader: str | None = None,
    has_interval: bool = False,
) -> tuple[GroupStep, ...]:
    """Apply events in order, each to the outcome of the previous one.

    Parameters
    ----------
    members : with the partitions that they own now; `rebalance.with_owned` sets an assignment.
    assign : any assignor.
    protocol : the rebalance protocol of its members.
    leader : a member's id; the first of the members if it is None, or has left.
    has_interval : whether the coordinator computes one assignment for a burst; otherwise each of its events is a step.

    Raises
    ------
    ConflictingFields : if an event is impossible: it names a member, rack or topic that does not exist, or adds a
        member that exists. Its path contains the index of the event.
    Errors of the assignor are raised unchanged.
    """
    state = GroupState(tuple(members), metadata, leader, is_led=protocol is not Protocol.RECONCILED)
    return _in_order(state, events, partial(_step, assign=assign, protocol=protocol), has_interval=has_interval)


def _in_order(
    state: GroupState,
    events: Sequence[Event],
    step_of: Callable[[GroupState, SingleEvent, GroupChange, int], tuple[Step, GroupState]],
    *,
    has_interval: bool,
) -> tuple[Step, ...]:
    steps = []
    for index, event in enumerate(events):
        for single in singles_of(state, event, has_interval=has_interval):
            try:
                change = change_of(state, single)
            except ConflictingFields as failure:
                failure.path = ("events", index, *failure.path)
                raise
            step, state = step_of(state, single, change, index)
            steps.append(step)
    return tuple(steps)


def _step(
    state: GroupState, event: SingleEvent, change: GroupChange, index: int, *, assign: Assign, protocol: Protocol
) -> tuple[GroupStep, GroupState]:
    before = state.assignment()
    renamed = replace(before, members=tuple(change.new_id_of.get(member, member) for member in before.members))
    rebalances: list[GroupRebalance] = []
    for target in change.rebalanced:
        # In this rebalance, a member owns its previous assignment.
        after_previous = {member.id: member for member in rebalances[-1].members} if rebalances else {}
        members = [after_previous.get(member.id, member) for member in target.members]
        rebalances.append(rebalance(members, target.metadata, assign=assign, protocol=protocol))
    current = replace(change.state, members=rebalances[-1].members) if rebalances else change.state
    after = rebalances[-1].assignment if rebalances else current.assignment()
    assignments = [renamed, *(done.assignment for done in rebalances)]
    step = GroupStep(
        index=index,
        event=event,
        starting=change.state.members,
        members=current.members,
        metadata=current.metadata,
        rebalances=tuple(rebalances),
        trigger=change.trigger,
        assignment=after,
        handover=handover(current.metadata, renamed, after),
        revoked=sum(phase.revoked for done_rebalance in rebalances for phase in done_rebalance.phases),
        locality_before=locality(state.members, state.metadata, before),
        pauses=pauses(current.metadata, assignments, is_eager=protocol is Protocol.EAGER),
    )
    return step, current


@dataclass(frozen=True, slots=True, eq=False)
class ShareStep:
    """One event and its effects.

    Parameters
    ----------
    index : of the event that the step is, or is part of.
    members, metadata : after the event; the members own their assignment.
    trigger : for events that change the metadata; None for the others.
    added, removed : pairs of a member and a partition that the step adds and removes.
    failures : of the assignor, in the order in which it was called; then members keep their partitions.
    """

    index: int
    event: SingleEvent
    members: tuple[Member, ...]
    metadata: GroupMetadata
    trigger: Trigger | None
    assignment: GroupAssignment
    added: int
    removed: int
    failures: tuple[KafkaRefuses, ...]
    locality_before: Locality


def apply_share_events(
    members: Sequence[Member],
    metadata: GroupMetadata,
    events: Sequence[Event],
    *,
    assign: Assign,
    has_interval: bool = False,
) -> tuple[ShareStep, ...]:
    """Apply events in order, each to the outcome of the previous one.

    Parameters
    ----------
    members : with the partitions that they own now.
    assign : a share group's assignor.
    has_interval : as in `steps.apply_events`.

    Raises
    ------
    ConflictingFields : if an event is impossible; its path contains the index of the event.
    """
    state = GroupState(tuple(members), metadata, leader=None, is_led=False)
    return _in_order(state, events, partial(_share_step, assign=assign), has_interval=has_interval)


def with_shared(members: Sequence[Member], assignment: GroupAssignment) -> tuple[Member, ...]:
    """The members with the partitions of an assignment."""
    owned = owned_after(assignment)
    return tuple(replace(member, owned=owned.get(member.id, ()), generation_id=0) for member in members)


def _share_step(
    state: GroupState, event: SingleEvent, change: GroupChange, index: int, *, assign: Assign
) -> tuple[ShareStep, GroupState]:
    earlier = shared_assignment(state.members)
    before = member_partitions(earlier)
    owned = {member.id: member.owned for member in state.members}
    failures: list[KafkaRefuses] = []
    choices = 0
    current = change.state.members
    for target in change.rebalanced:
        # A member has the partitions of the previous call; a new one has none.
        current = tuple(replace(member, owned=owned.get(member.id, ())) for member in target.members)
        try:
            answer = assign(current, target.metadata) if current else shared_assignment(())
        except KafkaRefuses as failure:
            failures.append(failure)
        else:
            current = with_shared(current, answer)
            choices += answer.arbitrary_choices
        owned = {member.id: member.owned for member in current}
    assignment = replace(shared_assignment(current), arbitrary_choices=choices)
    after = member_partitions(assignment)
    step = ShareStep(
        index=index,
        event=event,
        members=current,
        metadata=change.state.metadata,
        trigger=change.trigger,
        assignment=assignment,
        added=len(after - before),
        removed=len(before - after),
        failures=tuple(failures),
        locality_before=locality(state.members, state.metadata, earlier),
    )
    return step, replace(change.state, members=current)
