"""java.util.HashMap and HashSet: which order their keys are iterated in.

A table of 2ⁿ bins; a key is in bin (h ^ h >>> 16) mod 2ⁿ of its hash code h. Iteration is bin by bin. Removing keys
leaves the table as large as it was.

    put, putIfAbsent, putAll         a new key is the last of its bin; then the table doubles if it has more than ¾ as
                                     many keys as bins
    computeIfAbsent, compute, merge  the table doubles first, if it has more than ¾ as many keys as bins; then a new key
                                     is the first of its bin

A bin is then split in two, each part in its order. If a bin gets a ninth key (an eighth at its front), the table
doubles if it has fewer than 64 bins, else the bin becomes a `TreeBin`.

`JavaHashMap` is exact, key by key. `hash_order` is the same for keys that are only inserted, as arrays: a sort by bin,
which uses `JavaHashMap` if a bin would be full.

Source: the Java SE API documentation of `java.util.HashMap` and the implementation notes at the head of OpenJDK's
source; every rule is checked against runs of OpenJDK 17 and 25.
"""

from collections.abc import Callable, Collection, Iterator, MutableMapping, MutableSet, Sequence
from math import ceil
from typing import Any, Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

from app.core.jvm.hashes import KeyType, string_hash_codes, utf16_order
from app.core.jvm.tree_bin import Node, TreeBin, chain
from app.core.model import Int32s, Int64s

Key = TypeVar("Key")
Value = TypeVar("Value")

DEFAULT_CAPACITY = 16
CHAIN_LIMIT = 8
"""A bin with as many keys is full: the next one put makes it a tree, or doubles a small table."""
UNTREE_LIMIT = 6
"""A part of a split tree with at most as many keys is a plain chain again."""
TREE_TABLE = 64
"""The smallest table in which bins become trees."""
LARGEST_TABLE = 1 << 30


