"""Choose the leaders of replica lists, and which of the constraints on them cannot hold."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from app.core.certificate import Certificate
from app.core.model import NO_REPLICA, Bools, Int32s, Int64s
from app.core.reassignment.model import TIGHT, Balance, Band, BrokerBounds
from app.core.reassignment.parts import ProblemPart, summed
from app.core.reassignment.problem import EvacuationConflict, Infeasible, MinimumsConflict, Problem
from app.core.reassignment.solvers.leaders.choosing import by_count, choose_leaders
from app.core.reassignment.solvers.leaders.per_topic import topic_bands
from app.core.reassignment.solvers.leaders.problem import LeaderChoice, LeaderProblem, LeaderTopics, change_costs
from app.core.reassignment.solvers.leaders.shares import Shares, attainable_minimums
from app.core.reassignment.stages.placing import PlacedReplicas, place
from app.core.reassignment.stages.resources import ResourceSolution
from app.core.replica_lists import not_among, per_broker, per_group, sums_by, with_leader_first


def spread_topic(
    problem: LeaderProblem, rows: Int64s, is_ready: Bools, base: Int64s
) -> tuple[LeaderProblem, LeaderChoice]:
    """Choose the leaders of a topic in the narrowest feasible band with the fewest changes.

    The band is of the brokers with a replica that may lead: they differ by one leader at most unless their replicas
    permit no such choice.

    Parameters
    ----------
    rows : (topic,) int64 partitions of the topic. is_ready : (topic, width) bool, replicas that Kafka can elect.
    base : (brokers,) int64 leaders of pinned partitions of the topic.
    """
    alone = replace(
        problem.part(rows, problem.leader), base=base, weight=np.ones(len(rows), np.int64), is_ready=is_ready
    )
    eligible = per_broker(np.where(alone.candidates(), alone.replicas, NO_REPLICA), len(base)) > 0
    alone = replace(alone, target=eligible & problem.may_lead, minimums=None, topics=None)
    return alone, by_count(alone, TIGHT)


def largest_bound(problem: LeaderProblem) -> int:
    """A lower bound on the most leaders of a broker that is balanced, whoever leads the partitions of spread topics."""
    alone = replace(problem, minimums=None)
    return Shares.of_part(alone, change_costs(alone)).without_costs().narrow_high()


@dataclass(frozen=True, slots=True, eq=False)
class LedPart:
    """The leaders of the partitions of a part that are not pinned, with their lower bound."""

    problem: LeaderProblem
    choice: LeaderChoice


@dataclass(frozen=True, slots=True, eq=False)
class LeaderSolution:
    """Replica lists with their preferred leaders first.

    Parameters
    ----------
    parts : of each part of the problem, without spread topics; one of all if leaders are placed together with replicas.
    after : (rows, widest) int32 positions, padded at the end.
    spread : by index of the topic, its leaders in each part that has any.
    largest_bounds : of each part, a lower bound on the largest load of a broker.
    """

    parts: tuple[LedPart, ...]
    after: Int32s = field(repr=False)
    largest_bounds: tuple[int, ...]
    spread: tuple[tuple[int, LedPart], ...] = ()

    @property
    def band(self) -> Band | None:
        """The band of leaders; None with several parts, each of which has its own."""
        return self.parts[0].choice.band if len(self.parts) == 1 else None

    @property
    def changes(self) -> Certificate[int]:
        """The leader changes of all parts."""
        certificates = [part.choice.certificate for part in (*self.parts, *(led for _, led in self.spread))]
        return certificates[0] if len(certificates) == 1 else summed(certificates)

    @property
    def topic_excess(self) -> int | None:
        """By how many leaders topics are outside their bands; None if they have none."""
        excess = [part.choice.topic_excess for part in self.parts if part.choice.topic_excess is not None]
        return sum(excess) if excess else None

    @property
    def largest_bound(self) -> int:
        """A lower bound on the largest load of a broker."""
        return max(self.largest_bounds)


def place_and_lead(problem: Problem) -> tuple[PlacedReplicas, LeaderSolution, list[Infeasible]]:
    """Place replicas by count, bytes or throughput, then choose their leaders. Raises as `place` and `lead` do."""
    placed = place(problem)
    leaders, conflicts = lead(problem, placed.whole.replicas, placed.leaders)
    return placed, leaders, [*placed.conflicts, *conflicts]


def lead(
    problem: Problem, replicas: Int32s, bounds: Sequence[BrokerBounds] = ()
) -> tuple[LeaderSolution, list[Infeasible]]:
    """Choose the leaders of (rows, widest) int32 positions.

    Parameters
    ----------
    bounds : of each part, those that replicas moved for; without any they are those of the balance.

    Raises
    ------
    EvacuationConflict, MinimumsConflict : unless the problem relaxes them.
    """
    lists = _with_pins(problem, replicas)
    is_free = np.ones(len(lists), np.bool_)
    is_free[list(problem.pins)] = False
    relaxed = _require_leaders(problem, lists)
    after, parts, largest, spread = lists.copy(), list[LedPart](), list[int](), list[tuple[int, LedPart]]()
    of_parts: Sequence[BrokerBounds | None] = bounds if bounds else [None] * len(problem.parts)
    for part, within in zip(problem.parts, of_parts, strict=True):
        free = np.zeros_like(is_free)
        free[part.rows] = is_free[part.rows]
        of_part = _of_part(problem, part, _leading_on(problem, _leader_problem(problem, lists, free, ~is_free), free))
        leaders_problem, more = _with_minimums(problem, of_part, part, lists[:, 0], free)
        leaders_problem = _with_topics(problem, leaders_problem, part, lists[:, 0], free)
        topics = [] if within else list(_spread_topics(problem, leaders_problem, part, lists, free))
        if topics:
            chosen, led = _beside(leaders_problem, [(rows, each) for _, rows, each in topics], problem.leaders.balance)
            bound = largest_bound(leaders_problem)
        else:
            led = LedPart(leaders_problem, choose_leaders(leaders_problem, problem.leaders.balance, within=within))
            chosen, bound = led.choice.leaders, led.choice.largest.lower_bound
        after[free] = with_leader_first(lists[free], chosen)
        parts.append(led)
        largest.append(bound)
        spread += [(topic, each) for topic, _, each in topics]
        relaxed += more
    return LeaderSolution(tuple(parts), after, tuple(largest), tuple(spread)), relaxed


def _spread_topics(
    problem: Problem, leaders: LeaderProblem, part: ProblemPart, lists: Int32s, is_free: Bools
) -> Iterator[tuple[int, Int64s, LedPart]]:
    """Each topic of the part whose leaders are spread: its index, its rows among the free ones, and its leaders."""
    topic_of = problem.leaders.spread
    if topic_of is None:
        return
    of_free, of_part = topic_of[is_free], topic_of[part.rows]
    is_ready = problem.ready(lists)[is_free]
    for topic in np.unique(of_free[of_free >= 0]).tolist():
        rows = np.flatnonzero(of_free == topic)
        pinned = part.rows[(of_part == topic) & ~is_free[part.rows]]
        base = per_broker(lists[pinned, :1], len(leaders.base))
        yield topic, rows, LedPart(*spread_topic(leaders, rows, is_ready[rows], base))


def _beside(
    leaders: LeaderProblem, spread: Sequence[tuple[Int64s, LedPart]], balance: Balance
) -> tuple[Int32s, LedPart]:
    """(rows,) int32 leaders of all partitions, and those of the others beside topics that are spread."""
    chosen = leaders.leader.copy()
    for rows, led in spread:
        chosen[rows] = led.choice.leaders
    others = np.setdiff1d(np.arange(len(chosen)), np.concatenate([rows for rows, _ in spread]))
    rest = leaders.part(others, chosen)
    choice = choose_leaders(rest, balance)
    chosen[others] = choice.leaders
    return chosen, LedPart(rest, choice)


def _of_part(problem: Problem, part: ProblemPart, leaders: LeaderProblem) -> LeaderProblem:
    """The leaders of a part's free partitions, balanced among the brokers of the part alone."""
    objective, inside = problem.leaders, part.share.brokers & problem.leaders.may_lead
    if objective.balance.tolerance is None:
        return replace(leaders, target=part.movement.target & inside)
    stays = inside & ~problem.is_removed & ~problem.is_offline
    # A broker that may not receive can lead the replicas that it has; without any, it would lower the floor to 0.
    can_lead = per_broker(np.where(leaders.candidates(), leaders.replicas, NO_REPLICA), len(inside)) + leaders.base > 0
    return replace(leaders, target=stays & (problem.may_receive | can_lead))


