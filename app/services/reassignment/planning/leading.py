"""Choose the leaders of replica lists, and which of the request's constraints on them cannot hold."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from app.core.model import NO_REPLICA, Int32s
from app.core.reassignment import (
    BrokerBounds,
    LeaderMinimums,
    LeaderProblem,
    LeaderTopics,
    attainable_minimums,
    choose_leaders,
    topic_bands,
)
from app.core.replica_lists import not_among, per_broker, sums_by, with_leader_first
from app.errors.reassignments import NotFeasible
from app.services.reassignment.planning.movement import changes_replicas
from app.services.reassignment.planning.resources import ResourceSolution
from app.services.reassignment.planning.solution import LeaderSolution, LedPart
from app.services.reassignment.problem.brokers import Bools
from app.services.reassignment.problem.conflicts import MINIMUMS
from app.services.reassignment.problem.domains import Relaxation
from app.services.reassignment.problem.parts import ProblemPart
from app.services.reassignment.problem.problem import ReassignmentProblem


def lead(
    problem: ReassignmentProblem, replicas: Int32s, bounds: Sequence[BrokerBounds] = ()
) -> tuple[LeaderSolution, list[Relaxation]]:
    """Choose the leaders of (rows, widest) int32 positions.

    Parameters
    ----------
    bounds : of each part, those that replicas moved for; without any they are those of the balance.

    Raises
    ------
    NotFeasible : no broker may lead a partition, or a topic cannot have its minimum on every broker; unless relaxed.
    """
    lists = _with_pins(problem, replicas)
    is_free = np.ones(len(lists), np.bool_)
    is_free[list(problem.pins)] = False
    relaxed = _require_leaders(problem, lists)
    after, parts = lists.copy(), []
    of_parts: Sequence[BrokerBounds | None] = bounds if bounds else [None] * len(problem.parts)
    for part, within in zip(problem.parts, of_parts, strict=True):
        free = np.zeros_like(is_free)
        free[part.rows] = is_free[part.rows]
        of_part = _of_part(problem, part, _leading_on(problem, _leader_problem(problem, lists, free, ~is_free), free))
        leaders_problem, more = _with_minimums(problem, of_part, part, lists[:, 0], free)
        leaders_problem = _with_topics(problem, leaders_problem, part, lists[:, 0], free)
        choice = choose_leaders(leaders_problem, problem.leaders.balance, within=within)
        after[free] = with_leader_first(lists[free], choice.leaders)
        parts.append(LedPart(leaders_problem, choice))
        relaxed += more
    return LeaderSolution(tuple(parts), after), relaxed


def _of_part(problem: ReassignmentProblem, part: ProblemPart, leaders: LeaderProblem) -> LeaderProblem:
    """The leaders of a part's free partitions, balanced among the brokers of the part alone."""
    objective, inside = problem.leaders, part.share.brokers & problem.leaders.may_lead
    if objective.balance.tolerance is None:
        return replace(leaders, target=part.movement.target & inside)
    stays = inside & ~problem.brokers.is_removed & ~problem.brokers.is_offline
    # A broker that may not receive can lead the replicas that it has; without any, it would lower the floor to 0.
    can_lead = per_broker(np.where(leaders.candidates(), leaders.replicas, NO_REPLICA), len(inside)) + leaders.base > 0
    return replace(leaders, target=stays & (problem.brokers.may_receive | can_lead))


def _leading_on(problem: ReassignmentProblem, leaders: LeaderProblem, is_free: Bools) -> LeaderProblem:
    """With `keep`, the replica that has to stay leads a partition whose preferred leader is out of sync."""
    if problem.leaders.balance.tolerance is not None or leaders.is_ready is None:
        return leaders
    may = leaders.candidates()
    leads_on = may & (leaders.replicas == problem.movement.must_keep[is_free, None])
    leads_on &= ~np.asarray((may & (leaders.replicas == leaders.leader[:, None])).any(axis=1))[:, None]
    return replace(leaders, is_ready=np.where(leads_on.any(axis=1)[:, None], leads_on, leaders.is_ready))


def leaders_with_resources(problem: ReassignmentProblem, resources: ResourceSolution) -> LeaderSolution:
    """The leaders of a placement over resources, as those of leaders alone are stated."""
    lists = resources.lists
    leaders_problem = _leader_problem(problem, lists, resources.free, ~resources.free)
    return LeaderSolution((LedPart(leaders_problem, resources.choice(leaders_problem)),), lists)


def current_leaders(problem: ReassignmentProblem) -> Int32s:
    """(rows,) int32 first broker of each list now, or its successor if it is replaced, which then is no change."""
    leaders = np.append(problem.brokers.successor_of, np.int32(NO_REPLICA))[problem.before[:, 0]]
    return np.asarray(leaders, np.int32)


def _leader_problem(problem: ReassignmentProblem, lists: Int32s, is_free: Bools, is_pinned: Bools) -> LeaderProblem:
    """The leaders of the free rows of (rows, widest) int32 positions."""
    objective, preferred = problem.leaders, problem.leaders.preferred
    # A pinned partition is led by the first broker of its pin, whatever the others do.
    pinned = is_pinned & (lists[:, 0] != NO_REPLICA)
    fixed = objective.base_load + sums_by(lists[pinned, 0], objective.load[pinned], len(objective.base_load))
    free, before, leader = lists[is_free], problem.before[is_free], current_leaders(problem)[is_free]
    is_new, is_ready = not_among(free, before), problem.ready(lists)[is_free]
    if objective.balance.tolerance is None:
        # Fenced and offline leaders of lists that stay as they are come back.
        is_ready |= (free == leader[:, None]) & ~changes_replicas(problem, lists)[is_free, None]
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


