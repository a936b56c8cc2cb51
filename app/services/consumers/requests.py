"""The request for the consumers of a group over time: the body of the API, stored with a job."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from typing import Annotated, Literal, Self

import numpy as np
from pydantic import Field, TypeAdapter

from app.core.model import Cluster, Float64s, Int64s
from app.errors.every import ConflictingFields, FieldPath, UnknownTopic
from app.services.amounts import InBytes, InGrowth, InSeconds
from app.services.bodies import ListOf, RequestRecord
from app.services.consumers import series as rate_series
from app.services.fields import Labels, RequestedRelease, SnapshotFields, TopicName, rfc3339
from app.services.limits import Limits
from app.store.unit import UnitOfWork

LONGEST_S = 10 * 366 * 86_400
"""The longest series, in seconds: ten years."""
Seconds = Annotated[float, Field(allow_inf_nan=False), InSeconds(le=366 * 86_400)]


@dataclass(frozen=True)
class PartitionGrowth(RequestRecord):
    """For how long the partitions of a topic are to be enough."""

    growth_per_month: Annotated[float, Field(allow_inf_nan=False), InGrowth(le=10)] = 0.0
    """Growth of rates in a month; 0.1 is 10 %."""
    horizon_months: Annotated[float, Field(ge=0, le=600, allow_inf_nan=False)] = 12.0
    """Months after which no partition may exceed a consumer."""


@dataclass(frozen=True)
class ConsumedTopic(RequestRecord):
    """A topic of the group."""

    name: TopicName
    partitions: Annotated[int, Field(ge=1, le=rate_series.MOST_PARTITIONS)] | None = None
    """Number of partitions, as in the series."""


@dataclass(frozen=True, kw_only=True)
class ConsumersRequest(SnapshotFields, schema="PlanConsumersRequest"):
    """Rates of partitions over time, and the capacity of consumers."""

    topics: Annotated[ListOf[TopicName | ConsumedTopic], Field(min_length=1)] | None = None
    """The topics of the group, by name or with their number of partitions; by default all of the series."""
    series: rate_series.RateSeries
    """Rates of the partitions over time."""
    capacity_bytes_per_s: Annotated[float, InBytes(ge=1, le=rate_series.MOST_BYTES_PER_S)]
    """Rate that one consumer can read and process."""
    delay_s: Seconds = 0.0
    """Longest time for which a record may wait; whole intervals count. Peaks are then worked off later."""
    start_s: Seconds = 0.0
    """Time from ordering a consumer until it reads: the schedule has more consumers this much sooner."""
    hold_s: Seconds = 0.0
    """Fewer consumers that suffice for no longer than this are ignored; whole intervals count."""
    spare: Annotated[int, Field(ge=0, le=rate_series.MOST_PARTITIONS)] = 0
    """Consumers beyond the fewest, with which fewer partitions move."""
    min: Annotated[int, Field(ge=1, le=rate_series.MOST_PARTITIONS)] = 1
    """The fewest consumers of any interval."""
    max: Annotated[int, Field(ge=1, le=rate_series.MOST_PARTITIONS)] | None = None
    """The most consumers of any interval; `lost_bytes_per_s` is the rate that they cannot read."""
    price_per_consumer_hour: Annotated[float, Field(ge=0, le=1e9, allow_inf_nan=False)] | None = None
    """Price of a consumer for an hour, in any currency; null leaves out costs."""
    assignor: Literal["uniform", "server-range", "range", "roundrobin"] = "uniform"
    """Kafka's assignor to compare with."""
    partitions: PartitionGrowth | None = None
    """Counts the partitions that each topic needs; null does not."""
    workload: Annotated[str, Field(max_length=52, pattern=r"^[a-z0-9]([a-z0-9-]*[a-z0-9])?$")] = "consumer"
    """Name of the Deployment of the consumers, in files for Kubernetes."""
    kafka_version: RequestedRelease = None
    labels: Labels = field(default_factory=dict)

    def on_newest(self, uow: UnitOfWork, at: FieldPath = ()) -> Self:
        """As of every request, and with the rates of `series.snapshots`; raises as `with_rates` does."""
        found = super().on_newest(uow, at)
        cluster = None if found.snapshot_id is None else uow.snapshots.get(found.snapshot_id).cluster
        topics = [topic if isinstance(topic, str) else topic.name for topic in self.topics or ()]
        return replace(found, series=rate_series.with_rates(uow, self.series, cluster, topics))


READER = TypeAdapter(ConsumersRequest)
"""Reads the body of a request."""


@dataclass(frozen=True, slots=True, eq=False)
class Rates:
    """The rates of a request.

    Parameters
    ----------
    topics : number of partitions by name, in order. bytes_per_s : (intervals, partitions) int64, rounded up.
    """

    topics: Mapping[str, int]
    start: datetime
    step_s: int
    bytes_per_s: Int64s = field(repr=False)

    def moment(self, interval: float) -> str:
        """The begin of an interval, as in RFC 3339."""
        return rfc3339(self.start + timedelta(seconds=self.step_s * interval))


