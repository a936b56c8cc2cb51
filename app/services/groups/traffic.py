"""Traffic of a group between racks, its price, the price after each change, and the pauses of events."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from typing import TypeAlias, TypeVar

import numpy as np

from app.core.capacity.loads import CROSS_RACK_PER_GIB, cost_per_month
from app.core.groups.arrays.owned import owned_assignment
from app.core.groups.arrays.partition_table import partition_table
from app.core.groups.lifecycle.rebalance import Protocol
from app.core.groups.lifecycle.steps import GroupStep
from app.core.groups.measures import group_traffic as measured
from app.core.groups.model import GroupAssignment, GroupMetadata, Member
from app.core.groups.optimum.optimal import optimum
from app.core.groups.registry import ASSIGNORS, assignor_for, assignor_of_library
from app.core.model import Int32s, Int64s
from app.errors import Failure
from app.services.groups import answers
from app.services.groups.predictions import Prediction, predict
from app.services.groups.sources import GroupSource, whole

DIGITS = 3
"""Decimal places of bytes/s."""
MOST_CELLS = 400_000
"""The most partitions × racks of a group for which changes are computed."""
REBALANCE_SECONDS = {Protocol.EAGER: 3.0, Protocol.COOPERATIVE: 3.0, Protocol.RECONCILED: 5.0}
"""By protocol, the seconds of a rebalance that count if none are stated: one heartbeat at Kafka's defaults, after which
a member knows of it: `heartbeat.interval.ms`, and `group.consumer.heartbeat.interval.ms`.
"""
PartT = TypeVar("PartT")
Outcome: TypeAlias = measured.GroupTraffic | str | None
"""The traffic under a change, or why it cannot be computed; None if no partition of known rate is assigned."""


def traffic_of(prediction: Prediction, source: GroupSource) -> measured.GroupTraffic | None:
    """The traffic of a prediction; None if members share partitions, or no assigned partition has a known rate."""
    if source.rates is None or not prediction.assignor.is_exclusive:
        return None
    arguments = prediction.members, source.metadata, prediction.assignment, source.rates
    found = measured.group_traffic(*arguments, follower_fetching=source.follower_fetching)
    return found if len(found.rows) else None


def traffic_report(prediction: Prediction, source: GroupSource) -> answers.Traffic | None:
    """The traffic of the plan's own assignor, with the changes that would lower it; None as `traffic_of`."""
    found = traffic_of(prediction, source)
    if found is None:
        return None
    names = [*found.racks, None]
    pairs = found.traffic.per_pair(len(found.racks)).round(DIGITS)
    before = traffic_of(replace(prediction, assignment=owned_assignment(prediction.members, source.metadata)), source)
    rows, left_out = _outcomes(prediction, source, len(names) * found.table.rows)
    topics, topic_of = np.unique(found.table.topic_of_rows()[found.rows], return_inverse=True)
    return answers.Traffic(
        **vars(sums_of(found, source)),
        follower_fetching=source.follower_fetching,
        rates=source.rates_from,
        price=answers.Price(_price(source), source.prices is None),
        unrated_partitions=found.unrated,
        per_rack_pair=[
            answers.RackPairTraffic(names[broker], names[reader], float(pairs[broker, reader]))
            for broker, reader in np.argwhere(pairs).tolist()
        ],
        per_topic=_parts(found, topic_of, answers.TopicTraffic, [found.table.topics[topic] for topic in topics]),
        per_member=_parts(found, found.readers, answers.MemberTraffic, [member.id for member in prediction.members]),
        before=None if before is None else sums_of(before, source),
        if_=rows,
        left_out=left_out,
    )


def sums_of(found: measured.GroupTraffic, source: GroupSource) -> answers.TrafficSums:
    """Bytes/s that cross racks, and their monthly cost; replication beside them, null if unknown."""
    traffic, price = found.traffic, _price(source)
    crossing, replication = float(traffic.cross_rack.sum()), float(traffic.replication.sum())
    is_known = not np.isnan(replication)
    return answers.TrafficSums(
        cross_rack_bytes_per_s=round(crossing, DIGITS),
        unknown_bytes_per_s=round(float(traffic.unknown.sum()), DIGITS),
        cost_per_month=round(cost_per_month(crossing, price), 2),
        replication_bytes_per_s=round(replication, DIGITS) if is_known else None,
        replication_cost_per_month=round(cost_per_month(replication, price), 2) if is_known else None,
    )


