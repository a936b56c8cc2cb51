"""Java's Random, hash codes and HashMap order: laws, orders measured on OpenJDK, then the vectors.

The orders written out below were printed by OpenJDK 17 and 25 alike, but where the JDK is named.
"""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any
from uuid import UUID

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.core.jvm import (
    JavaHashMap,
    JavaHashSet,
    JavaPriorityQueue,
    JavaRandom,
    KeyType,
    hash_order,
    hashes,
    independent_seed,
)
from app.core.jvm.hash_map import capacity_for, table_size
from tests.conformance.jvm import KAFKA_UUID, java_uuid, kafka_uuid
from tests.profiles import costly

VECTORS = Path(__file__).parents[1] / "vectors"
INT32 = st.integers(-(2**31), 2**31 - 1)


def vectors(name: str) -> list[dict[str, Any]]:
    lines = (VECTORS / f"{name}.jsonl").read_text(encoding="utf-8").splitlines()
    return [json.loads(line) for line in lines]


def mapped(keys: list[int], *, initial_capacity: int | None = None) -> JavaHashMap[int, int]:
    built: JavaHashMap[int, int] = JavaHashMap(hashes.INTEGER, initial_capacity=initial_capacity)
    for key in keys:
        built[key] = 1
    return built


def computed(keys: list[int], *, initial_capacity: int | None = None) -> JavaHashMap[int, int]:
    built: JavaHashMap[int, int] = JavaHashMap(hashes.INTEGER, initial_capacity=initial_capacity)
    for key in keys:
        built.compute_if_absent(key, lambda: 1)
    return built


class TestRandom:
    @given(seed=st.integers(-(2**63), 2**63 - 1), bound=st.integers(1, 2**31 - 1))
    def test_draws_stay_below_the_bound(self, seed: int, bound: int) -> None:
        assert 0 <= JavaRandom(seed).next_int(bound) < bound

    @given(seed=st.integers(-(2**63), 2**63 - 1), items=st.lists(st.integers()))
    def test_shuffling_keeps_the_items(self, seed: int, items: list[int]) -> None:
        shuffled = list(items)
        JavaRandom(seed).shuffle(shuffled)
        assert sorted(shuffled) == sorted(items)

    def test_only_the_low_48_bits_of_a_seed_count(self) -> None:
        assert JavaRandom(5).next_int32() == JavaRandom(5 + 2**48).next_int32()

    def test_the_state_is_all_there_is(self) -> None:
        """Whoever is handed the state goes on as the generator would have."""
        random, other = JavaRandom(42), JavaRandom(0)
        random.next_int(1000)
        other.state = random.state
        assert [other.next_int32() for _ in range(9)] == [random.next_int32() for _ in range(9)]

    @pytest.mark.parametrize("bound", [0, -1, -(2**31), 2**31])
    def test_rejects_bounds_that_java_rejects(self, bound: int) -> None:
        with pytest.raises(ValueError, match=str(bound)):
            JavaRandom(0).next_int(bound)

    @pytest.mark.parametrize("seed", [2**63, -(2**63) - 1])
    def test_rejects_seeds_that_are_no_long(self, seed: int) -> None:
        with pytest.raises(ValueError, match="64-bit"):
            JavaRandom(seed)

    def test_vectors(self) -> None:
        for case in vectors("java_random"):
            random = JavaRandom(case["input"]["seed"])
            assert [next_value(random, call) for call in case["input"]["calls"]] == case["expected"]["values"], case[
                "name"
            ]


class TestIndependentSeeds:
    def test_they_are_those_of_split_mix_64(self) -> None:
        """The first outputs of the reference implementation from the state 0: e220a8397b1dcdaf and 6e789e6aa1b965f4."""
        assert [independent_seed(0, index) for index in range(2)] == [0xA8397B1DCDAF, 0x9E6AA1B965F4]

    def test_they_are_all_different_and_a_later_series_goes_on(self) -> None:
        seeds = [independent_seed(0, index) for index in range(1000)]
        assert len(set(seeds)) == 1000
        assert seeds[5:9] == [independent_seed(5, index) for index in range(4)]
        assert independent_seed(2**63 - 1, 2**31) < 2**48

    def test_the_first_draws_are_uniform(self) -> None:
        """Of 4,096 consecutive seeds, none draws 0 or 1 first."""
        consecutive, independent = (
            np.bincount([JavaRandom(seed).next_int(4) for seed in seeds], minlength=4)
            for seeds in (range(4096), [independent_seed(0, index) for index in range(4096)])
        )
        assert consecutive.tolist() == [0, 0, 1858, 2238]
        assert np.abs(independent - 1024).max() < 100


