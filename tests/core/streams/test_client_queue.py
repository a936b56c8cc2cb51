"""The queue of clients against Java's, written down plainly: a heap in a list, and a HashSet of those taken in vain."""

from uuid import UUID

import numpy as np
import pytest
from hypothesis import given

from app.core.jvm import JavaHashSet
from app.core.jvm.hash_map import spread
from app.core.jvm.hashes import JAVA_UUID, uuid_hash_code
from tests import draws as st

N_CLIENTS = 30
"""So many that the HashSet of those taken in vain grows."""


class PlainQueue:
    """`java.util.PriorityQueue` and Kafka's use of it."""

    def __init__(self, process_ids: list[UUID]) -> None:
        self.process_ids = process_ids
        self.loads = [0.0] * len(process_ids)
        self.heap: list[int] = []

    def key(self, client: int) -> tuple[float, int]:
        return self.loads[client], client

    def up(self, slot: int) -> None:
        while slot and self.key(self.heap[slot]) < self.key(self.heap[(slot - 1) // 2]):
            parent = (slot - 1) // 2
            self.heap[slot], self.heap[parent] = self.heap[parent], self.heap[slot]
            slot = parent

    def down(self, slot: int) -> int:
        while children := [child for child in (2 * slot + 1, 2 * slot + 2) if child < len(self.heap)]:
            least = min(children, key=lambda child: (self.key(self.heap[child]), child))
            if self.key(self.heap[slot]) <= self.key(self.heap[least]):
                break
            self.heap[slot], self.heap[least] = self.heap[least], self.heap[slot]
            slot = least
        return slot

    def offer(self, client: int) -> None:
        if client in self.heap:
            slot = self.heap.index(client)
            last = self.heap.pop()
            if slot < len(self.heap):
                self.heap[slot] = last
                if self.down(slot) == slot:
                    self.up(slot)
        self.heap.append(client)
        self.up(len(self.heap) - 1)

    def poll(self, wanted: set[int]) -> int:
        in_vain: JavaHashSet[UUID] = JavaHashSet(JAVA_UUID)
        found = -1
        while self.heap and found < 0:
            client, last = self.heap[0], self.heap.pop()
            if self.heap:
                self.heap[0] = last
                self.down(0)
            if client in wanted:
                found = client
            else:
                in_vain.add(self.process_ids[client])
        for process_id in in_vain:
            self.offer(self.process_ids.index(process_id))
        return found


CLIENTS = st.integers(0, N_CLIENTS - 1)
STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("offer"), CLIENTS, st.just(0)),
        st.tuples(st.just("load"), CLIENTS, st.integers(0, 5)),
        st.tuples(st.just("poll"), CLIENTS, CLIENTS),
    ),
    max_size=60,
)


@pytest.mark.long
@given(STEPS, st.lists(st.integers(0, 2**128 - 1), min_size=N_CLIENTS, max_size=N_CLIENTS, unique=True))
def test_it_gives_what_javas_queue_gives_though_loads_change_under_it(
    steps: list[tuple[str, int, int]], numbers: list[int]
) -> None:
    """A heap whose keys change is no heap any more, and only the very same steps lead to the same clients."""
    from app.core.streams.assignors import client_queue_kernel as kernel  # noqa: PLC0415 — numba takes long to import

    process_ids = [UUID(int=number) for number in numbers]
    plain = PlainQueue(process_ids)
    counts = np.zeros(N_CLIENTS, np.int64)
    hashes = np.array([spread(uuid_hash_code(process_id)) for process_id in process_ids], np.int64)
    queue = kernel.queue_of(counts, np.ones(N_CLIENTS, np.int64), hashes)
    steps = [*(("offer", client, 0) for client in range(N_CLIENTS)), *steps]
    for what, client, other in steps:
        if what == "offer":
            plain.offer(client)
            kernel.offer(queue, client)
        elif what == "load":
            plain.loads[client] = other
            kernel.add_tasks(queue, client, other - int(counts[client]))
        else:
            wanted = np.zeros(N_CLIENTS, np.bool_)
            wanted[[client, other]] = True
            assert kernel.poll(queue, wanted) == plain.poll({client, other})
        assert queue.heap[: queue.size[0]].tolist() == plain.heap
