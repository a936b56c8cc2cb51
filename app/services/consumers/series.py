"""A series of rates: its forms in a request, and each as arrays; rates from the stored snapshots of a cluster."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np
from pydantic import Field

from app.core.capacity.sections import IngressSeries
from app.core.consumers import resampled
from app.core.model import UNKNOWN_SIZE, Float64s, Topic
from app.errors.every import ConflictingFields, FieldPath
from app.formats.clusters.ingress_rates import read_prometheus
from app.services import snapshots
from app.services.amounts import RENAMED_RATES, InBytes, InSeconds
from app.services.bodies import ListOf, RequestRecord
from app.services.fields import Moment, Name, OneOrEach, TopicName, rfc3339
from app.store.unit import UnitOfWork

if TYPE_CHECKING:
    from uuid import UUID


MOST_BYTES_PER_S = 1e12
MOST_PARTITIONS = 10_000
LATEST = datetime(9000, 1, 1, tzinfo=UTC)
RateOfPartition = Annotated[float, Field(allow_inf_nan=False), InBytes(le=MOST_BYTES_PER_S)]
SERIES: FieldPath = ("series",)
RATES: FieldPath = (*SERIES, "ingress_bytes_per_s")
SNAPSHOTS: FieldPath = (*SERIES, "snapshots")
_PROMETHEUS: FieldPath = (*SERIES, "prometheus")


@dataclass(frozen=True)
class SnapshotRange(RequestRecord):
    """The stored snapshots of a cluster between two times, which are the times at which they were received."""

    begin: Annotated[Moment, Field(strict=False, alias="from")]
    """The first time."""
    to: Annotated[Moment, Field(strict=False)]
    """The last time."""
    cluster: Name | None = None
    """Name of the cluster; null is the request's."""
    topics: Annotated[ListOf[TopicName], Field(min_length=1)] | None = None
    """The topics of the series; null is the request's, or all of the cluster if it lists none."""


@dataclass(frozen=True)
class RateSeries(RequestRecord):
    """Rates of partitions in consecutive intervals: `start`, `step_s` and `ingress_bytes_per_s`, or `prometheus`, or
    `snapshots`."""

    start: Annotated[Moment | None, Field(strict=False)] = None
    """Begin of the first interval, of `ingress_bytes_per_s` alone."""
    step_s: Annotated[int, InSeconds(ge=1, le=31 * 86_400)] | None = None
    """Seconds of an interval; of `snapshots`, null is the median time between two of them."""
    bytes_per_s: Annotated[Mapping[TopicName, ListOf[OneOrEach[RateOfPartition]]] | None, RENAMED_RATES] = None
    """By topic a list of intervals, each a list with the rate of each partition, by id; or the rate of the topic, which
    its partitions share equally, if `topics` has their number."""
    prometheus: dict[str, Any] | None = None
    """An answer of `/api/v1/query_range`, unchanged; every series has the labels `topic` and `partition`, and bytes/s.
    Its times are the begins of intervals."""
    snapshots: SnapshotRange | None = None
    """Snapshots that the service has stored: the rates that they report of a topic or, if one reports none, the growth
    of its sizes. The canonical request has the rates in place of this field."""
    size_growth_of: ListOf[TopicName] | None = None
    """Topics whose rates are the growth of their sizes, as reading `snapshots` states it; a warning names them."""

    def require_unstated(self, source: str, *names: str) -> None:
        """Raise `ConflictingFields` if a field states a value that the source has itself."""
        for name in names:
            if getattr(self, name) is not None:
                raise ConflictingFields(f"{source} has its own times; leave {name} out", path=(*SERIES, name))