def next_value(random: JavaRandom, call: list[Any]) -> int | list[int]:
    if call[0] == "next_int":
        return random.next_int(call[1])
    if call[0] == "next_int32":
        return random.next_int32()
    items = list(range(call[1]))
    random.shuffle(items)
    return items


class TestHashCodes:
    @given(texts=st.lists(st.text(st.characters(codec=None)), max_size=20))
    def test_many_strings_hash_as_each_does(self, texts: list[str]) -> None:
        """Lone surrogates and characters beyond U+FFFF included."""
        assert hashes.string_hash_codes(texts).tolist() == [hashes.string_hash_code(text) for text in texts]

    @given(keys=st.lists(st.tuples(st.text(), INT32), min_size=1))
    def test_many_topic_partitions_hash_as_each_does(self, keys: list[tuple[str, int]]) -> None:
        topics = hashes.string_hash_codes([topic for topic, _ in keys])
        codes = hashes.topic_partition_hash_codes(topics, np.array([partition for _, partition in keys], np.int32))
        assert codes.tolist() == [hashes.topic_partition_hash_code(key) for key in keys]

    @given(texts=st.lists(st.text(), min_size=2, max_size=2))
    def test_strings_are_compared_by_utf16_units(self, texts: list[str]) -> None:
        units = [list(text.encode("utf-16-be", "surrogatepass")) for text in texts]
        assert (hashes.utf16_order(texts[0]) < hashes.utf16_order(texts[1])) == (units[0] < units[1])

    def test_a_surrogate_pair_sorts_before_the_last_units(self) -> None:
        """By code point U+1F600 would come after U+FF5E; its first unit, U+D83D, comes before."""
        assert sorted(["\uff5e", "\U0001f600"], key=hashes.utf16_order) == ["\U0001f600", "\uff5e"]

    @pytest.mark.parametrize("key_type", [hashes.JAVA_UUID, KAFKA_UUID])
    def test_the_halves_of_uuids_are_compared_as_signed(self, key_type: KeyType[UUID]) -> None:
        """Kafka 4.0's Uuid does as Java's: the measured answers of the uniform assignor hang on it."""
        negative, positive = UUID(int=1 << 127), UUID(int=1)
        assert key_type.order is not None
        assert key_type.order(negative) < key_type.order(positive)

    def test_a_java_uuid_may_have_short_fields(self) -> None:
        assert java_uuid("1-2-3-4-5") == UUID("00000001-0002-0003-0004-000000000005")

    @pytest.mark.parametrize("text", ["", "1-2-3-4", "1-2-3-4-5-6", "1--3-4-5"])
    def test_rejects_what_is_no_java_uuid(self, text: str) -> None:
        with pytest.raises(ValueError, match="UUID"):
            java_uuid(text)


