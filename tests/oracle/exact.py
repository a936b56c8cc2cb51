"""The exact optimum of the small model, by CP-SAT: stages in order, each optimal given the earlier optima."""

from collections.abc import Callable, Collection, Iterable
from typing import Any

from ortools.sat.python import cp_model

from tests.oracle.model import Key, Model, Partition

Replicas = dict[Key, tuple[int, ...]]


DETERMINISTIC_TIME = 3.0
"""Units of CP-SAT, seconds at most; nearly all small models take some milliseconds."""
BRIEF = 0.5
"""Of a model whose optimum the service is to prove as well."""


class NotSolved(Exception):
    """The small model is not solved to optimality, so that no law depends on it."""


class Exact:
    """A placement as variables: `on[key, broker]`, and `leads[key, broker]` for the preferred leader.

    Floors and ceilings of racks, factors and eligible brokers are constraints from the beginning.
    """

    def __init__(self, model: Model) -> None:
        self._model = model
        self._cp = cp_model.CpModel()
        self.on: dict[tuple[Key, int], Any] = {}
        self.leads: dict[tuple[Key, int], Any] = {}
        for partition in model.partitions:
            self._add(partition)

    def _add(self, partition: Partition) -> None:
        on = {broker: self._cp.new_bool_var("") for broker in self._brokers_of(partition)}
        leads = {broker: self._cp.new_bool_var("") for broker in on}
        self._cp.add(sum(on.values()) == partition.factor)
        self._cp.add(sum(leads.values()) == 1)
        if partition.keeps_leader:
            self._cp.add(on[partition.before[0]] == 1)
        for broker, is_leader in leads.items():
            self._cp.add_implication(is_leader, on[broker])
        for rack in partition.ceilings:
            inside = sum(on[broker] for broker in on if self._model.brokers.rack_of[broker] == rack)
            self._cp.add(inside <= partition.ceilings[rack])
            self._cp.add(inside >= partition.floors.get(rack, 0))
        if partition.least_racks:
            self._spans(partition, on)
        self.on |= {(partition.key, broker): is_on for broker, is_on in on.items()}
        self.leads |= {(partition.key, broker): is_leader for broker, is_leader in leads.items()}

    def _spans(self, partition: Partition, on: dict[int, Any]) -> None:
        spanned = []
        for rack in partition.ceilings:
            is_spanned = self._cp.new_bool_var("")
            self._cp.add(sum(on[broker] for broker in on if self._model.brokers.rack_of[broker] == rack) >= is_spanned)
            spanned.append(is_spanned)
        self._cp.add(sum(spanned) >= partition.least_racks)

    def moved(self, cost_of: Callable[[Partition], int]) -> Any:
        """The cost of all replicas that are copied; a partition that is created copies nothing."""
        return sum(
            cost_of(partition) * self.on[partition.key, broker]
            for partition in self._model.partitions
            for broker in self._brokers_of(partition)
            if partition.before and broker not in partition.before
        )

    def load(self, broker: int, replica: Callable[[Partition], int], leader: Callable[[Partition], int]) -> Any:
        """The load of a broker: a load of each replica, and one more of each partition that it leads."""
        return sum(
            replica(partition) * self.on[partition.key, broker] + leader(partition) * self.leads[partition.key, broker]
            for partition in self._model.partitions
            if (partition.key, broker) in self.on
        )

    def leader_changes(self) -> Any:
        """Partitions whose preferred leader is another one than before."""
        return sum(
            self.leads[partition.key, broker]
            for partition in self._model.partitions
            for broker in self._brokers_of(partition)
            if partition.before and broker != partition.before[0]
        )

    def bounded(self, low: int, high: int) -> Any:
        """A variable, for an extreme of loads."""
        return self._cp.new_int_var(low, high, "")

    def require(self, condition: Any) -> None:
        """Add a constraint."""
        self._cp.add(condition)

    def keep_leaders(self, replicas: Replicas, topics: Collection[str] | None) -> None:
        """Leave the leaders of all topics but these; None is all of them."""
        for partition in self._model.partitions:
            if topics is not None and partition.key[0] not in topics:
                self._cp.add(self.leads[partition.key, replicas[partition.key][0]] == 1)

    def fix(self, replicas: Replicas) -> None:
        """Place the replicas as given, so that leaders alone are left to choose."""
        for (key, broker), is_on in self.on.items():
            self._cp.add(is_on == int(broker in replicas[key]))

    def minimised(self, objective: Any, time: float = DETERMINISTIC_TIME) -> int | None:
        """The least value of an objective, which then holds in later stages; None if there is no placement.

        Raises `NotSolved` if the optimum is not found soon.
        """
        if isinstance(objective, int):
            objective = self.bounded(objective, objective)
        self._cp.minimize(objective)
        solver = cp_model.CpSolver()
        solver.parameters.num_workers = 1
        # With sizes of 2⁴⁵ bytes, presolve of OR-tools 9.15 reports feasible models as infeasible.
        solver.parameters.cp_model_presolve = False
        solver.parameters.max_deterministic_time = time
        status = solver.solve(self._cp)
        self._cp.clear_objective()  # type: ignore[no-untyped-call] # OR-tools leaves it out of its types
        if status == cp_model.INFEASIBLE:
            return None
        if status != cp_model.OPTIMAL:
            raise NotSolved(solver.status_name(status))
        value = int(solver.value(objective))
        self._cp.add(objective <= value)
        return value

    def maximised(self, objective: Any) -> int | None:
        """The largest value of an objective, which then holds in later stages."""
        least = self.minimised(-1 * objective)
        return None if least is None else -least

    def _brokers_of(self, partition: Partition) -> Iterable[int]:
        # A pin to a broker that is not eligible leaves no placement.
        allowed = partition.eligible if partition.fixed is None else frozenset(partition.fixed)
        return sorted(allowed & partition.eligible if partition.is_pinned else allowed)
