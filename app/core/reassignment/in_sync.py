"""Exchanges that keep replicas in sync instead of others, at equal movement.

For solvers that search: a solver by flows has the replicas in sync among its costs (`counts.places.sync_costs`).
"""

from collections.abc import Iterator

import numpy as np

from app.core.model import NO_REPLICA, Int32s, Int64s
from app.core.reassignment.model import MovementProblem
from app.core.replica_lists import not_among


def in_sync_exchanges(problem: MovementProblem, replicas: Int32s) -> Iterator[tuple[int, int, int]]:
    """Find replicas that are kept out of sync while one in sync is removed, and racks allow the opposite.

    The caller sets `replicas[row, column]` to the broker before it continues, or leaves it: the exchange moves nothing.

    Parameters
    ----------
    replicas : (rows, widest) int32 legal placement.

    Yields
    ------
    Row, column of the replica out of sync, and the current broker in sync.
    """
    if problem.in_sync is None:
        return
    table, domain = problem.table, problem.domain_of
    stays = (problem.current != NO_REPLICA) & table.may_keep[domain[:, None], problem.current] & ~problem.is_copied
    kept_first = stays & problem.in_sync
    behind = stays & ~problem.in_sync & (problem.current != problem.must_keep[:, None])
    for row in np.flatnonzero(kept_first.any(axis=1) & behind.any(axis=1)).tolist():
        others = problem.current[row, behind[row]]
        for broker in problem.current[row, kept_first[row]].tolist():
            for column in np.flatnonzero(np.isin(replicas[row], others)).tolist():
                if broker in replicas[row]:
                    break
                if _fits_racks(problem, replicas, row, column, broker):
                    yield row, column, broker


def exchange_sources(problem: MovementProblem, replicas: Int32s, load: Int64s) -> None:
    """Let another partition move, of the same load and weight, in place of one that loses its only replica in sync.

    Parameters
    ----------
    replicas : (rows, widest) int32 legal placement, which is changed. load : (rows,) int64 of one replica.
    """
    if problem.in_sync is None:
        return
    is_there, number = problem.current != NO_REPLICA, np.count_nonzero(problem.in_sync, axis=1)
    may_keep = problem.table.may_keep[problem.domain_of[:, None], problem.current] & is_there & ~problem.is_copied
    is_lost = may_keep & problem.in_sync & not_among(problem.current, replicas) & (number == 1)[:, None]
    is_lost &= np.asarray((is_there & ~problem.in_sync).any(axis=1))[:, None]
    is_new = not_among(replicas, problem.current)
    for row in np.flatnonzero(is_lost.any(axis=1)).tolist():
        source = int(problem.current[row, is_lost[row]][0])
        alike = (load == load[row]) & (problem.weight == problem.weight[row]) & (problem.must_keep != source)
        # Another replica in sync remains there, or the one that moves is not in sync itself.
        is_source = (problem.current == source) & may_keep
        alike &= (is_source & (~problem.in_sync | (number > 1)[:, None])).any(axis=1)
        others = np.flatnonzero(alike & (replicas == source).any(axis=1))
        for column in np.flatnonzero(is_new[row]).tolist():
            receiver = int(replicas[row, column])
            fits = problem.table.may_receive[problem.domain_of[others], receiver]
            fits = (
                fits & ~(replicas[others] == receiver).any(axis=1) & ~(problem.current[others] == receiver).any(axis=1)
            )
            columns = (replicas[others] == source).argmax(axis=1)
            pairs = zip(others[fits].tolist(), columns[fits].tolist(), strict=True)
            other = next((pair for pair in pairs if _fits_racks(problem, replicas, *pair, receiver)), None)
            if other is not None and _fits_racks(problem, replicas, row, column, source):
                replicas[row, column], replicas[other] = source, receiver
                break


def _fits_racks(problem: MovementProblem, replicas: Int32s, row: int, column: int, broker: int) -> bool:
    """Whether the racks of a row are within the bounds of its domain if `broker` replaces the replica in `column`."""
    table, domain = problem.table, problem.domain_of[row]
    there = replicas[row][replicas[row] != NO_REPLICA]
    in_racks = np.bincount(problem.rack_of[there], minlength=problem.racks)
    in_racks[problem.rack_of[replicas[row, column]]] -= 1
    in_racks[problem.rack_of[broker]] += 1
    return bool(((in_racks >= table.least[domain]) & (in_racks <= table.most[domain])).all())
