"""A legal placement, mended step by step: brokers give, brokers take, replicas go home. The loops are in kernels."""

from dataclasses import dataclass

import numpy as np

from app.core.model import Int32s, Int64s
from app.core.reassignment.loads.rules import Rules, costs_saved


@dataclass(frozen=True, slots=True, eq=False)
class Repair:
    """A legal placement that its own steps change.

    Parameters
    ----------
    at : (rows, widest) int32 brokers, padded with -1. loads : (brokers,) int64, base included.
    """

    rules: Rules
    at: Int32s
    loads: Int64s

    def relieve(self, ceiling: int, *, gather: bool, homes_stay: bool) -> None:
        """Let target brokers above the ceiling give what costs least, and deal it out, heaviest first.

        Each replica goes to a free home that has room, else to the least loaded broker that may have it.

        Parameters
        ----------
        gather : deal out everything that is not at home as well, since it moves in any case.
        homes_stay : what is at home goes only to another home, where it costs nothing.
        """
        from app.core.reassignment.loads.held_kernel import Held  # noqa: PLC0415 — numba takes most of a second to import
        from app.core.reassignment.loads.relief_kernel import deal, give  # noqa: PLC0415 — see above

        rules, held = self.rules, Held(self.at, self.loads)
        flat = self.at.ravel()
        is_dealt = self._is_moved_anyway() if gather else np.zeros(len(flat), np.bool_)
        np.subtract.at(self.loads, flat[is_dealt], self._load_of_slots()[is_dealt])
        above = np.where(rules.target, self.loads - ceiling, 0)
        givers = np.argsort(-above, kind="stable")[: np.count_nonzero(above > 0)]
        slots = self._dearest_last(np.flatnonzero((above > 0)[flat] & (flat >= 0)))
        place = np.empty(len(self.loads), np.int64)
        place[givers] = np.arange(len(givers))
        of_giver = place[flat[slots]]
        slots = slots[np.argsort(of_giver, kind="stable")]
        ends = np.cumsum(np.bincount(of_giver, minlength=len(givers)))
        lightest = np.lexsort((np.where(rules.target, self.loads, -1), rules.rack_of))
        starts = np.searchsorted(rules.rack_of[lightest], np.arange(rules.least.shape[1] + 1))
        give(rules, held, slots, np.append(0, ends), givers, lightest, starts, ceiling, homes_stay, is_dealt)
        dealt = np.flatnonzero(is_dealt)
        order = np.argsort(-self._load_of_slots()[dealt], kind="stable")
        deal(rules, held, dealt[order], ceiling, homes_stay)

    def fill(self, floor: int, ceiling: int) -> None:
        """Let target brokers below the floor take what costs least from those that can spare it."""
        from app.core.reassignment.loads.filling_kernel import fill  # noqa: PLC0415 — see above
        from app.core.reassignment.loads.held_kernel import Held  # noqa: PLC0415 — see above

        rules, flat = self.rules, self.at.ravel()
        order = np.argsort(self.loads, kind="stable")
        takers = order[(rules.target & (self.loads < floor))[order]]
        slots = self._dearest_last(np.flatnonzero(flat >= 0))
        # Where the count of each rack is given, a replica stays in its rack: nobody elsewhere has to look at it.
        stays_in_rack = (rules.least == rules.most).all(axis=1)[rules.domain_of][slots // self.at.shape[1]]
        rack = rules.rack_of[flat[slots]]
        for own in np.unique(rules.rack_of[takers]):
            within_reach = slots[~stays_in_rack | (rack == own)]
            fill(rules, Held(self.at, self.loads), takers[rules.rack_of[takers] == own], within_reach, floor, ceiling)

    def bring_home(self, low: int, high: int) -> int:
        """Bring back what was moved for nothing, the dearest first, alone or against a cheaper one; what that saves."""
        from app.core.reassignment.loads.held_kernel import Held  # noqa: PLC0415 — see above
        from app.core.reassignment.loads.homecoming_kernel import bring_home  # noqa: PLC0415 — see above

        flat, cost = self.at.ravel(), np.repeat(self.rules.cost, self.at.shape[1])
        away = np.flatnonzero((flat >= 0) & (cost > costs_saved(self.rules, self.at).ravel()))
        by_broker = np.argsort(flat, kind="stable")
        starts = np.searchsorted(flat[by_broker], np.arange(len(self.loads) + 1))
        dearest_first = away[np.argsort(-cost[away], kind="stable")]
        return bring_home(self.rules, Held(self.at, self.loads), dearest_first, by_broker, starts, low, high)

    def _load_of_slots(self) -> Int64s:
        return np.repeat(self.rules.load, self.at.shape[1])

    def _is_moved_anyway(self) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
        moved = self.at >= 0
        for home in self.rules.homes.T:
            moved &= self.at != home[:, None]
        return moved.ravel()

    def _dearest_last(self, slots: Int64s) -> Int64s:
        """Those slots that have a load and may move, by what they cost where they are for it, the heaviest first."""
        rules, width = self.rules, self.at.shape[1]
        load, broker = rules.load[slots // width], self.at.ravel()[slots]
        slots = slots[(load > 0) & (broker != rules.must_keep[slots // width])]
        load = rules.load[slots // width]
        return slots[np.lexsort((-load, costs_saved(rules, self.at).ravel()[slots] / load))]
