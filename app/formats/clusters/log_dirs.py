"""What `kafka-log-dirs --describe` prints: two lines of prose, then one JSON document; or that document alone.

    Querying brokers for log directories information
    Received log directory information from brokers 101,102
    {"brokers":[{"broker":101,"logDirs":[{"partitions":[{"partition":"orders-0","size":1,"offsetLag":0,
    "isFuture":false}],"error":null,"logDir":"/var/lib/kafka"}]}],"version":1}

The keys are written in the order in which Kafka 4.0 prints them (up to 3.x: another order, which is read, too); keys
that are not known are dropped on reading, since a newer tool may print more. A future replica (`isFuture`) is one that
is being copied into another directory of the same broker. `isCordoned` is the name that the protocol gives to the
cordon of a log directory (DescribeLogDirs v5, KIP-1066); `cordoned` is read as well. `totalBytes` and `usableBytes` are
those of its file system (DescribeLogDirs v4, KIP-827), if they are printed. The output of `kafka-configs
--describe` may be in the same text.

Source: `LogDirsCommand` of Apache Kafka.

The log directories of replicas: of brokers with several (JBOD), from what `kafka-log-dirs --describe` prints.

If no broker has more than one directory, nothing can be chosen, and the cluster is without them.
"""

import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import compress, repeat
from typing import Any, NamedTuple, cast

import numpy as np

from app.core.model import INT64_MAX, NO_LOG_DIR, NO_REPLICA, Cordon, Int32s, LogDirectory, Topic
from app.errors import FieldPath
from app.formats.clusters.stated_configs import ALL_LOG_DIRS, StatedConfigs, split
from app.formats.syntax.documents import Document, each_document
from app.formats.syntax.lines import LOG_LINE, is_topic_name, shown, whole_number, whole_numbers
from app.formats.syntax.loose_objects import LooseObject

_SUBJECT = "the log directories"
_PROSE = re.compile(r"Querying brokers for log directories information|Received log directory information from brokers")


class LogDirReplica(NamedTuple):
    """A replica in a log directory; there can be millions: tuples are made in a fifth of the time of dataclasses."""

    topic: str
    partition: int
    size_bytes: int
    is_future: bool = False


@dataclass(frozen=True, slots=True)
class LogDir:
    """A log directory of a broker.

    Parameters
    ----------
    error : the class name of what is wrong with it, as an offline disk has one.
    cordoned : whether Kafka assigns no new replica to it; None if the tool does not print it.
    total_bytes, usable_bytes : of its file system; None if the tool does not print them, or the broker knows neither.
    """

    path: str
    replicas: tuple[LogDirReplica, ...]
    error: str | None = None
    cordoned: bool | None = None
    total_bytes: int | None = None
    usable_bytes: int | None = None


@dataclass(frozen=True, slots=True)
class BrokerLogDirs:
    """A broker's log directories in printed order."""

    broker: int
    log_dirs: tuple[LogDir, ...]


@dataclass(frozen=True, slots=True)
class LogDirs:
    """The tool's answer.

    Parameters
    ----------
    configs : of `kafka-configs`; its cordoned log directories are `*` for all (stated_configs.py).
    """

    brokers: tuple[BrokerLogDirs, ...]
    configs: StatedConfigs = field(default_factory=StatedConfigs)


def read(text: str) -> LogDirs:
    """Read the tool's answers, one after another, as of one broker each.

    Raises
    ------
    MalformedText
        The text holds no JSON document, another version of it or a broken one, a broker twice that differs, a replica
        twice on a broker, a negative size, a partition without number.
    """
    document_text, configs = split(text)
    document_text = "\n".join(
        ["" if _PROSE.match(line) or LOG_LINE.match(line) else line for line in document_text.split("\n")]
    )
    if configs != StatedConfigs() and not document_text.strip():
        return LogDirs((), configs)
    names, brokers = set[str](), dict[int, BrokerLogDirs]()
    for document in [*each_document(document_text, _SUBJECT)] or [Document.parse(document_text, _SUBJECT)]:
        document.version_one(document.mapping(document.root, ()))
        for item in LooseObject.of(document, document.root, ()).required_each("brokers"):
            broker = _broker(item, names)
            if brokers.setdefault(broker.broker, broker) != broker:
                place, actual = (*item.path, "broker"), f"broker {broker.broker} again"
                raise document.reject(place, expected="each broker once, or alike", actual=actual)
    return LogDirs(tuple(brokers.values()), configs)