def _leading_on(problem: Problem, leaders: LeaderProblem, is_free: Bools) -> LeaderProblem:
    """With `keep`, the replica that has to stay leads a partition whose preferred leader is out of sync."""
    if problem.leaders.balance.tolerance is not None or leaders.is_ready is None:
        return leaders
    may = leaders.candidates()
    leads_on = may & (leaders.replicas == problem.movement.must_keep[is_free, None])
    leads_on &= ~np.asarray((may & (leaders.replicas == leaders.leader[:, None])).any(axis=1))[:, None]
    return replace(leaders, is_ready=np.where(leads_on.any(axis=1)[:, None], leads_on, leaders.is_ready))


def leaders_with_resources(problem: Problem, resources: ResourceSolution) -> LeaderSolution:
    """The leaders of a placement over resources, as those of leaders alone are stated."""
    lists = resources.lists
    leaders_problem = _leader_problem(problem, lists, resources.free, ~resources.free)
    choice = resources.choice(leaders_problem)
    return LeaderSolution((LedPart(leaders_problem, choice),), lists, (choice.largest.lower_bound,))


def _leader_problem(problem: Problem, lists: Int32s, is_free: Bools, is_pinned: Bools) -> LeaderProblem:
    """The leaders of the free rows of (rows, widest) int32 positions."""
    objective, preferred = problem.leaders, problem.leaders.preferred
    # A pinned partition is led by the first broker of its pin, whatever the others do.
    pinned = is_pinned & (lists[:, 0] != NO_REPLICA)
    fixed = objective.base_load + sums_by(lists[pinned, 0], objective.load[pinned], len(objective.base_load))
    free, before, leader = lists[is_free], problem.before[is_free], problem.current_leaders()[is_free]
    is_new, is_ready = not_among(free, before), problem.ready(lists)[is_free]
    if objective.balance.tolerance is None:
        # Fenced and offline leaders of lists that stay as they are come back.
        is_ready |= (free == leader[:, None]) & ~problem.changes_replicas(lists)[is_free, None]
    return LeaderProblem(
        replicas=free,
        leader=leader,
        may_change=np.logical_and(is_new.any(axis=1), objective.frees_moved),
        may_lead=objective.may_lead,
        is_new=is_new,
        target=problem.movement.target & objective.may_lead,
        base=fixed,
        weight=objective.load[is_free],
        rank=None if preferred is None else preferred.of_replicas(free, np.flatnonzero(is_free)),
        share=problem.weights_of_leaders,
        is_ready=is_ready,
    )


