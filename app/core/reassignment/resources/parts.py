"""Parts of a problem over resources that share neither partitions nor brokers: each is placed on its own."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from app.core.certificate import Certificate
from app.core.model import Int64s
from app.core.reassignment.model import ReplicaPlacement
from app.core.reassignment.parts import joined, part_of, summed
from app.core.reassignment.resources.model import (
    NO_LIMIT,
    TOPIC_REPLICAS,
    BalancedGoal,
    Excess,
    ResourcePlacement,
    ResourceProblem,
)


@dataclass(frozen=True, slots=True, eq=False)
class PlacedPart:
    """A part, and the placement that answers it. rows : (part,) int64 of the whole problem."""

    rows: Int64s
    problem: ResourceProblem
    placement: ResourcePlacement


def part_of_resources(
    problem: ResourceProblem, rows: Int64s, target: NDArray[np.bool_], inside: NDArray[np.bool_]
) -> ResourceProblem:
    """The problem of some rows: the others have nothing on the brokers inside, or are part of the base.

    Parameters
    ----------
    rows : (part,) int64, ascending. target : (brokers,) bool, brokers that are balanced. inside : (brokers,) bool, the
        brokers that are limited.
    """
    loads, topic_of = problem.loads, problem.topic_of
    reads = None if loads.reads is None else replace(loads.reads, load=loads.reads.load[rows])
    return ResourceProblem(
        movement=part_of(problem.movement, rows, target),
        loads=replace(loads, of_leader=loads.of_leader[rows], of_follower=loads.of_follower[rows], reads=reads),
        limits=replace(problem.limits, upper=np.where(inside[:, None], problem.limits.upper, NO_LIMIT)),
        leader=problem.leader[rows],
        may_lead=problem.may_lead,
        topic_of=None if topic_of is None else np.unique(topic_of[rows], return_inverse=True)[1].astype(np.int32),
        is_ready=None if problem.is_ready is None else problem.is_ready[rows],
    )


def joined_resources(
    problem: ResourceProblem, parts: Sequence[PlacedPart], fixed: tuple[Int64s, ReplicaPlacement] | None
) -> ResourcePlacement:
    """One placement of all parts: loads and certificates are sums, each goal is that of the part farthest from it.

    Parameters
    ----------
    problem : of all rows. parts : have every row that is not fixed; their base includes the fixed rows.
    fixed : rows that the search leaves alone, led by their first broker.
    """
    if len(parts) == 1 and fixed is None:
        return parts[0].placement
    replicas = joined([*((part.rows, part.placement.replicas_only) for part in parts), *([fixed] if fixed else [])])
    leaders = replicas.replicas[:, 0].copy()
    for part in parts:
        leaders[part.rows] = part.placement.leaders
    base = parts[0].problem.loads.base if parts else problem.loads.base
    loads = base + sum((part.placement.loads - base for part in parts), np.zeros_like(base))
    changes = [part.placement.movement.then for part in parts]
    then = summed([each for each in changes if isinstance(each, Certificate)])  # type: ignore[misc] # counts
    return ResourcePlacement(
        replicas=replicas.replicas,
        leaders=leaders,
        loads=loads,
        movement=replace(replicas.certificate, then=then),
        goals=tuple(_worst(goals, parts) for goals in zip(*(part.placement.goals for part in parts), strict=True)),
        excess=_excess([part.placement.excess for part in parts]),
    )


def _worst(goals: Sequence[BalancedGoal], parts: Sequence[PlacedPart]) -> BalancedGoal:
    """What a goal reached in the part with the largest share; no part's bound is below that of all."""
    largest = max((goal.largest for goal in goals), key=lambda each: each.value)
    bound = min(largest.value, max(goal.largest.lower_bound for goal in goals))
    if goals[0].goal.name == TOPIC_REPLICAS:
        ceiling, floor = (np.concatenate([getattr(goal, name) for goal in goals]) for name in ("ceiling", "floor"))
    else:
        ceiling, floor = np.full_like(goals[0].ceiling, NO_LIMIT), np.zeros_like(goals[0].floor)
        for goal, part in zip(goals, parts, strict=True):
            target = part.problem.movement.target
            ceiling[target], floor[target] = goal.ceiling[target], goal.floor[target]
    smallest = min(goal.smallest for goal in goals)
    return BalancedGoal(goals[0].goal, replace(largest, lower_bound=bound), smallest, ceiling, floor)


def _excess(parts: Sequence[Excess | None]) -> Excess | None:
    """The excess of all parts; a limit of one broker is a limit of one part."""
    some = [each for each in parts if each is not None]
    if not some:
        return None
    hard, soft = (
        replace(
            getattr(some[0], name),
            value=sum(getattr(each, name).value for each in some),
            lower_bound=sum(getattr(each, name).lower_bound for each in some),
        )
        for name in ("hard", "soft")
    )
    above = np.sum([each.above for each in some], axis=0)
    return Excess(above, hard, soft, tuple(conflict for each in some for conflict in each.conflicts))
