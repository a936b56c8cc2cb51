"""The striped placer: its constraints as laws, a plain model of it, placements worked by hand, then the vectors."""

import json
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.core.jvm import JavaHashMap, JavaRandom, hashes
from app.core.model import Broker, NewTopic
from app.core.replicas import striped
from app.errors.kafka import InvalidPartitions, InvalidReplicationFactor, KafkaRefuses

VECTORS = Path(__file__).parents[1] / "vectors"
SEEDS = st.integers(-(2**63), 2**63 - 1)
RACKS = st.sampled_from([None, "", "a", "b", "rack10", "rack2", "Aa", "BB"])


@st.composite
def clusters(draw: st.DrawFn) -> list[Broker]:
    """Brokers with and without racks, some fenced, at least one not; racks "Aa" and "BB" have one hash."""
    racks = draw(st.lists(RACKS, min_size=1, max_size=8, unique=True))
    count = draw(st.integers(1, 10))
    brokers = [Broker(i, draw(st.sampled_from(racks)), fenced=draw(st.integers(0, 3)) == 0) for i in range(count)]
    brokers[0] = Broker(0, brokers[0].rack)
    return draw(st.permutations(brokers))


class Modelled:
    """The placer as its description reads, list by list, for one topic."""

    class List:
        def __init__(self) -> None:
            self.ids: list[int] = []
            self.taken = self.offset = self.epoch = 0

        def next(self, epoch: int) -> int | None:
            if not self.ids:
                return None
            if self.epoch != epoch:
                self.epoch, self.taken, self.offset = epoch, 0, (self.offset + 1) % len(self.ids)
            if self.taken == len(self.ids):
                return None
            self.taken += 1
            return self.ids[(self.taken - 1 + self.offset) % len(self.ids)]

    def __init__(self, brokers: list[Broker], random: JavaRandom) -> None:
        self.random = random
        self.racks: JavaHashMap[str | None, dict[bool, Modelled.List]] = JavaHashMap(hashes.OPTIONAL_STRING)
        for broker in brokers:
            lists = self.racks.setdefault(broker.rack, {True: self.List(), False: self.List()})
            lists[broker.fenced].ids.append(broker.id)
        for name in self.racks:
            for a_list in self.racks[name].values():
                a_list.ids.sort()
                a_list.offset = random.next_int(len(a_list.ids)) if a_list.ids else 0
        self.names = sorted(self.racks, key=lambda name: b"" if name is None else b"\0" + hashes.utf16_order(name))
        self.unfenced = sum(not broker.fenced for broker in brokers)
        self.begin = random.next_int(len(self.names))
        self.epoch = 0

    def row(self, factor: int) -> list[int]:
        if self.epoch == self.unfenced > 1:
            self.random.shuffle(self.names)
            for name in self.racks:
                self.random.shuffle(self.racks[name][True].ids)
                self.random.shuffle(self.racks[name][False].ids)
            self.epoch = 0
        turn = [self.names[(self.begin + i) % len(self.names)] for i in range(len(self.names))]
        for name in turn:
            leader = self.racks[name][False].next(self.epoch)
            if leader is not None:
                break
        row = [leader]
        pass_over: object = name
        while len(row) < factor:
            for visited in turn:
                if visited == pass_over:
                    pass_over = self
                elif len(row) < factor:
                    unfenced = self.racks[visited][False].next(self.epoch)
                    replica = unfenced if unfenced is not None else self.racks[visited][True].next(self.epoch)
                    row += [] if replica is None else [replica]
        self.epoch += 1
        self.begin += 1
        return [replica for replica in row if replica is not None]


