"""Violations of an answer over several resources; it shares the evaluation of loads with the solvers, and no more."""

from fractions import Fraction

import numpy as np

from app.core.model import NO_LEADER, NO_REPLICA
from app.core.reassignment.model import ReplicaPlacement
from app.core.reassignment.resources.evaluation import loads_of
from app.core.reassignment.resources.model import (
    NO_LIMIT,
    RESOURCES,
    TOPIC_REPLICAS,
    BalancedGoal,
    ResourcePlacement,
    ResourceProblem,
)
from app.core.reassignment.verifier import NAMED, placement_violations
from app.core.replica_lists import not_among


def resource_violations(problem: ResourceProblem, answer: ResourcePlacement) -> list[str]:
    """List every constraint that an answer violates and every figure that it states wrongly.

    Checked are: the constraints of each replica list and the moved weight (`placement_violations`); leaders are
    replicas that may lead; loads, the load above limits and leader changes are as stated; target brokers are within
    the ceilings and floors of the goals; and no lower bound is above its value.

    Returns
    -------
    Sentences; empty if the answer is right. At most `NAMED` brokers for each resource.
    """
    movement = problem.movement
    replicas, leaders = answer.replicas, answer.leaders
    violations = placement_violations(movement, ReplicaPlacement(replicas, None, answer.movement))
    rank = np.where(problem.may_lead[replicas], 0, 1) + np.where(not_among(replicas, problem.behind), 0, 2)
    rank = np.where(replicas == NO_REPLICA, 4, rank)
    may = rank == rank.min(axis=1, initial=4)[:, None]
    if barred := np.count_nonzero(~(may & (replicas == leaders[:, None])).any(axis=1)):
        violations.append(f"{barred} partitions are led by a broker that has no replica, or may not lead")
    loads = loads_of(problem.loads, movement.rack_of, replicas, leaders)
    if not np.array_equal(loads, answer.loads):
        violations.append("the loads are not those of the placement")
    for reached in answer.goals:
        violations += _of_goal(problem, answer, reached)
    return violations + _of_limits(problem, answer) + _of_changes(problem, answer)


def _of_goal(problem: ResourceProblem, answer: ResourcePlacement, reached: BalancedGoal) -> list[str]:
    name, violations = reached.goal.name, []
    if name == TOPIC_REPLICAS:
        return _of_topics(problem, answer, reached)
    load = answer.loads[:, RESOURCES.index(name)]
    outside = problem.movement.target & ((load > reached.ceiling) | (load < reached.floor))
    violations += [
        f"broker {problem.movement.broker_ids[broker]} has {load[broker]} of {name}, "
        f"not {reached.floor[broker]} to {reached.ceiling[broker]}"
        for broker in np.flatnonzero(outside)[:NAMED]
    ]
    if reached.largest.lower_bound > reached.largest.value:
        violations.append(f"the bound on the largest {name} is above what was reached")
    return violations


def _of_topics(problem: ResourceProblem, answer: ResourcePlacement, reached: BalancedGoal) -> list[str]:
    if problem.topic_of is None:
        return ["no topics were given"]
    counts = np.zeros((len(reached.ceiling), len(problem.movement.broker_ids)), np.int64)
    rows, columns = np.nonzero(answer.replicas != NO_REPLICA)
    np.add.at(counts, (problem.topic_of[rows], answer.replicas[rows, columns]), 1)
    above = counts[:, problem.movement.target] > reached.ceiling[:, None]
    return [
        f"topic {topic} has more replicas on a broker than stated" for topic in np.flatnonzero(above.any(1))[:NAMED]
    ]


def _of_limits(problem: ResourceProblem, answer: ResourcePlacement) -> list[str]:
    upper = problem.limits.upper
    above = np.where(upper < NO_LIMIT, np.maximum(answer.loads - upper, 0), 0)
    if answer.excess is None:
        return [f"{RESOURCES[at]} is above limits" for at in np.flatnonzero(above.any(axis=0))]
    violations = [] if np.array_equal(above, answer.excess.above) else ["the load above limits is not as stated"]
    for certificate, columns in (
        (answer.excess.hard, ~problem.limits.is_soft),
        (answer.excess.soft, problem.limits.is_soft),
    ):
        total = sum(
            (
                Fraction(int(above[at]), max(1, int(upper[at])))
                for at in zip(*np.nonzero(above), strict=True)
                if columns[at[1]]
            ),
            Fraction(0),
        )
        if total != certificate.value or certificate.lower_bound > certificate.value:
            violations.append(f"{certificate.minimised}: {certificate.value} said, {total} counted")
    if any(conflict.available >= conflict.required for conflict in answer.excess.conflicts):
        violations.append("limits that do not conflict are stated to")
    return violations


def _of_changes(problem: ResourceProblem, answer: ResourcePlacement) -> list[str]:
    changes = int(np.count_nonzero((problem.leader != NO_LEADER) & (answer.leaders != problem.leader)))
    stated = answer.movement.then
    if stated is None or stated.value != changes or stated.lower_bound > changes:
        return [f"{changes} leader changes counted, not {stated}"]
    return []
