"""What a plan says about log directories: each one before and after, moves within brokers, and their certificate."""

from typing import Any

import numpy as np

from app.core.measures.tally import positions_of
from app.core.model import NO_REPLICA, Int32s, Int64s
from app.core.reassignment import Batches, LogDirMoves
from app.core.reassignment.log_dirs.placing import PRECISION
from app.core.reassignment.model import NO_LIMIT
from app.core.reassignment.problem import LogDirTable
from app.core.reassignment.stages.log_dirs import BrokerLogDirs, LogDirSolution
from app.core.replica_lists import not_among, stacked, sums_by
from app.errors import Json
from app.services.reassignment.problem.problem import ReassignmentProblem
from app.services.reassignment.solve import ReassignmentSolution

ANY = -1
"""In an array of paths: the broker chooses the directory."""


def log_dirs_json(problem: ReassignmentProblem, solution: ReassignmentSolution) -> dict[str, Json]:
    """The field `log_dirs` of an answer; empty if the request does not choose directories."""
    table, chosen, moves = problem.log_dirs, solution.log_dirs, solution.steps.log_dir_moves
    if table is None or chosen is None or moves is None:
        return {}
    moved = sum(each.placement.moved.value for each in chosen.brokers)
    bound = sum(each.placement.moved.lower_bound for each in chosen.brokers)
    used = _used(problem, solution, chosen)
    document: dict[str, Json] = {
        "moved_replicas": len(moves.row),
        "moved_bytes": moved,
        "lower_bound_bytes": bound,
        "optimal": moved == bound and all(each.placement.largest.gap <= PRECISION for each in chosen.brokers),
        "gap": (moved - bound) / moved if moved > bound else 0.0,
        "solver": next((each.placement.moved.solver for each in chosen.brokers), "none: no replica moves"),
        "brokers": [_broker(problem, table, each, used, moves) for each in chosen.brokers],
    }
    return {"log_dirs": document}


def _used(problem: ReassignmentProblem, solution: ReassignmentSolution, chosen: LogDirSolution) -> Int64s:
    """(disks,) int64 bytes afterwards."""
    before, after = problem.before, solution.leaders.after
    size = problem.sizes.size_bytes
    used = _total(problem).copy()
    for lists, disks, sign in ((before, chosen.disks.before, -1), (after, chosen.disks.after, 1)):
        is_there = lists != NO_REPLICA
        sizes = np.broadcast_to(size[:, None], lists.shape)[is_there]
        used += sign * sums_by(disks[is_there], sizes, len(used))
    return used


def _total(problem: ReassignmentProblem) -> Int64s:
    return np.zeros(0, np.int64) if problem.log_dirs is None else problem.log_dirs.used_bytes


def _broker(
    problem: ReassignmentProblem, table: LogDirTable, each: BrokerLogDirs, used: Int64s, moves: LogDirMoves
) -> dict[str, Json]:
    disks = range(table.disks_of(each.broker).start, table.disks_of(each.broker).stop)
    has_shares = bool((table.total_bytes[list(disks)] > 0).all())
    largest = each.placement.largest
    return {
        "broker": int(problem.brokers.ids[each.broker]),
        "largest_share": float(largest.value) if has_shares else None,
        "largest_share_lower_bound": float(largest.lower_bound) if has_shares else None,
        "moved_bytes": each.placement.moved.value,
        "lower_bound_bytes": each.placement.moved.lower_bound,
        "log_dirs": [
            {
                "path": directory.path,
                "total_bytes": int(table.total_bytes[disk]) or None,
                "limit_bytes": int(table.max_bytes[disk]) if table.max_bytes[disk] < NO_LIMIT // 2 else None,
                "drained": bool(table.is_drained[disk]),
                "offline": bool(table.is_offline[disk]),
                "bytes_before": int(table.used_bytes[disk]),
                "bytes_after": int(used[disk]),
                "replicas_in": int(np.count_nonzero(moves.target == disk)),
                "replicas_out": int(np.count_nonzero(moves.source == disk)),
            }
            for disk, directory in zip(disks, table.directories[each.broker], strict=True)
        ],
    }


