"""Groups to try the sticky assignors on, as the vectors write them."""

from collections.abc import Callable, Mapping, Sequence
from itertools import groupby
from typing import Any, TypeAlias

from app.errors.kafka import AssignorNeverEnds, KafkaRefuses
from tests import draws as st
from tests.core.groups import sticky_by_hand as hand

Partition: TypeAlias = tuple[str, int]
Lists: TypeAlias = Mapping[str, Sequence[Partition]]

# "Aa" and "BB" have one hash code; "\U0001f600" sorts before "\uff61" in Java.
MEMBERS = st.sampled_from(["Aa", "BB", "AaAa", "AaBB", "BBAa", "m1", "m10", "m2", "\uff61", "\U0001f600", "z"])
TOPICS = st.sampled_from(["Aa", "BB", "t0", "t1", "t10", "t2", "\uff61", "\U0001f600"])
RACKS = st.sampled_from(["a", "b", "c", "d", "", None])


def runs(partitions: Sequence[Partition]) -> list[list[Any]]:
    """Consecutive partitions of a topic under one mention of it."""
    return [[topic, [p for _, p in run]] for topic, run in groupby(partitions, key=lambda partition: partition[0])]


def flat(written: Sequence[Sequence[Any]]) -> list[Partition]:
    """The inverse of `runs`."""
    return [(topic, p) for topic, ids in written for p in ids]


def counts(case: Mapping[str, Any]) -> dict[str, int]:
    """How many partitions each topic has."""
    return {topic["name"]: len(topic["replicas"]) for topic in case["topics"]}


def member(name: str, topics: Sequence[str], owned: Sequence[Partition] = (), **other: Any) -> dict[str, Any]:
    """A member as the vectors write it; without a rack and of generation 1, unless it is said."""
    known = {"rack_id": None, "group_instance_id": None, "generation_id": 1}
    return {"id": name, "topics": list(topics), "owned": runs(owned), **known, **other}


def case(topics: Mapping[str, int], *members: Mapping[str, Any]) -> dict[str, Any]:
    """A group over topics with these partitions, whose replicas are on one broker without a rack."""
    known = [{"name": name, "replicas": [[0]] * count} for name, count in topics.items()]
    return {"brokers": [{"id": 0, "rack": None}], "topics": known, "members": list(members)}


def by_hand(group: Mapping[str, Any], *, cooperative: bool) -> Any:
    """The result of the steps one by one: lists by member, or the name of an exception."""
    replicas = {topic["name"]: topic["replicas"] for topic in group["topics"]}
    rack_of = {broker["id"]: broker["rack"] for broker in group["brokers"]}
    try:
        return hand.assign(group["members"], replicas, rack_of, cooperative=cooperative)
    except hand.Thrown as thrown:
        return str(thrown)


def or_exception(assigned: Callable[[Mapping[str, Any]], Any], group: Mapping[str, Any]) -> Any:
    """An assignor's answer, or the name of the exception that Kafka would throw."""
    try:
        return assigned(group)
    except KafkaRefuses as refusal:
        return refusal.kafka.exception
    except AssignorNeverEnds:
        return "AssignorNeverEnds"


def moved(before: Lists, now: Lists) -> int:
    """How many partitions a member has that it had not."""
    return sum(len(set(now[name]) - set(before[name])) for name in now)


def after(given: Mapping[str, Any], lists: Lists, *, generation: int = 2) -> dict[str, Any]:
    """The same group when its members own their assignment."""
    members = [
        {**its, "owned": runs(lists[its["id"]]), "generation_id": generation}
        for its in given["members"]
        if its["id"] in lists
    ]
    return {**given, "members": members}


@st.composite
def cases(
    draw: st.DrawFn, *, racks: bool = True, equal: bool | None = None, most: int = 7, largest: int = 6
) -> dict[str, Any]:
    """Groups that own nothing; each member subscribes to something that has metadata, unless there is no topic at all.

    Parameters
    ----------
    equal : whether all subscribe to the same; None is either.
    """
    rack_of = draw(st.lists(RACKS if racks else st.none(), min_size=1, max_size=4))
    # The broker beyond the last is one that the metadata does not list.
    row = st.lists(st.integers(0, len(rack_of)), max_size=3)
    names = draw(st.lists(TOPICS, min_size=1, max_size=5, unique=True))
    topics = [{"name": name, "replicas": draw(st.lists(row, min_size=1, max_size=largest))} for name in names]
    ids = draw(st.lists(MEMBERS, min_size=1, max_size=most, unique=True))
    choices = st.lists(st.sampled_from(names), min_size=1, unique=True)
    same = draw(st.booleans()) if equal is None else equal
    subscriptions = [names] * len(ids) if same else [draw(choices) for _ in ids]
    rack = RACKS if racks else st.none()
    members = [
        member(name, subscription, rack_id=draw(rack), generation_id=None)
        for name, subscription in zip(ids, subscriptions, strict=True)
    ]
    brokers = [{"id": broker, "rack": its} for broker, its in enumerate(rack_of)]
    return {"brokers": brokers, "topics": topics, "members": members}


@st.composite
def owned_cases(draw: st.DrawFn, /, *, odd: bool, **how: Any) -> dict[str, Any]:
    """Groups that own partitions.

    Parameters
    ----------
    odd : members may claim others' partitions, nonexistent and unsubscribed ones, in any generation;
        subscriptions may be empty, name a topic twice or one without metadata.
    """
    given = draw(cases(**how))
    members = given["members"]
    everything = [(topic, p) for topic, count in counts(given).items() for p in range(count)]
    mine: dict[str, list[Partition]] = {its["id"]: [] for its in members}
    for partition in everything:
        readers = [its["id"] for its in members if odd or partition[0] in its["topics"]]
        if readers and draw(st.integers(0, 9)) > 0:
            mine[draw(st.sampled_from(readers))].append(partition)
    if odd:
        known = st.sampled_from(sorted(counts(given)))
        strays = st.tuples(st.sampled_from(list(mine)), st.tuples(known, st.integers(-1, 9)))
        for name, partition in draw(st.lists(strays, max_size=4)):
            mine[name].append(partition)
    for its in members:
        its["owned"] = runs(draw(st.permutations(mine[its["id"]])))
        generations: list[int | None] = [5, 5, 4, 3, None, -5] if odd else [5]
        its["generation_id"] = draw(st.sampled_from(generations))
        if odd and not draw(st.integers(0, 5)):
            its["topics"] = draw(st.lists(TOPICS, max_size=3))
    return given