class TestHashMap:
    @given(
        keys=st.lists(INT32, unique=True), initial_capacity=st.none() | st.integers(0, 300), insert_first=st.booleans()
    )
    def test_the_order_of_arrays_is_that_of_the_map(
        self, keys: list[int], initial_capacity: int | None, insert_first: bool
    ) -> None:
        order = hash_order(
            np.array(keys, np.int32), initial_capacity=initial_capacity, order=keys.__getitem__, computed=insert_first
        )
        build = computed if insert_first else mapped
        assert [keys[index] for index in order] == list(build(keys, initial_capacity=initial_capacity))

    @given(keys=st.lists(st.integers(0, 60), min_size=1), initial_capacity=st.none() | st.integers(0, 60))
    def test_a_call_with_a_known_key_may_double_the_table(self, keys: list[int], initial_capacity: int | None) -> None:
        """`computeIfAbsent` looks at the table before it looks for the key."""
        distinct, is_known = [*dict.fromkeys(keys)], keys[-1] in keys[:-1]
        order = hash_order(
            np.array(distinct, np.int32), initial_capacity=initial_capacity, computed=True, recomputed=is_known
        )
        assert [distinct[index] for index in order] == list(computed(keys, initial_capacity=initial_capacity))

    @given(
        multiples=st.lists(st.integers(0, 200), unique=True, min_size=8),
        bits=st.integers(4, 16),
        insert_first=st.booleans(),
    )
    def test_so_it_is_where_keys_share_bins(self, multiples: list[int], bits: int, insert_first: bool) -> None:
        keys = [multiple << bits for multiple in multiples]
        order = hash_order(np.array(keys, np.int32), order=keys.__getitem__, computed=insert_first)
        assert [keys[index] for index in order] == list((computed if insert_first else mapped)(keys))

    def test_large_tables_are_sorted_by_all_bits_of_the_bin(self) -> None:
        """200,000 scattered keys, in a table of 2¹⁹ bins: more than 16 bits, and never nine keys in one of them."""
        keys = np.random.default_rng(0).permutation(200_000).astype(np.int32) * 7919
        order = hash_order(keys)
        bins = (keys ^ (keys.view(np.uint32) >> 16).view(np.int32)) & (2**19 - 1)
        assert (np.diff(bins[order]) >= 0).all()
        assert sorted(order.tolist()) == list(range(len(keys)))

    @costly()
    @given(
        keys=st.lists(st.integers(0, 60).map(lambda n: n * 64), unique=True, min_size=1),
        removed=st.lists(st.integers(0, 60).map(lambda n: n * 64)),
    )
    def test_behaves_as_a_mapping(self, keys: list[int], removed: list[int]) -> None:
        """Whatever its bins have become, its content equals a dict's with the same history."""
        built, plain = mapped(keys, initial_capacity=64), dict.fromkeys(keys, 1)
        for key in removed:
            built.pop(key, None)
            plain.pop(key, None)
        assert len(built) == len(plain)
        assert sorted(built) == sorted(plain)
        assert all(key in built for key in plain)
        with pytest.raises(KeyError):
            del built[-1]

    def test_a_small_table_grows_where_a_ninth_key_shares_a_bin(self) -> None:
        assert list(mapped([16 * i for i in range(9)])) == [0, 32, 64, 96, 128, 16, 48, 80, 112]

    def test_a_crowded_bin_becomes_a_tree_whose_root_comes_first(self) -> None:
        keys = [1024 * (i * 7 % 12) for i in range(11, -1, -1)]
        crowded = mapped(keys)
        assert list(crowded) == [5120, 10240, 3072, 8192, 1024, 0, 6144, 11264, 4096, 9216, 2048, 7168]
        for i in range(8):
            del crowded[1024 * i]
        assert list(crowded) == [10240, 8192, 11264, 9216]

    def test_a_tree_is_split_when_the_table_grows(self) -> None:
        crowded = mapped([64 * i for i in range(20)], initial_capacity=64)
        assert list(crowded)[:5] == [448, 192, 0, 64, 128]
        for key in range(1, 41):
            crowded[key] = 1
        order = list(crowded)
        assert order[:10] == [384, 0, 128, 256, 512, 640, 768, 896, 1024, 1152]
        assert order[10:50] == list(range(1, 41))
        assert order[50:] == [448, 192, 64, 320, 576, 704, 832, 960, 1088, 1216]

    def test_removing_moves_the_new_root_to_the_front_but_not_through_an_iterator(self) -> None:
        by_key, by_iterator = (mapped([64 * i for i in range(14)], initial_capacity=64) for _ in range(2))
        for i in range(0, 14, 3):
            del by_key[64 * i]
        for key in [key for key in by_iterator if key % 192 == 0]:
            by_iterator.remove_by_iterator(key)
        assert list(by_key) == [448, 64, 128, 256, 320, 512, 640, 704, 832]
        assert list(by_iterator) == [64, 128, 256, 320, 448, 512, 640, 704, 832]

    def test_keys_of_one_hash_stand_by_their_order(self) -> None:
        """32 strings of one hash code; the map asks for `compareTo`."""
        texts = [
            "".join("Aa" if (i * 11 % 32) >> bit & 1 == 0 else "BB" for bit in range(4, -1, -1)) for i in range(32)
        ]
        built = JavaHashSet(hashes.STRING)
        for text in texts:
            built.add(text)
        assert {hashes.string_hash_code(text) for text in texts} == {hashes.string_hash_code("AaAaAaAaAa")}
        assert list(built)[:8] == [
            "AaBBAaBBBB",
            "AaAaAaAaAa",
            "BBAaBBBBAa",
            "AaAaAaAaBB",
            "AaBBBBAaAa",
            "BBAaBBBBBB",
            "AaAaAaBBAa",
            "AaBBBBAaBB",
        ]
        assert list(built)[-4:] == ["BBAaAaBBAa", "BBAaAaBBBB", "BBAaBBAaAa", "BBAaBBAaBB"]

    def test_a_computed_key_is_the_first_of_its_bin(self) -> None:
        keys = [i * 5 % 14 * 32 for i in range(14)]
        assert list(computed(keys)) == [128, 256, 384, 64, 192, 320, 0, 288, 416, 96, 224, 352, 32, 160]

    def test_a_table_that_is_only_computed_doubles_one_key_later(self) -> None:
        """13 keys are more than ¾ of 16 bins: `put` doubles at once, `computeIfAbsent` before the fourteenth."""
        keys = [*range(12), 16]
        assert list(mapped(keys)) == keys
        assert list(computed(keys)) == [16, *range(12)]
        assert list(computed([*keys, 32])) == [32, 0, *range(1, 12), 16]

    @pytest.mark.parametrize(
        ("key_type", "key_of", "measured"),
        [
            # One bin, all hashes distinct; all hashes equal; sixteen bins.
            (
                hashes.INTEGER,
                lambda n: n << 16,
                [1026149697, 833497921, 350635201, -398854241, 1650526081, 1497256799, 1061497217, -1980099169],
            ),
            (
                hashes.STRING,
                lambda n: "".join("Aa" if n >> bit & 1 == 0 else "BB" for bit in range(7, -1, -1)),
                [-799503039, 931261249, 1752073409, -1792738913, 913672065, 597988703, -124999295, 200284063],
            ),
            (
                hashes.INTEGER,
                lambda n: (n >> 4 << 12) | (n & 15),
                [374507655, 1455468460, -1628367476, 1067483977, -2004635671, 2096284102, -535227190, -1406159992],
            ),
        ],
    )
    def test_long_histories_of_crowded_bins(
        self, key_type: KeyType[Any], key_of: Callable[[int], Any], measured: list[int]
    ) -> None:
        """2,000 random changes a seed; measured is the hash code of the list of keys, in the order of the map."""
        for seed, expected in enumerate(measured):
            random = JavaRandom(seed)
            built: JavaHashMap[Any, int] = JavaHashMap(key_type)
            for _ in range(2000):
                key, kind = key_of(random.next_int(256)), random.next_int(8)
                if kind < 3:
                    built[key] = 1
                elif kind == 3:
                    built.compute_if_absent(key, lambda: 1)
                elif kind < 7:
                    built.pop(key, None)
                elif key in built:
                    built.remove_by_iterator(key)
            assert hashes.objects_hash(*map(key_type.hash_code, built)) == expected, seed

    @pytest.mark.parametrize(
        ("jdk", "order"),
        [
            (17, [165, 135, 105, 75, 45, 15, 180, 150, 120, 90, 60, 30]),
            (25, [180, 165, 150, 135, 120, 105, 90, 75, 60, 45, 30, 15]),
        ],
    )
    def test_copies_of_three_quarters_of_a_power_of_two_hang_on_the_jdk(self, jdk: int, order: list[int]) -> None:
        keys = [16 * i + 15 - i for i in range(12)]
        assert list(JavaHashSet.copy_of(keys, hashes.INTEGER, jdk=jdk)) == order

    @given(count=st.integers(0, 10**6), jdk=st.sampled_from([17, 21]))
    def test_a_copy_never_grows_while_it_is_filled(self, count: int, jdk: int) -> None:
        assert table_size(capacity_for(count, jdk=jdk)) * 3 // 4 >= count or count < 2

    @pytest.mark.parametrize(
        ("capacity", "size"), [(0, 1), (1, 1), (2, 2), (3, 4), (16, 16), (17, 32), (2**31 - 1, 2**30)]
    )
    def test_tables_are_powers_of_two(self, capacity: int, size: int) -> None:
        assert table_size(capacity) == size

    def test_rejects_a_negative_capacity(self) -> None:
        with pytest.raises(ValueError, match="-1"):
            JavaHashMap(hashes.INTEGER, initial_capacity=-1)

    def test_vectors(self) -> None:
        for case in vectors("java_hash_order"):
            given_, expected = case["input"], case["expected"]
            key_type, read = KEYS[given_["key_type"]]
            keys = [read(key) for key in given_["keys"]]
            assert [key_type.hash_code(key) for key in keys] == expected["hash_codes"], case["name"]
            built: JavaHashMap[Any, int] = JavaHashMap(key_type, initial_capacity=given_["initial_capacity"])
            for index, key in enumerate(keys):
                built.setdefault(key, index)
            for index in given_.get("remove_indices", []):
                built.pop(keys[index], None)
            assert list(built.values()) == expected["iteration_order"], case["name"]


