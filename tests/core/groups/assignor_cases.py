"""Groups to try assignors on, and how to read their answers."""

from collections.abc import Collection, Iterable, Mapping
from typing import Any, TypeAlias

import numpy as np
import orjson

from app.core.groups.model import GroupAssignment, GroupMetadata, Member, Owned, TopicMetadata
from app.core.model import padded
from tests import draws as st
from tests.conformance.groups import ANSWERS
from tests.conformance.refusals import attempt
from tests.conftest import VECTORS

Lists: TypeAlias = dict[str, list[tuple[str, int]]]

# "Aa" and "BB" have one hash code, so that a map of many such names has bins of many keys.
NAMES = st.sampled_from([f"{first}{second}{third}" for first in "ab" for second in ("Aa", "BB") for third in range(3)])
RACKS = st.sampled_from(["a", "b", "c", "", None, "\U0001f600"])
IDS = st.sampled_from(["m1", "m10", "m2", "AaAa", "AaBB", "BBAa", "BBBB", "\uffff", "\U0001f600", "z"])
ID_DIGITS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"


def lists(assignment: GroupAssignment) -> Lists:
    """Each member's list, in its order."""
    bounds = zip(assignment.offsets[:-1], assignment.offsets[1:], strict=True)
    return {
        member: [
            (assignment.topics[topic], int(partition))
            for topic, partition in zip(
                assignment.topic_index[start:end], assignment.partitions[start:end], strict=True
            )
        ]
        for member, (start, end) in zip(assignment.members, bounds, strict=True)
    }


def written(assignment: GroupAssignment) -> dict[str, str]:
    """Each member's list as a line: `t0-1 t0-2 t1-0`."""
    return {
        member: " ".join(f"{topic}-{partition}" for topic, partition in own)
        for member, own in lists(assignment).items()
    }


def metadata(racks: Mapping[int, str | None], topics: Mapping[str, Iterable[Iterable[int]]]) -> GroupMetadata:
    """Topics by name, with the brokers of each partition."""
    known = {name: TopicMetadata(name, padded([list(row) for row in rows])) for name, rows in topics.items()}
    return GroupMetadata(dict(racks), known)


def differing(algorithm: str, parts: Collection[str] | None = None) -> dict[str, tuple[Any, Any]]:
    """The cases of a vector file that are answered otherwise than by Kafka: by name, its answer and ours.

    Parameters
    ----------
    parts : compared parts of the answers, such as `assignment`; by default everything.
    """
    different: dict[str, tuple[Any, Any]] = {}
    for case in map(orjson.loads, (VECTORS / f"{algorithm}.jsonl").read_bytes().splitlines()):
        expected, answer = case["expected"], attempt(ANSWERS[algorithm], case["input"])
        if parts is not None:
            expected, answer = ({part: its.get(part) for part in parts} for its in (expected, answer))
        if answer != expected:
            different[case["name"]] = (expected, answer)
    return different


@st.composite
def classic_groups(
    draw: st.DrawFn, *, unique_instances: bool = False, min_members: int = 0
) -> tuple[list[Member], GroupMetadata]:
    """A group of the classic protocol: some racks, few subscriptions, topics that come in the same sizes."""
    rack_of = dict(enumerate(draw(st.lists(RACKS, min_size=1, max_size=5))))
    sizes = draw(st.lists(st.integers(0, 7), min_size=1, max_size=2))
    # Broker ids that the metadata does not list have no rack.
    row = st.lists(st.integers(0, len(rack_of)), max_size=3, unique=True)
    topics = {
        name: draw(st.lists(row, min_size=size, max_size=size))
        for name in draw(st.lists(NAMES, unique=True, max_size=6))
        for size in [draw(st.sampled_from(sizes))]
    }
    subscriptions = draw(st.lists(st.lists(NAMES, max_size=7), min_size=1, max_size=3))
    ids = draw(st.lists(IDS, unique=True, min_size=min_members, max_size=7))
    instances = draw(
        st.lists(st.none() | st.sampled_from(["i1", "i2", "i10", ""]), min_size=len(ids), max_size=len(ids))
    )
    members = [
        Member(
            member,
            tuple(draw(st.sampled_from(subscriptions))),
            rack_id=draw(RACKS),
            group_instance_id=f"{instance}{index}" if unique_instances and instance is not None else instance,
        )
        for index, (member, instance) in enumerate(zip(ids, instances, strict=True))
    ]
    return members, metadata(rack_of, topics)


def topic_ids() -> st.Compact[str]:
    """Ids of topics; the last digit has two bits only."""
    digits = st.lists(st.sampled_from(ID_DIGITS), min_size=21, max_size=21).map("".join)
    return st.builds(str.__add__, digits, st.sampled_from("AQgw"))


@st.composite
def server_groups(
    draw: st.DrawFn, *, same_subscription: bool = False, exclusive: bool = False, largest: int = 9
) -> tuple[list[Member], dict[str, int]]:
    """A group of the coordinator, that owns this and that already.

    Parameters
    ----------
    exclusive : nothing is owned by two, nor is anything owned that does not exist.
    """
    topics = draw(st.dictionaries(topic_ids(), st.integers(0, largest), min_size=1, max_size=5))
    some = st.lists(st.sampled_from(list(topics)), max_size=6)
    subscriptions = draw(st.lists(some, min_size=1, max_size=1 if same_subscription else 4))
    ids = draw(st.lists(IDS, unique=True, max_size=6))
    owners = st.sampled_from([None, *ids])
    partitions = [(topic, partition) for topic, count in topics.items() for partition in range(count)]
    owner_of = {partition: draw(owners) for partition in partitions}
    claims = {member: [place for place, owner in owner_of.items() if owner == member] for member in ids}
    if not exclusive and ids and partitions:
        for _ in range(draw(st.integers(0, 3))):
            claims[draw(st.sampled_from(ids))].append(draw(st.sampled_from(partitions)))
    members = []
    for member in ids:
        by_topic: dict[str, list[int]] = {}
        for topic, partition in draw(st.permutations(claims[member])):
            by_topic.setdefault(topic, []).append(partition)
        owned = tuple(Owned(topic, np.array(places, np.int32)) for topic, places in by_topic.items())
        instance = draw(st.none() | st.sampled_from(["i1", "i2"]))
        subscribed = tuple(draw(st.sampled_from(subscriptions)))
        members.append(Member(member, subscribed, group_instance_id=instance, owned=owned))
    return members, topics
