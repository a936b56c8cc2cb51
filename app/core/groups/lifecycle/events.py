"""Events of a group's life, and the change of members and metadata that each of them is."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TypeAlias

from app.core.groups.arrays.owned import owned_assignment, owned_topics
from app.core.groups.lifecycle.rebalance_trigger import Trigger, trigger
from app.core.groups.model import GroupAssignment, GroupMetadata, Member, TopicMetadata
from app.core.model import Int32s, padded, unpadded
from app.errors.requests import ConflictingFields


@dataclass(frozen=True, slots=True, eq=False)
class Join:
    """A member joins, at the end of the members; the assignor gets the owned partitions of its record."""

    member: Member


@dataclass(frozen=True, slots=True)
class Leave:
    """A member leaves, or its session times out."""

    member_id: str


@dataclass(frozen=True, slots=True, eq=False)
class Replace:
    """A member is restarted and returns under another id, perhaps in another rack or with other topics.

    With static membership, that is, with the same group instance id, it gets its partitions back without a rebalance,
    unless these include a topic that it no longer subscribes to. Otherwise it leaves and joins: two rebalances. The
    `owned` of its new record has no influence: a consumer that starts owns nothing.
    """

    member_id: str
    by: Member


@dataclass(frozen=True, slots=True)
class RollingRestart:
    """Every member is restarted once, in order; each returns unchanged, with `-restarted` appended to its id.

    This is one `Replace` for each member, and one step each.
    """


@dataclass(frozen=True, slots=True)
class LoseRack:
    """A rack is lost: its members leave at once, and its brokers are no longer in the metadata.

    Its replicas stay in the partitions' lists, as offline replicas do, but consumers do not know their rack.
    """

    rack: str


@dataclass(frozen=True, slots=True, eq=False)
class TopicGrown:
    """A topic gets more partitions.

    Parameters
    ----------
    partitions : the new total.
    replicas : of the new partitions, (new partitions, widest) int32, padded; None if unknown.
    """

    topic: str
    partitions: int
    replicas: Int32s | None = None


@dataclass(frozen=True, slots=True, eq=False)
class ReplicaRacksChanged:
    """Brokers get other racks, or partitions other replicas.

    Parameters
    ----------
    rack_of : the new racks of brokers; other brokers keep theirs.
    replicas : by topic, the replicas of all its partitions; other topics keep theirs.
    """

    rack_of: Mapping[int, str | None] = field(default_factory=dict)
    replicas: Mapping[str, Int32s] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, eq=False)
class Burst:
    """Events that reach the coordinator within one assignment interval (KIP-1263, since 4.3).

    The coordinator computes one assignment after all of them. If it has no interval, each is an event by itself.
    """

    events: "tuple[SingleEvent, ...]"


_PlainEvent: TypeAlias = Join | Leave | Replace | LoseRack | TopicGrown | ReplicaRacksChanged
SingleEvent: TypeAlias = _PlainEvent | Burst
Event: TypeAlias = SingleEvent | RollingRestart


@dataclass(frozen=True, slots=True, eq=False)
class GroupState:
    """A group between events. is_led : whether a member decides on changed metadata, and not the coordinator."""

    members: tuple[Member, ...]
    metadata: GroupMetadata
    leader: str | None
    is_led: bool

    def leading(self) -> Member | None:
        """The leader; None in an empty group, and if the coordinator assigns."""
        if not self.is_led:
            return None
        return next((m for m in self.members if m.id == self.leader), self.members[0] if self.members else None)

    def position_of(self, member_id: str) -> int:
        """The position of a member. Raises `ConflictingFields` if it does not exist."""
        for place, member in enumerate(self.members):
            if member.id == member_id:
                return place
        raise ConflictingFields(f"no member {member_id!r} is in the group at this point", member_id=member_id)

    def joined(self, member: Member) -> "GroupState":
        """The state with one more member."""
        if any(member.id == other.id for other in self.members):
            raise ConflictingFields(f"member {member.id!r} is in the group already", member_id=member.id)
        return replace(self, members=(*self.members, member))

    def assignment(self) -> GroupAssignment:
        """The partitions that the members own, by the claims that Kafka accepts."""
        return owned_assignment(self.members, self.metadata)


@dataclass(frozen=True, slots=True, eq=False)
class GroupChange:
    """The effect of an event on a group.

    Parameters
    ----------
    state : after the event.
    rebalanced : states that are each reached by a rebalance; the last is `state`, unless it needs none.
    trigger : the leader's decision, or None.
    new_id_of : by old id, the new id of a member that keeps its partitions.
    """

    state: GroupState
    rebalanced: tuple[GroupState, ...]
    trigger: Trigger | None = None
    new_id_of: Mapping[str, str] = field(default_factory=dict)


def restarts_of(members: Sequence[Member]) -> tuple[Replace, ...]:
    """The restarts of a `RollingRestart`, one for each member."""
    return tuple(Replace(member.id, replace(member, id=f"{member.id}-restarted")) for member in members)


def singles_of(state: GroupState, event: Event, *, has_interval: bool) -> tuple[SingleEvent, ...]:
    """The events that are a step each. `has_interval`: the coordinator assigns once for a burst."""
    if isinstance(event, RollingRestart):
        return restarts_of(state.members)
    return event.events if isinstance(event, Burst) and not has_interval else (event,)


def change_of(state: GroupState, event: SingleEvent) -> GroupChange:
    """The effect of an event on a group. Raises `ConflictingFields` if the event is impossible."""
    return _together(state, event.events) if isinstance(event, Burst) else _change_of(state, event)


def _change_of(state: GroupState, event: _PlainEvent) -> GroupChange:
    match event:
        case Join(member):
            joined = state.joined(member)
            return GroupChange(joined, (joined,))
        case Leave(member_id):
            position = state.position_of(member_id)
            remaining = replace(state, members=state.members[:position] + state.members[position + 1 :])
            return GroupChange(remaining, (remaining,))
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


def _together(state: GroupState, events: Sequence[SingleEvent]) -> GroupChange:
    """The effect of several events before the coordinator assigns."""
    rebalances, trigger = False, None
    new_id_of: dict[str, str] = {}
    for place, event in enumerate(events):
        try:
            change = change_of(state, event)
        except ConflictingFields as failure:
            failure.path = ("burst", place, *failure.path)
            raise
        state, trigger = change.state, change.trigger or trigger
        rebalances = rebalances or bool(change.rebalanced)
        # A member that returned twice has its partitions under its last id.
        new_id_of = {old: change.new_id_of.get(new, new) for old, new in new_id_of.items()} | dict(change.new_id_of)
    return GroupChange(state, (state,) if rebalances else (), trigger, new_id_of)


def _grown(topic: TopicMetadata, event: TopicGrown) -> TopicMetadata:
    added = event.partitions - len(topic.replicas)
    if added <= 0:
        detail = f"topic {topic.name!r} has {len(topic.replicas)} partitions and cannot have {event.partitions}"
        raise ConflictingFields(detail, path=("topic_grown", "partitions"), value=event.partitions)
    if event.replicas is not None and len(event.replicas) != added:
        detail = f"topic {topic.name!r} gets {added} partitions; replicas of {len(event.replicas)} are given"
        raise ConflictingFields(detail, path=("topic_grown", "replicas"), value=len(event.replicas))
    new_rows = [[]] * added if event.replicas is None else unpadded(event.replicas)
    return replace(topic, replicas=padded([*unpadded(topic.replicas), *new_rows]))


def _replaced(state: GroupState, member_id: str, by: Member) -> GroupChange:
    place = state.position_of(member_id)
    old = state.members[place]
    others = replace(state, members=state.members[:place] + state.members[place + 1 :])
    starting = replace(by, owned=(), generation_id=None)
    joined = others.joined(starting)
    if not by.group_instance_id or by.group_instance_id != old.group_instance_id:
        return GroupChange(joined, (others, joined))
    leader = by.id if state.leader == member_id else state.leader
    fits = owned_topics(old) <= set(by.topics)
    returned = replace(by, owned=old.owned, generation_id=old.generation_id) if fits else starting
    same_place = (*state.members[:place], returned, *state.members[place + 1 :])
    static = replace(state, members=same_place, leader=leader)
    return GroupChange(static, () if fits else (static,), new_id_of={member_id: by.id})


def _without_rack(state: GroupState, rack: str) -> GroupChange:
    remaining = tuple(member for member in state.members if member.rack_id != rack)
    rack_of = {broker: other for broker, other in state.metadata.rack_of.items() if other != rack}
    if len(remaining) == len(state.members) and len(rack_of) == len(state.metadata.rack_of):
        raise ConflictingFields(f"no broker and no member is in rack {rack!r}", rack=rack)
    change = _other_metadata(state, GroupMetadata(rack_of, state.metadata.topics), remaining)
    return replace(change, rebalanced=(change.state,)) if len(remaining) < len(state.members) else change


def _other_metadata(state: GroupState, metadata: GroupMetadata, members: tuple[Member, ...]) -> GroupChange:
    """The group with other metadata; its leader decides whether it rebalances."""
    changed = replace(state, members=members, metadata=metadata)
    decision = trigger(members, state.metadata, metadata, leader=changed.leading())
    return GroupChange(changed, (changed,) if decision.would_rebalance and members else (), decision)


def _topic(state: GroupState, name: str) -> TopicMetadata:
    topic = state.metadata.topics.get(name)
    if topic is None:
        raise ConflictingFields(f"no topic {name!r} is in the metadata at this point", topic=name)
    return topic
