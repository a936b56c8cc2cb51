"""The best pattern that each task uses if several tags decide: a CP-SAT model, since this matching is no flow.

The first goal is the least imbalance, over profiles (`profile_loads`). The second, among the choices that reach it, is
the most copies that stay where their state is. Tasks whose active clients have the same profile and whose state is on
the same clients form one class; the model counts the tasks of each class that use each pattern, the copies that stay on
each client with their state, and the standbys of each client. It relaxes the constraint that no client has two copies
of a task, which the flow that follows enforces. So the optimum of the model is a bound.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from app.core.model import Int64s
from app.core.streams.optimum.profile_loads import SCALE, ProfileLoads, profile_loads, solver_for
from app.core.streams.optimum.quality import StandbyProblem
from app.core.streams.optimum.tag_patterns import TagPatterns


@dataclass(frozen=True, slots=True, eq=False)
class PatternChoice:
    """The chosen patterns, and lower bounds on all choices.

    Parameters
    ----------
    counts : (tasks, profiles) int64 standbys of each task in each profile.
    imbalance_bound : in the problem's units.
    restored_bound : among the choices that reach the imbalance bound; 0 if it is not proven.
    """

    counts: Int64s = field(repr=False)
    imbalance_bound: int
    restored_bound: int


@dataclass(frozen=True, slots=True, eq=False)
class _TaskClass:
    """Interchangeable tasks.

    Parameters
    ----------
    profile : of their active clients.
    tasks : (tasks,) int64.
    state_clients : the clients that have their state and may have a standby.
    """

    profile: int
    tasks: Int64s
    state_clients: tuple[int, ...]


def choose_patterns(problem: StandbyProblem, patterns: TagPatterns, effort: float) -> PatternChoice:
    """Choose patterns for the least imbalance, then for the most copies that stay.

    Parameters
    ----------
    effort : deterministic seconds of CP-SAT for each search, of which there are up to three. The same input gives the
        same answer.
    """
    loads = profile_loads(problem, patterns, effort)
    total = len(problem.rows) * problem.standbys
    classes = _task_classes(problem, patterns)
    fallback = _fallback(patterns, loads, classes)
    if not any(task_class.state_clients for task_class in classes):
        return PatternChoice(_counts_of_tasks(patterns, classes, fallback), loads.bound, total)
    counts, most = _Model(problem, patterns, classes, loads).solve(fallback, effort)
    # The model contains only choices with at most the imbalance reached; if that is not proven, neither is the bound.
    restored_bound = max(total - most, 0) if loads.imbalance == loads.bound else 0
    return PatternChoice(
        _counts_of_tasks(patterns, classes, fallback if counts is None else counts), loads.bound, restored_bound
    )


def _counts_of_tasks(patterns: TagPatterns, classes: Sequence[_TaskClass], counts: Sequence[Int64s]) -> Int64s:
    """(tasks, profiles) int64: the pattern of each task, from the number of tasks of each class for each pattern."""
    by_task = np.zeros((sum(len(task_class.tasks) for task_class in classes), len(patterns.profiles.sizes)), np.int64)
    for task_class, times in zip(classes, counts, strict=True):
        by_task[task_class.tasks] = np.repeat(patterns.listed[task_class.profile], times, axis=0)
    return by_task


def _fallback(patterns: TagPatterns, loads: ProfileLoads, classes: Sequence[_TaskClass]) -> list[Int64s]:
    """The patterns of the loads distributed over task classes greedily, by the number of copies that may stay.

    Returns
    -------
    Of each class, (patterns,) int64: the number of its tasks that use each pattern.
    """
    of_client = patterns.profiles.of_client
    counts = [np.zeros(len(patterns.listed[task_class.profile]), np.int64) for task_class in classes]
    offers = []
    for number, task_class in enumerate(classes):
        with_state = np.bincount(of_client[list(task_class.state_clients)], minlength=len(patterns.profiles.sizes))
        staying = np.minimum(patterns.listed[task_class.profile], with_state).sum(axis=1)
        offers += [(-n, number, pattern) for pattern, n in enumerate(staying.tolist())]
    remaining = {profile: times.copy() for profile, times in loads.counts.items()}
    unassigned = [len(task_class.tasks) for task_class in classes]
    for _, number, pattern in sorted(offers):
        profile = classes[number].profile
        n = min(unassigned[number], int(remaining[profile][pattern]))
        counts[number][pattern] += n
        remaining[profile][pattern] -= n
        unassigned[number] -= n
    return counts


def _task_classes(problem: StandbyProblem, patterns: TagPatterns) -> list[_TaskClass]:
    profile_of_task = patterns.profiles.of_client[problem.active]
    is_usable = {
        profile: (best.max(axis=0) > 0)[patterns.profiles.of_client] for profile, best in patterns.listed.items()
    }
    grouped: dict[tuple[int, tuple[int, ...]], list[int]] = {}
    for task, profile in enumerate(profile_of_task.tolist()):
        with_state = is_usable[profile] & problem.has_state[:, task]
        with_state[problem.active[task]] = False
        grouped.setdefault((profile, tuple(np.flatnonzero(with_state).tolist())), []).append(task)
    return [
        _TaskClass(profile, np.array(tasks, np.int64), state_clients)
        for (profile, state_clients), tasks in grouped.items()
    ]


class _Model:
    """Constraint model of the counts, among the choices with at most the imbalance of the loads by profile."""

    def __init__(
        self, problem: StandbyProblem, patterns: TagPatterns, classes: Sequence[_TaskClass], loads: ProfileLoads
    ) -> None:
        from ortools.sat.python import cp_model  # noqa: PLC0415 — solvers are loaded when something is to be solved

        self._cp_model: Any = cp_model
        self._model: Any = cp_model.CpModel()
        of_client = patterns.profiles.of_client
        self._excess: list[Any] = []
        self._standbys = [
            self._add_client(weight, int(loads.prices[profile]), len(problem.rows), loads.slack)
            for weight, profile in zip(problem.weights.tolist(), of_client.tolist(), strict=True)
        ]
        self._stays: list[Any] = []
        staying_on: list[list[Any]] = [[] for _ in self._standbys]
        copies_in: list[list[Any]] = [[] for _ in patterns.profiles.sizes]
        self._counts = []
        for task_class in classes:
            counts = self._add_patterns(task_class, patterns, loads, copies_in)
            self._counts.append(counts)
            for client, stay in self._add_staying(task_class, patterns, counts):
                staying_on[client].append(stay)
        for client, stays in enumerate(staying_on):
            self._model.add(self._standbys[client] >= sum(stays))
        for profile, copies in enumerate(copies_in):
            clients = np.flatnonzero(of_client == profile).tolist()
            self._model.add(sum(self._standbys[client] for client in clients) == sum(copies))
        self._model.add(sum(self._excess) <= loads.slack)

    def _add_client(self, weight: int, price: int, most: int, slack: int) -> Any:
        """The number of a client's standbys, limited to numbers whose cost at the dual price is within the slack."""
        counts = np.arange(most + 1, dtype=np.int64)
        costs = SCALE * weight * counts**2 - price * counts
        costs -= costs.min()
        within = np.flatnonzero(costs <= slack)
        low, high = int(within[0]), int(within[-1])
        standbys = self._model.new_int_var(low, high, "")
        if slack:
            excess = self._model.new_int_var(0, slack, "")
            for at in range(low, high):
                slope = int(costs[at + 1] - costs[at])
                self._model.add(excess >= slope * standbys + (int(costs[at]) - slope * at))
            self._excess.append(excess)
        return standbys

    def _add_patterns(
        self, task_class: _TaskClass, patterns: TagPatterns, loads: ProfileLoads, copies_in: list[list[Any]]
    ) -> list[Any]:
        """The number of tasks of a class that use each pattern; 0 if its reduced cost is above the slack."""
        best = patterns.listed[task_class.profile]
        costs = best @ loads.prices
        reduced_costs = costs - costs.min()
        counts = []
        for pattern, cost in zip(best, reduced_costs.tolist(), strict=True):
            most = len(task_class.tasks) if not cost else min(len(task_class.tasks), loads.slack // cost)
            count = self._model.new_int_var(0, most, "")
            if cost:
                self._excess.append(cost * count)
            for profile in np.flatnonzero(pattern).tolist():
                copies_in[profile].append(int(pattern[profile]) * count)
            counts.append(count)
        self._model.add(sum(counts) == len(task_class.tasks))
        return counts

    def _add_staying(self, task_class: _TaskClass, patterns: TagPatterns, counts: list[Any]) -> list[tuple[int, Any]]:
        """The number of copies of a class that stay on each client with their state: pairs of client and variable."""
        best, of_client = patterns.listed[task_class.profile], patterns.profiles.of_client
        pairs = []
        for profile in dict.fromkeys(of_client[client] for client in task_class.state_clients):
            stays = []
            for client in (client for client in task_class.state_clients if of_client[client] == profile):
                stay = self._model.new_int_var(0, len(task_class.tasks), "")
                self._model.add(stay <= sum(x for x, n in zip(counts, best[:, profile], strict=True) if n))
                stays.append(stay)
                pairs.append((client, stay))
            if len(stays) > 1:
                self._model.add(sum(stays) <= sum(x * int(n) for x, n in zip(counts, best[:, profile], strict=True)))
            self._stays += stays
        return pairs

    def solve(self, fallback: Sequence[Int64s], effort: float) -> tuple[list[Int64s] | None, int]:
        """The number of tasks of each class that use each pattern, or None; and an upper bound on copies that stay.

        The relaxation is nearly integral, so that the first search uses it in full. If that finds no solution in time,
        the second search starts from the fallback.
        """
        self._model.maximize(sum(self._stays))
        counts, most = self._solved(effort, linearization_level=2)
        if counts is not None:
            return counts, most
        for variables, times in zip(self._counts, fallback, strict=True):
            for count, n in zip(variables, times.tolist(), strict=True):
                self._model.add_hint(count, n)
        counts, second_bound = self._solved(effort, linearization_level=1)
        return counts, min(most, second_bound)

    def _solved(self, effort: float, *, linearization_level: int) -> tuple[list[Int64s] | None, int]:
        solver = solver_for(effort)
        solver.parameters.linearization_level = linearization_level
        is_solved = solver.solve(self._model) in (self._cp_model.OPTIMAL, self._cp_model.FEASIBLE)
        if not is_solved:
            return None, round(solver.best_objective_bound)
        counts = [np.array([solver.value(x) for x in variables], np.int64) for variables in self._counts]
        return counts, round(solver.best_objective_bound)
