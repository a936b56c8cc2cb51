"""What happens to a group, event after event: who rebalances, what is revoked, what moves, what is read in rack."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TypeAlias

import numpy as np

from app.core.groups.arrays.owned import OwnedRuns, owned_assignment
from app.core.groups.lifecycle.rebalance import Protocol, Rebalance, rebalance
from app.core.groups.lifecycle.rebalance_trigger import Trigger, trigger
from app.core.groups.measures.handover import Handover, handover
from app.core.groups.measures.locality import Locality, locality
from app.core.groups.model import Assign, GroupAssignment, GroupMetadata, Member, TopicMetadata
from app.core.model import Int32s, padded, unpadded
from app.errors import ConflictingFields


@dataclass(frozen=True, slots=True, eq=False)
class Join:
    """A member joins, at the end of the members; what its record says that it owns, it says to the assignor."""

    member: Member


@dataclass(frozen=True, slots=True)
class Leave:
    """A member leaves, or its session times out."""

    member_id: str


@dataclass(frozen=True, slots=True, eq=False)
class Replace:
    """A member is restarted and comes back under another id, perhaps in another rack or with other topics.

    With static membership, that is, with the group instance id it had, it is given back what it had and nobody
    rebalances, unless that includes a topic it no longer subscribes to. Without, it leaves and joins: two rebalances.
    Its new record's `owned` does not count: a consumer that starts owns nothing.
    """

    member_id: str
    by: Member


@dataclass(frozen=True, slots=True)
class RollingRestart:
    """Every member is restarted once, in order; each comes back as it was, under its id with `-restarted` behind it.

    It is one `Replace` a member, and one step each.
    """


@dataclass(frozen=True, slots=True)
class LoseRack:
    """A rack is lost: its members leave at once, and its brokers are no longer in the metadata.

    Its replicas stay in the partitions' lists, as offline ones do, but have no rack that a consumer could see.
    """

    rack: str


@dataclass(frozen=True, slots=True, eq=False)
class TopicGrown:
    """A topic has more partitions, `partitions` in all.

    Parameters
    ----------
    replicas : of the new ones, (new partitions, widest) int32, padded; None where nobody knows them.
    """

    topic: str
    partitions: int
    replicas: Int32s | None = None


@dataclass(frozen=True, slots=True, eq=False)
class ReplicaRacksChanged:
    """Brokers stand in other racks, or partitions have other replicas; what is not named stays.

    Parameters
    ----------
    rack_of : the new racks of brokers. replicas : all replicas of a topic, as many partitions as before.
    """

    rack_of: Mapping[int, str | None] = field(default_factory=dict)
    replicas: Mapping[str, Int32s] = field(default_factory=dict)


SingleEvent: TypeAlias = Join | Leave | Replace | LoseRack | TopicGrown | ReplicaRacksChanged
Event: TypeAlias = SingleEvent | RollingRestart


@dataclass(frozen=True, slots=True, eq=False)
class Step:
    """One event and what came of it.

    Parameters
    ----------
    index : which of the given events it is, or is part of.
    starting : the members as the first rebalance finds them: those after the event, with what they owned before it.
    members, metadata : as they are after it; the members own what they were assigned.
    rebalances : in order; empty where nobody rebalances.
    trigger : for events that change the metadata, what the leader makes of them; None for the others.
    assignment : after it. handover : from before the event to after it.
    revoked : partitions that members had to give up over all phases. Eager members give up all they have, so that it is
        more than what they lose for good.
    locality_before, locality_after : each by the members and metadata of its time.
    """

    index: int
    event: SingleEvent
    starting: tuple[Member, ...]
    members: tuple[Member, ...]
    metadata: GroupMetadata
    rebalances: tuple[Rebalance, ...]
    trigger: Trigger | None
    assignment: GroupAssignment
    handover: Handover
    revoked: int
    locality_before: Locality
    locality_after: Locality


def apply_events(
    members: Sequence[Member],
    metadata: GroupMetadata,
    events: Sequence[Event],
    *,
    assign: Assign,
    protocol: Protocol,
    leader: str | None = None,
) -> tuple[Step, ...]:
    """Apply events in order, each on what the one before left.

    Parameters
    ----------
    members : they own what they say they own now; `rebalance.with_owned` gives them an assignment.
    assign : any assignor. protocol : how its members hand partitions over.
    leader : a member's id; the first of the members where it is not said, or has left.

    Raises
    ------
    ConflictingFields : if an event cannot be: it names a member, rack or topic that is not there, or joins a member
        that is. Its path says which event. What the assignor raises goes through.
    """
    state = _State(tuple(members), metadata, leader, is_led=protocol is not Protocol.RECONCILED)
    steps = []
    for index, event in enumerate(events):
        for single in _rolling_restart(state.members) if isinstance(event, RollingRestart) else (event,):
            try:
                change = _changed(state, single)
            except ConflictingFields as failure:
                failure.path = ("events", index, *failure.path)
                raise
            step, state = _step(state, single, change, assign, protocol, index)
            steps.append(step)
    return tuple(steps)


def _rolling_restart(members: Sequence[Member]) -> tuple[Replace, ...]:
    return tuple(Replace(member.id, replace(member, id=f"{member.id}-restarted")) for member in members)


@dataclass(frozen=True, slots=True, eq=False)
class _State:
    members: tuple[Member, ...]
    metadata: GroupMetadata
    leader: str | None
    is_led: bool

    def leading(self) -> Member | None:
        """The member that leads; None in an empty group, and where the coordinator assigns."""
        if not self.is_led:
            return None
        return next((m for m in self.members if m.id == self.leader), self.members[0] if self.members else None)

    def place_of(self, member_id: str) -> int:
        """Where a member stands."""
        for place, member in enumerate(self.members):
            if member.id == member_id:
                return place
        raise ConflictingFields(f"no member {member_id!r} is in the group at this point", member_id=member_id)

    def joined(self, member: Member) -> "_State":
        """The state with one more member."""
        if any(member.id == other.id for other in self.members):
            raise ConflictingFields(f"member {member.id!r} is in the group already", member_id=member.id)
        return replace(self, members=(*self.members, member))

    def assignment(self) -> GroupAssignment:
        """What the members own, as far as they can be believed."""
        return owned_assignment(self.members, self.metadata)


@dataclass(frozen=True, slots=True, eq=False)
class _Change:
    """What an event makes of a group: `state`, and the states before that each take a rebalance.

    Parameters
    ----------
    rebalanced : states to be reached by a rebalance each; the last is `state`, unless it needs none.
    kept_by : the new id of the member that keeps what the one of the old id had.
    """

    state: _State
    rebalanced: tuple[_State, ...]
    trigger: Trigger | None = None
    kept_by: Mapping[str, str] = field(default_factory=dict)


def _step(
    state: _State, event: SingleEvent, change: _Change, assign: Assign, protocol: Protocol, index: int
) -> tuple[Step, _State]:
    before = state.assignment()
    kept = replace(before, members=tuple(change.kept_by.get(member, member) for member in before.members))
    rebalances: list[Rebalance] = []
    for awaited in change.rebalanced:
        # What the rebalance before has given a member, it says that it owns in this one.
        owned = {member.id: member for member in rebalances[-1].members} if rebalances else {}
        members = [owned.get(member.id, member) for member in awaited.members]
        rebalances.append(rebalance(members, awaited.metadata, assign=assign, protocol=protocol))
    current = replace(change.state, members=rebalances[-1].members) if rebalances else change.state
    after = rebalances[-1].assignment if rebalances else current.assignment()
    step = Step(
        index=index,
        event=event,
        starting=change.state.members,
        members=current.members,
        metadata=current.metadata,
        rebalances=tuple(rebalances),
        trigger=change.trigger,
        assignment=after,
        handover=handover(current.metadata, kept, after),
        revoked=sum(phase.revoked for done in rebalances for phase in done.phases),
        locality_before=locality(state.members, state.metadata, before),
        locality_after=locality(current.members, current.metadata, after),
    )
    return step, current


def _changed(state: _State, event: SingleEvent) -> _Change:
    match event:
        case Join(member):
            joined = state.joined(member)
            return _Change(joined, (joined,))
        case Leave(member_id):
            place = state.place_of(member_id)
            left = replace(state, members=state.members[:place] + state.members[place + 1 :])
            return _Change(left, (left,))
        case Replace(member_id, by):
            return _replaced(state, member_id, by)
        case LoseRack(rack):
            return _without_rack(state, rack)
        case TopicGrown():
            topics = {**state.metadata.topics, event.topic: _grown(_topic(state, event.topic), event)}
            return _other_metadata(state, replace(state.metadata, topics=topics), state.members)
        case ReplicaRacksChanged(rack_of, replicas_of):
            topics = dict(state.metadata.topics)
            for topic, replicas in replicas_of.items():
                if len(replicas) != len(_topic(state, topic).replicas):
                    raise ConflictingFields(
                        f"topic {topic!r} has {len(topics[topic].replicas)} partitions; {len(replicas)} given",
                        topic=topic,
                    )
                topics[topic] = replace(topics[topic], replicas=replicas)
            return _other_metadata(state, GroupMetadata({**state.metadata.rack_of, **rack_of}, topics), state.members)


def _grown(topic: TopicMetadata, event: TopicGrown) -> TopicMetadata:
    new = event.partitions - len(topic.replicas)
    if new <= 0:
        detail = f"topic {topic.name!r} has {len(topic.replicas)} partitions and cannot have {event.partitions}"
        raise ConflictingFields(detail, path=("topic_grown", "partitions"), value=event.partitions)
    if event.replicas is not None and len(event.replicas) != new:
        detail = f"topic {topic.name!r} gets {new} partitions; replicas of {len(event.replicas)} are given"
        raise ConflictingFields(detail, path=("topic_grown", "replicas"), value=len(event.replicas))
    added = [[]] * new if event.replicas is None else unpadded(event.replicas)
    return replace(topic, replicas=padded([*unpadded(topic.replicas), *added]))


def _replaced(state: _State, member_id: str, by: Member) -> _Change:
    place = state.place_of(member_id)
    old = state.members[place]
    others = replace(state, members=state.members[:place] + state.members[place + 1 :])
    starting = replace(by, owned=(), generation_id=None)
    joined = others.joined(starting)
    if not by.group_instance_id or by.group_instance_id != old.group_instance_id:
        return _Change(joined, (others, joined))
    leader = by.id if state.leader == member_id else state.leader
    fits = _owned_topics(old) <= set(by.topics)
    returned = replace(by, owned=old.owned, generation_id=old.generation_id) if fits else starting
    same_place = (*state.members[:place], returned, *state.members[place + 1 :])
    static = replace(state, members=same_place, leader=leader)
    return _Change(static, () if fits else (static,), kept_by={member_id: by.id})


def _owned_topics(member: Member) -> set[str]:
    owned = member.owned
    if isinstance(owned, OwnedRuns):  # an array of runs, each of which costs a look at all
        return {owned.topics[index] for index in np.unique(owned.topic_index).tolist()}
    return {run.topic for run in owned}


def _without_rack(state: _State, rack: str) -> _Change:
    staying = tuple(member for member in state.members if member.rack_id != rack)
    rack_of = {broker: its for broker, its in state.metadata.rack_of.items() if its != rack}
    if len(staying) == len(state.members) and len(rack_of) == len(state.metadata.rack_of):
        raise ConflictingFields(f"no broker and no member is in rack {rack!r}", rack=rack)
    change = _other_metadata(state, GroupMetadata(rack_of, state.metadata.topics), staying)
    return replace(change, rebalanced=(change.state,)) if len(staying) < len(state.members) else change


def _other_metadata(state: _State, metadata: GroupMetadata, members: tuple[Member, ...]) -> _Change:
    """The group under other metadata; its leader says whether it rebalances."""
    changed = replace(state, members=members, metadata=metadata)
    seen = trigger(members, state.metadata, metadata, leader=changed.leading())
    return _Change(changed, (changed,) if seen.would_rebalance and members else (), seen)


def _topic(state: _State, name: str) -> TopicMetadata:
    known = state.metadata.topics.get(name)
    if known is None:
        raise ConflictingFields(f"no topic {name!r} is in the metadata at this point", topic=name)
    return known
