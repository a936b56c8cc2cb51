"""A stored reassignment read again: its rows, and its changes per broker, from broker to broker, by partition."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any
from uuid import UUID

import numpy as np

from app.core.measures.transfers import NOWHERE, Copies, PartitionTransfer, Transfers, transfers
from app.core.model import Assignment, Broker, Cluster, Int64s, Placement, Topic
from app.core.reassignment.resource_problem import RESOURCES
from app.core.replica_lists import stacked
from app.errors.every import SnapshotNotFound
from app.services import snapshots
from app.services.bodies import AnswerRecord, ListOf
from app.services.plans import Difference, Plan, named_plan
from app.services.plans.answers import DifferencePage
from app.services.replicas import DiffSummary
from app.store.records import NewPlan, PlanHead
from app.store.unit import UnitOfWork

SHOWN_FLOWS = 1_000
"""How many flows a summary lists, the largest first; it counts them all."""


@dataclass(frozen=True, slots=True)
class BrokerTransfer:
    """Load of a broker before and after, and its transfers."""

    broker: int
    """Id of the broker."""
    rack: str | None
    """Rack of the broker; null if it has none."""
    replicas_before: int
    """Number of replicas before."""
    replicas_after: int
    """Number of replicas after."""
    leaders_before: int
    """Number of preferred leaders before."""
    leaders_after: int
    """Number of preferred leaders after."""
    bytes_before: int
    """Bytes before, of replicas of known size."""
    bytes_after: int
    """Bytes after, of replicas of known size."""
    unknown_size_before: int
    """Number of replicas of unknown size before."""
    unknown_size_after: int
    """Number of replicas of unknown size after."""
    replicas_in: int
    """Number of replicas that are copied to the broker."""
    replicas_out: int
    """Number of replicas that are removed from the broker."""
    bytes_in: int
    """Bytes that are copied to the broker, of replicas of known size."""
    bytes_out: int
    """Bytes that are removed from the broker, of replicas of known size."""
    unknown_size_in: int
    """Number of replicas of unknown size that are copied to the broker."""
    unknown_size_out: int
    """Number of replicas of unknown size that are removed from the broker."""
    replicas_created: int
    """Number of replicas of new partitions, which are not copied; `replicas_in` does not count them."""


@dataclass(frozen=True, slots=True)
class BrokerFlow:
    """Transfers from one broker to another; None is nowhere, where a factor changes."""

    from_broker: int | None
    """Id of the sending broker; null if a replica is added without another one being removed."""
    to_broker: int | None
    """Id of the receiving broker; null if a replica is removed without another one being added."""
    replicas: int
    """Number of replicas of the flow."""
    bytes: int
    """Bytes of these replicas, of known sizes only."""
    unknown_size_replicas: int
    """Number of these replicas whose size is unknown."""


class LoadChange(AnswerRecord):
    """The load of a resource of a broker on both sides: bytes, bytes/s, vCPU, or a count."""

    before: float | None
    """Load before; null if it is unknown there, as of a broker that only one of two plans has."""
    after: float | None
    """Load after the plan; null if it is unknown."""


class CrossRackChange(AnswerRecord):
    """Bytes/s between racks on both sides."""

    before_bytes_per_s: int
    """Bytes/s before."""
    after_bytes_per_s: int
    """Bytes/s after the plan."""


class ReassignmentDiffSummary(DiffSummary):
    """Counts of differences over all of a cluster; bytes count only replicas of known size."""

    moved_bytes: int
    """Bytes of the replicas added, of known sizes only."""
    unknown_size_replicas: int
    """Number of added replicas of unknown size."""
    brokers: list[BrokerTransfer]
    """By ascending id."""
    flows: list[BrokerFlow]
    """The largest first, 1,000 at most."""
    flows_in_all: int
    """Number of flows, listed or not."""
    loads: dict[str, dict[str, LoadChange]] | None
    """By broker id and resource, as each plan states its loads; null against another snapshot."""
    cross_rack: CrossRackChange | None
    """Bytes/s between racks, as each plan states them; null if either does not."""


class ReassignmentDiffDocument(DifferencePage):
    """The partitions that differ, by topic and partition id, with the racks that they span."""

    summary: ReassignmentDiffSummary
    items: ListOf[PartitionTransfer]


def difference(uow: UnitOfWork, plan: Plan, against: UUID | None) -> Difference:
    """Changes of the plan against another reassignment, a snapshot, or the snapshot that it was made from.

    Raises `ConflictingFields`, and `SnapshotNotFound` where `against` is neither a plan nor a snapshot.
    """
    other = None if against is None else named_plan(uow, plan, against)
    cluster = _snapshot(uow, plan.head.snapshot_id if other is not None or against is None else against)
    before, after = before_of(cluster), planned(plan.placements)
    if other is not None:
        # Partitions that only the other plan names are, in this one, where its own snapshot has them.
        after = {**before, **after}
        before = {**before_of(_snapshot(uow, other.head.snapshot_id)), **planned(other.placements)}
    moved = compared_assignments(before, after, brokers_of(plan.head, cluster), cluster)
    is_known = other is not None or against is None or against == plan.head.snapshot_id
    return summed(moved, *(load_changes(plan, other) if is_known else ()))


def load_changes(plan: Plan, other: Plan | None) -> tuple[dict[str, dict[str, LoadChange]], CrossRackChange | None]:
    """The loads of brokers and the bytes/s between racks, as both plans state them.

    Parameters
    ----------
    other : the plan that is compared with; None compares with the cluster as it was.

    Returns
    -------
    By broker id and resource, None on a side on which it is unknown; bytes/s between racks, None unless both are known.
    """
    answer: Any = plan.head.answer
    start, when = (answer, "before") if other is None else (other.head.answer, "after")
    before, after = (_amounts(start, when), _amounts(answer, "after"))
    crossing: tuple[Any, Any] = start.get("cross_rack"), answer.get("cross_rack")
    pairs = sorted({*before, *after}, key=lambda pair: (int(pair[0]), RESOURCES.index(pair[1])))
    loads: dict[str, dict[str, LoadChange]] = {}
    for broker, resource in pairs:
        change = LoadChange(before.get((broker, resource)), after.get((broker, resource)))
        loads.setdefault(broker, {})[resource] = change
    if None in crossing:
        return loads, None
    return loads, CrossRackChange(crossing[0][f"{when}_bytes_per_s"], crossing[1]["after_bytes_per_s"])


def _amounts(answer: Mapping[str, Any], when: str) -> dict[tuple[str, str], float | None]:
    """By broker id and resource."""
    loads: Mapping[str, Any] = answer.get("loads") or {}
    return {(broker, name): load[when] for broker, by in loads.items() for name, load in by.items()}


def summed(
    moved: Transfers, loads: dict[str, dict[str, LoadChange]] | None = None, cross_rack: CrossRackChange | None = None
) -> Difference:
    """The difference as pages of partitions under a summary: counts, by broker and from broker to broker."""
    flows = broker_flows(moved)
    summary = ReassignmentDiffSummary.of(
        moved.movement,
        moved_bytes=int(moved.arriving.size_bytes.sum()),
        unknown_size_replicas=int(moved.arriving.unknown_size.sum()),
        brokers=broker_transfers(moved),
        flows=flows[:SHOWN_FLOWS],
        flows_in_all=len(flows),
        loads=loads,
        cross_rack=cross_rack,
    )
    return Difference(vars(summary), moved.movement.total, moved.partitions)


def broker_transfers(moved: Transfers) -> list[BrokerTransfer]:
    """Every broker, by ascending id."""
    columns = (
        *_pairs(moved.before, moved.after, ("replicas", "leaders", "size_bytes", "unknown_size")),
        *_pairs(moved.arriving, moved.leaving, ("replicas", "size_bytes", "unknown_size")),
        moved.created,
    )
    rows = zip(moved.brokers, *(column.tolist() for column in columns), strict=True)
    return [BrokerTransfer(broker.id, broker.rack, *counts) for broker, *counts in rows]


def broker_flows(moved: Transfers) -> list[BrokerFlow]:
    """Transfers from broker to broker: most bytes first, then most replicas, then by their ids."""
    flows = moved.flows
    order = np.lexsort((flows.receivers, flows.senders, -flows.replicas, -flows.size_bytes))
    columns = (flows.senders, flows.receivers, flows.replicas, flows.size_bytes, flows.unknown_size)
    rows: Sequence[Sequence[int]] = list(zip(*(column[order].tolist() for column in columns), strict=True))
    return [BrokerFlow(_end(sender), _end(receiver), *counts) for sender, receiver, *counts in rows]


def _pairs(one: Copies, other: Copies, names: Sequence[str]) -> Iterator[Int64s]:
    return (getattr(side, name) for name in names for side in (one, other))


def _end(broker: int) -> int | None:
    return None if broker == NOWHERE else broker


def _snapshot(uow: UnitOfWork, snapshot_id: UUID | None) -> Cluster:
    if snapshot_id is None:
        raise SnapshotNotFound("the plan was made from no snapshot; name one, or another plan", path=("against",))
    return snapshots.load(uow, snapshot_id)[1]


def compared(plan: Plan | NewPlan, cluster: Cluster) -> Transfers:
    """Transfers of the plan in the whole cluster; partitions that it does not name stay."""
    return compared_assignments(before_of(cluster), planned(plan.placements), brokers_of(plan.head, cluster), cluster)


def compared_assignments(
    before: Mapping[str, Assignment], after: Mapping[str, Assignment], brokers: Sequence[Broker], cluster: Cluster
) -> Transfers:
    """The transfers between two assignments; sizes come from the cluster's partitions, 0 for others."""
    topics = {topic.name: topic for topic in cluster.topics}
    sizes = {name: _sizes(topics[name], assignment) for name, assignment in before.items() if name in topics}
    most_copied = {name: topics[name].most_copied_bytes for name in sizes}
    return transfers(before, after, sizes=sizes, most_copied=most_copied, brokers=brokers)


