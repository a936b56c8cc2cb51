"""Bytes per second that consumers fetch from rack to rack, partition by partition.

A consumer fetches from the leader. If brokers have a `RackAwareReplicaSelector` (KIP-392), it fetches from a replica in
its own rack if there is one, else from the leader. Every replica counts as in sync.
"""

from dataclasses import dataclass, field

import numpy as np

from app.core.model import NO_RACK, Bools, Float64s, Int32s


@dataclass(frozen=True, slots=True, eq=False)
class ReadTraffic:
    """Partitions with the racks that their bytes pass between.

    Parameters
    ----------
    from_rack, to_rack : (rows,) int32 rack of the broker and of the consumer; `NO_RACK` if it is unknown.
    bytes_per_s : (rows,) float64 bytes/s that the consumer fetches.
    replication : (rows,) float64 bytes/s that the leader sends to followers in other racks; NaN if the rack of one
        of several replicas is unknown.
    """

    from_rack: Int32s = field(repr=False)
    to_rack: Int32s = field(repr=False)
    bytes_per_s: Float64s = field(repr=False)
    replication: Float64s = field(repr=False)

    @property
    def is_unknown(self) -> Bools:
        """(rows,) bool: whether the rack of the broker or of the consumer is unknown."""
        return np.asarray((self.from_rack == NO_RACK) | (self.to_rack == NO_RACK), np.bool_)

    @property
    def cross_rack(self) -> Float64s:
        """(rows,) float64 bytes/s from one rack to another; 0 if a rack is unknown."""
        return np.where(self.is_unknown | (self.from_rack == self.to_rack), 0.0, self.bytes_per_s)

    @property
    def unknown(self) -> Float64s:
        """(rows,) float64 bytes/s between racks of which one is unknown."""
        return np.where(self.is_unknown, self.bytes_per_s, 0.0)

    def per_pair(self, racks: int) -> Float64s:
        """(racks + 1, racks + 1) float64 bytes/s from rack to rack; the last row and column are the unknown rack."""
        cells = (self.from_rack % (racks + 1)) * (racks + 1) + self.to_rack % (racks + 1)
        summed = np.bincount(cells, weights=self.bytes_per_s, minlength=(racks + 1) ** 2)
        return np.asarray(summed.reshape(racks + 1, racks + 1), np.float64)


def read_traffic(
    replicas: Int32s, rack_of: Int32s, consumer_rack: Int32s, bytes_per_s: Float64s, *, follower_fetching: bool
) -> ReadTraffic:
    """Find the racks between which each partition is read.

    Parameters
    ----------
    replicas : (rows, widest) int32 positions of brokers, the leader first, padded; a row without a replica is unknown.
    rack_of : (brokers,) int32 rack numbers, `NO_RACK` if unknown. consumer_rack : (rows,) int32 likewise.
    bytes_per_s : (rows,) float64.

    Complexity: O(rows · factor).

    Examples
    --------
    >>> replicas, racks = np.array([[0, 1], [1, 0]], np.int32), np.array([0, 1], np.int32)
    >>> rates, in_rack_0 = np.array([5.0, 7.0]), np.zeros(2, np.int32)
    >>> read_traffic(replicas, racks, in_rack_0, rates, follower_fetching=False).cross_rack.tolist()
    [0.0, 7.0]
    >>> read_traffic(replicas, racks, in_rack_0, rates, follower_fetching=True).cross_rack.tolist()
    [0.0, 0.0]
    """
    padding = NO_RACK - 1
    racks = np.append(rack_of, padding)[replicas] if replicas.shape[1] else np.full((len(replicas), 1), padding)
    leader = np.where(racks[:, 0] == padding, NO_RACK, racks[:, 0])
    is_unknown = (racks == NO_RACK).any(axis=1) | (leader == NO_RACK)
    is_elsewhere = (racks != leader[:, None]) & (racks != padding)
    is_led = np.full(len(racks), True)  # Whether the source is the leader, or in its rack.
    is_in_rack = np.full(len(racks), False)
    if follower_fetching:
        is_in_rack = (consumer_rack != NO_RACK) & (racks == consumer_rack[:, None]).any(axis=1)
        # A replica of unknown rack may be in the consumer's, and a consumer of unknown rack near any replica.
        is_led = ~(is_unknown | (is_elsewhere.any(axis=1) & (consumer_rack == NO_RACK)))
    from_rack = np.where(is_in_rack, consumer_rack, np.where(is_led, leader, NO_RACK)).astype(np.int32)
    is_uncertain = is_unknown & ((racks != padding).sum(axis=1) != 1)  # One replica sends nothing.
    replication = np.where(is_uncertain, np.nan, is_elsewhere.sum(axis=1) * bytes_per_s)
    return ReadTraffic(from_rack, consumer_rack, bytes_per_s, replication)
