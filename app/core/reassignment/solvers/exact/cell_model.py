"""An exact model of some cells of a placement (CP-SAT): replicas of some partitions on some brokers are free.

A cell is a partition on a broker. Free cells are Booleans; replicas of other partitions, and on other brokers, are as
in the placement to start from. Solves are limited in deterministic time, so that the same problem has the same answer;
a deadline ends them earlier.
"""

from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from math import ceil
from threading import Event, Thread
from typing import Any

import numpy as np

from app.core.integer import integer_solver
from app.core.model import NO_REPLICA, Bools, Int32s, Int64s
from app.core.reassignment.model import NO_LIMIT, BrokerBounds, Deadline
from app.core.reassignment.rules import LARGEST_SUM, LoadRules, moved_weight
from app.core.reassignment.solvers.search.heaviest_first import CandidatePlacement, candidate
from app.core.replica_lists import per_broker, sums_by

RELATIVE_GAP = 1e-5
"""A solve ends when its gap is smaller."""
LINEARIZATION = 2
"""The level of linear relaxation: all constraints are in it. Loads are knapsacks, whose bounds are linear ones."""
PRECISION = 1_000
"""Costs for a unit of load are rounded down to this many steps at least."""
NO_PRICE = np.int64(1 << 62)
"""Of a broker without replicas that may leave."""
_POLL_S = 0.05


def add_legal_set(
    model: Any, rules: LoadRules, row: int, brokers: Sequence[int], others: Collection[int] = ()
) -> dict[int, Any]:
    """Booleans of a row by broker: those chosen, with its replicas on the other brokers given, are a legal set."""
    domain = int(rules.domain_of[row])
    cells = {broker: model.new_bool_var("") for broker in brokers}
    count = int(rules.factor[domain]) - len(others)
    if count == 1:
        model.add_exactly_one(cells.values())
    else:
        model.add(sum(cells.values()) == count)
    racks = {int(rules.rack_of[broker]) for broker in brokers}
    for rack in sorted(racks) if len(racks) > 1 else ():
        inside = [cell for broker, cell in cells.items() if rules.rack_of[broker] == rack]
        there = sum(int(rules.rack_of[broker]) == rack for broker in others)
        least, most = int(rules.least[domain, rack]) - there, int(rules.most[domain, rack]) - there
        if least > 0 or most < min(count, len(inside)):
            model.add_linear_constraint(sum(inside), max(0, least), min(most, len(inside)))
    pinned = int(rules.must_keep[row])
    if pinned in cells:
        model.add(cells[pinned] == 1)
    return cells


@dataclass(frozen=True, slots=True, eq=False)
class FreeCells:
    """The cells that may change.

    Parameters
    ----------
    rows : (free,) int64, partitions, ascending. brokers : (some,) int64, ascending.
    is_free : (free, some) bool; set wherever the start has a replica of these rows on these brokers.
    """

    rows: Int64s = field(repr=False)
    brokers: Int64s
    is_free: Bools = field(repr=False)

    def changing(self, at: Int32s) -> Int32s:
        """(rows, widest) int32: the replicas of free rows on free brokers, `NO_REPLICA` for the others."""
        is_row = np.zeros(len(at), np.bool_)
        is_row[self.rows] = True
        inside = np.isin(at, self.brokers) & is_row[:, None]
        return np.where(inside, at, NO_REPLICA).astype(np.int32)


@dataclass(frozen=True, slots=True, eq=False)
class Solved:
    """The solver's answer.

    Parameters
    ----------
    placement : the best that was found; at worst the start.
    bound : on the objective, of placements that differ from the start in free cells alone.
    work : deterministic time that was used.
    """

    placement: CandidatePlacement
    bound: int
    work: float


