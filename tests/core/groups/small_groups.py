"""Groups small enough that every assignment of theirs can be looked at, and the obvious way to say how good one is."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import product

import numpy as np

from app.core.groups.arrays.partition_table import Weights
from app.core.groups.model import GroupAssignment, GroupMetadata, Member, Owned, TopicMetadata
from app.core.model import Int32s, padded
from tests import draws as st

Reader = Mapping[tuple[str, int], int]
"""Who reads each partition, as an index into the members."""


def topic(name: str, *rows: Sequence[int]) -> TopicMetadata:
    """A topic with these replicas."""
    return TopicMetadata(name, padded(rows))


def metadata(rack_of: Mapping[int, str | None], *topics: TopicMetadata) -> GroupMetadata:
    """The metadata of these topics."""
    return GroupMetadata(rack_of, {known.name: known for known in topics})


def member(
    member_id: str, topics: str, rack: str | None = None, owned: Mapping[str, Sequence[int]] | None = None
) -> Member:
    """A member that subscribes to topics of one letter each; owned partitions are of generation 1."""
    runs = tuple(Owned(name, np.array(ids, np.int32)) for name, ids in (owned or {}).items())
    return Member(member_id, tuple(topics), rack, None, runs, 1 if runs else None)


def given_to(assignment: GroupAssignment) -> dict[str, list[tuple[str, int]]]:
    """An assignment as lists."""
    entries = [
        (assignment.topics[index], partition)
        for index, partition in zip(assignment.topic_index.tolist(), assignment.partitions.tolist(), strict=True)
    ]
    bounds = zip(assignment.offsets[:-1].tolist(), assignment.offsets[1:].tolist(), strict=True)
    return {name: entries[begin:end] for name, (begin, end) in zip(assignment.members, bounds, strict=True)}


def readers_of(members: Sequence[Member], assignment: GroupAssignment) -> Reader:
    """Pairs of member and partition of an assignment."""
    place = {its.id: index for index, its in enumerate(members)}
    return {entry: place[name] for name, entries in given_to(assignment).items() for entry in entries}


def readable(members: Sequence[Member], known: GroupMetadata) -> list[tuple[str, int]]:
    """Every partition that somebody subscribes to."""
    return [
        (name, partition)
        for name, its in known.topics.items()
        if any(name in member.topics for member in members)
        for partition in range(len(its.replicas))
    ]


def every_assignment(members: Sequence[Member], known: GroupMetadata) -> Iterator[Reader]:
    """All legal assignments."""
    partitions = readable(members, known)
    choices = [[index for index, its in enumerate(members) if name in its.topics] for name, _ in partitions]
    for chosen in product(*choices):
        yield dict(zip(partitions, chosen, strict=True))


def owner_of(members: Sequence[Member]) -> dict[tuple[str, int], int]:
    """Owners of partitions: the newest claim, if it is one member's."""
    claims: dict[tuple[str, int], list[tuple[int, int]]] = {}
    for index, its in enumerate(members):
        generation = -1 if its.generation_id is None else its.generation_id
        for run in its.owned:
            for partition in run.partitions.tolist():
                claims.setdefault((run.topic, partition), []).append((generation, index))
    newest = {key: {index for its, index in made if its == max(made)[0]} for key, made in claims.items()}
    return {key: next(iter(who)) for key, who in newest.items() if len(who) == 1}


def is_in_rack(its: Member, known: GroupMetadata, entry: tuple[str, int]) -> bool:
    """Whether a member's rack holds a replica of a partition."""
    replicas = known.topics[entry[0]].replicas[entry[1]].tolist()
    return bool(its.rack_id) and its.rack_id in {known.rack_of.get(broker) for broker in replicas if broker >= 0}


def quality(
    members: Sequence[Member], known: GroupMetadata, reader: Reader, weights: Weights | None = None
) -> tuple[list[int], int, int]:
    """Score of an assignment, less is better: loads descending, reads in rack (negative), moves."""
    loads = [0] * len(members)
    for index in reader.values():
        loads[index] += 1
    in_rack = [entry for entry, index in reader.items() if is_in_rack(members[index], known, entry)]
    worth = len(in_rack) if weights is None else sum(int(weights[name][partition]) for name, partition in in_rack)
    owner = owner_of(members)
    moved = sum(owner.get(entry, index) != index for entry, index in reader.items())
    return sorted(loads, reverse=True), -worth, moved


def _replicas(rows: list[list[int]]) -> Int32s:
    return padded(rows).reshape(len(rows), -1) if rows else np.empty((0, 0), np.int32)


racks = st.sampled_from([None, "a", "b", "c", ""])


@st.composite
def _snapshots(draw: st.DrawFn) -> GroupMetadata:
    rows = st.lists(st.integers(0, 4), max_size=3, unique=True)
    partitions = draw(st.lists(st.tuples(st.sampled_from("tuvw"), rows), min_size=1, max_size=6))
    without = draw(st.lists(st.sampled_from("tuvw"), max_size=2))
    if draw(st.integers(0, 15)) == 15:
        partitions = []
    names = dict.fromkeys([name for name, _ in partitions] + without)
    topics = [TopicMetadata(name, _replicas([row for of, row in partitions if of == name])) for name in names]
    return metadata(draw(st.dictionaries(st.integers(0, 3), racks)), *topics)


snapshots = _snapshots()
"""Metadata of at most six partitions, with brokers without a rack, unknown brokers, topics without partitions."""
owned_runs = st.lists(
    st.builds(
        lambda name, ids: Owned(name, np.array(ids, np.int32)),
        st.sampled_from("tuvx"),
        st.lists(st.integers(0, 3), max_size=3),
    ),
    max_size=3,
).map(tuple)
groups = st.lists(
    st.builds(
        Member,
        id=st.sampled_from(["m0", "m1", "m2", "m3"]),
        topics=st.lists(st.sampled_from("tuvwx"), unique=True).map(tuple),
        rack_id=racks,
        owned=owned_runs,
        generation_id=st.sampled_from([None, 1, 2]),
    ),
    max_size=4,
    unique_by=lambda its: its.id,
)
"""At most four members, whose claims to partitions may be wrong, old or conflicting."""
