"""An exact model of a small problem (CP-SAT): a Boolean for each eligible broker of each partition, and for its leader.

Solves are limited in deterministic time, so that the same problem always gets the same answer.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from app.core.integer import small_model_solver
from app.core.model import NO_LEADER, NO_REPLICA, Int32s, Int64s
from app.core.reassignment.loads.rules import LoadRules

SOLVER_TIME = 1.0
"""Deterministic time of one solve, about seconds."""


class NotProven(Exception):
    """The time of a solve has passed before its answer was proven."""


class PlacementModel:
    """The legal sets of all partitions and, if brokers may lead, their leaders.

    Parameters
    ----------
    may_lead : (brokers,) bool, or None if no load depends on leaders. behind : (rows, any) int32 current brokers whose
        replica is not ready to lead, padded. Of a partition's replicas one that is ready leads before others, then one
        on a broker that may lead.
    solver_time : deterministic time of one solve.
    """

    def __init__(
        self,
        rules: LoadRules,
        may_lead: NDArray[np.bool_] | None,
        behind: Int32s,
        *,
        solver_time: float = SOLVER_TIME,
    ) -> None:
        from ortools.sat.python import cp_model  # noqa: PLC0415 — it takes long to import, and few requests need it

        self.model: Any = cp_model.CpModel()
        self._rules, self._may_lead, self._behind = rules, may_lead, behind
        self._solver: Any = small_model_solver(solver_time)
        self._cells: list[dict[int, tuple[Any, Any]]] = [self._add_partition(row) for row in range(len(rules.cost))]

    def _add_partition(self, row: int) -> dict[int, tuple[Any, Any]]:
        """Whether each broker has a replica of the row, and whether it leads."""
        rules, model = self._rules, self.model
        domain = rules.domain_of[row]
        factor = int(rules.factor[domain])
        current = {broker for broker in rules.current[row].tolist() if broker != NO_REPLICA}
        brokers = sorted(set(np.flatnonzero(rules.may_receive[domain]).tolist()) | current)
        leads = [0 if self._may_lead is None else model.new_bool_var("") for _ in brokers]
        cells = {broker: (model.new_bool_var(""), led) for broker, led in zip(brokers, leads, strict=True)}
        model.add(sum(has for has, _ in cells.values()) == factor)
        for rack in range(rules.least.shape[1]):
            inside = [has for broker, (has, _) in cells.items() if rules.rack_of[broker] == rack]
            if inside:
                model.add_linear_constraint(sum(inside), int(rules.least[domain, rack]), int(rules.most[domain, rack]))
        if rules.must_keep[row] != NO_REPLICA:
            model.add(cells[int(rules.must_keep[row])][0] == 1)
        if self._may_lead is not None:
            behind, may_lead = self._behind[row], self._may_lead
            rank = {broker: 2 * int(broker in behind) + int(not may_lead[broker]) for broker in brokers}
            self._add_leader(cells, min(factor, 1), rank)
        return cells

    def _add_leader(self, cells: dict[int, tuple[Any, Any]], leaders: int, rank: dict[int, int]) -> None:
        self.model.add(sum(leads for _, leads in cells.values()) == leaders)
        for broker, (has, leads) in cells.items():
            self.model.add_implication(leads, has)
            for other, (there, _) in cells.items():
                if rank[other] < rank[broker]:
                    self.model.add_bool_or([leads.negated(), there.negated()])

    def load(self, broker: int, of_leader: Int64s, of_follower: Int64s, base: int) -> Any:
        """The load of a broker: (rows,) int64 of each replica, as leader or as follower, and what else it has."""
        terms: list[Any] = [base]
        for row, cells in enumerate(self._cells):
            if broker in cells:
                has, leads = cells[broker]
                follows = int(of_follower[row])
                terms.append(has * follows + leads * (int(of_leader[row]) - follows))
        return sum(terms)

    def count(self, broker: int, rows: Int64s) -> Any:
        """The replicas of some rows on a broker."""
        return sum(self._cells[row][broker][0] for row in rows.tolist() if broker in self._cells[row])

    def moved(self, weight: Int64s) -> Any:
        """The moved weight, with (rows,) int64 of one replica; 0 of partitions that have none now."""
        rules = self._rules
        terms: list[Any] = [0]
        for row in np.flatnonzero(weight).tolist():
            stays = rules.current[row][rules.stays_free[row]].tolist()
            kept = sum(self._cells[row][broker][0] for broker in stays)
            terms.append((int(rules.factor[rules.domain_of[row]]) - kept) * int(weight[row]))
        return sum(terms)

    def kept(self, chosen: NDArray[np.bool_]) -> Any:
        """Replicas that stay, of some: (rows, widest) bool of `rules.current`."""
        cells = zip(*np.nonzero(chosen & self._rules.stays_free), strict=True)
        return sum(self._cells[row][int(self._rules.current[row, column])][0] for row, column in cells)

    def changes(self, leader: Int32s) -> Any:
        """Partitions with another leader than their current one, (rows,) int32."""
        led = [(cells, int(at)) for cells, at in zip(self._cells, leader, strict=True) if at != NO_LEADER]
        return len(led) - sum(cells[at][1] for cells, at in led if at in cells)

    def hint(self, at: Int32s) -> None:
        """Start the search with a placement, (rows, widest) int32, the leader in column 0."""
        for cells, brokers in zip(self._cells, at.tolist(), strict=True):
            for broker, (has, leads) in cells.items():
                self.model.add_hint(has, broker in brokers)
                if self._may_lead is not None:
                    self.model.add_hint(leads, broker == brokers[0])

    def status(self) -> str:
        """Solve, and name what the solver knows."""
        return str(self._solver.status_name(self._solver.solve(self.model)))

    def is_feasible(self) -> bool:
        """Whether there is a placement. Raises `NotProven`."""
        status = self.status()
        if status not in {"OPTIMAL", "FEASIBLE", "INFEASIBLE"}:
            raise NotProven
        return status != "INFEASIBLE"

    def minimum(self, objective: Any) -> int:
        """The least value of an objective. Raises `NotProven`."""
        self.model.minimize(objective)
        if self.status() != "OPTIMAL":
            raise NotProven
        return int(self._solver.value(objective))

    @property
    def bound(self) -> int:
        """The lower bound on the objective that the last solve proved, without its constant."""
        return int(self._solver.response_proto.inner_objective_lower_bound)

    def placement(self) -> Int32s:
        """(rows, widest) int32 of the last solve, the leader in column 0."""
        at = np.full((len(self._cells), int(self._rules.factor.max(initial=0))), NO_REPLICA, np.int32)
        for row, cells in enumerate(self._cells):
            has = [broker for broker, (there, _) in cells.items() if self._solver.boolean_value(there)]
            leader = [each for each in has if self._may_lead is not None and self._solver.boolean_value(cells[each][1])]
            at[row, : len(has)] = leader + [broker for broker in has if broker not in leader]
        return at
