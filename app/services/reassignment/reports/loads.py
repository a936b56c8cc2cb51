"""What a plan and a check say about loads: of each broker and resource, before, after and after losses; and the bytes
that cross racks, with their cost.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from app.core.capacity.loads import CrossRack, cost_per_month
from app.core.capacity.placed_traffic import (
    NONE_LOST,
    Losses,
    PlacedTraffic,
    WorstLosses,
    broker_losses,
    cross_rack,
    rack_losses,
)
from app.core.model import Float64s, Int32s, Int64s
from app.core.reassignment.resource_problem import MILLION, NO_CAPACITY, NO_LIMIT, RESOURCES, Limits
from app.core.replica_lists import per_broker
from app.errors import Json
from app.services.amounts import PricesRequest
from app.services.reassignment.problem.brokers import Bools, BrokerTable
from app.services.reassignment.problem.resources import GroupReads, Resources, in_unit
from app.services.reassignment.requests.parts import COUNTS

_NIC_OUT, _CPU, _LEADERS = (RESOURCES.index(name) for name in ("nic_out", "cpu", "leaders"))


@dataclass(frozen=True, slots=True, eq=False)
class LoadReport:
    """The loads of every broker.

    Parameters
    ----------
    names : the resources that are reported. before, after : (brokers, resources) int64.
    of_broker, of_rack : what the worst loss of another broker, or rack, adds to a broker; of racks None if there are
        fewer than two.
    potential : (brokers,) int64 bytes/s that a broker would send if it led everything that it has; None without rates.
    crossing : bytes/s between racks before and after; None without rates or racks.
    traffic : of the placement after.
    groups : by id of each group, what `GroupReads.crossing` has of it before and after; empty where `crossing` is None.
    """

    brokers: BrokerTable
    resources: Resources
    limits: Limits
    names: tuple[str, ...]
    before: Int64s = field(repr=False)
    after: Int64s = field(repr=False)
    of_broker: Losses
    of_rack: Losses | None
    potential: Int64s | None = field(repr=False)
    crossing: tuple[CrossRack, CrossRack] | None
    traffic: PlacedTraffic = field(repr=False)
    groups: Mapping[str, tuple[list[float], list[float]]] = field(default_factory=dict, repr=False)

    def as_json(self) -> dict[str, Json]:
        """By broker id and resource: the loads of the documents."""
        return {
            str(broker): {name: self._load(place, name) for name in self.names}
            for place, broker in enumerate(self.brokers.ids.tolist())
        }

    def upper(self, place: int, column: int) -> int | None:
        """The limit of a broker, else its capacity; None if neither is known."""
        limit, capacity = int(self.limits.upper[place, column]), int(self.resources.capacity[place, column])
        if limit < NO_LIMIT:
            return limit
        return capacity if capacity > NO_CAPACITY else None

    def under_loss(self, losses: Losses | None, column: int) -> Int64s:
        """(brokers,) int64 load of a resource after the worst of these losses; what a broker stores and receives
        stays.
        """
        worst, per_unit = self._worst(losses, column)
        if worst is None:
            return self.after[:, column]
        return self.after[:, column] + np.rint(worst.increase * per_unit).astype(np.int64)

    def lost(self, losses: Losses | None, place: int, column: int) -> int | None:
        """The position of the lost broker, or the index of the rack; None if no loss adds anything."""
        worst, _ = self._worst(losses, column)
        lost = NONE_LOST if worst is None else int(worst.lost[place])
        return None if lost == NONE_LOST else lost

    def _worst(self, losses: Losses | None, column: int) -> tuple[WorstLosses | None, float]:
        """What losses add to a resource, and how much of it a unit of that is."""
        if losses is None:
            return None, 0.0
        if column == _CPU:
            return losses.sent, MILLION * self.resources.cpu_model.per_byte_out
        return {_NIC_OUT: losses.sent, _LEADERS: losses.leaders}.get(column), 1.0

    def rack_name(self, rack: int | None) -> str | None:
        """The name of a rack by its index; None if there is none, as of an offline broker of unknown rack."""
        racks = self.resources.racks
        return None if rack is None or rack >= len(racks) else racks[rack]

    def _load(self, place: int, name: str) -> dict[str, Json]:
        column = RESOURCES.index(name)
        upper, limit = self.upper(place, column), int(self.limits.upper[place, column])
        after = int(self.after[place, column])
        load: dict[str, Json] = {
            "before": in_unit(int(self.before[place, column]), column),
            "after": in_unit(after, column),
            "after_worst_loss": self._worst_loss(place, column),
            "capacity": in_unit(int(self.resources.capacity[place, column]) or None, column),
            "limit": in_unit(limit if limit < NO_LIMIT else None, column),
            "headroom": None if upper is None else in_unit(upper - after, column),
        }
        if name == "nic_out" and self.potential is not None:
            load["potential"] = int(self.potential[place])
        return load

    def _worst_loss(self, place: int, column: int) -> dict[str, Json]:
        broker, rack = self.lost(self.of_broker, place, column), self.lost(self.of_rack, place, column)
        return {
            "broker": in_unit(int(self.under_loss(self.of_broker, column)[place]), column),
            "lost_broker": None if broker is None else int(self.brokers.ids[broker]),
            "rack": in_unit(int(self.under_loss(self.of_rack, column)[place]), column) if self.of_rack else None,
            "lost_rack": self.rack_name(rack),
        }


def load_report(
    brokers: BrokerTable,
    resources: Resources,
    limits: Limits,
    *,
    before: Int32s,
    after: Int32s,
    in_sync: Bools | None = None,
    reads: GroupReads | None = None,
) -> LoadReport:
    """The loads of (rows, widest) int32 positions before and after, the leader of each row first.

    Parameters
    ----------
    in_sync : (rows, widest) bool, which of `after` may be elected after a loss; None if all may.
    reads : of the groups of `LoadReport.groups`; None for none.
    """
    counted = tuple(name for name in COUNTS if (limits.upper[:, RESOURCES.index(name)] < NO_LIMIT).any())
    is_same = before is after
    loads_before = resources.broker_loads(before)
    traffic, is_sent = _traffic(resources, after, in_sync), "nic_out" in resources.names
    has_racks = len(resources.racks) > 1
    return LoadReport(
        brokers=brokers,
        resources=resources,
        limits=limits,
        names=(*resources.names, *counted),
        before=loads_before,
        after=loads_before if is_same else resources.broker_loads(after),
        of_broker=broker_losses(traffic),
        of_rack=rack_losses(traffic) if has_racks else None,
        potential=_potential(resources, after) if is_sent else None,
        crossing=_crossing(resources, traffic, before, is_same=is_same) if is_sent and has_racks else None,
        traffic=traffic,
        groups=_groups(resources, reads, before, after) if is_sent and has_racks and reads is not None else {},
    )


def cross_rack_json(report: LoadReport, prices: PricesRequest | None) -> Mapping[str, Json] | None:
    """The bytes between racks before and after by cause, and their cost a month if there is a price."""
    if report.crossing is None:
        return None
    before, after = report.crossing
    causes: dict[str, Json] = {
        cause: {
            "before_bytes_per_s": round(getattr(before, cause)),
            "after_bytes_per_s": round(getattr(after, cause)),
        }
        for cause in ("producers", "replication", "consumers")
    }
    return {
        "before_bytes_per_s": round(before.total),
        "after_bytes_per_s": round(after.total),
        **causes,
        "before_cost_per_month": _cost(before.total, prices),
        "after_cost_per_month": _cost(after.total, prices),
        "groups": [
            {
                "group_id": group,
                "before_bytes_per_s": round(was[0]),
                "after_bytes_per_s": round(will_be[0]),
                "unknown_bytes_per_s": round(will_be[1]),
                "before_cost_per_month": _cost(was[0], prices),
                "after_cost_per_month": _cost(will_be[0], prices),
            }
            for group, (was, will_be) in report.groups.items()
        ],
    }


def _cost(bytes_per_s: float, prices: PricesRequest | None) -> float | None:
    return None if prices is None else round(cost_per_month(bytes_per_s, prices.cross_rack_per_gib), 2)


def _groups(
    resources: Resources, reads: GroupReads, before: Int32s, after: Int32s
) -> Mapping[str, tuple[list[float], list[float]]]:
    was, will_be = (reads.crossing(resources, replicas) for replicas in (before, after))
    return dict(zip(reads.group_ids, zip(was, will_be, strict=True), strict=True))


def _traffic(resources: Resources, replicas: Int32s, in_sync: Bools | None = None) -> PlacedTraffic:
    rows, traffic = resources.rows(replicas)
    may_lead = None
    if in_sync is not None:  # topics outside the scope count as in sync
        may_lead = np.ones(rows.shape, np.bool_)
        may_lead[: len(in_sync), : in_sync.shape[1]] = in_sync
    ingress: Float64s = traffic.ingress.astype(np.float64)
    return PlacedTraffic.of_rows(
        rows,
        traffic.topic_of,
        ingress,
        traffic.fan_out,
        rack_of=resources.rack_of,
        racks=len(resources.racks),
        follower_fetching=resources.follower_fetching and bool(resources.racks),
        in_sync=may_lead,
    )


def _crossing(
    resources: Resources, after: PlacedTraffic, before: Int32s, *, is_same: bool
) -> tuple[CrossRack, CrossRack]:
    crossing = cross_rack(after)
    return (crossing if is_same else cross_rack(_traffic(resources, before))), crossing


def _potential(resources: Resources, replicas: Int32s) -> Int64s:
    """(brokers,) int64 bytes/s sent by a broker that leads all its replicas and serves all their consumers."""
    rows, traffic = resources.rows(replicas)
    factors = np.count_nonzero(rows >= 0, axis=1)
    return per_broker(rows, len(resources.capacity), np.maximum(factors - 1, 0) * traffic.ingress + traffic.reads)
