"""The certificate of an optimisation: the value reached beside a proven lower bound.

Every planner that optimises returns one record a goal, so that reports, sweeps and verifiers read all of them alike. A
goal that is maximised is certified as the minimisation of its shortfall: partitions that are *not* read in rack.
"""

from dataclasses import dataclass
from fractions import Fraction
from typing import Generic, TypeVar

ExactT = TypeVar("ExactT", int, Fraction)
"""Values and bounds are compared exactly, so that `optimal` never depends on rounding."""


@dataclass(frozen=True, slots=True)
class Certificate(Generic[ExactT]):
    """A minimised value, a lower bound on it, and the constraints of the bound.

    Parameters
    ----------
    minimised : the counted quantity, with its unit: `moved bytes`, `leader changes`, `largest load`.
    value : of the answer.
    lower_bound : no answer within `constraints` has a smaller value.
    solver : the algorithm that found the answer.
    constraints : the hard constraints that the bound holds for, in words.
    then : the certificate of the next goal in lexicographic order: its bound holds among the answers that are optimal
        for this goal. None for the last goal.

    Examples
    --------
    >>> moved = Certificate("moved bytes", value=100, lower_bound=75, solver="local search")
    >>> moved.optimal, moved.gap
    (False, 0.25)
    >>> read = Certificate("partitions read across racks", value=2, lower_bound=2, solver="min-cost flow", then=moved)
    >>> read.is_reached, read.optimal, read.gap
    (True, False, 0.25)
    """

    minimised: str
    value: ExactT
    lower_bound: ExactT
    solver: str
    constraints: tuple[str, ...] = ()
    then: "Certificate[int] | Certificate[Fraction] | None" = None

    @property
    def is_reached(self) -> bool:
        """Whether the value of this goal alone is its lower bound."""
        return self.value <= self.lower_bound

    @property
    def optimal(self) -> bool:
        """Whether this goal and every goal after it reach their lower bounds."""
        return self.is_reached and (self.then is None or self.then.optimal)

    @property
    def gap(self) -> float:
        """Relative optimality gap, (value − lower bound) / value, of the first goal that misses its bound; else 0.0."""
        if not self.is_reached:
            return float((self.value - self.lower_bound) / self.value)
        return 0.0 if self.then is None else self.then.gap