class JavaHashMap(MutableMapping[Key, Value], Generic[Key, Value]):
    """A mapping that is iterated as a java.util.HashMap with the same history is.

    Values must not be None, which Java's `computeIfAbsent` and `merge` take for an absent key.

    Parameters
    ----------
    key_type : the Java class of the keys.
    initial_capacity : as given to Java's constructor; None is the constructor without arguments.
    """

    __slots__ = ("_key_type", "_nodes", "_table", "_threshold")

    def __init__(self, key_type: KeyType[Key], *, initial_capacity: int | None = None) -> None:
        self._key_type = key_type
        self._nodes: dict[Key, Node[Key, Value]] = {}
        self._table: list[Node[Key, Value] | TreeBin[Key, Value] | None] = []
        # While there is no table it is the size that the table will have, or 0 for the default.
        self._threshold = 0 if initial_capacity is None else table_size(initial_capacity)

    def __getitem__(self, key: Key) -> Value:
        return self._nodes[key].value

    def __contains__(self, key: object) -> bool:
        return key in self._nodes

    def __len__(self) -> int:
        return len(self._nodes)

    def __iter__(self) -> Iterator[Key]:
        for bin_content in self._table:
            for node in chain(bin_content.head if isinstance(bin_content, TreeBin) else bin_content):
                yield node.key

    def __setitem__(self, key: Key, value: Value) -> None:
        """`put`: the value of a known key is replaced, its place stays."""
        known = self._nodes.get(key)
        if known is not None:
            known.value = value
            return
        if not self._table:
            self._resize()
        node = self._new_node(key, value)
        index = node.hash & (len(self._table) - 1)
        bin_content = self._table[index]
        if bin_content is None:
            self._table[index] = node
        elif isinstance(bin_content, TreeBin):
            bin_content.insert(node)
        else:
            size = 1
            last = bin_content
            while last.next is not None:
                last, size = last.next, size + 1
            last.next = node
            if size >= CHAIN_LIMIT:
                self._make_tree(index)
        if len(self._nodes) > self._threshold:
            self._resize()

    def __delitem__(self, key: Key) -> None:
        """`remove`. Raises KeyError if the key is unknown."""
        node, index, bin_content = self._take(key)
        if isinstance(bin_content, TreeBin) and not bin_content.remove(node):
            self._table[index] = bin_content.head if bin_content.head is not node else None

    def remove_by_iterator(self, key: Key) -> None:
        """`Iterator.remove`, which `removeIf`, `retainAll` and some `removeAll` use; it differs in trees only."""
        node, index, bin_content = self._take(key)
        if isinstance(bin_content, TreeBin) and not bin_content.remove_by_iterator(node):
            self._table[index] = None

    def compute_if_absent(self, key: Key, make: Callable[[], Value]) -> Value:
        """`computeIfAbsent`; `compute` and `merge` insert a new key in the same way."""
        self._grow_belatedly()
        known = self._nodes.get(key)
        return known.value if known is not None else self._put_in_front(key, make())

    def _new_node(self, key: Key, value: Value) -> Node[Key, Value]:
        node = Node(key, spread(self._key_type.hash_code(key)), value)
        self._nodes[key] = node
        return node

    def _take(self, key: Key) -> tuple[Node[Key, Value], int, Node[Key, Value] | TreeBin[Key, Value] | None]:
        """Forget a key, and take its node out of a plain chain; of a tree the caller does."""
        node = self._nodes.pop(key)
        index = node.hash & (len(self._table) - 1)
        bin_content = self._table[index]
        if bin_content is node:
            self._table[index] = node.next
        elif isinstance(bin_content, Node):
            previous = next(before for before in chain(bin_content) if before.next is node)
            previous.next = node.next
        return node, index, bin_content

    def _grow_belatedly(self) -> None:
        if not self._table or len(self._nodes) > self._threshold:
            self._resize()

    def _put_in_front(self, key: Key, value: Value) -> Value:
        node = self._new_node(key, value)
        index = node.hash & (len(self._table) - 1)
        bin_content = self._table[index]
        if isinstance(bin_content, TreeBin):
            bin_content.insert(node)
            return value
        node.next = bin_content
        self._table[index] = node
        if sum(1 for _ in chain(node)) >= CHAIN_LIMIT:
            self._make_tree(index)
        return value

    def _make_tree(self, index: int) -> None:
        bin_content = self._table[index]
        if len(self._table) < TREE_TABLE:
            self._resize()
        elif isinstance(bin_content, Node):
            self._table[index] = TreeBin(bin_content, self._key_type.order)

    def _resize(self) -> None:
        old = self._table
        size = 2 * len(old) or self._threshold or DEFAULT_CAPACITY
        self._threshold = size * 3 // 4
        self._table = [None] * size
        for index, bin_content in enumerate(old):
            if isinstance(bin_content, TreeBin) and bin_content.head.next is None:
                self._table[bin_content.head.hash & (size - 1)] = bin_content
            elif bin_content is not None:
                self._table[index], self._table[index + len(old)] = self._split(bin_content, len(old))

    def _split(
        self, bin_content: Node[Key, Value] | TreeBin[Key, Value], bit: int
    ) -> list[Node[Key, Value] | TreeBin[Key, Value] | None]:
        """The parts of a bin that stay and that move when the table doubles from `bit` bins."""
        nodes = list(chain(bin_content.head if isinstance(bin_content, TreeBin) else bin_content))
        parts = [[node for node in nodes if not node.hash & bit], [node for node in nodes if node.hash & bit]]
        if isinstance(bin_content, TreeBin) and [] in parts and len(nodes) > UNTREE_LIMIT:
            return [bin_content if part else None for part in parts]
        heads: list[Node[Key, Value] | TreeBin[Key, Value] | None] = []
        for part in parts:
            for node, following in zip(part, [*part[1:], None], strict=False):
                node.next = following
            if isinstance(bin_content, TreeBin) and len(part) > UNTREE_LIMIT:
                heads.append(TreeBin(part[0], self._key_type.order))
            else:
                heads.append(next(iter(part), None))
        return heads


def spread(hash_code: int) -> int:
    """HashMap's mix of a hash code: its high half is mixed into the low one; signed 32 bits."""
    return hash_code ^ ((hash_code & 0xFFFFFFFF) >> 16)


def table_size(capacity: int) -> int:
    """The smallest power of two that is not below a capacity; at most 2³⁰. A negative one raises ValueError."""
    if capacity < 0:
        raise ValueError(f"a capacity is not negative; {capacity} given")
    return min(1 << max(capacity - 1, 0).bit_length(), LARGEST_TABLE)


def capacity_for(count: int, *, jdk: int = 17) -> int:
    """The capacity that `new HashMap(map)` and `putAll` ask for, so as to hold `count` keys.

    Before JDK 19 it was one more than needed, computed in single precision, which matters at 3·2ᵏ keys.
    """
    if jdk >= 19:
        return ceil(count / 0.75)
    return int(np.float32(count) / np.float32(0.75) + np.float32(1))


