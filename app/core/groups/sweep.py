"""Sweeps over consumer groups: every group under every assignor, with members lost and members added.

The members that are lost depend on the group's id and the seed alone, so that every assignor meets the same loss, and
the members among two lost are among three lost as well. Members are added one after another, each in the rack with the
fewest members.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from hashlib import blake2b
from typing import Any, ClassVar

import numpy as np

from app.core.groups.arrays.owned import owned_assignment, owned_topics
from app.core.groups.lifecycle.rebalance import rebalance
from app.core.groups.measures.locality import handover, locality, member_loads
from app.core.groups.model import GroupMetadata, Member, Owned, TopicMetadata
from app.core.groups.registry import Assignor, assignor_for
from app.core.kafka_versions import KafkaVersion
from app.core.model import padded, unpadded
from app.core.sweeps.axes import Axis, Grid
from app.errors import Json
from app.errors.requests import ConflictingFields

NUMBERS = (
    "members",
    "partitions",
    "in_rack",
    "cross_rack",
    "unknown",
    "in_rack_share",
    "moved",
    "taken_up",
    "dropped",
    "revoked",
    "phases",
    "spread",
)
"""The figures of a scenario after the rebalance has settled.

`moved`, `taken_up` and `dropped` are as in `Handover`, from the recorded members, lost members included;
`revoked` counts the partitions that members revoke over all phases. `in_rack_share` is None if no rack is known.
"""


@dataclass(frozen=True, slots=True, eq=False)
class SweptGroup:
    """A recorded group; its members own the partitions that were assigned to them."""

    id: str
    members: tuple[Member, ...]

    def known_to(self, metadata: GroupMetadata) -> GroupMetadata:
        """The metadata of the topics that the group's members subscribe to or own."""
        names = {topic for member in self.members for topic in (*member.topics, *owned_topics(member))}
        return replace(metadata, topics={name: topic for name, topic in metadata.topics.items() if name in names})


@dataclass(frozen=True, slots=True, eq=False)
class GroupScenario:
    """One group under one assignor, with `lost` members lost, and then `added` members added."""

    group: SweptGroup
    assignor: Assignor
    lost: int
    added: int


@dataclass(frozen=True, eq=False)
class GroupsSweep:
    """Every group with every assignor and every number of members lost and added, the last of these varying fastest.

    Parameters
    ----------
    metadata : of every topic that a group subscribes to or owns.
    members_lost, members_added : numbers of members. seed : decides which members are lost.
    """

    without_figures: ClassVar[Mapping[str, Json]] = {}
    metadata: GroupMetadata
    groups: tuple[SweptGroup, ...]
    assignors: tuple[Assignor, ...]
    members_lost: tuple[int, ...]
    members_added: tuple[int, ...]
    seed: int

    @cached_property
    def grid(self) -> Grid:
        """The axes: group, assignor, members lost, members added."""
        return Grid(
            (
                Axis("group", [group.id for group in self.groups]),
                Axis("assignor", [assignor.name for assignor in self.assignors]),
                Axis("members_lost", self.members_lost),
                Axis("members_added", self.members_added),
            )
        )

    @property
    def count(self) -> int:
        """The number of scenarios."""
        return self.grid.size

    def scenario(self, index: int) -> GroupScenario:
        """Scenario `index`. Raises IndexError beyond the last."""
        group, assignor, lost, added = self.grid.digits(index)
        return GroupScenario(
            self.groups[group], self.assignors[assignor], self.members_lost[lost], self.members_added[added]
        )

    def coordinates(self, index: int) -> dict[str, Json]:
        """The value of each axis."""
        return {"axes": self.grid.values(index)}

    def rejoining_members(self, index: int) -> tuple[Member, ...]:
        """The members of scenario `index` before its rebalance: remaining ones, with their partitions, and new ones.

        Raises `ConflictingFields` if the group has fewer members than are lost.
        """
        scenario = self.scenario(index)
        recorded = scenario.group.members
        left = remaining_members(recorded, scenario.lost, group_id=scenario.group.id, seed=self.seed)
        return with_added(left, scenario.added, recorded=recorded, metadata=self.metadata)

    def figures(self, index: int) -> Mapping[str, Json]:
        """Rebalance the group of scenario `index`. Raises a `Failure` if its assignor does."""
        scenario = self.scenario(index)
        metadata, assignor = scenario.group.known_to(self.metadata), scenario.assignor
        members = tuple(assignor.sees(member) for member in self.rejoining_members(index))
        rebalanced = rebalance(members, metadata, assign=assignor.assign, protocol=assignor.protocol)
        racks = locality(members, metadata, rebalanced.assignment)
        balance = member_loads(members, metadata, rebalanced.assignment)
        change = handover(metadata, owned_assignment(scenario.group.members, metadata), rebalanced.assignment)
        return {
            "members": len(members),
            "partitions": balance.total,
            "in_rack": racks.in_rack,
            "cross_rack": racks.cross_rack,
            "unknown": racks.unknown,
            "in_rack_share": racks.in_rack_share,
            "moved": change.moved,
            "taken_up": change.taken_up,
            "dropped": change.dropped,
            "revoked": sum(phase.revoked for phase in rebalanced.phases),
            "phases": len(rebalanced.phases),
            "settled": rebalanced.settled,
            "spread": balance.spread,
        }