class TestLaws:
    @given(brokers=clusters(), seed=SEEDS, data=st.data())
    def test_places_as_described(self, brokers: list[Broker], seed: int, data: st.DataObject) -> None:
        """Row by row, and the generator is left where the description leaves it."""
        topic = NewTopic("t", data.draw(st.integers(0, 60)), data.draw(st.integers(1, len(brokers))))
        random, model_random = JavaRandom(seed), JavaRandom(seed)
        placed = striped.place(brokers, topic, random=random)
        model = Modelled(brokers, model_random)
        assert placed.replicas.tolist() == [model.row(topic.replication_factor) for _ in range(topic.partitions)]
        assert random.state == model_random.state

    @given(brokers=clusters(), seed=SEEDS, data=st.data())
    def test_replicas_are_distinct_and_leaders_unfenced(
        self, brokers: list[Broker], seed: int, data: st.DataObject
    ) -> None:
        topic = NewTopic("t", data.draw(st.integers(0, 60)), data.draw(st.integers(1, len(brokers))))
        placed = striped.place(brokers, topic, random=JavaRandom(seed))
        fenced = {broker.id for broker in brokers if broker.fenced}
        assert placed.replicas.shape == (topic.partitions, topic.replication_factor)
        assert placed.replicas.dtype == np.int32
        assert all(len(set(row)) == len(row) for row in placed.replicas.tolist())
        assert fenced.isdisjoint(placed.replicas[:, 0].tolist())

    @given(racks=st.integers(1, 5), a_rack=st.integers(1, 4), rounds=st.integers(0, 5), seed=SEEDS)
    def test_equal_racks_share_equally(self, racks: int, a_rack: int, rounds: int, seed: int) -> None:
        """Racks of one size, a replica in each: every broker gets as many, whatever the random offsets are."""
        brokers = [Broker(i, f"rack{i % racks}") for i in range(racks * a_rack)]
        topic = NewTopic("t", rounds * len(brokers), racks)
        placed = striped.place(brokers, topic, random=JavaRandom(seed))
        assert all(len({replica % racks for replica in row}) == racks for row in placed.replicas.tolist())
        assert set(np.bincount(placed.replicas.ravel(), minlength=len(brokers)).tolist()) == {rounds * racks}

    @given(brokers=st.integers(1, 8), factor=st.integers(1, 8), seed=SEEDS)
    def test_without_racks_every_broker_leads_as_often(self, brokers: int, factor: int, seed: int) -> None:
        placed = striped.place(
            [Broker(i) for i in range(brokers)],
            NewTopic("t", 5 * brokers, min(factor, brokers)),
            random=JavaRandom(seed),
        )
        assert Counter(placed.replicas[:, 0].tolist()) == dict.fromkeys(range(brokers), 5)

    @given(brokers=clusters(), seed=SEEDS, partitions=st.lists(st.integers(0, 30), max_size=4))
    def test_topics_share_one_generator(self, brokers: list[Broker], seed: int, partitions: list[int]) -> None:
        """Each topic begins with lists and racks of its own; the number of its first partition changes nothing."""
        random, model_random = JavaRandom(seed), JavaRandom(seed)
        for index, count in enumerate(partitions):
            topic = NewTopic(f"t{index}", count, 1 + index % len(brokers), index)
            placed = striped.place(brokers, topic, random=random)
            model = Modelled(brokers, model_random)
            assert (placed.topic, placed.first_partition_id) == (topic.name, index)
            assert placed.replicas.tolist() == [model.row(topic.replication_factor) for _ in range(count)]


class TestExamples:
    BROKERS = (Broker(0, "a"), Broker(1, "a"), Broker(2, "b"), Broker(3, "b"), Broker(4, "c"), Broker(5, "c"))

    def test_stripes(self) -> None:
        """Worked by hand in the module's docstring, where all offsets are 0; some seed draws those."""
        rows = [[0, 2, 4], [3, 5, 1], [4, 0, 2]]
        topic = NewTopic("t", 3, 3)
        assert any(
            striped.place(self.BROKERS, topic, random=JavaRandom(seed * 2**40)).replicas.tolist() == rows
            for seed in range(1000)
        )

    def test_a_fenced_broker_is_used_only_where_its_rack_has_no_other(self) -> None:
        brokers = [Broker(0, "a"), Broker(1, "a", fenced=True), Broker(2, "b", fenced=True), Broker(3, "c")]
        placed = striped.place(brokers, NewTopic("t", 100, 3), random=JavaRandom(1)).replicas
        assert set(placed[:, 0].tolist()) == {0, 3}
        assert (np.sort(placed, axis=1) == [0, 2, 3]).all()

    def test_one_unfenced_broker_leads_all_and_nothing_is_reshuffled(self) -> None:
        brokers = [Broker(0, "a", fenced=True), Broker(1, "b")]
        random, untouched = JavaRandom(1), JavaRandom(1)
        assert striped.place(brokers, NewTopic("t", 9, 2), random=random).replicas.tolist() == [[1, 0]] * 9
        # One offset for each rack's list, and one for the racks.
        for bound in (1, 1, 2):
            untouched.next_int(bound)
        assert random.state == untouched.state

    def test_the_empty_name_is_a_rack_and_none_sorts_before_it(self) -> None:
        racks = striped.Racks.of([Broker(2, "\uff5e"), Broker(3, "\U0001f600"), Broker(1, ""), Broker(0)])
        assert racks.members.tolist() == [0, 1, 3, 2]

    def test_an_id_that_comes_twice_is_used_twice(self) -> None:
        assert striped.place([Broker(7), Broker(7)], NewTopic("t", 1, 2), random=JavaRandom(0)).replicas.tolist() == [
            [7, 7]
        ]


