"""How even brokers are to be, and the band of counts that it comes to."""

from dataclasses import dataclass
from fractions import Fraction
from math import ceil, floor


@dataclass(frozen=True, slots=True)
class Balance:
    """How even brokers are to be.

    `tolerance` None is *keep*: only what has to move moves, and goes where the largest count stays smallest.
    0 is *tight*: every count within the narrowest band that there is. Above 0 that band is widened by so much of its
    ends, to [⌊lo · (1 − t)⌋, ⌈hi · (1 + t)⌉].
    """

    tolerance: Fraction | None

    def widened(self, tight: "Band") -> "Band":
        """The band that the tolerance makes of the narrowest one; `keep` makes none."""
        if self.tolerance is None:
            raise ValueError("keep has no band")
        return Band(floor(tight.low * (1 - self.tolerance)), ceil(tight.high * (1 + self.tolerance)))


KEEP = Balance(None)
TIGHT = Balance(Fraction(0))


@dataclass(frozen=True, slots=True)
class Band:
    """The least and the most that any target broker has: replicas or leaders, or their weight."""

    low: int
    high: int
