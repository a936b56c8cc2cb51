"""One pass over an assignment: counts for the measures and the verifier."""

import numpy as np

from app.core.compiled.arrays import BoolVector, Int32Matrix, Int32Vector, Int64Matrix, Int64Vector, UInt8Vector
from app.core.compiled.loops import compiled

DUPLICATE_REPLICA = 1
UNKNOWN_BROKER = 2
TOO_FEW_RACKS = 4
FENCED_LEADER = 8
NO_REPLICAS = 16


@compiled
def count(
    positions: Int32Matrix,
    rack_of: Int32Vector,
    fenced: BoolVector,
    n_racks: int,
    per_broker: Int64Matrix,
    per_rack: Int64Matrix,
    per_racks_spanned: Int64Vector,
    faults: UInt8Vector,
) -> None:
    """Add the assignment's counts to `per_broker`, `per_rack` and `per_racks_spanned`, and set each row's `faults`.

    Parameters
    ----------
    positions : (partitions, widest) int32 index of each replica's broker; -1 pads, and n_brokers is an unknown one.
    rack_of : (n_brokers,) int32 index of each broker's rack, -1 where it has none.
    per_broker : (n_brokers, 3) leaders, replicas, partitions that have no other replica.
    per_rack : (n_racks, 3) leaders, partitions with a replica there, partitions with no replica elsewhere.
    per_racks_spanned : (n_racks + 1,) partitions by the number of racks they span.
    faults : (partitions,) bits of the constants above.
    """
    n_brokers = len(rack_of)
    broker_seen = np.full(n_brokers + 1, -1, np.int64)
    rack_seen = np.full(n_racks + 1, -1, np.int64)
    for row in range(len(positions)):
        fault = 0
        replicas = racks = 0
        unplaced = (
            0  # replicas on brokers that are unknown, or down and of unknown rack: each may be in a rack of its own
        )
        elsewhere = False  # a replica on an unknown broker, or on one without a rack
        a_broker = a_rack = -1
        for column in range(positions.shape[1]):
            broker = positions[row, column]
            if broker < 0:
                break
            replicas += 1
            if broker == n_brokers:
                fault |= UNKNOWN_BROKER
                unplaced += 1
                elsewhere = True
                continue
            if broker_seen[broker] == row:
                fault |= DUPLICATE_REPLICA
                continue
            broker_seen[broker] = row
            a_broker = broker
            rack = rack_of[broker]
            per_broker[broker, 1] += 1
            if column == 0:
                per_broker[broker, 0] += 1
                if fenced[broker]:
                    fault |= FENCED_LEADER
                if rack >= 0:
                    per_rack[rack, 0] += 1
            if rack < 0:
                elsewhere = True
                unplaced += fenced[broker]
            elif rack_seen[rack] != row:
                rack_seen[rack] = row
                per_rack[rack, 1] += 1
                racks += 1
                a_rack = rack
        if replicas == 0:
            fault |= NO_REPLICAS
        elif replicas == 1 and a_broker >= 0:
            per_broker[a_broker, 2] += 1
        if racks == 1 and not elsewhere:
            per_rack[a_rack, 2] += 1
        if max(racks + unplaced, 1) < min(replicas, n_racks):  # no known rack at all counts as one
            fault |= TOO_FEW_RACKS
        per_racks_spanned[racks] += 1
        faults[row] = fault
