"""Which brokers may not be in one wave: pairs, and larger sets of which only some may be.

Brokers that exclude each other pairwise never share a wave, so that the connected components of the pairs that do *not*
exclude each other are problems of their own, whose waves add up: racks, if waves do not mix them, are such parts.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from app.core.model import NO_REPLICA, Int64s
from app.core.restarts.election import Election
from app.core.restarts.model import RestartProblem

VOTERS = -1
"""In place of a row: the set is that of the controllers."""


@dataclass(frozen=True, slots=True, eq=False)
class Part:
    """Brokers that share no wave with any other, by their index in `brokers`.

    Parameters
    ----------
    brokers : (size,) int64 positions. most : of them in a wave.
    pairs : (size, size) bool, symmetric; brokers that are never in one wave.
    sets : (sets, widest) int64 indices, padded with `size`; at most (sets,) int64 `caps` of each are in a wave.
    rows : (sets,) int64 partition of each set, or `VOTERS`.
    fits : whether limits hold if these indices are a wave. It holds for all subsets of a wave for which it does.
    is_limited : whether there are limits.
    """

    brokers: Int64s
    most: int
    pairs: NDArray[np.bool_] = field(repr=False)
    sets: Int64s = field(repr=False)
    caps: Int64s = field(repr=False)
    rows: Int64s = field(repr=False)
    fits: Callable[[Sequence[int]], bool] = field(repr=False)
    is_limited: bool


def parts_of(problem: RestartProblem, election: Election, alone: Sequence[int]) -> Iterator[Part]:
    """The parts of a problem, by their first broker. Complexity: O(rows · factor²) for distinct lists of replicas."""
    sets, caps, rows = _sets_of(problem)
    excluded = _pairs_of(problem, sets[caps == 1])
    excluded[alone, :] = excluded[:, alone] = True
    larger = caps > 1
    sets, caps, rows = sets[larger], caps[larger], rows[larger]
    for brokers in _components(~excluded, np.flatnonzero(problem.is_up)):
        index_of = np.full(len(problem.is_up) + 1, len(brokers))
        index_of[brokers] = np.arange(len(brokers))
        inside = index_of[sets]
        counts = (inside < len(brokers)).sum(axis=1) > caps

        def fits(wave: Sequence[int], brokers: Int64s = brokers) -> bool:
            return election.fits(brokers[list(wave)].tolist())

        pairs = excluded[np.ix_(brokers, brokers)]
        np.fill_diagonal(pairs, val=False)
        yield Part(brokers, problem.most, pairs, inside[counts], caps[counts], rows[counts], fits, election.is_limited)


def _sets_of(problem: RestartProblem) -> tuple[Int64s, Int64s, Int64s]:
    """Distinct sets that a wave cannot contain, with their caps and a row of each."""
    caps = problem.caps
    rows = np.flatnonzero(problem.sizes > caps)
    keyed = np.column_stack([caps[rows], np.sort(problem.in_sync[rows], axis=1)])
    order = np.lexsort(keyed.T)  # ten times as fast as np.unique of rows
    is_first = np.ones(len(order), np.bool_)
    is_first[1:] = (keyed[order[1:]] != keyed[order[:-1]]).any(axis=1)
    distinct, rows = keyed[order[is_first]], rows[order[is_first]]
    sets, caps = distinct[:, 1:], distinct[:, 0]
    voters = np.flatnonzero(problem.is_voter & problem.is_up)
    if len(voters) > problem.most_voters:
        width = max(sets.shape[1], len(voters))
        sets = np.pad(sets, ((0, 1), (0, width - sets.shape[1])), constant_values=NO_REPLICA)
        sets[-1] = np.pad(voters, (0, width - len(voters)), constant_values=NO_REPLICA)
        caps, rows = np.append(caps, problem.most_voters), np.append(rows, VOTERS)
    return sets.astype(np.int64), caps.astype(np.int64), rows.astype(np.int64)


def _pairs_of(problem: RestartProblem, sets: Int64s) -> NDArray[np.bool_]:
    """(brokers, brokers) bool, brokers of which only one may be in a wave."""
    excluded = np.zeros((len(problem.is_up) + 1,) * 2, np.bool_)
    for one, other in combinations(sets.T, 2):
        excluded[one, other] = excluded[other, one] = True
    return np.asarray(excluded[:-1, :-1] | (problem.group_of[:, None] != problem.group_of), np.bool_)


def _components(joined: NDArray[np.bool_], among: Int64s) -> Iterator[Int64s]:
    """The connected components of some vertices, each ascending, by their first vertex."""
    left = np.zeros(len(joined), np.bool_)
    left[among] = True
    while left.any():
        component = np.arange(len(left)) == left.argmax()
        reached = component
        while reached.any():
            reached = joined[reached].any(axis=0) & left & ~component
            component |= reached
        yield np.flatnonzero(component)
        left &= ~component


def as_positions(part: Part, waves: Sequence[Sequence[int]]) -> list[tuple[int, ...]]:
    """Waves of indices as waves of positions, ascending."""
    return [tuple(sorted(part.brokers[list(wave)].tolist())) for wave in waves]
