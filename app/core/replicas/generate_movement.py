"""Movement by `kafka-reassign-partitions --generate`: the range over seeds, since the tool draws a random one.

Since 4.1 the tool places every topic anew with KRaft's placer, before with AdminUtils. The current replicas have no
influence, except that a topic keeps its number of partitions, and the number of replicas of one of its partitions.
Topics are placed one after another with one generator, so that their order decides which draws a topic gets. Since 4.1
it follows from the hash maps through which their names and partitions pass, and is replayed:

    names → HashSet → HashMap sized for them → HashMap → HashMap of their partitions → HashMap of topics, computed

If a topic's partitions differ in replication factor, the first one in the hash map of partitions decides. With
AdminUtils the caller's order applies, which changes no distribution.

Source: `org.apache.kafka.tools.reassign.ReassignPartitionsCommand` and
`org.apache.kafka.metadata.placement.StripedReplicaPlacer` of Apache Kafka 4.1 to 4.4.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial

import numpy as np

from app.core.jvm import JavaHashSet, JavaRandom, hash_order, string_hash_order
from app.core.jvm.hashes import STRING, string_hash_codes, topic_partition_hash_codes
from app.core.kafka_versions import KafkaVersion
from app.core.model import NO_REPLICA, Broker, Int32s, Int64s, NewTopic
from app.core.replica_lists import not_among, stacked
from app.core.replicas import admin_utils, striped
from app.core.replicas.options import RackMode, applied, require_racks

STRIPED_SINCE = KafkaVersion(4, 1)
"""The first release whose tool places with KRaft's placer."""
_RACKS_MISSING = (
    "Not all brokers have rack information. Add --disable-rack-aware in command line to make replica assignment "
    "without rack information."
)


@dataclass(frozen=True, slots=True, eq=False)
class CurrentTopic:
    """The partitions of a topic, by id.

    Parameters
    ----------
    replicas : (partitions, widest) int32 broker ids, padded with `NO_REPLICA`.
    size_bytes : (partitions,) int64 bytes of one replica, 0 if unknown.
    """

    replicas: Int32s = field(repr=False)
    size_bytes: Int64s = field(repr=False)


def movement_by_seed(
    brokers: Sequence[Broker],
    topics: Mapping[str, CurrentTopic],
    seeds: Sequence[int],
    *,
    version: KafkaVersion,
    is_rack_aware: bool = True,
) -> tuple[Int64s, Int64s]:
    """Count the replicas, and their bytes, that the tool would copy to brokers that do not have them.

    Parameters
    ----------
    brokers : as `--broker-list`, ascending by id. topics : as the file of topics, in its order.
    seeds : of `java.util.Random`, one for each run of the tool.
    is_rack_aware : False is `--disable-rack-aware`.

    Returns
    -------
    (seeds,) int64 replicas, and (seeds,) int64 bytes.

    Raises
    ------
    BrokersWithoutRack, InvalidReplicationFactor : if the tool rejects the request.

    Complexity: O(partitions · seeds · replication factor²), and once the order of placing.
    """
    usable = usable_brokers(brokers, is_rack_aware=is_rack_aware)
    factors_of = {name: (topic.replicas != NO_REPLICA).sum(axis=1).tolist() for name, topic in topics.items()}
    is_striped = version >= STRIPED_SINCE
    by_first_factor = (NewTopic(name, len(factors), factors[0]) for name, factors in factors_of.items() if factors)
    placed = placing_order(factors_of) if is_striped else list(by_first_factor)
    current = stacked([topics[topic.name].replicas for topic in placed])
    sizes = np.concatenate([np.zeros(0, np.int64), *(topics[topic.name].size_bytes for topic in placed)])
    moved_replicas, moved_bytes = np.zeros(len(seeds), np.int64), np.zeros(len(seeds), np.int64)
    place = partial(striped.place_on, striped.Racks.of(usable)) if is_striped else partial(admin_utils.place, usable)
    for run, seed in enumerate(seeds):
        random = JavaRandom(seed)
        proposed = stacked([place(topic, random=random).replicas for topic in placed])
        moved = not_among(proposed, current).sum(axis=1)
        moved_replicas[run], moved_bytes[run] = moved.sum(), (moved * sizes).sum()
    return moved_replicas, moved_bytes


def usable_brokers(brokers: Sequence[Broker], *, is_rack_aware: bool) -> Sequence[Broker]:
    """The brokers as the placer sees them. Raises `BrokersWithoutRack` if some have a rack and others have none."""
    mode = RackMode.ENFORCED if is_rack_aware else RackMode.DISABLED
    require_racks(mode, brokers, _RACKS_MISSING)
    return applied(mode, brokers)


def placing_order(factors_of: Mapping[str, Sequence[int]]) -> list[NewTopic]:
    """The topics that have partitions in the order in which they are placed, with the replication factor of each.

    Parameters
    ----------
    factors_of : by topic in the order of the file, the replication factor of each partition.

    Complexity: O(partitions).
    """
    names = list(JavaHashSet.copy_of(list(factors_of), STRING))
    for initial_capacity in (len(names), None):
        names = [names[index] for index in string_hash_order(names, initial_capacity=initial_capacity).tolist()]
    counts = [len(factors_of[name]) for name in names]
    topic_of = np.repeat(np.arange(len(names)), counts)
    numbers = np.concatenate([np.empty(0, np.int32), *(np.arange(count, dtype=np.int32) for count in counts)])
    order = hash_order(topic_partition_hash_codes(string_hash_codes(names)[topic_of], numbers))
    first: dict[str, int] = {}
    is_known = False
    for topic, number in zip(topic_of[order].tolist(), numbers[order].tolist(), strict=True):
        is_known = names[topic] in first
        first.setdefault(names[topic], number)
    listed = list(first)
    ordered = (listed[index] for index in string_hash_order(listed, computed=True, recomputed=is_known).tolist())
    return [NewTopic(name, len(factors_of[name]), factors_of[name][first[name]]) for name in ordered]
