"""Load of a client as Java's doubles compare it, and compiled loops that balance loads."""

import numpy as np

from app.core.compiled.arrays import BoolMatrix, Int64Vector
from app.core.compiled.loops import compiled, subroutine


@subroutine
def load(count: float, capacity: int) -> float:
    """Tasks a thread; without threads infinite, or NaN if there is no task either."""
    if capacity != 0:
        return count / capacity
    if count == 0:
        return np.nan
    return np.inf if count > 0 else -np.inf


@subroutine
def is_less(one: float, other: float) -> bool:
    """`Double.compare(one, other) < 0`: NaN is above all other numbers."""
    if np.isnan(one):
        return False
    return bool(np.isnan(other)) or one < other


@compiled
def balance(
    moving: BoolMatrix, other: BoolMatrix, counts: Int64Vector, capacities: Int64Vector, may_move: BoolMatrix
) -> None:
    """Move tasks from client to client while that balances their loads, lowest tasks first.

    Parameters
    ----------
    moving : (clients, tasks) bool, the tasks to move: active ones or standbys; changed.
    other : (clients, tasks) bool, the other ones.
    counts : (clients,) int64 number of both; changed.
    may_move : (clients, clients) bool.
    """
    clients, tasks = moving.shape
    has_moved = True
    while has_moved:
        has_moved = False
        for source in range(clients):
            for to in range(clients):
                if source == to or not may_move[source, to] or not _balances(source, to, counts, capacities):
                    continue
                for task in range(tasks):
                    if not moving[source, task] or moving[to, task] or other[to, task]:
                        continue
                    moving[source, task] = False
                    moving[to, task] = True
                    counts[source] -= 1
                    counts[to] += 1
                    has_moved = True
                    if not _balances(source, to, counts, capacities):
                        break


@compiled
def assign_to_least_loaded(rows: Int64Vector, active: BoolMatrix, capacities: Int64Vector) -> None:
    """Assign each task to the client with the fewest active tasks a thread."""
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


@subroutine
def _balances(source: int, to: int, counts: Int64Vector, capacities: Int64Vector) -> bool:
    """Whether a move of one task makes the difference of loads smaller without changing its sign."""
    skew = load(counts[source], capacities[source]) - load(counts[to], capacities[to])
    if skew <= 0:
        return False
    proposed = load(counts[source] - 1, capacities[source]) - load(counts[to] + 1, capacities[to])
    if proposed < 0:
        return False
    return bool(proposed < skew)
