"""The fewest restart waves.

Which brokers may not be in one wave: pairs, and larger sets of which only some may be.

Brokers that exclude each other pairwise never share a wave, so that the connected components of the pairs that do *not*
exclude each other are problems of their own, whose waves add up: racks, if waves do not mix them, are such parts.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from typing import Any

import numpy as np

from app.core.integer import integer_solver
from app.core.model import NO_REPLICA, Bools, Int64s
from app.core.restarts.model import Election, Reason, RestartProblem, RestartWaves, WaveBound

VOTERS = -1
"""In place of a row: the set is that of the controllers."""


@dataclass(frozen=True, slots=True, eq=False)
class Part:
    """Brokers that share no wave with any other, by their index in `brokers`.

    Parameters
    ----------
    brokers : (size,) int64 positions. most : of them in a wave.
    pairs : (size, size) bool, symmetric; brokers that are never in one wave.
    sets : (sets, widest) int64 indices, padded with `size`; at most (sets,) int64 `caps` of each are in a wave.
    rows : (sets,) int64 partition of each set, or `VOTERS`.
    fits : whether limits hold if these indices are a wave. It holds for all subsets of a wave for which it does.
    is_limited : whether there are limits.
    """

    brokers: Int64s
    most: int
    pairs: Bools = field(repr=False)
    sets: Int64s = field(repr=False)
    caps: Int64s = field(repr=False)
    rows: Int64s = field(repr=False)
    fits: Callable[[Sequence[int]], bool] = field(repr=False)
    is_limited: bool


def parts_of(problem: RestartProblem, election: Election, alone: Sequence[int]) -> Iterator[Part]:
    """The parts of a problem, by their first broker. Complexity: O(rows · factor²) for distinct lists of replicas."""
    sets, caps, rows = _sets_of(problem)
    excluded = _pairs_of(problem, sets[caps == 1])
    excluded[alone, :] = excluded[:, alone] = True
    larger = caps > 1
    sets, caps, rows = sets[larger], caps[larger], rows[larger]
    for brokers in _components(~excluded, np.flatnonzero(problem.is_up)):
        index_of = np.full(len(problem.is_up) + 1, len(brokers))
        index_of[brokers] = np.arange(len(brokers))
        inside = index_of[sets]
        counts = (inside < len(brokers)).sum(axis=1) > caps

        def fits(wave: Sequence[int], brokers: Int64s = brokers) -> bool:
            return election.fits(brokers[list(wave)].tolist())

        pairs = excluded[np.ix_(brokers, brokers)]
        np.fill_diagonal(pairs, val=False)
        yield Part(brokers, problem.most, pairs, inside[counts], caps[counts], rows[counts], fits, election.is_limited)


def _sets_of(problem: RestartProblem) -> tuple[Int64s, Int64s, Int64s]:
    """Distinct sets that a wave cannot contain, with their caps and a row of each."""
    caps = problem.caps
    rows = np.flatnonzero(problem.sizes > caps)
    keyed = np.column_stack([caps[rows], np.sort(problem.in_sync[rows], axis=1)])
    order = np.lexsort(keyed.T)  # ten times as fast as np.unique of rows
    is_first = np.ones(len(order), np.bool_)
    is_first[1:] = (keyed[order[1:]] != keyed[order[:-1]]).any(axis=1)
    distinct, rows = keyed[order[is_first]], rows[order[is_first]]
    sets, caps = distinct[:, 1:], distinct[:, 0]
    voters = np.flatnonzero(problem.is_voter & problem.is_up)
    if len(voters) > problem.most_voters:
        width = max(sets.shape[1], len(voters))
        sets = np.pad(sets, ((0, 1), (0, width - sets.shape[1])), constant_values=NO_REPLICA)
        sets[-1] = np.pad(voters, (0, width - len(voters)), constant_values=NO_REPLICA)
        caps, rows = np.append(caps, problem.most_voters), np.append(rows, VOTERS)
    return sets.astype(np.int64), caps.astype(np.int64), rows.astype(np.int64)


def _pairs_of(problem: RestartProblem, sets: Int64s) -> Bools:
    """(brokers, brokers) bool, brokers of which only one may be in a wave."""
    excluded = np.zeros((len(problem.is_up) + 1,) * 2, np.bool_)
    for one, other in combinations(sets.T, 2):
        excluded[one, other] = excluded[other, one] = True
    return np.asarray(excluded[:-1, :-1] | (problem.group_of[:, None] != problem.group_of), np.bool_)


def _components(joined: Bools, among: Int64s) -> Iterator[Int64s]:
    """The connected components of some vertices, each ascending, by their first vertex."""
    left = np.zeros(len(joined), np.bool_)
    left[among] = True
    while left.any():
        component = np.arange(len(left)) == left.argmax()
        reached = component
        while reached.any():
            reached = joined[reached].any(axis=0) & left & ~component
            component |= reached
        yield np.flatnonzero(component)
        left &= ~component


ROUNDS = 40
_LIMITED_BROKERS = 500
"""Brokers of all rounds together if limits are checked, which takes a hundred times as long."""
_SEED = 1


def colored(part: Part, lower_bound: int) -> list[list[int]]:
    """Waves of indices.

    At first the broker that is excluded from most waves is next (DSATUR). Then brokers are colored again wave by wave,
    with the waves in another order: each of these can be formed again, so that there are never more (iterated greedy).
    Ends at the lower bound.
    """
    generator = np.random.default_rng(_SEED)
    best = _first_fit(part, None)
    for turn in range(max(2, min(ROUNDS, _LIMITED_BROKERS // len(part.brokers))) if part.is_limited else ROUNDS):
        if len(best) <= lower_bound:
            break
        order = best[::-1]
        if turn % 3 == 1:
            order = sorted(best, key=len, reverse=True)
        elif turn % 3 == 2:
            order = [best[wave] for wave in generator.permutation(len(best))]
        best = _first_fit(part, [broker for wave in order for broker in wave])
    return best


def _first_fit(part: Part, order: Sequence[int] | None) -> list[list[int]]:
    """Each broker in the first wave that may have it; in this order, or by DSATUR."""
    size = len(part.brokers)
    sets_of = _sets_of_brokers(part)
    degree = part.pairs.sum(axis=1) + np.array([len(sets) for sets in sets_of])
    is_excluded = np.zeros((size, size + 1), np.bool_)  # by wave and broker; the last column is padding
    is_in = np.zeros((size, size + 1), np.bool_)
    is_left = np.ones(size, np.bool_)
    waves: list[list[int]] = []
    for turn in range(size):
        if order is None:
            saturation = is_excluded[: len(waves), :size].sum(axis=0) * (degree.max() + 1) + degree
            broker = int(np.where(is_left, saturation, -1).argmax())
        else:
            broker = order[turn]
        is_left[broker] = False
        free = np.flatnonzero(~is_excluded[: len(waves), broker]).tolist()
        wave = next((wave for wave in free if part.fits([*waves[wave], broker])), len(waves))
        if wave == len(waves):
            waves.append([])
        waves[wave].append(broker)
        is_in[wave, broker] = True
        is_excluded[wave, :size] |= part.pairs[broker] | (len(waves[wave]) >= part.most)
        sets = part.sets[sets_of[broker]]
        is_full = is_in[wave][sets].sum(axis=1) >= part.caps[sets_of[broker]]
        is_excluded[wave, sets[is_full]] = True
    return waves


def _sets_of_brokers(part: Part) -> list[Int64s]:
    """The sets that contain each broker."""
    sets, columns = np.nonzero(part.sets < len(part.brokers))
    members = part.sets[sets, columns]
    order = np.argsort(members, kind="stable")
    return np.split(sets[order], np.searchsorted(members[order], np.arange(1, len(part.brokers))))


_STARTS = 40


def bounds_of(part: Part) -> Iterator[WaveBound]:
    """Lower bounds by pairs, by the size of waves and by a set."""
    everyone = tuple(part.brokers.tolist())
    clique = clique_of(part.pairs)
    yield WaveBound("pairs", len(clique), tuple(sorted(part.brokers[clique].tolist())))
    yield WaveBound("size", -(-len(everyone) // part.most), everyone)
    if len(part.sets):
        is_in = part.sets < len(everyone)
        waves = -(-is_in.sum(axis=1) // part.caps)
        worst = int(waves.argmax())
        members = tuple(sorted(part.brokers[part.sets[worst][is_in[worst]]].tolist()))
        row = int(part.rows[worst])
        reason: Reason = "controllers" if row == VOTERS else "partition"
        yield WaveBound(reason, int(waves[worst]), members, None if row == VOTERS else row)


def clique_of(pairs: Bools) -> list[int]:
    """Indices that exclude each other pairwise: the largest of several cliques that are grown greedily."""
    best: list[int] = []
    for start in np.argsort(-pairs.sum(axis=1), kind="stable")[:_STARTS].tolist():
        clique, candidates = [start], np.flatnonzero(pairs[start])
        while len(candidates):
            among = pairs[np.ix_(candidates, candidates)]
            chosen = int(among.sum(axis=1).argmax())
            clique.append(int(candidates[chosen]))
            candidates = candidates[among[chosen]]
        if len(clique) > len(best):
            best = clique
    return best


MOST_TERMS = 40_000
"""The most terms of the model's constraints; larger parts keep the waves and the bound that they have."""
SOLVER_TIME = 1.0
"""Deterministic time of a number of waves, all models with learned limits together."""
_NO_GOODS = 5
"""Rounds in which limits are learned; small parts have more, so that they are exact."""


