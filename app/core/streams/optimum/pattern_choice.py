"""Which of its best patterns each task takes, where several tags decide: a matching, and so no flow.

First the least imbalance, over profiles (`profile_loads`). Then, among the choices that reach it, the most copies that
stay where their state is. Tasks whose active clients have the same profile and whose state is on the same clients are
alike; the model counts how many of them take each pattern, how many copies stay on each client that has their state,
and how many standbys each client has. It leaves out that no client gets two copies of a task: the flow that follows
minds that. So the model may promise too much, and what it promises is a bound.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from app.core.model import Int64s
from app.core.streams.optimum.problem import Problem
from app.core.streams.optimum.profile_loads import SCALE, SEED, ProfileLoads, profile_loads
from app.core.streams.optimum.tag_patterns import Patterns


@dataclass(frozen=True, slots=True, eq=False)
class Choice:
    """The standbys of each task in each profile, (tasks, profiles) int64, and bounds on all choices.

    Parameters
    ----------
    imbalance_bound : in the problem's units. restored_bound : of those that reach it; 0 where nobody found out.
    """

    places: Int64s = field(repr=False)
    imbalance_bound: int
    restored_bound: int


@dataclass(frozen=True, slots=True, eq=False)
class _Kind:
    """Tasks that are alike: the profile they run in, and the clients that have their state and may have a standby."""

    own: int
    tasks: Int64s
    holders: tuple[int, ...]


def choose(problem: Problem, patterns: Patterns, effort: float) -> Choice:
    """Choose patterns for the least imbalance, then for the most copies that stay.

    Parameters
    ----------
    effort : CP-SAT's deterministic seconds for each search, of which there are up to three: the same input ends in the
        same answer.
    """
    loads = profile_loads(problem, patterns, effort)
    total = len(problem.rows) * problem.standbys
    kinds = _kinds(problem, patterns)
    dealt = _dealt(patterns, loads, kinds)
    if not any(kind.holders for kind in kinds):
        return Choice(_places(patterns, kinds, dealt), loads.bound, total)
    taken, most = _Model(problem, patterns, kinds, loads).solve(dealt, effort)
    # The model knows only choices as even as the one that was found; where that is not proven, it proves nothing.
    restored_bound = max(total - most, 0) if loads.imbalance == loads.bound else 0
    return Choice(_places(patterns, kinds, dealt if taken is None else taken), loads.bound, restored_bound)


def _places(patterns: Patterns, kinds: Sequence[_Kind], taken: Sequence[Int64s]) -> Int64s:
    """(tasks, profiles) int64: patterns handed to the tasks of each kind, as many of each as are taken."""
    places = np.zeros((sum(len(kind.tasks) for kind in kinds), len(patterns.profiles.sizes)), np.int64)
    for kind, times in zip(kinds, taken, strict=True):
        places[kind.tasks] = np.repeat(patterns.listed[kind.own], times, axis=0)
    return places


def _dealt(patterns: Patterns, loads: ProfileLoads, kinds: Sequence[_Kind]) -> list[Int64s]:
    """The loads' patterns dealt to kinds, those first where the most copies may stay: the last resort.

    Returns
    -------
    Of each kind, (patterns,) int64: how many of its tasks take each.
    """
    of_client = patterns.profiles.of_client
    dealt = [np.zeros(len(patterns.listed[kind.own]), np.int64) for kind in kinds]
    offers = []
    for number, kind in enumerate(kinds):
        had = np.bincount(of_client[list(kind.holders)], minlength=len(patterns.profiles.sizes))
        staying = np.minimum(patterns.listed[kind.own], had).sum(axis=1)
        offers += [(-n, number, pattern) for pattern, n in enumerate(staying.tolist())]
    left = {own: times.copy() for own, times in loads.taken.items()}
    without = [len(kind.tasks) for kind in kinds]
    for _, number, pattern in sorted(offers):
        own = kinds[number].own
        n = min(without[number], int(left[own][pattern]))
        dealt[number][pattern] += n
        left[own][pattern] -= n
        without[number] -= n
    return dealt


def _kinds(problem: Problem, patterns: Patterns) -> list[_Kind]:
    own = patterns.profiles.of_client[problem.active]
    reached = {
        profile: (best.max(axis=0) > 0)[patterns.profiles.of_client] for profile, best in patterns.listed.items()
    }
    alike: dict[tuple[int, tuple[int, ...]], list[int]] = {}
    for task, profile in enumerate(own.tolist()):
        used = reached[profile] & problem.has_state[:, task]
        used[problem.active[task]] = False
        alike.setdefault((profile, tuple(np.flatnonzero(used).tolist())), []).append(task)
    return [_Kind(profile, np.array(tasks, np.int64), holders) for (profile, holders), tasks in alike.items()]


class _Model:
    """The counts as a constraint model, among the choices that are as even as the loads by profile."""

    def __init__(self, problem: Problem, patterns: Patterns, kinds: Sequence[_Kind], loads: ProfileLoads) -> None:
        from ortools.sat.python import cp_model  # noqa: PLC0415 — solvers are loaded when something is to be solved

        self._cp_model: Any = cp_model
        self._model: Any = cp_model.CpModel()
        of_client = patterns.profiles.of_client
        self._above: list[Any] = []
        self._held = [
            self._load(weight, int(loads.prices[profile]), len(problem.rows), loads.slack)
            for weight, profile in zip(problem.weights.tolist(), of_client.tolist(), strict=True)
        ]
        self._stays: list[Any] = []
        staying_on: list[list[Any]] = [[] for _ in self._held]
        given: list[list[Any]] = [[] for _ in patterns.profiles.sizes]
        self._taken = []
        for kind in kinds:
            taken = self._patterns_of(kind, patterns, loads, given)
            self._taken.append(taken)
            for client, stay in self._staying(kind, patterns, taken):
                staying_on[client].append(stay)
        for client, stays in enumerate(staying_on):
            self._model.add(self._held[client] >= sum(stays))
        for profile, copies in enumerate(given):
            clients = np.flatnonzero(of_client == profile).tolist()
            self._model.add(sum(self._held[client] for client in clients) == sum(copies))
        self._model.add(sum(self._above) <= loads.slack)

    def _load(self, weight: int, price: int, most: int, slack: int) -> Any:
        """A client's standbys: as many as are near enough to the cheapest number at a price."""
        counts = np.arange(most + 1, dtype=np.int64)
        costs = SCALE * weight * counts**2 - price * counts
        costs -= costs.min()
        near = np.flatnonzero(costs <= slack)
        low, high = int(near[0]), int(near[-1])
        held = self._model.new_int_var(low, high, "")
        if slack:
            above = self._model.new_int_var(0, slack, "")
            for at in range(low, high):
                slope = int(costs[at + 1] - costs[at])
                self._model.add(above >= slope * held + (int(costs[at]) - slope * at))
            self._above.append(above)
        return held

    def _patterns_of(self, kind: _Kind, patterns: Patterns, loads: ProfileLoads, given: list[list[Any]]) -> list[Any]:
        """How many tasks of a kind take each pattern; none, where it is too dear at the prices."""
        best = patterns.listed[kind.own]
        dearer = best @ loads.prices
        dearer = dearer - dearer.min()
        taken = []
        for pattern, cost in zip(best, dearer.tolist(), strict=True):
            most = len(kind.tasks) if not cost else min(len(kind.tasks), loads.slack // cost)
            count = self._model.new_int_var(0, most, "")
            if cost:
                self._above.append(cost * count)
            for profile in np.flatnonzero(pattern).tolist():
                given[profile].append(int(pattern[profile]) * count)
            taken.append(count)
        self._model.add(sum(taken) == len(kind.tasks))
        return taken

    def _staying(self, kind: _Kind, patterns: Patterns, taken: list[Any]) -> list[tuple[int, Any]]:
        """How many copies of a kind stay on each client that has their state."""
        best, of_client = patterns.listed[kind.own], patterns.profiles.of_client
        found = []
        for profile in dict.fromkeys(of_client[client] for client in kind.holders):
            stays = []
            for client in (client for client in kind.holders if of_client[client] == profile):
                stay = self._model.new_int_var(0, len(kind.tasks), "")
                self._model.add(stay <= sum(x for x, n in zip(taken, best[:, profile], strict=True) if n))
                stays.append(stay)
                found.append((client, stay))
            if len(stays) > 1:
                self._model.add(sum(stays) <= sum(x * int(n) for x, n in zip(taken, best[:, profile], strict=True)))
            self._stays += stays
        return found

    def solve(self, dealt: Sequence[Int64s], effort: float) -> tuple[list[Int64s] | None, int]:
        """How many tasks of each kind take each pattern, None where nobody found out; how many copies stay at most.

        The relaxation is nearly whole already, and so it is taken in full at first; where that finds nothing in time,
        the search starts from patterns that are dealt.
        """
        self._model.maximize(sum(self._stays))
        taken, most = self._solved(effort, linearization_level=2)
        if taken is not None:
            return taken, most
        for variables, times in zip(self._taken, dealt, strict=True):
            for count, n in zip(variables, times.tolist(), strict=True):
                self._model.add_hint(count, n)
        taken, same = self._solved(effort, linearization_level=1)
        return taken, min(most, same)

    def _solved(self, effort: float, *, linearization_level: int) -> tuple[list[Int64s] | None, int]:
        solver = self._cp_model.CpSolver()
        solver.parameters.num_workers = 1
        solver.parameters.random_seed = SEED
        solver.parameters.linearization_level = linearization_level
        solver.parameters.max_deterministic_time = effort
        found = solver.solve(self._model) in (self._cp_model.OPTIMAL, self._cp_model.FEASIBLE)
        taken = [np.array([solver.value(x) for x in its], np.int64) for its in self._taken] if found else None
        return taken, round(solver.best_objective_bound)
