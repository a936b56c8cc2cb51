"""The traffic of an existing placement: what brokers send, what crosses racks, and what the loss of a broker or of a
rack adds to each of the others.

A leader sends to its followers and serves the consumers without a replica in their rack; with follower fetching the
first replica in a rack serves the consumers there. Producers and consumers are spread evenly over racks. If a leader is
lost, the first live replica in list order leads. See `loads_kernel.py`, which has the loops, and which sweeps share.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from app.core.capacity import loads_kernel as kernel
from app.core.capacity.costs import CrossRack
from app.core.model import NO_REPLICA, Float64s, Int32s, Int64s

NONE_LOST = -1
"""In place of a lost broker or rack: no loss adds anything."""
_BLOCK_NUMBERS = 1 << 22
"""Loads (lost brokers × brokers × columns) of one block: 32 MiB."""
_LAGGING = 0.0


@dataclass(frozen=True, slots=True, eq=False)
class PlacedTraffic:
    """Partitions on brokers, topic after topic, with their traffic.

    Parameters
    ----------
    replicas : (rows, widest) int32 positions, the leader first, padded; every row has a replica.
    bounds : (topics + 1,) int64; topic t is rows bounds[t] … bounds[t + 1] − 1.
    ingress : (rows,) float64 bytes/s. fan_out : (topics,) float64, how many times each byte is read.
    rack_of : (brokers,) int32. racks : the number of racks that clients are in, which are the first ones.
    """

    replicas: Int32s = field(repr=False)
    bounds: Int64s = field(repr=False)
    ingress: Float64s = field(repr=False)
    fan_out: Float64s = field(repr=False)
    rack_of: Int32s = field(repr=False)
    racks: int
    follower_fetching: bool

    @classmethod
    def of_rows(
        cls,
        replicas: Int32s,
        topic_of: Int64s,
        ingress: Float64s,
        fan_out: Float64s,
        *,
        rack_of: Int32s,
        racks: int,
        follower_fetching: bool,
    ) -> "PlacedTraffic":
        """Rows by ascending topic; those without a replica are left out."""
        is_placed = (replicas != NO_REPLICA).any(axis=1)
        topics = np.arange(len(fan_out) + 1)
        return cls(
            replicas=np.ascontiguousarray(replicas[is_placed], np.int32),
            bounds=np.searchsorted(topic_of[is_placed], topics).astype(np.int64),
            ingress=np.ascontiguousarray(ingress[is_placed], np.float64),
            fan_out=fan_out,
            rack_of=rack_of,
            racks=racks,
            follower_fetching=follower_fetching,
        )

    @property
    def all_racks(self) -> int:
        """The number of racks, those without clients included."""
        return max(self.racks, int(self.rack_of.max(initial=-1)) + 1)

    @property
    def client_shares(self) -> Float64s:
        """(all racks,) float64 share of the clients in each rack."""
        shares = np.zeros(self.all_racks)
        shares[: self.racks] = 1 / max(self.racks, 1)
        return shares

    @property
    def arrays(self) -> tuple[Int64s, Float64s, Float64s, Float64s, Int32s, Int32s, Float64s]:
        """Of the loops over losses; no read lags, and no partition needs replicas in sync to send."""
        topics = len(self.fan_out)
        local = self.client_shares * self.follower_fetching
        lagging, min_insync = np.full(topics, _LAGGING), np.zeros(topics, np.int32)
        return self.bounds, self.ingress, self.fan_out, lagging, min_insync, self.rack_of, local


@dataclass(frozen=True, slots=True, eq=False)
class WorstLosses:
    """The largest increase of a load of each broker over all losses of one kind.

    Parameters
    ----------
    increase : (brokers,) float64, 0 or more. lost : (brokers,) int64 positions of lost brokers, or indices of lost
        racks; `NONE_LOST` if no loss adds anything.
    """

    increase: Float64s
    lost: Int64s


@dataclass(frozen=True, slots=True, eq=False)
class Losses:
    """The worst losses of one kind for the bytes/s that brokers send, and for the partitions that they lead."""

    sent: WorstLosses
    leaders: WorstLosses


def cross_rack(traffic: PlacedTraffic) -> CrossRack:
    """Bytes/s from rack to rack, by cause."""
    crossed = np.zeros((len(traffic.fan_out), 3))
    kernel.crossing(
        *(traffic.replicas, traffic.bounds, traffic.ingress, traffic.fan_out, traffic.rack_of),
        *(traffic.client_shares, traffic.client_shares, traffic.follower_fetching),
        crossed,
    )
    return CrossRack(*crossed.sum(axis=0).tolist())


def broker_losses(traffic: PlacedTraffic) -> Losses:
    """The worst loss of one other broker, for each broker; the lowest position of equal ones."""
    return _worst(len(traffic.rack_of), _broker_changes(traffic))


def rack_losses(traffic: PlacedTraffic) -> Losses:
    """The worst loss of another rack, for each broker; the lowest index of equal ones."""
    brokers = len(traffic.rack_of)
    changes, counts = np.zeros((traffic.all_racks, brokers, 4)), np.zeros((traffic.all_racks, 4), np.int64)
    kernel.change_with_a_rack_lost(traffic.replicas, *traffic.arrays, changes, counts)
    changes[traffic.rack_of, np.arange(brokers)] = 0  # a lost broker has no load
    return _worst(brokers, iter([(0, changes)]))


def _broker_changes(traffic: PlacedTraffic) -> Iterator[tuple[int, NDArray[np.float64]]]:
    """Blocks of lost brokers: the first, and (lost, brokers, columns) changes of the others' loads."""
    brokers = len(traffic.rack_of)
    dead, racks_left = np.zeros(brokers, np.bool_), np.full(brokers, traffic.all_racks, np.int32)
    block = max(1, _BLOCK_NUMBERS // max(4 * brokers, 1))
    for first in range(0, brokers, block):
        lost = min(block, brokers - first)
        changes, counts = np.zeros((lost, brokers, 4)), np.zeros((lost, 3), np.int64)
        kernel.change_with_one_more(traffic.replicas, *traffic.arrays, dead, racks_left, first, changes, counts)
        changes[np.arange(lost), first + np.arange(lost)] = 0
        yield first, changes


def _worst(brokers: int, blocks: Iterator[tuple[int, NDArray[np.float64]]]) -> Losses:
    increase, lost = np.zeros((2, brokers)), np.full((2, brokers), NONE_LOST, np.int64)
    for first, changes in blocks:
        if not len(changes):
            continue
        sent = changes[..., kernel.REPLICATION] + changes[..., kernel.READS]
        for load, of_load in enumerate((sent, changes[..., kernel.LEADERS])):
            most = of_load.max(axis=0)
            is_worse = most > increase[load]
            increase[load, is_worse] = most[is_worse]
            lost[load, is_worse] = first + of_load.argmax(axis=0)[is_worse]
    return Losses(WorstLosses(increase[0], lost[0]), WorstLosses(increase[1], lost[1]))