class TestPriorityQueue:
    @given(keys=st.lists(st.integers(0, 5)))
    def test_elements_leave_by_key(self, keys: list[int]) -> None:
        queue = JavaPriorityQueue(float, keys)
        assert [queue.poll() for _ in keys] == sorted(keys)
        assert queue.poll() is None

    @given(keys=st.lists(st.integers(0, 3), max_size=40), seed=st.integers(0, 2**32))
    def test_it_is_a_binary_heap_in_an_array(self, keys: list[int], seed: int) -> None:
        """Each step as the documentation of a heap has it, by exchanges of neighbours."""
        items = list(enumerate(keys))
        queue: JavaPriorityQueue[tuple[int, int]] = JavaPriorityQueue(lambda item: item[1])
        heap: list[tuple[int, int]] = []
        random = JavaRandom(seed)
        while items or heap:
            if items and (not heap or random.next_int(3)):
                queue.add(items[-1])
                heap.append(items.pop())
                rise(heap)
            else:
                assert queue.poll() == take(heap)
            assert len(queue) == len(heap)

    def test_equal_keys_leave_neither_in_order_nor_in_reverse(self) -> None:
        queue = JavaPriorityQueue(lambda _: 0.0, "abcde")
        assert "".join(queue.poll() or "" for _ in range(5)) == "aedcb"


