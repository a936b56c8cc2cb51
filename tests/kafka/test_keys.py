"""Producers put each key into the partition that was predicted: Kafka's own, and clients in C, Go and Python.

Clients in C and Go are programs of `producers/`, with the versions that its requirements and modules pin.
"""

import base64
import os
import random
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from tests.kafka import jars
from tests.kafka.cluster import Cluster

pytestmark = [pytest.mark.slow, pytest.mark.kafka]

PARTITIONS, KEYS = 13, 400
RANDOM = random.Random(30)
PRODUCERS = Path(__file__).parent / "producers"
MADE_WITHIN_S, SENT_WITHIN_S = 300, 120
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


def sent_by(command: list[str], kafka: Cluster, topic: str, partitioner: str, **variables: str) -> list[int]:
    """The partitions that a program reports for the keys."""
    keys = "".join(f"{base64.b64encode(key).decode()}\n" for key in SENT)
    done = subprocess.run(
        [*command, kafka.bootstrap, topic, partitioner],
        input=keys, capture_output=True, text=True, timeout=SENT_WITHIN_S, check=False, env=os.environ | variables,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return [int(line) for line in done.stdout.split()]


@pytest.fixture(scope="module")
def librdkafka() -> str:
    """The folder with confluent-kafka, which has librdkafka in it."""
    folder = jars.FOLDER / "librdkafka"
    if not folder.is_dir():
        options = ["--no-deps", "--require-hashes", "--only-binary=:all:", "--target", str(folder)]
        command = [
            sys.executable,
            "-m",
            "pip",
            "install",
            "--quiet",
            *options,
            "-r",
            str(PRODUCERS / "requirements.txt"),
        ]
        if subprocess.run(command, timeout=MADE_WITHIN_S, check=False).returncode:
            pytest.skip("pip cannot install confluent-kafka here")
    return str(folder)


@pytest.mark.parametrize(
    "partitioner", ["consistent_random", "consistent", "murmur2_random", "murmur2", "fnv1a_random", "fnv1a"]
)
def test_librdkafka(kafka: Cluster, client: httpx.Client, topic: str, librdkafka: str, partitioner: str) -> None:
    command = [sys.executable, str(PRODUCERS / "librdkafka.py")]
    assert sent_by(command, kafka, topic, partitioner, PYTHONPATH=librdkafka) == predicted(client, partitioner)


@pytest.fixture(scope="module")
def go_producers() -> str:
    """The program with the clients in Go."""
    program = jars.FOLDER / "producers"
    if shutil.which("go") is None:
        pytest.skip("there is no Go, which builds the clients")
    command = ["go", "build", "-mod=readonly", "-o", str(program), "."]
    if subprocess.run(command, cwd=PRODUCERS, timeout=MADE_WITHIN_S, check=False).returncode:
        pytest.skip("Go cannot build the clients here")
    return str(program)


@pytest.mark.parametrize(
    ("balancer", "partitioner"),
    [
        ("franz-go", "murmur2_adaptive"),
        ("sarama.Hash", "fnv1a_random"),
        ("sarama.ReferenceHash", "fnv1a_positive"),
        ("kafka-go.Hash", "fnv1a_round_robin"),
        ("kafka-go.ReferenceHash", "fnv1a_positive"),
        ("kafka-go.CRC32", "consistent_random"),
        ("kafka-go.Murmur2", "murmur2_random"),
    ],
)
def test_go(
    kafka: Cluster, client: httpx.Client, topic: str, go_producers: str, balancer: str, partitioner: str
) -> None:
    assert sent_by([go_producers], kafka, topic, balancer) == predicted(client, partitioner)
