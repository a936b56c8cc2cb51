"""KIP-441's movements: a task whose planned client lags moves to a caught-up client, and the planned client warms up.

Movements are taken from a java.util.PriorityQueue, which breaks the tie between two of the same task.

Source: KIP-441, `TaskMovement` of Apache Kafka 4.0.
"""

from typing import NamedTuple

import numpy as np

from app.core.compiled.arrays import BoolMatrix, BoolVector, Int64Matrix, Int64Vector
from app.core.compiled.loops import compiled, subroutine
from app.core.model import NO_CLIENT, Int64s
from app.core.streams.assignors.client_queue_kernel import ClientQueue, add_tasks, offer, poll


class Copies(NamedTuple):
    """Copies of tasks on clients.

    active, standby, warmup : (clients, tasks) bool, changed. caught_up : (clients, tasks) bool.
    lags : (clients, tasks) int64. warmups_left : (1,) int64, counted down.
    """

    active: BoolMatrix
    standby: BoolMatrix
    warmup: BoolMatrix
    caught_up: BoolMatrix
    lags: Int64Matrix
    warmups_left: Int64Vector


@compiled
def move_active(copies: Copies, queue: ClientQueue) -> int:
    """Move active tasks to caught-up clients; returns the number of moves."""
    active, standby, caught_up, lags = copies.active, copies.standby, copies.caught_up, copies.lags
    tasks, destinations = _planned(active, caught_up, lags, queue)
    for at in range(len(tasks)):
        task, to = tasks[at], destinations[at]
        source = poll(queue, caught_up[:, task] & standby[:, task])
        swaps = source != NO_CLIENT
        if source == NO_CLIENT:
            source = poll(queue, caught_up[:, task].copy())
        if source == NO_CLIENT:
            source = _most_caught_up(task, to, lags, np.ones(len(lags), np.bool_))
            swaps = standby[source, task]
        if swaps:
            standby[source, task] = False
            active[source, task] = True
            active[to, task] = False
            standby[to, task] = True
        else:
            active[source, task] = True
            add_tasks(queue, source, 1)
            active[to, task] = False
            _warm_up(copies, task, to, queue)
        offer(queue, source)
        offer(queue, to)
    return len(tasks)


@compiled
def move_standbys(copies: Copies, queue: ClientQueue) -> int:
    """Move standbys to caught-up clients, beside those that warm up; returns the number of moves."""
    active, standby, caught_up, lags = copies.active, copies.standby, copies.caught_up, copies.lags
    tasks, destinations = _planned(standby & ~copies.warmup, caught_up, lags, queue)
    moved = 0
    for at in range(len(tasks)):
        task, to = tasks[at], destinations[at]
        has_none = ~(active[:, task] | standby[:, task])
        source = poll(queue, caught_up[:, task] & has_none)
        if source == NO_CLIENT:
            source = _most_caught_up(task, to, lags, has_none)
        if source == NO_CLIENT:
            continue
        standby[source, task] = True
        add_tasks(queue, source, 1)
        _warm_up(copies, task, to, queue)
        offer(queue, source)
        offer(queue, to)
        moved += 1
    return moved


@subroutine
def _warm_up(copies: Copies, task: int, to: int, queue: ClientQueue) -> None:
    """Leave a warm-up of the task on its planned client, or no copy if there are enough warm-ups."""
    may_warm_up = copies.warmups_left[0] > 0
    copies.standby[to, task] = copies.warmup[to, task] = may_warm_up
    if not may_warm_up:
        add_tasks(queue, to, -1)
    copies.warmups_left[0] -= 1


@subroutine
def _planned(
    movable: BoolMatrix, caught_up: BoolMatrix, lags: Int64Matrix, queue: ClientQueue
) -> tuple[Int64s, Int64s]:
    """The tasks that are planned on clients which are behind others, and those clients; all clients join the queue.

    Tasks that fewer clients are caught up on come first.
    """
    clients, tasks = movable.shape
    rank = np.zeros(tasks, np.int64)
    least = np.empty(tasks, np.int64)
    for task in range(tasks):
        least[task] = lags[0, task] if clients else 0
        for client in range(clients):
            rank[task] += caught_up[client, task]
            least[task] = min(least[task], lags[client, task])
        rank[task] = rank[task] * tasks + task
    heap = np.empty((movable.sum(), 2), np.int64)
    size = 0
    for client in range(clients):
        for task in range(tasks):
            if movable[client, task] and not caught_up[client, task] and least[task] < lags[client, task]:
                _add(heap, size, rank[task], client)
                size += 1
        offer(queue, client)
    polled, planned_on = np.empty(size, np.int64), np.empty(size, np.int64)
    for at in range(size):
        polled[at], planned_on[at] = heap[0, 0] % tasks, heap[0, 1]
        _take_first(heap, size - at - 1)
    return polled, planned_on


@subroutine
def _add(heap: Int64Matrix, slot: int, rank: int, client: int) -> None:
    while slot > 0:
        parent = (slot - 1) >> 1
        if rank >= heap[parent, 0]:
            break
        heap[slot, 0], heap[slot, 1] = heap[parent, 0], heap[parent, 1]
        slot = parent
    heap[slot, 0], heap[slot, 1] = rank, client


@subroutine
def _take_first(heap: Int64Matrix, size: int) -> None:
    """Let the last of `size` + 1 take the place of the first, and sink."""
    rank, client = heap[size, 0], heap[size, 1]
    slot = 0
    while slot < size >> 1:
        child = 2 * slot + 1
        if child + 1 < size and heap[child, 0] > heap[child + 1, 0]:
            child += 1
        if rank <= heap[child, 0]:
            break
        heap[slot, 0], heap[slot, 1] = heap[child, 0], heap[child, 1]
        slot = child
    heap[slot, 0], heap[slot, 1] = rank, client


@subroutine
def _most_caught_up(task: int, to: int, lags: Int64Matrix, eligible: BoolVector) -> int:
    """The eligible client with the least lag that is before the destination by lag and number; or `NO_CLIENT`."""
    best = NO_CLIENT
    for client in range(len(lags)):
        if not eligible[client] or lags[client, task] > lags[to, task]:
            continue
        if lags[client, task] == lags[to, task] and client >= to:
            continue
        if best == NO_CLIENT or lags[client, task] < lags[best, task]:
            best = client
    return best
