"""Brokers to waves: a greedy colouring, and the same again in orders that never need more waves."""

from collections.abc import Sequence

import numpy as np

from app.core.model import Int64s
from app.core.restarts.conflicts import Part

ROUNDS = 40
_LIMITED_BROKERS = 500
"""Brokers that all rounds together colour if limits are checked, which takes a hundred times as long."""
_SEED = 1


def colored(part: Part, lower_bound: int) -> list[list[int]]:
    """Waves of indices.

    At first the broker that is excluded from most waves is next (DSATUR). Then brokers are colored again wave by wave,
    with the waves in another order: each of these can be formed again, so that there are never more (iterated greedy).
    Ends at the lower bound.
    """
    generator = np.random.default_rng(_SEED)
    best = _first_fit(part, None)
    for turn in range(max(2, min(ROUNDS, _LIMITED_BROKERS // len(part.brokers))) if part.is_limited else ROUNDS):
        if len(best) <= lower_bound:
            break
        order = best[::-1]
        if turn % 3 == 1:
            order = sorted(best, key=len, reverse=True)
        elif turn % 3 == 2:
            order = [best[wave] for wave in generator.permutation(len(best))]
        best = _first_fit(part, [broker for wave in order for broker in wave])
    return best


def _first_fit(part: Part, order: Sequence[int] | None) -> list[list[int]]:
    """Each broker in the first wave that may have it; in this order, or by DSATUR."""
    size = len(part.brokers)
    sets_of = _sets_of_brokers(part)
    degree = part.pairs.sum(axis=1) + np.array([len(sets) for sets in sets_of])
    is_excluded = np.zeros((size, size + 1), np.bool_)  # by wave and broker; the last column is padding
    is_in = np.zeros((size, size + 1), np.bool_)
    is_left = np.ones(size, np.bool_)
    waves: list[list[int]] = []
    for turn in range(size):
        if order is None:
            saturation = is_excluded[: len(waves), :size].sum(axis=0) * (degree.max() + 1) + degree
            broker = int(np.where(is_left, saturation, -1).argmax())
        else:
            broker = order[turn]
        is_left[broker] = False
        free = np.flatnonzero(~is_excluded[: len(waves), broker]).tolist()
        wave = next((wave for wave in free if part.fits([*waves[wave], broker])), len(waves))
        if wave == len(waves):
            waves.append([])
        waves[wave].append(broker)
        is_in[wave, broker] = True
        is_excluded[wave, :size] |= part.pairs[broker] | (len(waves[wave]) >= part.most)
        sets = part.sets[sets_of[broker]]
        is_full = is_in[wave][sets].sum(axis=1) >= part.caps[sets_of[broker]]
        is_excluded[wave, sets[is_full]] = True
    return waves


def _sets_of_brokers(part: Part) -> list[Int64s]:
    """The sets that contain each broker."""
    sets, columns = np.nonzero(part.sets < len(part.brokers))
    members = part.sets[sets, columns]
    order = np.argsort(members, kind="stable")
    return np.split(sets[order], np.searchsorted(members[order], np.arange(1, len(part.brokers))))
