"""Bytes that producers write a second, by topic or by partition, as monitoring exports them.

CSV, with a header line and its columns in any order:

    topic,partition,timestamp,bytes_in_per_s
    orders,0,2026-11-02T10:00:00Z,1250000

`partition` and `timestamp` (RFC 3339, or seconds since 1970) are columns that may be left out.

Prometheus, an answer of `/api/v1/query_range` or `/api/v1/query` as it came: every series has a label `topic`, perhaps
one `partition`, and values in bytes/s, as of

    sum by (topic) (rate(kafka_server_brokertopicmetrics_bytesin_total{topic!=""}[5m]))
"""

import csv
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from io import StringIO
from math import isfinite
from typing import Protocol

import numpy as np

from app.core.capacity.sections import IngressSeries
from app.core.model import Float64s
from app.core.sweeps.fields import impossible
from app.errors import Failure, FieldPath, Json
from app.errors.requests import ConflictingFields, MalformedText
from app.formats.syntax.lines import is_topic_name, rejection, shown, whole_number

_NEEDED, _OPTIONAL = ("topic", "bytes_in_per_s"), ("partition", "timestamp")
_LABELS = (("topic", "name"), ("partition", "id"))
"""Labels, and the ends of their other names."""


class RejectValue(Protocol):
    """Makes the failure of a value at a path."""

    def __call__(self, path: FieldPath, /, *, expected: str, actual: Json) -> Failure: ...


_Key = tuple[str, int | None]


def read_csv(text: str, path: FieldPath) -> list[IngressSeries]:
    """The series of a CSV text at `path` of a request.

    Raises
    ------
    MalformedText : with the line, for a column that is missing or unknown, a field that is not what it has to be, a
        sample that is there twice.
    """
    rows = csv.reader(StringIO(text), strict=True)
    columns: list[str] | None = None
    samples: dict[_Key, dict[float, float]] = defaultdict(dict)
    for line, row in _lines(rows, path):
        if columns is None:
            columns = _header(row, line, path)
            continue
        if len(row) != len(columns):
            raise rejection(line, expected=f"{len(columns)} fields", actual=f"{len(row)}", path=path)
        fields = dict(zip(columns, (field.strip() for field in row), strict=True))
        key, time, rate = _sample(fields, line, path)
        if time in samples[key]:
            raise rejection(line, expected="each sample once", actual=f"{shown(','.join(row))} again", path=path)
        samples[key][time] = rate
    if columns is None:
        raise rejection(1, expected=f"a header line with {' and '.join(_NEEDED)}", actual="nothing", path=path)
    return [_series(key, by_time) for key, by_time in samples.items()]


def _lines(rows: Iterator[list[str]], path: FieldPath) -> Iterator[tuple[int, list[str]]]:
    """The rows that say something, each with the number of its last line."""
    line = 0
    try:
        for row in rows:
            line = rows.line_num  # type: ignore[attr-defined] # csv's reader counts; its type is an iterator's
            if any(field.strip() for field in row):
                yield line, row
    except csv.Error as error:
        raise rejection(line + 1, expected="CSV", actual=str(error), path=path) from None


def _header(row: Sequence[str], line: int, path: FieldPath) -> list[str]:
    columns = [name.strip().removeprefix("\ufeff").lower() for name in row]
    for name in columns:
        if name not in _NEEDED + _OPTIONAL or columns.count(name) > 1:
            expected = f"the columns {', '.join(_NEEDED)} and perhaps {', '.join(_OPTIONAL)}, each once"
            raise rejection(line, expected=expected, actual=shown(name), path=path)
    for name in _NEEDED:
        if name not in columns:
            raise rejection(line, expected=f"a column {name}", actual=shown(",".join(row)), path=path)
    return columns


def _sample(fields: Mapping[str, str], line: int, path: FieldPath) -> tuple[_Key, float, float]:
    def reject(name: str, expected: str) -> MalformedText:
        return rejection(line, expected=expected, actual=shown(fields[name]), path=path)

    topic, partition, time = fields["topic"], None, _seconds(fields.get("timestamp", "0"))
    if not is_topic_name(topic):
        raise reject("topic", "a topic's name")
    if "partition" in fields and (partition := whole_number(fields["partition"])) is None:
        raise reject("partition", "a partition's number")
    if time is None:
        raise reject("timestamp", "a time as RFC 3339 or in seconds")
    if (rate := _rate(fields["bytes_in_per_s"])) is None:
        raise reject("bytes_in_per_s", "bytes/s, a finite number of 0 or more")
    return (topic, partition), time, rate


