"""Random integers that are the same under every version of Python."""

from collections.abc import Sequence
from random import Random
from typing import TypeVar

ItemT = TypeVar("ItemT")

_LARGEST_EXPONENT = 8


class Draws:
    """Integers of a seed. Only `getrandbits` is called, whose sequence Python does not change."""

    def __init__(self, seed: int) -> None:
        self._random = Random(seed)  # noqa: S311 — an instance has to be the same each time, not a secret

    def below(self, limit: int) -> int:
        """An integer from 0 to `limit` − 1, each equally likely."""
        bits = (limit - 1).bit_length()
        while (drawn := self._random.getrandbits(bits) if bits else 0) >= limit:
            pass
        return drawn

    def order(self, items: Sequence[ItemT]) -> list[ItemT]:
        """The items in random order."""
        left = list(items)
        return [left.pop(self.below(len(left))) for _ in range(len(left))]

    def heavy(self, least: int) -> int:
        """A size with a heavy tail: twice as large half as often, from `least` to 512 × `least`."""
        exponent = 0
        while exponent < _LARGEST_EXPONENT and self._random.getrandbits(1):
            exponent += 1
        return (least << exponent) * (256 + self.below(256)) // 256
