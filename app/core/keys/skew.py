"""How even a key set is: load per partition, its maximum over its mean, its Gini coefficient, its heaviest keys.

A partition can be no lighter than its heaviest key: where one key has more than 1/partitions of the load, no number
of partitions evens it out.
"""

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from app.core.keys.hashes import fnv1a, murmur2
from app.core.keys.model import Keys
from app.core.model import Int32s, Int64s

_COMPARED_AT_ONCE = 1 << 16


@dataclass(frozen=True, slots=True, eq=False)
class Skew:
    """The load that keys put on partitions.

    Parameters
    ----------
    per_partition : (partitions,) int64 load of each.
    max_over_mean : 1 where all are alike; 0 without any load.
    gini : 0 where all are alike, towards 1 where one has everything.
    """

    per_partition: Int64s = field(repr=False)
    max_over_mean: float
    gini: float


@dataclass(frozen=True, slots=True)
class HeavyKey:
    """A key, what it weighs of all, and the index of its first occurrence."""

    key: bytes
    first_index: int
    weight: int
    share: float


def skew(placed: Int32s, partitions: int, *, weights: Int64s | None = None) -> Skew:
    """Measure where the keys landed.

    Parameters
    ----------
    placed : (keys,) int32 partitions; negative ones (without key, refused) are left out.
    weights : (keys,) int64, not negative: records, bytes … of each; None counts each key as 1.
    """
    kept = placed >= 0
    counted = None if weights is None else weights[kept].astype(np.float64)
    # Sums of doubles are exact up to 2⁵³.
    loads = np.bincount(placed[kept], weights=counted, minlength=partitions).astype(np.int64)
    return skew_of(loads)


def skew_of(loads: Int64s) -> Skew:
    """The same of loads that were summed elsewhere."""
    total = int(loads.sum())
    if not total:
        return Skew(loads, 0.0, 0.0)
    n = len(loads)
    ranks = np.arange(1, n + 1, dtype=np.float64)
    gini = 2.0 * float(ranks @ np.sort(loads)) / (n * total) - (n + 1) / n
    return Skew(loads, float(loads.max()) * n / total, max(0.0, gini))


def heaviest(keys: Keys, *, most: int, weights: Int64s | None = None) -> tuple[HeavyKey, ...]:
    """The keys that weigh most over all their occurrences, heaviest first, those that came first before their equals.

    Records without key are left out. Keys are told apart by their bytes; hashes only bring equal ones together.
    """
    indices = np.arange(len(keys)) if keys.is_null is None else np.flatnonzero(~keys.is_null)
    if not len(indices) or most < 1:
        return ()
    each = np.ones(len(keys), np.int64) if weights is None else weights
    total = int(each[indices].sum())
    both = murmur2(keys).view(np.uint32).astype(np.uint64) << np.uint64(32) | fnv1a(keys).view(np.uint32)
    order = indices[np.argsort(both[indices], kind="stable")]
    starts = np.flatnonzero(np.concatenate([[True], both[order][1:] != both[order][:-1]]))
    sums = np.add.reduceat(each[order], starts)
    ends = np.append(starts[1:], len(order))
    firsts = order[starts]
    found: list[HeavyKey] = []
    for group in np.lexsort((firsts, -sums)).tolist():
        # Only a group of keys whose hashes collide weighs more than its keys, so no later group can overtake.
        if len(found) == most and (-sums[group], firsts[group]) > (-found[-1].weight, found[-1].first_index):
            break
        for key, members in _told_apart(keys, order[starts[group] : ends[group]]):
            weight = int(each[members].sum())
            found.append(HeavyKey(key, int(members[0]), weight, weight / total if total else 0.0))
        found.sort(key=lambda heavy: (-heavy.weight, heavy.first_index))
        del found[most:]
    return tuple(found)


def _told_apart(keys: Keys, members: NDArray[np.int64]) -> list[tuple[bytes, NDArray[np.int64]]]:
    """Occurrences of equal hash as the keys that they are; almost always one."""
    apart = []
    while len(members):
        first, same = int(members[0]), np.zeros(len(members), np.bool_)
        start, end = int(keys.offsets[first]), int(keys.offsets[first + 1])
        for at in range(0, len(members), _COMPARED_AT_ONCE):
            some = members[at : at + _COMPARED_AT_ONCE]
            alike = np.flatnonzero(keys.lengths[some] == end - start)
            at_bytes = keys.offsets[some[alike]].astype(np.int64)[:, None] + np.arange(end - start)
            same[at + alike] = (keys.data[at_bytes] == keys.data[start:end]).all(axis=1)
        apart.append((keys.data[start:end].tobytes(), members[same]))
        members = members[~same]
    return apart
