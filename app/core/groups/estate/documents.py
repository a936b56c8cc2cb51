"""An estate ⇄ the JSON that is kept with a sweep, so that executors need nothing else."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from app.core.groups.estate.estate import Estate, EstateGroup
from app.core.groups.model import GroupMetadata, Member, Owned, TopicMetadata
from app.core.groups.registry import ASSIGNORS
from app.core.model import padded, unpadded
from app.errors import Json


def estate_document(groups: Sequence[EstateGroup], metadata: GroupMetadata) -> dict[str, Json]:
    """Groups and the part of the metadata that they need; what a member owns by topic name, ascending within."""
    needed = {name for group in groups for name in group.known_to(metadata).topics}
    return {
        "brokers": [{"id": broker, "rack": rack} for broker, rack in metadata.rack_of.items()],
        "topics": [
            {"name": name, "topic_id": topic.topic_id, "replicas": unpadded(topic.replicas)}
            for name, topic in metadata.topics.items()
            if name in needed
        ],
        "groups": [{"id": group.id, "members": [_member(member) for member in group.members]} for group in groups],
    }


def read_estate(definition: Mapping[str, Any]) -> Estate:
    """A sweep's JSON: assignors, members lost and added, seed, and the estate in `resolved`. Its shape is trusted."""
    kept = definition["resolved"]
    topics = [TopicMetadata(its["name"], padded(its["replicas"]), its["topic_id"]) for its in kept["topics"]]
    return Estate(
        metadata=GroupMetadata(
            {broker["id"]: broker["rack"] for broker in kept["brokers"]}, {topic.name: topic for topic in topics}
        ),
        groups=tuple(EstateGroup(its["id"], tuple(map(_read_member, its["members"]))) for its in kept["groups"]),
        assignors=tuple(ASSIGNORS[name] for name in definition["assignors"]),
        members_lost=tuple(definition["members_lost"]),
        members_added=tuple(definition["members_added"]),
        seed=definition["seed"],
    )


def _member(member: Member) -> dict[str, Json]:
    owned = sorted(member.owned, key=lambda run: run.topic)
    return {
        "id": member.id,
        "topics": list(member.topics),
        "rack_id": member.rack_id,
        "group_instance_id": member.group_instance_id,
        "owned": {run.topic: np.sort(run.partitions).tolist() for run in owned},
        "generation_id": member.generation_id,
    }


def _read_member(kept: Mapping[str, Any]) -> Member:
    owned = tuple(Owned(topic, np.array(ids, np.int32)) for topic, ids in kept["owned"].items())
    return Member(
        kept["id"], tuple(kept["topics"]), kept["rack_id"], kept["group_instance_id"], owned, kept["generation_id"]
    )
