"""Which clients a task's standbys may go to, so that its tag values are as distinct as can be.

A task's distinctness hangs on nothing but its own copies' tag values, and no client is ever full. So each task can have
the most distinct values that its active client allows, whatever the others have: most tasks ideal and most distinct
values are reached exactly, task by task, and what is left to choose is among the patterns that reach them.

Clients of equal tag values are one *profile*; a *pattern* says how many of a task's standbys go to each profile. With
up to one tag that decides anything, the best patterns are all those within bounds on each profile, and a flow chooses
among them; with several they are listed.

Source: KIP-708, "Proposed Changes".
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import combinations_with_replacement
from math import comb

import numpy as np
from numpy.typing import NDArray

from app.core.model import Int64s
from app.core.streams.client_tags import NO_TAG
from app.core.streams.model import Bools
from app.core.streams.optimum.problem import Problem
from app.errors import LimitExceeded

MOST_PATTERNS = 1_000_000
"""Patterns times profiles that are looked at."""


@dataclass(frozen=True, slots=True, eq=False)
class Profiles:
    """Clients by their tag values.

    Parameters
    ----------
    of_client : (clients,) int64. vectors : (profiles, tags) int64 of the tags that decide. sizes : (profiles,) int64.
    """

    of_client: Int64s
    vectors: Int64s
    sizes: Int64s


@dataclass(frozen=True, slots=True, eq=False)
class Patterns:
    """The best patterns by the profile of a task's active client: (patterns, profiles) int64 standbys each.

    Or, where one tag decides or none, the bounds between which all patterns are best: (profiles,) int64 each.
    """

    profiles: Profiles
    listed: Mapping[int, Int64s] = field(default_factory=dict)
    bounds: Mapping[int, tuple[Int64s, Int64s]] = field(default_factory=dict)


def patterns_of(problem: Problem) -> Patterns:
    """Find every task's best patterns.

    Raises
    ------
    LimitExceeded : there are more than `MOST_PATTERNS` to look at.
    """
    vectors = _deciding(problem.vectors)
    profiles = _profiles(vectors)
    if vectors.shape[1] > 1:
        coarse = _coarse(vectors)
        if coarse.shape[1] < vectors.shape[1]:
            found = _best(problem, _profiles(coarse))
            if _all_apart(found):
                return found
    return _best(problem, profiles)


def _best(problem: Problem, profiles: Profiles) -> Patterns:
    active = np.unique(profiles.of_client[problem.active]).tolist()
    if profiles.vectors.shape[1] <= 1:
        return Patterns(profiles, bounds={own: _bounds(profiles, own, problem.standbys) for own in active})
    every = _every_pattern(problem, len(profiles.sizes), len(active))
    return Patterns(profiles, listed={own: _best_listed(profiles, own, every) for own in active})


def _all_apart(patterns: Patterns) -> bool:
    """Whether every task can have all tag values distinct; then its best patterns are just those in which they are."""
    vectors, sizes = patterns.profiles.vectors, patterns.profiles.sizes
    for own, best in patterns.listed.items():
        used = np.append(np.repeat(np.arange(len(sizes)), best[0]), own)
        if any(len(np.unique(column)) < len(used) or NO_TAG in column for column in vectors[used].T):
            return False
    for own, (lower, upper) in patterns.bounds.items():
        # Bounds below a profile's size say that standbys are apart; they are from an active task that has the tag.
        if (vectors[own] == NO_TAG).any() or lower.any() or (upper > 1).any() or upper[own]:
            return False
    return True


def _deciding(vectors: Int64s) -> Int64s:
    """The tags in which two clients can be alike or lacking; in all others any copies are apart."""
    kept = [
        tag
        for tag in range(vectors.shape[1])
        if (vectors[:, tag] == NO_TAG).any() or len(np.unique(vectors[:, tag])) < len(vectors)
    ]
    return vectors[:, kept]


def _coarse(vectors: Int64s) -> Int64s:
    """The tags without those that differ wherever another does: hosts, where zones are listed too."""
    kept = list(range(vectors.shape[1]))
    for fine in range(vectors.shape[1]):
        if any(_refines(vectors[:, fine], vectors[:, tag]) for tag in kept if tag != fine):
            kept.remove(fine)
    return vectors[:, kept]


def _refines(fine: Int64s, coarse: Int64s) -> bool:
    """Whether clients that differ in the coarse tag, and have it, differ in the fine one, and have it."""
    has = coarse != NO_TAG
    pairs = np.unique(np.stack([fine[has], coarse[has]]), axis=1)
    return bool((fine[has] != NO_TAG).all() and len(np.unique(pairs[0])) == pairs.shape[1])


def _profiles(vectors: Int64s) -> Profiles:
    if not vectors.shape[1]:
        clients = len(vectors)
        return Profiles(np.zeros(clients, np.int64), np.zeros((1, 0), np.int64), np.array([clients], np.int64))
    kinds, number, sizes = np.unique(vectors, axis=0, return_inverse=True, return_counts=True)
    return Profiles(number.reshape(-1).astype(np.int64), kinds, sizes.astype(np.int64))


def _bounds(profiles: Profiles, own: int, standbys: int) -> tuple[Int64s, Int64s]:
    """How many standbys go to each profile, at least and at most; profiles are the values of one tag, or one is all."""
    others: Bools = (profiles.vectors != NO_TAG).all(axis=1)
    others[own] = False
    if not profiles.vectors.shape[1]:
        others[:] = False
    room = profiles.sizes.copy()
    room[own] -= 1
    if others.sum() >= standbys:
        return np.zeros_like(room), np.where(others, 1, 0) if standbys and others.any() else np.minimum(room, standbys)
    return np.where(others, 1, 0), np.minimum(room, standbys)


def _every_pattern(problem: Problem, profiles: int, active: int) -> NDArray[np.int64]:
    """(patterns, standbys) int64 profiles, ascending within a row."""
    count = comb(profiles + problem.standbys - 1, problem.standbys) if profiles else 0
    if count * active > MOST_PATTERNS:
        raise LimitExceeded(
            f"{problem.standbys} standbys over {profiles} kinds of clients have {count} patterns for each of {active}",
            patterns=count * active,
            limit=MOST_PATTERNS,
        )
    every = list(combinations_with_replacement(range(profiles), problem.standbys))
    return np.array(every, np.int64).reshape(len(every), problem.standbys)


def _best_listed(profiles: Profiles, own: int, every: NDArray[np.int64]) -> Int64s:
    """(patterns, profiles) int64: those of the most distinct values among those that clients suffice for."""
    counts = np.zeros((len(every), len(profiles.sizes)), np.int64)
    for column in every.T:
        counts[np.arange(len(every)), column] += 1
    room = profiles.sizes.copy()
    room[own] -= 1
    possible = (counts <= room).all(axis=1)
    every, counts = every[possible], counts[possible]
    values = np.zeros(len(every), np.int64)
    for tag in range(profiles.vectors.shape[1]):
        of_copies = np.sort(profiles.vectors[:, tag][np.column_stack([every, np.full(len(every), own)])], axis=1)
        first = np.ones(of_copies.shape, np.bool_)
        first[:, 1:] = of_copies[:, 1:] != of_copies[:, :-1]
        values += (first & (of_copies != NO_TAG)).sum(axis=1)
    best: Int64s = counts[values == values.max(initial=0)]
    return best
