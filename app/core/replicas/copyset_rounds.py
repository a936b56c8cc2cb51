"""Replica sets for new topics: few of them, with the same number for each broker and a stated scatter width.

Hard constraints
    A set has factor // racks brokers of each rack, or one more. Every broker is in equally many sets of a round.
Goals, in lexicographic order
    1. No broker shares a set with fewer others than necessary. 2. As few sets repeat a pair of brokers as possible.

Algorithm
    Rounds are permutations of the brokers that are cut into sets. Each set is filled broker by broker: the one that
    shares fewest sets with those in it, then the narrowest. Of several starts the best round is taken. If the factor
    divides the number of brokers, brokers of two sets are then exchanged as long as that adds pairs. The rounds depend
    on the brokers, their racks and the factor alone: a wider choice begins with the sets of a narrower one, and a topic
    that is placed later has the sets of the topics before it.

Source: Cidon et al., "Copysets: Reducing the Frequency of Data Loss in Cloud Storage", USENIX ATC 2013.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import islice
from math import gcd

import numpy as np

from app.core.measures.copysets import Copysets, CopysetsChoice, copysets
from app.core.model import Broker, Int32s, Int64s
from app.errors.requests import CopysetsImpossible

MOST_LOAD_AFTER_LOSS = 1.25
"""The default scatter width is the smallest at which no broker leads more than this multiple after any one loss."""
MOST_ROUNDS = 16
"""Rounds of which a front is made."""
_STARTS = 8


@dataclass(frozen=True, eq=False)
class SetRounds:
    """Consecutive rounds of sets.

    Parameters
    ----------
    rounds : each (sets, factor) int32 positions of brokers; all have the same number of sets.
    brokers : how many there are.
    """

    rounds: Sequence[Int32s] = field(repr=False)
    brokers: int

    @cached_property
    def measured(self) -> Copysets:
        """The number of sets, scatter widths and odds."""
        return copysets(np.concatenate(self.rounds), self.brokers)

    @cached_property
    def largest_load_after_loss(self) -> float:
        """Leaders of the most loaded broker after the loss of any one, as a multiple of before.

        Every set has as many partitions, led by each of its brokers in turn, with the others in each order. 1 for a
        factor of 1, with which no other broker takes over.
        """
        sets = np.concatenate(self.rounds)
        factor = sets.shape[1]
        if factor == 1:
            return 1.0
        shared = _shared_sets(sets, self.brokers)
        largest = (shared.max(axis=0) / np.bincount(sets.ravel(), minlength=self.brokers)).max()
        return float(1 + largest / (factor - 1))


def rounds_of_width(brokers: Sequence[Broker], factor: int, width: int | None) -> SetRounds:
    """The fewest rounds that give every broker a scatter width, or the default one if it is None.

    Parameters
    ----------
    brokers : by ascending id, all with a rack or none. factor : at most their number.

    Raises
    ------
    CopysetsImpossible : the width is below factor − 1, or no rounds have it, or racks are too unequal.
    """
    if width is not None and width < factor - 1:
        detail = (
            f"a broker of a set of {factor} shares it with {factor - 1} others; a scatter width of {width} is below "
            f"that: one of {factor - 1} or more, or a smaller replication factor, lifts it"
        )
        raise CopysetsImpossible(detail, path=("scatter_width",), value=width, minimum=factor - 1)
    choices = []
    for each in all_rounds(brokers, factor):
        choices.append(each)
        is_enough = (
            each.largest_load_after_loss <= MOST_LOAD_AFTER_LOSS
            if width is None
            else factor == 1 or each.measured.scatter_width.min >= width
        )
        if is_enough:
            return each
    if width is None:
        return min(choices, key=lambda each: each.largest_load_after_loss)
    widest = choices[-1].measured.scatter_width.min
    detail = (
        f"sets of {factor} of {len(brokers)} brokers have a scatter width of {widest} at most, within their racks; "
        f"{width} is requested: more brokers in other racks, or no rack_mode but `disabled`, lift it"
    )
    raise CopysetsImpossible(detail, path=("scatter_width",), value=width, maximum=widest)


def front_of(brokers: Sequence[Broker], factor: int, min_isr: int | None) -> list[CopysetsChoice]:
    """The choices of up to `MOST_ROUNDS` rounds, by ascending scatter width, each with a smaller load than before it.

    Raises as `all_rounds`.
    """
    points: list[CopysetsChoice] = []
    for each in islice(all_rounds(brokers, factor), MOST_ROUNDS):
        load, found = round(each.largest_load_after_loss, 4), each.measured
        if points and load >= points[-1].largest_load_after_loss:
            continue
        # Two brokers are left out of a list that has both: factor - 2 of its replicas remain in sync.
        pairs = None if min_isr is None else found.pairs if min_isr > factor - 2 else 0
        points.append(CopysetsChoice(found.scatter_width.min, found.sets, found.loss_probability, pairs, load))
    return points


def all_rounds(brokers: Sequence[Broker], factor: int) -> Iterator[SetRounds]:
    """One round, two rounds and so on, until another round would add no pair of brokers.

    Raises `CopysetsImpossible` if racks are too unequal.
    """
    names = sorted({_rack(broker) for broker in brokers})
    rack_of = np.array([names.index(_rack(broker)) for broker in brokers], np.int64)
    _check_racks(np.bincount(rack_of), names, factor)
    shared = np.zeros((len(brokers), len(brokers)), np.int64)
    rounds: list[Int32s] = []
    while True:
        best = _best_round(rack_of, factor, shared, len(rounds) * _STARTS)
        after = shared + _shared_sets(best, len(brokers))
        if rounds and np.count_nonzero(after) == np.count_nonzero(shared):
            return
        shared = after
        rounds.append(best)
        yield SetRounds(tuple(rounds), len(brokers))


def _rack(broker: Broker) -> str:
    """A broker without a rack is one of its own."""
    return f"{broker.id:011d}" if broker.rack is None else broker.rack


def _check_racks(sizes: Int64s, names: Sequence[str], factor: int) -> None:
    """Raise `CopysetsImpossible` unless brokers can be in equally many sets that are legal by rack."""
    brokers, racks = int(sizes.sum()), len(sizes)
    least, most = factor // racks, -(-factor // racks)
    for name, size in zip(names, sizes.tolist(), strict=True):
        if least * brokers <= size * factor <= most * brokers:
            continue
        few, many = -(-least * brokers // factor), most * brokers // factor
        bounds = "equally many in each rack" if few > many else f"{few} to {many}" if least else f"{many} or fewer"
        detail = (
            f"rack {name} has {size} of {brokers} brokers; sets of {factor} over {racks} racks with equally many for "
            f"each broker need {bounds}: brokers added to small racks, cordoned_brokers in large ones, or rack_mode "
            "`disabled` lift it"
        )
        raise CopysetsImpossible(detail, path=("algorithm",), value="copysets", rack=name, brokers=size)


def _shared_sets(sets: Int32s, brokers: int) -> Int64s:
    """(brokers, brokers) int64: how many sets two brokers share; 0 on the diagonal."""
    shared = np.zeros((brokers, brokers), np.int64)
    for one in range(sets.shape[1]):
        for other in range(sets.shape[1]):
            if one != other:
                np.add.at(shared, (sets[:, one], sets[:, other]), 1)
    return shared


def _best_round(rack_of: Int64s, factor: int, shared: Int64s, first_start: int) -> Int32s:
    """The best round of several starts, or the first one that repeats no pair of brokers."""
    found: list[tuple[int, int, Int32s]] = []
    for start in range(first_start, first_start + _STARTS):
        sets = _round(rack_of, factor, shared, start)
        widths = np.count_nonzero(shared + _shared_sets(sets, len(rack_of)), axis=1)
        found.append((int(widths.min()), int(widths.sum()), sets))
        if found[-1][1] - np.count_nonzero(shared) == sets.size * (factor - 1):
            break
    best = max(found, key=lambda each: each[:2])[2]
    # Else a topic has a part of a round, whose order keeps the counts of brokers balanced.
    is_in_one = len(rack_of) % factor == 0
    return _with_more_pairs(best, rack_of, shared) if is_in_one else best


def _round(rack_of: Int64s, factor: int, shared: Int64s, start: int) -> Int32s:
    """(sets, factor) int32: the smallest number of sets that has every broker equally often.

    Parameters
    ----------
    rack_of : (brokers,) int64. shared : (brokers, brokers) int64 sets of earlier rounds. start : chooses among equals.
    """
    brokers, racks = len(rack_of), int(rack_of.max()) + 1
    number, least = brokers // gcd(brokers, factor), factor // racks
    left = np.full(brokers, number * factor // brokers)
    beyond = np.bincount(rack_of) * left[0] - least * number  # replicas of each rack beyond the least of every set
    order = (np.arange(brokers) - 7 * start) % brokers
    widths, is_shared = np.count_nonzero(shared, axis=1), shared > 0
    sets = np.empty((number, factor), np.int32)
    for row in range(number):
        # A rack that has one replica beyond the least for each remaining set has to be in all of them.
        is_due = beyond == number - row
        beyond[is_due] -= 1
        due = [*np.repeat(np.arange(racks), least).tolist(), *np.flatnonzero(is_due).tolist()]
        may_add, is_free, repeated = (beyond > 0) & ~is_due, left > 0, np.zeros(brokers, np.int64)
        for column in range(factor):
            among = np.flatnonzero(is_free & (rack_of == due[column] if column < len(due) else may_add[rack_of]))
            sets[row, column] = broker = among[
                np.lexsort((order[among], widths[among], repeated[among], -left[among]))[0]
            ]
            if column >= len(due):
                may_add[rack_of[broker]] = False
                beyond[rack_of[broker]] -= 1
            is_free[broker] = False
            left[broker] -= 1
            repeated += is_shared[broker]
        is_shared[np.ix_(sets[row], sets[row])] = True
    return sets


def _with_more_pairs(sets: Int32s, rack_of: Int64s, shared: Int64s) -> Int32s:
    """The sets after exchanges of two brokers, each of which adds pairs, until none does.

    A broker is exchanged only if it shares more than one set with another of its set. The sets stay legal by rack.

    Parameters
    ----------
    sets : (sets, factor) int32, a broker in one of them. rack_of : (brokers,) int64.
    shared : (brokers, brokers) int64 sets of earlier rounds.

    Complexity: O(sets · factor²) for each such broker of each exchange.
    """
    sets, is_changed = sets.copy(), True
    while is_changed:
        is_changed = False
        after = shared + _shared_sets(sets, len(rack_of))
        repeats = (after[sets[:, :, None], sets[:, None, :]] > 1).sum(axis=2)
        for row, column in np.argwhere(repeats).tolist():
            gains = _gains(sets, repeats, rack_of, after, row, column)
            other = np.unravel_index(gains.argmax(), sets.shape)
            if gains[other] > 0:
                sets[row, column], sets[other] = sets[other], sets[row, column]
                is_changed = True
                break
    return sets


def _gains(sets: Int32s, repeats: Int64s, rack_of: Int64s, after: Int64s, row: int, column: int) -> Int64s:
    """(sets, factor) int64: pairs that are added if a broker of a set and each other one are exchanged.

    The least integer if they are in one set, or if a set would have a rack twice that it may have once.
    """
    broker, rest = sets[row, column], np.delete(sets[row], column)
    with_broker = after[broker][sets] > 0
    repeated = (after[:, rest] > 0).sum(axis=1)[sets] + with_broker.sum(axis=1, keepdims=True) - with_broker
    racks, same = rack_of[sets], rack_of[sets] == rack_of[broker]
    is_legal = same | ~np.isin(racks, rack_of[rest]) & ~same.any(axis=1, keepdims=True)
    is_legal[row] = False
    return np.where(is_legal, repeats[row, column] + repeats - repeated, np.iinfo(np.int64).min)
