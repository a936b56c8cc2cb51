"""AdminUtils: KIP-36's promises as laws, its own example, and an obvious walk that the fast one has to equal."""

import numpy as np
import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st

from app.core.jvm import JavaRandom
from app.core.model import INT32_MAX, Broker, NewTopic, Placement
from app.core.replicas import admin_utils
from app.errors.kafka import ArithmeticOverflow, BrokersWithoutRack, InvalidPartitions, InvalidReplicationFactor
from tests.profiles import costly

KIP_36 = [
    Broker(0, "rack1"), Broker(1, "rack3"), Broker(2, "rack3"),
    Broker(3, "rack2"), Broker(4, "rack2"), Broker(5, "rack1"),
]  # fmt: skip


@st.composite
def clusters(draw: st.DrawFn, *, racked: bool | None = None, most: int = 12) -> list[Broker]:
    """Distinct brokers in any order; all with a rack, or none."""
    ids = draw(st.lists(st.integers(0, 5000), min_size=1, max_size=most, unique=True))
    has_racks = draw(st.booleans()) if racked is None else racked
    names = st.sampled_from(["a", "b", "c", "rack2", "rack10", "", "é", "\U0001f600", "\uffff"])
    return [Broker(broker, draw(names) if has_racks else None) for broker in ids]


@st.composite
def even_clusters(draw: st.DrawFn) -> list[Broker]:
    """Racks of equal size."""
    racks, size = draw(st.integers(1, 5)), draw(st.integers(1, 4))
    ids = draw(st.permutations(range(racks * size)))
    return [Broker(broker, f"rack{index % racks}") for index, broker in enumerate(ids)]


def place(brokers: list[Broker], partitions: int, factor: int, *, seed: int = 0, start: int = 0) -> Placement:
    """A topic placed with a random start."""
    return admin_utils.place(brokers, NewTopic("t", partitions, factor, start), random=JavaRandom(seed))


def racks_of(brokers: list[Broker], row: list[int]) -> list[str | None]:
    """The rack of each replica of a partition."""
    rack_of = {broker.id: broker.rack for broker in brokers}
    return [rack_of[broker] for broker in row]


class TestPromisesOfKip36:
    """The KIP's rules for every assignment, whatever the random start is."""

    @given(clusters(), st.data(), st.integers(0, 2**63 - 1))
    def test_no_broker_holds_two_replicas_of_a_partition(
        self, brokers: list[Broker], data: st.DataObject, seed: int
    ) -> None:
        factor = data.draw(st.integers(1, len(brokers)))
        for row in place(brokers, 40, factor, seed=seed, start=data.draw(st.integers(0, 100))).replicas.tolist():
            assert len(set(row)) == factor

    @given(clusters(), st.integers(1, 5), st.integers(0, 2**63 - 1))
    def test_leaders_are_equal_where_partitions_are_a_multiple_of_brokers(
        self, brokers: list[Broker], rounds: int, seed: int
    ) -> None:
        leaders = place(brokers, rounds * len(brokers), 1, seed=seed).replicas[:, 0]
        assert sorted(np.unique(leaders, return_counts=True)[1]) == [rounds] * len(brokers)

    @given(even_clusters(), st.data(), st.integers(0, 2**63 - 1))
    def test_replicas_are_equal_where_racks_are_of_one_size_and_as_many_as_replicas(
        self, brokers: list[Broker], data: st.DataObject, seed: int
    ) -> None:
        racks = len({broker.rack for broker in brokers})
        rounds = data.draw(st.integers(1, 4))
        replicas = place(brokers, rounds * len(brokers), racks, seed=seed).replicas
        assert set(np.unique(replicas, return_counts=True)[1].tolist()) == {rounds * racks}

    @given(clusters(racked=True), st.data(), st.integers(0, 2**63 - 1))
    def test_a_rack_holds_at_most_one_replica_where_there_are_enough_racks(
        self, brokers: list[Broker], data: st.DataObject, seed: int
    ) -> None:
        factor = data.draw(st.integers(1, len({broker.rack for broker in brokers})))
        for row in place(brokers, 40, factor, seed=seed).replicas.tolist():
            assert len(set(racks_of(brokers, row))) == factor

    @costly()
    @given(clusters(racked=True), st.data(), st.integers(0, 2**63 - 1))
    def test_every_rack_holds_a_replica_where_there_are_enough_replicas(
        self, brokers: list[Broker], data: st.DataObject, seed: int
    ) -> None:
        racks = {broker.rack for broker in brokers}
        factor = data.draw(st.integers(len(racks), len(brokers)))
        for row in place(brokers, 40, factor, seed=seed).replicas.tolist():
            assert set(racks_of(brokers, row)) == racks