def sizes(log_dirs: LogDirs) -> Mapping[tuple[str, int], int]:
    """Bytes on disk of each partition's largest replica, future replicas left out, by topic and partition."""
    # By topic first: numbers are keys in half the time of pairs.
    largest: defaultdict[str, dict[int, int]] = defaultdict(dict)
    for log_dir in (log_dir for broker in log_dirs.brokers for log_dir in broker.log_dirs):
        for topic, partition, size_bytes, is_future in log_dir.replicas:
            if not is_future:
                of_topic = largest[topic]
                if size_bytes >= of_topic.get(partition, 0):
                    of_topic[partition] = size_bytes
    return {
        (topic, partition): size_bytes
        for topic, of_topic in largest.items()
        for partition, size_bytes in of_topic.items()
    }


def directories(log_dirs: LogDirs) -> Mapping[int, tuple[LogDirectory, ...]]:
    """Each broker's log directories by path, by broker id."""
    return {
        broker.broker: tuple(
            [
                LogDirectory(one.path, one.total_bytes, one.usable_bytes, is_offline=one.error is not None)
                for one in sorted(broker.log_dirs, key=lambda log_dir: log_dir.path)
            ]
        )
        for broker in log_dirs.brokers
    }


def cordons(log_dirs: LogDirs) -> Mapping[int, Cordon]:
    """What is cordoned, by the id of each broker that has a cordoned log directory.

    A broker whose log directories without an error are all cordoned is cordoned itself.
    """
    found: dict[int, Cordon] = {}
    for broker_id, paths in log_dirs.configs.cordoned.items():
        is_whole = ALL_LOG_DIRS in paths
        found[broker_id] = Cordon(is_whole, () if is_whole else paths)
    for broker in log_dirs.brokers:
        configured = log_dirs.configs.cordoned.get(broker.broker, ())
        is_cordoned = [
            bool(log_dir.cordoned) or ALL_LOG_DIRS in configured or log_dir.path in configured
            for log_dir in broker.log_dirs
        ]
        cordoned = tuple([log_dir.path for log_dir in compress(broker.log_dirs, is_cordoned)])
        if cordoned:
            usable = [one for log_dir, one in zip(broker.log_dirs, is_cordoned, strict=True) if log_dir.error is None]
            found[broker.broker] = Cordon(all(usable), cordoned)
    return found


def _broker(item: LooseObject, names: set[str]) -> BrokerLogDirs:
    """A broker; `names` are those of topics that were found to be valid, for all brokers."""
    seen: set[tuple[str, int, bool]] = set()
    return BrokerLogDirs(
        item.integer("broker"), tuple([_log_dir(one, seen, names) for one in item.required_each("logDirs")])
    )


def _log_dir(item: LooseObject, seen: set[tuple[str, int, bool]], names: set[str]) -> LogDir:
    document = item.document
    at, listed = item.get("partitions")
    items = document.array(listed, at)
    replicas = _well_formed(items, names) or [_replica(one) for one in item.required_each("partitions")]
    _require_distinct(document, replicas, item.path, seen)
    (path, log_dir), (error_path, error) = item.get("logDir"), item.get("error")
    cordon_path, cordoned = item.get("isCordoned", "cordoned")
    return LogDir(
        path=document.string(log_dir, path),
        replicas=tuple(replicas),
        error=None if error is None else document.string(error, error_path),
        cordoned=None if cordoned is None else document.boolean(cordoned, cordon_path),
        total_bytes=item.amount("totalBytes"),
        usable_bytes=item.amount("usableBytes"),
    )