def read_series(series: RateSeries, counts: Mapping[str, int | None]) -> tuple[datetime, int, Mapping[str, Float64s]]:
    """Begin, step and (intervals, partitions) float64 by topic; `counts` is the number of partitions by topic.

    Raises `ConflictingFields`, and `ImpossibleValue` of a Prometheus answer.
    """
    if [series.prometheus, series.bytes_per_s, series.snapshots].count(None) != 2:
        raise ConflictingFields("a series is one of ingress_bytes_per_s, prometheus and snapshots", path=SERIES)
    if series.snapshots is not None:
        raise ConflictingFields("only a service has stored snapshots; state their rates", path=SNAPSHOTS)
    if series.prometheus is not None:
        series.require_unstated("prometheus", "start", "step_s")
        return _of_prometheus(read_prometheus(series.prometheus, _PROMETHEUS))
    if series.start is None or series.step_s is None:
        missing = "step_s" if series.step_s is None else "start"
        raise ConflictingFields(f"ingress_bytes_per_s needs the {missing} of its intervals", path=(*SERIES, missing))
    by_topic = {name: _matrix(name, rows, counts.get(name)) for name, rows in (series.bytes_per_s or {}).items()}
    return series.start, series.step_s, by_topic


def _matrix(topic: str, stated: Sequence[float | Sequence[float]], partitions: int | None) -> Float64s:
    """(intervals, partitions) float64 of a topic. Raises `ConflictingFields`."""
    rows = [[row / (partitions or 1)] * (partitions or 1) if isinstance(row, float) else row for row in stated]
    if partitions is None and any(isinstance(row, float) for row in stated):
        detail = f"an interval has the rate of topic {topic} as a whole, and topics states no number of partitions"
        raise ConflictingFields(detail, path=(*RATES, topic))
    if not rows or not rows[0]:
        raise ConflictingFields(f"topic {topic} has no rates", path=(*RATES, topic))
    for place, row in enumerate(rows):
        if len(row) != len(rows[0]):
            detail = f"interval {place} of topic {topic} has {len(row)} rates, and interval 0 has {len(rows[0])}"
            raise ConflictingFields(detail, path=(*RATES, topic, place), value=len(row), limit=len(rows[0]))
    return np.array(rows, np.float64)


def _of_prometheus(series: Sequence[IngressSeries]) -> tuple[datetime, int, Mapping[str, Float64s]]:
    """Begin, step and (intervals, partitions) float64 by topic. Raises `ConflictingFields` for gaps."""
    times = np.unique(np.concatenate([each.times for each in series])) if series else np.empty(0)
    if len(times) < 2 or times[0] < 0 or times[-1] > LATEST.timestamp():
        detail = f"times of {len(times)} moments are given; at least 2 are needed, from 1970 until {LATEST.year}"
        raise ConflictingFields(detail, path=_PROMETHEUS)
    step = int(np.diff(times).min())
    count = round((times[-1] - times[0]) / max(step, 1)) + 1
    found: dict[str, dict[int, Any]] = {}
    for each in series:
        if each.partition is None:
            raise ConflictingFields(
                f"topic {each.topic} has no series by partition", path=_PROMETHEUS, value=each.topic
            )
        if len(each.times) != count or step < 1:
            detail = f"{each.topic}-{each.partition} has {len(each.times)} samples of {count}: the series has a gap"
            raise ConflictingFields(detail, path=_PROMETHEUS, value=len(each.times))
        of_topic = found.setdefault(each.topic, {})
        of_topic[each.partition] = of_topic.get(each.partition, 0) + each.bytes_per_s
    start = datetime.fromtimestamp(times[0], UTC)
    return start, step, {topic: _columns(topic, by_partition) for topic, by_partition in found.items()}


def _columns(topic: str, by_partition: Mapping[int, Float64s]) -> Float64s:
    """The rates of partitions as columns, by id. Raises `ConflictingFields` if an id is missing."""
    missing = next(at for at in range(len(by_partition) + 1) if at not in by_partition)
    if missing < len(by_partition):
        raise ConflictingFields(f"{topic}-{missing} has no series", path=_PROMETHEUS, value=topic)
    return np.column_stack([by_partition[at] for at in range(missing)])


MOST_SNAPSHOTS = 1_000
MOST_STEPS = 3
"""The longest time between two snapshots, in intervals."""
_ONE_REQUEST = timedelta(seconds=1)
"""A snapshot whose times differ by less was stored once."""
_NOT_GROWING = {"cleanup.policy": "compact", "remote.storage.enable": "true"}
"""Configurations with which sizes do not grow by the written bytes."""
_DECIMALS = 3


