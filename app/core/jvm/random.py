"""java.util.Random and Collections.shuffle, draw for draw.

Source: the Java SE API documentation of `java.util.Random`, which specifies the generator down to its constants.
"""

from collections.abc import MutableSequence
from typing import TypeVar

Item = TypeVar("Item")

MULTIPLIER = 0x5DEECE66D
INCREMENT = 0xB
STATE_MASK = (1 << 48) - 1
_MASK_64 = (1 << 64) - 1


class JavaRandom:
    """java.util.Random: a 48-bit linear congruential generator.

    `state` is the whole of it: a compiled loop can take it, draw on, and hand the new state back.

    Parameters
    ----------
    seed : a signed 64-bit integer, of which Java uses the low 48 bits. Another one raises ValueError.
    """

    __slots__ = ("state",)

    state: int
    """The 48 bits that the next draw starts from."""

    def __init__(self, seed: int) -> None:
        if not -(2**63) <= seed < 2**63:
            raise ValueError(f"a seed is a signed 64-bit integer; {seed} given")
        self.state = (seed ^ MULTIPLIER) & STATE_MASK

    def next_int32(self) -> int:
        """`nextInt()`: any signed 32-bit integer."""
        bits = self._next_bits(32)
        return bits - 2**32 if bits >= 2**31 else bits

    def next_int(self, bound: int) -> int:
        """`nextInt(bound)`: 0 ≤ drawn < bound. A bound outside 1 … 2³¹ − 1 raises ValueError."""
        if not 0 < bound < 2**31:
            raise ValueError(f"a bound is between 1 and 2^31 - 1; {bound} given")
        bits = self._next_bits(31)
        if bound & (bound - 1) == 0:
            return (bound * bits) >> 31
        # The last, incomplete run of `bound` values below 2³¹ would favour small remainders: Java draws again.
        while bits - bits % bound + bound > 2**31:
            bits = self._next_bits(31)
        return bits % bound

    def shuffle(self, items: MutableSequence[Item]) -> None:
        """`Collections.shuffle(items, random)`: in place, from the back, one draw an item but for the first."""
        for size in range(len(items), 1, -1):
            other = self.next_int(size)
            items[size - 1], items[other] = items[other], items[size - 1]

    def _next_bits(self, bits: int) -> int:
        self.state = (self.state * MULTIPLIER + INCREMENT) & STATE_MASK
        return self.state >> (48 - bits)


def independent_seed(first: int, index: int) -> int:
    """The seed of draw `index` in a series: the low 48 bits of SplitMix64 of first + index.

    Consecutive seeds do not sample a controller: their first draws are nearly equal, and the draws below a power of two
    are equal for thousands of seeds. Two series overlap exactly if their ranges of first + index do.

    Source: G. Steele, D. Lea, C. Flood, "Fast Splittable Pseudorandom Number Generators", OOPSLA 2014.
    """
    mixed = ((first + index + 1) * 0x9E3779B97F4A7C15) & _MASK_64
    mixed = ((mixed ^ (mixed >> 30)) * 0xBF58476D1CE4E5B9) & _MASK_64
    mixed = ((mixed ^ (mixed >> 27)) * 0x94D049BB133111EB) & _MASK_64
    return (mixed ^ (mixed >> 31)) & STATE_MASK
