"""The uniform assignor where all members subscribe to the same topics.

Members come in the order of Kafka's hash map; the first ones have the remainder, one partition each. Each keeps what it
owns up to its share, by the order of a hash map of topics and of hash sets of partitions. What is left (first the
partitions that nobody owns, topic by topic in the order of a hash set, then those that were taken away) fills up the
members in turn.

Kafka walks all that members own in hash order. It matters only for members that own more than their share, so that all
others are dealt with as arrays here.

Source: `org.apache.kafka.coordinator.group.assignor.UniformHomogeneousAssignmentBuilder` of Kafka 4.0. From 4.1 on any
member may have the remainder (KAFKA-18688), which this does not predict.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from app.core.groups.arrays.holdings import Holdings, OwnedPartitions
from app.core.groups.arrays.owners import Owners
from app.core.groups.model import GroupAssignment, Member
from app.core.groups.server.group import ServerGroup, refuse_first_missing
from app.core.groups.server.topic_ids import set_copy_order, set_order
from app.core.jvm import hash_order
from app.core.jvm.hash_map import DEFAULT_CAPACITY, capacity_for
from app.core.model import Int64s
from app.errors import KafkaError, PartitionsLeftUnassigned

NOBODY = -1


def build(group: ServerGroup, topics: Mapping[str, int]) -> GroupAssignment:
    """Assign partitions; parameters, answer and errors are those of `server_uniform.assign`."""
    first = list(dict.fromkeys(group.members[0].topics)) if group.members else []
    if not first:
        return Owners.none().assignment([])
    copied = set_copy_order(first, max(capacity_for(len(first)), DEFAULT_CAPACITY))
    in_order = [first[index] for index in copied.tolist()]
    refuse_first_missing(in_order, topics)
    names = sorted(in_order)
    place_of = {name: place for place, name in enumerate(names)}
    counts = np.array([topics[name] for name in names], np.int64)
    starts = np.cumsum(counts) - counts
    owned = OwnedPartitions.of(group.members, place_of)
    _refuse_crowded(owned.holdings, starts, counts)
    places = starts[owned.holdings.topics] + owned.holdings.partitions
    quotas = _quotas(int(counts.sum()), len(group.members))
    taken_away = _taken_away(owned.holdings, group.members, quotas, place_of)
    owners = np.full(int(counts.sum()), NOBODY, np.int32)
    owners[places] = owned.holdings.members
    by_topic = [starts[place_of[name]] + np.arange(topics[name]) for name in in_order]
    unowned = np.concatenate([some[owners[some] == NOBODY] for some in by_topic])
    owners[places[taken_away]] = NOBODY
    rooms = quotas - np.bincount(owners[owners != NOBODY], minlength=len(quotas))
    owners[np.concatenate([unowned, places[taken_away]])] = np.repeat(np.arange(len(quotas)), rooms)
    assignment = Owners(names, starts, counts, group.hashed[owners].astype(np.int32)).assignment(group.ids)
    bare = [
        (int(group.hashed[member]), topic)
        for member, topic in owned.without_partitions
        if member not in owners[starts[topic] : starts[topic] + counts[topic]]
    ]
    return replace(assignment, without_partitions=bare)


def _quotas(partitions: int, members: int) -> Int64s:
    quotas = np.full(members, partitions // members, np.int64)
    quotas[: partitions % members] += 1
    return quotas


def _refuse_crowded(owned: Holdings, starts: Int64s, counts: Int64s) -> None:
    """Raise where members own what does not exist or what another owns too.

    Kafka takes these for partitions that have been dealt out. As the shares add up to the partitions that there are,
    they always leave some without a member, and its code fails.
    """
    exists = (owned.partitions >= 0) & (owned.partitions < counts[owned.topics])
    distinct = len(np.unique((starts[owned.topics] + owned.partitions)[exists], return_index=True)[1])
    if distinct < len(owned):
        raise PartitionsLeftUnassigned(
            f"members own {len(owned)} partitions, of which {distinct} exist and are owned once: "
            f"{len(owned) - distinct} others would be left without a member",
            kafka=KafkaError("PartitionAssignorException", "Partitions were left unassigned"),
            path=("members",),
            owned=len(owned),
            distinct=distinct,
        )


def _taken_away(owned: Holdings, members: Sequence[Member], quotas: Int64s, place_of: Mapping[str, int]) -> Int64s:
    """What members that own more than their share have to give away, in Kafka's order: indices of holdings."""
    sizes = np.bincount(owned.members, minlength=len(members))
    starts = np.cumsum(sizes) - sizes
    taken: list[int] = []
    for index in np.flatnonzero(sizes > quotas).tolist():
        own = slice(starts[index], starts[index] + sizes[index])
        surplus = _surplus(members[index], owned.topics[own], owned.partitions[own], int(quotas[index]), place_of)
        taken.extend(int(starts[index]) + place for place in surplus)
    return np.array(taken, np.int64)


def _surplus(member: Member, topics: Int64s, partitions: Int64s, quota: int, place_of: Mapping[str, int]) -> list[int]:
    """What one member has to give away: places in `topics` and `partitions`, which are what it owns."""
    by_topic: dict[int, list[int]] = {}
    for place, topic in enumerate(topics.tolist()):
        by_topic.setdefault(topic, []).append(place)
    # Topics that it no longer reads are in the hash map too, and make it larger.
    names = list(dict.fromkeys(run.topic for run in member.owned))
    surplus: list[int] = []
    for name in (names[index] for index in set_order(names).tolist()):
        places = by_topic.get(place_of.get(name, -1), [])
        if len(places) > quota:
            numbers = partitions[places].astype(np.int32)
            surplus.extend(places[index] for index in hash_order(numbers, order=numbers.tolist())[quota:].tolist())
        quota = max(quota - len(places), 0)
    return surplus
