"""java.util.PriorityQueue: which of several elements of equal priority leaves first.

A binary heap in an array. `add` puts an element at the end and lets it rise while its parent has a greater key; `poll`
takes the first, puts the last in its place and lets it sink below the smaller child, the left one if both are equal.
Elements of equal key leave in an order that depends on the whole history and is not the order of insertion.

Source: the Java SE API documentation of `java.util.PriorityQueue`; the rules are OpenJDK 17's, checked through
Kafka's streams group assignor.
"""

from collections.abc import Callable, Iterable
from typing import Generic, TypeVar

Item = TypeVar("Item")


class JavaPriorityQueue(Generic[Item]):
    """A queue that is polled as a java.util.PriorityQueue with the same history is.

    Parameters
    ----------
    key : the priority of an element, the least first. It is read when the element is added, so that an element whose
        priority changes has to be polled before and added again after the change.
    items : added one after the other, as `add` and `addAll` do.
    """

    __slots__ = ("_heap", "_key")

    def __init__(self, key: Callable[[Item], float], items: Iterable[Item] = ()) -> None:
        self._key = key
        self._heap: list[tuple[float, Item]] = []
        for item in items:
            self.add(item)

    def __len__(self) -> int:
        return len(self._heap)

    def add(self, item: Item) -> None:
        """`add`. O(log n)."""
        entry = (self._key(item), item)
        heap = self._heap
        heap.append(entry)
        place = len(heap) - 1
        while place and heap[parent := (place - 1) >> 1][0] > entry[0]:
            heap[place] = heap[parent]
            place = parent
        heap[place] = entry

    def poll(self) -> Item | None:
        """`poll`: remove and return an element of the least key, None if the queue is empty. O(log n)."""
        heap = self._heap
        if not heap:
            return None
        first, entry = heap[0], heap.pop()
        size = len(heap)
        if not size:
            return first[1]
        place = 0
        while (child := 2 * place + 1) < size:
            if child + 1 < size and heap[child][0] > heap[child + 1][0]:
                child += 1
            if entry[0] <= heap[child][0]:
                break
            heap[place] = heap[child]
            place = child
        heap[place] = entry
        return first[1]