def _seconds(text: str) -> float | None:
    try:
        number = float(text)
    except ValueError:
        try:
            time = datetime.fromisoformat(text)
        except ValueError:
            return None
        return (time if time.tzinfo else time.replace(tzinfo=UTC)).timestamp()
    return number if isfinite(number) else None


def _rate(text: object) -> float | None:
    """The number that a text writes, if it is one that a rate can be."""
    try:
        number = float(text) if isinstance(text, str) else -1.0
    except ValueError:
        return None
    return number if 0 <= number <= 1e18 else None


def _series(key: _Key, samples: Mapping[float, float]) -> IngressSeries:
    return IngressSeries(*key, np.array(list(samples), np.float64), np.array(list(samples.values()), np.float64))


def read_prometheus(answer: Mapping[str, Json], path: FieldPath) -> list[IngressSeries]:
    """The series of a Prometheus answer at `path` of a request.

    Raises
    ------
    ImpossibleValue : it is no answer with a matrix or a vector, a series has no topic, a value is no rate; with the
        place in the answer. ConflictingFields : a topic has series by partition and others without.
    """
    data = _object(answer.get("data"), (*path, "data"))
    where = (*path, "data", "result")
    if data.get("resultType") not in ("matrix", "vector"):
        raise impossible("a matrix or a vector is needed", data.get("resultType"), (*path, "data", "resultType"))
    series: list[IngressSeries] = []
    whole: dict[str, bool] = {}
    for index, entry in enumerate(_array(data.get("result"), where)):
        one = read_series(_object(entry, (*where, index)), (*where, index))
        if whole.setdefault(one.topic, one.partition is None) != (one.partition is None):
            detail = f"topic {one.topic} has series by partition and others without; one of both says it all"
            raise ConflictingFields(detail, path=(*where, index, "metric"), value=one.topic)
        series.append(one)
    return series


def _impossible(path: FieldPath, *, expected: str, actual: Json) -> Failure:
    return impossible(f"{expected} is needed", actual, path)


def read_series(entry: Mapping[str, Json], path: FieldPath, reject: RejectValue = _impossible) -> IngressSeries:
    """A series of Prometheus at `path`; `reject` makes the failure of a value, by default `ImpossibleValue`."""
    labels = _object(entry.get("metric"), (*path, "metric"))
    topic, partition = (labels.get(name) or labels.get(f"{name}_{of}") for name, of in _LABELS)
    if not isinstance(topic, str) or not is_topic_name(topic):
        expected = "a label topic with a topic's name (topic!='' in the query leaves out other series)"
        raise reject((*path, "metric", "topic"), expected=expected, actual=topic)
    number = None if partition is None else whole_number(str(partition))
    if partition is not None and number is None:
        raise reject((*path, "metric", "partition"), expected="a partition's number", actual=partition)
    return IngressSeries(topic, number, *_samples(entry, path, reject))


def _samples(entry: Mapping[str, Json], path: FieldPath, reject: RejectValue) -> tuple[Float64s, Float64s]:
    """The times of a series, in seconds, and its values."""
    is_vector = "value" in entry
    samples = [entry["value"]] if is_vector else entry.get("values")
    if isinstance(samples, str) or not isinstance(samples, Sequence):
        raise reject((*path, "values"), expected="a list", actual=samples)
    times, rates = np.empty(len(samples)), np.empty(len(samples))
    for index, sample in enumerate(samples):
        where = (*path, "value") if is_vector else (*path, "values", index)
        if not isinstance(sample, Sequence) or len(sample) != 2 or not isinstance(sample[0], int | float):
            raise reject(where, expected="a pair of a time and a value", actual=sample)
        rate = _rate(sample[1])
        if rate is None:
            raise reject((*where, 1), expected="a finite number of 0 or more", actual=sample[1])
        times[index], rates[index] = sample[0], rate
    return times, rates


def _object(value: Json, path: FieldPath) -> Mapping[str, Json]:
    if not isinstance(value, Mapping):
        raise impossible("an object is needed", value, path)
    return value


def _array(value: Json, path: FieldPath) -> Sequence[Json]:
    if isinstance(value, str) or not isinstance(value, Sequence):
        raise impossible("a list is needed", value, path)
    return value
