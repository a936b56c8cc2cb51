"""The traffic of an existing placement: bytes/s sent by brokers, across racks, and added to each other broker by the
loss of a broker or rack.

A leader sends to its followers and serves the consumers without a replica in their rack; with follower fetching one
replica in each other rack serves the consumers there. Producers and consumers are spread evenly over racks. If a leader
is lost, the first remaining replica in sync, in list order, leads. `losses_kernel.py` has the loop over losses, and
`loads_kernel.py`, which sweeps share, that over racks.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np

from app.core.capacity import loads_kernel, losses_kernel
from app.core.capacity.loads import CrossRack
from app.core.model import NO_REPLICA, Bools, Float64s, Int32s, Int64s

NONE_LOST = -1
"""In place of a lost broker or rack: no loss adds anything."""
_BLOCK_NUMBERS = 1 << 22
"""Changes (lost groups × brokers × columns) of one block: 32 MiB."""


@dataclass(frozen=True, slots=True, eq=False)
class PlacedTraffic:
    """Partitions on brokers, topic after topic, with their traffic.

    Parameters
    ----------
    replicas : (rows, widest) int32 positions, the leader first, padded; every row has a replica.
    in_sync : (rows, widest) bool, replicas that may be elected.
    bounds : (topics + 1,) int64; topic t is rows bounds[t] … bounds[t + 1] − 1.
    ingress : (rows,) float64 bytes/s. fan_out : (topics,) float64, how many times each byte is read.
    rack_of : (brokers,) int32. racks : the number of racks that clients are in, which are the first ones.
    """

    replicas: Int32s = field(repr=False)
    in_sync: Bools = field(repr=False)
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
        in_sync: Bools | None = None,
    ) -> "PlacedTraffic":
        """Rows by ascending topic; those without a replica are left out. Without `in_sync` all replicas are."""
        is_placed = (replicas != NO_REPLICA).any(axis=1)
        topics = np.arange(len(fan_out) + 1)
        placed = np.ascontiguousarray(replicas[is_placed], np.int32)
        return cls(
            replicas=placed,
            in_sync=np.ones(placed.shape, np.bool_) if in_sync is None else np.ascontiguousarray(in_sync[is_placed]),
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


@dataclass(frozen=True, slots=True, eq=False)
class LossChanges:
    """Changes by the loss of each of some groups of brokers, alone.

    Parameters
    ----------
    first : the group of the first row; the others follow it.
    sent, received : (lost, brokers) float64 bytes/s that remaining brokers send and receive more, or less if negative.
    leaders : (lost, brokers) float64 partitions that they lead more. Of lost brokers all of these are 0.
    offline, elected, reduced : (lost,) int64 partitions without a replica in sync to lead them; with another leader;
        with fewer replicas.
    """

    first: int
    sent: Float64s
    received: Float64s
    leaders: Float64s
    offline: Int64s
    elected: Int64s
    reduced: Int64s


def cross_rack(traffic: PlacedTraffic) -> CrossRack:
    """Bytes/s from rack to rack, by cause."""
    crossed = np.zeros((len(traffic.fan_out), 3))
    loads_kernel.crossing(
        *(traffic.replicas, traffic.bounds, traffic.ingress, traffic.fan_out, traffic.rack_of),
        *(traffic.client_shares, traffic.client_shares, traffic.follower_fetching),
        crossed,
    )
    return CrossRack(*crossed.sum(axis=0).tolist())


def broker_losses(traffic: PlacedTraffic) -> Losses:
    """The worst loss of one other broker, for each broker; the lowest position of equal ones."""
    brokers = len(traffic.rack_of)
    return _worst(traffic, changes_by_loss(traffic, np.arange(brokers, dtype=np.int32), brokers))


def rack_losses(traffic: PlacedTraffic) -> Losses:
    """The worst loss of another rack, for each broker; the lowest index of equal ones."""
    return _worst(traffic, changes_by_loss(traffic, traffic.rack_of, traffic.all_racks))


def changes_by_loss(traffic: PlacedTraffic, group_of: Int32s, groups: int, first: int = 0) -> Iterator[LossChanges]:
    """Changes by the loss of each group alone, in blocks of groups that bound the memory.

    Parameters
    ----------
    group_of : (brokers,) int32 group of each broker. groups : the number of groups. first : groups before it are left
        out.

    Complexity: O(rows · factor³) for each block of `_BLOCK_NUMBERS` changes.
    """
    brokers = len(traffic.rack_of)
    block = max(1, _BLOCK_NUMBERS // max(3 * brokers, 1))
    for start in range(first, groups, block):
        lost = min(block, groups - start)
        changes, counts = np.zeros((lost, brokers, 3)), np.zeros((lost, 3), np.int64)
        losses_kernel.add_changes(
            *(traffic.replicas, traffic.in_sync, traffic.bounds, traffic.ingress, traffic.fan_out, traffic.rack_of),
            *(traffic.client_shares * traffic.follower_fetching, group_of, start, changes, counts),
        )
        yield LossChanges(start, *np.moveaxis(changes, 2, 0), *counts.T)


def _worst(traffic: PlacedTraffic, blocks: Iterator[LossChanges]) -> Losses:
    brokers = len(traffic.rack_of)
    increase, lost = np.zeros((2, brokers)), np.full((2, brokers), NONE_LOST, np.int64)
    for block in blocks:
        for load, of_load in enumerate((block.sent, block.leaders)):
            most = of_load.max(axis=0)
            is_worse = most > increase[load]
            increase[load, is_worse] = most[is_worse]
            lost[load, is_worse] = block.first + of_load.argmax(axis=0)[is_worse]
    return Losses(WorstLosses(increase[0], lost[0]), WorstLosses(increase[1], lost[1]))
