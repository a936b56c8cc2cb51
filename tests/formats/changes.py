"""Reassignments to write down: one that the eye can check, and Kafka's own from the captures."""

from itertools import groupby
from operator import attrgetter

import numpy as np

from app.core.measures.transfers import Transfers, transfers
from app.core.model import UNKNOWN_SIZE, Assignment, Broker, padded
from app.formats.kafka_files import reassignment
from tests.formats.strategies import assembled, sample

FOUR = [Broker(101, "az-a"), Broker(105, "az-b"), Broker(106, "az-b"), Broker(108)]
MIB = 1 << 20


def worked() -> Transfers:
    """105 gives up a replica, orders-4 changes its leader, the size of clicks-0 is unknown, orders-5 is new."""
    before = {
        "orders": Assignment(np.array([3, 4], np.int32), padded([[101, 105, 108], [101, 106]])),
        "clicks": Assignment(np.array([0], np.int32), padded([[106, 101]])),
        "audit": Assignment(np.array([0], np.int32), padded([[105]])),
    }
    after = {
        "orders": Assignment(np.array([3, 4, 5], np.int32), padded([[101, 106, 108], [106, 101], [108, 101]])),
        "clicks": Assignment(np.array([0], np.int32), padded([[106, 108, 105]])),
        "audit": before["audit"],
    }
    sizes = {
        "orders": np.array([12 * MIB + 300_000, 2048], np.int64),
        "clicks": np.array([UNKNOWN_SIZE], np.int64),
        "audit": np.array([7], np.int64),
    }
    return transfers(before, after, sizes=sizes, brokers=FOUR)


def nothing() -> Transfers:
    """Two partitions that stay."""
    stays = {"t": Assignment(np.arange(2, dtype=np.int32), padded([[101], [105]]))}
    return transfers(stays, stays, sizes={"t": np.array([1, 2], np.int64)}, brokers=FOUR[:2])


def kafkas_own() -> Transfers:
    """The proposal of `--generate` for the captured cluster, on which nothing had changed."""
    cluster = assembled(
        "captured",
        brokers=sample("kafka-broker-api-versions.txt"),
        topics=sample("kafka-topics-describe.txt"),
        log_dirs=sample("kafka-log-dirs-describe.txt"),
    ).cluster
    proposed = sorted(
        reassignment.read(sample("reassignment-proposed.json")).partitions, key=attrgetter("topic", "partition")
    )
    after = {}
    for topic, group in groupby(proposed, key=attrgetter("topic")):
        listed = list(group)
        ids = np.array([its.partition for its in listed], np.int32)
        after[topic] = Assignment(ids, padded([its.replicas for its in listed]))
    return transfers(
        {topic.name: topic.assignment for topic in cluster.topics},
        after,
        sizes={topic.name: topic.size_bytes for topic in cluster.topics},
        brokers=cluster.brokers,
    )