def rise(heap: list[tuple[int, int]]) -> None:
    place = len(heap) - 1
    while place > 0 and heap[place][1] < heap[(place - 1) // 2][1]:
        parent = (place - 1) // 2
        heap[place], heap[parent] = heap[parent], heap[place]
        place = parent


def take(heap: list[tuple[int, int]]) -> tuple[int, int]:
    first, heap[0] = heap[0], heap[-1]
    heap.pop()
    place = 0
    while children := [child for child in (2 * place + 1, 2 * place + 2) if child < len(heap)]:
        child = min(children, key=lambda child: heap[child][1])
        if heap[place][1] <= heap[child][1]:
            break
        heap[place], heap[child] = heap[child], heap[place]
        place = child
    return first


KEYS: dict[str, tuple[KeyType[Any], Callable[[Any], Any]]] = {
    "string": (hashes.STRING, str),
    "int": (hashes.INTEGER, int),
    "topic_partition": (hashes.TOPIC_PARTITION, tuple),
    "kafka_uuid": (KAFKA_UUID, kafka_uuid),
    "java_uuid": (hashes.JAVA_UUID, java_uuid),
    "task_id": (hashes.TASK_ID, hashes.task_id),
    "optional_string": (hashes.OPTIONAL_STRING, lambda text: text),
}
