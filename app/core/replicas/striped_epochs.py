"""What the striped placer can do in one epoch: between two of its reshuffles.

How many replicas each rack's lists give, and for which partitions, hangs on the order of the racks alone; which broker
of a list gives them hangs on the list's own order and offset alone. So one epoch, computed with the places of a list
instead of brokers, stands for all orders and offsets of its lists:

    In the first epoch a list is sorted and its offset is any: the places' counts are turned around among its brokers.
    In a later one the list's order is any: the places' counts go to its brokers in any way, whatever went before.
    There the racks' order is any, too, so that the offset of the racks, which turns that order around, is nothing new.

One thing does pass from an epoch to the next. Partitions are numbered anew in each epoch, and a list forgets how many
of its brokers were taken when it is used by a partition of another number than the last time. So where the first
partition to use a list in an epoch has the number of the last one that used it in the epoch before, the list goes on
with what was left. That is `carried`. It matters only up to the number by which every list that is
used at all has been used:

    An unfenced list is looked at when the racks begin with its own, and where they begin up to max(1, factor - 1) - 1
    racks before: by partition number racks - max(1, factor - 1) at the latest.
    From number 2·racks on, a partition looks at no list that the one `racks` before it did not look at: the racks begin
    with the same one then, and what lists carried made the earlier one look further, if anything.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from app.core.model import Int64s
from app.core.replicas import striped_kernel as kernel
from app.core.replicas.striped import Racks

Carried: TypeAlias = tuple[tuple[int, int], ...]
"""For each list how many of its brokers the last partition that used it took, and its number; (0, 0) if no matter."""


@dataclass(frozen=True, slots=True, eq=False)
class Epoch:
    """What an epoch came to.

    Parameters
    ----------
    counts : (2, brokers) int64: how often each place of each list led, and how often it was a replica at all.
    carried : what the next epoch finds.
    """

    counts: Int64s
    carried: Carried


def nothing_carried(racks: Racks) -> Carried:
    """What the first epoch finds."""
    return ((0, 0),) * len(racks.sizes)


def run_epoch(
    racks: Racks, *, factor: int, partitions: int, order: Sequence[int], offset: int = 0, carried: Carried
) -> Epoch:
    """Place an epoch's partitions, at most `racks.epoch_length`, for one order and one offset of the racks."""
    brokers = len(racks.members)
    rows = np.empty((partitions, factor), np.int32)
    cursors = racks.cursors([0] * len(carried))
    cursors[:, (kernel.TAKEN, kernel.EPOCH)] = carried
    places = np.arange(brokers, dtype=np.int32)
    kernel.fill_epoch(rows, 0, partitions, places, racks.bounds, cursors, np.array(order, np.int32), offset)
    counts = np.zeros((2, brokers), np.int64)
    kernel.count(rows, counts)
    used = cursors[:, (kernel.TAKEN, kernel.EPOCH)]
    used[::2][used[::2, 1] > max(0, racks.count - max(1, factor - 1))] = 0
    used[used[:, 1] >= 2 * racks.count] = 0
    used[used[:, 0] == 0] = 0
    return Epoch(counts, tuple((combination, number) for combination, number in used.tolist()))
