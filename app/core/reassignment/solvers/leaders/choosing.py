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
broker repair the rounding; and unnecessary changes are undone. The same is done from the choices at dual prices of
loads (`prices`), which also bound the changes, and the best of these choices is taken. The goal is the lower bound and
a thousandth.
"""

from dataclasses import replace

import numpy as np

from app.core.model import NO_LEADER, NO_REPLICA, Int32s, Int64s
from app.core.reassignment.model import KEEP, Balance, Band, BrokerBounds
from app.core.reassignment.solvers.flow.least_movement import narrowest, never
from app.core.reassignment.solvers.flow.levels import find_levels, summary
from app.core.reassignment.solvers.leaders import repair_kernel as kernel
from app.core.reassignment.solvers.leaders.per_topic import with_topics
from app.core.reassignment.solvers.leaders.prices import priced_choices
from app.core.reassignment.solvers.leaders.problem import (
    BY_COUNT,
    BY_INGRESS,
    BY_TOPIC,
    NOT_A_CANDIDATE,
    LeaderChoice,
    LeaderProblem,
    LeaderTopics,
    answer,
    bounds,
    change_costs,
    change_unit,
    changes_of_costs,
    fewest_to_leave,
    forced_changes,
    only_candidates,
)
from app.core.reassignment.solvers.leaders.shares import Shares
from app.core.replica_lists import per_broker, sums_by
from app.errors.requests import LimitExceeded

INGRESS_TOLERANCE = 1000
"""Ingress is balanced to the reciprocal of this, relative to the lower bound: measured rates are no more precise."""
STEP_COSTS = (3, 1 << 20)
"""Costs of a step of repair in addition to its changes, in changes. With the second, the smallest load comes first."""

MAX_ROUNDS = 10
"""Rounds of searches from leaders that were chosen; more than four were not seen."""


def by_ingress(problem: LeaderProblem, balance: Balance) -> LeaderChoice:
    """Choose the leaders of partitions of different weight."""
    costs = change_costs(problem, keep=balance.tolerance is None)
    leaders, rows = only_candidates(problem, costs)
    rows = rows[np.argsort(-problem.weight[rows], kind="stable")]
    heavy, idle = np.split(rows, [np.count_nonzero(problem.weight[rows])])
    part = problem.part(heavy, leaders)
    largest_bound = _largest_bound(part, costs[heavy])
    goal = largest_bound + largest_bound // INGRESS_TOLERANCE
    if balance.tolerance is not None:
        goal = max(goal, problem.band(balance, Band(0, largest_bound)).high)
    changes = costs[heavy] // change_unit(problem)
    fewest, starts = priced_choices(part, changes, goal)
    columns = _spread(part, costs[heavy], goal, starts)
    leaders[heavy] = _spread_further(part, costs[heavy], goal, columns)
    leaders[idle] = _by_number(problem, costs[idle], idle, leaders)
    loads = problem.loads(leaders)[problem.target]
    most, band = int(loads.max(initial=0)), None
    if balance.tolerance is not None:
        most = max(goal, most)
        band = Band(int(loads.min(initial=goal)), most)
    if most > goal:
        fewest, _ = priced_choices(part, changes, most)
    bound = forced_changes(problem) + max(fewest, fewest_to_leave(problem, most))
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


def _spread(part: LeaderProblem, costs: Int32s, goal: int, starts: list[Int64s]) -> Int64s:
    """(rows,) int64 replicas that lead partitions in descending order of weight: the best of the present leaders, and
    of what is repaired from the flow and from other such choices.
    """
    start = Shares.of_part(part, costs)
    spread = start.without_costs()
    spread.cap(goal)
    choices = [start.columns()]
    for columns in (spread.columns(), *starts):
        for step_cost in STEP_COSTS:
            led = _leadership(part, costs, columns.copy(), step_cost * int(costs.max(initial=1)))
            kernel.repair(led, goal)
            kernel.undo_changes(led, goal)
            choices.append(led.columns)
    rows = np.arange(len(costs))
    return min(choices, key=lambda each: (_largest(part, each, goal), int(costs[rows, each].sum())))


def _spread_further(part: LeaderProblem, costs: Int32s, goal: int, columns: Int64s) -> Int32s:
    """(rows,) int32 leaders from which the search finds no smaller largest load, which (rows,) int64 replicas lead.

    Planned again, it starts from them. Few clusters with few partitions have a second round.
    """
    for _ in range(MAX_ROUNDS):
        most = _largest(part, columns, goal)
        if most == goal:
            break
        led = part.replicas[np.arange(len(columns)), columns]
        further = replace(part, leader=led, is_new=np.zeros_like(part.is_new))
        further_costs = np.where(costs >= 0, part.replicas != led[:, None], NOT_A_CANDIDATE).astype(np.int32)
        _, starts = priced_choices(further, further_costs, goal)
        smaller = _leadership(part, costs, _spread(further, further_costs, goal, starts), 0)
        kernel.undo_changes(smaller, goal)
        if _largest(part, smaller.columns, goal) == most:
            break
        columns = smaller.columns
    return part.replicas[np.arange(len(columns)), columns]


def _leadership(part: LeaderProblem, costs: Int32s, columns: Int64s, step_cost: int) -> kernel.Leadership:
    """What repair changes in place."""
    table, loads = np.ascontiguousarray(part.replicas), part.loads(part.replicas[np.arange(len(columns)), columns])
    return kernel.Leadership(table, np.ascontiguousarray(costs), part.weight, part.target, columns, loads, step_cost)


def _largest(part: LeaderProblem, columns: Int64s, goal: int) -> int:
    """The largest load of a target broker, or the goal if that is larger."""
    loads = part.loads(part.replicas[np.arange(len(columns)), columns])
    return max(goal, int(loads[part.target].max(initial=0)))


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
    # Not of a choice with few changes: any one will do. Each test starts from the flow of the one before.
    shares = Shares.of_part(problem, np.where(candidates, 0, NOT_A_CANDIDATE).astype(np.int32)).without_costs()
    levels = find_levels(
        lambda within: shares.reach(*bounds(problem, within)),
        target,
        problem.share,
        int(candidates.any(axis=1).sum()) + int(problem.base[target].sum()),
        is_within=bool(target[problem.replicas[candidates & (problem.replicas != NO_REPLICA)]].all()),
    )
    return levels.bounds(balance)


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
    >>> from app.core.reassignment.model import TIGHT
    >>> from app.core.reassignment.solvers.leaders.choosing import choose_leaders
    >>> from app.core.reassignment.solvers.leaders.problem import LeaderProblem
    >>> problem = LeaderProblem(
    ...     replicas=np.array([[0, 1]] * 4, np.int32), leader=np.zeros(4, np.int32), may_change=np.zeros(4, bool),
    ...     may_lead=np.ones(2, bool), is_new=np.zeros((4, 2), bool), target=np.ones(2, bool),
    ...     base=np.zeros(2, np.int64), weight=np.ones(4, np.int64))
    >>> choice = choose_leaders(problem, TIGHT)
    >>> choice.band, choice.certificate.value, choice.certificate.optimal
    (Band(low=2, high=2), 2, True)
    """
    if within is not None or problem.topics is not None or (problem.weight == 1).all():
        return by_count(problem, balance, within)
    total = problem.weight.sum(dtype=float) + problem.base.sum(dtype=float)
    if total > LARGEST_SUM:
        raise LimitExceeded(
            f"the partitions' ingress comes to {total:.3g} bytes/s; up to {LARGEST_SUM} can be added exactly",
            load=total,
            limit=LARGEST_SUM,
        )
    return by_ingress(problem, balance)