class TestRejections:
    BROKERS = (Broker(0, "a"), Broker(1, "b"), Broker(2, "c"))
    FENCED = (Broker(0, "a", fenced=True),)

    @pytest.mark.parametrize(
        ("brokers", "factor", "message"),
        [
            (BROKERS, 0, "Invalid replication factor 0: the replication factor must be positive."),
            (BROKERS, 2**15, "Invalid replication factor -32768: the replication factor must be positive."),
            (FENCED, 0, "Invalid replication factor 0: the replication factor must be positive."),
            (FENCED, 2, "All brokers are currently fenced."),
            ((), 1, "All brokers are currently fenced."),
            (
                BROKERS,
                4,
                "The target replication factor of 4 cannot be reached because only 3 broker(s) are registered.",
            ),
        ],
    )
    def test_replication_factor(self, brokers: tuple[Broker, ...], factor: int, message: str) -> None:
        with pytest.raises(InvalidReplicationFactor) as caught:
            striped.place(brokers, NewTopic("t", -1, factor), random=JavaRandom(0))
        assert caught.value.kafka.exception == "InvalidReplicationFactorException"
        assert caught.value.kafka.message == message
        assert caught.value.path == ("replication_factor",)
        assert caught.value.context["value"] == factor

    def test_a_factor_has_16_bits(self) -> None:
        placed = striped.place(self.BROKERS, NewTopic("t", 4, 2**16 + 3), random=JavaRandom(0))
        assert placed.replicas.shape == (4, 3)

    def test_negative_partitions(self) -> None:
        with pytest.raises(InvalidPartitions) as caught:
            striped.place(self.BROKERS, NewTopic("t", -1, 1), random=JavaRandom(0))
        assert caught.value.kafka.exception == "IllegalArgumentException"
        assert caught.value.path == ("partitions",)

    @pytest.mark.parametrize(("partitions", "factor"), [(1, 0), (1, 4), (-1, 1)])
    def test_a_failure_has_consumed_random_numbers_for_the_offsets(self, partitions: int, factor: int) -> None:
        """Three racks of one broker: nextInt(1) three times, then nextInt(3)."""
        random, expected = JavaRandom(5), JavaRandom(5)
        with pytest.raises(KafkaRefuses):
            striped.place(self.BROKERS, NewTopic("t", partitions, factor), random=random)
        for bound in (1, 1, 1, 3):
            expected.next_int(bound)
        assert random.state == expected.state

    def test_an_empty_cluster_draws_nothing(self) -> None:
        random = JavaRandom(5)
        with pytest.raises(InvalidReplicationFactor):
            striped.place([], NewTopic("t", 1, 1), random=random)
        assert random.state == JavaRandom(5).state


def test_a_million_partitions_keep_the_constraints() -> None:
    brokers = [Broker(i, f"rack{min(2, i // 5)}", fenced=i % 6 == 5) for i in range(30)]
    placed = striped.place(brokers, NewTopic("t", 1_000_000, 3), random=JavaRandom(1)).replicas
    assert not np.isin(placed[:, 0], [i for i in range(30) if i % 6 == 5]).any()
    assert (np.sort(np.minimum(2, placed // 5), axis=1) == [0, 1, 2]).all()


def test_vectors() -> None:
    lines = (VECTORS / "striped_placer.jsonl").read_text(encoding="utf-8").splitlines()
    for case in map(json.loads, lines):
        brokers = [Broker(**broker) for broker in case["input"]["brokers"]]
        random = JavaRandom(case["input"]["random_seed"])
        results = [answer(brokers, placement, random) for placement in case["input"]["placements"]]
        for result, expected in zip(results, case["expected"]["results"], strict=True):
            if expected.get("error") == "IllegalArgumentException":  # its message is the JVM's, not Kafka's
                expected["message"] = None
            assert result == expected, case["name"]


def answer(brokers: list[Broker], placement: dict[str, int], random: JavaRandom) -> dict[str, Any]:
    topic = NewTopic("t", placement["num_partitions"], placement["replication_factor"], placement["start_partition"])
    try:
        return {"replicas": striped.place(brokers, topic, random=random).replicas.tolist()}
    except KafkaRefuses as refusal:
        return {"error": refusal.kafka.exception, "message": refusal.kafka.message}
