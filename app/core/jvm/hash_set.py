"""java.util.HashSet: the keys of a `JavaHashMap`, and its own rule of how large a copy's table is."""

from collections.abc import Collection, Iterator, MutableSet
from typing import TypeVar

from app.core.jvm.hash_map import DEFAULT_CAPACITY, JavaHashMap, capacity_for
from app.core.jvm.hashes import KeyType

Key = TypeVar("Key")


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
        if value in self._map:
            del self._map[value]

    def remove_by_iterator(self, key: Key) -> None:
        """`Iterator.remove`, which `removeIf` and `retainAll` use. Raises KeyError if the key is unknown."""
        self._map.remove_by_iterator(key)
