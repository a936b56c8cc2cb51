"""Choices of the fields of forms, from the newest snapshot of a cluster and one of its groups."""

from collections.abc import Iterable, Mapping, Sequence
from datetime import timedelta
from itertools import islice
from typing import Any

import orjson

from app.core.kafka_versions import KafkaVersion
from app.core.model import CORDONS_SINCE, Cluster
from app.core.recorded import RecordedGroup
from app.services import snapshots
from app.store.database import UnitOfWork
from app.web.clusters.rooms import group_row
from app.web.words import counted

MOST_PICKED = 60
"""A picker of more choices is no help."""
_SECOND = "%Y-%m-%dT%H:%M:%SZ"


def suggested(uow: UnitOfWork, name: str, group: str) -> Mapping[str, Any]:
    """The choices of fields by `ShortField.listed`, `events` by their verbs; and hints that depend on the cluster."""
    if not name or (newest := uow.snapshots.newest(name)) is None:
        return {}
    _, cluster = snapshots.load(uow, newest.id)
    racks = sorted({broker.rack for broker in cluster.brokers if broker.rack})
    stored = uow.snapshots.page(cluster=name, before=None, size=MOST_PICKED)
    recorded = cluster.group(group) or RecordedGroup(group)
    found: Mapping[str, Any] = {
        "brokers": [str(broker.id) for broker in cluster.brokers],
        "racks": racks,
        "groups": [each.group_id for each in cluster.groups],
        "members": [each.member_id for each in recorded.members],
        "topics": {",".join(group_row(each)["topics"]): f"read by {each.group_id}" for each in cluster.groups},
        "snapshots": {str(each.id): f"{each.created_at:%Y-%m-%d %H:%M}" for each in stored.items},
        "begins": [f"{each.created_at:{_SECOND}}" for each in stored.items],
        "ends": [f"{each.last_seen_at + timedelta(seconds=1):{_SECOND}}" for each in stored.items],
    }
    return {
        "hints": _hints(cluster, racks),
        "events": _events(cluster, recorded, racks),
        **{listed: choices for listed, choices in found.items() if len(choices) <= MOST_PICKED},
    }


def _hints(cluster: Cluster, racks: Sequence[str]) -> dict[str, str]:
    hints = {"topics_replication_factor": f"{counted(len(cluster.brokers), 'broker')} in {counted(len(racks), 'rack')}"}
    if cluster.kafka_version and KafkaVersion.of(cluster.kafka_version) < CORDONS_SINCE:
        hints["cordoned_brokers"] = f"Kafka {cluster.kafka_version} has no cordons (KIP-1066, since {CORDONS_SINCE})"
    return hints


def _events(cluster: Cluster, group: RecordedGroup, racks: Sequence[str]) -> Mapping[str, Sequence[str]]:
    """By verb, what an event may be about, as in a line of the field: a name, or JSON to begin with."""
    members, topics = [each.member_id for each in group.members], group_row(group)["topics"]
    processes = list(dict.fromkeys(each.process_id for each in group.members if each.process_id))
    read = [topic for topic in cluster.topics if topic.name in topics]
    new, deploys = {"member_id": "new", "topics": topics}, [{}, {"keeps_state": False}]
    found: Mapping[str, Iterable[object]] = {
        "leave": members,
        "join": [new],
        "replace": [{"member_id": member, "by": new} for member in members],
        "lose_rack": racks,
        "topic_grown": [{"topic": topic.name, "partitions": 2 * len(topic.partition_ids)} for topic in read],
        "replica_racks_changed": [{"brokers": [{"id": cluster.brokers[0].id, "rack": rack}]} for rack in racks],
        "burst": [[{"leave": member} for member in members[:2]]],
        "lose_client": processes,
        "scale_in": [[process] for process in processes],
        "scale_out": [[{"process_id": "00000000-0000-0000-0000-000000000000"}]],
        "rolling_deploy": deploys,
        "deploy_at_once": deploys,
        "lose_tag": [{"tag": "zone", "value": rack} for rack in racks],
    }
    return {
        verb: [each if isinstance(each, str) else orjson.dumps(each).decode() for each in islice(objects, MOST_PICKED)]
        for verb, objects in found.items()
    }
