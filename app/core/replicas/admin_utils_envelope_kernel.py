"""The range over all draws of AdminUtils: windows of rows that move on by one with each start index."""

import numpy as np

from app.core.compiled.arrays import Int32Cube, Int32Matrix, Int64Matrix, Int64Vector
from app.core.compiled.loops import compiled, subroutine


@subroutine
def _move(rows: Int32Matrix, leaving: int, entering: int, leaders: Int64Vector, replicas: Int64Vector) -> None:
    """Let one row of the window go and take the next one in."""
    leaders[leaving] -= 1
    leaders[entering] += 1
    for column in range(rows.shape[1]):
        replicas[rows[leaving, column]] -= 1
        replicas[rows[entering, column]] += 1


@subroutine
def _enter(rows: Int32Matrix, begin: int, count: int, leaders: Int64Vector, replicas: Int64Vector) -> None:
    """Fill the window with the first rows."""
    for place in range(begin, begin + count):
        leaders[place % len(rows)] += 1
        for column in range(rows.shape[1]):
            replicas[rows[place % len(rows), column]] += 1


@subroutine
def _widen(counts: Int64Vector, lowest: Int64Vector, highest: Int64Vector, spreads: Int64Vector) -> None:
    """Take one outcome's counts into the range."""
    least = most = counts[0]
    for broker in range(len(counts)):
        count = counts[broker]
        lowest[broker] = min(lowest[broker], count)
        highest[broker] = max(highest[broker], count)
        least = min(least, count)
        most = max(most, count)
    spreads[0] = min(spreads[0], most - least)
    spreads[1] = max(spreads[1], most - least)


@compiled
def widen(
    rows_of_shift: Int32Cube,
    whole: Int64Matrix,
    blocks: tuple[int, int, int, int, int],
    starts: int,
    lowest: Int64Matrix,
    highest: Int64Matrix,
    spreads: Int64Matrix,
) -> None:
    """Widen (2, n) `lowest` and `highest` and (2, 2) `spreads` (least, widest) by every draw.

    Parameters
    ----------
    rows_of_shift : (n - 1, n, factor) rows by shift and leader.
    whole : (n, n) replicas of the whole blocks by shift.
    blocks : first, head, whole, tail, steps of `_Blocks`. starts : n, or 1 where the start index makes no difference.
    """
    shifts, n, _ = rows_of_shift.shape
    first, head, whole_blocks, tail, steps = blocks
    for shift in range(n):
        of_head = rows_of_shift[shift % shifts]
        of_tail = rows_of_shift[(shift + steps + whole_blocks) % shifts]
        leaders = np.full(n, whole_blocks, np.int64)
        replicas = whole[shift].copy()
        _enter(of_head, first % n, head, leaders, replicas)
        _enter(of_tail, 0, tail, leaders, replicas)
        for start in range(starts):
            if start > 0 and head > 0:
                _move(of_head, (first + start - 1) % n, (first + start - 1 + head) % n, leaders, replicas)
            if start > 0 and tail > 0:
                _move(of_tail, (start - 1) % n, (start - 1 + tail) % n, leaders, replicas)
            _widen(leaders, lowest[0], highest[0], spreads[0])
            _widen(replicas, lowest[1], highest[1], spreads[1])
