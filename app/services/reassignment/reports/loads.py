"""Loads in the report of a plan or a check: by broker and resource, before, after and after losses; and the bytes
that cross racks, with their cost.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, cast

import numpy as np

from app.core.capacity import placed_traffic
from app.core.capacity.loads import CrossRack, cost_per_month
from app.core.model import Float64s, Int32s, Int64s
from app.core.reassignment.resource_problem import MILLION, NO_CAPACITY, NO_LIMIT, RESOURCES, Limits
from app.core.replica_lists import per_broker
from app.services.amounts import PricesRequest
from app.services.bodies import ABSENT, AnswerRecord
from app.services.reassignment.problem.brokers import Bools, BrokerTable
from app.services.reassignment.problem.resources import GroupReads, Resources, in_unit
from app.services.reassignment.requests.parts import COUNTS

_NIC_OUT, _CPU, _LEADERS = (RESOURCES.index(name) for name in ("nic_out", "cpu", "leaders"))


class AfterWorstLoss(AnswerRecord):
    """The load after the worst loss. If a leader is lost, the first live replica leads. Stored and received
    bytes stay.
    """

    broker: float
    """Load after the worst loss of one other broker."""
    lost_broker: int | None
    """Id of this other broker; null if no loss adds load."""
    rack: float | None
    """Load after the worst loss of another rack; null without racks."""
    lost_rack: str | None
    """Name of this other rack; null if no loss adds load."""


class ResourceLoad(AnswerRecord, schema="ResourceLoadDocument"):
    """The load of a resource of a broker: bytes, bytes/s, vCPU, or a count."""

    before: float
    """Load before the plan."""
    after: float
    """Load after the plan."""
    after_worst_loss: AfterWorstLoss
    """Load after the plan and the worst loss of another broker, and of another rack."""
    capacity: float | None
    """Capacity of the broker; null if unknown."""
    limit: float | None
    """Limit of the request; null without one."""
    headroom: float | None
    """Limit, or capacity if there is no limit, minus `after`; null if neither is known."""


class SentLoad(ResourceLoad, schema="SentLoadDocument"):
    """The bytes/s that a broker sends."""

    potential: float
    """Bytes/s that the broker sends if it leads all partitions that it has."""


class BrokerLoads(AnswerRecord):
    """The loads of a broker by resource. Resources of unknown load are absent."""

    disk: ResourceLoad | None = ABSENT
    """Bytes on disk; absent if no size is known."""
    nic_in: ResourceLoad | None = ABSENT
    """Bytes/s that it receives, of producers and as a follower; absent without ingress rates."""
    nic_out: SentLoad | None = ABSENT
    """Bytes/s that it sends, to followers and to consumers; absent without ingress rates."""
    cpu: ResourceLoad | None = ABSENT
    """vCPU by the model of the request; absent if neither that nor any `vcpu` is known."""
    replicas: ResourceLoad | None = ABSENT
    """Number of replicas, if they are limited."""
    leaders: ResourceLoad | None = ABSENT
    """Number of preferred leaders, if they are limited."""


class CrossRackCause(AnswerRecord):
    """Bytes/s from rack to rack of one cause."""

    before_bytes_per_s: int
    """Bytes/s before the plan."""
    after_bytes_per_s: int
    """Bytes/s after the plan."""


class GroupCrossRack(CrossRackCause):
    """Bytes/s that a group reads from rack to rack, by the recorded partitions and racks of its members: from leaders,
    with `follower_fetching` from a replica in the rack of the member if there is one. They are not in other sums.
    """

    group_id: str
    """Id of the group."""
    unknown_bytes_per_s: int
    """Bytes/s after the plan of which the rack of the member or of the broker is unknown."""
    before_cost_per_month: float | None
    """Cost of a month before the plan, by `prices`; null without a price."""
    after_cost_per_month: float | None
    """Cost of a month after the plan, by `prices`; null without a price."""


class CrossRackReport(CrossRackCause, schema="CrossRackDocument"):
    """Bytes/s from rack to rack: of all causes, and of each. Clients are spread evenly over racks."""

    producers: CrossRackCause
    """From producers to leaders."""
    replication: CrossRackCause
    """From leaders to followers."""
    consumers: CrossRackCause
    """From replicas to consumers."""
    before_cost_per_month: float | None
    """Cost of a month before the plan, by `prices`; null without a price."""
    after_cost_per_month: float | None
    """Cost of a month after the plan, by `prices`; null without a price."""
    groups: list[GroupCrossRack] = field(default_factory=list)
    """The groups of the snapshot whose members have assigned partitions; absent from plans of earlier releases."""


@dataclass(frozen=True, slots=True, eq=False)
class LoadReport:
    """The loads of every broker.

    Parameters
    ----------
    names : the resources that are reported. before, after : (brokers, resources) int64.
    of_broker, of_rack : load that the worst loss of another broker, or rack, adds to a broker; of racks None if there
        are fewer than two.
    potential : (brokers,) int64 bytes/s that a broker would send if it led everything that it has; None without rates.
    crossing : bytes/s between racks before and after; None without rates or racks.
    traffic : of the placement after.
    groups : by id of each group, its `GroupReads.crossing` before and after; empty where `crossing` is None.
    """

    brokers: BrokerTable
    resources: Resources
    limits: Limits
    names: tuple[str, ...]
    before: Int64s = field(repr=False)
    after: Int64s = field(repr=False)
    of_broker: placed_traffic.Losses
    of_rack: placed_traffic.Losses | None
    potential: Int64s | None = field(repr=False)
    crossing: tuple[CrossRack, CrossRack] | None
    traffic: placed_traffic.PlacedTraffic = field(repr=False)
    groups: Mapping[str, tuple[list[float], list[float]]] = field(default_factory=dict, repr=False)

    def of_brokers(self) -> dict[str, BrokerLoads]:
        """By broker id, the loads of its resources."""
        return {
            str(broker): BrokerLoads(**cast("Any", {name: self._load(place, name) for name in self.names}))
            for place, broker in enumerate(self.brokers.ids.tolist())
        }

    def upper(self, place: int, column: int) -> int | None:
        """The limit of a broker, else its capacity; None if neither is known."""
        limit, capacity = int(self.limits.upper[place, column]), int(self.resources.capacity[place, column])
        if limit < NO_LIMIT:
            return limit
        return capacity if capacity > NO_CAPACITY else None

    def under_loss(self, losses: placed_traffic.Losses | None, column: int) -> Int64s:
        """(brokers,) int64 load of a resource after the worst of these losses; stored and received bytes stay."""
        worst, per_unit = self._worst(losses, column)
        if worst is None:
            return self.after[:, column]
        return self.after[:, column] + np.rint(worst.increase * per_unit).astype(np.int64)

    def lost(self, losses: placed_traffic.Losses | None, place: int, column: int) -> int | None:
        """The position of the lost broker, or the index of the rack; None if no loss adds anything."""
        worst, _ = self._worst(losses, column)
        lost = placed_traffic.NONE_LOST if worst is None else int(worst.lost[place])
        return None if lost == placed_traffic.NONE_LOST else lost

    def _worst(
        self, losses: placed_traffic.Losses | None, column: int
    ) -> tuple[placed_traffic.WorstLosses | None, float]:
        """Load that losses add to a resource, and the amount of the resource a unit."""
        if losses is None:
            return None, 0.0
        if column == _CPU:
            return losses.sent, MILLION * self.resources.cpu_model.per_byte_out
        return {_NIC_OUT: losses.sent, _LEADERS: losses.leaders}.get(column), 1.0

    def rack_name(self, rack: int | None) -> str | None:
        """The name of a rack by its index; None without a name, as of an offline broker of unknown rack."""
        racks = self.resources.racks
        return None if rack is None or rack >= len(racks) else racks[rack]

    def _load(self, place: int, name: str) -> ResourceLoad:
        column = RESOURCES.index(name)
        upper, limit = self.upper(place, column), int(self.limits.upper[place, column])
        after = int(self.after[place, column])
        load = ResourceLoad(
            before=in_unit(int(self.before[place, column]), column),
            after=in_unit(after, column),
            after_worst_loss=self._worst_loss(place, column),
            capacity=in_unit(int(self.resources.capacity[place, column]) or None, column),
            limit=in_unit(limit if limit < NO_LIMIT else None, column),
            headroom=None if upper is None else in_unit(upper - after, column),
        )
        if name == "nic_out" and self.potential is not None:
            return SentLoad(**vars(load), potential=int(self.potential[place]))
        return load

    def _worst_loss(self, place: int, column: int) -> AfterWorstLoss:
        broker, rack = self.lost(self.of_broker, place, column), self.lost(self.of_rack, place, column)
        return AfterWorstLoss(
            broker=in_unit(int(self.under_loss(self.of_broker, column)[place]), column),
            lost_broker=None if broker is None else int(self.brokers.ids[broker]),
            rack=in_unit(int(self.under_loss(self.of_rack, column)[place]), column) if self.of_rack else None,
            lost_rack=self.rack_name(rack),
        )


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
    crossing: tuple[CrossRack, CrossRack] | None = None
    if is_sent and has_racks:
        crosses = placed_traffic.cross_rack(traffic)
        crossing = (crosses if is_same else placed_traffic.cross_rack(_traffic(resources, before)), crosses)
    return LoadReport(
        brokers=brokers,
        resources=resources,
        limits=limits,
        names=(*resources.names, *counted),
        before=loads_before,
        after=loads_before if is_same else resources.broker_loads(after),
        of_broker=placed_traffic.broker_losses(traffic),
        of_rack=placed_traffic.rack_losses(traffic) if has_racks else None,
        potential=_potential(resources, after) if is_sent else None,
        crossing=crossing,
        traffic=traffic,
        groups={} if crossing is None or reads is None else _groups(resources, reads, before, after),
    )


def cross_rack_of(report: LoadReport, prices: PricesRequest | None) -> CrossRackReport | None:
    """The bytes between racks before and after by cause, and their cost a month if there is a price."""
    if report.crossing is None:
        return None
    before, after = report.crossing
    return CrossRackReport(
        before_bytes_per_s=round(before.total),
        after_bytes_per_s=round(after.total),
        producers=CrossRackCause(round(before.producers), round(after.producers)),
        replication=CrossRackCause(round(before.replication), round(after.replication)),
        consumers=CrossRackCause(round(before.consumers), round(after.consumers)),
        before_cost_per_month=_cost(before.total, prices),
        after_cost_per_month=_cost(after.total, prices),
        groups=[
            GroupCrossRack(
                before_bytes_per_s=round(was[0]),
                after_bytes_per_s=round(will_be[0]),
                group_id=group,
                unknown_bytes_per_s=round(will_be[1]),
                before_cost_per_month=_cost(was[0], prices),
                after_cost_per_month=_cost(will_be[0], prices),
            )
            for group, (was, will_be) in report.groups.items()
        ],
    )


def _cost(bytes_per_s: float, prices: PricesRequest | None) -> float | None:
    return None if prices is None else round(cost_per_month(bytes_per_s, prices.cross_rack_per_gib), 2)


def _groups(
    resources: Resources, reads: GroupReads, before: Int32s, after: Int32s
) -> Mapping[str, tuple[list[float], list[float]]]:
    was, will_be = (reads.crossing(resources, replicas) for replicas in (before, after))
    return dict(zip(reads.group_ids, zip(was, will_be, strict=True), strict=True))


def _traffic(resources: Resources, replicas: Int32s, in_sync: Bools | None = None) -> placed_traffic.PlacedTraffic:
    rows, traffic = resources.rows(replicas)
    may_lead = None
    if in_sync is not None:  # topics outside the scope count as in sync
        may_lead = np.ones(rows.shape, np.bool_)
        may_lead[: len(in_sync), : in_sync.shape[1]] = in_sync
    ingress: Float64s = traffic.ingress.astype(np.float64)
    return placed_traffic.PlacedTraffic.of_rows(
        rows,
        traffic.topic_of,
        ingress,
        traffic.fan_out,
        rack_of=resources.rack_of,
        racks=len(resources.racks),
        follower_fetching=resources.follower_fetching and bool(resources.racks),
        in_sync=may_lead,
    )


def _potential(resources: Resources, replicas: Int32s) -> Int64s:
    """(brokers,) int64 bytes/s sent by a broker that leads all its replicas and serves all their consumers."""
    rows, traffic = resources.rows(replicas)
    factors = np.count_nonzero(rows >= 0, axis=1)
    return per_broker(rows, len(resources.capacity), np.maximum(factors - 1, 0) * traffic.ingress + traffic.reads)
