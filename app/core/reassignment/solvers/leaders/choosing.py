"""Choose preferred leaders: by count, exactly, or by ingress.

By count, the goals are the narrowest band, then the fewest changes, then the fewest leaders on new replicas, each
reached exactly. A tolerance of the mean widens the narrowest band before changes are counted. With `keep` only forced
leaders change. The choice is then the fairest one: the smallest maximum, then the second largest count, and so on,
over all brokers, also those whose leaders are not balanced; then the fewest changes, then the fewest leaders on new
replicas. Leaders that `may_change` do so only if that makes the broker that leads most smaller: the goals then are the
smallest maximum over all brokers, the fewest changes, the largest minimum. All are flows between brokers (`shares`).

Choose preferred leaders by ingress, with a lower bound on the largest load.

Minimising the largest load over whole partitions is NP-hard. Two lower bounds are known: the optimum if
leadership may be split, by the same flow, rounded up; and the load of the heaviest partition on the best of its
candidates. From the present leaders the flow passes on what exceeds the goal, heavy partitions first, since those take
the fewest changes. Then each partition is led by the broker that leads most of it; moves and swaps with the heaviest
broker repair the rounding; and unnecessary changes are undone. The goal is the lower bound and a thousandth.
"""

from dataclasses import dataclass, replace

import numpy as np

from app.core.model import NO_LEADER, NO_REPLICA, Int32s, Int64s
from app.core.reassignment.model import KEEP, Balance, Band, BrokerBounds
from app.core.reassignment.solvers.flow.weighted import find_levels, summary
from app.core.reassignment.solvers.leaders import repair_kernel as kernel
from app.core.reassignment.solvers.leaders.per_topic import with_topics
from app.core.reassignment.solvers.leaders.problem import (
    BY_COUNT,
    BY_INGRESS,
    BY_TOPIC,
    NOT_A_CANDIDATE,
    LeaderChoice,
    LeaderMinimums,
    LeaderProblem,
    LeaderTopics,
    answer,
    bounds,
    change_costs,
    changes_bound,
    fewest_to_leave,
    forced_changes,
    only_candidates,
    priced_bound,
)
from app.core.reassignment.solvers.leaders.shares import MinimumNodes, Shares
from app.core.replica_lists import per_broker, sums_by
from app.errors.requests import LimitExceeded

INGRESS_TOLERANCE = 1000
"""Ingress is balanced to the reciprocal of this, relative to the lower bound: measured rates are no more precise."""


def by_ingress(problem: LeaderProblem, balance: Balance) -> LeaderChoice:
    """Choose the leaders of partitions of different weight."""
    costs, _ = change_costs(problem, keep=balance.tolerance is None)
    leaders, rows = only_candidates(problem, costs)
    rows = rows[np.argsort(-problem.weight[rows], kind="stable")]
    heavy, idle = np.split(rows, [np.count_nonzero(problem.weight[rows])])
    part = problem.part(heavy, leaders)
    largest_bound = _largest_bound(part, costs[heavy])
    goal = largest_bound + largest_bound // INGRESS_TOLERANCE
    if balance.tolerance is not None:
        goal = max(goal, problem.band(balance, Band(0, largest_bound)).high)
    leaders[heavy] = _spread(part, costs[heavy], goal)
    leaders[idle] = _by_number(problem, costs[idle], idle, leaders)
    loads = problem.loads(leaders)[problem.target]
    if balance.tolerance is None:
        bound = forced_changes(problem) + fewest_to_leave(problem, int(loads.max(initial=0)))
        return answer(problem, leaders, BY_INGRESS, None, bound, largest_bound)
    band = Band(int(loads.min(initial=goal)), max(goal, int(loads.max(initial=0))))
    bound = forced_changes(problem) + fewest_to_leave(problem, band.high)
    return answer(problem, leaders, BY_INGRESS, band, bound, largest_bound)


