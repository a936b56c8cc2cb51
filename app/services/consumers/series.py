"""A series of rates: its forms in a request, and each as arrays."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Annotated, Any

import numpy as np
from pydantic import Field

from app.core.capacity.sections import IngressSeries
from app.core.model import Float64s
from app.errors import FieldPath
from app.errors.requests import ConflictingFields
from app.formats.clusters.ingress_rates import read_prometheus
from app.services.amounts import RENAMED_RATES, InBytes, InSeconds
from app.services.bodies import ListOf, RequestRecord
from app.services.fields import Moment, Name, OneOrEach, TopicName

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