def batch_json(problem: ReassignmentProblem, steps: Batches, number: int) -> dict[str, Json]:
    """What a batch moves between log directories; empty if the request does not choose them."""
    moves = steps.log_dir_moves
    if moves is None:
        return {}
    rows = moves.row[moves.batch == number]
    return {"log_dir_moves": len(rows), "log_dir_moved_bytes": int(problem.sizes.size_bytes[rows].sum())}


def step_log_dirs(problem: ReassignmentProblem, solution: ReassignmentSolution) -> dict[str, Any]:
    """For each step, the directories of the list that it requests, and of the one that its inverse requests.

    Returns
    -------
    paths : distinct ones. before, after : (steps, widest) int32 indices into them, or `ANY`. Without `after` if the
        request does not choose directories; empty if, besides, no inverse adds a replica to a known one.
    """
    table, chosen, steps = problem.log_dirs, solution.log_dirs, solution.steps
    if table is None or chosen is None or steps.log_dir_moves is None:
        return _returning(problem, steps)
    n_brokers, paths = len(problem.brokers.ids), sorted(set(table.paths))
    index_of = {path: index for index, path in enumerate(paths)}
    path_of = np.array([*[ANY] * n_brokers, *(index_of[path] for path in table.paths), ANY], np.int32)
    found = {}
    for name, lists, others, ends, disks, of_moves in (
        ("after", steps.after, steps.before, solution.leaders.after, chosen.disks.after, steps.log_dir_moves.target),
        ("before", steps.before, steps.after, problem.before, chosen.disks.before, steps.log_dir_moves.source),
    ):
        requested = np.where(not_among(lists, others), _disks_of(steps.rows, lists, ends, disks), -1)
        _set_moves(requested, lists, steps, of_moves)
        found[name] = path_of[requested]
    return {"paths": paths, **found}


def _returning(problem: ReassignmentProblem, steps: Batches) -> dict[str, Any]:
    """`paths` and `before`: where replicas that an inverse adds again were, on live brokers of several directories."""
    scope, ids = problem.scope, problem.brokers.ids
    live = ids[~problem.brokers.is_offline].tolist()
    several = {broker: its for broker in live if len(its := problem.directories.get(broker, ())) > 1}
    paths = sorted({one.path for its in several.values() for one in its if not one.is_offline})
    if not paths:
        return {}
    index_of = {path: index for index, path in enumerate(paths)}
    # The last row and column are of unknown brokers and directories, and of padding.
    path_of = np.full((len(ids) + 1, 1 + max(map(len, several.values()))), ANY, np.int32)
    for position, broker in enumerate(ids.tolist()):
        for at, directory in enumerate(several.get(broker, ())):
            path_of[position, at] = index_of.get(directory.path, ANY) if not directory.is_offline else ANY
    brokers = stacked([positions_of(topic.replicas, ids) for topic in scope.described])
    known = [np.full_like(t.replicas, ANY) if t.log_dirs is None else t.log_dirs for t in scope.described]
    row_of = np.cumsum(~scope.is_new) - 1  # no step is of a new partition
    found = _disks_of(row_of[steps.rows], steps.before, brokers, path_of[brokers, stacked(known)])
    before = np.where(not_among(steps.before, steps.after), found, ANY)
    return {"paths": paths, "before": before} if (before != ANY).any() else {}


def _disks_of(rows: Int64s, lists: Int32s, ends: Int32s, disks: Int32s) -> Int32s:
    """(steps, widest) int32 disks, or paths, of brokers in the final or the first list of their row; −1 of others."""
    found = np.full(lists.shape, -1, np.int32)
    for column in range(ends.shape[1]):
        is_it = (lists == ends[rows, column][:, None]) & (lists != NO_REPLICA)
        found = np.where(is_it, disks[rows, column][:, None], found)
    return np.asarray(found, np.int32)


def _set_moves(requested: Int32s, lists: Int32s, steps: Batches, of_moves: Int32s) -> None:
    moves = steps.log_dir_moves
    if moves is None:
        return
    batch_of = np.repeat(np.arange(len(steps)), np.diff(steps.offsets))
    # Steps are by batch and then by row, so that their keys ascend.
    n_rows = int(max(steps.rows.max(initial=0), moves.row.max(initial=0))) + 1
    at = np.searchsorted(batch_of * n_rows + steps.rows, moves.batch * n_rows + moves.row)
    column = (lists[at] == moves.broker[:, None]).argmax(axis=1) if len(at) else at
    requested[at, column] = of_moves
