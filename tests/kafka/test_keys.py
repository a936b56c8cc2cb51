"""Producers put each key into the partition that was predicted."""

import base64
import random
from collections.abc import Iterator

import httpx
import pytest

from tests.kafka.cluster import Cluster

pytestmark = [pytest.mark.slow, pytest.mark.kafka]

PARTITIONS, KEYS = 13, 400
RANDOM = random.Random(30)
SENT = [RANDOM.randbytes(RANDOM.randrange(1, 40)) for _ in range(KEYS)]


@pytest.fixture
def topic(kafka: Cluster) -> Iterator[str]:
    """A topic for keys."""
    kafka.create_topic("keys", partitions=PARTITIONS, factor=1)
    yield "keys"
    kafka.tool("kafka-topics", "--delete", "--topic", "keys")


def predicted(client: httpx.Client, partitioner: str) -> list[int]:
    """The partitions that the service says."""
    keys = [base64.b64encode(key).decode() for key in SENT]
    request = {"keys": keys, "encoding": "base64", "partitions": PARTITIONS, "partitioner": [partitioner]}
    response = client.post("/v1/keys/partitions", json=request)
    assert response.status_code == 200, response.text
    partitions: list[int] = response.json()["partitioners"][0]["partition_by_key"]
    return partitions


def test_kafkas_own_producer(kafka: Cluster, client: httpx.Client, topic: str) -> None:
    sent = kafka.clients.ask(
        "produce", topic=topic, properties={"bootstrap.servers": kafka.bootstrap},
        keys_base64=[base64.b64encode(key).decode() for key in SENT],
    )  # fmt: skip
    assert sent["partitions"] == predicted(client, "murmur2_adaptive")


def test_kafka_python(kafka: Cluster, client: httpx.Client, topic: str) -> None:
    producer = pytest.importorskip("kafka").KafkaProducer(bootstrap_servers=kafka.bootstrap.split(","))
    sent = [producer.send(topic, key=key, value=b"1") for key in SENT]
    producer.flush(60)
    assert [each.get(60).partition for each in sent] == predicted(client, "murmur2_random_available")
    producer.close()
