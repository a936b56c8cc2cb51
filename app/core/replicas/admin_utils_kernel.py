"""The rows of AdminUtils, computed one after another in Java's 32-bit arithmetic.

Both kernels return -1, or the first row at which Kafka's code would fail because an index is negative; column 0 of that
row is then the index.
"""

import numpy as np

from app.core.compiled.arrays import Int32Matrix, Int32Vector
from app.core.compiled.loops import compiled, subroutine
from app.core.model import INT32_MAX, Int32s


@subroutine
def _int32(value: int) -> int:
    """Wrap around as a Java `int` does."""
    return ((value + 2**31) & 0xFFFFFFFF) - 2**31


@subroutine
def _remainder(value: int, divisor: int) -> int:
    """Java's %: the sign of the value, where Python's takes the divisor's."""
    return value % divisor if value >= 0 else -(-value % divisor)


@subroutine
def _offset(shift: int, step: int, n: int) -> int:
    """How far past its leader a follower stands among n brokers: 1 … n − 1, or less where an int overflowed."""
    return 1 + _remainder(_int32(shift + step), n - 1)


@subroutine
def _to_another_rack(racks: Int32Vector) -> Int32s:
    """How far each place is from the next one of another rack, around the end; at most n."""
    n = len(racks)
    ahead = np.ones(n, np.int32)
    # Twice around, backwards: the first time finds the distances but for those that pass the end.
    for place in range(2 * n - 2, -1, -1):
        if racks[place % n] == racks[(place + 1) % n]:
            ahead[place % n] = min(ahead[(place + 1) % n] + 1, n)
    return ahead


@compiled
def fill_rack_unaware(rows: Int32Matrix, brokers: Int32Vector, start: int, shift: int, first: int) -> int:
    """Fill (partitions, factor) rows; `brokers` is the (n,) list in the caller's order."""
    n = len(brokers)
    factor = rows.shape[1]
    for row in range(len(rows)):
        partition = _int32(first + row)
        if partition > 0 and partition % n == 0:
            shift = _int32(shift + 1)
        leader = _remainder(_int32(partition + start), n)
        if leader < 0:
            rows[row, 0] = leader
            return row
        rows[row, 0] = brokers[leader]
        for follower in range(factor - 1):
            position = _remainder(leader + _offset(shift, follower, n), n)
            if position < 0:
                rows[row, 0] = position
                return row
            rows[row, follower + 1] = brokers[position]
    return -1


@compiled
def fill_rack_aware(
    rows: Int32Matrix, brokers: Int32Vector, racks: Int32Vector, n_racks: int, start: int, shift: int, first: int
) -> int:
    """Fill (partitions, factor) rows; `brokers` is the (n,) rack-alternated list, `racks` each one's rack index."""
    n = len(brokers)
    factor = rows.shape[1]
    # Which row last put a replica there: cheaper than clearing a set for every row.
    rack_used_by = np.full(n_racks, -1, np.int64)
    broker_used_by = np.full(n, -1, np.int64)
    to_another_rack = _to_another_rack(racks)
    for row in range(len(rows)):
        partition = _int32(first + row)
        if partition > 0 and partition % n == 0:
            shift = _int32(shift + 1)
        leader = _remainder(_int32(partition + start), n)
        if leader < 0 or (n == 1 and factor > 1):  # with one broker Kafka divides by n − 1 = 0
            rows[row, 0] = leader
            return row
        rows[row, 0] = brokers[leader]
        rack_used_by[racks[leader]] = row
        broker_used_by[leader] = row
        racks_used = brokers_used = 1
        far = _int32(shift * n_racks)
        step = 0
        for replica in range(1, factor):
            rejected = 0
            while True:
                sum_of_shifts = _int32(far + step)
                if rejected == n - 1:
                    # Offsets repeat every n - 1 steps while the sum stays negative, which Kafka waits for: 2³¹ steps.
                    step += -sum_of_shifts // (n - 1) * (n - 1)
                    sum_of_shifts, rejected = _int32(far + step), 0
                offset = _offset(far, step, n)
                position = _remainder(leader + offset, n)
                if position < 0:
                    rows[row, 0] = position
                    return row
                rack_is_used = rack_used_by[racks[position]] == row
                broker_is_used = broker_used_by[position] == row
                if rack_is_used and racks_used < n_racks and 0 <= far <= INT32_MAX - step - n:
                    # Kafka looks at the next place; as long as racks are the same, so is the answer. The leader's own
                    # place, at offset n, is not among those looked at.
                    ahead = to_another_rack[position]
                    step += ahead if offset + ahead <= n else ahead - 1
                    continue
                step += 1
                rejected = rejected + 1 if sum_of_shifts < 0 else 0
                if (not rack_is_used or racks_used == n_racks) and (not broker_is_used or brokers_used == n):
                    break
            rows[row, replica] = brokers[position]
            rack_used_by[racks[position]] = row
            broker_used_by[position] = row
            racks_used += not rack_is_used
            brokers_used += not broker_is_used
    return -1
