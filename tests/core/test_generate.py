"""Proposals of `--generate` since 4.1: laws, and its order of topics by hand."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.core.jvm import JavaRandom
from app.core.model import Broker
from app.core.replicas.striped import SINCE_4_3
from app.errors.kafka import BrokersWithoutRack, InvalidReplicationFactor
from tests.conformance.generate import propose
from tests.kafka_refusals import ListedTwice, TopicToMoveMissing

BROKERS = [Broker(number, rack) for number, rack in enumerate("AABBCC")]
SEEDS = st.integers(-(2**63), 2**63 - 1)


@given(
    topics=st.dictionaries(st.sampled_from(["Aa", "BB", "C#", "t1", "t2"]), st.lists(st.integers(1, 6), max_size=9)),
    seed=SEEDS,
)
def test_each_partition_has_as_many_distinct_brokers_as_one_partition_of_its_topic(
    topics: dict[str, list[int]], seed: int
) -> None:
    proposed = propose(BROKERS, range(6), list(topics.items()), random=JavaRandom(seed))
    assert proposed.keys() == {topic for topic, factors in topics.items() if factors}
    for topic, replicas in proposed.items():
        assert len(replicas) == len(topics[topic])
        assert replicas.shape[1] in topics[topic]
        assert all(len(set(row)) == len(row) for row in replicas.tolist())


@given(seed=SEEDS, order=st.permutations([("Aa", [2, 2]), ("t1", [3]), ("t2", [1])]))
def test_the_order_of_the_file_is_of_no_influence_unless_names_share_a_bin(
    seed: int, order: list[tuple[str, list[int]]]
) -> None:
    proposed, sorted_first = (
        propose(BROKERS, range(6), topics, random=JavaRandom(seed)) for topics in (order, sorted(order))
    )
    assert {topic: replicas.tolist() for topic, replicas in proposed.items()} == {
        topic: replicas.tolist() for topic, replicas in sorted_first.items()
    }


def test_only_listed_brokers_of_the_cluster_are_used() -> None:
    proposed = propose(BROKERS, [0, 2, 99], [("t", [2] * 8)], random=JavaRandom(1))
    assert set(np.unique(proposed["t"]).tolist()) == {0, 2}


def test_what_kafka_rejects_is_named_in_its_order() -> None:
    mixed = [Broker(0, "A"), Broker(1, None)]
    with pytest.raises(ListedTwice, match="0 is listed twice"):
        propose(mixed, [0, 1, 0], [("t", None), ("t", None)], random=JavaRandom(1))
    with pytest.raises(ListedTwice, match="t is listed twice"):
        propose(mixed, [0, 1], [("t", None), ("t", None)], random=JavaRandom(1))
    with pytest.raises(TopicToMoveMissing):
        propose(mixed, [0, 1], [("t", None)], random=JavaRandom(1))
    with pytest.raises(BrokersWithoutRack):
        propose(mixed, [0, 1], [("t", [3])], random=JavaRandom(1))
    with pytest.raises(InvalidReplicationFactor) as failure:
        propose(mixed, [0, 1], [("t", [3])], random=JavaRandom(1), is_rack_aware=False, rejections=SINCE_4_3)
    assert "cordoned" in (failure.value.kafka.message or "")
