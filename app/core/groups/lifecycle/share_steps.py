"""Events of a share group (KIP-932): members read partitions together, so that nothing is handed over.

A member gets what the coordinator's assignor gives it, and no other member has to give it up first. If Kafka's own
assignor fails, the coordinator keeps the target assignment that it has.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from app.core.groups.arrays.owned import owned_after
from app.core.groups.lifecycle.events import Event, GroupState, SingleEvent, change_of, singles_of
from app.core.groups.lifecycle.rebalance_trigger import Trigger
from app.core.groups.measures.locality import Locality, locality
from app.core.groups.measures.sharing import member_partitions, shared_assignment
from app.core.groups.model import Assign, GroupAssignment, GroupMetadata, Member
from app.errors.kafka import KafkaRefuses
from app.errors.requests import ConflictingFields


@dataclass(frozen=True, slots=True, eq=False)
class ShareStep:
    """One event and its effects.

    Parameters
    ----------
    index : of the event that the step is, or is part of.
    members, metadata : after the event; the members own what they are assigned.
    trigger : for events that change the metadata; None for the others.
    added, removed : pairs of a member and a partition that the step adds and removes.
    failures : of the assignor, in the order in which it was called; then members keep what they had.
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
    locality_after: Locality


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
    steps = []
    for index, event in enumerate(events):
        for single in singles_of(state, event, has_interval=has_interval):
            try:
                step = _step(state, single, assign, index)
            except ConflictingFields as failure:
                failure.path = ("events", index, *failure.path)
                raise
            steps.append(step)
            state = replace(state, members=step.members, metadata=step.metadata)
    return tuple(steps)


def with_shared(members: Sequence[Member], assignment: GroupAssignment) -> tuple[Member, ...]:
    """The members with what an assignment gives them."""
    owned = owned_after(assignment)
    return tuple(replace(member, owned=owned.get(member.id, ())) for member in members)


def _step(state: GroupState, event: SingleEvent, assign: Assign, index: int) -> ShareStep:
    change = change_of(state, event)
    earlier = shared_assignment(state.members)
    before = member_partitions(earlier)
    owned = {member.id: member.owned for member in state.members}
    failures: list[KafkaRefuses] = []
    current = change.state.members
    for target in change.rebalanced:
        # A member has what the previous call gave it; one that is new has nothing.
        current = tuple(replace(member, owned=owned.get(member.id, ())) for member in target.members)
        try:
            answer = assign(current, target.metadata) if current else shared_assignment(())
        except KafkaRefuses as failure:
            failures.append(failure)
        else:
            current = with_shared(current, answer)
        owned = {member.id: member.owned for member in current}
    assignment = shared_assignment(current)
    after = member_partitions(assignment)
    return ShareStep(
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
        locality_after=locality(current, change.state.metadata, assignment),
    )