def _largest_bound(part: LeaderProblem, costs: Int32s) -> int:
    """A lower bound on the largest load of a target broker."""
    split = Shares.of_part(part, costs).without_costs().narrow_high()
    is_candidate, is_target = costs >= 0, part.target[part.replicas]
    alone = np.where(is_candidate, part.base[part.replicas] + part.weight[:, None], np.iinfo(np.int64).max)
    # A partition that a broker other than the targets may lead need not be in the load of a target.
    is_within_targets = (is_target | ~is_candidate).all(axis=1)
    at_best = alone[is_within_targets].min(axis=1, initial=np.iinfo(np.int64).max)
    return max(split, int(at_best.max(initial=0)))


def _spread(part: LeaderProblem, costs: Int32s, goal: int) -> Int32s:
    """(rows,) int32 leaders of partitions in descending order of weight."""
    start = Shares.of_part(part, costs)
    spread = start.without_costs()
    spread.cap(goal)
    columns = spread.columns()
    loads = part.loads(spread.leaders())
    led = kernel.Leadership(start.table, start.costs, part.weight, part.target, columns, loads)
    kernel.repair(led, goal)
    kernel.undo_changes(led, goal)
    chosen: Int32s = start.table[np.arange(len(columns)), columns] if len(columns) else part.leader
    return chosen


def _by_number(problem: LeaderProblem, costs: Int32s, idle: Int64s, leaders: Int32s) -> Int32s:
    """(len(idle),) int32 leaders of partitions without ingress, on the brokers that lead the fewest partitions."""
    numbers = per_broker(leaders[:, None], len(problem.base))
    return Shares.of(problem.replicas[idle], costs, np.ones(len(idle), np.int64), problem.target, numbers).leaders()


def weighted_bounds(problem: LeaderProblem, balance: Balance) -> BrokerBounds:
    """The narrowest feasible bounds of leaders by count in proportion to `share`, joined with a tolerance of the mean.

    Minimums of topics have to be attainable, and hold within the bounds.

    Complexity: O(log(rows) + log(brokers)) blocking flows between brokers.

    Raises
    ------
    ValueError : with `keep`, which has no band, or without shares.
    """
    if balance.tolerance is None or problem.share is None:
        raise ValueError("keep has no band, nor have leaders without shares one in proportion to them")
    candidates, target = problem.candidates(), problem.target
    # Not of a choice with few changes: any one will do.
    costs = np.where(candidates, 0, NOT_A_CANDIDATE).astype(np.int32)
    total = int(candidates.any(axis=1).sum()) + int(problem.base[target].sum())
    levels = find_levels(
        _Feasible(problem, costs),
        target,
        problem.share,
        total,
        is_within=bool(target[problem.replicas[candidates & (problem.replicas != NO_REPLICA)]].all()),
    )
    return levels.bounds(tolerance=balance.tolerance, below=balance.below)


class _Feasible:
    """Whether some choice of leaders is within bounds; each one starts from the flow of the one before."""

    def __init__(self, problem: LeaderProblem, costs: np.ndarray[tuple[int, ...], np.dtype[np.int32]]) -> None:
        self._problem, self._nodes = problem, None
        if problem.minimums is None:
            self._shares = Shares.of(problem.replicas, costs, problem.weight, problem.target, problem.base)
        else:
            self._nodes = MinimumNodes.of(problem, problem.minimums, costs)
            self._shares = self._nodes.shares
            self._shares.meet_exact()

    def __call__(self, within: BrokerBounds) -> bool:
        low, high = bounds(self._problem, within)
        if self._nodes is not None:
            low, high = self._nodes.bounds(low, high)
        return self._shares.reach(low, high)


LARGEST_SUM = 1 << 61
"""Weights are added exactly in 64 bits; the rest is headroom for rounding."""


