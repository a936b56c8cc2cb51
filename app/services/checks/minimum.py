"""The least movement that reaches the same assignment as a given reassignment."""

from collections.abc import Mapping
from typing import Literal

import numpy as np

from app.core.measures.tally import positions_of
from app.core.model import UNKNOWN_SIZE, Assignment, Cluster, Int32s, Int64s
from app.core.reassignment.model import ReplicaPlacement
from app.core.reassignment.plan_minimum import ProposedPlan, least_movement_for
from app.core.replica_lists import not_among, per_broker, stacked
from app.services.bodies import AnswerRecord


class LeastMovement(AnswerRecord):
    """The least to copy; `optimal` if that is proven."""

    moved_replicas: int
    """Number of replicas that have to be copied."""
    moved_bytes: int
    """Bytes that have to be copied, of replicas of known size."""
    optimal: bool
    """Whether the movement is proven to be the least."""


class Minimum(LeastMovement, schema="MinimumDocument", kw_only=True):
    """The least movement to the same end: as many replicas of each partition, the same brokers emptied, and, where the
    reassignment leaves every partition so, spread over racks. `as_even` keeps replicas as even over brokers, too.
    """

    as_even: LeastMovement
    """The least movement if replicas stay as balanced over brokers as in the reassignment, too."""
    minimised: Literal["bytes", "replicas"]
    """Whether bytes are minimised, or replicas, as when the size of any partition is unknown."""
    emptied_brokers: list[int]
    """Ids of brokers that the reassignment empties, ascending; the minimum empties them as well."""
    spread_over_racks: bool
    """Whether the minimum spreads every partition over racks, as the reassignment does."""


def minimum_for(cluster: Cluster, before: Mapping[str, Assignment], after: Mapping[str, Assignment]) -> Minimum:
    """Measure it for the partitions of `after`, all of which `before` has, among the cluster's other partitions.

    Bytes are minimised, or replicas if the size of any partition is unknown.
    """
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
    was, now = _positions(before, ids), _positions(after, ids)
    sizes = np.concatenate(
        [np.zeros(0, np.int64), *(_sizes(cluster, name, assignment) for name, assignment in after.items())]
    )
    known = not (sizes == UNKNOWN_SIZE).any()
    planned = ProposedPlan(
        broker_ids=ids,
        rack_of=rack_of,
        is_listed=is_listed,
        base=per_broker(_positions(everything, ids), len(ids)) - per_broker(was, len(ids)),
        before=was,
        after=now,
        weight=sizes if known else np.ones(len(sizes), np.int64),
    )
    measured = least_movement_for(planned)
    return Minimum(
        **vars(_moved(planned, measured.forced, sizes)),
        as_even=_moved(planned, measured.as_balanced, sizes),
        minimised="bytes" if known else "replicas",
        emptied_brokers=ids[measured.emptied].tolist(),
        spread_over_racks=measured.spreads_racks,
    )


def _moved(planned: ProposedPlan, placement: ReplicaPlacement, size_bytes: Int64s) -> LeastMovement:
    new = not_among(placement.replicas, planned.before).sum(axis=1)
    return LeastMovement(
        moved_replicas=int(new.sum()),
        moved_bytes=int((new * np.maximum(size_bytes, 0)).sum()),
        optimal=placement.certificate.optimal,
    )


def _positions(assignments: Mapping[str, Assignment], ids: Int32s) -> Int32s:
    return positions_of(stacked([assignment.replicas for assignment in assignments.values()]), ids)


def _sizes(cluster: Cluster, name: str, assignment: Assignment) -> Int64s:
    topic = cluster.topic(name)
    if topic is None:
        raise RuntimeError(f"there is no topic {name}")
    return topic.copied_bytes[np.searchsorted(topic.partition_ids, assignment.partition_ids)]
