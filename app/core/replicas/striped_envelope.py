"""The envelope of the striped placer: the possible outcomes for one topic, over all of its draws.

The outcomes are enumerated if they are few enough, else bounded.

Outcomes that differ only in which brokers of a list have which counts are one: all of those can happen, for the first
epoch turns a list's counts around among its brokers, and the later ones hand them out in any way. So an outcome is, for
each list, how many of its brokers have which counts (a `Tally`), and an epoch's counts can be added to it in as many
ways as the two tallies can be matched.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import pairwise, permutations, product
from math import factorial
from typing import TypeAlias

import numpy as np

from app.core.jvm.random import JavaRandom, independent_seed
from app.core.model import Broker, Int64s, NewTopic
from app.core.replicas import striped_kernel as kernel
from app.core.replicas.envelope import Envelope, ObservedRange, bounded_and_sampled, enumerated
from app.core.replicas.striped import Racks, check, fill
from app.core.replicas.striped_bounds import Carried, TooMany, bound_outcomes, nothing_carried, run_epoch

Shares: TypeAlias = tuple[int, int]
"""How often a broker leads, and how often it is a replica at all."""
Tally: TypeAlias = tuple[tuple[Shares, int], ...]
"""How many brokers of a list have which shares, sorted."""
State: TypeAlias = tuple[Carried, tuple[Tally, ...]]


def enumerate_outcomes(racks: Racks, *, factor: int, partitions: int, limit: int) -> ObservedRange | None:
    """Take in every outcome, brokers in the order of `racks.members`.

    None if that takes more than about `limit` steps of some microseconds.
    """
    length = racks.epoch_length(partitions)
    later_epochs = max(0, -(-partitions // length) - 1)
    # A step takes about as long as placing 2,000 replicas, or as counting 10 racks'.
    first_steps = racks.count * (1 + min(partitions, length) * factor // 2_000 + racks.count // 10)
    if first_steps + later_epochs * factorial(min(racks.count, 20)) > limit:
        return None
    walk = _Walk(racks, factor, limit)
    states = walk.first(min(partitions, length))
    try:
        for begin in range(length, partitions, length):
            states = walk.later(states, min(length, partitions - begin))
    except TooMany:
        return None
    return _seen(racks, states)


class _Walk:
    """Goes from the outcomes after one epoch to those after the next."""

    def __init__(self, racks: Racks, factor: int, limit: int) -> None:
        self._racks = racks
        self._factor = factor
        self._steps_left = limit
        self._epochs: dict[tuple[tuple[int, ...], Carried, int], State] = {}
        self._sums: dict[tuple[Tally, Tally], frozenset[Tally]] = {}

    def first(self, partitions: int) -> set[State]:
        """The outcomes of the first epoch: the racks are sorted and have any offset."""
        order, carried = tuple(range(self._racks.count)), nothing_carried(self._racks)
        return {self._run(order, carried, partitions, offset) for offset in order}

    def later(self, states: set[State], partitions: int) -> set[State]:
        """The outcomes after one more epoch: the racks and the lists have any order."""
        reached: set[State] = set()
        for carried, tallies in states:
            for order in permutations(range(self._racks.count)):
                carried_on, added = self._epoch(order, carried, partitions)
                sums = [self._summed(*pair) for pair in zip(tallies, added, strict=True)]
                for outcome in product(*sums):
                    self._step()
                    reached.add((carried_on, outcome))
        return reached

    def _step(self, steps: int = 1) -> None:
        self._steps_left -= steps
        if self._steps_left < 0:
            raise TooMany

    def _epoch(self, order: tuple[int, ...], carried: Carried, partitions: int) -> State:
        key = order, carried, partitions
        if key not in self._epochs:
            self._step(4)
            self._epochs[key] = self._run(*key)
        return self._epochs[key]

    def _run(self, order: tuple[int, ...], carried: Carried, partitions: int, offset: int = 0) -> State:
        epoch = run_epoch(
            self._racks, factor=self._factor, partitions=partitions, order=order, offset=offset, carried=carried
        )
        tallies = []
        for begin, end in pairwise(self._racks.bounds.tolist()):
            shares = Counter(zip(*epoch.counts[:, begin:end].tolist(), strict=True))
            tallies.append(tuple(sorted(shares.items())))
        return epoch.carried, tuple(tallies)

    def _summed(self, tally: Tally, added: Tally) -> frozenset[Tally]:
        """All tallies that result from adding the shares of `added` to `tally`, broker by broker."""
        if (tally, added) not in self._sums:
            # The sum so far, and the number of each share of `added` that is left to assign.
            partial: set[tuple[Tally, tuple[int, ...]]] = {((), tuple(count for _, count in added))}
            for (leaders, replicas), brokers in tally:
                further = set()
                for summed, remaining in partial:
                    for chosen in _ways_to_take(brokers, remaining):
                        self._step()
                        shares = Counter(dict(summed))
                        for ((more_leaders, more_replicas), _), count in zip(added, chosen, strict=True):
                            if count:
                                shares[leaders + more_leaders, replicas + more_replicas] += count
                        others = tuple(had - count for had, count in zip(remaining, chosen, strict=True))
                        further.add((tuple(sorted(shares.items())), others))
                partial = further
            self._sums[tally, added] = frozenset(summed for summed, _ in partial)
        return self._sums[tally, added]


def _ways_to_take(total: int, available: tuple[int, ...]) -> Iterator[tuple[int, ...]]:
    """Every way to take `total` things of several kinds, given how many of each kind are available."""
    if not available:
        if total == 0:
            yield ()
        return
    others = sum(available[1:])
    for chosen in range(max(0, total - others), min(total, available[0]) + 1):
        for further in _ways_to_take(total - chosen, available[1:]):
            yield chosen, *further


def _seen(racks: Racks, states: set[State]) -> ObservedRange:
    """The range of all outcomes; brokers of a list are interchangeable."""
    observed = ObservedRange(racks.is_unfenced)
    distinct = {tallies for _, tallies in states}
    for tallies in distinct:
        shares = [share for tally in tallies for share, brokers in tally for _ in range(brokers)]
        counts: Int64s = np.array(shares, np.int64).T
        observed.add(counts[np.newaxis])
    for begin, end in pairwise(racks.bounds.tolist()):
        if begin < end:
            observed.lowest[:, begin:end] = observed.lowest[:, begin:end].min(axis=1, keepdims=True)
            observed.highest[:, begin:end] = observed.highest[:, begin:end].max(axis=1, keepdims=True)
    return observed


BOUND_REPLICAS = 4_000_000
"""Some 50 ms of work at most, and commonly less than one: a plan promises the bounds."""
ENUMERATION_STEPS = 1_000
SAMPLED_REPLICAS = 1_000_000
"""Each is some 10 ms of work."""
FEWEST_SEEDS = 2


def envelope(brokers: Sequence[Broker], topic: NewTopic, *, seeds: int = 1000, first_seed: int = 0) -> Envelope:
    """The possible outcomes of placing one topic, over all draws of `striped.place`.

    Parameters
    ----------
    seeds : number of sampled seeds if the outcomes are too many to enumerate; fewer, but at least 2, if placing
        the topic takes long. The result has their number.
    first_seed : sampled are the seeds `independent_seed(first_seed, i)`, so that each can be replayed.

    Returns
    -------
    Enumerated if the outcomes are few: if the topic has no more partitions than there are unfenced brokers (in
    up to some 200 racks), and for a few reshuffles of small clusters; else proven bounds and sampled ranges.

    Raises the errors of `striped.place`. Draws nothing.
    """
    racks = Racks.of(brokers)
    factor = check(racks, topic)
    observed = enumerate_outcomes(racks, factor=factor, partitions=topic.partitions, limit=ENUMERATION_STEPS)
    if observed is not None:
        return enumerated(racks.members, observed)
    bounds = bound_outcomes(racks, factor=factor, partitions=topic.partitions, limit=BOUND_REPLICAS)
    # Drawing the offsets of a rack takes as long as placing some 200 replicas, and starting as some 4,000.
    affordable = SAMPLED_REPLICAS // (topic.partitions * factor + 200 * racks.count + 4_000)
    sampled = _sample(racks, factor, topic.partitions, max(FEWEST_SEEDS, min(seeds, affordable)), first_seed)
    return bounded_and_sampled(racks.members, bounds, sampled)


def _sample(racks: Racks, factor: int, partitions: int, seeds: int, first_seed: int) -> ObservedRange:
    observed = ObservedRange(racks.is_unfenced)
    places = np.arange(len(racks.members), dtype=np.int32)
    rows = np.empty((partitions, factor), np.int32)
    counts = np.zeros((seeds, 2, len(places)), np.int64)
    for index, of_seed in enumerate(counts):
        random = JavaRandom(independent_seed(first_seed, index))
        fill(rows, racks, racks.draw_offsets(random), random, members=places)
        kernel.count(rows, of_seed)
    observed.add(counts)
    return observed
