"""A placement with what it reached: certificates of goals and movement, load above limits, conflicts."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction

import numpy as np

from app.core.certificate import Certificate
from app.core.model import NO_LEADER, Int32s, Int64s
from app.core.reassignment.bounds.sums import topic_ranges
from app.core.reassignment.resource_problem import (
    NO_LIMIT,
    RESOURCES,
    TOPIC_REPLICAS,
    BalancedGoal,
    Excess,
    Goal,
    ResourcePlacement,
    ResourceProblem,
    excess_of,
    largest_share,
    loads_of,
)
from app.core.reassignment.rules import LoadRules, moved_weight
from app.core.reassignment.solvers.exact.limit_model import ExcessProof
from app.core.reassignment.solvers.flow.places import in_order
from app.core.replica_lists import per_group

SOLVER = "local search and annealing over moves, swaps and leaders; bounds by Lagrangian duality"
EXACT_SOLVER = "integer models, one for each aim in order (CP-SAT)"
LEGAL = ("replicas on distinct brokers that may keep or receive them", "least and most replicas per rack")
WITHIN = (*LEGAL, "the limits and the bounds of goals that are reached")


@dataclass(frozen=True, slots=True, eq=False)
class GoalRange:
    """Ceiling and floor of a goal, and the bound on its largest share.

    Parameters
    ----------
    ceiling, floor : (brokers,) int64, or (topics,) for topics. bound : on the largest load over the ideal load.
    """

    goal: Goal
    ceiling: Int64s = field(repr=False)
    floor: Int64s = field(repr=False)
    bound: Fraction


def totals_of(problem: ResourceProblem) -> Int64s:
    """(resources,) int64: the load that brokers share.

    What stays on brokers that share none is in it as well, so that it does not depend on the placement.
    """
    loads, factors = problem.loads, problem.movement.factors
    total = loads.of_leader.sum(axis=0) + (loads.of_follower * (factors - 1)[:, None]).sum(axis=0)
    if loads.reads is not None:
        total = total + loads.reads.load.sum(axis=0)
    return np.asarray(total + (loads.base * problem.targets).sum(axis=0), np.int64)


def topic_counts(problem: ResourceProblem, at: Int32s) -> Int64s:
    """(topics, brokers) int64 replicas of each topic on each broker."""
    topic_of = problem.topic_of
    if topic_of is None:
        return np.zeros((0, len(problem.movement.broker_ids)), np.int64)
    return per_group(topic_of, at, int(topic_of.max(initial=-1)) + 1, len(problem.movement.broker_ids))


def topic_range(problem: ResourceProblem, goal: Goal, counts: Int64s) -> GoalRange:
    """What a goal of topics aims at, with (topics, brokers) int64 counts of a legal placement."""
    target = problem.movement.target
    fewest, bound = topic_ranges(problem, counts)
    mean = counts[:, target].sum(axis=1) / max(1, np.count_nonzero(target))
    high = np.maximum(fewest, np.floor(mean * float(1 + goal.tolerance)).astype(np.int64))
    low = np.ceil(mean * float(1 - goal.tolerance)).astype(np.int64) if goal.has_floor else np.zeros_like(high)
    return GoalRange(goal, np.maximum(high, 1), np.minimum(low, mean.astype(np.int64)), bound)


def answer(
    problem: ResourceProblem,
    rules: LoadRules,
    at: Int32s,
    *,
    ranges: Sequence[GoalRange],
    moved_bound: int,
    proof: ExcessProof,
    changes_bound: int | None = None,
) -> ResourcePlacement:
    """The answer for a placement, (rows, widest) int32 with the leader in column 0.

    Parameters
    ----------
    moved_bound : lower bound on the moved weight. proof : of the excess.
    changes_bound : lower bound on the leader changes if an integer model proved it; None is that of forced changes.
    """
    solver = SOLVER if changes_bound is None else EXACT_SOLVER
    if changes_bound is None:
        changes_bound = _forced_changes(problem, rules)
    leaders = at[:, 0].copy() if at.shape[1] else np.full(len(at), NO_LEADER, np.int32)
    loads = loads_of(problem.loads, problem.movement.rack_of, at, leaders)
    forced = _leader_changes(problem, leaders, changes_bound, solver)
    moved = moved_weight(rules, at)
    return ResourcePlacement(
        replicas=in_order(problem.movement, at),
        leaders=leaders,
        loads=loads,
        movement=Certificate("moved weight", moved, min(moved, moved_bound), solver, WITHIN, forced),
        goals=tuple(_reached(problem, at, loads, each) for each in ranges),
        excess=_excess(problem, loads, proof),
    )


def with_leaders(problem: ResourceProblem, placement: ResourcePlacement, leaders: Int32s) -> ResourcePlacement:
    """The same replicas with other leaders, which were chosen afterwards; no goal may depend on them.

    Parameters
    ----------
    leaders : (rows,) int32, one of the row's replicas that may lead.
    """
    loads = loads_of(problem.loads, problem.movement.rack_of, placement.replicas, leaders)
    then, excess = placement.movement.then, placement.excess
    proof = ExcessProof()
    if excess is not None:
        proof = ExcessProof(excess.conflicts, excess.hard.lower_bound, excess.soft.lower_bound)
    changes = _leader_changes(problem, leaders, 0 if then is None else int(then.lower_bound), SOLVER)
    movement = replace(placement.movement, then=changes)
    return replace(placement, leaders=leaders, loads=loads, movement=movement, excess=_excess(problem, loads, proof))


def _leader_changes(problem: ResourceProblem, leaders: Int32s, bound: int, solver: str) -> Certificate[int]:
    changes = int(np.count_nonzero((problem.leader != NO_LEADER) & (leaders != problem.leader)))
    return Certificate("leader changes", changes, min(changes, bound), solver, WITHIN)


def _forced_changes(problem: ResourceProblem, rules: LoadRules) -> int:
    """Partitions whose current leader may not keep its replica."""
    stays = (rules.current == problem.leader[:, None]).any(axis=1)
    return int(np.count_nonzero((problem.leader != NO_LEADER) & ~stays & (rules.factor[rules.domain_of] > 0)))


def _reached(problem: ResourceProblem, at: Int32s, loads: Int64s, of: GoalRange) -> BalancedGoal:
    if of.goal.name == TOPIC_REPLICAS:
        target = problem.movement.target
        counts = topic_counts(problem, at)[:, target]
        totals = np.maximum(counts.sum(axis=1), 1)
        brokers = max(1, int(np.count_nonzero(target)))
        ends = counts.max(axis=1, initial=0), counts.min(axis=1, initial=1 << 40)
        most, least = ([Fraction(int(n) * brokers, int(of)) for n, of in zip(end, totals, strict=True)] for end in ends)
        largest, smallest = max(most, default=Fraction(0)), min(least, default=Fraction(0))
    else:
        column = RESOURCES.index(of.goal.name)
        weight, total = problem.weights[:, column], int(totals_of(problem)[column])
        largest, smallest = largest_share(loads[:, column], weight, total)
    certificate = Certificate(
        f"largest {of.goal.name} over its ideal share", largest, min(largest, of.bound), SOLVER, LEGAL
    )
    return BalancedGoal(of.goal, certificate, smallest, of.ceiling, of.floor)


def _excess(problem: ResourceProblem, loads: Int64s, proof: ExcessProof) -> Excess | None:
    upper, is_soft = problem.limits.upper, problem.limits.is_soft
    above = np.where(upper < NO_LIMIT, np.maximum(loads - upper, 0), 0)
    if not above.any():
        return None
    certificates = []
    for what, bound, is_other in (("hard", proof.hard, is_soft), ("soft", proof.soft, ~is_soft)):
        total = excess_of(loads, np.where(is_other, NO_LIMIT, upper))
        certificates.append(Certificate(f"load above {what} limits", total, min(total, bound), SOLVER, LEGAL))
    return Excess(above, certificates[0], certificates[1], proof.conflicts)
