"""The least movement that reaches the same assignment as a given reassignment."""

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from app.core.measures.tally import positions_of
from app.core.model import NO_REPLICA, UNKNOWN_SIZE, Assignment, Cluster, Int32s, Int64s
from app.core.reassignment import PlanMinimum, ProposedPlan, ReplicaPlacement, least_movement_for
from app.errors import Json


@dataclass(frozen=True, slots=True, eq=False)
class Minimum:
    """The least movement to the result of a reassignment.

    Parameters
    ----------
    measured : in bytes, or in replicas if the size of any partition is unknown.
    """

    planned: ProposedPlan
    measured: PlanMinimum
    size_bytes: Int64s = field(repr=False)
    is_by_bytes: bool

    def as_json(self) -> dict[str, Json]:
        """Forced movement, movement with the same balance, and what the result was taken to be."""
        return {
            **self._moved(self.measured.forced),
            "as_even": self._moved(self.measured.as_balanced),
            "minimised": "bytes" if self.is_by_bytes else "replicas",
            "emptied_brokers": self.planned.broker_ids[self.measured.emptied].tolist(),
            "spread_over_racks": self.measured.spreads_racks,
        }

    def _moved(self, placement: ReplicaPlacement) -> dict[str, Json]:
        new = _gained(self.planned.before, placement.replicas)
        return {
            "moved_replicas": int(new.sum()),
            "moved_bytes": int((new * np.maximum(self.size_bytes, 0)).sum()),
            "optimal": placement.certificate.optimal,
        }


def minimum_for(cluster: Cluster, before: Mapping[str, Assignment], after: Mapping[str, Assignment]) -> Minimum:
    """Measure it for the partitions of `after`, all of which `before` has, among the cluster's other partitions."""
    listed = {broker.id: broker for broker in cluster.brokers}
    ids = np.union1d(cluster.replica_holders(), np.array(sorted(listed), np.int32)).astype(np.int32)
    names = sorted({broker.rack for broker in cluster.brokers if broker.rack is not None})
    is_listed = np.isin(ids, np.fromiter(listed, np.int64, len(listed)))
    rack_of = np.zeros(len(ids), np.int32)
    if all(broker.rack is not None for broker in cluster.brokers):
        rack_of = np.arange(len(names), len(names) + len(ids), dtype=np.int32)
        rack_of[is_listed] = [names.index(listed[broker].rack or "") for broker in ids[is_listed].tolist()]
        _, place = np.unique(rack_of, return_inverse=True)  # none is left out, as one that all are down of would be
        rack_of = place.reshape(-1).astype(np.int32)
    everything = {topic.name: topic.destination for topic in cluster.topics}
    was, now = _stacked(before, ids), _stacked(after, ids)
    sizes = np.concatenate(
        [np.zeros(0, np.int64), *(_sizes(cluster, name, assignment) for name, assignment in after.items())]
    )
    known = not (sizes == UNKNOWN_SIZE).any()
    planned = ProposedPlan(
        broker_ids=ids,
        rack_of=rack_of,
        is_listed=is_listed,
        base=_on_each(_stacked(everything, ids), len(ids)) - _on_each(was, len(ids)),
        before=was,
        after=now,
        weight=sizes if known else np.ones(len(sizes), np.int64),
    )
    return Minimum(planned, least_movement_for(planned), sizes, known)


def _stacked(assignments: Mapping[str, Assignment], ids: Int32s) -> Int32s:
    """(rows, widest) int32 positions of the replicas of all topics, stacked."""
    width = max((assignment.replicas.shape[1] for assignment in assignments.values()), default=1)
    rows = [np.full((0, width), NO_REPLICA, np.int32)]
    for assignment in assignments.values():
        padded = np.full((len(assignment.replicas), width), NO_REPLICA, np.int32)
        padded[:, : assignment.replicas.shape[1]] = positions_of(assignment.replicas, ids)
        rows.append(padded)
    return np.concatenate(rows)


def _sizes(cluster: Cluster, name: str, assignment: Assignment) -> Int64s:
    topic = cluster.topic(name)
    if topic is None:
        raise RuntimeError(f"there is no topic {name}")
    return topic.size_bytes[np.searchsorted(topic.partition_ids, assignment.partition_ids)]


def _on_each(replicas: Int32s, brokers: int) -> Int64s:
    return np.bincount(replicas[replicas != NO_REPLICA], minlength=brokers).astype(np.int64)


def _gained(before: Int32s, after: Int32s) -> Int64s:
    """(rows,) int64 number of replicas of `after` that `before` lacks."""
    stays = (after[:, :, None] == before[:, None, :]).any(axis=2)
    return np.asarray((~stays & (after != NO_REPLICA)).sum(axis=1), np.int64)
