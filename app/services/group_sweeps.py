"""Sweeps over the groups of a cluster: every one under every assignor, with members lost and added."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, cast
from uuid import UUID

import numpy as np

from app.core.groups.estate.documents import estate_document, read_estate
from app.core.groups.estate.estate import EstateGroup
from app.core.groups.estate.scoring import NUMBERS, score_estate, starting_members
from app.core.groups.model import Member
from app.core.groups.registry import ASSIGNORS
from app.core.model import Cluster
from app.core.recorded import RecordedGroup
from app.errors import ConflictingFields, ImpossibleValue, Json
from app.formats.scenario_tables import Column
from app.services import snapshots
from app.services.cautions import Caution
from app.services.groups import PLANNER, GroupRequest, MemberRequest, metadata_of, missing_from, recorded_member
from app.services.limits import Limits
from app.services.plans import Plan, make_plan
from app.services.snapshots import first_repeated
from app.store.database import UnitOfWork
from app.store.sweeps import Sweep

AXES = ("group", "assignor", "members_lost", "members_added")
_LISTS = ("groups", "assignors", "members_lost", "members_added")


def resolve(uow: UnitOfWork, definition: Mapping[str, Json], limits: Limits) -> Mapping[str, Json]:
    """The definition with the groups, their topics and the racks as the snapshot has them; an estate that is there
    already is kept.

    `warnings` say what the snapshot does not record of the groups, and what is taken instead.

    Raises
    ------
    SnapshotNotFound, LimitExceeded
    ConflictingFields : a group is not in the snapshot or has no members, nothing in it has, something is listed twice.
    ImpossibleValue : an assignor does not divide partitions among members.
    """
    asked = cast("Mapping[str, Any]", definition)
    for name in _LISTS:
        listed = asked.get(name) or ()
        if (twice := first_repeated(listed)) is not None:
            raise ConflictingFields(f"{listed[twice]} is listed twice", path=(name, twice), value=listed[twice])
    for place, name in enumerate(asked["assignors"]):
        if not ASSIGNORS[name].is_exclusive:
            detail = f"{name} lets members share partitions; there is nothing that it would move or divide"
            raise ImpossibleValue(detail, path=("assignors", place), value=name)
    if "resolved" in definition:
        return definition
    snapshot, cluster = snapshots.load(uow, UUID(asked["snapshot_id"]))
    groups = _chosen(cluster, asked.get("groups"))
    for group in groups:
        limits.check_count("members", group.members, path=("groups",))
    told, warnings = _resolved(cluster, groups)
    partitions = sum(len(topic["replicas"]) for topic in cast("Any", told["topics"]))
    limits.check_number("partitions", partitions, path=("snapshot_id",))
    return {
        **definition,
        "groups": [group.group_id for group in groups],
        "snapshot_content_hash": snapshot.content_hash,
        "warnings": [warning.as_json() for warning in warnings],
        "resolved": told,
    }


def scenarios(definition: Mapping[str, Json]) -> int:
    """How many there are."""
    return read_estate(definition).count


def score(definition: Mapping[str, Json], start: int, stop: int) -> list[dict[str, Json]]:
    """Rebalance the groups of scenarios start … stop − 1."""
    return score_estate(read_estate(definition), start, stop)


def columns(_: Mapping[str, Json]) -> list[Column]:
    """The axes, then the figures."""
    return [
        *(Column.axis(name, "string" if name in ("group", "assignor") else "int64") for name in AXES),
        *(Column.figure(name, "double" if name.endswith("_share") else "int64") for name in NUMBERS),
        Column.figure("settled", "bool"),
    ]


def opened(uow: UnitOfWork, sweep: Sweep, index: int, limits: Limits) -> Plan:
    """One scenario as a group plan: of the members that are left and those that join, as they rejoin.

    The plan is of those members alone, so that what the lost ones had is taken up there, and has moved in the sweep.
    """
    estate = read_estate(sweep.definition)
    trial = estate.trial(index)
    request = GroupRequest(
        assignors=[trial.assignor.name],
        members=[_listed(member) for member in starting_members(estate, trial)],
        snapshot_id=UUID(str(sweep.definition["snapshot_id"])),
        labels={"sweep": str(sweep.id), "scenario": str(index)},
    )
    return make_plan(uow, PLANNER, request, limits)


def _chosen(cluster: Cluster, named: Sequence[str] | None) -> list[RecordedGroup]:
    if named is None:
        groups = [group for group in cluster.groups if group.members]
        if not groups:
            detail = f"the snapshot has {len(cluster.groups)} groups, and none with members"
            raise ConflictingFields(detail, path=("snapshot_id",))
        return groups
    groups = []
    for place, name in enumerate(named):
        group = cluster.group(name)
        if group is None:
            there = ", ".join(each.group_id for each in cluster.groups[:10]) or "none"
            detail = f"the snapshot has no group {name}; it has {there}"
            raise ConflictingFields(detail, path=("groups", place), value=name)
        if not group.members:
            detail = f"group {name} has no members in the snapshot"
            raise ConflictingFields(detail, path=("groups", place), value=name)
        groups.append(group)
    return groups


def _resolved(cluster: Cluster, recorded: Sequence[RecordedGroup]) -> tuple[dict[str, Json], list[Caution]]:
    """The estate of these groups, and what their records do not say."""
    groups = [
        EstateGroup(group.group_id, tuple(recorded_member(member).member for member in group.members))
        for group in recorded
    ]
    needed = {topic for group in groups for member in group.members for topic in (*member.topics, *_owned(member))}
    # Only topics that somebody reads have to be known from partition 0 on.
    metadata = metadata_of(replace(cluster, topics=tuple(topic for topic in cluster.topics if topic.name in needed)))
    warnings = [
        replace(caution, detail=f"group {group.group_id}: {caution.detail}")
        for group in recorded
        for caution in missing_from(group)
    ]
    return estate_document(groups, metadata), warnings


def _owned(member: Member) -> list[str]:
    return [run.topic for run in member.owned]


def _listed(member: Member) -> MemberRequest:
    return MemberRequest(
        member_id=member.id,
        group_instance_id=member.group_instance_id,
        rack_id=member.rack_id,
        topics=member.topics,
        owned_partitions={run.topic: np.sort(run.partitions).tolist() for run in member.owned},
        generation_id=member.generation_id,
    )
