"""Instances of the ROADEF/EURO challenge 2012 (machine reassignment), read from their two files.

    model_*.txt        resources, machines, services, processes, balance costs and weights, as whole numbers
    assignment_*.txt   the machine of each process, from 0 on

The format is that of the subject of the challenge, "Google ROADEF/EURO challenge 2011–2012: Machine reassignment".
Instances are not part of this repository.
"""

from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from app.core.model import Int64s

MOST_NUMBERS = 100_000_000
"""Numbers of one file; the largest published instance has 25 million."""


class MalformedInstance(ValueError):
    """A file is no instance: says where, and what is expected there."""


@dataclass(frozen=True, slots=True, eq=False)
class Instance:
    """What applies to brokers and replicas. Spread, dependencies and balance costs are read over.

    Parameters
    ----------
    is_transient : (resources,) bool, needed on both machines while a process moves. load_weight : (resources,) int64.
    location : (machines,) int64. capacity, safety : (machines, resources) int64.
    service : (processes,) int64. requirement : (processes, resources) int64. move_cost : (processes,) int64.
    move_weight : of the sum of the costs of moved processes. assigned : (processes,) int64 machines.
    """

    name: str
    is_transient: NDArray[np.bool_]
    load_weight: Int64s
    location: Int64s = field(repr=False)
    capacity: Int64s = field(repr=False)
    safety: Int64s = field(repr=False)
    service: Int64s = field(repr=False)
    requirement: Int64s = field(repr=False)
    move_cost: Int64s = field(repr=False)
    move_weight: int
    assigned: Int64s = field(repr=False)

    def usage(self, assigned: Int64s) -> Int64s:
        """(machines, resources) int64 with each process on a machine."""
        usage = np.zeros_like(self.capacity)
        np.add.at(usage, assigned, self.requirement)
        return usage

    def load_cost(self, assigned: Int64s) -> int:
        """The usage above the safety capacities, each resource by its weight."""
        above = np.maximum(self.usage(assigned) - self.safety, 0).sum(axis=0)
        return int((above * self.load_weight).sum())

    def load_cost_bound(self) -> int:
        """No assignment has a smaller load cost: what all safety capacities together do not hold."""
        above = np.maximum(self.requirement.sum(axis=0) - self.safety.sum(axis=0), 0)
        return int((above * self.load_weight).sum())

    def process_move_cost(self, assigned: Int64s) -> int:
        """The cost of the processes that move."""
        return self.move_weight * int(self.move_cost[assigned != self.assigned].sum())

    def capacity_violations(self, assigned: Int64s) -> int:
        """Machines and resources above their capacity, with what moves away counted for transient ones."""
        needed = self.usage(assigned)
        moves = assigned != self.assigned
        leaving = np.zeros_like(needed)
        np.add.at(leaving, self.assigned[moves], self.requirement[moves])
        return int(np.count_nonzero(needed + leaving * self.is_transient > self.capacity))

    def conflicts(self, assigned: Int64s) -> int:
        """Processes on a machine that has another one of their service."""
        pairs = np.column_stack([self.service, assigned])
        return len(pairs) - len(np.unique(pairs, axis=0))


def read_instance(model: Path, assignment: Path) -> Instance:
    """Read an instance. Raises `MalformedInstance`, `OSError`."""
    numbers = _Numbers(model)
    resources = numbers.one("the number of resources", least=1)
    of_resource = numbers.table(resources, 2, "a resource: transient, weight")
    machines = numbers.one("the number of machines", least=1)
    of_machine = numbers.table(
        machines,
        2 + 2 * resources,
        "a machine: neighborhood, location, capacities, safety capacities, move costs",
        skipped=machines,
    )
    services = numbers.one("the number of services", least=1)
    for _ in range(services):
        numbers.one("a service: its spread")
        numbers.skip(numbers.one("a service: its number of dependencies"), "dependencies")
    processes = numbers.one("the number of processes", least=1)
    of_process = numbers.table(processes, 2 + resources, "a process: service, requirements, move cost")
    numbers.skip(4 * numbers.one("the number of balance costs"), "balance costs")
    weights = numbers.table(1, 3, "the weights of move costs")
    numbers.require_end()
    if (of_process[:, 0] >= services).any():
        raise MalformedInstance(f"{model}: a process is of service {of_process[:, 0].max()}; there are {services}")
    places = _Numbers(assignment)
    assigned = places.table(processes, 1, "the machine of a process")[:, 0]
    places.require_end()
    if (assigned >= machines).any():
        raise MalformedInstance(f"{assignment}: a process is on machine {assigned.max()}; there are {machines}")
    return Instance(
        name=model.stem,
        is_transient=of_resource[:, 0] > 0,
        load_weight=of_resource[:, 1],
        location=of_machine[:, 1],
        capacity=of_machine[:, 2 : 2 + resources],
        safety=of_machine[:, 2 + resources :],
        service=of_process[:, 0],
        requirement=of_process[:, 1:-1],
        move_cost=of_process[:, -1],
        move_weight=int(weights[0, 0]),
        assigned=assigned,
    )


class _Numbers:
    """The whole numbers of a file, one after another."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._words = path.read_bytes().split(maxsplit=MOST_NUMBERS)
        self._next = 0

    def one(self, what: str, *, least: int = 0) -> int:
        """The next number."""
        value = int(self.table(1, 1, what)[0, 0])
        if value < least:
            raise MalformedInstance(f"{self._path}: number {self._next} is {value}; {what} is at least {least}")
        return value

    def table(self, rows: int, columns: int, what: str, *, skipped: int = 0) -> Int64s:
        """(rows, columns) int64, with `skipped` numbers after each row."""
        width, start = columns + skipped, self._next
        self.skip(rows * width, what)
        words = [
            word for row in range(rows) for word in self._words[start + row * width : start + row * width + columns]
        ]
        try:
            numbers = np.array([int(word) for word in words], np.int64).reshape(rows, columns)
        except (ValueError, OverflowError):
            raise MalformedInstance(f"{self._path}: {what} has what is no whole number of 64 bits") from None
        if (numbers < 0).any():
            raise MalformedInstance(f"{self._path}: {what} has {numbers.min()}; all numbers are 0 or more")
        return numbers

    def skip(self, count: int, what: str) -> None:
        """Pass over numbers."""
        if count > len(self._words) - self._next:
            left = len(self._words) - self._next
            raise MalformedInstance(f"{self._path}: {what} needs {count} more numbers, and the file has {left}")
        self._next += count

    def require_end(self) -> None:
        if self._next != len(self._words):
            raise MalformedInstance(
                f"{self._path}: {len(self._words) - self._next} numbers are left after the last one"
            )
