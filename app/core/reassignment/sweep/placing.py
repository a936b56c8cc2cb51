"""Place the replicas of one scenario of a reassignment sweep, as a plan of the same change does, and verify it."""

from dataclasses import dataclass, field, replace

import numpy as np

from app.core.certificate import Certificate
from app.core.model import NO_REPLICA, Int32s, Int64s
from app.core.reassignment.counts.least_movement import least_movement
from app.core.reassignment.counts.per_topic import TooManyPairs, balance_topics
from app.core.reassignment.model import MovementProblem
from app.core.reassignment.resources import (
    Goal,
    Limits,
    ResourceLoads,
    ResourceProblem,
    loads_of,
    reach_goals,
    relieve,
    resource_violations,
    stated_limits,
    without_removed,
)
from app.core.reassignment.resources.model import NO_LIMIT
from app.core.reassignment.resources.start import first_leaders
from app.core.reassignment.sweep.definition import BrokerChange, ReassignmentSweepDefinition
from app.core.reassignment.verifier import placement_violations, topic_violations
from app.errors.requests import LimitExceeded


@dataclass(frozen=True, slots=True, eq=False)
class SweptPlacement:
    """The replicas of a scenario.

    Parameters
    ----------
    replicas : (rows, widest) int32 positions. certificate : of the movement.
    loads : (brokers, resources) int64 afterwards; None if no loads are known. capacity : of each broker.
    limits : of each broker; None if the scenario has none.
    topic_excess : replicas outside the bands of their topics; None if topics are not balanced.
    """

    replicas: Int32s = field(repr=False)
    certificate: Certificate[int]
    loads: Int64s | None = field(repr=False)
    capacity: Int64s | None = field(repr=False)
    limits: Limits | None
    topic_excess: int | None


def place(definition: ReassignmentSweepDefinition, index: int, problem: MovementProblem) -> SweptPlacement:
    """Place the replicas of scenario `index`; limits that cannot hold are exceeded as little as is found.

    Raises `LimitExceeded` if topics are balanced and have too many places.
    """
    change, limits = definition.change(index), definition.limits(index)
    balance = definition.balance_of(change)
    loads = _loads(definition, change, problem)
    priorities = definition.objective.priorities(balance, limits)
    if priorities is not None and loads is not None:
        upper = stated_limits(limits, loads.capacity)
        is_removed = problem.broker_ids == (-1 if change.removed is None else change.removed)
        return _by_resources(definition, problem, loads, without_removed(upper, is_removed, loads.base), priorities)
    topics = definition.objective.topic_balance(definition.cluster.topics, definition.cluster.starts)
    if topics is None:
        placement = least_movement(problem, balance)
        _require_none(placement_violations(problem, placement))
    else:
        try:
            placement = balance_topics(problem, balance, topics)
        except TooManyPairs as large:
            raise _too_many(large) from None
        of_topics = topic_violations(problem, placement, topics.topic_of, *topics.bands(problem))
        _require_none([*placement_violations(problem, placement), *of_topics])
    return SweptPlacement(
        replicas=placement.replicas,
        certificate=placement.certificate,
        loads=None if loads is None else _loads_after(problem, loads, placement.replicas),
        capacity=None if loads is None else loads.capacity,
        limits=None,
        topic_excess=None if topics is None else topics.excess(problem, placement.replicas),
    )


def _loads(
    definition: ReassignmentSweepDefinition, change: BrokerChange, problem: MovementProblem
) -> ResourceLoads | None:
    if definition.loads is None:
        return None
    return definition.loads.of_scenario(
        problem.factors, change.added, len(definition.cluster.racks), max(problem.racks, 1)
    )


def _by_resources(
    definition: ReassignmentSweepDefinition,
    problem: MovementProblem,
    loads: ResourceLoads,
    limits: Limits,
    priorities: tuple[tuple[Goal, ...], ...],
) -> SweptPlacement:
    has_topics = any(goal.name == "topic_replicas" for group in priorities for goal in group)
    cluster = definition.cluster
    topic_of = np.repeat(np.arange(len(cluster.topics)), np.diff(cluster.starts)).astype(np.int32)
    resources = _resource_problem(problem, loads, limits, topic_of if has_topics else None)
    found = reach_goals(resources, priorities, lambda: False) if priorities else relieve(resources, lambda: False)
    _require_none(resource_violations(resources, found))
    return SweptPlacement(
        replicas=found.replicas,
        certificate=replace(found.movement, then=None),  # of leader changes
        loads=found.loads,
        capacity=loads.capacity,
        limits=limits if (limits.upper < NO_LIMIT).any() else None,
        topic_excess=None,
    )


def _resource_problem(
    problem: MovementProblem, loads: ResourceLoads, limits: Limits, topic_of: Int32s | None
) -> ResourceProblem:
    current = problem.current
    leader = current[:, 0].copy() if current.shape[1] else np.full(len(current), NO_REPLICA, np.int32)
    everyone = np.ones(len(problem.broker_ids), np.bool_)
    return ResourceProblem(problem, loads, limits, leader, everyone, topic_of)


def _loads_after(problem: MovementProblem, loads: ResourceLoads, replicas: Int32s) -> Int64s:
    """(brokers, resources) int64, each leader kept if it stays, else the first current broker that stays."""
    unlimited = _resource_problem(problem, loads, Limits.none(len(problem.broker_ids)), None)
    return loads_of(loads, problem.rack_of, replicas, first_leaders(unlimited, replicas))


def _too_many(large: TooManyPairs) -> LimitExceeded:
    return LimitExceeded(
        f"partitions with several replicas in a rack have {large.pairs} pairs of a partition and a broker there; "
        f"balance.per_topic is solved with up to {large.limit}",
        path=("balance", "per_topic"),
        value=large.pairs,
        limit=large.limit,
    )


def _require_none(violations: list[str]) -> None:
    if violations:
        raise RuntimeError("; ".join(violations[:5]))
