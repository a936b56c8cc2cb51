"""Movement by Kafka's own tool: the same as running it and counting, for each seed."""

from collections.abc import Mapping, Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.core.jvm import JavaRandom
from app.core.kafka_versions import KafkaVersion
from app.core.model import Broker, NewTopic, padded, unpadded
from app.core.replicas import admin_utils
from app.core.replicas.generate_movement import CurrentTopic, movement_by_seed
from app.errors.kafka import BrokersWithoutRack, InvalidReplicationFactor
from tests.conformance.generate import propose
from tests.profiles import costly

BROKERS = [Broker(number, f"r{number % 3}") for number in range(7)]
V4_0, V4_1 = KafkaVersion(4, 0), KafkaVersion(4, 1)
lists = st.permutations(range(7)).flatmap(lambda order: st.integers(1, 3).map(lambda size: list(order[:size])))
partitions = st.lists(st.tuples(lists, st.integers(0, 50)), min_size=1, max_size=6)
clusters = st.dictionaries(st.text("abc.-", min_size=1, max_size=4), partitions, min_size=1, max_size=5)
Lists = Mapping[str, Sequence[tuple[list[int], int]]]


def topics_of(cluster: Lists) -> dict[str, CurrentTopic]:
    return {
        name: CurrentTopic(padded([row for row, _ in rows]), np.array([size for _, size in rows], np.int64))
        for name, rows in cluster.items()
    }


def counted(cluster: Lists, proposed: Mapping[str, list[list[int]]]) -> tuple[int, int]:
    """Replicas on brokers that do not have them, one by one, and their bytes."""
    moved = [
        (len(set(new) - set(old)), size)
        for name, rows in cluster.items()
        for (old, size), new in zip(rows, proposed[name], strict=True)
    ]
    return sum(copies for copies, _ in moved), sum(copies * size for copies, size in moved)


class TestLaws:
    @costly()
    @given(clusters, st.lists(st.integers(0, 2**48 - 1), min_size=1, max_size=3), st.booleans())
    def test_since_4_1_it_is_the_replay_of_each_seed(self, cluster: Lists, seeds: list[int], is_aware: bool) -> None:
        replicas, size_bytes = movement_by_seed(
            BROKERS, topics_of(cluster), seeds, version=V4_1, is_rack_aware=is_aware
        )
        for seed, *moved in zip(seeds, replicas.tolist(), size_bytes.tolist(), strict=True):
            factors = [(name, [len(row) for row, _ in rows]) for name, rows in cluster.items()]
            proposed = propose(BROKERS, range(7), factors, random=JavaRandom(seed), is_rack_aware=is_aware)
            expected = counted(cluster, {name: unpadded(rows) for name, rows in proposed.items()})
            assert tuple(moved) == expected

    @given(clusters, st.integers(0, 2**48 - 1))
    def test_before_4_1_it_is_admin_utils(self, cluster: Lists, seed: int) -> None:
        replicas, size_bytes = movement_by_seed(BROKERS, topics_of(cluster), [seed], version=V4_0)
        random = JavaRandom(seed)
        proposed = {
            name: admin_utils.place(
                BROKERS, NewTopic(name, len(rows), len(rows[0][0])), random=random
            ).replicas.tolist()
            for name, rows in cluster.items()
        }
        assert (replicas[0], size_bytes[0]) == counted(cluster, proposed)

    @given(clusters)
    def test_a_single_broker_that_has_everything_moves_nothing(self, cluster: Lists) -> None:
        alone = {name: [([3], size) for _, size in rows] for name, rows in cluster.items()}
        for version in (V4_0, V4_1):
            moved = movement_by_seed([Broker(3)], topics_of(alone), [1, 2], version=version)
            assert [each.tolist() for each in moved] == [[0, 0], [0, 0]]


class TestRejections:
    @pytest.mark.parametrize("version", [V4_0, V4_1])
    def test_what_the_tool_rejects(self, version: KafkaVersion) -> None:
        topics = topics_of({"t": [([0, 1, 2], 1)]})
        with pytest.raises(InvalidReplicationFactor):
            movement_by_seed(BROKERS[:2], topics, [1], version=version)
        with pytest.raises(BrokersWithoutRack):
            movement_by_seed([*BROKERS, Broker(9)], topics, [1], version=version)
        assert len(movement_by_seed([*BROKERS, Broker(9)], topics, [1], version=version, is_rack_aware=False)) == 2
