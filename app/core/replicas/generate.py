"""The order in which `kafka-reassign-partitions --generate` places topics since Kafka 4.1, and on which brokers.

The tool places every topic anew, by a striped placer. The current replicas have no influence, except that a topic keeps
its number of partitions, and the number of replicas of one of its partitions. Topics are placed one after another with
one generator, in an order that follows from the hash maps through which their names and partitions pass:

    names → HashSet → HashMap sized for them → HashMap → HashMap of their partitions → HashMap of topics, computed

Where a topic's partitions differ in replication factor, the factor is that of the partition that is first in the hash
map of partitions.

The tool draws a random seed, so that two runs propose different assignments. Up to 4.0 it used AdminUtils.

Source: `org.apache.kafka.tools.reassign.ReassignPartitionsCommand` and
`org.apache.kafka.metadata.placement.StripedReplicaPlacer` of Apache Kafka 4.1 to 4.4.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

import numpy as np

from app.core.jvm import JavaHashSet, hash_order
from app.core.jvm.hashes import STRING, string_hash_codes, topic_partition_hash_codes, utf16_order
from app.core.model import Broker, NewTopic
from app.core.replicas.rack_modes import brokers_without_rack

_RACKS_MISSING = (
    "Not all brokers have rack information. Add --disable-rack-aware in command line to make replica assignment "
    "without rack information."
)


def usable_brokers(brokers: Sequence[Broker], *, is_rack_aware: bool) -> Sequence[Broker]:
    """The brokers as the placer sees them. Raises `BrokersWithoutRack` if some have a rack and others have none."""
    if not is_rack_aware:
        return [replace(broker, rack=None) for broker in brokers]
    if 0 < sum(broker.rack is None for broker in brokers) < len(brokers):
        raise brokers_without_rack(brokers, "AdminOperationException", _RACKS_MISSING)
    return brokers


def placing_order(factors_of: Mapping[str, Sequence[int]]) -> list[NewTopic]:
    """The topics that have partitions in the order in which they are placed, with the replication factor of each.

    Parameters
    ----------
    factors_of : by topic in the order of the file, the replication factor of each partition.

    Complexity: O(partitions).
    """
    names = list(JavaHashSet.copy_of(list(factors_of), STRING))
    for initial_capacity in (len(names), None):
        names = [names[index] for index in _string_order(names, initial_capacity=initial_capacity)]
    counts = [len(factors_of[name]) for name in names]
    topic_of = np.repeat(np.arange(len(names)), counts)
    numbers = np.concatenate([np.empty(0, np.int32), *(np.arange(count, dtype=np.int32) for count in counts)])
    order = hash_order(topic_partition_hash_codes(string_hash_codes(names)[topic_of], numbers))
    first: dict[str, int] = {}
    for topic, number in zip(topic_of[order].tolist(), numbers[order].tolist(), strict=True):
        first.setdefault(names[topic], number)
    listed = list(first)
    ordered = (listed[index] for index in _string_order(listed, initial_capacity=None, computed=True))
    return [NewTopic(name, len(factors_of[name]), factors_of[name][first[name]]) for name in ordered]


def _string_order(names: Sequence[str], *, initial_capacity: int | None, computed: bool = False) -> Iterable[int]:
    keys = [utf16_order(name) for name in names]
    order = hash_order(string_hash_codes(names), initial_capacity=initial_capacity, order=keys, computed=computed)
    return map(int, order)
