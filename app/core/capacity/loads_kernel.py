"""Compiled loops over all partitions: the load of every broker, and how it changes when brokers are lost.

rows : (partitions, largest factor) int32 positions of brokers, in list order, padded with −1.
bounds : (topics + 1,) int64; topic t is rows bounds[t] … bounds[t + 1] − 1.
ingress : (partitions,) float64 bytes/s. fan_out, lagging : (topics,) float64. min_insync : (topics,) int32.
rack_of : (brokers,) int32. dead : (brokers,) bool.
local_share : (racks,) float64: the share of all consumers that are in the rack and read from a replica there;
    zeros without follower fetching, when leaders serve all consumers.
"""

import numpy as np

from app.core.compiled.arrays import (
    BoolVector,
    FloatCube,
    FloatMatrix,
    FloatVector,
    Int32Matrix,
    Int32Vector,
    Int64Matrix,
    Int64Vector,
)
from app.core.compiled.loops import compiled, subroutine

LEADERS, REPLICATION, READS, LAGGING = 0, 1, 2, 3
"""Columns of a broker's load: partitions led; bytes/s sent to followers; read by consumers; of these, from disk."""
OFFLINE, UNDER_MIN_ISR, NOT_RACK_SAFE = 0, 1, 2
"""Columns of the counts of partitions; NOT_RACK_SAFE + n is that count if n racks fewer have a live broker."""
PRODUCERS, FOLLOWERS, CONSUMERS = 0, 1, 2


@subroutine
def is_first(values: Int32Vector, at: int) -> bool:
    """Whether no replica before this one has its value: its rack, or its group."""
    for before in range(at):  # noqa: SIM110 — compiled; all() over a generator is not
        if values[before] == values[at]:
            return False
    return True


@subroutine
def _read(load: FloatVector, reads: float, lag: float) -> None:
    """Add bytes/s that consumers read to a broker's load; the share `lag` of them is read from disk."""
    load[READS] += reads
    load[LAGGING] += reads * lag


@subroutine
def _lead(load: FloatVector, sent: float, reads: float, lag: float) -> None:
    """Add one more partition that the broker leads, and the bytes/s that it sends to followers, to its load."""
    load[LEADERS] += 1
    load[REPLICATION] += sent
    _read(load, reads, lag)


@subroutine
def _spread(rack: Int32Vector, count: int, local_share: FloatVector) -> tuple[int, float]:
    """The number of racks of replicas, and the share of consumers without one of them in their rack."""
    racks, others = 0, 1.0
    for at in range(count):
        if is_first(rack, at):
            racks += 1
            others -= local_share[rack[at]]
    return racks, others


@subroutine
def _next_of_rack(rack: Int32Vector, count: int, at: int) -> int:
    """The next replica in the same rack, or −1."""
    for after in range(at + 1, count):
        if rack[after] == rack[at]:
            return after
    return -1


@compiled
def carry(
    rows: Int32Matrix,
    bounds: Int64Vector,
    ingress: FloatVector,
    fan_out: FloatVector,
    lagging: FloatVector,
    rack_of: Int32Vector,
    local_share: FloatVector,
    loads: FloatMatrix,
    counts: Int64Vector,
) -> None:
    """Add the loads before any failure to (brokers, 4) `loads` and (5,) `counts`, which are zeros before."""
    n_racks = len(local_share)
    rack = np.empty(rows.shape[1], np.int32)
    for topic in range(len(bounds) - 1):
        for row in range(bounds[topic], bounds[topic + 1]):
            reads = fan_out[topic] * ingress[row]
            count = racks = 0
            others = 1.0  # the share of consumers without a replica in their rack
            for at in range(rows.shape[1]):
                broker = rows[row, at]
                if broker < 0:
                    break
                count += 1
                rack[at] = rack_of[broker]
                if is_first(rack, at):
                    racks += 1
                    share = local_share[rack[at]]
                    if share > 0:
                        others -= share
                        _read(loads[broker], share * reads, lagging[topic])
            _lead(loads[rows[row, 0]], (count - 1) * ingress[row], others * reads, lagging[topic])
            if racks < min(count, n_racks):
                for less in range(3):
                    counts[NOT_RACK_SAFE + less] += racks < min(count, n_racks - less)


