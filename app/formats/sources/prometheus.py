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

import re
from collections import defaultdict
from math import isfinite

from app.errors import FieldPath
from app.formats.sources.contents import Contents, Note, Partition, Source
from app.formats.syntax.documents import Document, each_document
from app.formats.syntax.lines import shown, whole_number

_SIZE = re.compile(r"size|bytes_on_disk|disk_bytes", re.IGNORECASE)
_INGRESS = re.compile(r"bytes_?in|in_?bytes|ingress|received", re.IGNORECASE)
_COUNTER = re.compile(r"(?:_total|_count)$", re.IGNORECASE)
_RATE = re.compile(r"rate", re.IGNORECASE)
_LARGEST = 2.0**62
_ASSUMED = Note("series_assumed_ingress", "series of Prometheus without a metric's name count as bytes in per second")
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
        data = document.mapping(document.mapping(document.root, ()).get("data"), ("data",))
        for i, value in enumerate(document.array(data.get("result"), ("data", "result"))):
            path = ("data", "result", i)
            members = document.mapping(value, path)
            labels = document.mapping(members.get("metric"), (*path, "metric"))
            topic = labels.get("topic", labels.get("topic_name"))
            if topic is None or topic == "":
                continue
            name = document.topic_name(topic, (*path, "metric", "topic"))
            partition = _partition(document, labels, (*path, "metric"))
            metric = document.string(labels.get("__name__", ""), (*path, "metric", "__name__"))
            mean = _mean(document, members, path)
            if _SIZE.search(metric):
                if partition is not None:
                    sizes[name, partition] = max(sizes.get((name, partition), 0), round(min(mean, _LARGEST)))
                continue
            _require_rate(document, metric, labels, (*path, "metric"))
            is_assumed = is_assumed or not metric
            rates[name, partition] += mean
    return Contents(size_bytes=sizes, ingress_bytes_per_s=dict(rates), notes=(_ASSUMED,) if is_assumed else ())


def _partition(document: Document, labels: dict[str, object], path: FieldPath) -> int | None:
    label = labels.get("partition", labels.get("partition_id"))
    if label is None or label == "":
        return None
    partition = whole_number(document.string(label, (*path, "partition")))
    if partition is None:
        raise document.reject((*path, "partition"), expected="a partition's number", actual=shown(str(label)))
    return partition


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


def _mean(document: Document, members: dict[str, object], path: FieldPath) -> float:
    if "values" in members:
        samples = document.array(members["values"], (*path, "values"))
        numbers = [_value(document, sample, (*path, "values", i)) for i, sample in enumerate(samples)]
    else:
        numbers = [_value(document, members.get("value"), (*path, "value"))]
    return sum(numbers) / len(numbers) if numbers else 0.0


def _value(document: Document, sample: object, path: FieldPath) -> float:
    pair = document.array(sample, path)
    text = document.string(pair[1] if len(pair) == 2 else None, path)
    try:
        number = float(text)
    except ValueError:
        number = -1.0
    if not isfinite(number) or number < 0:
        raise document.reject(path, expected="a finite number of 0 or more", actual=shown(text))
    return number


def _owns(document: object) -> bool:
    data = document.get("data") if isinstance(document, dict) and "status" in document else None
    return isinstance(data, dict) and "resultType" in data


SOURCE = Source("Prometheus", read, owns=_owns)