def rates_of(request: ConsumersRequest, limits: Limits) -> Rates:
    """Read the series.

    Raises
    ------
    ConflictingFields : fields are missing, the series has gaps or unequal lengths, a start takes more than an interval.
    UnknownTopic : of `topics`. LimitExceeded : too many rates. ImpossibleValue : of a Prometheus answer.
    """
    listed = [topic for topic in request.topics or () if isinstance(topic, ConsumedTopic)]
    counts = {topic.name: topic.partitions for topic in listed}
    stated = sum(len(rows) * (counts.get(name) or 1) for name, rows in (request.series.bytes_per_s or {}).items())
    limits.check_number("partitions", stated, path=rate_series.SERIES)
    start, step_s, by_topic = rate_series.read_series(request.series, counts)
    names = _names(request, by_topic)
    first = len(by_topic[names[0]])
    for name in names:
        other = len(by_topic[name])
        if other != first:
            detail = f"topic {name} has {other} intervals, and topic {names[0]} has {first}"
            raise ConflictingFields(detail, path=(*rate_series.RATES, name), value=other, limit=first)
    _check_times(request, start, step_s, first)
    rates = np.hstack([by_topic[name] for name in names])
    limits.check_number("partitions", rates.size, path=rate_series.SERIES)
    if rates.shape[1] > rate_series.MOST_PARTITIONS:
        detail = f"the series has {rates.shape[1]} partitions; the most is {rate_series.MOST_PARTITIONS}"
        raise ConflictingFields(
            detail, path=rate_series.SERIES, value=rates.shape[1], limit=rate_series.MOST_PARTITIONS
        )
    if rates.max() > rate_series.MOST_BYTES_PER_S:
        detail = f"a partition has {rates.max():g} bytes/s; the most is {rate_series.MOST_BYTES_PER_S:g}"
        raise ConflictingFields(
            detail, path=rate_series.SERIES, value=float(rates.max()), limit=rate_series.MOST_BYTES_PER_S
        )
    whole = np.ascontiguousarray(np.ceil(rates)).astype(np.int64)
    return Rates({name: by_topic[name].shape[1] for name in names}, start.astimezone(UTC), step_s, whole)


def _names(request: ConsumersRequest, by_topic: Mapping[str, Float64s]) -> list[str]:
    """The topics of the group, by name."""
    topics = [topic if isinstance(topic, ConsumedTopic) else ConsumedTopic(topic) for topic in request.topics or ()]
    for place, topic in enumerate(topics):
        if topic.name not in by_topic:
            raise UnknownTopic(f"the series has no topic {topic.name}", path=("topics", place), value=topic.name)
        count = by_topic[topic.name].shape[1]
        if topic.partitions not in (None, count):
            detail = f"the series has {count} partitions of topic {topic.name}, and the topic {topic.partitions}"
            raise ConflictingFields(detail, path=("topics", place, "partitions"), value=topic.partitions, limit=count)
    names = sorted({topic.name for topic in topics} or by_topic)
    if not names:
        raise ConflictingFields("the series has no topic", path=rate_series.RATES)
    return names


def _check_times(request: ConsumersRequest, start: datetime, step_s: int, intervals: int) -> None:
    if not 0 <= start.timestamp() <= rate_series.LATEST.timestamp():
        detail = f"the series begins at {rfc3339(start)}; it has to begin from 1970 until {rate_series.LATEST.year}"
        raise ConflictingFields(detail, path=rate_series.SERIES, value=str(start))
    if intervals * step_s > LONGEST_S:
        detail = f"the series lasts {intervals * step_s} s; the most is {LONGEST_S} s"
        raise ConflictingFields(detail, path=rate_series.SERIES, value=intervals * step_s, limit=LONGEST_S)
    if request.start_s > step_s:
        detail = f"a consumer takes {request.start_s:g} s to start, and an interval lasts {step_s} s"
        raise ConflictingFields(detail, path=("start_s",), value=request.start_s, limit=step_s)


def check_bounds(least: int, most: int | None) -> None:
    """Raise `ConflictingFields` for a maximum below the minimum."""
    if most is not None and most < least:
        raise ConflictingFields(f"max is {most}, and min is {least}", path=("max",), value=most)


def check_topics(rates: Rates, cluster: Cluster | None) -> None:
    """Raise `UnknownTopic` for a topic that the cluster does not have, `ConflictingFields` for other partitions."""
    partitions = {topic.name: len(topic.partition_ids) for topic in cluster.topics} if cluster else rates.topics
    for name, count in rates.topics.items():
        if name not in partitions:
            raise UnknownTopic(f"the cluster has no topic {name}", path=(*rate_series.RATES, name), value=name)
        if count != partitions[name]:
            detail = f"the series has {count} partitions of topic {name}, and the cluster has {partitions[name]}"
            raise ConflictingFields(detail, path=(*rate_series.RATES, name), value=count)
