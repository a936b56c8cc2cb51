"""A member as a request lists it or a snapshot recorded it, and as each assignor reads it.

A request adds racks and subscriptions to the members of a recorded group: the tools' tables have neither.
"""

import fnmatch
import re
from base64 import b64decode
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

import numpy as np

from app.core.groups.arrays.partition_table import Weights
from app.core.groups.model import GroupMetadata, Member, Owned
from app.core.groups.registry import Assignor, OwnedIn
from app.core.kafka_versions import KafkaVersion, ReplayedLibrary
from app.core.model import Cluster, Int64s
from app.core.recorded import RecordedGroup, RecordedMember
from app.errors.every import ConflictingFields, CorruptProtocolBytes, DuplicateTopic, FieldPath, MalformedText
from app.formats.groups import assignor_user_data
from app.formats.groups.consumer_protocol import NEWEST_VERSION, Subscription, read_subscription, wraps_errors_in
from app.services.cautions import Caution, caution
from app.services.groups.requests import ClientLibrary, MemberOverride, MemberRequest
from app.services.snapshots import first_repeated

NO_GENERATION = -1
ReadT = TypeVar("ReadT")


@dataclass(frozen=True, slots=True, eq=False)
class ListedMember:
    """A member as the request has it.

    Parameters
    ----------
    member : its own fields. subscription : its raw metadata, if the request has that instead.
    client : its client library; None for Kafka's own.
    """

    member: Member
    subscription: Subscription | None = None
    client: ClientLibrary | None = None

    def seen_by(self, assignor: Assignor) -> Member:
        """The member as one assignor reads it."""
        if self.subscription is None:
            return assignor.sees(self.member)
        if assignor.owned_in is OwnedIn.USER_DATA:
            return self._in_user_data(self.subscription, assignor.library)
        if self.member.generation_id is None and assignor.owned_in is OwnedIn.SUBSCRIPTION:
            # Before the subscription had a field for it, the generation was user data.
            data = self.subscription.user_data
            return replace(self.member, generation_id=_read(data, assignor_user_data.read_cooperative))
        return self.member

    def _in_user_data(self, subscription: Subscription, library: ReplayedLibrary | None) -> Member:
        read = assignor_user_data.read_sticky if library is None else assignor_user_data.read_versioned_sticky
        user_data = _read(subscription.user_data, read)
        if user_data is None:
            return replace(self.member, owned=(), generation_id=None)
        # The older form has no generation, which counts as one before all others.
        generation_id = NO_GENERATION if user_data.generation_id is None else user_data.generation_id
        return replace(self.member, owned=user_data.owned, generation_id=generation_id)


def leading_member(listed: Sequence[ListedMember], leader: str | None) -> ListedMember | None:
    """The member of that id, or the first, which the coordinator makes the leader; None of a group without members."""
    return next((one for one in listed if one.member.id == leader), listed[0] if listed else None)


def listed_member(member: MemberRequest, path: FieldPath, version: KafkaVersion) -> ListedMember:
    """A member of a request, as clients of a release read it. `path` is its place.

    Raises
    ------
    ConflictingFields : it has two subscriptions, or none.
    DuplicateTopic : it subscribes to a topic twice.
    MalformedText, CorruptProtocolBytes : its metadata cannot be read.
    """
    if member.topics is not None and (twice := first_repeated(list(member.topics))) is not None:
        detail = f"member {member.member_id} subscribes to {member.topics[twice]} twice"
        raise DuplicateTopic(detail, path=(*path, "topics", twice), value=member.topics[twice])
    if member.member_metadata is None:
        if member.topics is None:
            detail = f"member {member.member_id} has neither topics nor member_metadata"
            raise ConflictingFields(detail, path=(*path, "topics"), value=None)
        # By topic, as clients send it: an object's members have no order.
        owned = sorted((member.owned_partitions or {}).items())
        return ListedMember(
            Member(
                id=member.member_id,
                topics=tuple(member.topics),
                rack_id=member.rack_id,
                group_instance_id=member.group_instance_id,
                owned=tuple([Owned(topic, np.array(partitions, np.int32)) for topic, partitions in owned]),
                generation_id=member.generation_id,
            ),
            client=member.client,
        )
    duplicates = [
        name for name in ("topics", "rack_id", "owned_partitions", "generation_id") if getattr(member, name) is not None
    ]
    if duplicates:
        detail = f"member {member.member_id} has {duplicates[0]} and member_metadata, which contains it"
        raise ConflictingFields(detail, path=(*path, duplicates[0]))
    subscription = _subscription(member.member_metadata, (*path, "member_metadata"), version)
    if first_repeated(subscription.topics) is not None:
        detail = f"the metadata of member {member.member_id} subscribe to a topic twice"
        raise DuplicateTopic(detail, path=(*path, "member_metadata"))
    joined = subscription.member(member.member_id, group_instance_id=member.group_instance_id)
    return ListedMember(joined, subscription, member.client)