def _with_pins(problem: Problem, replicas: Int32s) -> Int32s:
    """The lists, those of pinned partitions in the order of their pins."""
    # Without any partition there is no column either, and each list has a first place.
    lists = replicas.copy() if replicas.shape[1] else np.full((len(replicas), 1), NO_REPLICA, np.int32)
    for row, order in problem.pins.items():
        lists[row] = NO_REPLICA
        lists[row, : len(order)] = order
    return lists


def _require_leaders(problem: Problem, lists: Int32s) -> list[Infeasible]:
    """Raise `EvacuationConflict` if leaders are evacuated from every replica of a partition, unless that is relaxed."""
    if not problem.leaders.evacuates:
        return []
    can_lead = np.append(problem.leaders.may_lead | problem.is_offline, False)[lists].any(axis=1)
    stuck = np.flatnonzero(~can_lead & (lists[:, 0] != NO_REPLICA))
    return [problem.relax(EvacuationConflict(stuck))] if len(stuck) else []


def _with_topics(
    problem: Problem, leaders: LeaderProblem, part: ProblemPart, first: Int32s, is_free: Bools
) -> LeaderProblem:
    """The problem with the bands of the topics of the part's free rows, where pinned partitions are led by `first`.

    As it is if the leaders of no topic are balanced.
    """
    topics = problem.topic_leaders
    if topics is None:
        return leaders
    of_part = np.zeros_like(is_free)
    of_part[part.rows] = True
    is_led = of_part & (first != NO_REPLICA)
    pinned = is_led & ~is_free
    low, high = topic_bands(
        np.bincount(topics.topic_of[is_led], minlength=topics.topics),
        topics.tolerance,
        leaders.target,
        per_group(topics.topic_of[pinned], first[pinned, None], topics.topics, len(leaders.target)),
        problem.weights_of_leaders,
    )
    has_band = np.array([tolerance is not None for tolerance in topics.tolerance], np.bool_)
    index = np.where(has_band, np.arange(topics.topics), -1)
    return replace(leaders, topics=LeaderTopics(index[topics.topic_of[is_free]], low, high))


def _with_minimums(
    problem: Problem, leaders: LeaderProblem, part: ProblemPart, first: Int32s, is_free: Bools
) -> tuple[LeaderProblem, list[Infeasible]]:
    """The problem with the minimums of the part's topics that pinned partitions, led by `first`, leave to the others.

    Raises `MinimumsConflict` if they cannot all hold, unless they are relaxed to what can.
    """
    stated = problem.leaders.minimums
    if stated is None:
        return leaders, []
    # A topic of another broker set has no leader on the brokers of this one.
    is_here = np.isin(np.arange(len(stated.least)), stated.topic_of[part.rows])
    least = (stated.least * is_here)[:, None] * (stated.brokers & part.share.brokers)
    every = LeaderTopics.minimums(stated.topic_of, least)
    pinned = every.led(np.where(is_free, NO_REPLICA, first).astype(np.int32))
    minimums = LeaderTopics.minimums(stated.topic_of[is_free], np.maximum(every.low - pinned, 0))
    attainable = attainable_minimums(leaders, minimums)
    short = minimums.low - attainable
    if not short.any():
        return replace(leaders, minimums=minimums), []
    conflict = problem.relax(MinimumsConflict(short, stated.brokers & part.share.brokers))
    return replace(leaders, minimums=replace(minimums, low=attainable)), [conflict]
