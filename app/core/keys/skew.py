"""Skew of a key set: load of each partition, its maximum over its mean, its Gini coefficient, its heaviest keys.

A partition's load is at least its heaviest key's: if one key has more than 1/partitions of the load, no number of
partitions balances it.
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
    """The load of keys on partitions.

    Parameters
    ----------
    per_partition : (partitions,) int64 load of each.
    max_over_mean : 1 if all loads are equal; 0 without any load.
    gini : Gini coefficient: 0 if all loads are equal, near 1 if one partition has all load.
    """

    per_partition: Int64s = field(repr=False)
    max_over_mean: float
    gini: float


@dataclass(frozen=True, slots=True)
class HeavyKey:
    """A key, the index of its first occurrence, and its weight, absolute and as a share of all keys."""

    key: bytes
    first_index: int
    weight: int
    share: float


def skew(key_partitions: Int32s, partitions: int) -> Skew:
    """Measure the skew of keys over partitions.

    Parameters
    ----------
    key_partitions : (keys,) int32; negative ones (without key, rejected) are left out.
    """
    return skew_of(np.bincount(key_partitions[key_partitions >= 0], minlength=partitions).astype(np.int64))


def skew_of(loads: Int64s) -> Skew:
    """The skew of (partitions,) int64 loads."""
    total = int(loads.sum())
    if not total:
        return Skew(loads, 0.0, 0.0)
    n = len(loads)
    ranks = np.arange(1, n + 1, dtype=np.float64)
    gini = 2.0 * float(ranks @ np.sort(loads)) / (n * total) - (n + 1) / n
    return Skew(loads, float(loads.max()) * n / total, max(0.0, gini))


def heaviest(keys: Keys, *, most: int) -> tuple[HeavyKey, ...]:
    """The keys with the most occurrences, the most frequent first, then by first occurrence.

    Records without key are left out. Keys are compared by their bytes; hashes only group equal ones.

    Parameters
    ----------
    most : the largest number of keys.
    """
    indices = np.arange(len(keys)) if keys.is_null is None else np.flatnonzero(~keys.is_null)
    if not len(indices) or most < 1:
        return ()
    hashes = murmur2(keys).view(np.uint32).astype(np.uint64) << np.uint64(32) | fnv1a(keys).view(np.uint32)
    order = indices[np.argsort(hashes[indices], kind="stable")]
    starts = np.flatnonzero(np.concatenate([[True], hashes[order][1:] != hashes[order][:-1]]))
    ends = np.append(starts[1:], len(order))
    sums = ends - starts
    firsts = order[starts]
    heaviest_keys: list[HeavyKey] = []
    for group in np.lexsort((firsts, -sums)).tolist():
        # A group weighs more than its keys only if their hashes collide, so that no later group can be heavier.
        if len(heaviest_keys) == most and (-sums[group], firsts[group]) > (
            -heaviest_keys[-1].weight,
            heaviest_keys[-1].first_index,
        ):
            break
        for key, members in _distinct_keys(keys, order[starts[group] : ends[group]]):
            heaviest_keys.append(HeavyKey(key, int(members[0]), len(members), len(members) / len(indices)))
        heaviest_keys.sort(key=lambda heavy: (-heavy.weight, heavy.first_index))
        del heaviest_keys[most:]
    return tuple(heaviest_keys)


def _distinct_keys(keys: Keys, members: NDArray[np.int64]) -> list[tuple[bytes, NDArray[np.int64]]]:
    """Occurrences of equal hash by key, which is almost always one key."""
    distinct = []
    while len(members):
        first, same = int(members[0]), np.zeros(len(members), np.bool_)
        start, end = int(keys.offsets[first]), int(keys.offsets[first + 1])
        for begin in range(0, len(members), _COMPARED_AT_ONCE):
            batch = members[begin : begin + _COMPARED_AT_ONCE]
            same_length = np.flatnonzero(keys.lengths[batch] == end - start)
            positions = keys.offsets[batch[same_length]].astype(np.int64)[:, None] + np.arange(end - start)
            same[begin + same_length] = (keys.data[positions] == keys.data[start:end]).all(axis=1)
        distinct.append((keys.data[start:end].tobytes(), members[same]))
        members = members[~same]
    return distinct