def _subscription(text: str, path: FieldPath, version: KafkaVersion) -> Subscription:
    try:
        data = b64decode(text, validate=True)
    except ValueError:
        raise MalformedText("member_metadata is not base64", expected="bytes in base64", path=path) from None
    try:
        return read_subscription(data, wraps_errors=wraps_errors_in(version))
    except CorruptProtocolBytes as corrupt:
        corrupt.path = path
        raise


def _read(data: bytes | None, read: Callable[[bytes], ReadT]) -> ReadT | None:
    """The user data as an assignor reads it; it ignores unreadable data."""
    try:
        return None if data is None else read(data)
    except CorruptProtocolBytes:
        return None


def from_the_future(listed: Sequence[ListedMember]) -> list[Caution]:
    """What to say of metadata in a version that this service does not know."""
    future = [one for one in listed if one.subscription is not None and one.subscription.is_from_the_future]
    if not future:
        return []
    versions = sorted({one.subscription.version for one in future if one.subscription is not None})
    named, members = ", ".join(map(str, versions)), tuple(one.member.id for one in future)
    return [caution("subscription_from_the_future", versions=named, newest=NEWEST_VERSION, members=members)]


def recorded_group(cluster: Cluster, group_id: str, path: FieldPath = ("group",)) -> RecordedGroup:
    """The group of a snapshot, or `ConflictingFields`. `path` is the field that names it."""
    group = cluster.group(group_id)
    if group is None:
        there = ", ".join(each.group_id for each in cluster.groups[:10]) or "none"
        detail = f"the snapshot has no group {group_id}; it has {there}"
        raise ConflictingFields(detail, path=path, value=group_id)
    return group


def require_partitions(group: RecordedGroup, path: FieldPath) -> None:
    """Raise `ConflictingFields` for a Streams group, whose members have tasks instead of partitions."""
    if group.type == "streams":
        detail = f"{group.group_id} is a Streams group: its members have tasks, which /v1/plans/streams assigns"
        raise ConflictingFields(detail, path=path, value=group.group_id)


def recorded_member(recorded: RecordedMember, client: ClientLibrary | None = None) -> ListedMember:
    """A member as it will rejoin: it owns its assignment, whatever it owned when it joined last."""
    has = recorded.assigned if recorded.assigned is not None else recorded.owned or ()
    topics = recorded.topics
    return ListedMember(
        Member(
            id=recorded.member_id,
            topics=tuple(sorted({run.topic for run in has})) if topics is None else topics,
            rack_id=recorded.rack_id,
            group_instance_id=recorded.group_instance_id,
            owned=tuple([Owned(run.topic, np.array(run.partitions, np.int32)) for run in has]),
            # All members of a stable group have the generation of its last rebalance, whichever that was.
            generation_id=0,
        ),
        client=client,
    )


def missing_from(group: RecordedGroup, of_unknown_rack: Sequence[str]) -> Iterator[Caution]:
    """Gaps in the record of a group, and the values assumed instead. of_unknown_rack: ids of members."""
    of = f"of {len(group.members)} members"
    without = tuple(member.member_id for member in group.members if member.topics is None)
    shares_members = set(without) == set(of_unknown_rack)
    if without:
        what, taken = ("subscriptions, racks", ", to be in no rack") if shares_members else ("subscriptions", "")
        yield caution("subscriptions_not_recorded", what=what, of=of, taken=taken, members=without)
    if of_unknown_rack and not shares_members:
        yield caution("racks_not_recorded", of=of, members=tuple(of_unknown_rack))
    if unassigned := tuple(member.member_id for member in group.members if member.assigned is None):
        yield caution("assignment_not_recorded", of=of, members=unassigned)
    if group.state not in (None, "Stable"):
        yield Caution("group_not_stable", f"the group was {group.state} when it was recorded")


