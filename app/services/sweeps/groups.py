"""Sweeps over the consumer groups of a cluster: each under every assignor, with members lost and added."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any
from uuid import UUID

import numpy as np

from app.core.groups.model import Member
from app.core.groups.registry import assignor_for
from app.core.groups.sweep import NUMBERS, SweptGroup, read_sweep, resolved_document, swept_version
from app.core.kafka_versions import KafkaVersion, release_of
from app.core.model import Cluster
from app.core.recorded import RecordedGroup
from app.errors.every import ConflictingFields, ImpossibleValue
from app.formats.tables.scenario_tables import Column
from app.services import groups as group_plans
from app.services import snapshots
from app.services.cautions import Caution
from app.services.limits import Limits
from app.services.snapshots import require_distinct
from app.services.sweeps.kind import Definition, SweepKind
from app.store.sweeps import Sweep
from app.store.unit import UnitOfWork

AXES = ("group", "assignor", "members_lost", "members_added")
_LISTS = ("groups", "assignors", "members_lost", "members_added")


def resolve(uow: UnitOfWork, definition: Definition, limits: Limits) -> Definition:
    """Validate a definition, and resolve the groups, their topics and racks of the snapshot unless they are already.

    `warnings` list gaps in the snapshot's records of the groups, and the values assumed instead.

    Raises
    ------
    SnapshotNotFound, LimitExceeded
    ConflictingFields : a group is not in the snapshot or has no members, no group has members, or an entry is listed
        twice. UnsupportedKafkaVersion, AssignorUnavailable
    ImpossibleValue : an assignor lets members share partitions.
    """
    for name in _LISTS:
        require_distinct("", definition.get(name) or (), ConflictingFields, name)
    if "resolved" in definition:
        _require_assignors(definition["assignors"], swept_version(definition))
        return definition
    snapshot, cluster = snapshots.load(uow, UUID(definition["snapshot_id"]))
    version = release_of(definition.get("kafka_version"), cluster.kafka_version)
    _require_assignors(definition["assignors"], version)
    groups = _chosen(cluster, definition.get("groups"))
    for group in groups:
        limits.check_count("members", group.members, path=("groups",))
    resolved, warnings = _resolved(cluster, groups)
    partitions = sum(len(topic["replicas"]) for topic in resolved["topics"])
    limits.check_number("partitions", partitions, path=("snapshot_id",))
    return {
        **definition,
        "kafka_version": str(version),
        "groups": [group.group_id for group in groups],
        "snapshot_content_hash": snapshot.content_hash,
        "warnings": [vars(warning) for warning in warnings],
        "resolved": resolved,
    }


def columns(_: Definition) -> list[Column]:
    """The axes, then the figures."""
    return [
        *(Column.axis(name, "string" if name in ("group", "assignor") else "int64") for name in AXES),
        *(Column.figure(name, "double" if name.endswith("_share") else "int64") for name in NUMBERS),
        Column.figure("settled", "bool"),
    ]


def request_of(sweep: Sweep, index: int) -> group_plans.GroupRequest:
    """One scenario as a group plan: of the remaining members and the added ones, as they rejoin.

    The plan knows these members alone: partitions of lost members are taken up in the plan, and moved in the sweep.
    """
    groups = read_sweep(sweep.definition)
    return group_plans.GroupRequest(
        assignors=[groups.scenario(index).assignor.name],
        members=[_listed(member) for member in groups.rejoining_members(index)],
        snapshot_id=UUID(str(sweep.definition["snapshot_id"])),
        kafka_version=str(swept_version(sweep.definition)),
    )


def _require_assignors(names: Sequence[str], version: KafkaVersion) -> None:
    for place, name in enumerate(names):
        if not assignor_for(name, version, path=("assignors", place)).is_exclusive:
            detail = f"{name} lets members share partitions; there is nothing that it would move or divide"
            raise ImpossibleValue(detail, path=("assignors", place), value=name)


def _chosen(cluster: Cluster, named: Sequence[str] | None) -> list[RecordedGroup]:
    if named is None:
        groups = [group for group in cluster.groups if group.members and group.type != "streams"]
        if not groups:
            detail = f"the snapshot has {len(cluster.groups)} groups, and none with members that read partitions"
            raise ConflictingFields(detail, path=("snapshot_id",))
        return groups
    groups = []
    for place, name in enumerate(named):
        group = group_plans.recorded_group(cluster, name, ("groups", place))
        group_plans.require_partitions(group, ("groups", place))
        if not group.members:
            raise ConflictingFields(f"group {name} has no members in the snapshot", path=("groups", place), value=name)
        groups.append(group)
    return groups


def _resolved(cluster: Cluster, recorded: Sequence[RecordedGroup]) -> tuple[dict[str, Any], list[Caution]]:
    """The resolved groups as JSON, and cautions about gaps in their records."""
    groups = [
        SweptGroup(group.group_id, tuple(group_plans.recorded_member(member).member for member in group.members))
        for group in recorded
    ]
    needed = {topic for group in groups for member in group.members for topic in (*member.topics, *_owned(member))}
    # Only the topics that a member reads or owns must be known from partition 0 on.
    metadata = group_plans.metadata_of(
        replace(cluster, topics=tuple(topic for topic in cluster.topics if topic.name in needed))
    )
    warnings = [
        replace(caution, detail=f"group {group.group_id}: {caution.detail}")
        for group in recorded
        for caution in group_plans.missing_from(
            group, [one.member.member_id for one in group_plans.overridden(group.members, ())[0] if not one.knows_rack]
        )
    ]
    return resolved_document(groups, metadata), warnings


def _owned(member: Member) -> list[str]:
    return [run.topic for run in member.owned]


def _listed(member: Member) -> group_plans.MemberRequest:
    return group_plans.MemberRequest(
        member_id=member.id,
        group_instance_id=member.group_instance_id,
        rack_id=member.rack_id,
        topics=member.topics,
        owned_partitions={run.topic: np.sort(run.partitions).tolist() for run in member.owned},
        generation_id=member.generation_id,
    )


KIND = SweepKind(
    name="consumer_groups",
    read_sweep=read_sweep,
    resolve=resolve,
    count=lambda definition: read_sweep(definition).count,
    counted_by=("groups",),
    changes=("assignors", "members_lost", "members_added"),
    numbers=NUMBERS,
    columns=columns,
    planner=group_plans.PLANNER,
    request=request_of,
)
