"""The clusters that were stored or read last, so that plans and pages of one snapshot read it once."""

from collections import OrderedDict
from threading import Lock
from typing import Any, Generic, TypeVar

from numpy.typing import NDArray

from app.core.model import Cluster, Topic
from app.core.recorded import RecordedGroup

MOST_BYTES = 180 * 2**20
"""Memory of all cached clusters: some three million partitions with three replicas in large topics."""
_ARRAYS = (
    *("partition_ids", "replicas", "leaders", "isr", "adding", "removing", "size_bytes"),
    *("ingress_bytes_per_s", "log_dirs", "future_log_dirs", "elr"),
)
# Bytes of what is no array, measured; of a topic the objects of its arrays, of which most small topics consist.
_OF_CLUSTER, _OF_BROKER, _OF_TOPIC, _OF_GROUP, _OF_MEMBER, _OF_OFFSET, _OF_ASSIGNED = 1000, 250, 1000, 300, 600, 200, 40

K = TypeVar("K")
V = TypeVar("V")


class Recent(Generic[K, V]):
    """Values that were used last, within a limit on their memory; those used least recently are dropped first.

    Parameters
    ----------
    most_bytes : memory of all values. The newest is cached whatever its size.
    """

    def __init__(self, most_bytes: int) -> None:
        self._most_bytes = most_bytes
        self._kept_bytes = 0
        self._values: OrderedDict[K, tuple[V, int]] = OrderedDict()
        self._lock = Lock()

    def get(self, key: K) -> V | None:
        """The value of a key, if it is cached."""
        with self._lock:
            if key not in self._values:
                return None
            self._values.move_to_end(key)
            return self._values[key][0]

    def keep(self, key: K, value: V, size_bytes: int) -> None:
        """Keep a value of this size, and drop others if they are too large together."""
        with self._lock:
            _, before = self._values.pop(key, (None, 0))
            self._values[key] = value, size_bytes
            self._kept_bytes += size_bytes - before
            while len(self._values) > 1 and self._kept_bytes > self._most_bytes:
                _, (_, dropped) = self._values.popitem(last=False)
                self._kept_bytes -= dropped


def memory_of(cluster: Cluster) -> int:
    """The memory of a cluster in bytes: its arrays, and an estimate of its objects. Within a factor of two."""
    return (
        _OF_CLUSTER
        + _OF_BROKER * len(cluster.brokers)
        + sum(map(_memory_of_topic, cluster.topics))
        + sum(map(_memory_of_group, cluster.groups))
        + sum(_OF_BROKER * len(directories) for directories in cluster.log_dirs.values())
    )


def _memory_of_topic(topic: Topic) -> int:
    arrays: list[NDArray[Any] | None] = [getattr(topic, name) for name in _ARRAYS]
    return _OF_TOPIC + sum(array.nbytes for array in arrays if array is not None)


def _memory_of_group(group: RecordedGroup) -> int:
    assigned = 0
    for member in group.members:
        for of_topics in (member.owned, member.assigned, member.target):
            assigned += sum(1 + len(each.partitions) for each in of_topics or ())
        for tasks in (member.tasks, member.target_tasks):
            assigned += 0 if tasks is None else 2 * (len(tasks.active) + len(tasks.standby) + len(tasks.warmup))
        assigned += 2 * len(member.topics or ())
    return _OF_GROUP + _OF_MEMBER * len(group.members) + _OF_OFFSET * len(group.offsets) + _OF_ASSIGNED * assigned


RECENT: Recent[str, Cluster] = Recent(MOST_BYTES)
"""Clusters by the hash of their content, which has the name."""
