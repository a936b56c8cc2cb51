"""Bounds that no outcome of the striped placer passes, for topics with too many outcomes to walk through.

Proof. An outcome is the sum of its epochs. A broker's count in one epoch is the count of some place of the broker's
list, for some order of the racks and something carried (`striped_epochs`). So the smallest and the largest count of the
list's places, over all orders and all that can be carried, bound each epoch, and their sums the outcome.

    First epoch: every offset of the sorted racks is looked at.
    Later ones, where each partition takes a fixed number of unfenced brokers of a rack, whatever the other racks are,
        and nothing is ever carried: a rack's counts then hang on its place after the offset alone, and the offsets of
        the first epoch have put it in every place.
    Later ones otherwise: every order of the racks and everything that can be carried is looked at, racks of equal lists
        being one. Where those are too many, an epoch of n partitions gives a broker 0 to n of either.

Spread. The widest is at most the largest highest count less the smallest lowest one. The least: of the unfenced brokers
of a list that gets at least T one has at least ⌈T/n⌉, of one that gets at most T one has at most ⌊T/n⌋, and the same
holds of all unfenced brokers as one list.

An epoch is the time between two reshuffles of the striped placer.

How many replicas each rack's lists give, and for which partitions, hangs on the order of the racks alone; which broker
of a list gives them hangs on the list's own order and offset alone. So one epoch, computed with the places of a list
instead of brokers, stands for all orders and offsets of its lists:

    In the first epoch a list is sorted and its offset is any: the places' counts are turned around among its brokers.
    In a later one the list's order is any: the places' counts go to its brokers in any way, whatever went before.
    There the racks' order is any, too, so that the offset of the racks, which turns that order around, is nothing new.

One thing does pass from an epoch to the next. Partitions are numbered anew in each epoch, and a list forgets how many
of its brokers were taken when it is used by a partition of another number than the last time. So if the first
partition to use a list in an epoch has the number of the last one that used it in the epoch before, the list goes on
with the remaining brokers. That is `carried`. It matters only up to the number by which every list that is
used at all has been used:

    An unfenced list is looked at when the racks begin with its own, and where they begin up to max(1, factor - 1) - 1
    racks before: by partition number racks - max(1, factor - 1) at the latest.
    From number 2·racks on, a partition looks at no list that the one `racks` before it did not look at: the racks begin
    with the same one then, and carried lists only made the earlier one look further.
"""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TypeAlias

import numpy as np

from app.core.model import Int64s
from app.core.replicas import striped_kernel as kernel
from app.core.replicas.envelope import Bounds
from app.core.replicas.striped import Racks

Carried: TypeAlias = tuple[tuple[int, int], ...]
"""For each list how many of its brokers the last partition that used it took, and its number; (0, 0) if no matter."""


@dataclass(frozen=True, slots=True, eq=False)
class Epoch:
    """The result of an epoch.

    Parameters
    ----------
    counts : (2, brokers) int64: how often each place of each list led, and how often it was a replica at all.
    carried : the state at the start of the next epoch.
    """

    counts: Int64s
    carried: Carried


class TooMany(Exception):
    """There is more to look at than the caller wants."""


def nothing_carried(racks: Racks) -> Carried:
    """The state at the start of the first epoch."""
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


_Way: TypeAlias = tuple[tuple[int, ...], Carried, int]
"""The order of the racks, the carried state, the offset of the racks."""


_Range: TypeAlias = Int64s
"""(2, 2, lists, 2) int64 counts of epochs: of a place of each list ([0]), and of the list as a whole ([1]); of leaders
and replicas; at the least and at the most."""


def bound_outcomes(racks: Racks, *, factor: int, partitions: int, limit: int) -> Bounds:
    """Bound every outcome, brokers in the order of `racks.members`; about `limit` replicas may be placed for it."""
    length = racks.epoch_length(partitions)
    survey = _Survey(racks, factor, length, limit)
    full, last = divmod(partitions, length)
    total = survey.first(min(partitions, length))
    if full > 1:
        total += survey.later(length) * (full - 1)
    if full and last:
        total += survey.later(last)
    return _bounds(racks, total, partitions * np.array([1, factor]))


