"""Parts of a problem that share neither partitions nor brokers: each is placed on its own, with its own proof.

A part is a broker set with its topics, or the other brokers with the other topics; without broker sets the whole
problem is one part. If every partition is on the brokers of one part alone, the least movement of the whole is the sum
of those of the parts, and so is the lower bound. Each part has its own band.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from math import ceil, floor
from typing import TypeAlias

import numpy as np

from app.core.certificate import Certificate
from app.core.model import NO_REPLICA, Bools, Int64s
from app.core.reassignment.model import MovementProblem, ReplicaPlacement
from app.core.reassignment.resource_problem import (
    NO_LIMIT,
    RESOURCES,
    TOPIC_REPLICAS,
    BalancedGoal,
    Excess,
    ResourcePlacement,
    ResourceProblem,
)
from app.core.reassignment.solvers.flow.destinations import TieBreaks
from app.core.reassignment.solvers.flow.per_topic import TopicBalance

Pinned: TypeAlias = tuple[Int64s, ReplicaPlacement]
"""Rows and their placement."""


@dataclass(frozen=True, slots=True, eq=False)
class Share:
    """The partitions and brokers of a part.

    Parameters
    ----------
    name : of the broker set; None outside every set. rows : (part,) int64, ascending.
    brokers : (brokers,) bool, the brokers of the set. target : those whose loads are balanced; with `keep`, those that
        receive what has to move. floor_cap : (brokers,) int64 or None, as of `MovementProblem`.
    """

    name: str | None
    rows: Int64s = field(repr=False)
    brokers: Bools = field(repr=False)
    target: Bools = field(repr=False)
    floor_cap: Int64s | None = field(repr=False)


def balanced(
    loads: Int64s, stays: Bools, may_receive: Bools, weight: Int64s, below: Fraction, reach: Int64s | None = None
) -> Bools:
    """(brokers,) bool, brokers whose loads are balanced: those that may receive, and those that may only give and
    reach the lower end of the tolerance in whole loads, and one at least. Nothing can fill the others.

    Parameters
    ----------
    loads : (brokers,) int64 before the change. stays : (brokers,) bool, the brokers that may share them.
    weight : (brokers,) int64 shares of the mean. below : the tolerance below the mean.
    reach : (brokers,) int64 the largest load without a further replica; None is `loads`.
    """
    gives, shares_load = np.flatnonzero(stays & ~may_receive), stays.copy()
    reach = loads if reach is None else reach
    while True:
        shared = int(loads.sum() - loads[stays & ~shares_load].sum())
        mean = Fraction(shared, max(1, int(weight[shares_load].sum())))
        shares = [int(each) * mean for each in weight[gives]]
        floors = np.array([max(1, min(floor(each), ceil(each * (1 - below)))) for each in shares], np.int64)
        filled = gives[reach[gives] < floors]
        if not shares_load[filled].any():
            return shares_load
        shares_load[filled] = False


@dataclass(frozen=True, slots=True, eq=False)
class ProblemPart:
    """A part of a problem. movement, ties, topics : as of the whole problem, of the rows of the share."""

    share: Share
    movement: MovementProblem
    ties: TieBreaks
    topics: TopicBalance | None

    @property
    def rows(self) -> Int64s:
        """(part,) int64 rows of the whole problem."""
        return self.share.rows


def parts_of(
    shares: Sequence[Share], movement: MovementProblem, ties: TieBreaks, topics: TopicBalance | None
) -> tuple[ProblemPart, ...]:
    """The part of each share."""
    if len(shares) == 1:
        return (ProblemPart(shares[0], movement, ties, topics),)
    return tuple(
        ProblemPart(
            share,
            replace(part_of(movement, share.rows, share.target), floor_cap=share.floor_cap),
            replace(ties, size_bytes=ties.size_bytes[share.rows], topic_of=ties.topic_of[share.rows]),
            None if topics is None else _topics_of(topics, share.rows),
        )
        for share in shares
    )


def _topics_of(topics: TopicBalance, rows: Int64s) -> TopicBalance:
    used, topic_of = np.unique(topics.topic_of[rows], return_inverse=True)
    return replace(
        topics,
        topic_of=topic_of.reshape(-1).astype(np.int64),
        topics=len(used),
        tolerance=tuple(topics.tolerance[topic] for topic in used.tolist()),
    )


def part_of(problem: MovementProblem, rows: Int64s, target: Bools) -> MovementProblem:
    """The problem of some rows, balanced among these brokers; the other rows have nothing there.

    Parameters
    ----------
    rows : (part,) int64, ascending. target : (brokers,) bool.
    """
    used, domain_of = np.unique(problem.domain_of[rows], return_inverse=True)
    return MovementProblem(
        broker_ids=problem.broker_ids,
        rack_of=problem.rack_of,
        target=target,
        base=problem.base,
        domains=tuple(problem.domains[domain] for domain in used.tolist()),
        domain_of=domain_of.reshape(-1).astype(np.int32),
        current=problem.current[rows],
        is_copied=problem.is_copied[rows],
        must_keep=problem.must_keep[rows],
        weight=problem.weight[rows],
        share=problem.share,
        in_sync=None if problem.in_sync is None else problem.in_sync[rows],
    )


def joined(parts: Sequence[Pinned]) -> ReplicaPlacement:
    """One placement of all parts, which have all rows; without a band, since each part has its own.

    Parameters
    ----------
    parts : the rows of each, and their placement. One part is returned as it is.
    """
    if len(parts) == 1:
        return parts[0][1]
    count = sum(len(rows) for rows, _ in parts)
    width = max((placement.replicas.shape[1] for _, placement in parts), default=0)
    replicas = np.full((count, width), NO_REPLICA, np.int32)
    for rows, placement in parts:
        replicas[rows, : placement.replicas.shape[1]] = placement.replicas
    excesses = [placement.topic_excess for _, placement in parts if placement.topic_excess is not None]
    return ReplicaPlacement(
        replicas, None, summed([placement.certificate for _, placement in parts]), sum(excesses) if excesses else None
    )


def summed(certificates: Sequence[Certificate[int]]) -> Certificate[int]:
    """The certificate of the sum of values that do not depend on each other."""
    constraints = tuple(dict.fromkeys(words for each in certificates for words in each.constraints))
    return Certificate(
        certificates[0].minimised,
        sum(each.value for each in certificates),
        sum(each.lower_bound for each in certificates),
        certificates[0].solver,
        constraints,
    )


@dataclass(frozen=True, slots=True, eq=False)
class PlacedPart:
    """A part, and the placement that answers it. rows : (part,) int64 of the whole problem."""

    rows: Int64s
    problem: ResourceProblem
    placement: ResourcePlacement


def part_of_resources(problem: ResourceProblem, rows: Int64s, target: Bools, inside: Bools) -> ResourceProblem:
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


def joined_resources(problem: ResourceProblem, parts: Sequence[PlacedPart], fixed: Pinned | None) -> ResourcePlacement:
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
            target = part.problem.targets[:, RESOURCES.index(goal.goal.name)]
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