def _require_distinct(
    document: Document, replicas: list[LogDirReplica], path: FieldPath, seen: set[tuple[str, int, bool]]
) -> None:
    """Reject a replica that its broker has twice; `seen` are those of its other log directories."""
    keys = [(topic, partition, is_future) for topic, partition, _, is_future in replicas]
    distinct = set(keys)
    if len(distinct) == len(keys) and distinct.isdisjoint(seen):
        seen |= distinct
        return
    for i, key in enumerate(keys):
        if key in seen:
            place, actual = (*path, "partitions", i), f"{key[0]}-{key[1]} again"
            raise document.reject(place, expected="each replica of a broker once", actual=actual)
        seen.add(key)


def _well_formed(items: list[object], names: set[str]) -> list[LogDirReplica] | None:
    """All replicas of a log directory, column by column; None if one of them may have to be rejected.

    Item by item, with a path for each, it takes ten times as long.
    """
    try:
        mappings = cast("list[dict[str, Any]]", items)
        topics, _, numbers = zip(*[item["partition"].rpartition("-") for item in mappings], strict=True)
        sizes = [item["size"] for item in mappings]
        are_future = [item.get("isFuture", False) for item in mappings]
    except (AttributeError, KeyError, TypeError, ValueError):  # the last if there is no item
        return None
    partitions = whole_numbers(",".join(numbers)) or ()
    unknown = {*topics} - names
    are_sizes = {*map(type, sizes)} == {int} and min(sizes) >= 0 and max(sizes) <= INT64_MAX
    if len(partitions) != len(topics) or not are_sizes or {*map(type, are_future)} != {bool}:
        return None
    if not all(map(is_topic_name, unknown)):
        return None
    names |= unknown
    columns = zip(topics, partitions, sizes, are_future, strict=True)
    return list(map(tuple.__new__, repeat(LogDirReplica), columns))  # half the time of `_make`


def _replica(item: LooseObject) -> LogDirReplica:
    path, named = item.get("partition")
    text = item.document.string(named, path)
    # Topic names may hold dashes themselves, partition numbers never do.
    topic, _, number = text.rpartition("-")
    partition = whole_number(number)
    if partition is None or not is_topic_name(topic):
        raise item.document.reject(path, expected="a topic and its partition (`orders-0`)", actual=shown(text))
    (path, size), (future_path, is_future) = item.get("size"), item.get("isFuture")
    size_bytes = item.document.integer(size, path, most=INT64_MAX)
    return LogDirReplica(
        topic, partition, size_bytes, is_future is not None and item.document.boolean(is_future, future_path)
    )


Placed = Mapping[tuple[str, int, int], int]
"""By topic, partition and broker, the index of a directory."""


def with_log_dirs(
    topics: Sequence[Topic], answer: LogDirs
) -> tuple[Mapping[int, tuple[LogDirectory, ...]], tuple[Topic, ...]]:
    """The directories of each broker, by path, and the topics with the directory of each replica."""
    by_broker = directories(answer)
    if all(len(listed) < 2 for listed in by_broker.values()):
        return {}, tuple(topics)
    current, future = (_placed(answer, is_future=is_future) for is_future in (False, True))
    return by_broker, tuple(
        [replace(topic, log_dirs=_of(topic, current), future_log_dirs=_of(topic, future)) for topic in topics]
    )


def _placed(answer: LogDirs, *, is_future: bool) -> Placed:
    return {
        (replica.topic, replica.partition, broker.broker): index
        for broker in answer.brokers
        for index, log_dir in enumerate(sorted(broker.log_dirs, key=lambda one: one.path))
        for replica in log_dir.replicas
        if replica.is_future == is_future
    }


def _of(topic: Topic, placed: Placed) -> Int32s | None:
    """(partitions, widest) int32 as of `Topic.log_dirs`; None if all are unknown."""
    if not placed:
        return None
    found = np.full(topic.replicas.shape, NO_LOG_DIR, np.int32)
    for row, (partition, brokers) in enumerate(zip(topic.partition_ids.tolist(), topic.replicas.tolist(), strict=True)):
        for column, broker in enumerate(brokers):
            if broker != NO_REPLICA:
                found[row, column] = placed.get((topic.name, partition, broker), NO_LOG_DIR)
    return None if (found == NO_LOG_DIR).all() else found
