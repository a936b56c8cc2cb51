"""Proposals of `kafka-reassign-partitions --generate` since Kafka 4.1, with the rejections of the tool."""

from collections.abc import Mapping, Sequence
from typing import TypeVar

from app.core.jvm import JavaHashSet, JavaRandom, KeyType
from app.core.jvm.hashes import INTEGER, STRING
from app.core.kafka_versions import KafkaRange, Replayed
from app.core.model import Broker, Int32s
from app.core.replicas import striped
from app.core.replicas.generate_movement import placing_order, usable_brokers
from app.core.replicas.striped import UNTIL_4_2, Rejections
from app.errors.kafka import KafkaError
from tests.kafka_refusals import ListedTwice, TopicToMoveMissing

Item = TypeVar("Item", int, str)


REPLAYS = Replayed("org.apache.kafka.tools.reassign.ReassignPartitionsCommand", KafkaRange("4.1", "4.4"))


def propose(
    brokers: Sequence[Broker],
    broker_ids: Sequence[int],
    topics: Sequence[tuple[str, Sequence[int] | None]],
    *,
    random: JavaRandom,
    is_rack_aware: bool = True,
    rejections: Rejections = UNTIL_4_2,
) -> Mapping[str, Int32s]:
    """Place the topics on the brokers as the tool does.

    Parameters
    ----------
    brokers : of the cluster, in the order in which it lists them.
    broker_ids : as `--broker-list`; ids that are not in the cluster are left out.
    topics : in the order of the file; of each its name and the replication factor of each partition, ascending, or
        None if the topic does not exist.
    random : makes the draws; the tool's own is seeded at random.
    is_rack_aware : False is `--disable-rack-aware`.

    Returns
    -------
    By topic, (partitions, replication factor) int32 broker ids.

    Raises
    ------
    ListedTwice, TopicToMoveMissing, BrokersWithoutRack, InvalidReplicationFactor : in this order.
    """
    _require_distinct(broker_ids, INTEGER, "Broker list", ("broker_list",))
    _require_distinct([name for name, _ in topics], STRING, "List of topics to reassign", ("topics",))
    factors_of = {name: _require_topic(name, factors) for name, factors in topics}
    wanted = set(broker_ids)
    usable = usable_brokers([broker for broker in brokers if broker.id in wanted], is_rack_aware=is_rack_aware)
    racks = striped.Racks.of(usable)
    new_topics = placing_order(factors_of)
    placed = (striped.place_on(racks, topic, random=random, rejections=rejections) for topic in new_topics)
    return {placement.topic: placement.replicas for placement in placed}


def _require_distinct(items: Sequence[Item], key_type: KeyType[Item], what: str, path: tuple[str | int, ...]) -> None:
    seen: set[Item] = set()
    repeated = JavaHashSet(key_type)
    for item in items:
        if item in seen:
            repeated.add(item)
        seen.add(item)
    if repeated:
        names = ", ".join(map(str, repeated))
        raise ListedTwice(
            f"{what}: {names} is listed twice",
            kafka=KafkaError("AdminCommandFailedException", f"{what} contains duplicate entries: [{names}]"),
            path=path,
            values=[str(item) for item in repeated],
        )


def _require_topic(name: str, factors: Sequence[int] | None) -> Sequence[int]:
    if factors is None:
        raise TopicToMoveMissing(
            f"topic {name} does not exist",
            kafka=KafkaError("ExecutionException"),
            path=("topics",),
            topic=name,
        )
    return factors