def by_count(problem: LeaderProblem, balance: Balance, within: BrokerBounds | None = None) -> LeaderChoice:
    """Choose the leaders of partitions that all weigh 1, with attainable minimums of topics, and with their bands.

    The minimums come first, then the band of the cluster, then the least excess of topics, then the fewest changes.
    With `keep` the leaders of topics with minimums are those with the fewest changes, and the others are chosen as
    without minimums.

    Parameters
    ----------
    problem, balance, within : as in `choose_leaders`.

    Raises
    ------
    ValueError : if weights differ, or topics have bands with `keep`, which has none.
    """
    if problem.topics is not None and not (problem.weight == 1).all():
        raise ValueError("bands of topics count leaders")
    if balance.tolerance is None and within is None and problem.topics is None:
        return _kept(problem) if problem.minimums is None else _kept_with_minimums(problem, problem.minimums)
    costs = change_costs(problem)
    leaders, rows = only_candidates(problem, costs)
    part = problem.part(rows, leaders)
    spread = Shares.of_part(part, costs[rows]).without_costs()
    largest = spread.narrow_high()
    if within is None and problem.share is not None:
        within = weighted_bounds(problem, balance)
    if within is None:
        band = problem.band(balance, Band(spread.narrow_low(largest), largest))
    else:
        band = summary(problem.target, within)
    if problem.topics is None:
        leaders[rows], bound = _settled(part, costs[rows], within or band)
        choice = answer(problem, leaders, BY_COUNT, band, changes_of_costs(problem, bound), largest)
        return replace(choice, bounds=within)
    leaders, bound = with_topics(problem, problem.topics, costs, *bounds(problem, within or band))
    choice = answer(problem, leaders, BY_TOPIC, band, changes_of_costs(problem, bound), largest)
    return replace(choice, topic_excess=problem.topics.excess(leaders), bounds=within)


