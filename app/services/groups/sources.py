"""From what was asked, or recorded, to what an assignor works on; and what is doubtful or missing about it."""

from base64 import b64decode
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from app.core.groups.arrays.weights import Weights
from app.core.groups.classic import sticky
from app.core.groups.lifecycle.events import (
    Event,
    Join,
    Leave,
    LoseRack,
    Replace,
    ReplicaRacksChanged,
    RollingRestart,
    TopicGrown,
)
from app.core.groups.model import GroupMetadata, Member, Owned, TopicMetadata
from app.core.groups.registry import Assignor, OwnedIn
from app.core.model import Cluster, Int32s, Int64s, Topic, padded
from app.core.recorded import RecordedGroup, RecordedMember, TopicPartitions
from app.errors import ConflictingFields, CorruptProtocolBytes, DuplicateTopic, FieldPath, MalformedText
from app.formats import assignor_user_data
from app.formats.consumer_protocol import NEWEST_VERSION, Subscription, read_subscription
from app.services.cautions import Caution
from app.services.groups.requests import (
    EventRequest,
    GroupRequest,
    GroupTopic,
    MemberRequest,
    RacksChangedRequest,
    ReplaceRequest,
    TopicGrownRequest,
)
from app.services.snapshots import first_repeated

NO_GENERATION = -1


@dataclass(frozen=True, slots=True, eq=False)
class ListedMember:
    """A member as it was told.

    Parameters
    ----------
    member : what it says of itself. subscription : its raw metadata, where that is how it was told.
    """

    member: Member
    subscription: Subscription | None = None

    def seen_by(self, assignor: Assignor) -> Member:
        """The member as one assignor reads it."""
        if assignor.owned_in is OwnedIn.USER_DATA:
            return self._in_user_data()
        is_unsaid = self.member.generation_id is None and assignor.owned_in is OwnedIn.SUBSCRIPTION
        if is_unsaid and self.subscription is not None:
            # Before the subscription had a field for it, the generation was user data.
            return replace(self.member, generation_id=_cooperative_generation(self.subscription.user_data))
        return self.member

    def _in_user_data(self) -> Member:
        if self.subscription is None:
            return sticky.in_user_data(self.member)
        told = _sticky_user_data(self.subscription.user_data)
        if told is None:
            return replace(self.member, owned=(), generation_id=None)
        # The older form has no generation, which counts as one before all others.
        generation_id = NO_GENERATION if told.generation_id is None else told.generation_id
        return replace(self.member, owned=told.owned, generation_id=generation_id)


@dataclass(frozen=True, slots=True, eq=False)
class Source:
    """What a group is planned from.

    Parameters
    ----------
    listed : the members. lag, bytes_per_s : of partitions, where they are known.
    cautions : what is missing or doubtful about where all this comes from.
    """

    listed: Sequence[ListedMember]
    metadata: GroupMetadata
    lag: Weights | None = None
    bytes_per_s: Weights | None = None
    cautions: Sequence[Caution] = field(default=())


def source_of(request: GroupRequest, cluster: Cluster | None) -> Source:
    """Read a request, with the cluster of its snapshot where it names one.

    Raises
    ------
    ConflictingFields : the group is not in the snapshot, partitions are not numbered from 0 on, a member says twice
        or not at all what it subscribes to.
    MalformedText, CorruptProtocolBytes : a member's metadata cannot be read.
    """
    metadata = _listed_metadata(request) if cluster is None else metadata_of(cluster)
    cautions = [] if cluster is None else _fenced(cluster)
    recorded = None if request.group is None or cluster is None else _group_of(cluster, request.group)
    if recorded is not None:
        listed = [_recorded_member(member) for member in recorded.members]
        cautions += _missing_from(recorded)
    else:
        listed = [listed_member(member, ("members", i)) for i, member in enumerate(request.members or ())]
    cautions += _of_metadata_bytes(listed)
    lag = _weights(request.lag)
    if lag is None and recorded is not None:
        lag = _recorded_lag(recorded, metadata)
    return Source(listed, metadata, lag, _weights(request.bytes_per_s), cautions)


def metadata_of(cluster: Cluster) -> GroupMetadata:
    """What clients see of a cluster. Fenced brokers are not among its live ones, so that their racks are not known."""
    for topic in cluster.topics:
        _require_all_partitions(topic)
    return GroupMetadata(
        {broker.id: broker.rack for broker in cluster.brokers if not broker.fenced},
        {topic.name: TopicMetadata(topic.name, topic.replicas, topic.topic_id) for topic in cluster.topics},
    )


