"""Plan a reassignment: the least movement that makes the change, who leads then, and the steps there."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from time import monotonic
from typing import Any
from uuid import UUID

import numpy as np

from app.core.model import NO_REPLICA, Cluster, Int32s
from app.core.replicas.rack_modes import RackMode
from app.errors import ConflictingFields
from app.services import snapshots
from app.services.limits import Limits
from app.services.plans import Plan
from app.services.reassignment import reports
from app.services.reassignment.batching import batches_of
from app.services.reassignment.checking import check
from app.services.reassignment.leading import lead
from app.services.reassignment.placing import faults, place
from app.services.reassignment.requests import KIND, ReassignmentRequest, canonical, restored
from app.services.reassignment.soundness import require_sound
from app.services.reassignment.sources import Source, source_of
from app.services.seeds import digest
from app.store.database import UnitOfWork
from app.store.plans import NewPlan


def run(uow: UnitOfWork, request: Mapping[str, Any], limits: Limits) -> Plan:
    """Answer a request that `stored` kept: what a job of this kind does."""
    return plan_reassignment(uow, restored(request), limits, is_job=True)


def plan_reassignment(
    uow: UnitOfWork,
    request: ReassignmentRequest,
    limits: Limits,
    *,
    if_match: Sequence[str] = (),
    is_job: bool = False,
    plan_id: UUID | None = None,
) -> Plan:
    """Plan the change and keep the plan; a request that was answered before gets the same plan again.

    Raises the failures of `plan`, and `SnapshotNotFound`, `SnapshotChanged`.
    """
    check(request, limits)
    if request.snapshot_id is None:
        raise ConflictingFields("a reassignment starts from a snapshot, and names none", path=("snapshot_id",))
    snapshot, cluster = snapshots.load(uow, request.snapshot_id)
    if if_match:
        snapshots.require_unchanged(uow, snapshot.cluster, if_match)
    uow.release()
    new = _plan(request, _Site(cluster, snapshot.id, snapshot.content_hash), limits, is_job=is_job)
    return Plan(uow.plans.keep(new, plan_id=plan_id), tuple(new.placements))


def plan(request: ReassignmentRequest, cluster: Cluster, limits: Limits) -> NewPlan:
    """Plan the change of a cluster, and keep nothing.

    Raises
    ------
    ConflictingFields, LimitExceeded, DuplicateBroker, DuplicateTopic, DuplicatePartition
    UnknownBroker, BrokerExists, UnknownRack, UnknownTopic, UnknownPartition : what is named and is not, or is there.
    InvalidPartitions, InvalidReplicationFactor, BrokersWithoutRack, NotFeasible, PinContradicted, BudgetBelowMinimum
    RatesMissing, SizesMissing, ReassignmentUnderWay
    """
    check(request, limits)
    return _plan(request, _Site(cluster), limits, is_job=True)


@dataclass(frozen=True, slots=True)
class _Site:
    """The cluster that is to change, and the snapshot that it was read from."""

    cluster: Cluster
    snapshot_id: UUID | None = None
    content_hash: str | None = None


def _plan(request: ReassignmentRequest, site: _Site, limits: Limits, *, is_job: bool) -> NewPlan:
    begun = monotonic()
    end = None if request.deadline_s is None else begun + request.deadline_s
    source = source_of(_effective(request), site.cluster, limits, is_job=is_job)
    placing = place(request, source, is_over=lambda: end is not None and monotonic() >= end)
    if not request.leaders_only:
        require_sound(faults(source.problem, placing))
    leading = lead(request, source, placing.placed.replicas)
    steps = batches_of(request, source, leading.after)
    found = reports.Found(source, placing, leading, steps, seconds=monotonic() - begun)
    asked = canonical(request, source.brokers.added, cluster=site.cluster.name, content_hash=site.content_hash)
    after = as_ids(source, leading.after)
    return NewPlan(
        kind=KIND,
        hash=digest(asked).hex(),
        cluster=site.cluster.name or None,
        snapshot_id=site.snapshot_id,
        labels=dict(request.labels),
        request=asked,
        answer=reports.answer(request, found, after),
        placements=source.scope.placements(after),
    )


def as_ids(source: Source, replicas: Int32s) -> Int32s:
    """(rows, widest) int32 positions as broker ids."""
    return np.append(source.brokers.ids, np.int32(NO_REPLICA))[replicas]


def _effective(request: ReassignmentRequest) -> ReassignmentRequest:
    """Where no replica moves no rule about where they may be is broken or mended."""
    return replace(request, rack_mode=RackMode.DISABLED) if request.leaders_only else request