def remaining_members(members: Sequence[Member], count: int, *, group_id: str, seed: int) -> tuple[Member, ...]:
    """The members that are left, in their order, after `count` are lost. O(n log n).

    Raises `ConflictingFields` if the group has fewer than `count`.

    Examples
    --------
    >>> members = [Member(f"m{i}", ("orders",)) for i in range(4)]
    >>> len(remaining_members(members, 3, group_id="g", seed=0))
    1
    """
    if count > len(members):
        detail = f"group {group_id} has {len(members)} members; {count} cannot be lost"
        raise ConflictingFields(detail, path=("members_lost",), value=count, maximum=len(members))
    # An id contains no NUL, so different members and groups have different texts.
    by_hash = sorted(
        members, key=lambda member: blake2b(f"{seed}\0{group_id}\0{member.id}".encode(), digest_size=16).digest()
    )
    lost = {member.id for member in by_hash[:count]}
    return tuple(member for member in members if member.id not in lost)


def with_added(
    members: Sequence[Member], count: int, *, recorded: Sequence[Member], metadata: GroupMetadata
) -> tuple[Member, ...]:
    """The members followed by `count` new ones, named `added-1` and so on, which own nothing.

    Each subscribes to the most common subscription of the `recorded` members (the first of equally common ones) and
    gets the rack that has the fewest members by then, of equal ones the first by name. Racks come from live brokers
    and recorded members; if no recorded member has a rack, new ones have none either.
    """
    topics = _most_common([member.topics for member in recorded])
    racks = {rack for rack in metadata.rack_of.values() if rack} | {m.rack_id for m in recorded if m.rack_id}
    is_racked = any(member.rack_id for member in recorded)
    members_in = Counter(member.rack_id for member in members)
    names = {member.id for member in recorded}
    joined = list(members)
    number = 0
    while len(joined) < len(members) + count:
        number += 1
        if f"added-{number}" in names:
            continue
        rack = min(racks, key=lambda rack: (members_in[rack], rack)) if is_racked else None
        members_in[rack] += 1
        joined.append(Member(f"added-{number}", topics, rack))
    return tuple(joined)


def _most_common(subscriptions: Sequence[tuple[str, ...]]) -> tuple[str, ...]:
    """The first of the most common subscriptions; the order of topics does not distinguish two of them."""
    counts = Counter(frozenset(topics) for topics in subscriptions)
    return max(subscriptions, key=lambda topics: counts[frozenset(topics)], default=())


def resolved_document(groups: Sequence[SweptGroup], metadata: GroupMetadata) -> dict[str, Json]:
    """The groups as JSON, and the metadata that they need, so that executors need nothing else."""
    needed = {name for group in groups for name in group.known_to(metadata).topics}
    return {
        "brokers": [{"id": broker, "rack": rack} for broker, rack in metadata.rack_of.items()],
        "topics": [
            {"name": name, "topic_id": topic.topic_id, "replicas": unpadded(topic.replicas)}
            for name, topic in metadata.topics.items()
            if name in needed
        ],
        "groups": [{"id": group.id, "members": list(map(_member_document, group.members))} for group in groups],
    }


def swept_version(definition: Mapping[str, Any]) -> KafkaVersion:
    """The release whose assignors a resolved sweep has; if stored without a release, 4.0.0."""
    return KafkaVersion.of(definition.get("kafka_version") or "4.0.0")


def read_sweep(definition: Mapping[str, Any]) -> GroupsSweep:
    """Read a sweep's JSON: assignors, members lost and added, seed, and `resolved`, validated before."""
    resolved = definition["resolved"]
    version = swept_version(definition)
    topics = [
        TopicMetadata(topic["name"], padded(topic["replicas"]), topic["topic_id"]) for topic in resolved["topics"]
    ]
    return GroupsSweep(
        metadata=GroupMetadata(
            {broker["id"]: broker["rack"] for broker in resolved["brokers"]}, {topic.name: topic for topic in topics}
        ),
        groups=tuple(
            SweptGroup(group["id"], tuple(map(_read_member, group["members"]))) for group in resolved["groups"]
        ),
        assignors=tuple(assignor_for(name, version) for name in definition["assignors"]),
        members_lost=tuple(definition["members_lost"]),
        members_added=tuple(definition["members_added"]),
        seed=definition["seed"],
    )


def _member_document(member: Member) -> dict[str, Json]:
    owned = sorted(member.owned, key=lambda run: run.topic)
    return {
        "id": member.id,
        "topics": list(member.topics),
        "rack_id": member.rack_id,
        "group_instance_id": member.group_instance_id,
        "owned": {run.topic: np.sort(run.partitions).tolist() for run in owned},
        "generation_id": member.generation_id,
    }


def _read_member(document: Mapping[str, Any]) -> Member:
    owned = tuple(Owned(topic, np.array(ids, np.int32)) for topic, ids in document["owned"].items())
    return Member(
        document["id"],
        tuple(document["topics"]),
        document["rack_id"],
        document["group_instance_id"],
        owned,
        document["generation_id"],
    )