def listed_member(member: MemberRequest, path: FieldPath) -> ListedMember:
    """A member of a request. Raises as `source_of` does, with the place in `path`."""
    if member.topics is not None and (twice := first_repeated(list(member.topics))) is not None:
        detail = f"member {member.member_id} subscribes to {member.topics[twice]} twice"
        raise DuplicateTopic(detail, path=(*path, "topics", twice), value=member.topics[twice])
    if member.member_metadata is None:
        if member.topics is None:
            detail = f"member {member.member_id} has neither topics nor member_metadata"
            raise ConflictingFields(detail, path=(*path, "topics"), value=None)
        owned = (member.owned_partitions or {}).items()
        return ListedMember(
            Member(
                id=member.member_id,
                topics=tuple(member.topics),
                rack_id=member.rack_id,
                group_instance_id=member.group_instance_id,
                owned=tuple([Owned(topic, np.array(partitions, np.int32)) for topic, partitions in owned]),
                generation_id=member.generation_id,
            )
        )
    told_twice = [
        name for name in ("topics", "rack_id", "owned_partitions", "generation_id") if getattr(member, name) is not None
    ]
    if told_twice:
        detail = f"member {member.member_id} has {told_twice[0]} and member_metadata, which says it too"
        raise ConflictingFields(detail, path=(*path, told_twice[0]))
    subscription = _subscription(member.member_metadata, (*path, "member_metadata"))
    if first_repeated(subscription.topics) is not None:
        detail = f"the metadata of member {member.member_id} subscribe to a topic twice"
        raise DuplicateTopic(detail, path=(*path, "member_metadata"))
    return ListedMember(subscription.member(member.member_id, group_instance_id=member.group_instance_id), subscription)


def event_of(event: EventRequest, assignor: Assignor, path: FieldPath) -> Event:
    """An event as the core knows it. Raises as `source_of` does."""
    found: Event
    match event:
        case EventRequest(join=MemberRequest() as member):
            found = Join(listed_member(member, (*path, "join")).seen_by(assignor))
        case EventRequest(leave=str(member_id)):
            found = Leave(member_id)
        case EventRequest(replace=ReplaceRequest(member_id, by)):
            found = Replace(member_id, listed_member(by, (*path, "replace", "by")).seen_by(assignor))
        case EventRequest(lose_rack=str(rack)):
            found = LoseRack(rack)
        case EventRequest(topic_grown=TopicGrownRequest(topic, partitions, replicas)):
            found = TopicGrown(topic, partitions, None if replicas is None else padded(replicas))
        case EventRequest(replica_racks_changed=RacksChangedRequest(brokers, replicas_of)):
            racks = {broker.id: broker.rack for broker in brokers}
            found = ReplicaRacksChanged(racks, {name: padded(rows) for name, rows in replicas_of.items()})
        case _:
            found = RollingRestart()
    return found


# -- clusters ----------------------------------------------------------------------------------------------------------


def _listed_metadata(request: GroupRequest) -> GroupMetadata:
    return GroupMetadata(
        {broker.id: broker.rack for broker in request.brokers or () if not broker.fenced},
        {topic.name: TopicMetadata(topic.name, _replicas(topic), topic.topic_id) for topic in request.topics or ()},
    )


def _replicas(topic: GroupTopic) -> Int32s:
    return np.empty((topic.partitions, 0), np.int32) if topic.replicas is None else padded(topic.replicas)


def _require_all_partitions(topic: Topic) -> None:
    ids = topic.partition_ids
    if len(ids) and int(ids[-1]) != len(ids) - 1:
        missing = int(np.flatnonzero(ids != np.arange(len(ids)))[0])
        detail = f"partition {missing} of topic {topic.name} is not known; an assignor needs all from 0 on"
        raise ConflictingFields(detail, path=("topics",), value=topic.name)


def _fenced(cluster: Cluster) -> list[Caution]:
    fenced = tuple(broker.id for broker in cluster.brokers if broker.fenced and broker.rack)
    if not fenced:
        return []
    detail = f"{len(fenced)} brokers are fenced; clients do not see their racks, so that these do not count"
    return [Caution("fenced_brokers_left_out", detail, fenced)]