def waves_within(part: Part, count: int) -> tuple[list[list[int]] | None, bool]:
    """Waves of indices, at most `count`, or None; and whether it is proven that there are none.

    Limits enter as sets that are learned: the smallest found part of a wave that breaks one.
    """
    size = len(part.brokers)
    if count * (int(part.pairs.sum()) + int((part.sets < size).sum()) + size) > MOST_TERMS:
        return None, False
    model, is_in = _model(part, count)
    left = SOLVER_TIME
    for _ in range(max(_NO_GOODS, _LIMITED_BROKERS // size)):
        found, is_infeasible, spent = _solved(model, is_in, left)
        left -= spent
        broken = [wave for wave in found or () if not part.fits(wave)]
        if not broken:
            return found, is_infeasible
        for wave in broken:
            core = _smallest_broken(part, wave)
            _limit(model, is_in, core, len(core) - 1)
    return None, False


def _model(part: Part, count: int) -> tuple[Any, list[list[Any]]]:
    """The model without limits, and by broker and wave whether the broker is in it."""
    from ortools.sat.python import cp_model  # noqa: PLC0415 — it takes long to import, and few requests need it

    model, size = cp_model.CpModel(), len(part.brokers)
    is_in: list[list[Any]] = [[model.new_bool_var("") for _ in range(count)] for _ in range(size)]
    for waves in is_in:
        model.add_exactly_one(waves)
    _limit(model, is_in, range(size), part.most)
    for pair in np.argwhere(np.triu(part.pairs)).tolist():
        _limit(model, is_in, pair, 1)
    for members, cap in zip(part.sets.tolist(), part.caps.tolist(), strict=True):
        _limit(model, is_in, [member for member in members if member < size], cap)
    for wave, broker in enumerate(clique_of(part.pairs)[:count]):  # waves have no order
        model.add(is_in[broker][wave] == 1)
    return model, is_in


def _solved(model: Any, is_in: list[list[Any]], seconds: float) -> tuple[list[list[int]] | None, bool, float]:
    """Waves that are not empty, or None; whether there are none; the deterministic time of the search."""
    from ortools.sat.python import cp_model  # noqa: PLC0415 — it takes long to import, and few requests need it

    solver = integer_solver(max(0.0, seconds))
    status, spent = solver.solve(model), float(solver.response_proto.deterministic_time)
    if status not in (cp_model.OPTIMAL, cp_model.FEASIBLE):
        return None, bool(status == cp_model.INFEASIBLE), spent
    waves = [
        [broker for broker, one in enumerate(of_wave) if solver.value(one)] for of_wave in zip(*is_in, strict=True)
    ]
    return [wave for wave in waves if wave], False, spent


def _limit(model: Any, is_in: list[list[Any]], members: Sequence[int], cap: int) -> None:
    for wave in range(len(is_in[0])):
        model.add(sum(is_in[member][wave] for member in members) <= cap)


def _smallest_broken(part: Part, wave: Sequence[int]) -> list[int]:
    """Brokers of a wave that break a limit together, and of which none can be left out (deletion filter)."""
    core = list(wave)
    for broker in wave:
        fewer = [other for other in core if other != broker]
        if fewer and not part.fits(fewer):
            core = fewer
    return core


def restart_waves(problem: RestartProblem) -> RestartWaves:
    """Restart every broker that is up once, in the fewest waves.

    A hypergraph colouring: of brokers that exclude each other pairwise, of larger sets, and of waves of limited size.
    Parts that share no wave are coloured one by one; if the waves of a part exceed its lower bounds, an integer model
    finds a schedule with one wave less, or proves that none exists.

    Examples
    --------
    Two partitions with three replicas each, of which two have to stay in sync: brokers 0, 1, 2 need three waves.

    >>> nothing = np.zeros((2, 0), np.int64)
    >>> problem = RestartProblem(
    ...     is_up=np.ones(4, np.bool_), in_sync=np.array([[0, 1, 2], [2, 3, 1]], np.int32),
    ...     min_isr=np.array([2, 2]), leaders=np.array([0, 2], np.int32), group_of=np.zeros(4, np.int32),
    ...     is_voter=np.zeros(4, np.bool_), most_voters=1, most=4, gain=nothing, slack=np.zeros((4, 0), np.int64))
    >>> schedule = restart_waves(problem)
    >>> schedule.waves, schedule.lower_bound
    (((0, 3), (1,), (2,)), 3)
    """
    election = Election(problem)
    up = np.flatnonzero(problem.is_up).tolist()
    alone = [broker for broker in up if not election.fits([broker])]
    waves: list[tuple[int, ...]] = []
    bounds: list[WaveBound] = []
    for part in parts_of(problem, election, alone):
        of_part, bound = _waves_of(part)
        waves += of_part
        bounds.append(bound)
    group_of = problem.group_of.tolist()
    waves.sort(key=lambda wave: (group_of[wave[0]], wave))
    return RestartWaves(tuple(waves), tuple(_merged(bounds)), tuple(alone))


def _waves_of(part: Part) -> tuple[list[tuple[int, ...]], WaveBound]:
    bound = max(bounds_of(part), key=lambda each: each.waves)  # of equal ones the first
    waves = colored(part, bound.waves)
    while len(waves) > bound.waves:
        fewer, is_proven = waves_within(part, len(waves) - 1)
        if fewer is not None:
            waves = fewer
            continue
        if is_proven:
            bound = WaveBound("search", len(waves), tuple(part.brokers.tolist()))
        break
    return [tuple(sorted(part.brokers[wave].tolist())) for wave in waves], bound


def _merged(bounds: list[WaveBound]) -> list[WaveBound]:
    """The bounds; those by pairs are one, since brokers of different parts exclude each other as well."""
    pairs = [bound for bound in bounds if bound.reason == "pairs"]
    if not pairs:
        return bounds
    brokers = sorted(broker for bound in pairs for broker in bound.brokers)
    return [WaveBound("pairs", len(brokers), tuple(brokers)), *(bound for bound in bounds if bound.reason != "pairs")]
