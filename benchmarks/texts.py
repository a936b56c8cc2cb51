"""Kafka's texts: a describe text read, a reassignment written."""

from collections.abc import Iterator

import orjson

from app.core.jvm import JavaRandom
from app.core.model import NewTopic, Placement
from app.core.replicas.registry import PLACEMENTS
from app.formats.clusters import topic_describe
from app.formats.clusters.topic_describe import TopicDescription
from app.formats.clusters.topic_rows import PartitionDescription
from app.formats.kafka_files import reassignment
from benchmarks.clusters import brokers
from benchmarks.measure import Floor, Result, interleaved
from tests.formats.writers import topic_describe as written_topics

BROKERS = 60
FACTOR = 3
DESCRIBED_TOPICS = 100
DESCRIBED_PARTITIONS = 100_000
WRITTEN_PARTITIONS = 1_000_000
READ_RUNS = 5
WRITE_RUNS = 7


def run() -> Iterator[Result]:
    """Read 100,000 partitions, write 1,000,000."""
    yield _reading()
    yield _writing()


def _reading() -> Result:
    text = written_topics.write(_descriptions())

    def read() -> int:
        return sum(len(topic.partition_ids) for topic in topic_describe.topics(topic_describe.read(text)))

    def split() -> list[list[str]]:
        return [line.split("\t") for line in text.split("\n")]

    assert read() == DESCRIBED_PARTITIONS
    times = interleaved({"read": read, "split": split}, runs=READ_RUNS, warm_ups=1)
    return Result(
        name="read a kafka-topics --describe text",
        parameters={"topics": DESCRIBED_TOPICS, "partitions": DESCRIBED_PARTITIONS, "replication_factor": FACTOR},
        times=times["read"],
        floor=Floor("splitting the text into lines and columns", times["split"]),
        facts={"text_bytes": len(text.encode())},
    )


def _writing() -> Result:
    placed = _placed("events", WRITTEN_PARTITIONS)
    written = reassignment.write_placements([placed])
    assert len(orjson.loads(written)["partitions"]) == WRITTEN_PARTITIONS
    times = interleaved(
        {
            "write": lambda: reassignment.write_placements([placed]),
            "dump": lambda: orjson.dumps(placed.replicas, option=orjson.OPT_SERIALIZE_NUMPY),
        },
        runs=WRITE_RUNS,
        warm_ups=1,
    )
    return Result(
        name="write a reassignment JSON",
        parameters={"partitions": WRITTEN_PARTITIONS, "replication_factor": FACTOR},
        times=times["write"],
        floor=Floor("serialising the bare array", times["dump"]),
        facts={"text_bytes": len(written)},
    )


def _descriptions() -> Iterator[TopicDescription]:
    for index in range(DESCRIBED_TOPICS):
        name = f"events-{index}"
        rows = _placed(name, DESCRIBED_PARTITIONS // DESCRIBED_TOPICS).replicas.tolist()
        yield TopicDescription(
            name,
            FACTOR,
            tuple(PartitionDescription(i, row[0], tuple(row), tuple(row)) for i, row in enumerate(rows)),
            configs="min.insync.replicas=2,retention.ms=604800000",
            topic_id="2axB58VyTMemnegrC2eNlQ",
        )


def _placed(name: str, partitions: int) -> Placement:
    on = brokers(BROKERS, racks="even")
    return PLACEMENTS["striped"].place(on, NewTopic(name, partitions, FACTOR), random=JavaRandom(42))