class _Survey:
    """Runs epochs for all their inputs, and stores the range of the counts."""

    def __init__(self, racks: Racks, factor: int, length: int, limit: int) -> None:
        self._racks = racks
        self._factor = factor
        self._length = length
        self._ways: list[_Way] | None = None
        self._epochs: dict[tuple[tuple[int, ...], Carried, int, int], Epoch] = {}
        self._replicas_left = limit
        # Racks with lists of equal sizes can stand for each other.
        self._kinds: list[tuple[int, ...]] = [tuple(sizes) for sizes in racks.sizes.reshape(-1, 2).tolist()]

    def first(self, partitions: int) -> _Range:
        """The first epoch, of as many partitions."""
        try:
            return self._range(self._first_epochs(partitions))
        except TooMany:
            return self._anything(partitions)

    def later(self, partitions: int) -> _Range:
        """The first `partitions` of any later epoch."""
        try:
            self._ways = self._ways or self._find_ways()
            epochs = [self._run(order, carried, partitions, offset) for order, carried, offset in self._ways]
        except TooMany:
            return self._anything(partitions)
        return self._over_kinds(self._range(epochs))

    def _find_ways(self) -> list[_Way]:
        """All that a later epoch can start from, as far as it makes a difference. Raises `TooMany`."""
        before = self._first_epochs(self._length)
        carried = {self._by_kind(epoch.carried) for epoch in before}
        order, nothing = tuple(range(self._racks.count)), nothing_carried(self._racks)
        # Whether each partition takes ⌊factor/racks⌋ or ⌈factor/racks⌉ unfenced brokers of each rack.
        independent = bool(self._racks.sizes[::2].min() * self._racks.count >= self._factor)
        if independent and carried == {nothing}:
            return [(order, nothing, offset) for offset in order]
        ways: list[_Way] = []
        pending = list(carried)
        while pending:
            start = pending.pop()
            for order in self._orders(start):
                ways.append((order, start, 0))
                carried_on = self._by_kind(self._run(order, start, self._length, 0).carried)
                if carried_on not in carried:
                    carried.add(carried_on)
                    pending.append(carried_on)
        return ways

    def _first_epochs(self, partitions: int) -> list[Epoch]:
        """One for each offset of the sorted racks. Raises `TooMany`."""
        order, nothing = tuple(range(self._racks.count)), nothing_carried(self._racks)
        return [self._run(order, nothing, partitions, offset) for offset in order]

    def _orders(self, carried: Carried) -> Iterator[tuple[int, ...]]:
        """Every order of the racks, one for all that differ only in racks of equal lists of which equal is carried."""
        alike = defaultdict(list)
        for rack, kind in enumerate(self._kinds):
            alike[kind, carried[2 * rack], carried[2 * rack + 1]].append(rack)
        return _distinct_orders(tuple(tuple(racks) for racks in alike.values()))

    def _run(self, order: tuple[int, ...], carried: Carried, partitions: int, offset: int) -> Epoch:
        """One epoch. Raises `TooMany` if the limit is reached."""
        key = order, carried, partitions, offset
        if key not in self._epochs:
            # Setting it up takes as long as placing some 4,000 replicas, and 400 more for each rack.
            self._replicas_left -= partitions * self._factor + 4_000 + 400 * len(order)
            if self._replicas_left < 0:
                raise TooMany
            self._epochs[key] = run_epoch(
                self._racks, factor=self._factor, partitions=partitions, order=order, offset=offset, carried=carried
            )
        return self._epochs[key]

    def _by_kind(self, carried: Carried) -> Carried:
        """The carried state, sorted among racks of equal lists."""
        pairs = [carried[index : index + 2] for index in range(0, len(carried), 2)]
        of_kind: defaultdict[tuple[int, ...], list[Carried]] = defaultdict(list)
        for kind, pair in sorted(zip(self._kinds, pairs, strict=True), reverse=True):
            of_kind[kind].append(pair)
        return tuple(of_list for kind in self._kinds for of_list in of_kind[kind].pop())

    def _range(self, epochs: list[Epoch]) -> _Range:
        counts = np.stack([epoch.counts for epoch in epochs])
        found = np.zeros((2, 2, len(self._racks.sizes), 2), np.int64)
        for index, (begin, end) in enumerate(pairwise(self._racks.bounds.tolist())):
            if begin < end:
                of_list = counts[:, :, begin:end]
                for of, each in zip(found, (of_list, of_list.sum(axis=2, keepdims=True)), strict=True):
                    of[:, index] = np.stack([each.min(axis=(0, 2)), each.max(axis=(0, 2))], axis=1)
        return found

    def _over_kinds(self, ways: _Range) -> _Range:
        """Extend each rack's range to all racks of equal lists."""
        merged = ways.copy()
        for kind in set(self._kinds):
            racks = [rack for rack, its_kind in enumerate(self._kinds) if its_kind == kind]
            for side in (0, 1):
                lists = [2 * rack + side for rack in racks]
                merged[:, :, lists, 0] = merged[:, :, lists, 0].min(axis=2, keepdims=True)
                merged[:, :, lists, 1] = merged[:, :, lists, 1].max(axis=2, keepdims=True)
        return merged

    def _anything(self, partitions: int) -> _Range:
        """Bounds of any epoch: no partition is twice on a broker, and none is led by a fenced one."""
        sizes = self._racks.sizes
        found = np.zeros((2, 2, len(sizes), 2), np.int64)
        found[:, :, :, 1] = partitions * (sizes > 0)
        found[1, 1, :, 1] = partitions * np.minimum(sizes, self._factor)
        found[:, 0, 1::2, 1] = 0
        return found


def _distinct_orders(alike: tuple[tuple[int, ...], ...]) -> Iterator[tuple[int, ...]]:
    """Every order of things of several kinds, things of one kind staying in their own order."""
    if not alike:
        yield ()
    for index, (chosen, *tail) in enumerate(alike):
        remaining = (*alike[:index], *([tuple(tail)] if tail else []), *alike[index + 1 :])
        for further in _distinct_orders(remaining):
            yield chosen, *further


def _bounds(racks: Racks, total: _Range, replicas: Int64s) -> Bounds:
    """replicas : (2,) int64: how many leaders and how many replicas there are."""
    places, totals = total
    lowest, highest = (np.repeat(places[:, :, side], racks.sizes, axis=1) for side in (0, 1))
    unfenced = racks.is_unfenced
    sizes = racks.sizes[::2]
    least, most = (totals[:, ::2, side][:, sizes > 0] for side in (0, 1))
    sizes = sizes[sizes > 0]
    # All unfenced brokers as one list: they get whatever the fenced ones do not.
    fenced_totals = totals[:, 1::2]
    least = np.column_stack([least, replicas - fenced_totals[:, :, 1].sum(axis=1)])
    most = np.column_stack([most, replicas - fenced_totals[:, :, 0].sum(axis=1)])
    sizes = np.append(sizes, sizes.sum())
    spread = np.max(-(-least // sizes), axis=1) - np.min(most // sizes, axis=1)
    return Bounds(
        lowest=lowest,
        highest=highest,
        guaranteed_spread=np.maximum(spread, 0),
        worst_case_spread=highest[:, unfenced].max(axis=1) - lowest[:, unfenced].min(axis=1),
    )
