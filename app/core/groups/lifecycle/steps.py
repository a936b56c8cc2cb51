"""Events in order, and the rebalances, revocations, moves and locality that each of them causes."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from app.core.groups.lifecycle.events import (
    Event,
    GroupChange,
    GroupState,
    SingleEvent,
    change_of,
    singles_of,
)
from app.core.groups.lifecycle.rebalance import GroupRebalance, Protocol, rebalance
from app.core.groups.lifecycle.rebalance_trigger import Trigger
from app.core.groups.measures.handover import Handover, handover
from app.core.groups.measures.locality import Locality, locality
from app.core.groups.measures.pauses import pauses
from app.core.groups.model import Assign, GroupAssignment, GroupMetadata, Member
from app.core.model import Int64s
from app.errors.requests import ConflictingFields


@dataclass(frozen=True, slots=True, eq=False)
class GroupStep:
    """One event and its effects.

    Parameters
    ----------
    index : of the event that the step is, or is part of.
    starting : the members at the start of the first rebalance: those after the event, with what they owned before it.
    members, metadata : after the event; the members own what they are assigned.
    rebalances : in order; empty if the group does not rebalance.
    trigger : the leader's decision, for events that change the metadata; None for the others.
    assignment : after the event.
    handover : from before the event to after it.
    revoked : number of partitions that members revoked over all phases. Eager members revoke all, so that it exceeds
        the number of partitions that they lose.
    locality_before, locality_after : each with the members and metadata of its time.
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
    locality_after: Locality
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
    steps = []
    for index, event in enumerate(events):
        for single in singles_of(state, event, has_interval=has_interval):
            try:
                change = change_of(state, single)
            except ConflictingFields as failure:
                failure.path = ("events", index, *failure.path)
                raise
            step, state = _step(state, single, change, assign, protocol, index)
            steps.append(step)
    return tuple(steps)


def _step(
    state: GroupState, event: SingleEvent, change: GroupChange, assign: Assign, protocol: Protocol, index: int
) -> tuple[GroupStep, GroupState]:
    before = state.assignment()
    renamed = replace(before, members=tuple(change.new_id_of.get(member, member) for member in before.members))
    rebalances: list[GroupRebalance] = []
    for target in change.rebalanced:
        # In this rebalance, a member owns what the previous one has assigned to it.
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
        locality_after=locality(current.members, current.metadata, after),
        pauses=pauses(current.metadata, assignments, is_eager=protocol is Protocol.EAGER),
    )
    return step, current