def _weights(given: Mapping[str, Sequence[int]] | None) -> Weights | None:
    return None if given is None else {name: np.array(values, np.int64) for name, values in given.items()}


# -- groups that were recorded -----------------------------------------------------------------------------------------


def _group_of(cluster: Cluster, group_id: str) -> RecordedGroup:
    group = cluster.group(group_id)
    if group is None:
        there = ", ".join(each.group_id for each in cluster.groups[:10]) or "none"
        detail = f"the snapshot has no group {group_id}; it has {there}"
        raise ConflictingFields(detail, path=("group",), value=group_id)
    return group


def _recorded_member(recorded: RecordedMember) -> ListedMember:
    """A member as it will rejoin: it owns what it was assigned, whatever it owned when it joined last."""
    has = recorded.assigned if recorded.assigned is not None else recorded.owned or ()
    topics = recorded.topics
    return ListedMember(
        Member(
            id=recorded.member_id,
            topics=tuple(sorted({run.topic for run in has})) if topics is None else topics,
            rack_id=recorded.rack_id,
            group_instance_id=recorded.group_instance_id,
            owned=tuple([_owned(run) for run in has]),
            # All members of a stable group have the generation of its last rebalance, whichever that was.
            generation_id=0,
        )
    )


def _owned(run: TopicPartitions) -> Owned:
    return Owned(run.topic, np.array(run.partitions, np.int32))


def _missing_from(group: RecordedGroup) -> list[Caution]:
    """What the record of a group does not say, and what is taken instead."""
    of = f"of {len(group.members)} members"
    found = []
    without = tuple(member.member_id for member in group.members if member.topics is None)
    if without:
        detail = (
            f"the subscriptions, racks and generations of {len(without)} {of} are not recorded; they are taken to "
            "subscribe to the topics they read, to be in no rack and of one generation"
        )
        found.append(Caution("subscriptions_not_recorded", detail, members=without))
    unassigned = tuple(member.member_id for member in group.members if member.assigned is None)
    if unassigned:
        detail = f"what {len(unassigned)} {of} are assigned is not recorded; they are taken to have nothing else"
        found.append(Caution("assignment_not_recorded", detail, members=unassigned))
    if group.state not in (None, "Stable"):
        found.append(Caution("group_not_stable", f"the group was {group.state} when it was recorded"))
    return found


def _recorded_lag(group: RecordedGroup, metadata: GroupMetadata) -> Weights | None:
    lag: dict[str, Int64s] = {}
    for offset in group.offsets:
        topic = metadata.topics.get(offset.topic)
        if topic is None or offset.lag is None or offset.partition >= len(topic.replicas):
            continue
        per_partition = lag.setdefault(offset.topic, np.zeros(len(topic.replicas), np.int64))
        # A log that was cut back leaves a lag below 0; nothing is left to read there.
        per_partition[offset.partition] = max(offset.lag, 0)
    return lag or None


# -- raw metadata ------------------------------------------------------------------------------------------------------


def _subscription(text: str, path: FieldPath) -> Subscription:
    try:
        data = b64decode(text, validate=True)
    except ValueError:
        raise MalformedText("member_metadata is not base64", expected="bytes in base64", path=path) from None
    try:
        return read_subscription(data)
    except CorruptProtocolBytes as corrupt:
        corrupt.path = path
        raise


def _sticky_user_data(data: bytes | None) -> assignor_user_data.StickyUserData | None:
    """What a sticky assignor reads out of user data; it passes over what it cannot read."""
    try:
        return None if data is None else assignor_user_data.read_sticky(data)
    except CorruptProtocolBytes:
        return None


def _cooperative_generation(data: bytes | None) -> int | None:
    try:
        return None if data is None else assignor_user_data.read_cooperative(data)
    except CorruptProtocolBytes:
        return None


def _of_metadata_bytes(listed: Sequence[ListedMember]) -> list[Caution]:
    future = [one for one in listed if one.subscription is not None and one.subscription.is_from_the_future]
    if not future:
        return []
    versions = sorted({one.subscription.version for one in future if one.subscription is not None})
    detail = (
        f"the metadata of {len(future)} members are of version {', '.join(map(str, versions))}; they are read as "
        f"version {NEWEST_VERSION}, and what later ones added is not read"
    )
    return [Caution("subscription_from_the_future", detail, members=tuple(one.member.id for one in future))]