def before_of(cluster: Cluster) -> dict[str, Assignment]:
    """Where replicas are, by topic; of partitions that are on their way, where they are going."""
    return {topic.name: topic.destination for topic in cluster.topics}


def planned(placements: Sequence[Placement]) -> dict[str, Assignment]:
    """Where a plan has them; a topic whose partition ids have gaps is several placements, one after another."""
    assignments = {}
    for name, group in groupby(placements, key=lambda placement: placement.topic):
        parts = [placement.assignment for placement in group]
        if len(parts) == 1:
            assignments[name] = parts[0]
            continue
        ids = np.concatenate([part.partition_ids for part in parts])
        assignments[name] = Assignment(ids, stacked([part.replicas for part in parts]))
    return assignments


def brokers_of(head: PlanHead | NewPlan, cluster: Cluster) -> tuple[Broker, ...]:
    """The cluster's brokers, and those that the plan adds to them."""
    added: Any = head.request["add_brokers"]
    up = {broker.id for broker in cluster.brokers}
    return (*cluster.brokers, *(Broker(broker["id"], broker["rack"]) for broker in added if broker["id"] not in up))


def _sizes(topic: Topic, before: Assignment) -> Int64s:
    """The sizes of these partitions of a topic; one that it has not got yet is empty."""
    if topic.partition_ids is before.partition_ids or np.array_equal(topic.partition_ids, before.partition_ids):
        return topic.size_bytes
    sizes = np.zeros(len(before.partition_ids), np.int64)
    rows = np.searchsorted(topic.partition_ids, before.partition_ids)
    is_there = np.isin(before.partition_ids, topic.partition_ids)
    sizes[is_there] = topic.size_bytes[rows[is_there]]
    return sizes
