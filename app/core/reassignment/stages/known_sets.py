"""Lists of partitions that move are chosen among replica sets that the cluster has: no set is opened.

The partitions that a placement moves choose again. First an integer model looks for known sets with the replicas that
stay, at the same load of every broker; then a local search for those within the bounds. Both move no byte more. If the
search needs other replicas to move, the placement is made again, without moves of the partitions that were on other
sets, and the plan that moves least is taken. Its lower bound, of all placements, holds in any case.

Brokers that are on no set, since they are added, need sets of their own: lists with one of them are not restricted.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from app.core.integer import integer_solver
from app.core.model import NO_REPLICA, Int32s, Int64s
from app.core.reassignment.counts.places import in_order, moved_weight, stay_put
from app.core.reassignment.model import NO_LIMIT, KnownSets, MovementProblem
from app.core.reassignment.stages.set_search import SetLoads, SetSearch
from app.core.replica_lists import not_among, per_broker

MOST_OTHERS = 100
"""Partitions with the largest loads that may move instead of those that the placement moves."""
MOST_MODELLED = 1_000
"""Partitions of an integer model of loads."""
MOST_PLACEMENTS = 3
"""Placements of which some partitions are on other sets, before the best plan is taken."""
_SOLVER_TIME = 1.0
"""Deterministic time of the integer model."""


@dataclass(frozen=True, slots=True, eq=False)
class SetsProblem:
    """Partitions that are to be on known sets.

    Parameters
    ----------
    movement : their eligible brokers and weights. is_pinned : (rows,) bool, partitions whose lists are given.
    topic_of : (rows,) int64 if topics are balanced, each of which keeps its number of replicas on each broker.
    by_count : whether the balance is one of numbers of replicas.
    place_again : the lists and leaders, (rows, widest) and (rows,) int32, of a placement for another movement problem.
    seconds : until the deadline. is_over : whether it has passed.
    """

    known: KnownSets
    movement: MovementProblem
    is_pinned: NDArray[np.bool_] = field(repr=False)
    topic_of: Int64s | None = field(repr=False)
    by_count: bool
    place_again: Callable[[MovementProblem], tuple[Int32s, Int32s]] | None
    seconds: float
    is_over: Callable[[], bool]


def on_known_sets(problem: SetsProblem, replicas: Int32s, loads: SetLoads) -> tuple[Int32s, Int32s] | None:
    """Lists on known sets and their leaders, (rows, widest) and (rows,) int32; None if none were found.

    Parameters
    ----------
    replicas : (rows, widest) int32 positions of a placement. loads : its leaders, what replicas load, and the bounds.
    """
    best: tuple[int, Int32s, Int32s] | None = None
    movement, frozen = problem.movement, np.zeros(len(replicas), np.bool_)
    first, may_stay = moved_weight(movement, replicas), stay_put(movement)[1]
    for number in range(MOST_PLACEMENTS):
        if number and problem.place_again is not None:
            replicas, leaders = problem.place_again(_with_frozen(movement, frozen))
            loads = replace(loads, leaders=leaders)
        opened = problem.known.opened(replicas)
        choice = _Choice(problem, replicas, opened)
        found = choice.found(loads, is_first=number == 0)
        if found is not None:
            moved = moved_weight(movement, found[0])
            best = (moved, *found) if best is None or moved < best[0] else best
        is_enough = best is not None and best[0] <= first
        if is_enough or problem.place_again is None or problem.is_over() or not (may_stay & ~frozen)[opened].any():
            break
        frozen[opened] |= may_stay[opened]
    return None if best is None else best[1:]


def _with_frozen(problem: MovementProblem, frozen: NDArray[np.bool_]) -> MovementProblem:
    """The problem in which some rows, all of which may, stay as they are."""
    closed = (replace(domain, may_receive=np.zeros_like(domain.may_receive)) for domain in problem.domains)
    domain_of = np.where(frozen, problem.domain_of + len(problem.domains), problem.domain_of).astype(np.int32)
    return replace(problem, domains=(*problem.domains, *closed), domain_of=domain_of)


@dataclass(frozen=True, eq=False)
class _Choice:
    """Which sets rows may be on. replicas : (rows, widest) int32. opened : rows that are not on known sets."""

    problem: SetsProblem
    replicas: Int32s
    opened: Int64s
    options_of: dict[tuple[int, bool], tuple[Int32s, Int64s]] = field(default_factory=dict)

    def found(self, loads: SetLoads, *, is_first: bool) -> tuple[Int32s, Int32s] | None:
        """Lists on known sets with their leaders, by models and by the search; those that move least.

        Parameters
        ----------
        is_first : whether the bounds are those of this placement, so that they need no check.
        """
        movement = self.problem.movement
        rows = np.union1d(np.flatnonzero(not_among(self.replicas, movement.current).any(axis=1)), self.opened)
        search = SetSearch.of(loads, self.replicas, self._options, self.problem.is_over)
        if is_first or search.is_within:
            if self.problem.is_pinned[self.opened].all():
                return self.replicas, loads.leaders
            same = self._solved(rows, search, _SOLVER_TIME, is_same_load=True) if self.problem.by_count else None
            if same is not None:
                return same
        if self.problem.topic_of is not None:
            return None
        others = np.setdiff1d(np.arange(len(self.replicas)), rows)
        others = np.union1d(rows, others[np.argsort(-loads.of_leader[others].sum(axis=1), kind="stable")][:MOST_OTHERS])
        found = list[tuple[Int32s, Int32s]]()
        if search.repaired(self.opened, rows, others):
            found.append((in_order(movement, search.lists), search.leaders))
        is_enough = found and moved_weight(movement, found[0][0]) <= moved_weight(movement, self.replicas)
        if not is_enough and len(others) <= MOST_MODELLED:
            start = SetSearch.of(loads, self.replicas, self._options, self.problem.is_over)
            solved = self._solved(others, start, 6 * _SOLVER_TIME, is_same_load=False)
            found += [] if solved is None else [solved]
        return min(found, key=lambda each: moved_weight(movement, each[0]), default=None)

    def _solved(
        self, rows: Int64s, search: SetSearch, solver_time: float, *, is_same_load: bool
    ) -> tuple[Int32s, Int32s] | None:
        """Lists and leaders by an integer model; None if none were found.

        Parameters
        ----------
        rows : that choose. search : of the placement. solver_time : deterministic time.
        is_same_load : whether brokers keep their replicas, of each topic, and rows those that stay; else loads are
            within the bounds, and the least weight is moved.
        """
        from ortools.sat.python import cp_model  # noqa: PLC0415 — it takes long to import, and few requests need it

        model, loads = cp_model.CpModel(), search.loads
        terms: dict[tuple[int, int], list[tuple[Any, int]]] = {}
        topics = None if not is_same_load else self.problem.topic_of
        cost, choices = list[tuple[Any, int]](), dict[int, tuple[list[Any], Int32s, Int32s]]()
        for row in rows.tolist():
            lists, leaders, weights = search.led(row, *self._options(row, not is_same_load))
            variables = [model.new_bool_var("") for _ in lists]
            model.add_exactly_one(variables)
            choices[row] = variables, lists, leaders
            cost += zip(variables, weights.tolist(), strict=True)
            for variable, each, leader in zip(variables, lists.tolist(), leaders.tolist(), strict=True):
                for broker in each:
                    added = loads.of_leader[row] if broker == leader else loads.of_follower[row]
                    for column, load in enumerate([1] if is_same_load else added.tolist()):
                        key = (int(topics[row]) if topics is not None else column, broker)
                        terms.setdefault(key, []).append((variable, load))
        for (column, broker), low, high in self._bounds(rows, search, topics, is_same_load=is_same_load):
            amounts = zip(*terms.get((column, broker), [(0, 0)]), strict=True)
            model.add_linear_constraint(cp_model.LinearExpr.weighted_sum(*amounts), low, high)
        if not is_same_load:
            model.minimize(cp_model.LinearExpr.weighted_sum(*zip(*cost, strict=True)))
        solver = integer_solver()
        solver.parameters.max_deterministic_time = solver_time
        solver.parameters.max_time_in_seconds = max(self.problem.seconds, 0.0)
        are_all = all(len(lists) for _, lists, _ in choices.values())
        if not are_all or solver.solve(model) not in (cp_model.OPTIMAL, cp_model.FEASIBLE):
            return None
        after, led = self.replicas.copy(), loads.leaders.copy()
        for row, (variables, lists, leaders) in choices.items():
            at = next(at for at, variable in enumerate(variables) if solver.value(variable))
            after[row], after[row, : lists.shape[1]], led[row] = NO_REPLICA, lists[at], leaders[at]
        return in_order(self.problem.movement, after), led

    def _bounds(
        self, rows: Int64s, search: SetSearch, topics: Int64s | None, *, is_same_load: bool
    ) -> Iterator[tuple[tuple[int, int], int, int]]:
        """By topic or column, and broker, what the lists of rows have to load on it, at least and at most."""
        brokers, loads = len(search.totals), search.loads
        if is_same_load:
            of_topic = np.zeros(len(rows), np.int64) if topics is None else topics[rows]
            for topic in np.unique(of_topic).tolist():
                on_each = per_broker(self.replicas[rows[of_topic == topic]], brokers).tolist()
                yield from (((topic, broker), count, count) for broker, count in enumerate(on_each))
            return
        lists = np.delete(self.replicas, rows, axis=0)
        others = SetSearch.of(loads.without(rows), lists, self._options, search.is_over)
        low, high = (np.maximum(each - others.totals, 0) for each in (loads.low, loads.high))
        for broker, column in zip(*np.nonzero((loads.low > 0) | (loads.high < NO_LIMIT)), strict=True):
            yield (int(column), int(broker)), int(low[broker, column]), int(high[broker, column])

    def _options(self, row: int, moves_others: bool) -> tuple[Int32s, Int64s]:
        """The lists of a row, as of `SetSearch.options`."""
        if (row, moves_others) not in self.options_of:
            movement = self.problem.movement
            lists = np.array(self._lists(row, moves_others=moves_others), np.int32).reshape(-1, movement.factors[row])
            there = movement.current[row][~movement.is_copied[row]]
            is_there = (movement.current[row] != NO_REPLICA).any()
            copies = (~np.isin(lists, there)).sum(axis=1)
            self.options_of[row, moves_others] = lists, copies * (movement.weight[row] if is_there else 0)
        return self.options_of[row, moves_others]

    def _lists(self, row: int, *, moves_others: bool) -> list[list[int]]:
        """The sets that a row may be on; its own list of the placement first if that is one of them."""
        placed = [broker for broker in self.replicas[row].tolist() if broker != NO_REPLICA]
        own = [placed] if self.problem.is_pinned[row] or row not in self.opened else []
        if self.problem.is_pinned[row]:
            return own
        current = {broker for broker in self.problem.movement.current[row].tolist() if broker != NO_REPLICA}
        stay = [broker for broker in placed if broker in current]
        if not moves_others:
            return own + self._legal(row, [stay], len(placed) - len(stay))
        # Fewer replicas stay only if no known set has more of them.
        for number in range(max(0, min(len(stay), len(current) - 1)), -1, -1):
            if found := own + self._legal(row, [stay, *combinations(sorted(current), number)], None):
                return found
        return []

    def _legal(self, row: int, kept: Sequence[Sequence[int]], arriving: int | None) -> list[list[int]]:
        """The known sets with all brokers of one of `kept` that the row may be on, other than that of the placement.

        Parameters
        ----------
        arriving : the number of brokers that have no replica; None is any.
        """
        problem, known = self.problem.movement, self.problem.known
        domain, must_keep = problem.domains[problem.domain_of[row]], problem.must_keep[row]
        current = problem.current[row][problem.current[row] != NO_REPLICA]
        found = np.unique(np.concatenate([known.with_brokers(each, domain.factor) for each in kept]))
        sets = known.sets[found, : domain.factor]
        stays = (sets[:, :, None] == current).any(axis=2)
        new = domain.factor - stays.sum(axis=1)
        in_racks = (problem.rack_of[sets][:, :, None] == np.arange(problem.racks)).sum(axis=1)
        is_legal = np.where(stays, domain.may_keep[sets], domain.may_receive[sets]).all(axis=1)
        is_legal &= ((in_racks >= domain.least) & (in_racks <= domain.most)).all(axis=1)
        is_legal &= ~(sets[:, :, None] == self.replicas[row]).any(axis=2).all(axis=1)
        is_legal &= (new > 0) | (len(current) <= domain.factor)
        is_legal &= (must_keep == NO_REPLICA) | (stays & (sets == must_keep)).any(axis=1)
        lists: list[list[int]] = sets[is_legal if arriving is None else is_legal & (new == arriving)].tolist()
        return lists