@compiled
def change_with_a_rack_lost(
    rows: Int32Matrix,
    bounds: Int64Vector,
    ingress: FloatVector,
    fan_out: FloatVector,
    lagging: FloatVector,
    min_insync: Int32Vector,
    rack_of: Int32Vector,
    local_share: FloatVector,
    loads: FloatCube,
    counts: Int64Matrix,
) -> None:
    """Add the change of surviving brokers' loads when a rack is lost, for each rack; loads of lost brokers stay.

    Parameters
    ----------
    loads : (racks, brokers, 4).
    counts : (racks, 4): OFFLINE, UNDER_MIN_ISR, and the change against `carry` of NOT_RACK_SAFE with 1 and 2 less.
    """
    n_racks = len(local_share)
    rack = np.empty(rows.shape[1], np.int32)
    for topic in range(len(bounds) - 1):
        for row in range(bounds[topic], bounds[topic + 1]):
            reads = fan_out[topic] * ingress[row]
            count = 0
            while count < rows.shape[1] and rows[row, count] >= 0:
                rack[count] = rack_of[rows[row, count]]
                count += 1
            racks, others = _spread(rack, count, local_share)
            for at in range(count):
                if not is_first(rack, at):
                    continue
                lost = rack[at]
                left = 0
                leader = np.int32(-1)
                for other in range(count - 1, -1, -1):
                    if rack[other] != lost:
                        left += 1
                        leader = rows[row, other]
                counts[lost, OFFLINE] += left == 0
                counts[lost, UNDER_MIN_ISR] += left < min_insync[topic]
                if racks < min(count, n_racks - 1) or racks - 1 < left:
                    for less in range(1, 3):
                        counts[lost, NOT_RACK_SAFE + less - 1] -= racks < min(count, n_racks - less)
                        counts[lost, NOT_RACK_SAFE + less - 1] += racks - 1 < min(left, n_racks - less)
                if left == 0:
                    continue
                moved = local_share[lost]
                if at == 0:
                    moved += others
                    loads[lost, leader, LEADERS] += 1
                    loads[lost, leader, REPLICATION] += (left - 1) * ingress[row]
                else:
                    loads[lost, leader, REPLICATION] -= (count - left) * ingress[row]
                _read(loads[lost, leader], moved * reads, lagging[topic])


@compiled
def change_with_one_more(
    rows: Int32Matrix,
    bounds: Int64Vector,
    ingress: FloatVector,
    fan_out: FloatVector,
    lagging: FloatVector,
    min_insync: Int32Vector,
    rack_of: Int32Vector,
    local_share: FloatVector,
    dead: BoolVector,
    racks_left: Int32Vector,
    first: int,
    loads: FloatCube,
    counts: Int64Matrix,
) -> None:
    """Add the change of surviving brokers' loads when one more broker is lost, for brokers first … first + lost − 1.

    Only partitions with a replica on that broker change. The load of the lost broker itself stays.

    Parameters
    ----------
    racks_left : (brokers,) int32: racks with a live broker after that broker is lost as well.
    loads : (lost, brokers, 4). counts : (lost, 3), the change against the counts of the base failure.
    """
    live, rack = np.empty(rows.shape[1], np.int32), np.empty(rows.shape[1], np.int32)
    for topic in range(len(bounds) - 1):
        lag = lagging[topic]
        for row in range(bounds[topic], bounds[topic + 1]):
            count = 0
            for column in range(rows.shape[1]):
                broker = rows[row, column]
                if broker < 0:
                    break
                if not dead[broker]:
                    live[count] = broker
                    rack[count] = rack_of[broker]
                    count += 1
            weight = ingress[row]
            reads = fan_out[topic] * weight
            racks = 0
            others = 1.0  # the share of consumers without a live replica in their rack
            for at in range(count):
                if is_first(rack, at):
                    racks += 1
                    others -= local_share[rack[at]]
            for at in range(count):
                lost = live[at] - first
                if not 0 <= lost < len(loads):
                    continue
                counts[lost, OFFLINE] += count == 1
                counts[lost, UNDER_MIN_ISR] += count == min_insync[topic]
                if count == 1:
                    continue
                is_first_of_rack = is_first(rack, at)
                successor = _next_of_rack(rack, count, at)
                racks_after = racks - (is_first_of_rack and successor < 0)
                counts[lost, NOT_RACK_SAFE] -= racks < min(count, racks_left[live[at]])
                counts[lost, NOT_RACK_SAFE] += racks_after < min(count - 1, racks_left[live[at]])
                leader = live[1] if at == 0 else live[0]
                if at == 0:
                    loads[lost, leader, LEADERS] += 1
                    loads[lost, leader, REPLICATION] += (count - 2) * weight
                    loads[lost, leader, READS] += others * reads
                    loads[lost, leader, LAGGING] += others * reads * lag
                else:
                    loads[lost, leader, REPLICATION] -= weight
                if is_first_of_rack:
                    share = local_share[rack[at]]
                    if share > 0:
                        server = live[successor] if successor >= 0 else leader
                        loads[lost, server, READS] += share * reads
                        loads[lost, server, LAGGING] += share * reads * lag


