"""A client's load, as Java's doubles compare it; and how tasks are moved until no thread has too many."""

import numpy as np
from numba import njit

from app.core.model import Int64s
from app.core.streams.model import Bools


@njit(cache=True, nogil=True)
def load(count: float, capacity: int) -> float:
    """Tasks a thread; of a client without threads infinite, or not a number where it has no task either."""
    if capacity != 0:
        return count / capacity
    if count == 0:
        return np.nan
    return np.inf if count > 0 else -np.inf


@njit(cache=True, nogil=True)
def is_less(one: float, other: float) -> bool:
    """`Double.compare(one, other) < 0`: what is not a number is above all others."""
    if np.isnan(one):
        return False
    return bool(np.isnan(other)) or one < other


@njit(cache=True, nogil=True)
def balance(moving: Bools, other: Bools, counts: Int64s, capacities: Int64s, may_move: Bools) -> None:
    """Move tasks from client to client while that evens out their loads, lowest tasks first.

    Parameters
    ----------
    moving : (clients, tasks) bool, the tasks that are moved: active ones or standbys; other : those that are not.
    counts : (clients,) int64 of both. may_move : (clients, clients) bool.
    """
    clients, tasks = moving.shape
    goes_on = True
    while goes_on:
        goes_on = False
        for source in range(clients):
            for to in range(clients):
                if source == to or not may_move[source, to] or not _evens_out(source, to, counts, capacities):
                    continue
                for task in range(tasks):
                    if not moving[source, task] or moving[to, task] or other[to, task]:
                        continue
                    moving[source, task] = False
                    moving[to, task] = True
                    counts[source] -= 1
                    counts[to] += 1
                    goes_on = True
                    if not _evens_out(source, to, counts, capacities):
                        break


@njit(cache=True, nogil=True)
def deal_to_least_loaded(rows: Int64s, active: Bools, capacities: Int64s) -> None:
    """Give each task to the client with the fewest active tasks a thread."""
    counts = np.zeros(len(capacities), np.int64)
    for client in range(len(capacities)):
        counts[client] = active[client].sum()
    for row in rows:
        best = 0
        for client in range(1, len(capacities)):
            if is_less(load(counts[client], capacities[client]), load(counts[best], capacities[best])):
                best = client
        active[best, row] = True
        counts[best] += 1


@njit(cache=True, nogil=True)
def _evens_out(source: int, to: int, counts: Int64s, capacities: Int64s) -> bool:
    """Whether one task more here and one fewer there makes the difference smaller, and does not turn it around."""
    skew = load(counts[source], capacities[source]) - load(counts[to], capacities[to])
    if skew <= 0:
        return False
    proposed = load(counts[source] - 1, capacities[source]) - load(counts[to] + 1, capacities[to])
    if proposed < 0:
        return False
    return bool(proposed < skew)
