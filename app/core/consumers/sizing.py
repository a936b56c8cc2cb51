"""How many partitions a topic needs, and for how long they are enough."""

from math import ceil, floor, inf, log

_ROUNDING = 1e-9
"""Shares that differ from a whole number by less count as it."""


def partitions_needed(
    largest: float, partitions: int, capacity: float, *, growth: float, months: float, multiple: int
) -> tuple[int, int | None]:
    """Partitions of a topic of which none exceeds a consumer until the end of the horizon, and months that they last.

    More partitions take their shares of all: with n partitions the largest one has largest · partitions / n bytes/s,
    and after m months (1 + growth)^m times as much. Keys that are hotter than others make it larger.

    Parameters
    ----------
    largest : bytes/s of the largest partition at its peak. growth : a month, 0.1 for 10 %. multiple : of this number.

    Returns
    -------
    The number of partitions, at least the present one, and whole months; None if they last for ever.
    """
    needed = largest * partitions * (1 + growth) ** months / capacity
    count = max(partitions, ceil(needed - _ROUNDING), 1)
    count += -count % multiple
    room = inf if largest == 0 else count * capacity / (largest * partitions)
    return count, None if growth == 0 or room == inf else floor(log(room) / log(1 + growth) + _ROUNDING)
