"""The log directories of one broker and the replicas that are in them, as arrays."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from fractions import Fraction

import numpy as np

from app.core.certificate import Certificate
from app.core.model import NO_LOG_DIR, Bools, Int32s, Int64s
from app.core.reassignment.model import Balance


@dataclass(frozen=True, slots=True, eq=False)
class LogDirProblem:
    """Replicas of one broker that are to be in its log directories. Brokers are independent of one another.

    Hard constraints: each replica is in one directory, its current one unless that is drained, or one that may receive;
    no directory has more bytes than its limit, of which replicas that cannot move are no part.

    Soft goals, in their order: with *keep* the fewest moved bytes, then the smallest largest share; with *tight* the
    smallest largest share, but for a thousandth of it, then the fewest moved bytes; with a tolerance the fewest moved
    bytes for which no share is farther above the mean than that, or than the smallest that is reached.

    Parameters
    ----------
    size_bytes : (replicas,) int64. current : (replicas,) int32 directory, or `NO_LOG_DIR` of a replica that arrives.
    base_bytes : (directories,) int64 of replicas that cannot move.
    capacity : (directories,) int64 > 0, what shares are of: bytes of the file system, or 1 each if they are unknown.
    max_bytes : (directories,) int64 at most `NO_LIMIT`.
    may_receive : (directories,) bool, neither drained nor cordoned nor offline.
    is_drained : (directories,) bool, in which nothing that can move may stay; its share does not count.
    """

    size_bytes: Int64s = field(repr=False)
    current: Int32s = field(repr=False)
    base_bytes: Int64s
    capacity: Int64s
    max_bytes: Int64s
    may_receive: Bools
    is_drained: Bools
    balance: Balance

    @property
    def limit(self) -> Int64s:
        """(directories,) int64 bytes: a directory that is above its limit by what cannot move receives nothing."""
        return np.maximum(self.max_bytes, self.base_bytes)

    @property
    def has_to_move(self) -> Bools:
        """(replicas,) bool: those that arrive or are in a drained directory."""
        return np.asarray((self.current == NO_LOG_DIR) | np.append(self.is_drained, False)[self.current], np.bool_)

    def loads(self, log_dirs: Int32s) -> Int64s:
        """(directories,) int64 bytes with (replicas,) int32 directories; `NO_LOG_DIR` is in none."""
        loads = self.base_bytes.copy()
        is_placed = log_dirs != NO_LOG_DIR
        np.add.at(loads, log_dirs[is_placed], self.size_bytes[is_placed])
        return loads

    def largest_share(self, loads: Int64s) -> Fraction:
        """Of the directories that are not drained; 0 if there is none."""
        shares = [
            Fraction(int(load), int(capacity))
            for load, capacity, drained in zip(loads, self.capacity, self.is_drained, strict=True)
            if not drained
        ]
        return max(shares, default=Fraction(0))

    def moved_bytes(self, log_dirs: Int32s) -> int:
        """Bytes that are copied between directories; what arrives is copied from another broker in any case."""
        is_moved = (self.current != NO_LOG_DIR) & (log_dirs != self.current)
        return int(self.size_bytes[is_moved].sum())

    def ceiling(self, share: Fraction) -> Int64s:
        """(directories,) int64 bytes that are at most this share and at most the limit."""
        most = [
            min(int(share * int(capacity)), int(limit))
            for capacity, limit in zip(self.capacity, self.limit, strict=True)
        ]
        return np.where(self.is_drained, self.limit, np.array(most, np.int64))


@dataclass(frozen=True, slots=True, eq=False)
class LogDirPlacement:
    """The directory of each replica.

    Parameters
    ----------
    log_dirs : (replicas,) int32.
    moved : bytes moved between directories; its bound holds for every placement within the same largest share, or, with
        *keep*, for every placement.
    largest : share of a directory; its bound holds, with *keep*, for placements that move no more.
    """

    log_dirs: Int32s = field(repr=False)
    moved: Certificate[int]
    largest: Certificate[Fraction]


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
