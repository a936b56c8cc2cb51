"""The queue of clients that tasks are moved between: a java.util.PriorityQueue, slot by slot.

Kafka changes a client's load while it stands in the queue, and puts it in anew only afterwards. In between the binary
heap is out of order, and what it gives next hangs on where each client stands in it: so the heap is kept as Java keeps
it. Clients that were taken out in vain go back in the order of a HashSet.

Source: the Java SE API documentation of `java.util.PriorityQueue`, and `ConstrainedPrioritySet` of Apache Kafka 4.0.
"""

from typing import NamedTuple

import numpy as np
from numba import njit

from app.core.jvm.hash_map import DEFAULT_CAPACITY
from app.core.model import NO_CLIENT, Int64s
from app.core.streams.loads_kernel import load
from app.core.streams.model import Bools, Float64s

LARGEST = np.finfo(np.float64).max


class ClientQueue(NamedTuple):
    """Clients by load, then by number.

    heap : (clients,) int64, of which the first `size[0]` count. waits : (clients,) bool, who is among them.
    counts, capacities : (clients,) int64, what the loads are made of. loads : (clients,) float64, which change under
        the heap; what is not a number is infinite here and what is infinite the largest number, so that they compare.
    hashes : (clients,) int64 spread hash codes of the process ids.
    """

    heap: Int64s
    size: Int64s
    waits: Bools
    counts: Int64s
    capacities: Int64s
    loads: Float64s
    hashes: Int64s


@njit(cache=True, nogil=True)
def queue_of(counts: Int64s, capacities: Int64s, hashes: Int64s) -> ClientQueue:
    """An empty queue."""
    clients = len(counts)
    queue = ClientQueue(
        np.zeros(clients, np.int64),
        np.zeros(1, np.int64),
        np.zeros(clients, np.bool_),
        counts,
        capacities,
        np.zeros(clients, np.float64),
        hashes,
    )
    for client in range(clients):
        add_tasks(queue, client, 0)
    return queue


@njit(cache=True, nogil=True)
def add_tasks(queue: ClientQueue, client: int, n: int) -> None:
    """Change how many tasks a client has, wherever it stands."""
    queue.counts[client] += n
    client_load = load(queue.counts[client], queue.capacities[client])
    queue.loads[client] = np.inf if np.isnan(client_load) else min(client_load, LARGEST)


@njit(cache=True, nogil=True)
def _compare(queue: ClientQueue, one: int, other: int) -> int:
    difference = queue.loads[one] - queue.loads[other]
    if difference < 0:
        return -1
    if difference > 0:
        return 1
    return one - other


@njit(cache=True, nogil=True)
def _sift_up(queue: ClientQueue, slot: int, client: int) -> None:
    while slot > 0:
        parent = (slot - 1) >> 1
        if _compare(queue, client, queue.heap[parent]) >= 0:
            break
        queue.heap[slot] = queue.heap[parent]
        slot = parent
    queue.heap[slot] = client


@njit(cache=True, nogil=True)
def _sift_down(queue: ClientQueue, slot: int, client: int) -> None:
    size = queue.size[0]
    while slot < size >> 1:
        child = 2 * slot + 1
        if child + 1 < size and _compare(queue, queue.heap[child], queue.heap[child + 1]) > 0:
            child += 1
        if _compare(queue, client, queue.heap[child]) <= 0:
            break
        queue.heap[slot] = queue.heap[child]
        slot = child
    queue.heap[slot] = client


@njit(cache=True, nogil=True)
def offer(queue: ClientQueue, client: int) -> None:
    """Put a client in; one that waits already is taken out first."""
    if queue.waits[client]:
        _remove(queue, client)
    queue.waits[client] = True
    queue.size[0] += 1
    _sift_up(queue, queue.size[0] - 1, client)


@njit(cache=True, nogil=True)
def _remove(queue: ClientQueue, client: int) -> None:
    slot = 0
    while queue.heap[slot] != client:
        slot += 1
    queue.size[0] -= 1
    last = queue.size[0]
    if slot != last:
        moved = queue.heap[last]
        _sift_down(queue, slot, moved)
        if queue.heap[slot] == moved:
            _sift_up(queue, slot, moved)


@njit(cache=True, nogil=True)
def _next(queue: ClientQueue) -> int:
    client = queue.heap[0]
    queue.size[0] -= 1
    if queue.size[0] > 0:
        _sift_down(queue, 0, queue.heap[queue.size[0]])
    queue.waits[client] = False
    return int(client)


@njit(cache=True, nogil=True)
def poll(queue: ClientQueue, wanted: Bools) -> int:
    """Remove and return the first client for which `wanted` is True, or `NO_CLIENT`."""
    chosen = NO_CLIENT
    rejected = np.empty(queue.size[0], np.int64)
    n_rejected = 0
    while queue.size[0] > 0:
        client = _next(queue)
        if wanted[client]:
            chosen = client
            break
        rejected[n_rejected] = client
        n_rejected += 1
    _offer_in_hash_order(queue, rejected[:n_rejected])
    return chosen


@njit(cache=True, nogil=True)
def _offer_in_hash_order(queue: ClientQueue, clients: Int64s) -> None:
    """Put clients back as a HashSet iterates over them: by bin, and within it as they came.

    Where nine share a bin of a large table Java makes it a tree, whose order may be another; that is left out.
    """
    table = DEFAULT_CAPACITY
    while table * 3 // 4 < len(clients):
        table *= 2
    ends = np.zeros(table + 1, np.int64)
    for client in clients:
        ends[(queue.hashes[client] & (table - 1)) + 1] += 1
    for slot in range(table):
        ends[slot + 1] += ends[slot]
    ordered = np.empty(len(clients), np.int64)
    for client in clients:
        slot = queue.hashes[client] & (table - 1)
        ordered[ends[slot]] = client
        ends[slot] += 1
    for client in ordered:
        offer(queue, int(client))
