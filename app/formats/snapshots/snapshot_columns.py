"""A cluster as columns of its partitions: what `snapshot_json` writes, read in a fraction of the time.

An archive of arrays, as `numpy.savez` writes it: the columns of all topics below one another, in the order of the
canonical document, each in the smallest integers that it fits. Brokers, groups and everything else that is not of a
partition are the canonical document of the cluster without topics. Columns are stored beside the document and never in
its place: they have no hash, and a migration that changes their form only has to empty them.
"""

from collections.abc import Sequence
from dataclasses import replace
from io import BytesIO
from typing import Any, TypeAlias

import numpy as np
import orjson
from numpy.typing import NDArray

from app.core.model import NO_LOG_DIR, NO_REPLICA, Cluster, Float64s, Int32s, Topic
from app.core.replica_lists import stacked
from app.formats.snapshots import snapshot_json

Array: TypeAlias = NDArray[Any]

_NUMBERS = {"partition_ids": np.int32, "leaders": np.int32, "size_bytes": np.int64, "ingress_bytes_per_s": np.float64}
_LISTS = ("replicas", "isr", "adding", "removing", "elr", "observers")
_LOG_DIRS = ("log_dirs", "future_log_dirs")
_OPTIONAL = ("elr", "observers", *_LOG_DIRS)
"""Columns that a topic without any value does not have."""
_INTEGERS = (np.int8, np.int16, np.int32, np.int64)


def write(cluster: Cluster) -> bytes:
    """The columns of a cluster. Complexity: O(replicas + partitions · log partitions)."""
    topics = sorted(cluster.topics, key=lambda topic: topic.name)
    rows = np.array([len(topic.partition_ids) for topic in topics], np.int64)
    columns: dict[str, Array] = {}
    for name, of_type in _NUMBERS.items():
        parts = [_rates(topic) if name == "ingress_bytes_per_s" else getattr(topic, name) for topic in topics]
        columns[name] = np.concatenate([np.zeros(0, of_type), *parts])
    for name in _LISTS:
        columns[name] = stacked([_lists(topic, getattr(topic, name)) for topic in topics])
    for name in _LOG_DIRS:
        columns[name] = stacked([_lists(topic, getattr(topic, name)) for topic in topics])
    if np.isnan(columns["ingress_bytes_per_s"]).all():
        del columns["ingress_bytes_per_s"]
    order = np.lexsort((columns["partition_ids"], np.repeat(np.arange(len(topics)), rows)))
    archive = BytesIO()
    np.savez(
        archive,
        cluster=np.frombuffer(snapshot_json.write(replace(cluster, topics=())), np.uint8),
        topics=np.frombuffer(orjson.dumps([_named(topic) for topic in topics]), np.uint8),
        rows=rows,
        **{name: _narrowed(column[order]) for name, column in columns.items()},  # type: ignore[arg-type] # by name
    )
    return archive.getvalue()


def read(columns: bytes) -> Cluster:
    """Read what `write` wrote: the cluster that `snapshot_json` reads from its document. Nothing is unpickled."""
    with np.load(BytesIO(columns), allow_pickle=False) as archive:
        found: dict[str, Array] = {name: archive[name] for name in archive.files}
    cluster = snapshot_json.read(found["cluster"].tobytes())
    named: list[tuple[str, str | None] | tuple[str, str | None, dict[str, str]]] = orjson.loads(
        found["topics"].tobytes()
    )
    starts = np.concatenate([[0], np.cumsum(found["rows"])]).astype(np.int64)
    found.setdefault("ingress_bytes_per_s", np.full(starts[-1], np.nan))
    for name in _OPTIONAL[:2]:  # columns of earlier releases have none
        found.setdefault(name, np.empty((int(starts[-1]), 0), np.int32))
    numbers = {name: found[name].astype(of_type, copy=False) for name, of_type in _NUMBERS.items()}
    lists = {name: found[name].astype(np.int32, copy=False) for name in (*_LISTS, *_LOG_DIRS)}
    widths = {name: _widths(column, starts) for name, column in lists.items()}
    topics = []
    for index, (name, topic_id, *configs) in enumerate(named):
        part = slice(int(starts[index]), int(starts[index + 1]))
        rates = numbers["ingress_bytes_per_s"][part]
        width = {field: widths[field][index] for field in _LISTS} | dict.fromkeys(_LOG_DIRS, widths["replicas"][index])
        cut = {field: np.ascontiguousarray(lists[field][part, : width[field]]) for field in lists}
        of_topic: dict[str, Any] = {field: values[part] for field, values in numbers.items()}
        for field, values in cut.items():
            of_topic[field] = values if widths[field][index] or field not in _OPTIONAL else None
        of_topic["ingress_bytes_per_s"] = None if np.isnan(rates).all() else rates
        topics.append(Topic(name=name, topic_id=topic_id, configs=configs[0] if configs else {}, **of_topic))
    return replace(cluster, topics=tuple(topics))


def _named(topic: Topic) -> list[object]:
    """The name, the topic id, and the configurations if any is known."""
    return [topic.name, topic.topic_id, *([dict(topic.configs)] if topic.configs else [])]


def _rates(topic: Topic) -> Float64s:
    rates = topic.ingress_bytes_per_s
    return np.full(len(topic.partition_ids), np.nan) if rates is None else rates


def _lists(topic: Topic, lists: Int32s | None) -> Int32s:
    """The lists of a topic; unknown ones have no column, and become padding, which means the same."""
    return np.empty((len(topic.partition_ids), 0), np.int32) if lists is None else lists


def _narrowed(column: Array) -> Array:
    """The column in the smallest integers that have its values."""
    if column.dtype.kind != "i" or not column.size:
        return column
    low, high = int(column.min()), int(column.max())
    fits = (size for size in _INTEGERS if np.iinfo(size).min <= low and high <= np.iinfo(size).max)
    return column.astype(next(fits), copy=False)


def _widths(lists: Int32s, starts: Array) -> Sequence[int]:
    """The length of the longest list of each topic."""
    assert NO_LOG_DIR == NO_REPLICA  # noqa: S101 -- the padding of both
    longest = np.zeros(len(starts) - 1, np.int64)
    for column in lists.T:
        up_to = np.concatenate([[0], np.cumsum(column != NO_REPLICA)])
        longest += up_to[starts[1:]] > up_to[starts[:-1]]
    widths: list[int] = longest.tolist()
    return widths