def _kept(problem: LeaderProblem) -> LeaderChoice:
    """Choose the leaders with `keep`; those that may change do if that makes the largest broker smaller."""
    choice = _fairest_of_forced(replace(problem, may_change=np.zeros_like(problem.may_change)))
    if not problem.may_change.any():
        return choice
    costs = change_costs(problem, keep=True)
    leaders, rows = only_candidates(problem, costs)
    # Of all brokers: leaders that passed to one that is not balanced would make it the largest.
    every = replace(problem, target=np.ones_like(problem.target))
    part = every.part(rows, leaders)
    largest = Shares.of_part(part, costs[rows]).without_costs().narrow_high()
    tight = Shares.of_part(problem.part(rows, leaders), costs[rows]).without_costs().narrow()
    if problem.loads(choice.leaders).max(initial=0) == largest:
        return replace(choice, largest=replace(choice.largest, lower_bound=tight.high))
    highs = BrokerBounds.of(Band(0, largest), len(problem.base))
    settled, least = _settled(part, costs[rows], highs)
    fewest = part.changes(settled)
    # The most of the smallest target that costs no further change. Every minimum up to the narrowest is feasible.
    raised = narrowest(
        tight.low - 1,
        lambda less: _settled(part, costs[rows], replace(highs, low=np.where(problem.target, tight.low - less, 0)))[0],
        lambda tried: part.changes(tried) <= fewest,
        never,
    )
    leaders[rows] = settled if raised is None else raised
    return answer(problem, leaders, BY_COUNT, None, changes_of_costs(problem, least), tight.high)


def _settled(part: LeaderProblem, costs: Int32s, band: Band | BrokerBounds) -> tuple[Int32s, int]:
    """The leaders with the fewest changes within a feasible band, and the lower bound on their costs."""
    return Shares.of_part(part, costs).settle(*bounds(part, band))


def _fairest_of_forced(problem: LeaderProblem) -> LeaderChoice:
    """Choose the fairest leaders of the partitions with a forced change or without a leader.

    Frank and Murota: no leadership passes between the groups of `Shares.even_out` in any fairest choice, and within a
    group all loads are the mean, rounded up or down.
    """
    costs = change_costs(problem, keep=True)
    leaders, rows = only_candidates(problem, costs)
    part = problem.part(rows, leaders)
    spread = Shares.of_part(part, costs[rows]).without_costs()
    # Other brokers than the targets could lead more, and the largest target less: the bound allows for it.
    largest_bound = spread.without_costs().narrow_high()
    group = spread.even_out()
    sizes = np.bincount(group)
    totals = sums_by(group, spread.loads() + part.base, len(sizes))
    is_within = group[part.replicas] == group[spread.leaders()][:, None]
    fairest = Shares.of_part(part, np.where(is_within, costs[rows], NOT_A_CANDIDATE).astype(np.int32))
    leaders[rows], least = fairest.settle(
        (totals // sizes)[group] - part.base, (-(-totals // sizes))[group] - part.base
    )
    return answer(problem, leaders, BY_COUNT, None, changes_of_costs(problem, least), largest_bound)


def _kept_with_minimums(problem: LeaderProblem, minimums: LeaderTopics) -> LeaderChoice:
    is_named = minimums.topic >= 0
    rows = np.flatnonzero(is_named)
    named = problem.part(rows, np.where(is_named, NO_LEADER, problem.leader).astype(np.int32))
    leaders, everything = problem.leader.copy(), np.full(len(problem.base), len(rows) + 1)
    shares = Shares.of_part(named, change_costs(named))
    leaders[rows], least = shares.settle(np.full(len(problem.base), -1), everything)
    others = replace(problem, leader=leaders, may_change=problem.may_change & ~is_named, minimums=None)
    choice = by_count(others, KEEP)
    open_costs = change_costs(replace(problem, may_change=problem.may_change | is_named), keep=True)
    largest = Shares.of_part(problem, open_costs).without_costs().narrow_high()
    bound = changes_of_costs(named, least) + choice.certificate.lower_bound
    return answer(problem, choice.leaders, BY_COUNT, None, bound, largest)
