"""Loads over ideal loads, exactly, in whole parts: the values of goals in integer models."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import ceil, floor, gcd, lcm

import numpy as np

from app.core.model import Int64s
from app.core.reassignment.resource_problem import RESOURCES, Goal, ResourceProblem
from app.core.reassignment.solvers.exact.placement_model import LARGEST_SUM, PlacementModel, Sum

UNIT = 1 << 30
"""An ideal load in models that compare loads of several brokers, if shares are rounded."""
LARGEST_SHARE, LARGEST_ADDED = 1 << 60, 1 << 24
"""Larger shares in whole numbers are rounded: of one goal, and of goals whose shares are added."""
FARTHEST = 1 << 10
"""A wider tolerance is no constraint, and a load that is more times the ideal one is left to the search."""


@dataclass(frozen=True, slots=True, eq=False)
class Share:
    """The loads of target brokers by one resource, over their ideal loads, by broker.

    Parameters
    ----------
    ideal : of each broker. whole : by which shares are multiplied. is_exact : whether they are whole numbers then.
    """

    goal: Goal
    column: int
    ideal: Mapping[int, Fraction]
    whole: Fraction
    is_exact: bool

    @classmethod
    def of(cls, problem: ResourceProblem, goal: Goal, totals: Int64s, largest: int) -> "Share":
        """Shares in whole numbers if none of them exceeds `largest`."""
        column = RESOURCES.index(goal.name)
        weights, total = problem.weights[:, column], int(totals[column])
        mean = Fraction(total, max(1, int(weights.sum())))
        ideal = {broker: int(weights[broker]) * mean for broker in np.flatnonzero(weights).tolist() if mean}
        whole = Fraction(lcm(*(each.numerator for each in ideal.values())))
        if not goal.has_floor:
            whole /= max(1, gcd(*(int(whole / each) for each in ideal.values())))
        is_exact = total * whole <= largest * min(ideal.values(), default=Fraction(1))
        return cls(goal, column, ideal, whole if is_exact else Fraction(UNIT), is_exact)

    @property
    def is_minimised(self) -> bool:
        """Whether there are loads, and the tolerance is not many times the ideal load."""
        return bool(self.ideal) and self.goal.tolerance <= FARTHEST

    @property
    def least(self) -> int:
        """The tolerance in parts of `whole`."""
        return floor(self.goal.tolerance * self.whole)

    def values(self, model: PlacementModel) -> list[Sum]:
        """The shares, or with a tolerance the distances from 1, in parts of `whole`."""
        shares = [model.of(broker, self.column).times(self.whole / ideal) for broker, ideal in self.ideal.items()]
        if not self.goal.has_floor:
            return shares
        above = [share.plus((), -int(self.whole)) for share in shares]
        return [*above, *(each.times(-1) for each in above)]

    def reached(self, loads: Int64s) -> Fraction:
        """The largest share of a tight goal; else the largest distance from 1, or the tolerance if that is larger."""
        of_brokers = (self.value(int(loads[broker, self.column]), ideal) for broker, ideal in self.ideal.items())
        return max([self.goal.tolerance, *of_brokers])

    def value(self, load: int, ideal: Fraction) -> Fraction:
        """The share of a broker, or with a tolerance its distance from 1."""
        return abs(load / ideal - 1) if self.goal.has_floor else load / ideal

    def bounds(self, value: Fraction) -> Iterator[tuple[int, Fraction, Fraction]]:
        """Each broker, with its least and its largest load for a value."""
        for broker, ideal in self.ideal.items():
            if self.goal.has_floor:
                yield broker, (1 - value) * ideal, (1 + value) * ideal
            else:
                yield broker, Fraction(0), value * ideal


def sum_of(model: PlacementModel, shares: Sequence[Share]) -> Sum:
    """The sum of the largest values of shares, rounded if its parts are too small."""
    values = [share.values(model) for share in shares]
    largest = [
        max(share.least, *(each.size for each in of_share)) for share, of_share in zip(shares, values, strict=True)
    ]
    shares_sum = sum(ceil(most / share.whole) for most, share in zip(largest, shares, strict=True))
    parts = min(lcm(*(share.whole.numerator for share in shares)), LARGEST_SUM // max(1, shares_sum))
    total = Sum(())
    for share, of_share, most in zip(shares, values, largest, strict=True):
        value = model.number(most)
        model.at_least(value, share.least)
        for each in of_share:
            model.at_most(each.plus(value.times(-1).terms), 0)
        total = total.plus(value.times(parts / share.whole).terms)
    return total