def _with_pins(problem: ReassignmentProblem, replicas: Int32s) -> Int32s:
    """The lists, those of pinned partitions in the order of their pins."""
    # Without any partition there is no column either, and each list has a first place.
    lists = replicas.copy() if replicas.shape[1] else np.full((len(replicas), 1), NO_REPLICA, np.int32)
    for row, order in problem.pins.items():
        lists[row] = NO_REPLICA
        lists[row, : len(order)] = order
    return lists


def _require_leaders(problem: ReassignmentProblem, lists: Int32s) -> list[Relaxation]:
    """Raise `NotFeasible` if leaders are evacuated from every replica of a partition, unless that is relaxed."""
    if not problem.leaders.evacuates:
        return []
    can_lead = np.append(problem.leaders.may_lead | problem.brokers.is_offline, False)[lists].any(axis=1)
    stuck = np.flatnonzero(~can_lead & (lists[:, 0] != NO_REPLICA))
    if not len(stuck):
        return []
    named = ", ".join(problem.scope.name(row) for row in stuck[:20].tolist())
    detail = f"{len(stuck)} partitions have no replica on a broker that may lead: {named}"
    if problem.relaxes:
        return [Relaxation("evacuate_leaders", f"{detail}; one of their replicas leads all the same")]
    raise NotFeasible(
        detail,
        path=("evacuate_leaders",),
        lifted_by=["fewer brokers or racks in evacuate_leaders", "a larger replication factor of these topics"],
        count=len(stuck),
    )


def _bands_of_topics(
    problem: ReassignmentProblem, target: Bools, part: ProblemPart, first: Int32s, is_free: Bools
) -> LeaderTopics | None:
    """The bands of the topics of the part's free rows on target brokers, where pinned partitions are led by `first`.

    None if the request balances the leaders of no topic.
    """
    topics = problem.topic_leaders
    if topics is None:
        return None
    brokers, of_part = len(target), np.zeros_like(is_free)
    of_part[part.rows] = True
    is_led = of_part & (first != NO_REPLICA)
    pinned = is_led & ~is_free
    cells = topics.topic_of[pinned] * brokers + first[pinned]
    low, high = topic_bands(
        np.bincount(topics.topic_of[is_led], minlength=topics.topics),
        topics.tolerance,
        target,
        np.bincount(cells, minlength=topics.topics * brokers).reshape(topics.topics, brokers),
        problem.weights_of_leaders,
    )
    has_band = np.array([tolerance is not None for tolerance in topics.tolerance], np.bool_)
    index = np.where(has_band, np.arange(topics.topics), -1)
    return LeaderTopics(index[topics.topic_of[is_free]], low, high)


def _with_topics(
    problem: ReassignmentProblem, leaders: LeaderProblem, part: ProblemPart, first: Int32s, is_free: Bools
) -> LeaderProblem:
    bands = _bands_of_topics(problem, leaders.target, part, first, is_free)
    return leaders if bands is None else replace(leaders, topics=bands)


def _with_minimums(
    problem: ReassignmentProblem, leaders: LeaderProblem, part: ProblemPart, first: Int32s, is_free: Bools
) -> tuple[LeaderProblem, list[Relaxation]]:
    """The problem with the minimums of the part's topics that pinned partitions, led by `first`, leave to the others.

    Raises `NotFeasible` if they cannot all hold, unless they are relaxed to what can.
    """
    stated = problem.leaders.minimums
    if stated is None:
        return leaders, []
    # A topic of another broker set has no leader on the brokers of this one.
    is_here = np.isin(np.arange(len(stated.topics)), stated.topic_of[part.rows])
    least = (stated.least * is_here)[:, None] * (stated.brokers & part.share.brokers)
    every = LeaderMinimums(stated.topic_of, least)
    pinned = every.led(np.where(is_free, NO_REPLICA, first).astype(np.int32))
    minimums = LeaderMinimums(stated.topic_of[is_free], np.maximum(every.least - pinned, 0))
    attainable = attainable_minimums(leaders, minimums)
    short = minimums.least - attainable
    if not short.any():
        return replace(leaders, minimums=minimums), []
    detail = replace(stated, brokers=stated.brokers & part.share.brokers).lacking(short, problem.brokers)
    if not problem.relaxes:
        topic = int(np.flatnonzero(short.any(axis=1))[0])
        name = stated.topics[topic]
        raise NotFeasible(
            detail,
            path=(MINIMUMS, name),
            value=int(stated.least[topic]),
            limit=int(stated.least[topic] - short[topic].max()),
            lifted_by=[
                f"a smaller minimum of {name}",
                f"more partitions or a larger replication factor of {name}",
                f"replicas of {name} on these brokers, as by pins or a balance of replicas",
            ],
        )
    return replace(leaders, minimums=replace(minimums, least=attainable)), [Relaxation(MINIMUMS, detail)]
