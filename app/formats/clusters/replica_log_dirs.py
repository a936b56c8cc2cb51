"""The log directories of replicas: of brokers with several (JBOD), from what `kafka-log-dirs --describe` prints.

If no broker has more than one directory, nothing can be chosen, and the cluster is without them.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from app.core.model import NO_LOG_DIR, NO_REPLICA, Int32s, LogDirectory, Topic
from app.formats.clusters.log_dirs import LogDirs, directories

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
