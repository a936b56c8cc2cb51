"""Violations of a placement in log directories, whichever solver made it."""

from collections.abc import Iterator

import numpy as np

from app.core.model import NO_LOG_DIR, Int32s
from app.core.reassignment.log_dirs.model import LogDirPlacement, LogDirProblem


def log_dir_violations(problem: LogDirProblem, placement: LogDirPlacement) -> list[str]:
    """Say every way in which a placement is illegal, or its figures are not those of its directories.

    Returns
    -------
    Empty if every replica is in its current directory, which is not drained, or in one that may receive; no directory
    has more than its limit; and the certificates state the moved bytes and the largest share, and no bound above them.
    """
    misplaced = list(_misplaced(problem, placement.log_dirs))
    return misplaced or list(_figures(problem, placement))


def _misplaced(problem: LogDirProblem, log_dirs: Int32s) -> Iterator[str]:
    bytes_of = dict.fromkeys(range(len(problem.capacity)), 0)
    for replica, (place, current) in enumerate(zip(log_dirs.tolist(), problem.current.tolist(), strict=True)):
        if not 0 <= place < len(problem.capacity):
            yield f"replica {replica} is in no directory"
            continue
        bytes_of[place] += int(problem.size_bytes[replica])
        if place == current and problem.is_drained[place]:
            yield f"replica {replica} stays in directory {place}, which is drained"
        if place != current and not problem.may_receive[place]:
            yield f"replica {replica} moves to directory {place}, which may not receive"
    for directory, size in bytes_of.items():
        used, limit = size + int(problem.base_bytes[directory]), int(problem.max_bytes[directory])
        if size and used > limit:
            yield f"directory {directory} has {used} bytes; {limit} are allowed"


def _figures(problem: LogDirProblem, placement: LogDirPlacement) -> Iterator[str]:
    moves = (placement.log_dirs != problem.current) & (problem.current != NO_LOG_DIR)
    moved = int(np.where(moves, problem.size_bytes, 0).sum())
    if moved != placement.moved.value:
        yield f"{moved} bytes move, not {placement.moved.value}"
    share = problem.largest_share(problem.loads(placement.log_dirs))
    if share != placement.largest.value:
        yield f"the largest share is {share}, not {placement.largest.value}"
    for certificate in (placement.moved, placement.largest):
        if certificate.lower_bound > certificate.value:
            yield f"the lower bound on {certificate.minimised} is above the value"
