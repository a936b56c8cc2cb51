"""Loads of a placement and its leaders, resource by resource, and each broker's ideal load."""

from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from app.core.model import NO_REPLICA, Float64s, Int32s, Int64s
from app.core.reassignment.resource_problem import MILLION, NO_CAPACITY, RESOURCES, FollowerReads, ResourceLoads


def kafka_loads(
    *,
    ingress: Int64s,
    reads: Int64s,
    retained: Int64s,
    factors: Int64s,
    base: Int64s,
    capacity: Int64s,
    cpu: tuple[float, float, float] = (0.0, 0.0, 0.0),
    client_share: Int64s | None = None,
) -> ResourceLoads:
    """The loads that partitions put on brokers, by Kafka's replication.

    A leader receives the ingress, and sends it to each follower and to consumers; a follower receives it. Each replica
    stores the retained bytes. The processor's load is linear in bytes in, bytes out and replicas.

    Parameters
    ----------
    ingress, reads : (rows,) int64 bytes/s of producers and of consumers. retained : (rows,) int64 bytes of a replica.
    factors : (rows,) int64 replication factor after the change.
    base, capacity : as of `ResourceLoads`.
    cpu : vCPU for a byte/s in, for a byte/s out, and for a replica.
    client_share : (racks,) int64 millionths of consumers by rack if they fetch from followers (KIP-392); else None.
    """
    per_in, per_out, per_replica = cpu
    by_leader = np.zeros((len(ingress), len(RESOURCES)), np.int64)
    by_leader[:, 0] = retained
    by_leader[:, 1] = ingress
    by_leader[:, 4] = 1
    by_follower = by_leader.copy()
    by_leader[:, 5] = 1
    served = reads if client_share is None else np.zeros_like(reads)
    by_leader[:, 2] = (factors - 1) * ingress + served
    for loads in (by_leader, by_follower):
        loads[:, 3] = np.rint(MILLION * (per_in * loads[:, 1] + per_out * loads[:, 2] + per_replica)).astype(np.int64)
    if client_share is None:
        return ResourceLoads(by_leader, by_follower, base, capacity)
    of_reads = np.zeros_like(by_leader)
    of_reads[:, 2] = reads
    of_reads[:, 3] = np.rint(MILLION * per_out * reads).astype(np.int64)
    return ResourceLoads(by_leader, by_follower, base, capacity, FollowerReads(of_reads, client_share))


def loads_of(loads: ResourceLoads, rack_of: Int32s, replicas: Int32s, leaders: Int32s) -> Int64s:
    """(brokers, resources) int64 load of every broker, `base` included.

    Parameters
    ----------
    rack_of : (brokers,) int32. replicas : (rows, widest) int32 positions, padded with -1.
    leaders : (rows,) int32, one of the row's replicas; of a row without replicas it does not matter.
    """
    total = loads.base.astype(np.int64).copy()
    served = None if loads.reads is None else _served(loads.reads, rack_of, replicas, leaders)
    for column, brokers in enumerate(replicas.T):
        rows = np.flatnonzero(brokers != NO_REPLICA)
        leads = (brokers == leaders)[rows, None]
        of_slot = np.where(leads, loads.of_leader[rows], loads.of_follower[rows])
        if served is not None:
            of_slot += served[rows, column]
        np.add.at(total, brokers[rows], of_slot)
    return total


def _served(reads: FollowerReads, rack_of: Int32s, replicas: Int32s, leaders: Int32s) -> Int64s:
    """(rows, widest, resources) int64 load of the consumers that each replica serves."""
    width = replicas.shape[1]
    racks = np.where(replicas == NO_REPLICA, -1, rack_of[replicas])
    is_leader = (replicas == leaders[:, None]) & (replicas != NO_REPLICA)
    leader_rack = np.where(is_leader, racks, -1).max(axis=1, initial=-1)
    serves = (replicas != NO_REPLICA) & (racks != leader_rack[:, None])
    for column in range(width):
        for other in range(width):
            lower = (racks[:, other] == racks[:, column]) & (replicas[:, other] < replicas[:, column])
            serves[:, column] &= ~(lower & (replicas[:, other] != NO_REPLICA))
    share = np.where(serves, reads.client_share[racks], 0)
    served: Int64s = reads.load[:, None, :] * share[:, :, None] // MILLION
    rest = reads.load - served.sum(axis=1)
    served[is_leader] = rest[is_leader.any(axis=1)]
    return served


def ideal_loads(loads: ResourceLoads, target: NDArray[np.bool_], total: Int64s) -> Float64s:
    """(brokers, resources) float64: each target broker's share of the total by capacity; 0 for the others.

    Parameters
    ----------
    total : (resources,) int64 load of target brokers.
    """
    weight = capacity_weights(loads, target)
    return np.asarray(weight / np.maximum(weight.sum(axis=0), 1) * total, np.float64)


def capacity_weights(loads: ResourceLoads, target: NDArray[np.bool_]) -> Int64s:
    """(brokers, resources) int64 > 0 for target brokers, 0 for others: capacities, or 1 if one of them is unknown."""
    capacity = np.where(target[:, None], loads.capacity, 0)
    unknown = (capacity[target] <= NO_CAPACITY).any(axis=0)
    return np.asarray(np.where(target[:, None], np.where(unknown, 1, capacity), 0), np.int64)


def excess_of(loads: Int64s, upper: Int64s) -> Fraction:
    """The load above limits, in shares of the limits; a limit of 0 counts as 1.

    Parameters
    ----------
    loads, upper : (brokers, resources) int64, or `NO_LIMIT`.
    """
    above = np.maximum(loads - upper, 0)
    cells = zip(*np.nonzero(above), strict=True)
    return sum((Fraction(int(above[cell]), max(1, int(upper[cell]))) for cell in cells), Fraction(0))


def largest_share(load: Int64s, weight: Int64s, total: int) -> tuple[Fraction, Fraction]:
    """The largest and the smallest load of a target broker over its ideal load, exactly; 0 if nothing is loaded.

    Parameters
    ----------
    load, weight : (brokers,) int64 of one resource; brokers of weight 0 do not count. total : that is shared.
    """
    sharing = np.flatnonzero(weight)
    if total <= 0 or not len(sharing):
        return Fraction(0), Fraction(0)
    unit = Fraction(int(weight.sum()), total)
    shares = [Fraction(int(load[broker]), int(weight[broker])) for broker in sharing]
    return max(shares) * unit, min(shares) * unit
