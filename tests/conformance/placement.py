"""Cases of the replica placers."""

from collections.abc import Callable, Mapping
from typing import Any

from app.core.jvm import JavaRandom
from app.core.kafka_versions import KafkaVersion
from app.core.model import Broker, NewTopic
from app.core.replicas import admin_utils, striped
from app.core.replicas.striped import SINCE_4_3, UNTIL_4_2, Rejections
from tests.conformance import generate
from tests.conformance.refusals import attempt


def _brokers(given: Mapping[str, Any]) -> list[Broker]:
    return [Broker(broker["id"], broker["rack"], broker.get("fenced", False)) for broker in given["brokers"]]


def _admin_utils(given: Mapping[str, Any]) -> Any:
    topic = NewTopic("topic", given["n_partitions"], given["replication_factor"], given["start_partition_id"])
    placement = admin_utils.place(
        _brokers(given),
        topic,
        random=JavaRandom(given.get("random_seed", 0)),
        fixed_start_index=given["fixed_start_index"],
    )
    return {"first_partition_id": placement.first_partition_id, "replicas": placement.replicas.tolist()}


def _rack_alternated(given: Mapping[str, Any]) -> Any:
    return {"broker_ids": admin_utils.rack_alternated(_brokers(given))}


def _striped_placer(rejections: Rejections) -> Callable[[Mapping[str, Any]], Any]:
    def place(given: Mapping[str, Any]) -> Any:
        random = JavaRandom(given["random_seed"])

        def answer(wanted: Mapping[str, Any]) -> Any:
            topic = NewTopic("topic", wanted["num_partitions"], wanted["replication_factor"])
            placement = striped.place(_brokers(given), topic, random=random, rejections=rejections)
            return {"replicas": placement.replicas.tolist()}

        return {"results": [attempt(answer, wanted) for wanted in given["placements"]]}

    return place


def _generate(given: Mapping[str, Any]) -> Any:
    topics = [
        (topic["name"], None if topic["replicas"] is None else [len(replicas) for replicas in topic["replicas"]])
        for topic in given["topics"]
    ]
    proposed = generate.propose(
        _brokers(given),
        given["broker_list"],
        topics,
        random=JavaRandom(given["random_seed"]),
        is_rack_aware=given["rack_aware"],
        rejections=SINCE_4_3 if KafkaVersion.of(given["kafka_version"]) >= KafkaVersion(4, 3) else UNTIL_4_2,
    )
    return {"proposed": {topic: replicas.tolist() for topic, replicas in proposed.items()}}


ANSWERS: Mapping[str, Callable[[Mapping[str, Any]], Any]] = {
    "admin_utils": _admin_utils,
    "admin_utils_overflow": _admin_utils,
    "rack_alternated": _rack_alternated,
    "striped_placer": _striped_placer(UNTIL_4_2),
    "striped_placer_4_3": _striped_placer(SINCE_4_3),
    "generate_4_1": _generate,
}
