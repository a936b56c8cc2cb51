"""Folds and partitioners: every answer is a partition, and the clients' differences are reproduced."""

import subprocess
import sys
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.core.keys import hashes, partitioners
from app.core.keys.model import Keys, keys_of
from app.core.keys.null_keys import NULL_KEY_POLICIES
from app.core.keys.partitioners import (
    CLIENTS,
    PARTITIONERS,
    WITHOUT_KEY,
    Partitioner,
    disagreements,
    partition,
    register,
)
from app.core.model import INT32_MAX, Int32s
from app.errors.kafka import InvalidPartitions

LEAST = -(2**31)
int32s = st.integers(LEAST, 2**31 - 1)
values = st.lists(st.none() | st.binary(max_size=40), max_size=30)


def array(*numbers: int) -> Int32s:
    return np.array(numbers, np.int32)


class TestFolds:
    """32 bits, and the remainder of Java, Go and C: it takes the sign of the dividend."""

    @given(st.lists(int32s), st.integers(1, INT32_MAX))
    def test_each_fold_is_its_formula(self, numbers: list[int], partitions: int) -> None:
        hashed = array(*numbers)
        assert partitioners.of_positive(hashed, partitions).tolist() == [(n & 0x7FFFFFFF) % partitions for n in numbers]
        assert partitioners.of_unsigned(hashed, partitions).tolist() == [(n & 0xFFFFFFFF) % partitions for n in numbers]
        assert partitioners.abs_of_remainder(hashed, partitions).tolist() == [abs(n) % partitions for n in numbers]
        of_abs = [-(2**31 % partitions) if n == LEAST else abs(n) % partitions for n in numbers]
        assert partitioners.of_abs(hashed, partitions).tolist() == of_abs

    def test_abs_of_the_least_number_stays_negative(self) -> None:
        """There is no +2³¹; a mask drops the sign bit instead."""
        assert partitioners.of_positive(array(LEAST, -5, 5), 2**31 - 1).tolist() == [0, 2147483643, 5]
        assert partitioners.of_abs(array(LEAST, -5, 5), 7).tolist() == [-2, 5, 5]
        assert partitioners.of_abs(array(LEAST), 8).tolist() == [0]


class TestPartitioners:
    """The registry."""

    @given(values, st.integers(1, INT32_MAX), st.sampled_from(sorted(PARTITIONERS)))
    def test_a_key_has_one_partition_of_those_there_are(
        self, listed: list[bytes | None], partitions: int, name: str
    ) -> None:
        """Or none, where it counts for no key; nothing but abs makes another negative number."""
        partitioner = PARTITIONERS[name]
        placed = partition(partitioner, keys_of(listed), partitions)
        again = partition(partitioner, keys_of([*listed[::-1], b"another"]), partitions)[:-1][::-1]
        assert placed.dtype == np.int32
        assert placed.tolist() == again.tolist()
        for value, where in zip(listed, placed.tolist(), strict=True):
            goes_by_key = value is not None and not (partitioner.empty_is_null and not value)
            if name in ("random", "round_robin"):
                assert where == WITHOUT_KEY
            elif goes_by_key or partitioner.null_keys is None:
                assert where < partitions
                assert where >= 0 or name == "murmur2_abs"
            else:
                assert where == WITHOUT_KEY

    def test_java_and_librdkafka_disagree_about_a_known_key(self) -> None:
        """KafkaJS issue 357: 12 partitions, KafkaJS says 6, Java 9."""
        key = keys_of([b"100:48069"])
        assert partition(PARTITIONERS["kafkajs_legacy"], key, 12).tolist() == [6]
        assert partition(PARTITIONERS["murmur2_adaptive"], key, 12).tolist() == [9]

    def test_null_and_empty_keys(self) -> None:
        """librdkafka issue 4510: `consistent_random` takes an empty key for none, `murmur2_random` does not."""
        keys = keys_of([None, b""])
        assert partition(PARTITIONERS["consistent_random"], keys, 10).tolist() == [WITHOUT_KEY] * 2
        assert partition(PARTITIONERS["murmur2_random"], keys, 10).tolist() == [WITHOUT_KEY, 275646681 % 10]
        assert partition(PARTITIONERS["murmur2"], keys, 10).tolist() == [275646681 % 10] * 2
        assert partition(PARTITIONERS["consistent"], keys, 10).tolist() == [0, 0]

    def test_the_key_that_had_a_negative_partition(self) -> None:
        """Sarama pull request 709: the hash is −2³¹; since then the remainder is made positive, not the hash."""
        key = keys_of([b"1468509572224"])
        assert partition(PARTITIONERS["fnv1a_random"], key, 50).tolist() == [2**31 % 50]
        assert partition(PARTITIONERS["fnv1a_positive"], key, 50).tolist() == [0]

    @pytest.mark.parametrize("partitions", [0, -1, 2**31])
    def test_no_topic_has_so_many(self, partitions: int) -> None:
        with pytest.raises(InvalidPartitions) as caught:
            partition(PARTITIONERS["murmur2"], keys_of([b"a"]), partitions)
        assert caught.value.path == ("partitions",)

    def test_names_policies_and_summaries(self) -> None:
        for name, partitioner in PARTITIONERS.items():
            assert name == partitioner.name
            assert partitioner.summary
            assert partitioner.null_keys is None or partitioner.null_keys in NULL_KEY_POLICIES


