"""Exchanges that keep replicas in sync instead of others, at equal movement.

For solvers that search: a solver by flows has the replicas in sync among its costs (`counts.places.sync_costs`).
"""

from collections.abc import Iterator

import numpy as np

from app.core.model import NO_REPLICA, Int32s
from app.core.reassignment.model import MovementProblem


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
        least, most = table.least[domain[row]], table.most[domain[row]]
        others = problem.current[row, behind[row]]
        for broker in problem.current[row, kept_first[row]].tolist():
            for column in np.flatnonzero(np.isin(replicas[row], others)).tolist():
                if broker in replicas[row]:
                    break
                there = replicas[row][replicas[row] != NO_REPLICA]
                in_racks = np.bincount(problem.rack_of[there], minlength=problem.racks)
                in_racks[problem.rack_of[replicas[row, column]]] -= 1
                in_racks[problem.rack_of[broker]] += 1
                if ((in_racks >= least) & (in_racks <= most)).all():
                    yield row, column, broker
