"""Lower bounds on the waves of a part, each of which a person can check."""

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from app.core.restarts.conflicts import VOTERS, Part
from app.core.restarts.model import WaveBound

_STARTS = 40


def bound_of(part: Part) -> WaveBound:
    """The largest of the bounds; of equal ones the first."""
    return max(_bounds(part), key=lambda bound: bound.waves)


def _bounds(part: Part) -> Iterator[WaveBound]:
    everyone = tuple(part.brokers.tolist())
    clique = clique_of(part.pairs)
    yield WaveBound("pairs", len(clique), tuple(sorted(part.brokers[clique].tolist())))
    yield WaveBound("size", -(-len(everyone) // part.most), everyone)
    if len(part.sets):
        is_in = part.sets < len(everyone)
        waves = -(-is_in.sum(axis=1) // part.caps)
        worst = int(waves.argmax())
        members = tuple(sorted(part.brokers[part.sets[worst][is_in[worst]]].tolist()))
        row = int(part.rows[worst])
        if row == VOTERS:
            yield WaveBound("controllers", int(waves[worst]), members)
        else:
            yield WaveBound("partition", int(waves[worst]), members, row)


def clique_of(pairs: NDArray[np.bool_]) -> list[int]:
    """Indices that exclude each other pairwise: the largest of several cliques that are grown greedily."""
    best: list[int] = []
    for start in np.argsort(-pairs.sum(axis=1), kind="stable")[:_STARTS].tolist():
        clique, candidates = [start], np.flatnonzero(pairs[start])
        while len(candidates):
            among = pairs[np.ix_(candidates, candidates)]
            chosen = int(among.sum(axis=1).argmax())
            clique.append(int(candidates[chosen]))
            candidates = candidates[among[chosen]]
        if len(clique) > len(best):
            best = clique
    return best