def recorded_lag(group: RecordedGroup, metadata: GroupMetadata) -> Weights | None:
    """The lag of each partition, 0 where none is recorded; None where no lag is."""
    lag: dict[str, Int64s] = {}
    for offset in group.offsets:
        topic = metadata.topics.get(offset.topic)
        if topic is None or offset.lag is None or offset.partition >= len(topic.replicas):
            continue
        per_partition = lag.setdefault(offset.topic, np.zeros(len(topic.replicas), np.int64))
        # A log that was cut back leaves a lag below 0; nothing is left to read there.
        per_partition[offset.partition] = max(offset.lag, 0)
    return lag or None


FIELD = "member_overrides"
_SELECTORS = ("member_id", "client_id", "host")


@dataclass(frozen=True, slots=True)
class KnownMember:
    """A recorded member with the request's additions. knows_rack: whether its rack, or that it has none, is known."""

    member: RecordedMember
    knows_rack: bool
    client: ClientLibrary | None = None


def overridden(
    members: Sequence[RecordedMember], overrides: Sequence[MemberOverride]
) -> tuple[list[KnownMember], list[Caution]]:
    """The members in their order, and a warning if overrides match none.

    Of several overrides that match a member, the first that has a field decides it.

    Raises
    ------
    ConflictingFields : an override selects members by none or several of `member_id`, `client_id` and `host`, or has
        neither a rack nor topics.
    DuplicateTopic : an override subscribes to a topic twice.
    """
    selects = [_selector(override, (FIELD, place)) for place, override in enumerate(overrides)]
    matched: set[int] = set()
    known = []
    for member in members:
        matching = [place for place, select in enumerate(selects) if select(member)]
        matched.update(matching)
        known.append(_known(member, [overrides[place] for place in matching]))
    unmatched = [str(place) for place in range(len(overrides)) if place not in matched]
    if not unmatched:
        return known, []
    lost = caution("overrides_without_member", unmatched=unmatched, overrides=overrides, field=FIELD, of=members)
    return known, [lost]


def _known(member: RecordedMember, overrides: Sequence[MemberOverride]) -> KnownMember:
    racks = [override.rack_id for override in overrides if override.rack_id is not None]
    topics = [override.topics for override in overrides if override.topics is not None]
    # Racks are recorded with subscriptions; one that is given by itself counts, too.
    knows_rack = bool(racks) or member.topics is not None or member.rack_id is not None
    if racks:
        member = member._replace(rack_id=racks[0] or None)
    if topics:
        member = member._replace(topics=tuple(topics[0]))
    clients = [override.client for override in overrides if override.client is not None]
    return KnownMember(member, knows_rack, clients[0] if clients else None)


def _selector(override: MemberOverride, path: FieldPath) -> Callable[[RecordedMember], bool]:
    given = [name for name in _SELECTORS if getattr(override, name) is not None]
    if len(given) != 1:
        detail = f"an override selects members by one of {', '.join(_SELECTORS)}; this one has {len(given)} of them"
        raise ConflictingFields(detail, path=path)
    if override.rack_id is None and override.topics is None and override.client is None:
        raise ConflictingFields("an override has rack_id, topics or client; this one has none of them", path=path)
    if override.topics is not None and (twice := first_repeated(list(override.topics))) is not None:
        detail = f"the override subscribes to {override.topics[twice]} twice"
        raise DuplicateTopic(detail, path=(*path, "topics", twice), value=override.topics[twice])
    if override.member_id is not None:
        return lambda member: member.member_id == override.member_id
    if override.client_id is not None:
        matches = _pattern(override.client_id)
        return lambda member: member.client_id is not None and matches(member.client_id)
    matches = _pattern(override.host or "")
    return lambda member: member.host is not None and matches(member.host)


def _pattern(text: str) -> Callable[[str], bool]:
    """`*` is any text and `?` any character; brackets are themselves."""
    expression = re.compile(fnmatch.translate(text.replace("[", "[[]")))
    return lambda value: expression.match(value) is not None