class TestRegistration:
    """A partitioner of one's own."""

    PROGRAM = """
from app.core.keys.model import keys_of
from app.core.keys.partitioners import PARTITIONERS, Partitioner, partition, register
register(Partitioner("by_length", "the key's length", lambda keys, n: keys.lengths % n, "random"))
print(partition(PARTITIONERS["by_length"], keys_of([b"abcde", None]), 3).tolist())
"""

    def test_it_is_found_by_its_name(self) -> None:
        """In a process of its own, since the registry is one for all."""
        ran = subprocess.run([sys.executable, "-c", self.PROGRAM], capture_output=True, text=True, check=True)
        assert ran.stdout.strip() == f"[2, {WITHOUT_KEY}]"

    def test_a_name_is_taken_once(self) -> None:
        with pytest.raises(ValueError, match="already"):
            register(PARTITIONERS["murmur2"])

    def test_a_policy_has_to_be_known(self) -> None:
        with pytest.raises(ValueError, match="round_robin"):
            register(replace(PARTITIONERS["murmur2"], name="mine", null_keys="whatever"))
        assert "mine" not in PARTITIONERS

    def test_it_has_to_answer_for_every_key(self) -> None:
        def forgetful(_: Keys, __: int) -> Int32s:
            return array(1)

        with pytest.raises(ValueError, match="2 keys"):
            partition(Partitioner("forgetful", "", forgetful, None), keys_of([b"a", b"b"]), 3)


class TestClients:
    """The table of libraries."""

    def test_every_row_names_a_partitioner_and_its_source(self) -> None:
        for client in CLIENTS:
            assert client.partitioner in PARTITIONERS
            assert client.source

    def test_a_library_has_one_default_at_a_time(self) -> None:
        """Rows of a library follow each other; only the last one lasts."""
        for library in {client.library for client in CLIENTS}:
            rows = [client for client in CLIENTS if client.library == library]
            assert all(row.until for row in rows[:-1])
            assert all(row.since for row in rows[1:])
            assert rows[-1].until is None


class TestAgreement:
    """Two partitioners over the same keys."""

    def test_counts_by_hand(self) -> None:
        placed = {"a": array(1, 2, 3, WITHOUT_KEY), "b": array(1, 0, WITHOUT_KEY, WITHOUT_KEY), "c": array(1, 2, 3, 4)}
        first, second, third = disagreements(placed)
        assert (first.first, first.second, first.keys, first.differing_keys, first.one_sided) == ("a", "b", 2, 1, 1)
        assert first.differing_share == 0.5
        assert first.examples == (1, 2)
        assert (second.keys, second.differing_keys, second.one_sided) == (3, 0, 1)
        assert (third.first, third.second, third.examples) == ("b", "c", (1, 2, 3))

    def test_java_since_0_8_2_agrees_with_itself_and_hardly_with_librdkafka(self) -> None:
        """Unrelated hashes meet on one key in as many as there are partitions."""
        keys = keys_of([b"key-%d" % number for number in range(20_000)])
        names = ["murmur2_round_robin", "murmur2_sticky", "consistent_random"]
        placed = {name: partition(PARTITIONERS[name], keys, 10) for name in names}
        same, one, other = disagreements(placed)
        assert same.differing_keys == 0
        assert one.differing_keys == other.differing_keys
        assert one.differing_share == pytest.approx(0.9, abs=0.02)
        assert len(one.examples) == 10

    def test_nothing_to_compare(self) -> None:
        (only,) = disagreements({"a": array(), "b": array()})
        assert (only.keys, only.differing_share, only.examples) == (0, 0.0, ())


def test_half_of_the_keys_differ_between_abs_and_mask() -> None:
    """Those whose hash is negative: |h| is 2³¹ − (h & 0x7fffffff)."""
    keys = keys_of([b"key-%d" % number for number in range(2000)])
    negative = hashes.murmur2(keys) < 0
    mask, absolute = (partition(PARTITIONERS[name], keys, 1009) for name in ("murmur2_sticky", "murmur2_abs"))
    assert ((mask != absolute) <= negative).all()
    assert (mask != absolute).sum() > 0.99 * negative.sum()
