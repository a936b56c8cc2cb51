"""Count an assignment once; measures and the verifier both read the counts."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from app.core.compiled.interpreted import of_size
from app.core.measures import tally_kernel as kernel
from app.core.model import NO_REPLICA, Assignment, Bools, Broker, Int32s, Int64s

LARGEST_LOOKUP = 1 << 22
"""Largest broker id for which a lookup table (int32, 16 MiB) turns ids into positions; above, by binary search."""


@dataclass(frozen=True, slots=True, eq=False)
class BrokerArrays:
    """Brokers as arrays, by ascending id, built once for many assignments over the same brokers.

    Parameters
    ----------
    racks : distinct, sorted. ids : (brokers,) int32. rack_of : (brokers,) int32 indices into `racks`, -1 for none.
    fenced : (brokers,) bool.
    """

    brokers: tuple[Broker, ...]
    racks: tuple[str, ...]
    ids: Int32s
    rack_of: Int32s
    fenced: Bools

    @classmethod
    def of(cls, brokers: Sequence[Broker]) -> "BrokerArrays":
        """The table of some brokers; of two brokers with one id the last one counts."""
        known = tuple(sorted({broker.id: broker for broker in brokers}.values(), key=lambda broker: broker.id))
        racks = tuple(sorted({broker.rack for broker in known if broker.rack is not None}))
        index_of = {rack: index for index, rack in enumerate(racks)}
        return cls(
            known,
            racks,
            ids=np.array([broker.id for broker in known], np.int32),
            rack_of=np.array([-1 if b.rack is None else index_of[b.rack] for b in known], np.int32),
            fenced=np.array([broker.fenced for broker in known], np.bool_),
        )


@dataclass(frozen=True, slots=True, eq=False)
class Tally:
    """The counts of one assignment over some brokers.

    Parameters
    ----------
    brokers : by ascending id. racks : their distinct racks, sorted.
    per_broker : (brokers, 3) int64: leaders, replicas, partitions that have no other replica.
    per_rack : (racks, 3) int64: leaders, partitions with a replica there, partitions with no replica elsewhere.
    per_racks_spanned : (racks + 1,) int64: partitions by the number of racks they span.
    faults : for each topic of `assignments`, (partitions,) uint8 bits as in `tally_kernel`.
    positions : for each topic, (partitions, widest) int32 positions in `table`, its length for an unknown broker.
    """

    table: BrokerArrays = field(repr=False)
    brokers: tuple[Broker, ...]
    racks: tuple[str, ...]
    assignments: Mapping[str, Assignment]
    per_broker: Int64s
    per_rack: Int64s
    per_racks_spanned: Int64s
    faults: tuple[NDArray[np.uint8], ...] = field(repr=False)
    positions: tuple[Int32s, ...] = field(repr=False)


def tally(assignments: Mapping[str, Assignment], brokers: Sequence[Broker]) -> Tally:
    """Count the topics' replicas over `brokers`; of two brokers with one id the last one counts.

    Complexity: O(partitions · widest), compiled.

    Examples
    --------
    >>> replicas = np.array([[1, 2], [2, 1]], np.int32)
    >>> counts = tally({"orders": Assignment(np.arange(2, dtype=np.int32), replicas)}, [Broker(1, "a"), Broker(2, "b")])
    >>> counts.per_broker.tolist(), counts.per_racks_spanned.tolist()
    ([[1, 2, 0], [1, 2, 0]], [0, 0, 2])
    """
    return tally_over(BrokerArrays.of(brokers), assignments)


def tally_over(table: BrokerArrays, assignments: Mapping[str, Assignment]) -> Tally:
    """Count the topics' replicas over the brokers of a table."""
    racks = len(table.racks)
    per_broker = np.zeros((len(table.brokers), 3), np.int64)
    per_rack = np.zeros((racks, 3), np.int64)
    per_racks_spanned = np.zeros(racks + 1, np.int64)
    faults = tuple(np.zeros(len(assignment.replicas), np.uint8) for assignment in assignments.values())
    count = of_size(kernel.count, sum(assignment.replicas.size for assignment in assignments.values()))
    positions = tuple(positions_of(assignment.replicas, table.ids) for assignment in assignments.values())
    for of_topic, row_faults in zip(positions, faults, strict=True):
        count(of_topic, table.rack_of, table.fenced, racks, per_broker, per_rack, per_racks_spanned, row_faults)
    counts = (per_broker, per_rack, per_racks_spanned)
    return Tally(table, table.brokers, table.racks, assignments, *counts, faults, positions)


def positions_of(replicas: Int32s, ids: Int32s) -> Int32s:
    """Each replica's index in the ascending `ids`; len(ids) if it is not among them, -1 for padding."""
    if not replicas.size:
        return replicas
    largest = int(max(replicas.max(), ids[-1] if len(ids) else 0))
    if largest <= LARGEST_LOOKUP:
        lookup = np.full(largest + 2, len(ids), np.int32)
        lookup[ids] = np.arange(len(ids), dtype=np.int32)
        lookup[NO_REPLICA] = NO_REPLICA  # the padding is -1, which indexes the last entry
        return lookup.take(replicas, mode="wrap")
    positions = np.searchsorted(ids, replicas).astype(np.int32)
    is_known = positions < len(ids)
    is_known[is_known] = ids[positions[is_known]] == replicas[is_known]
    positions[~is_known] = len(ids)
    positions[replicas == NO_REPLICA] = NO_REPLICA
    return positions