def with_rates(uow: UnitOfWork, series: RateSeries, cluster: str | None, topics: Sequence[str]) -> RateSeries:
    """The series with the rates of `snapshots` in their place; another series as it is.

    A rate that a snapshot reports holds until the next one. If a snapshot reports no rate of a partition, the rates of
    its topic are the growth of its sizes, which equals ingress as long as no record is removed.

    Parameters
    ----------
    cluster, topics : from the request, if the series states none; no topics are all.

    Raises
    ------
    SnapshotNotFound : of the cluster.
    ConflictingFields : fewer than two snapshots, or too many; a gap; the rates of a topic do not follow from them.
    """
    wanted = series.snapshots
    if wanted is None or (series.prometheus, series.bytes_per_s) != (None, None):
        return series
    series.require_unstated("snapshots", "start")
    seen = _seen(uow, wanted, cluster)
    names = _names(uow, [*seen.values()][-1], wanted.topics or topics)
    topics_of = {each: _topics(uow, each, names) for each in dict.fromkeys(seen.values())}
    times = np.array([*seen], np.float64)
    step = series.step_s or max(1, round(float(np.median(np.diff(times)))))
    _check_gaps(seen, step)
    rates, by_size = {}, []
    for name in names:
        present = _require_same(name, times, [topics_of[each].get(name) for each in seen.values()])
        written = _reported(times, present)
        if written is None:
            written = _grown(times, present)
            by_size.append(name)
        rates[name] = resampled(times, written, step).round(_DECIMALS).tolist()
    return RateSeries(
        start=datetime.fromtimestamp(times[0], UTC), step_s=step, bytes_per_s=rates, size_growth_of=by_size or None
    )


def _seen(uow: UnitOfWork, wanted: SnapshotRange, cluster: str | None) -> Mapping[int, "UUID"]:
    """The snapshots of the range by Unix time, ascending. A state that returned was seen twice."""
    name = wanted.cluster or cluster
    if name is None:
        detail = "snapshots are those of a cluster, and neither series.snapshots nor the request names one"
        raise ConflictingFields(detail, path=(*SNAPSHOTS, "cluster"))
    begin, end = rfc3339(wanted.begin), rfc3339(wanted.to)
    if wanted.begin >= wanted.to:
        raise ConflictingFields(f"from is {begin}, and to is {end}", path=(*SNAPSHOTS, "from"), value=begin, limit=end)
    snapshots.newest(uow, name, SNAPSHOTS)
    page = uow.snapshots.seen(name, wanted.begin, wanted.to, most=MOST_SNAPSHOTS)
    moments = [
        (moment, each.id)
        for each in page.items
        for moment in (each.created_at, each.last_seen_at)
        if wanted.begin <= moment <= wanted.to
        if moment == each.last_seen_at or each.last_seen_at - moment >= _ONE_REQUEST
    ]
    seen = {int(moment.timestamp()): of for moment, of in sorted(moments)}
    if len(seen) < 2 or page.has_more:
        detail = (
            f"cluster {name} was stored {'over ' if page.has_more else ''}{len(seen)} times from {begin} to {end}; "
            f"at least 2 are needed, of {MOST_SNAPSHOTS} snapshots at most"
        )
        limit = MOST_SNAPSHOTS if page.has_more else 2
        raise ConflictingFields(detail, path=SNAPSHOTS, value=len(seen), limit=limit)
    return seen


def _topics(uow: UnitOfWork, of: "UUID", names: Sequence[str]) -> Mapping[str, Topic]:
    _, cluster = snapshots.load(uow, of)
    return {topic.name: topic for topic in cluster.topics if not names or topic.name in names}


def _names(uow: UnitOfWork, last: "UUID", names: Sequence[str]) -> Sequence[str]:
    """The topics to read, by name, which have at most `MOST_PARTITIONS` in the last snapshot."""
    topics = _topics(uow, last, names)
    count = sum(len(topic.partition_ids) for topic in topics.values())
    if count > MOST_PARTITIONS or not (names or topics):
        detail = f"the topics have {count} partitions; 1 to {MOST_PARTITIONS} are planned, and topics chooses"
        raise ConflictingFields(detail, path=(*SNAPSHOTS, "topics"), value=count, limit=MOST_PARTITIONS)
    return sorted(set(names) or topics)