def choose_leaders(problem: LeaderProblem, balance: Balance, *, within: BrokerBounds | None = None) -> LeaderChoice:
    """Choose a preferred leader of each partition.

    Hard constraints: it is one of the replicas, on a broker that may lead if there is one. Goals, in lexicographic
    order: minimums of topics, which have to be attainable; the balance; the least excess of topics outside their
    bands; the fewest changes; the fewest leaders on new replicas. All are reached exactly if every partition weighs 1;
    otherwise the certificates state the gaps. With `KEEP`, brokers outside the targets share the leaders; by how much
    the largest target could be below without that, the certificate of the largest states.

    The choice is a function of the input; which of several equally good ones it is, is arbitrary.

    Complexity: by count, blocking flows between brokers on the exchange graph, O(rows · width) each, of which there are
    few, and Dijkstra on a dense matrix of brokers for each price step.

    Parameters
    ----------
    problem : the partitions and their candidates.
    balance : `KEEP`, `TIGHT` or a tolerance.
    within : bounds of the leaders by count of each broker, `base` included, in place of those of the balance; some
        choice has to be within them.

    Raises
    ------
    LimitExceeded : if the sum of the weights exceeds 64 bits.

    Examples
    --------
    Broker 0 leads all four partitions; two leaders have to change.

    >>> import numpy as np
    >>> from app.core.reassignment import TIGHT, LeaderProblem, choose_leaders
    >>> problem = LeaderProblem(
    ...     replicas=np.array([[0, 1]] * 4, np.int32), leader=np.zeros(4, np.int32), may_change=np.zeros(4, bool),
    ...     may_lead=np.ones(2, bool), is_new=np.zeros((4, 2), bool), target=np.ones(2, bool),
    ...     base=np.zeros(2, np.int64), weight=np.ones(4, np.int64))
    >>> choice = choose_leaders(problem, TIGHT)
    >>> choice.band, choice.certificate.value, choice.certificate.optimal
    (Band(low=2, high=2), 2, True)
    """
    if within is not None:
        return within_bounds(problem, within)
    if problem.topics is not None:
        return within_topics(problem, problem.topics, balance)
    if (problem.weight == 1).all():
        return (
            by_count(problem, balance)
            if problem.minimums is None
            else with_minimums(problem, problem.minimums, balance)
        )
    total = problem.weight.sum(dtype=float) + problem.base.sum(dtype=float)
    if total > LARGEST_SUM:
        raise LimitExceeded(
            f"the partitions' ingress comes to {total:.3g} bytes/s; up to {LARGEST_SUM} can be added exactly",
            load=total,
            limit=LARGEST_SUM,
        )
    return by_ingress(problem, balance)


def by_count(problem: LeaderProblem, balance: Balance) -> LeaderChoice:
    """Choose the leaders of partitions that all weigh 1."""
    if balance.tolerance is None:
        return _kept(problem)
    if problem.share is not None:
        return within_bounds(problem, weighted_bounds(problem, balance))
    costs, _ = change_costs(problem)
    leaders, rows = only_candidates(problem, costs)
    part = problem.part(rows, leaders)
    tight = Shares.of_part(part, costs[rows]).without_costs().narrow()
    band = problem.band(balance, tight)
    leaders[rows], prices = _settled(part, costs[rows], band)
    bound = changes_bound(problem, *bounds(problem, band), prices)
    return answer(problem, leaders, BY_COUNT, band, bound, tight.high, prices)


def within_bounds(problem: LeaderProblem, within: BrokerBounds) -> LeaderChoice:
    """Choose the leaders of partitions that all weigh 1 with the fewest changes within feasible bounds."""
    costs, _ = change_costs(problem)
    leaders, rows = only_candidates(problem, costs)
    part = problem.part(rows, leaders)
    largest_bound = Shares.of_part(part, costs[rows]).without_costs().narrow_high()
    leaders[rows], prices = _settled(part, costs[rows], within)
    bound = changes_bound(problem, *bounds(problem, within), prices)
    choice = answer(problem, leaders, BY_COUNT, summary(problem.target, within), bound, largest_bound, prices)
    return replace(choice, bounds=within)


