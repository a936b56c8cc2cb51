"""Priority queue of clients for task movements: a java.util.PriorityQueue, slot by slot.

Kafka changes a client's load while it is in the queue, and adds it again only afterwards. In between the binary heap is
out of order, and the next client depends on the slot of each client: so the heap has the same slots as Java's. Clients
that were rejected are added again in the order of a HashSet.

Source: the Java SE API documentation of `java.util.PriorityQueue`, and `ConstrainedPrioritySet` of Apache Kafka 4.0.
"""

from typing import NamedTuple

import numpy as np

from app.core.compiled.arrays import BoolVector, FloatVector, Int64Vector
from app.core.compiled.loops import compiled, subroutine
from app.core.counting_kernel import grouped
from app.core.jvm.hash_map import DEFAULT_CAPACITY
from app.core.model import NO_CLIENT
from app.core.streams.loads_kernel import load

LARGEST = np.finfo(np.float64).max


class ClientQueue(NamedTuple):
    """Clients by load, then by number.

    heap : (clients,) int64, of which the first `size[0]` are used.
    waits : (clients,) bool, whether the client is in the queue.
    counts, capacities : (clients,) int64, from which the loads are computed.
    loads : (clients,) float64, which change while clients are in the heap; NaN becomes infinity and infinity the
        largest number, so that all compare.
    hashes : (clients,) int64 spread hash codes of the process ids.
    """

    heap: Int64Vector
    size: Int64Vector
    waits: BoolVector
    counts: Int64Vector
    capacities: Int64Vector
    loads: FloatVector
    hashes: Int64Vector


@compiled
def queue_of(counts: Int64Vector, capacities: Int64Vector, hashes: Int64Vector) -> ClientQueue:
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


@subroutine
def add_tasks(queue: ClientQueue, client: int, n: int) -> None:
    """Add `n` to the number of tasks of a client, whether it is in the queue or not."""
    queue.counts[client] += n
    client_load = load(queue.counts[client], queue.capacities[client])
    queue.loads[client] = np.inf if np.isnan(client_load) else min(client_load, LARGEST)


@subroutine
def _compare(queue: ClientQueue, one: int, other: int) -> int:
    difference = queue.loads[one] - queue.loads[other]
    if difference < 0:
        return -1
    if difference > 0:
        return 1
    return one - other


@subroutine
def _sift_up(queue: ClientQueue, slot: int, client: int) -> None:
    while slot > 0:
        parent = (slot - 1) >> 1
        if _compare(queue, client, queue.heap[parent]) >= 0:
            break
        queue.heap[slot] = queue.heap[parent]
        slot = parent
    queue.heap[slot] = client


@subroutine
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


@subroutine
def offer(queue: ClientQueue, client: int) -> None:
    """Add a client; one that is in the queue is removed first."""
    if queue.waits[client]:
        _remove(queue, client)
    queue.waits[client] = True
    queue.size[0] += 1
    _sift_up(queue, queue.size[0] - 1, client)


@subroutine
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


@subroutine
def _next(queue: ClientQueue) -> int:
    client = queue.heap[0]
    queue.size[0] -= 1
    if queue.size[0] > 0:
        _sift_down(queue, 0, queue.heap[queue.size[0]])
    queue.waits[client] = False
    return int(client)


@subroutine
def poll(queue: ClientQueue, wanted: BoolVector) -> int:
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
    if n_rejected:
        _offer_in_hash_order(queue, rejected[:n_rejected])
    return chosen


@subroutine
def _offer_in_hash_order(queue: ClientQueue, clients: Int64Vector) -> None:
    """Add clients in the iteration order of a HashSet: by bin, and within a bin in order of insertion.

    If nine share a bin of a large table, Java makes it a tree, whose order may differ; this is not modelled.
    """
    table = DEFAULT_CAPACITY
    while table * 3 // 4 < len(clients):
        table *= 2
    for client in grouped(clients, queue.hashes[clients] & (table - 1), table)[1]:
        offer(queue, int(client))
