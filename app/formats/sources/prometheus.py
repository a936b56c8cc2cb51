"""Answers of Prometheus' HTTP API (`/api/v1/query`, `/api/v1/query_range`): bytes on disk and bytes in, by partition.

    {"status":"success","data":{"resultType":"vector","result":[{"metric":{"__name__":"kafka_log_log_size",
    "topic":"orders","partition":"0","instance":"kafka-1:7071"},"value":[1700000000,"1048576"]}]}}

A series of a name with `size` or `bytes_on_disk` is of sizes in bytes, of which the largest of a partition's replicas
counts. Any other one, also without a name as `rate()` gives it, is of ingress in bytes/s; the series of a partition or
topic are added up, and of a matrix the mean counts. A counter (`…_total`, `…_count`) is rejected: it is no rate.
Labels may be `topic` or `topic_name`, `partition` or `partition_id`, as the exporters name them (jmx_exporter, Strimzi,
kminion, kafka_exporter). Series without a topic, which are totals of a broker, are left out.

Source: Prometheus' documentation of its HTTP API; the metrics of the exporters' documentation.
"""

import json
import re
from collections import defaultdict
from collections.abc import Iterator
from typing import cast

from app.core.capacity.sections import IngressSeries
from app.errors import Failure, FieldPath, Json
from app.formats.clusters.ingress_rates import read_series
from app.formats.sources.contents import Contents, Partition, Source, noted
from app.formats.syntax.documents import Document, each_document
from app.formats.syntax.lines import shown

_SIZE = re.compile(r"size|bytes_on_disk|disk_bytes", re.IGNORECASE)
_INGRESS = re.compile(r"bytes_?in|in_?bytes|ingress|received", re.IGNORECASE)
_COUNTER = re.compile(r"(?:_total|_count)$", re.IGNORECASE)
_RATE = re.compile(r"rate", re.IGNORECASE)
_LARGEST = 2.0**62
_ASSUMED = noted("prometheus assumed")
_QUERY = "sum by (topic, partition) (rate(…[5m]))"


def read(text: str) -> Contents:
    """Sizes and ingress rates of partitions, or rates of whole topics.

    Raises
    ------
    MalformedText
        The text is no JSON or an answer without a result, a series is of another metric or a counter, or a value is no
        number of 0 or more.
    """
    sizes: dict[Partition, int] = {}
    rates: dict[tuple[str, int | None], float] = defaultdict(float)
    is_assumed = False
    for document in each_document(text, "an answer of Prometheus"):
        for metric, labels, path, series in _series(document):
            mean = float(series.bytes_per_s.mean()) if series.bytes_per_s.size else 0.0
            if not _SIZE.search(metric):
                _require_rate(document, metric, labels, (*path, "metric"))
                is_assumed = is_assumed or not metric
                rates[series.topic, series.partition] += mean
            elif series.partition is not None:
                key = series.topic, series.partition
                sizes[key] = max(sizes.get(key, 0), round(min(mean, _LARGEST)))
    return Contents(size_bytes=sizes, ingress_bytes_per_s=dict(rates), notes=(_ASSUMED,) if is_assumed else ())


def _series(document: Document) -> Iterator[tuple[str, dict[str, object], FieldPath, IngressSeries]]:
    """The name, the labels, the place and the samples of each series of a topic."""

    def reject(path: FieldPath, /, *, expected: str, actual: Json) -> Failure:
        return document.reject(
            path, expected=expected, actual=shown(actual if isinstance(actual, str) else json.dumps(actual))
        )

    data = document.mapping(document.mapping(document.root, ()).get("data"), ("data",))
    for i, value in enumerate(document.array(data.get("result"), ("data", "result"))):
        path = ("data", "result", i)
        members = document.mapping(value, path)
        labels = document.mapping(members.get("metric"), (*path, "metric"))
        if not (topic := labels.get("topic", labels.get("topic_name"))):
            continue
        document.topic_name(topic, (*path, "metric", "topic"))
        metric = document.string(labels.get("__name__", ""), (*path, "metric", "__name__"))
        yield metric, labels, path, read_series(cast("dict[str, Json]", members), path, reject)


def _require_rate(document: Document, metric: str, labels: dict[str, object], path: FieldPath) -> None:
    if not metric:
        return
    # jmx_exporter with its default pattern has the MBean's name in a label, and `OneMinuteRate` in that of the metric.
    described = f"{metric} {labels.get('name', '')}"
    if not _INGRESS.search(described):
        expected = "a metric of bytes in (bytesin) or of sizes (log_size)"
        raise document.reject((*path, "__name__"), expected=expected, actual=shown(metric))
    if _COUNTER.search(metric) and not _RATE.search(metric):
        raise document.reject((*path, "__name__"), expected=f"a rate, as of {_QUERY}", actual=f"the counter {metric}")


def _owns(document: object) -> bool:
    data = document.get("data") if isinstance(document, dict) and "status" in document else None
    return isinstance(data, dict) and "resultType" in data


SOURCE = Source("Prometheus", read, owns=_owns)