def _kept(problem: LeaderProblem) -> LeaderChoice:
    """Choose the leaders with `keep`; those that may change do if that makes the largest broker smaller."""
    choice = _fairest_of_forced(replace(problem, may_change=np.zeros_like(problem.may_change)))
    if not problem.may_change.any():
        return choice
    costs, _ = change_costs(problem, keep=True)
    leaders, rows = only_candidates(problem, costs)
    # Of all brokers: leaders that passed to one that is not balanced would make it the largest.
    every = replace(problem, target=np.ones_like(problem.target))
    part = every.part(rows, leaders)
    largest = Shares.of_part(part, costs[rows]).without_costs().narrow_high()
    narrowest = Shares.of_part(problem.part(rows, leaders), costs[rows]).without_costs().narrow()
    if problem.loads(choice.leaders).max(initial=0) == largest:
        return replace(choice, largest=replace(choice.largest, lower_bound=narrowest.high))
    highs = BrokerBounds.of(Band(0, largest), len(problem.base))
    settled, prices = _settled(part, costs[rows], highs)
    fewest = part.changes(settled)
    # The most of the smallest target that costs no further change. Every minimum up to the narrowest is feasible.
    low, high = 0, narrowest.low
    while low < high:
        middle = (low + high + 1) // 2
        raised, _ = _settled(part, costs[rows], replace(highs, low=np.where(problem.target, middle, 0)))
        if part.changes(raised) > fewest:
            high = middle - 1
        else:
            low, settled = middle, raised
    leaders[rows] = settled
    bound = changes_bound(every, *bounds(every, highs), prices, costs)
    return answer(problem, leaders, BY_COUNT, None, bound, narrowest.high, prices)


def _settled(part: LeaderProblem, costs: Int32s, band: Band | BrokerBounds) -> tuple[Int32s, Int64s]:
    """The leaders with the fewest changes within a feasible band, and the prices that prove it."""
    shares = Shares.of_part(part, costs)
    prices = shares.settle(*bounds(part, band))
    return shares.leaders(), prices


def _fairest_of_forced(problem: LeaderProblem) -> LeaderChoice:
    """Choose the fairest leaders of the partitions with a forced change or without a leader."""
    costs, _ = change_costs(problem, keep=True)
    leaders, rows = only_candidates(problem, costs)
    part = problem.part(rows, leaders)
    # Other brokers than the targets could lead more, and the largest target less: the bound allows for it.
    largest_bound = Shares.of_part(part, costs[rows]).without_costs().narrow_high()
    fairest = _fairest(part, costs[rows], Shares.of_part(part, costs[rows]).without_costs())
    prices = fairest.shares.settle(fairest.low - part.base, fairest.high - part.base)
    leaders[rows] = fairest.shares.leaders()
    costs[rows] = fairest.shares.costs
    bound = changes_bound(problem, fairest.low - problem.base, fairest.high - problem.base, prices, costs)
    return answer(problem, leaders, BY_COUNT, None, bound, largest_bound, prices)


def with_minimums(problem: LeaderProblem, minimums: LeaderMinimums, balance: Balance) -> LeaderChoice:
    """Choose the leaders of partitions that all weigh 1, with attainable minimums of topics.

    The minimums come first, then the balance, then the fewest changes. With `keep` the leaders of these topics are
    those with the fewest changes, and the others are chosen as without minimums.
    """
    if balance.tolerance is None:
        return _kept_with_minimums(problem, minimums)
    nodes = MinimumNodes.of(problem, minimums, change_costs(problem)[0])
    spread = nodes.shares.without_costs()
    spread.meet_exact()
    tight = spread.narrow()
    band, within = _band(problem, balance, tight)
    leaders, bound = _with_fewest_changes(problem, nodes, *bounds(problem, within or band))
    return replace(answer(problem, leaders, BY_COUNT, band, bound, tight.high), bounds=within)


def _band(problem: LeaderProblem, balance: Balance, tight: Band) -> tuple[Band, BrokerBounds | None]:
    """The band of a balance, given the narrowest one that is the same for all; and the bounds of each broker if they
    differ by its share.
    """
    if problem.share is None:
        return problem.band(balance, tight), None
    within = weighted_bounds(problem, balance)
    return summary(problem.target, within), within