def _check_gaps(seen: Mapping[int, "UUID"], step: int) -> None:
    times, of = [*seen], [*seen.values()]
    span = times[-1] - times[0]
    if span < step:
        detail = f"an interval lasts {step} s, and the snapshots {span} s"
        raise ConflictingFields(detail, path=(*SERIES, "step_s"), value=step, limit=span)
    for at, gap in enumerate(np.diff(times).tolist()):
        # If the state is the same at both ends, nothing was written in between.
        if gap > MOST_STEPS * step and of[at] != of[at + 1]:
            detail = (
                f"no snapshot was stored from {_moment(times[at])} to {_moment(times[at + 1])}, {gap} s; the most is "
                f"{MOST_STEPS * step} s, {MOST_STEPS} intervals"
            )
            raise ConflictingFields(detail, path=SNAPSHOTS, value=gap, limit=MOST_STEPS * step)


def _moment(seconds: float) -> str:
    return rfc3339(datetime.fromtimestamp(seconds, UTC))


def _failure(name: str, moment: float, detail: str) -> ConflictingFields:
    detail = f"topic {name} {detail} in the snapshot of {_moment(moment)}; topics can leave it out"
    return ConflictingFields(detail, path=(*SNAPSHOTS, "topics"), value=name)


def _require_same(name: str, times: Float64s, topics: Sequence[Topic | None]) -> list[Topic]:
    """The topic in each snapshot. Raises `ConflictingFields` unless it has the same partitions in all of them."""
    present: list[Topic] = []
    for moment, topic in zip(times.tolist(), topics, strict=True):
        if topic is None:
            raise _failure(name, moment, "is missing")
        first = present[0] if present else topic
        count, before = len(topic.partition_ids), len(first.partition_ids)
        if count != before or not np.array_equal(topic.partition_ids, np.arange(count)):
            raise _failure(name, moment, f"has {count} partitions, and not those from 0 to {before - 1},")
        if None not in (topic.topic_id, first.topic_id) and topic.topic_id != first.topic_id:
            raise _failure(name, moment, f"was created again: its id is no longer {first.topic_id}")
        present.append(topic)
    return present


def _reported(times: Float64s, topics: Sequence[Topic]) -> Float64s | None:
    """(snapshots, partitions) float64 bytes written until each snapshot, by reported rates; None if one is unknown."""
    rates = [topic.ingress_bytes_per_s for topic in topics if topic.ingress_bytes_per_s is not None]
    if len(rates) < len(topics) or np.isnan(rates).any():
        return None
    return np.vstack([np.zeros_like(rates[:1]), np.cumsum(rates[:-1] * np.diff(times)[:, None], axis=0)])


def _grown(times: Float64s, topics: Sequence[Topic]) -> Float64s:
    """(snapshots, partitions) float64 sizes, unless they do not grow by the written bytes: then `ConflictingFields`."""
    for moment, topic in zip(times.tolist(), topics, strict=True):
        if (topic.size_bytes == UNKNOWN_SIZE).any():
            raise _failure(topic.name, moment, "has neither rates nor sizes of all partitions")
        if wrong := [name for name, value in _NOT_GROWING.items() if value in topic.configs.get(name, "")]:
            detail = f"has no rates, and with {wrong[0]}={topic.configs[wrong[0]]} sizes do not grow as it is written"
            raise _failure(topic.name, moment, detail)
    sizes = np.array([topic.size_bytes for topic in topics], np.float64)
    if (fallen := np.argwhere(np.diff(sizes, axis=0) < 0)).size:
        at, partition = fallen[0].tolist()
        before, after = sizes[at : at + 2, partition]
        detail = f"has no rates, and partition {partition} fell from {before:.0f} to {after:.0f} bytes (retention?)"
        raise _failure(topics[0].name, times[at + 1], detail)
    return sizes
