"""The distinct replica sets of a placement, and the odds that simultaneous losses of brokers contain one.

A copyset is the set of brokers of one partition or more. If brokers are lost that contain a copyset, data is lost. K
copysets of R brokers among N: R losses, each R equally likely, lose data with probability K / C(N, R).

Source: Cidon et al., "Copysets: Reducing the Frequency of Data Loss in Cloud Storage", USENIX ATC 2013.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from math import comb

import numpy as np

from app.core.model import Bools, Int32s
from app.core.replica_lists import widened

_BLOCK = 4096
"""Edges whose triangles are counted at once: 5 MB of 10,000 brokers."""


@dataclass(frozen=True, slots=True)
class ScatterWidth:
    """Over brokers with replicas, the number of other brokers that share a partition with one; 0 without replicas."""

    min: int
    """Smallest scatter width of a broker."""
    mean: float
    """Mean scatter width."""
    max: int
    """Largest scatter width of a broker."""


@dataclass(frozen=True, slots=True)
class Copysets:
    """The distinct sets of brokers that have all replicas of a partition."""

    sets: int
    """Number of distinct sets."""
    scatter_width: ScatterWidth
    """How many brokers share partitions with a broker."""
    pairs: int
    """Number of pairs of brokers that share a partition."""
    loss_probability: Mapping[int, float | None]
    """By the number of brokers that are lost at once, 2 and 3, the probability that all replicas of some partition are
    lost, if every choice of brokers is equally likely; null with fewer brokers."""
    method: str = "exact"
    """How probabilities are computed: `exact`, or `sampled`."""
    standard_error: float | None = None
    """Largest standard error of a sampled probability; null if they are exact."""


@dataclass(frozen=True, slots=True)
class CopysetsChoice:
    """A choice of sets: the fewer there are, the rarer is a loss, and the more other brokers then lead."""

    scatter_width: int
    """Smallest number of other brokers that share a set with a broker."""
    sets: int
    """Number of distinct sets."""
    loss_probability: Mapping[int, float | None]
    """As in `copysets` of the measures, if every set has partitions."""
    unwritable_pairs: int | None
    """Pairs of brokers whose loss makes a partition unwritable; null if `min.insync.replicas` is unknown."""
    largest_load_after_loss: float
    """Leaders of the most loaded broker after the loss of any one, as a multiple of before."""


def copysets(positions: Int32s, brokers: int) -> Copysets:
    """Count the sets of a placement, and the probabilities of losing one.

    Parameters
    ----------
    positions : (partitions, widest) int32 positions of brokers, no broker twice in a row; negative for padding, and
        `brokers` for an unknown broker, which is left out. brokers : how many there are.

    Complexity: O(replicas · log partitions), and O(E · brokers / 8) for E sets of two brokers.

    Examples
    --------
    >>> copysets(np.array([[0, 1, 2], [2, 1, 0], [0, 1, 3]], np.int32), 4)  # doctest: +ELLIPSIS
    Copysets(sets=2, scatter_width=ScatterWidth(min=2, mean=2.5, max=3), pairs=5, loss_probability={2: 0.0, 3: 0.5}, ...
    """
    sets = distinct_sets(positions, brokers)
    shares = _adjacent(sets, brokers)
    widths = shares.sum(axis=1)
    used = widths[np.unique(sets[sets < brokers])] if len(sets) else np.zeros(1, np.int64)
    return Copysets(
        sets=len(sets),
        scatter_width=ScatterWidth(int(used.min()), round(float(used.mean()), 4), int(used.max())),
        pairs=int(widths.sum()) // 2,
        loss_probability=_probabilities(sets, brokers),
    )


def distinct_sets(positions: Int32s, brokers: int) -> Int32s:
    """(sets, widest) int32 the distinct sets of at least one broker, ascending, padded on the right with `brokers`."""
    positions = widened(positions, max(1, positions.shape[1]))
    padded = np.sort(np.where(positions < 0, np.int32(brokers), positions), axis=1)
    base, width = brokers + 1, padded.shape[1]
    if base**width >= 2**63:
        sets = np.unique(padded, axis=0)
    else:
        keys = np.zeros(len(padded), np.int64)
        for column in padded.T:
            keys = keys * base + column
        keys.sort()  # `np.unique` hashes first, which takes twenty times as long
        distinct = keys[np.diff(keys, prepend=-1) != 0]
        sets = np.stack([distinct // base**place % base for place in range(width)][::-1], axis=1)
    return sets[(sets < brokers).any(axis=1)].astype(np.int32)


def _adjacent(sets: Int32s, brokers: int) -> Bools:
    """(brokers, brokers) bool: whether two brokers share a set; False on the diagonal."""
    adjacent = np.zeros((brokers + 1, brokers + 1), np.bool_)  # the last one is the padding
    for column in range(1, sets.shape[1]):
        for other in range(column):
            adjacent[sets[:, other], sets[:, column]] = True
    adjacent |= adjacent.T
    return adjacent[:brokers, :brokers]


def _probabilities(sets: Int32s, brokers: int) -> dict[int, float | None]:
    """By 2 and 3, the share of the choices of as many brokers that contain a set; None with fewer brokers."""
    sizes = np.count_nonzero(sets < brokers, axis=1)
    others, edges, triples = brokers, sets[:0], sets[sizes == 3, :3]
    if len(sets) and sizes.min() < 3:
        alone = np.zeros(brokers + 1, np.bool_)
        alone[sets[sizes == 1, 0]] = True
        others -= int(alone.sum())
        counts = (sizes > 1) & ~alone[sets].any(axis=1)
        edges, triples = (sets[counts & (sizes == size), :size] for size in (2, 3))
    with_set = {2: len(edges), 3: _triples(edges, triples, brokers, others)}
    return {
        lost: round((comb(brokers, lost) - comb(others, lost) + found) / comb(brokers, lost), 9)
        if lost <= brokers
        else None
        for lost, found in with_set.items()
    }


def _triples(edges: Int32s, triples: Int32s, brokers: int, others: int) -> int:
    """How many triples of `others` brokers contain an edge, a (edges, 2) set of two, or are one of `triples`."""
    if not len(edges):
        return len(triples)
    adjacent = _adjacent(edges, brokers)
    degrees, packed, shared = adjacent.sum(axis=1), np.packbits(adjacent, axis=1), 0
    for start in range(0, len(edges), _BLOCK):
        first, second = edges[start : start + _BLOCK].T
        shared += int(np.bitwise_count(packed[first] & packed[second]).sum())
    # Each edge is in others - 2 triples. One of two edges counts twice, less its path; a triangle thrice, less three
    # paths, plus one: each triangle is shared by its three edges.
    of_edges = len(edges) * (others - 2) - int((degrees * (degrees - 1) // 2).sum()) + shared // 3
    one, two, three = triples.T if len(triples) else np.zeros((3, 0), np.int32)
    return of_edges + int(np.count_nonzero(~(adjacent[one, two] | adjacent[one, three] | adjacent[two, three])))
