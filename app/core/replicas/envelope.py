"""The envelope of a placement: the range of leaders and replicas of each broker over all random choices of the placer.

Random numbers are assumed independent and uniform, so that every combination is possible. There are two methods:

    enumerated            every outcome is computed: each bound is attained by some outcome.
    bounded_and_sampled   the bounds are proven for every outcome, and may not be attained; the range of the outcomes of
                          sampled seeds is stated beside them.
"""

from dataclasses import dataclass, field
from typing import Literal, TypeAlias

import numpy as np

from app.core.model import Bools, Int32s, Int64s

Method: TypeAlias = Literal["enumerated", "bounded_and_sampled"]


@dataclass(frozen=True, slots=True, eq=False)
class Share:
    """The number of leaders, or of replicas, that each broker can have.

    The spread of an outcome is the largest count of an unfenced broker minus the smallest.

    Parameters
    ----------
    lowest, highest : (brokers,) int64 bounds over all outcomes.
    seen_lowest, seen_highest : (brokers,) int64 range of the computed outcomes.
    guaranteed_spread, worst_case_spread : bounds of the spread over all outcomes.
    seen_least_spread, seen_widest_spread : range of the spread of the computed outcomes.
    """

    lowest: Int64s = field(repr=False)
    highest: Int64s = field(repr=False)
    seen_lowest: Int64s = field(repr=False)
    seen_highest: Int64s = field(repr=False)
    guaranteed_spread: int
    worst_case_spread: int
    seen_least_spread: int
    seen_widest_spread: int


@dataclass(frozen=True, slots=True, eq=False)
class Envelope:
    """The possible outcomes of the placement of one topic.

    Parameters
    ----------
    broker_ids : (brokers,) int32, ascending; the order of the shares' arrays.
    method : all outcomes are enumerated, or bounded and sampled.
    outcomes : number of distinct outcomes if they are enumerated, else 0.
    seeds : number of sampled seeds, 0 if outcomes are enumerated.
    """

    broker_ids: Int32s = field(repr=False)
    leaders: Share
    replicas: Share
    method: Method
    outcomes: int
    seeds: int


@dataclass(frozen=True, slots=True, eq=False)
class Bounds:
    """Bounds over all outcomes, for leaders (row 0) and replicas (row 1).

    Parameters
    ----------
    lowest, highest : (2, brokers) int64. guaranteed_spread, worst_case_spread : (2,) int64.
    """

    lowest: Int64s
    highest: Int64s
    guaranteed_spread: Int64s
    worst_case_spread: Int64s


class ObservedRange:
    """The range of outcomes, which are added one after another.

    Parameters
    ----------
    is_unfenced : (brokers,) bool, the brokers of the spread; at least one.
    """

    def __init__(self, is_unfenced: Bools) -> None:
        brokers = len(is_unfenced)
        self._is_unfenced = is_unfenced
        self.outcomes = 0
        largest = np.iinfo(np.int64).max
        self.lowest: Int64s = np.full((2, brokers), largest)
        self.highest: Int64s = np.zeros((2, brokers), np.int64)
        self.least_spread: Int64s = np.full(2, largest)
        self.widest_spread: Int64s = np.zeros(2, np.int64)

    def add(self, counts: Int64s) -> None:
        """Add outcomes: (outcomes, 2, brokers) int64 counts of leaders, then of replicas."""
        if not len(counts):
            return
        spreads = np.ptp(counts[:, :, self._is_unfenced], axis=2)
        self.outcomes += len(counts)
        np.minimum(self.lowest, counts.min(axis=0), out=self.lowest)
        np.maximum(self.highest, counts.max(axis=0), out=self.highest)
        np.minimum(self.least_spread, spreads.min(axis=0), out=self.least_spread)
        np.maximum(self.widest_spread, spreads.max(axis=0), out=self.widest_spread)


def enumerated(broker_ids: Int32s, observed: ObservedRange) -> Envelope:
    """The envelope if `observed` has every outcome. Raises ValueError if it has none."""
    if observed.outcomes == 0:
        raise ValueError("an envelope needs at least one outcome")
    bounds = Bounds(observed.lowest, observed.highest, observed.least_spread, observed.widest_spread)
    leaders, replicas = _shares(broker_ids, bounds, observed)
    return Envelope(np.sort(broker_ids), leaders, replicas, "enumerated", observed.outcomes, 0)


def bounded_and_sampled(broker_ids: Int32s, bounds: Bounds, observed: ObservedRange) -> Envelope:
    """The envelope of proven `bounds`, and of `observed`, which has one outcome for each of some seeds."""
    leaders, replicas = _shares(broker_ids, bounds, observed)
    return Envelope(np.sort(broker_ids), leaders, replicas, "bounded_and_sampled", 0, observed.outcomes)


def _shares(broker_ids: Int32s, bounds: Bounds, observed: ObservedRange) -> tuple[Share, Share]:
    by_id = np.argsort(broker_ids, kind="stable")
    leaders, replicas = (
        Share(
            lowest=bounds.lowest[kind, by_id],
            highest=bounds.highest[kind, by_id],
            seen_lowest=observed.lowest[kind, by_id],
            seen_highest=observed.highest[kind, by_id],
            guaranteed_spread=int(bounds.guaranteed_spread[kind]),
            worst_case_spread=int(bounds.worst_case_spread[kind]),
            seen_least_spread=int(observed.least_spread[kind]),
            seen_widest_spread=int(observed.widest_spread[kind]),
        )
        for kind in (0, 1)
    )
    return leaders, replicas