class TestContinuation:
    """`start_partition_id` adds partitions to a topic."""

    @given(clusters(), st.integers(1, 60), st.integers(1, 60), st.integers(0, 1000))
    def test_placing_in_two_steps_from_a_fixed_start_is_placing_at_once(
        self, brokers: list[Broker], first: int, more: int, index: int
    ) -> None:
        """Holds because the shift counts ids from 0 on; the second step begins with the first one's result."""
        n = len(brokers)
        line = admin_utils.BrokerWalk.of(brokers)
        factor = min(n, 3)
        at_once = line.rows(first + more, factor, first=0, start=index, shift=index)
        second = line.rows(more, factor, first=first, start=index, shift=index + (first - 1) // n)
        np.testing.assert_array_equal(at_once[first:], second)

    def test_the_shift_grows_with_partition_ids_and_not_with_rounds_since_the_start(self) -> None:
        """Partition 6 starts a new block of the six brokers, although it is only the third placed."""
        topic = NewTopic("t", 3, 3, start_partition_id=4)
        placement = admin_utils.place(KIP_36, topic, random=JavaRandom(0), fixed_start_index=0)
        assert placement.first_partition_id == 4
        assert placement.replicas.tolist() == [[4, 2, 0], [2, 0, 3], [0, 4, 2]]

    def test_below_zero_means_zero(self) -> None:
        topic = NewTopic("t", 1, 1, start_partition_id=-5)
        assert admin_utils.place(KIP_36, topic, random=JavaRandom(0), fixed_start_index=0).first_partition_id == 0


class TestWorkedExample:
    """The example of KIP-36: six brokers, factor 3."""

    def test_the_list_alternates_by_rack(self) -> None:
        assert admin_utils.rack_alternated(KIP_36) == [0, 3, 1, 5, 4, 2]

    def test_racks_sort_as_java_strings(self) -> None:
        """By UTF-16 units: rack10 before rack2, and a surrogate pair before U+FFFF."""
        brokers = [Broker(1, "rack2"), Broker(2, "rack10"), Broker(3, "\uffff"), Broker(4, "\U0001f600")]
        assert admin_utils.rack_alternated(brokers) == [2, 1, 4, 3]

    def test_rows(self) -> None:
        placement = admin_utils.place(KIP_36, NewTopic("t", 7, 3), random=JavaRandom(0), fixed_start_index=0)
        assert placement.replicas.tolist() == [
            [0, 3, 1],
            [3, 1, 5],
            [1, 5, 4],
            [5, 4, 2],
            [4, 2, 0],
            [2, 0, 3],
            [0, 4, 2],
        ]

    def test_without_racks_the_callers_order_counts(self) -> None:
        brokers = [Broker(7), Broker(3), Broker(9)]
        placement = admin_utils.place(brokers, NewTopic("t", 4, 2), random=JavaRandom(0), fixed_start_index=1)
        assert placement.replicas.tolist() == [[3, 7], [9, 3], [7, 9], [3, 9]]


class TestRejections:
    """Kafka's checks, in Kafka's order."""

    def test_partitions_come_before_the_factor(self) -> None:
        with pytest.raises(InvalidPartitions, match="0 given") as raised:
            place([], 0, 0)
        assert raised.value.kafka.exception == "InvalidPartitionsException"

    @pytest.mark.parametrize(("factor", "detail"), [(0, "factor 0 given"), (-1, "factor -1 given"), (3, "2 given")])
    def test_factor(self, factor: int, detail: str) -> None:
        with pytest.raises(InvalidReplicationFactor, match=detail):
            place([Broker(1), Broker(2, "a")], 1, factor)

    def test_one_broker_with_a_rack_makes_it_mandatory_even_at_factor_one(self) -> None:
        with pytest.raises(BrokersWithoutRack, match="2 of 3 brokers have no rack: 1, 3") as raised:
            place([Broker(1), Broker(2, "a"), Broker(3)], 1, 1)
        assert raised.value.context["brokers"] == [1, 3]

    def test_a_refusal_draws_nothing(self) -> None:
        random, untouched = JavaRandom(5), JavaRandom(5)
        with pytest.raises(InvalidReplicationFactor):
            admin_utils.place([Broker(1)], NewTopic("t", 1, 2), random=random)
        assert random.state == untouched.state


# -- the same again, as slowly and obviously as Java does it ------------------------------------------------------


def int32(value: int) -> int:
    """Wrap as a Java int."""
    return (value + 2**31) % 2**32 - 2**31


def remainder(value: int, divisor: int) -> int:
    """Java's %."""
    return abs(value) % divisor * (1 if value >= 0 else -1)


LONGEST_WALK = 10_000


def obvious(brokers: list[Broker], partitions: int, factor: int, *, start: int, first: int) -> list[list[int]] | None:
    """The rows, or None where an index is negative."""
    rack_of = {broker.id: broker.rack for broker in brokers}
    is_aware = brokers[0].rack is not None
    line = admin_utils.rack_alternated(brokers) if is_aware else [broker.id for broker in brokers]
    racks, n = len(set(rack_of.values())), len(line)
    rows, partition, shift = [], first, start
    for _ in range(partitions):
        if partition > 0 and partition % n == 0:
            shift = int32(shift + 1)
        leader = remainder(int32(partition + start), n)
        row: list[int] = []
        step = 0
        position = leader
        while True:
            if position < 0:
                return None
            candidate = line[position]
            used = {rack_of[broker] for broker in row}
            if not is_aware or ((rack_of[candidate] not in used or len(used) == racks) and candidate not in row):
                row.append(candidate)
            if len(row) == factor:
                break
            far = int32(int32(shift * (racks if is_aware else 1)) + step)
            position = remainder(leader + 1 + remainder(far, n - 1), n)
            step += 1
            # Past the largest int, a walk may miss brokers until the sum is positive again, after up to 2^31 steps.
            assume(step < LONGEST_WALK)
        rows.append(row)
        partition = int32(partition + 1)
    return rows


@given(
    clusters(most=9),
    st.data(),
    st.integers(1, 90),
    st.one_of(st.integers(0, 200), st.integers(INT32_MAX - 300, INT32_MAX), st.integers(0, INT32_MAX)),
    st.one_of(st.integers(0, 50), st.integers(INT32_MAX - 120, INT32_MAX)),
)
@example([Broker(1), Broker(2)], None, 3, INT32_MAX, 0)
@example([Broker(1, "a"), Broker(2, "b"), Broker(3, "b")], None, 9, INT32_MAX // 2 - 3, 0)
def test_equals_an_obvious_walk_also_where_ints_overflow(
    brokers: list[Broker], data: st.DataObject | None, partitions: int, start: int, first: int
) -> None:
    """The fast one computes a period and copies it, jumps over racks, and wraps only where something may overflow."""
    factor = min(2, len(brokers)) if data is None else data.draw(st.integers(1, len(brokers)))
    expected = obvious(brokers, partitions, factor, start=start, first=first)
    topic = NewTopic("t", partitions, factor, first)
    if expected is None:
        with pytest.raises(ArithmeticOverflow):
            admin_utils.place(brokers, topic, random=JavaRandom(0), fixed_start_index=start)
    else:
        placement = admin_utils.place(brokers, topic, random=JavaRandom(0), fixed_start_index=start)
        assert placement.replicas.tolist() == expected


@pytest.mark.parametrize(
    ("racks", "start", "first", "row"),
    [("abc", INT32_MAX, INT32_MAX - 13, [0, 1, 2]), ("abcab", 1_200_000_000, 7, [2, 3, 1, 0, 4])],
)
def test_a_walk_of_2_to_the_31_steps(racks: str, start: int, first: int, row: list[int]) -> None:
    """Rows that the step by step walk gave, in 3 to 16 s; a sum that stays negative is passed over at once."""
    brokers = [Broker(number, rack) for number, rack in enumerate(racks)]
    topic = NewTopic("t", 1, len(brokers), first)
    placement = admin_utils.place(brokers, topic, random=JavaRandom(0), fixed_start_index=start)
    assert placement.replicas.tolist() == [row]


@given(clusters(most=9), st.data(), st.integers(1, 300), st.integers(0, 40))
def test_a_long_topic_is_its_period_over_and_over(
    brokers: list[Broker], data: st.DataObject, partitions: int, first: int
) -> None:
    factor = data.draw(st.integers(1, len(brokers)))
    topic = NewTopic("t", partitions, factor, first)
    placement = admin_utils.place(brokers, topic, random=JavaRandom(0), fixed_start_index=3)
    assert placement.replicas.tolist() == obvious(brokers, partitions, factor, start=3, first=first)
