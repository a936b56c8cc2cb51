"""Compiled loops of the standby policies: the least loaded client that may have each next standby.

Kafka stores the clients in a queue by tasks a thread, and adds a changed client again before the next poll, so that a
search for the minimum is equivalent.
"""

from typing import NamedTuple

import numpy as np

from app.core.compiled.arrays import BoolMatrix, BoolVector, Int64Matrix, Int64Vector
from app.core.compiled.loops import compiled, subroutine
from app.core.model import NO_CLIENT
from app.core.streams.loads_kernel import is_less, load
from app.core.streams.model import Bools


class Clients(NamedTuple):
    """Clients and the tasks that are placed on them.

    active, standby : (clients, tasks) bool. counts : (clients,) int64 tasks. capacities : (clients,) int64 threads.
    """

    active: BoolMatrix
    standby: BoolMatrix
    counts: Int64Vector
    capacities: Int64Vector


@compiled
def place_on_least_loaded(rows: Int64Vector, requested: Int64Vector, clients: Clients) -> None:
    """Place as many standbys of each task as requested or possible."""
    free = np.ones(len(clients.capacities), np.bool_)
    for at in range(len(rows)):
        row = rows[at]
        for _ in range(requested[at]):
            client = _least_loaded(row, free, clients)
            if client == NO_CLIENT:
                break
            clients.standby[client, row] = True
            clients.counts[client] += 1


@compiled
def place_apart_by_tags(
    rows: Int64Vector, remaining: Int64Vector, values: Int64Matrix, clients: Clients
) -> tuple[Bools, int]:
    """Place standbys apart by tags; changes `remaining`, too.

    Parameters
    ----------
    rows : (stateful,) int64 tasks.
    remaining : (stateful,) int64 standbys still to place.
    values : (clients, tags) int64, as `tag_vectors` returns them.

    Returns
    -------
    (stateful,) bool, whether all standbys of the task are placed; and the index of a task that is active a second time
    when they are, on which Kafka fails, or `NO_CLIENT`.
    """
    n_clients, tags = values.shape
    n_values = np.zeros(tags, np.int64)
    for tag in range(tags):
        for client in range(n_clients):
            n_values[tag] = max(n_values[tag], values[client, tag] + 1)
    is_complete = np.zeros(len(rows), np.bool_)
    widest = 1
    for tag in range(tags):
        widest = max(widest, n_values[tag])
    used = np.zeros((tags, widest), np.bool_)
    free = np.ones(n_clients, np.bool_)
    for at in range(len(rows)):
        row = rows[at]
        for owner in range(n_clients):
            if not clients.active[owner, row]:
                continue
            if is_complete[at]:
                return is_complete, at
            used[:] = False
            last, copies = owner, 1
            while True:
                for tag in range(tags):
                    value = values[last, tag]
                    if value < 0:
                        continue
                    if n_values[tag] <= copies:
                        used[tag] = False
                    else:
                        used[tag, value] = True
                for client in range(n_clients):
                    free[client] = True
                    for tag in range(tags):
                        value = values[client, tag]
                        if value >= 0 and used[tag, value]:
                            free[client] = False
                last = _least_loaded(row, free, clients)
                if last == NO_CLIENT:
                    break
                clients.standby[last, row] = True
                clients.counts[last] += 1
                copies += 1
                remaining[at] -= 1
                if remaining[at] <= 0:
                    break
            is_complete[at] = remaining[at] <= 0
    return is_complete, NO_CLIENT


@subroutine
def _least_loaded(row: int, free: BoolVector, clients: Clients) -> int:
    """The free client with the lowest load that has no copy of the task; of equal ones the first."""
    best = NO_CLIENT
    lowest = np.nan
    for client in range(len(clients.capacities)):
        if not free[client] or clients.active[client, row] or clients.standby[client, row]:
            continue
        client_load = load(clients.counts[client], clients.capacities[client])
        if best == NO_CLIENT or is_less(client_load, lowest):
            best, lowest = client, client_load
    return best
