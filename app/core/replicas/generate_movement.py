"""What `kafka-reassign-partitions --generate` would move: the range over seeds, since the tool draws a random one.

Since 4.1 the tool places every topic anew with KRaft's placer (`generate.py`), before with AdminUtils. Neither looks at
the current replicas. The order of topics decides which draws a topic gets: since 4.1 it is replayed; with AdminUtils it
is that of the caller, which changes no distribution.

Source: `org.apache.kafka.tools.reassign.ReassignPartitionsCommand` of Apache Kafka.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from app.core.jvm import JavaRandom
from app.core.kafka_versions import KafkaVersion
from app.core.model import NO_REPLICA, Broker, Int32s, Int64s, NewTopic
from app.core.replica_lists import not_among, stacked
from app.core.replicas import admin_utils, striped
from app.core.replicas.generate import placing_order, usable_brokers

STRIPED_SINCE = KafkaVersion(4, 1)
"""The first release whose tool places with KRaft's placer."""


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
    BrokersWithoutRack, InvalidReplicationFactor : what the tool rejects.

    Complexity: O(partitions · seeds · replication factor²), and once the order of placing.
    """
    usable = usable_brokers(brokers, is_rack_aware=is_rack_aware)
    factors_of = {name: (topic.replicas != NO_REPLICA).sum(axis=1).tolist() for name, topic in topics.items()}
    is_striped = version >= STRIPED_SINCE
    placed = placing_order(factors_of) if is_striped else list(_by_first_factor(factors_of))
    current = stacked([topics[topic.name].replicas for topic in placed])
    sizes = np.concatenate([np.zeros(0, np.int64), *(topics[topic.name].size_bytes for topic in placed)])
    moved_replicas, moved_bytes = np.zeros(len(seeds), np.int64), np.zeros(len(seeds), np.int64)
    racks = striped.Racks.of(usable)
    for run, seed in enumerate(seeds):
        random = JavaRandom(seed)
        if is_striped:
            proposed = stacked([striped.place_on(racks, topic, random=random).replicas for topic in placed])
        else:
            proposed = stacked([admin_utils.place(usable, topic, random=random).replicas for topic in placed])
        moved = not_among(proposed, current).sum(axis=1)
        moved_replicas[run], moved_bytes[run] = moved.sum(), (moved * sizes).sum()
    return moved_replicas, moved_bytes


def _by_first_factor(factors_of: Mapping[str, Sequence[int]]) -> Iterator[NewTopic]:
    for name, factors in factors_of.items():
        if factors:
            yield NewTopic(name, len(factors), factors[0])