@compiled
def crossing(
    rows: Int32Matrix,
    bounds: Int64Vector,
    ingress: FloatVector,
    fan_out: FloatVector,
    rack_of: Int32Vector,
    producer_share: FloatVector,
    consumer_share: FloatVector,
    follower_fetching: bool,
    crossed: FloatMatrix,
) -> None:
    """Add to (topics, 3) `crossed` the bytes/s that producers, followers and consumers send from rack to rack.

    producer_share, consumer_share : (racks,) float64 shares of clients by rack.
    """
    rack = np.empty(rows.shape[1], np.int32)
    for topic in range(len(bounds) - 1):
        for row in range(bounds[topic], bounds[topic + 1]):
            weight = ingress[row]
            leader_rack = rack[0] = rack_of[rows[row, 0]]
            crossed[topic, PRODUCERS] += (1 - producer_share[leader_rack]) * weight
            in_rack = consumer_share[leader_rack]
            for column in range(1, rows.shape[1]):
                broker = rows[row, column]
                if broker < 0:
                    break
                rack[column] = rack_of[broker]
                if rack[column] == leader_rack:
                    continue
                crossed[topic, FOLLOWERS] += weight
                if follower_fetching and is_first(rack, column):
                    in_rack += consumer_share[rack[column]]
            crossed[topic, CONSUMERS] += (1 - in_rack) * fan_out[topic] * weight


@compiled
def receive(rows: Int32Matrix, ingress: FloatVector, received: FloatVector, replicas: Int64Vector) -> None:
    """Add to (brokers,) `received` the bytes/s that are written to each broker's replicas, and count replicas."""
    for row in range(len(rows)):
        for column in range(rows.shape[1]):
            broker = rows[row, column]
            if broker < 0:
                break
            received[broker] += ingress[row]
            replicas[broker] += 1


@compiled
def store(
    rows: Int32Matrix,
    growing_bytes: FloatVector,
    local_bytes: FloatVector,
    segment_bytes: FloatVector,
    most_bytes: FloatVector,
    factor: float,
    growing: FloatVector,
    fixed: FloatVector,
) -> bool:
    """Add to (brokers,) `growing` and `fixed` the bytes stored at `factor` times the traffic: growing ones, and others.

    Returns whether the bytes of some partition grow more slowly from a larger factor on.
    """
    bends_ahead = False
    for row in range(len(rows)):
        slope, local, segment, most = growing_bytes[row], local_bytes[row], 0.0, most_bytes[row]
        if local < slope and (slope == np.inf or local * factor + segment_bytes[row] < slope * factor):
            slope, segment = local, segment_bytes[row]
        is_full = slope == np.inf or slope * factor + segment > most
        bends_ahead |= not is_full and slope > 0 and (most < np.inf or local < slope)
        for column in range(rows.shape[1]):
            broker = rows[row, column]
            if broker < 0:
                break
            if is_full:
                fixed[broker] += most
            else:
                growing[broker] += slope
                fixed[broker] += segment
    return bends_ahead
