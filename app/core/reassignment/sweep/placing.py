"""Place the replicas of one scenario of a reassignment sweep, as a plan of the same change does, and verify it."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from app.core.certificate import Certificate
from app.core.model import NO_REPLICA, Int32s, Int64s
from app.core.reassignment.counts.least_movement import least_movement
from app.core.reassignment.counts.per_topic import TooManyPairs, TopicBalance, balance_topics
from app.core.reassignment.model import Balance, MovementProblem, ReplicaPlacement
from app.core.reassignment.parts import joined, part_of
from app.core.reassignment.resources import (
    RESOURCES,
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
from app.core.reassignment.resources.parts import PlacedPart, joined_resources, part_of_resources
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
    change, limits, parts = definition.change(index), definition.limits(index), _parts(definition, index, problem)
    balance = definition.balance_of(change)
    loads = _loads(definition, change, problem)
    priorities = definition.objective.priorities(balance, limits)
    if priorities is not None and loads is not None:
        upper = stated_limits(limits, loads.capacity)
        is_removed = problem.broker_ids == (-1 if change.removed is None else change.removed)
        upper = without_removed(upper, is_removed, loads.base)
        return _by_resources(definition, problem, _weighted(loads, problem.share), upper, priorities, parts)
    topics = definition.objective.topic_balance(definition.cluster.topics, definition.cluster.starts)
    placement = joined([(part.rows, _by_count(part, balance, topics)) for part in parts])
    return SweptPlacement(
        replicas=placement.replicas,
        certificate=placement.certificate,
        loads=None if loads is None else _loads_after(problem, loads, placement.replicas),
        capacity=None if loads is None else loads.capacity,
        limits=None,
        topic_excess=placement.topic_excess,
    )


@dataclass(frozen=True, slots=True, eq=False)
class _Part:
    """The partitions of a broker set, or of none; all of them without sets.

    Parameters
    ----------
    rows : (part,) int64. inside : (brokers,) bool.
    """

    rows: Int64s
    inside: NDArray[np.bool_]
    problem: MovementProblem


def _parts(definition: ReassignmentSweepDefinition, index: int, problem: MovementProblem) -> list[_Part]:
    """The parts that have partitions; those outside every set come first."""
    sets, cluster = definition.sets_of(index), definition.cluster
    rows, everyone = np.arange(len(problem.current)), np.ones(len(problem.broker_ids), np.bool_)
    if sets is None or not len(rows):
        return [_Part(rows, everyone, problem)]
    of_broker = sets.of_brokers(problem.broker_ids)
    of_row = np.repeat(sets.of_topics(cluster.topics), np.diff(cluster.starts))
    return [
        _Part(rows[of_row == each], of_broker == each, part_of(problem, rows[of_row == each], problem.target & inside))
        for each in np.unique(of_row).tolist()
        for inside in [of_broker == each]
    ]


def _by_count(part: _Part, balance: Balance, topics: TopicBalance | None) -> ReplicaPlacement:
    """The placement of a part by count, verified. Raises `LimitExceeded`."""
    problem = part.problem
    if topics is None:
        placement = least_movement(problem, balance)
        _require_none(placement_violations(problem, placement))
        return placement
    topics = replace(topics, topic_of=topics.topic_of[part.rows])
    try:
        placement = balance_topics(problem, balance, topics)
    except TooManyPairs as large:
        raise _too_many(large) from None
    of_topics = topic_violations(problem, placement, topics.topic_of, *topics.bands(problem))
    _require_none([*placement_violations(problem, placement), *of_topics])
    return placement


def _loads(
    definition: ReassignmentSweepDefinition, change: BrokerChange, problem: MovementProblem
) -> ResourceLoads | None:
    if definition.loads is None:
        return None
    return definition.loads.of_scenario(
        problem.factors, change.added, len(definition.cluster.racks), max(problem.racks, 1)
    )


def _weighted(loads: ResourceLoads, share: Int64s | None) -> ResourceLoads:
    """The loads, with weights in place of the capacities for counts."""
    if share is None:
        return loads
    capacity = loads.capacity.copy()
    for name in ("replicas", "leaders"):
        capacity[:, RESOURCES.index(name)] = share
    return replace(loads, capacity=capacity)


def _by_resources(
    definition: ReassignmentSweepDefinition,
    problem: MovementProblem,
    loads: ResourceLoads,
    limits: Limits,
    priorities: tuple[tuple[Goal, ...], ...],
    parts: Sequence[_Part],
) -> SweptPlacement:
    has_topics = any(goal.name == "topic_replicas" for group in priorities for goal in group)
    cluster = definition.cluster
    topic_of = np.repeat(np.arange(len(cluster.topics)), np.diff(cluster.starts)).astype(np.int32)
    resources = _resource_problem(problem, loads, limits, topic_of if has_topics else None)
    placed = []
    for part in parts:
        of_part = resources
        if len(parts) > 1:
            of_part = part_of_resources(resources, part.rows, part.problem.target, part.inside)
        solved = reach_goals(of_part, priorities, lambda: False) if priorities else relieve(of_part, lambda: False)
        _require_none(resource_violations(of_part, solved))
        placed.append(PlacedPart(part.rows, of_part, solved))
    found = joined_resources(resources, placed, None)
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