def within_topics(problem: LeaderProblem, topics: LeaderTopics, balance: Balance) -> LeaderChoice:
    """Choose the leaders of partitions that all weigh 1, with bands of topics and attainable minimums.

    The minimums come first, then the band of the cluster, then the least excess of topics, then the fewest changes.

    Raises
    ------
    ValueError : with `keep`, which has no band, or if weights differ.
    """
    if not (problem.weight == 1).all():
        raise ValueError("bands of topics count leaders")
    costs, unit = change_costs(problem)
    if problem.minimums is None:
        tight = Shares.of_part(problem, costs).without_costs().narrow()
    else:
        spread = MinimumNodes.of(problem, problem.minimums, costs).shares.without_costs()
        spread.meet_exact()
        tight = spread.narrow()
    band, within = _band(problem, balance, tight)
    chosen = with_topics(problem, topics, costs, *bounds(problem, within or band))
    choice = answer(problem, chosen.leaders, BY_TOPIC, band, forced_changes(problem) + chosen.bound // unit, tight.high)
    return replace(choice, topic_excess=topics.excess(chosen.leaders), bounds=within)


def _kept_with_minimums(problem: LeaderProblem, minimums: LeaderMinimums) -> LeaderChoice:
    is_named = minimums.topic >= 0
    rows = np.flatnonzero(is_named)
    named = problem.part(rows, np.where(is_named, NO_LEADER, problem.leader).astype(np.int32))
    of_named = replace(minimums, topic=minimums.topic[rows])
    everything = np.full(len(problem.base), len(rows) + 1)
    nodes = MinimumNodes.of(named, of_named, change_costs(named)[0])
    leaders = problem.leader.copy()
    leaders[rows], bound = _with_fewest_changes(named, nodes, np.full(len(problem.base), -1), everything)
    others = replace(problem, leader=leaders, may_change=problem.may_change & ~is_named, minimums=None)
    choice = by_count(others, KEEP)
    open_costs, _ = change_costs(replace(problem, may_change=problem.may_change | is_named), keep=True)
    spread = MinimumNodes.of(problem, minimums, open_costs).shares.without_costs()
    spread.meet_exact()
    bound += choice.certificate.lower_bound
    return answer(problem, choice.leaders, BY_COUNT, None, bound, spread.narrow_high())


def _with_fewest_changes(problem: LeaderProblem, nodes: MinimumNodes, low: Int64s, high: Int64s) -> tuple[Int32s, int]:
    """The leaders with the fewest changes within bounds, which have to be feasible, and the bound on changes."""
    within = nodes.bounds(low, high)
    prices = nodes.shares.settle(*within)
    bound = priced_bound(problem, nodes.shares.table, nodes.costs, *within, prices)
    return nodes.leaders(), bound


@dataclass(frozen=True, slots=True, eq=False)
class _Fairest:
    """The fairest choices, as bounds.

    Parameters
    ----------
    shares : with the candidates that lead in some fairest choice alone, before the bounds hold.
    low, high : (brokers,) int64, what each broker leads in every fairest choice, `base` included.
    """

    shares: Shares
    low: Int64s
    high: Int64s


def _fairest(part: LeaderProblem, costs: Int32s, spread: Shares) -> _Fairest:
    """Find the fairest choices of a part, from shares without costs, which are changed.

    No leadership passes between the groups of `Shares.even_out` in any fairest choice, and within a group all loads are
    the mean, rounded up or down.
    """
    group = spread.even_out()
    leaders = spread.leaders()
    is_within = group[part.replicas] == group[leaders][:, None]
    loads = spread.loads() + part.base
    sizes = np.bincount(group)
    totals = sums_by(group, loads, len(sizes))
    within = np.where(is_within, costs, NOT_A_CANDIDATE).astype(np.int32)
    return _Fairest(Shares.of_part(part, within), (totals // sizes)[group], -(-totals // sizes)[group])
