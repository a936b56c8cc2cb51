"""Lists of partitions that move are chosen among replica sets that the cluster has: no set is opened.

The partitions that a placement moves choose again: first which of the known sets they are on with the replicas that
stay, at the same load of every broker, then within the band, then also with other replicas that stay, at the least
movement. Others stay. So a plan moves no more bytes than without the restriction if one of the first two succeeds, and
its lower bound, of all placements, holds in any case.

Brokers that are on no set, since they are added, need sets of their own: lists with one of them are not restricted.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import combinations
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from app.core.integer import integer_solver
from app.core.model import NO_REPLICA, Int32s, Int64s
from app.core.reassignment.model import KnownSets, MovementProblem, ReplicaPlacement
from app.core.replica_lists import not_among, per_broker

MOST_OTHERS = 100
"""Partitions with the largest loads that may move instead of those that the placement moves."""
_ATTEMPTS = ((True, False, 1.0), (False, False, 3.0), (False, True, 6.0))
"""Whether the load of each broker stays the same, whether other replicas may move, and deterministic time."""


def on_known_sets(
    known: KnownSets,
    problem: MovementProblem,
    placement: ReplicaPlacement,
    load: Int64s,
    base_load: Int64s,
    topic_of: Int64s | None,
    *,
    is_pinned: NDArray[np.bool_],
    by_count: bool,
    seconds: float,
) -> ReplicaPlacement | None:
    """A placement whose lists are on known sets; None if none was found.

    Parameters
    ----------
    load : (rows,) int64 of a replica, by which `placement` is balanced. base_load : (brokers,) int64 of other replicas.
    topic_of : (rows,) int64 if topics are balanced, each of which keeps its number of replicas on each broker.
    is_pinned : (rows,) bool, partitions whose lists are given.
    by_count : whether the band is one of numbers of replicas. seconds : until the deadline.
    """
    opened = known.opened(placement.replicas)
    if is_pinned[opened].all():
        return placement
    choice = _Choice(known, problem, placement, load, base_load, topic_of, opened, is_pinned, seconds)
    for is_same_load, moves_others, solver_time in _ATTEMPTS:
        if (topic_of is None or is_same_load) and (by_count or not is_same_load):
            found = choice.solved(solver_time, is_same_load=is_same_load, moves_others=moves_others)
            if found is not None:
                moved = placement.moved + choice.weight_of(found) - choice.weight_of(placement.replicas)
                certificate = replace(placement.certificate, value=moved)
                return replace(placement, replicas=found, certificate=certificate)
    return None


_Choices: TypeAlias = dict[int, list[tuple[Any, list[int]]]]
"""By row its lists, each with the variable that chooses it."""


@dataclass(frozen=True, eq=False)
class _Choice:
    """Parameters are those of `on_known_sets`."""

    known: KnownSets
    problem: MovementProblem
    placement: ReplicaPlacement
    load: Int64s
    base_load: Int64s
    topic_of: Int64s | None
    opened: Int64s
    is_pinned: NDArray[np.bool_]
    seconds: float

    def weight_of(self, lists: Int32s) -> int:
        """The weight of the replicas of (rows, widest) int32 positions that are copied."""
        return int((not_among(lists, self._there).sum(axis=1) * self._cost).sum())

    @cached_property
    def _there(self) -> Int32s:
        """(rows, widest) int32 replicas that need no copy."""
        return np.where(self.problem.is_copied, np.int32(NO_REPLICA), self.problem.current)

    @cached_property
    def _cost(self) -> Int64s:
        """(rows,) int64 of one copy; 0 of new partitions."""
        return np.where((self.problem.current != NO_REPLICA).any(axis=1), self.problem.weight, 0)

    def solved(self, solver_time: float, *, is_same_load: bool, moves_others: bool) -> Int32s | None:
        """(rows, widest) int32 positions on known sets; None if there are none, or none was found in time."""
        from ortools.sat.python import cp_model  # noqa: PLC0415 — it takes long to import, and few requests need it

        rows = self._rows(moves_others=moves_others)
        lists = {row: self._lists(row, moves_others=moves_others) for row in rows.tolist()}
        model = cp_model.CpModel()
        choices = {row: [(model.new_bool_var(""), brokers) for brokers in of_row] for row, of_row in lists.items()}
        for of_row in choices.values():
            model.add_exactly_one([variable for variable, _ in of_row])
        terms = self._terms(choices)
        for cell, low, high in self._bounds(rows, is_same_load=is_same_load, moves_others=moves_others):
            variables, loads = zip(*terms.get(cell, [(0, 0)]), strict=True)
            model.add_linear_constraint(cp_model.LinearExpr.weighted_sum(variables, loads), low, high)
        if moves_others:
            model.minimize(cp_model.LinearExpr.weighted_sum(*zip(*self._costs(choices), strict=True)))
        solver = integer_solver()
        solver.parameters.max_deterministic_time = solver_time
        solver.parameters.max_time_in_seconds = max(self.seconds, 0.0)
        if not all(lists.values()) or solver.solve(model) not in (cp_model.OPTIMAL, cp_model.FEASIBLE):
            return None
        after = self.placement.replicas.copy()
        for row, of_row in choices.items():
            after[row] = self._ordered(row, next(brokers for variable, brokers in of_row if solver.value(variable)))
        return after

    def _rows(self, *, moves_others: bool) -> Int64s:
        """The rows that choose, ascending: those that move, and the largest of the others."""
        before = self.placement.replicas
        rows = np.union1d(np.flatnonzero(not_among(before, self.problem.current).any(axis=1)), self.opened)
        if not moves_others:
            return rows
        others = np.setdiff1d(np.arange(len(before)), rows)
        return np.union1d(rows, others[np.argsort(-self.load[others], kind="stable")][:MOST_OTHERS])

    def _terms(self, choices: _Choices) -> dict[tuple[int, int], list[tuple[Any, int]]]:
        """By topic and broker, the variables of the lists with it, and the load of each."""
        terms: dict[tuple[int, int], list[tuple[Any, int]]] = {}
        for row, of_row in choices.items():
            topic = 0 if self.topic_of is None else int(self.topic_of[row])
            for variable, brokers in of_row:
                for broker in brokers:
                    terms.setdefault((topic, broker), []).append((variable, int(self.load[row])))
        return terms

    def _costs(self, choices: _Choices) -> Iterator[tuple[Any, int]]:
        """The variables, and the weight that the list of each copies."""
        for row, of_row in choices.items():
            for variable, brokers in of_row:
                yield variable, int(self._cost[row]) * int((~np.isin(brokers, self._there[row])).sum())

    def _bounds(
        self, rows: Int64s, *, is_same_load: bool, moves_others: bool
    ) -> Iterator[tuple[tuple[int, int], int, int]]:
        """By topic and broker, what the chosen lists have to load on it, at least and at most."""
        before, brokers = self.placement.replicas, len(self.base_load)
        if is_same_load:
            topics = np.zeros(len(rows), np.int64) if self.topic_of is None else self.topic_of[rows]
            for topic in np.unique(topics).tolist():
                of_topic = rows[topics == topic]
                for broker, load in enumerate(per_broker(before[of_topic], brokers, self.load[of_topic]).tolist()):
                    yield (topic, broker), load, load
            return
        total = self.base_load + per_broker(before, brokers, self.load)
        others = total - per_broker(before[rows], brokers, self.load[rows])
        band, bounds = self.placement.band, self.placement.bounds
        if band is None and moves_others:  # nothing is to be balanced, and the smallest maximum opens sets
            return
        if bounds is None and band is not None:
            bounds = self.problem.bounds(band)
        target = self.problem.target
        most = int(total[target].max(initial=0))
        low = others if bounds is None else np.maximum(bounds.low, others)
        high = np.full(brokers, most) if bounds is None else bounds.high
        for broker in np.flatnonzero(target if bounds is None else self.problem.is_bounded).tolist():
            load = int(others[broker])
            yield (0, broker), max(0, int(low[broker]) - load), max(0, int(high[broker]) - load)

    def _lists(self, row: int, *, moves_others: bool) -> list[list[int]]:
        """The sets that a row may be on; its own list of the placement first if that is one of them."""
        placed = [broker for broker in self.placement.replicas[row].tolist() if broker != NO_REPLICA]
        own = [placed] if self.is_pinned[row] or row not in self.opened else []
        if self.is_pinned[row]:
            return own
        current = {broker for broker in self.problem.current[row].tolist() if broker != NO_REPLICA}
        stay = [broker for broker in placed if broker in current]
        if not moves_others:
            return own + self._legal(row, [stay], current, arriving=len(placed) - len(stay))
        # Fewer replicas stay only if no known set has more of them.
        for number in range(max(0, min(len(stay), len(current) - 1)), -1, -1):
            if found := own + self._legal(row, [stay, *combinations(sorted(current), number)], current, arriving=None):
                return found
        return []

    def _legal(
        self, row: int, kept: Iterable[Sequence[int]], current: set[int], *, arriving: int | None
    ) -> list[list[int]]:
        """The known sets with all brokers of one of `kept` that the row may be on, other than that of the placement.

        Parameters
        ----------
        arriving : the number of brokers that are not among `current`; None is any.
        """
        problem, known = self.problem, self.known
        domain, must_keep = problem.domains[problem.domain_of[row]], int(problem.must_keep[row])
        placed, lists = set(self.placement.replicas[row].tolist()) - {NO_REPLICA}, []
        found = np.concatenate([known.with_brokers(each, domain.factor) for each in kept])
        for index in np.unique(found).tolist():
            brokers = known.sets[index, : domain.factor].tolist()
            new = [broker for broker in brokers if broker not in current]
            staying = [broker for broker in brokers if broker in current]
            is_smaller = not new and len(staying) < len(current)
            if placed == set(brokers) or arriving not in (None, len(new)) or is_smaller:
                continue
            in_racks = np.bincount(problem.rack_of[brokers], minlength=problem.racks)
            if (
                must_keep in (NO_REPLICA, *staying)
                and domain.may_receive[new].all()
                and domain.may_keep[staying].all()
                and (np.clip(in_racks, domain.least, domain.most) == in_racks).all()
            ):
                lists.append(brokers)
        return lists

    def _ordered(self, row: int, brokers: Sequence[int]) -> Int32s:
        """(widest,) int32: replicas that stay in the columns where they are, then the others by ascending position."""
        ordered = np.full(self.placement.replicas.shape[1], NO_REPLICA, np.int32)
        current = self.problem.current[row]
        for column, broker in enumerate(current[: len(ordered)].tolist()):
            if broker in brokers and column < len(brokers):
                ordered[column] = broker
        arriving = sorted(set(brokers) - set(ordered.tolist()))
        ordered[np.flatnonzero(ordered[: len(brokers)] == NO_REPLICA)] = arriving
        return ordered
