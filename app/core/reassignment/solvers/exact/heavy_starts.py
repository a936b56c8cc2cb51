"""Placements to start from with heavy replicas on given brokers.

A replica that loads more than half of the ceiling determines the movement of all others on its broker. Local search and
models of free cells rarely move it: all others would have to move at once. So it is pinned to one broker after another,
those first that `heavy_bound` finds cheapest, and the rest is searched anew.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from itertools import islice

import numpy as np

from app.core.flow import InfeasibleFlow
from app.core.model import NO_REPLICA, Int64s
from app.core.reassignment.bounds.heavy_bound import NOT_POSSIBLE, HeavyPlaces
from app.core.reassignment.model import BrokerBounds
from app.core.reassignment.rules import LoadRules
from app.core.reassignment.solvers.search.heaviest_first import CandidatePlacement

MOST_BROKERS = 4
"""Brokers that are tried for a heavy replica."""
MOST_CELLS = 20_000_000
"""Rows times brokers times searches of a region, at most: some seconds."""


@dataclass(slots=True, eq=False)
class HeavyStarts:
    """Searches with pinned replicas.

    Parameters
    ----------
    rules : of the problem, with the pins so far. base_load : (brokers,) int64 of partitions outside the problem.
    within : of the loads. searched : a search of all partitions by some rules; it raises `InfeasibleFlow` if some
        partition has no legal placement.
    """

    rules: LoadRules = field(repr=False)
    base_load: Int64s = field(repr=False)
    within: BrokerBounds
    searched: Callable[[LoadRules], CandidatePlacement]

    def places(self, heavy: HeavyPlaces, moved: int) -> Iterator[tuple[int, int]]:
        """Rows and brokers worth a search, if the movement within the region is known to be at most `moved`."""
        cells = len(self.rules.load) * len(self.base_load)
        return islice(self._worth_a_search(heavy, moved), max(1, MOST_CELLS // cells))

    def _worth_a_search(self, heavy: HeavyPlaces, moved: int) -> Iterator[tuple[int, int]]:
        for place, row in enumerate(heavy.heavy.tolist()):
            if self.rules.must_keep[row] != NO_REPLICA:
                continue
            # A pin overrides the most replicas of its rack.
            is_possible = self.rules.most[self.rules.domain_of[row], self.rules.rack_of] > 0
            is_possible &= heavy.costs[place] != NOT_POSSIBLE
            order = np.argsort(heavy.costs[place], kind="stable")
            possible = order[is_possible[order]][:MOST_BROKERS].tolist()
            without = heavy.bound - int(heavy.least[place])
            yield from ((row, broker) for broker in possible if without + int(heavy.costs[place, broker]) < moved)

    def search(self, row: int, broker: int) -> tuple[LoadRules, CandidatePlacement | None]:
        """The rules with one more pin, and the placement that is found within the bounds."""
        pinned = _pinned(self.rules, row, broker)
        try:
            found = self.searched(pinned)
        except InfeasibleFlow:
            return pinned, None
        return pinned, found if self.within.hold(found.loads) else None


def _pinned(rules: LoadRules, row: int, broker: int) -> LoadRules:
    """The same rules, but that the row has to have a replica on the broker: one that is copied, unless it is there."""
    must_keep = rules.must_keep.copy()
    must_keep[row] = broker
    if broker in rules.current[row]:
        return rules._replace(must_keep=must_keep)
    column = np.full((len(rules.load), 1), NO_REPLICA, np.int32)
    column[row] = broker
    return rules._replace(
        must_keep=must_keep,
        current=np.ascontiguousarray(np.hstack([rules.current, column])),
        stays_free=np.ascontiguousarray(np.hstack([rules.stays_free, np.zeros_like(column, np.bool_)])),
    )
