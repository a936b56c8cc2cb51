"""Improve a placement and its lower bound by an integer model of the partitions that matter most (CP-SAT).

Local search leaves a gap if few or very unequal replicas have to be balanced. The model has a Boolean for each eligible
broker of each *selected* partition: those that the placement moves, then those that shed the most load for their cost.
The other partitions are where they are. Two models are solved:

1. With the others fixed, the model improves the placement: a smaller excess above the ceiling, then less movement.
2. With the others relaxed, it improves the bound. Each broker may shed their load at the lowest cost per unit of load
   among them, in any fraction, and every broker may receive it. Every placement is a solution of this relaxation.

If all partitions are selected, both are the same model.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from math import ceil
from threading import Event, Thread
from typing import Any

import numpy as np
from numpy.typing import NDArray

from app.core.integer import integer_solver
from app.core.model import NO_REPLICA, Int64s
from app.core.reassignment.loads.local_search import CandidatePlacement, candidate
from app.core.reassignment.loads.rules import LARGEST_SUM, LoadRules
from app.core.reassignment.model import Band
from app.core.replica_lists import per_broker, sums_by

MAX_CELLS = 6_000
"""The most Booleans of a model: selected partitions times brokers."""
SOLVER_TIME = 2.0
"""Deterministic time of one solve, about seconds; the same problem always gets the same answer."""
RELATIVE_GAP = 1e-3
"""A solve ends when its gap is smaller."""
PRECISION = 1_000
"""Costs per unit of load are rounded down to this many steps at least."""
_POLL_S = 0.05


@dataclass(frozen=True, slots=True, eq=False)
class IntegerModel:
    """The selected partitions and the load of the others.

    Parameters
    ----------
    rules : the constraints of all partitions.
    start : a legal placement; partitions that are not selected are where it has them.
    selected : (selected,) int64 rows.
    others : (brokers,) int64 load of what is not selected, base load included.
    is_over : whether the deadline has passed.
    """

    rules: LoadRules = field(repr=False)
    start: CandidatePlacement = field(repr=False)
    selected: Int64s = field(repr=False)
    others: Int64s = field(repr=False)
    is_over: Callable[[], bool]

    def lower_ceiling(self, bound: int, floor: int) -> CandidatePlacement:
        """The placement with the smallest largest load of a target broker that the solver finds; it moves no more than
        the start.

        Parameters
        ----------
        bound : a lower bound on it. floor : of the load of a target broker; the start is above it.
        """
        solve = _Solve(self)
        limit = self.start.largest
        ceiling = solve.model.new_int_var(bound, limit, "")
        for broker in np.flatnonzero(self.rules.target).tolist():
            load = solve.load(broker)
            solve.model.add(load <= ceiling)
            solve.model.add(load >= floor)
        solve.model.add(solve.cost() <= self.start.moved)
        solve.model.minimize(ceiling)
        return solve.placement()

    def less_movement(self, band: Band) -> CandidatePlacement:
        """The placement with the least movement within a band, which the start is within, that the solver finds."""
        solve = _Solve(self)
        for broker in np.flatnonzero(self.rules.target).tolist():
            load = solve.load(broker)
            solve.model.add(load >= band.low)
            solve.model.add(load <= band.high)
        solve.model.minimize(solve.cost())
        return solve.placement()

    def movement_lower_bound(self, band: Band, moved: int) -> int:
        """A lower bound on the movement of every placement within a band.

        Parameters
        ----------
        moved : the movement of the start, which is within the band.
        """
        rules, brokers = self.rules, len(self.others)
        sheddable, ratio = self._sheddable()
        solve, scale = _Solve(self), _scale(ratio[sheddable > 0], int(rules.cost.sum()) * int(rules.factor.max()))
        if scale == 0:
            return 0
        limit = int(sheddable.sum())
        shed = [solve.model.new_int_var(0, int(amount), "") for amount in sheddable]
        received = [solve.model.new_int_var(0, limit, "") for _ in range(brokers)]
        stays_in_rack = bool((_least_in_rack(rules) == rules.most).all())
        for region in np.unique(rules.rack_of) if stays_in_rack else [None]:
            inside = np.arange(brokers) if region is None else np.flatnonzero(rules.rack_of == region)
            solve.model.add(sum(shed[broker] for broker in inside) == sum(received[broker] for broker in inside))
        for broker in np.flatnonzero(rules.target).tolist():
            load = solve.load(broker) - shed[broker] + received[broker]
            solve.model.add(load >= band.low)
            solve.model.add(load <= band.high)
        per_unit = [int(amount) for amount in np.floor(ratio * scale)]
        relaxed = sum(price * amount for price, amount in zip(per_unit, shed, strict=True))
        solve.model.add(solve.cost() * scale + relaxed <= moved * scale)
        solve.model.minimize(solve.cost() * scale + relaxed)
        return ceil(solve.lower_bound() / scale)

    def _sheddable(self) -> tuple[Int64s, NDArray[np.float64]]:
        """(brokers,) of the partitions that are not selected: their load by current broker, and their lowest cost per
        unit of load there.
        """
        rules, brokers = self.rules, len(self.others)
        is_other = rules.load > 0
        is_other[self.selected] = False
        rows, columns = np.nonzero((self.start.at != NO_REPLICA) & is_other[:, None])
        broker, ratio = self.start.at[rows, columns], rules.cost[rows] / np.maximum(rules.load[rows], 1)
        lowest = np.full(brokers, np.inf)
        np.minimum.at(lowest, broker, ratio)
        return sums_by(broker, rules.load[rows], brokers), np.where(np.isinf(lowest), 0.0, lowest)


def _least_in_rack(rules: LoadRules) -> Int64s:
    """(domains, racks) int64: the replicas that a rack has at least, since the other racks cannot have more."""
    most = rules.most
    least: Int64s = np.maximum(rules.least, rules.factor[:, None] - (most.sum(axis=1, keepdims=True) - most))
    return least


def integer_model(
    rules: LoadRules,
    start: CandidatePlacement,
    base_load: Int64s,
    is_over: Callable[[], bool],
    max_cells: int = MAX_CELLS,
) -> IntegerModel | None:
    """The model around a placement; None if the partitions that it moves are too many for one.

    Parameters
    ----------
    start : a legal placement.
    base_load : (brokers,) int64 of partitions outside the problem.
    max_cells : the most Booleans of the model.
    """
    rows, brokers = len(rules.load), len(base_load)
    most = max_cells // max(1, brokers)
    is_moved = (np.sort(start.at, axis=1) != np.sort(_as_wide(rules.current, start.at.shape[1]), axis=1)).any(axis=1)
    is_moved |= ((rules.current != NO_REPLICA) & ~rules.stays_free).any(axis=1)
    if np.count_nonzero(is_moved) > most or not rows:
        return None
    per_cost = rules.load / np.maximum(rules.cost, 1)
    selected = np.sort(np.lexsort((-rules.load, -per_cost, ~is_moved))[:most])
    others = start.loads - per_broker(start.at[selected], brokers, rules.load[selected])
    return IntegerModel(rules, start, selected, others, is_over)


def _as_wide(current: NDArray[np.int32], width: int) -> NDArray[np.int32]:
    """Current brokers with as many columns, padded or, since such a row is moved in any case, cut."""
    padded = np.pad(current, ((0, 0), (0, max(0, width - current.shape[1]))), constant_values=NO_REPLICA)
    return padded if padded.shape[1] == width else np.sort(padded, axis=1)[:, ::-1][:, :width]


def _scale(ratios: NDArray[np.float64], total_cost: int) -> int:
    """The factor at which costs per unit of load, rounded down, lose little; 0 if sums would not be exact."""
    positive = ratios[ratios > 0]
    scale = 1 if not len(positive) else max(1, ceil(PRECISION / float(positive.min())))
    if bool((positive == np.floor(positive)).all()):
        scale = 1
    return scale if scale * max(1, total_cost) <= LARGEST_SUM else 0


class _Solve:
    """One CP-SAT model: the legal sets of the selected partitions, and the solver's answer."""

    def __init__(self, of: IntegerModel) -> None:
        from ortools.sat.python import cp_model  # noqa: PLC0415 — it takes long to import, and few requests need it

        self._of, rules = of, of.rules
        self.model: Any = cp_model.CpModel()
        self._solver: Any = integer_solver()
        self._solver.parameters.max_deterministic_time = SOLVER_TIME
        self._solver.parameters.relative_gap_limit = RELATIVE_GAP
        self._sum: Any = cp_model.LinearExpr.weighted_sum
        self._cells: list[dict[int, Any]] = [self._add_partition(int(row)) for row in of.selected]
        self._on: list[tuple[list[Any], list[int]]] = [([], []) for _ in of.others]
        for cells, load in zip(self._cells, rules.load[of.selected].tolist(), strict=True):
            for broker, cell in cells.items():
                self._on[broker][0].append(cell)
                self._on[broker][1].append(load)

    def _add_partition(self, row: int) -> dict[int, Any]:
        """The Booleans of a partition by broker, with its legal sets as constraints and its placement as hint."""
        rules = self._of.rules
        domain = rules.domain_of[row]
        brokers = set(np.flatnonzero(rules.may_receive[domain]).tolist())
        brokers |= {broker for broker in rules.current[row].tolist() if broker != NO_REPLICA}
        start = set(self._of.start.at[row].tolist())
        cells = {broker: self.model.new_bool_var("") for broker in sorted(brokers)}
        by_rack: dict[int, list[Any]] = {}
        for broker, cell in cells.items():
            self.model.add_hint(cell, broker in start)
            by_rack.setdefault(int(rules.rack_of[broker]), []).append(cell)
        for rack, inside in by_rack.items():
            least, most = int(_least_in_rack(rules)[domain, rack]), int(rules.most[domain, rack])
            if most == 1:
                (self.model.add_exactly_one if least == 1 else self.model.add_at_most_one)(inside)
            else:
                self.model.add_linear_constraint(sum(inside), least, most)
        self.model.add(sum(cells.values()) == int(rules.factor[domain]))
        if rules.must_keep[row] != NO_REPLICA:
            self.model.add(cells[int(rules.must_keep[row])] == 1)
        return cells

    def load(self, broker: int) -> Any:
        """The load of a broker."""
        return self._sum(*self._on[broker]) + int(self._of.others[broker])

    def cost(self) -> Any:
        """The movement of the selected partitions."""
        moves, costs = [], []
        for row, cells in zip(self._of.selected.tolist(), self._cells, strict=True):
            rules = self._of.rules
            in_place = set(rules.current[row][rules.stays_free[row]].tolist())
            elsewhere = [cell for broker, cell in cells.items() if broker not in in_place]
            moves += elsewhere
            costs += [int(rules.cost[row])] * len(elsewhere)
        return self._sum(moves, costs)

    def placement(self) -> CandidatePlacement:
        """Solve, and return the best placement; the start if the solver finds none."""
        of = self._of
        with self._stopped_when_over():
            status = self._solver.status_name(self._solver.solve(self.model))
        if status not in {"OPTIMAL", "FEASIBLE"}:
            return of.start
        at = of.start.at.copy()
        for row, cells in zip(of.selected.tolist(), self._cells, strict=True):
            brokers = [broker for broker, cell in cells.items() if self._solver.boolean_value(cell)]
            at[row] = NO_REPLICA
            at[row, : len(brokers)] = brokers
        loads = of.others + per_broker(at[of.selected], len(of.others), of.rules.load[of.selected])
        return candidate(of.rules, at, loads)

    def lower_bound(self) -> int:
        """Solve, and return the proven bound on the objective, which is exact in 64 bits."""
        with self._stopped_when_over():
            status = self._solver.status_name(self._solver.solve(self.model))
        return 0 if status == "UNKNOWN" else int(self._solver.response_proto.inner_objective_lower_bound)

    @contextmanager
    def _stopped_when_over(self) -> Iterator[None]:
        """End the solve at the deadline, which the solver itself does not know."""
        ended = Event()

        def watch() -> None:
            while not ended.wait(_POLL_S):
                if self._of.is_over():
                    self._solver.stop_search()
                    return

        watcher = Thread(target=watch, daemon=True)
        watcher.start()
        try:
            yield
        finally:
            ended.set()
            watcher.join()