def hash_order(
    hash_codes: Int32s,
    *,
    initial_capacity: int | None = None,
    order: Callable[[int], Any] | None = None,
    computed: bool = False,
    recomputed: bool = False,
) -> Int64s:
    """In which order a HashMap iterates over distinct keys that were inserted in listed order.

    Parameters
    ----------
    hash_codes : (n,) int32 of the keys.
    initial_capacity : as in `JavaHashMap`.
    order : the sort key of the key at an index, if their class is Comparable; called only if a bin becomes a tree.
    computed : inserted by `computeIfAbsent`, `compute` or `merge` instead of `put`.
    recomputed : whether such a call with a known key followed the last insertion, which may double the table as well.

    Returns
    -------
    (n,) int64 indices into the keys. O(n), as arrays: 0.05 s for a million. If a bin becomes a tree, key by key: 10 s
    for a million.
    """
    codes = np.ascontiguousarray(hash_codes, np.int32).view(np.uint32)
    bins = codes ^ (codes >> np.uint32(16))
    size = DEFAULT_CAPACITY if initial_capacity is None else table_size(initial_capacity)
    limit = CHAIN_LIMIT - computed
    # The number of keys with which each table was left for the next: no bin of any of them may have been full.
    while not _is_full(bins[: size * 3 // 4 + 1], size, limit):
        if size * 3 // 4 + (computed and not recomputed) >= len(bins):
            return _sorted_by_bin(bins & np.uint32(size - 1), newest_first=computed)
        size *= 2
    by_index: KeyType[int] = KeyType("index", hash_codes.tolist().__getitem__, order)
    exact: JavaHashMap[int, bool] = JavaHashMap(by_index, initial_capacity=initial_capacity)
    for index in range(len(bins)):
        if computed:
            exact.compute_if_absent(index, lambda: True)
        else:
            exact[index] = True
    if recomputed:
        exact.compute_if_absent(0, lambda: True)
    return np.fromiter(exact, np.int64, len(bins))


def string_hash_order(
    texts: Sequence[str], *, initial_capacity: int | None = None, computed: bool = False, recomputed: bool = False
) -> Int64s:
    """`hash_order` of distinct strings: (texts,) int64 indices."""
    return hash_order(
        string_hash_codes(texts),
        initial_capacity=initial_capacity,
        order=lambda index: utf16_order(texts[index]),
        computed=computed,
        recomputed=recomputed,
    )


def _is_full(bins: NDArray[np.uint32], size: int, limit: int) -> bool:
    return len(bins) > limit and int(np.bincount(bins & np.uint32(size - 1)).max()) > limit


def _sorted_by_bin(bins: NDArray[np.uint32], *, newest_first: bool) -> Int64s:
    """A stable sort: by the low half, then by the high one, since numpy sorts 16-bit integers in linear time."""
    if newest_first:
        return len(bins) - 1 - _sorted_by_bin(bins[::-1], newest_first=False)
    order: Int64s = np.argsort(bins.astype(np.uint16), kind="stable")
    if len(bins) and int(bins.max()) > 0xFFFF:
        high = (bins >> np.uint32(16)).astype(np.uint16)
        order = order[np.argsort(high[order], kind="stable")]
    return order


class JavaHashSet(MutableSet[Key]):
    """A set that is iterated as a java.util.HashSet with the same history is.

    Parameters
    ----------
    key_type : the Java class of the keys.
    initial_capacity : as given to Java's constructor; None is the constructor without arguments.
    """

    __slots__ = ("_key_type", "_map")

    def __init__(self, key_type: KeyType[Key], *, initial_capacity: int | None = None) -> None:
        self._key_type = key_type
        self._map: JavaHashMap[Key, bool] = JavaHashMap(key_type, initial_capacity=initial_capacity)

    @classmethod
    def copy_of(cls, keys: Collection[Key], key_type: KeyType[Key], *, jdk: int = 17) -> "JavaHashSet[Key]":
        """`new HashSet(keys)`. From JDK 19 on 3·2ᵏ ≥ 12 keys get half the table."""
        copy = cls(key_type, initial_capacity=max(capacity_for(len(keys), jdk=jdk), DEFAULT_CAPACITY))
        for key in keys:
            copy.add(key)
        return copy

    def __contains__(self, key: object) -> bool:
        return key in self._map

    def __iter__(self) -> Iterator[Key]:
        return iter(self._map)

    def __len__(self) -> int:
        return len(self._map)

    def add(self, value: Key) -> None:
        """`add`: behind the keys of its bin."""
        self._map[value] = True

    def discard(self, value: Key) -> None:
        """`remove`."""
        if value in self._map:
            del self._map[value]

    def remove_by_iterator(self, key: Key) -> None:
        """`Iterator.remove`, which `removeIf` and `retainAll` use. Raises KeyError where the key is unknown."""
        self._map.remove_by_iterator(key)