class CellModel:
    """The legal sets of the free cells, and the loads and the movement of the whole placement as expressions."""

    def __init__(self, rules: LoadRules, start: CandidatePlacement, free: FreeCells) -> None:
        from ortools.sat.python import cp_model  # noqa: PLC0415 — it takes long to import, and few requests need it

        self._rules, self._start, self._free = rules, start, free
        self._model: Any = cp_model.CpModel()
        self._sum: Any = cp_model.LinearExpr.weighted_sum
        self._cells = [self._add_row(place) for place in range(len(free.rows))]
        changing = free.changing(start.at)
        self._others: Int64s = start.loads - per_broker(changing, len(start.loads), rules.load)
        self._fixed = start.moved - moved_weight(rules, changing)

    def less_movement(self, within: BrokerBounds, work: float, is_over: Deadline) -> Solved:
        """Minimise the movement within bounds of the loads, which the start is within."""
        for broker in self._free.brokers.tolist():
            self._bound(within, broker, self._load(broker))
        self._model.minimize(self._moved())
        return self._solve(work, is_over)

    def _bound(self, within: BrokerBounds, broker: int, load: Any) -> None:
        if within.high[broker] < NO_LIMIT:
            self._model.add(load <= int(within.high[broker]))
        if within.low[broker] > 0:
            self._model.add(load >= int(within.low[broker]))

    def movement_lower_bound(self, within: BrokerBounds, work: float, is_over: Deadline) -> tuple[int, float]:
        """A lower bound on the movement within bounds of all placements that differ from the start on free brokers, and
        the work that it took.

        The free rows are all that the start moves. Of the others each broker may shed load, in any fraction, at their
        lowest cost for a unit of load there, and every broker may receive it. All placements are solutions of this.
        """
        rules, brokers = self._rules, self._free.brokers
        rows, at = self._unmoved()
        scale = _scale(rules.cost[rows], rules.load[rows], int(rules.cost.sum()) * int(rules.factor.max(initial=1)))
        if scale == 0:
            return 0, 0.0
        sheddable = sums_by(at, rules.load[rows], len(self._others))
        lowest = np.full(len(sheddable), NO_PRICE)
        np.minimum.at(lowest, at, self._costs_of_moving(rows) * scale // rules.load[rows])
        shed = [self._model.new_int_var(0, int(amount), "") for amount in sheddable[brokers]]
        received = [self._model.new_int_var(0, int(sheddable[brokers].sum()), "") for _ in brokers]
        self._model.add(sum(shed) == sum(received))
        for broker, less, more in zip(brokers.tolist(), shed, received, strict=True):
            self._bound(within, broker, self._load(broker) - less + more)
        per_unit = np.where(sheddable > 0, lowest, 0)[brokers].tolist()
        relaxed = sum(price * amount for price, amount in zip(per_unit, shed, strict=True))
        self._model.minimize(self._moved() * scale + relaxed)
        _, _, bound, used = self._run(work, is_over)
        return -(-bound // scale) + self._fixed, used

    def _unmoved(self) -> tuple[Int64s, Int32s]:
        """The rows and the brokers of replicas with a load, of the rows that are not free."""
        is_other = self._rules.load > 0
        is_other[self._free.rows] = False
        at = self._start.at
        rows, columns = np.nonzero((at != NO_REPLICA) & is_other[:, None])
        return rows, at[rows, columns]

    def _costs_of_moving(self, rows: Int64s) -> Int64s:
        """The least cost at which a replica of each row, which the start does not move, leaves its broker: 0 if the row
        has more current replicas than it needs, since it may be on another of these.
        """
        rules = self._rules
        is_spare = np.count_nonzero(rules.stays_free, axis=1) > rules.factor[rules.domain_of]
        return np.where(is_spare[rows], 0, rules.cost[rows])

    def _add_row(self, place: int) -> dict[int, Any]:
        """The Booleans of a row by broker: as many replicas on the free brokers as at the start, with legal racks."""
        row, free = int(self._free.rows[place]), self._free
        at_start = {broker for broker in self._start.at[row].tolist() if broker != NO_REPLICA}
        brokers = free.brokers[free.is_free[place]].tolist()
        cells = add_legal_set(self._model, self._rules, row, brokers, at_start.difference(brokers))
        for broker, cell in cells.items():
            self._model.add_hint(cell, broker in at_start)
        return cells

    def _load(self, broker: int) -> Any:
        """The load of a broker."""
        mine = [(place, of_row[broker]) for place, of_row in enumerate(self._cells) if broker in of_row]
        loads = self._rules.load[self._free.rows[[place for place, _ in mine]]].tolist() if mine else []
        return self._sum([cell for _, cell in mine], loads) + int(self._others[broker])

    def _moved(self) -> Any:
        """The movement of the free cells."""
        moves, costs = [], []
        for row, of_row in zip(self._free.rows.tolist(), self._cells, strict=True):
            rules = self._rules
            in_place = set(rules.current[row][rules.stays_free[row]].tolist())
            elsewhere = [cell for broker, cell in of_row.items() if broker not in in_place]
            moves += elsewhere
            costs += [int(rules.cost[row])] * len(elsewhere)
        return self._sum(moves, costs)

    def _solve(self, work: float, is_over: Deadline) -> Solved:
        """Solve. The movement of other cells is added afterwards: sums are exact in 64 bits without constants alone."""
        solver, is_solved, bound, used = self._run(work, is_over)
        if not is_solved:
            return Solved(self._start, bound + self._fixed, used)
        free, at = self._free, self._start.at.copy()
        fixed = np.where(free.changing(at) == at, NO_REPLICA, at)
        for row, of_row in zip(free.rows.tolist(), self._cells, strict=True):
            brokers = [broker for broker in fixed[row].tolist() if broker != NO_REPLICA]
            brokers += [broker for broker, cell in of_row.items() if solver.boolean_value(cell)]
            at[row] = NO_REPLICA
            at[row, : len(brokers)] = brokers
        loads = self._others + per_broker(free.changing(at), len(self._others), self._rules.load)
        return Solved(candidate(self._rules, at, loads), bound + self._fixed, used)

    def _run(self, work: float, is_over: Deadline) -> tuple[Any, bool, int, float]:
        """The solver, whether it has a solution, the bound on the objective, exact in 64 bits, and the work."""
        solver: Any = integer_solver(work)
        solver.parameters.relative_gap_limit = RELATIVE_GAP
        solver.parameters.linearization_level = LINEARIZATION
        with _stopped_when(is_over, solver):
            status = solver.status_name(solver.solve(self._model))
        bound = 0 if status == "UNKNOWN" else int(solver.response_proto.inner_objective_lower_bound)
        used = float(solver.response_proto.deterministic_time)
        return solver, status in {"OPTIMAL", "FEASIBLE"}, max(0, bound), used


def _scale(costs: Int64s, loads: Int64s, total_cost: int) -> int:
    """The factor at which costs for a unit of load, rounded down, lose little; 0 if sums would not be exact.

    Its ratios are floating: they decide how much is lost, and no price.
    """
    ratios = costs[costs > 0] / loads[costs > 0]
    scale = 1 if not len(ratios) else max(1, ceil(PRECISION / float(ratios.min())))
    if bool((ratios == np.floor(ratios)).all()):
        scale = 1
    return scale if scale * max(1, total_cost) <= LARGEST_SUM else 0


@contextmanager
def _stopped_when(is_over: Deadline, solver: Any) -> Iterator[None]:
    """End the solve at the deadline, which the solver itself does not know."""
    ended = Event()

    def watch() -> None:
        while not ended.wait(_POLL_S):
            if is_over():
                solver.stop_search()
                return

    watcher = Thread(target=watch, daemon=True)
    watcher.start()
    try:
        yield
    finally:
        ended.set()
        watcher.join()