def pause_of(step: GroupStep, source: GroupSource, protocol: Protocol) -> answers.Pause:
    """The partitions without a member while the group rebalances, for how long, and the bytes that gather meanwhile."""
    stated = source.rebalance_seconds
    each = REBALANCE_SECONDS[protocol] if stated is None else stated
    is_paused = step.pauses > 0
    rates = measured.rates_of_rows(partition_table(step.metadata), source.rates or {})[is_paused]
    lag = float((rates * step.pauses[is_paused]).sum()) * each
    return answers.Pause(
        partitions=int(np.count_nonzero(is_paused)),
        seconds=float(step.pauses.max(initial=0)) * each,
        is_default=stated is None,
        lag_bytes=None if source.rates is None or np.isnan(lag) else round(lag),
    )


def _price(source: GroupSource) -> float:
    return CROSS_RACK_PER_GIB if source.prices is None else source.prices.cross_rack_per_gib


def _parts(
    found: measured.GroupTraffic,
    of: Int64s | Int32s,
    part: Callable[[float, float, float, str], PartT],
    names: Sequence[str],
) -> list[PartT]:
    """By name, the bytes/s that are read, that cross racks and that are unknown; `of` has the index of each read."""
    traffic = found.traffic
    columns = traffic.bytes_per_s, traffic.cross_rack, traffic.unknown
    sums = [np.bincount(of, column, len(names)).round(DIGITS).tolist() for column in columns]
    return [part(*row) for row in zip(*sums, names, strict=True)]


def _outcomes(
    prediction: Prediction, source: GroupSource, cells: int
) -> tuple[list[answers.ChangedTraffic], list[answers.ChangeLeftOut]]:
    """A row for each change, and the changes that cannot be computed, with the reason."""
    rows: list[answers.ChangedTraffic] = []
    left_out: list[answers.ChangeLeftOut] = []
    too_large = f"partitions × racks are {cells}, and changes are computed up to {MOST_CELLS}"
    for change, value, compute in _changes(prediction, source):
        try:
            outcome = (compute() if cells <= MOST_CELLS else too_large) or "no partition of known rate is assigned"
        except Failure as failure:
            outcome = failure.detail
        if isinstance(outcome, str):
            left_out.append(answers.ChangeLeftOut(change, value, outcome))
        else:
            rows.append(answers.ChangedTraffic(**vars(sums_of(outcome, source)), change=change, value=value))
    return rows, left_out


def _changes(
    prediction: Prediction, source: GroupSource
) -> Iterator[tuple[answers.ChangeName, str | bool | None, Callable[[], Outcome]]]:
    """The changes of one thing, each with the function of its traffic."""
    own = prediction.assignor
    members, assignment, metadata = prediction.members, prediction.assignment, source.metadata

    def predicted(name: str) -> Outcome:
        other = assignor_of_library(assignor_for(name, source.version), source.library)
        return traffic_of(predict(other, source), source)

    def replaced(
        change: Callable[[Sequence[Member], GroupMetadata, GroupAssignment], tuple[GroupMetadata, int]], reason: str
    ) -> Outcome:
        changed, partitions = change(members, metadata, assignment)
        under = replace(source, metadata=changed)
        return traffic_of(predict(own, under), under) if partitions else reason

    def best() -> Outcome:
        fetched = metadata if source.follower_fetching else measured.only_leaders(metadata)
        weights = whole(source.rates or {})
        return traffic_of(replace(prediction, assignment=optimum(members, fetched, weights=weights).assignment), source)

    other = replace(source, follower_fetching=not source.follower_fetching)
    yield "follower_fetching", other.follower_fetching, partial(traffic_of, prediction, other)
    for name, assignor in ASSIGNORS.items():
        if assignor.runs_on == own.runs_on and assignor.is_exclusive and name != own.name:
            yield "assignor", name, partial(predicted, name)
    yield "optimum", None, best
    reason = "every partition is led in the rack of its reader, or has no replica there"
    yield "preferred_leaders", None, partial(replaced, measured.with_leaders_in_rack, reason)
    reason = "every partition has a replica in every rack with a live broker, or one in an unknown rack"
    yield "one_more_replica", None, partial(replaced, measured.with_one_more_replica, reason)
