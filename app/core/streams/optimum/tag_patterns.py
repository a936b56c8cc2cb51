"""Patterns of standbys over clients with which a task has the most distinct tag values.

The distinct values of a task depend only on its own copies, and no client is ever full. So each task can have the most
distinct values that its active client allows, independently of the others: the most ideal tasks and the most distinct
values are reached exactly, task by task, and the remaining choice is among the patterns that reach them.

Clients with equal tag values form a *profile*; a *pattern* is the number of a task's standbys in each profile. If at
most one tag decides, the best patterns are all those within bounds on each profile, and a flow chooses among them; if
several tags decide, they are enumerated.

Source: KIP-708, "Proposed Changes".
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import combinations_with_replacement
from math import comb

import numpy as np
from numpy.typing import NDArray

from app.core.model import Int64s
from app.core.streams.model import NO_TAG, Bools
from app.core.streams.optimum.quality import StandbyProblem
from app.errors.requests import LimitExceeded

MOST_PATTERNS = 1_000_000
"""Upper limit of patterns · profiles of active clients."""


@dataclass(frozen=True, slots=True, eq=False)
class TagProfiles:
    """Clients by tag values.

    Parameters
    ----------
    of_client : (clients,) int64 profile of each client.
    vectors : (profiles, tags) int64 values of the tags that decide.
    sizes : (profiles,) int64 number of clients.
    """

    of_client: Int64s
    vectors: Int64s
    sizes: Int64s


@dataclass(frozen=True, slots=True, eq=False)
class TagPatterns:
    """The best patterns, by the profile of a task's active client.

    Parameters
    ----------
    listed : (patterns, profiles) int64 standbys of each pattern, if several tags decide.
    bounds : two (profiles,) int64 bounds between which all patterns are best, if at most one tag decides.
    """

    profiles: TagProfiles
    listed: Mapping[int, Int64s] = field(default_factory=dict)
    bounds: Mapping[int, tuple[Int64s, Int64s]] = field(default_factory=dict)


def best_patterns(problem: StandbyProblem) -> TagPatterns:
    """Find the best patterns of every task.

    Raises
    ------
    LimitExceeded : there are more than `MOST_PATTERNS` patterns · profiles.
    """
    vectors = _deciding(problem.vectors)
    profiles = _profiles(vectors)
    if vectors.shape[1] > 1:
        coarse = _coarse(vectors)
        if coarse.shape[1] < vectors.shape[1]:
            patterns = _best(problem, _profiles(coarse))
            if _all_apart(patterns):
                return patterns
    return _best(problem, profiles)


def _best(problem: StandbyProblem, profiles: TagProfiles) -> TagPatterns:
    active = np.unique(profiles.of_client[problem.active]).tolist()
    if profiles.vectors.shape[1] <= 1:
        return TagPatterns(
            profiles,
            bounds={active_profile: _bounds(profiles, active_profile, problem.standbys) for active_profile in active},
        )
    every = _every_pattern(problem, len(profiles.sizes), len(active))
    return TagPatterns(
        profiles, listed={active_profile: _best_listed(profiles, active_profile, every) for active_profile in active}
    )


def _all_apart(patterns: TagPatterns) -> bool:
    """Whether every task can have distinct values of all tags; then its best patterns are those in which they are."""
    vectors, sizes = patterns.profiles.vectors, patterns.profiles.sizes
    for active_profile, best in patterns.listed.items():
        used = np.append(np.repeat(np.arange(len(sizes)), best[0]), active_profile)
        if any(len(np.unique(column)) < len(used) or NO_TAG in column for column in vectors[used].T):
            return False
    for active_profile, (lower, upper) in patterns.bounds.items():
        # Bounds below a profile's size mean that standbys are apart, and apart from an active task that has the tag.
        if (vectors[active_profile] == NO_TAG).any() or lower.any() or (upper > 1).any() or upper[active_profile]:
            return False
    return True


def _deciding(vectors: Int64s) -> Int64s:
    """The tags that some client lacks or that two clients share; in all other tags any copies are apart."""
    deciding = [
        tag
        for tag in range(vectors.shape[1])
        if (vectors[:, tag] == NO_TAG).any() or len(np.unique(vectors[:, tag])) < len(vectors)
    ]
    return vectors[:, deciding]


def _coarse(vectors: Int64s) -> Int64s:
    """The tags without those that differ wherever another one does, such as hosts if zones are listed too."""
    tags = list(range(vectors.shape[1]))
    for fine in range(vectors.shape[1]):
        if any(_refines(vectors[:, fine], vectors[:, tag]) for tag in tags if tag != fine):
            tags.remove(fine)
    return vectors[:, tags]


def _refines(fine: Int64s, coarse: Int64s) -> bool:
    """Whether clients with different values of the coarse tag have different values of the fine one."""
    has_tag = coarse != NO_TAG
    pairs = np.unique(np.stack([fine[has_tag], coarse[has_tag]]), axis=1)
    return bool((fine[has_tag] != NO_TAG).all() and len(np.unique(pairs[0])) == pairs.shape[1])


def _profiles(vectors: Int64s) -> TagProfiles:
    if not vectors.shape[1]:
        clients = len(vectors)
        return TagProfiles(np.zeros(clients, np.int64), np.zeros((1, 0), np.int64), np.array([clients], np.int64))
    distinct, number, sizes = np.unique(vectors, axis=0, return_inverse=True, return_counts=True)
    return TagProfiles(number.reshape(-1).astype(np.int64), distinct, sizes.astype(np.int64))


def _bounds(profiles: TagProfiles, active_profile: int, standbys: int) -> tuple[Int64s, Int64s]:
    """Bounds on the standbys in each profile; profiles are the values of one tag, or there is a single profile."""
    others: Bools = (profiles.vectors != NO_TAG).all(axis=1)
    others[active_profile] = False
    if not profiles.vectors.shape[1]:
        others[:] = False
    capacity = profiles.sizes.copy()
    capacity[active_profile] -= 1
    if others.sum() >= standbys:
        return np.zeros_like(capacity), np.where(others, 1, 0) if standbys and others.any() else np.minimum(
            capacity, standbys
        )
    return np.where(others, 1, 0), np.minimum(capacity, standbys)


def _every_pattern(problem: StandbyProblem, profiles: int, active: int) -> NDArray[np.int64]:
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


def _best_listed(profiles: TagProfiles, active_profile: int, every: NDArray[np.int64]) -> Int64s:
    """(patterns, profiles) int64: the patterns with the most distinct values among those with enough clients."""
    counts = np.zeros((len(every), len(profiles.sizes)), np.int64)
    for column in every.T:
        counts[np.arange(len(every)), column] += 1
    capacity = profiles.sizes.copy()
    capacity[active_profile] -= 1
    is_possible = (counts <= capacity).all(axis=1)
    every, counts = every[is_possible], counts[is_possible]
    values = np.zeros(len(every), np.int64)
    for tag in range(profiles.vectors.shape[1]):
        of_copies = np.sort(
            profiles.vectors[:, tag][np.column_stack([every, np.full(len(every), active_profile)])], axis=1
        )
        first = np.ones(of_copies.shape, np.bool_)
        first[:, 1:] = of_copies[:, 1:] != of_copies[:, :-1]
        values += (first & (of_copies != NO_TAG)).sum(axis=1)
    best: Int64s = counts[values == values.max(initial=0)]
    return best
