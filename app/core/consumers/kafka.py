"""Loads of consumers under one of Kafka's own assignors, which do not know rates."""

from collections.abc import Mapping

import numpy as np

from app.core.groups.model import Assign, GroupMetadata, Member, TopicMetadata
from app.core.model import Int64s


def largest_loads(rates: Int64s, topics: Mapping[str, int], consumers: int, assign: Assign) -> Int64s:
    """(intervals,) int64 bytes/s of the consumer with the largest load.

    Parameters
    ----------
    rates : (intervals, partitions), the partitions of each topic after one another.
    topics : number of partitions by name, in that order. assign : an assignor; all consumers join an empty group.
    """
    width = len(str(consumers))
    members = [Member(f"consumer-{number:0{width}}", tuple(topics)) for number in range(consumers)]
    metadata = {name: TopicMetadata(name, np.zeros((count, 1), np.int32)) for name, count in topics.items()}
    found = assign(members, GroupMetadata({}, metadata))
    starts = dict(zip(topics, np.cumsum([0, *topics.values()]).tolist(), strict=False))
    first = np.array([starts[name] for name in found.topics], np.int64)
    columns = first[found.topic_index] + found.partitions
    sums = np.hstack([np.zeros((len(rates), 1), np.int64), np.cumsum(rates[:, columns], axis=1)])
    return np.asarray(np.diff(sums[:, found.offsets], axis=1).max(axis=1), np.int64)
