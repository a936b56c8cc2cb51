"""Replicas that move for the balance of leaders: the fewest bytes that bring leaders by count within a band.

A broker leads a partition of which it has a replica at no cost, and any other broker at the cost of a replica, which
takes the place of another one. So leadership is a commodity of its own: each partition has one leader, on one of its
present brokers for nothing, or on a receiver for its weight. `paths` finds the least cost exactly. A replica that is
left out is one in the rack of the new one, so that partitions span the racks that they did; else one whose rack may
have fewer.

Replica counts and bytes of brokers are not balanced by it: a broker that gets a leader loses no replica for it.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field, replace

import numpy as np

from app.core.certificate import Certificate
from app.core.flow import InfeasibleFlow
from app.core.model import NO_REPLICA, Bools, Int32s, Int64s
from app.core.reassignment.model import Balance, BrokerBounds, Deadline, Domain, MovementProblem, ReplicaPlacement
from app.core.reassignment.solvers.flow.least_movement import (
    PLACEMENT_RULES,
    BudgetTooSmall,
    forced_weight,
    narrowest,
    never,
)
from app.core.reassignment.solvers.flow.levels import narrowest_levels, summary
from app.core.reassignment.solvers.flow.places import PlaceCosts, counts, in_order, moved_weight, movement_costs
from app.core.reassignment.solvers.leaders.paths import Receivers, settled
from app.core.reassignment.solvers.leaders.paths_kernel import LONGEST
from app.core.reassignment.solvers.leaders.problem import BY_COUNT, leader_candidates
from app.core.replica_lists import not_among, per_broker, per_rack, widened


@dataclass(frozen=True, slots=True, eq=False)
class MovedForLeaders:
    """Replica lists in which leaders can be within a band.

    Parameters
    ----------
    placement : the lists, with the certificate of the movement.
    bounds : of the leaders of each broker, `base` included. Some choice of leaders among the lists is within them.
    """

    placement: ReplicaPlacement
    bounds: BrokerBounds = field(repr=False)


def move_for_leaders(
    problem: MovementProblem,
    lists: Int32s,
    may_lead: Bools,
    base: Int64s,
    balance: Balance,
    *,
    budget: int | None = None,
    fewest_changes: bool = False,
    is_ready: Bools | None = None,
    is_over: Deadline = never,
) -> MovedForLeaders:
    """Minimise the movement, or the leader changes, with which leaders are within a balance.

    Hard constraints: the domains of the problem; each partition has as many replicas of its list as it had but one at
    most, and is led by a broker that may lead if it has a replica on one. Goals, in lexicographic order, each reached
    exactly: the balance, the least weight moved, the fewest replicas moved.

    Parameters
    ----------
    problem : the partitions; its band, `base` and shares are of replicas, but `share` of leaders as well.
    lists : (rows, width) int32 legal placement, the present leader first. Rows that differ from `problem.current` are
        moved already, and receive no further replica; their movement is in the certificate.
    may_lead : (brokers,) bool; those that may not receive nothing.
    base : (brokers,) int64 leaders of partitions outside the problem.
    balance : of the leaders of targets that may lead; not `KEEP`.
    budget : most weight that is moved; the band then has the smallest upper end that it pays for, and with that the
        largest lower end, up to that of the narrowest band. is_over : ends the search for these two.
    fewest_changes : whether the fewest leader changes come before the least weight moved.
    is_ready : (rows, width) bool of the lists, as of `LeaderProblem`.

    Raises
    ------
    BudgetTooSmall : the lists alone move more.
    ValueError : with `KEEP`, which bounds no leaders.

    Examples
    --------
    Broker 0 leads all four partitions, and broker 2 has no replica of any. The lightest gets one, in place of broker 1.

    >>> import numpy as np
    >>> from app.core.reassignment.solvers.leaders.by_moves import move_for_leaders
    >>> from app.core.reassignment.model import Domain, MovementProblem, TIGHT
    >>> every, two = np.ones(3, bool), np.full(1, 2, np.int64)
    >>> problem = MovementProblem(
    ...     broker_ids=np.array([0, 1, 2], np.int32), rack_of=np.zeros(3, np.int32), target=every,
    ...     base=np.zeros(3, np.int64), domains=(Domain(2, every, every, two * 0, two),),
    ...     domain_of=np.zeros(3, np.int32), current=np.array([[0, 1]] * 3, np.int32),
    ...     is_copied=np.zeros((3, 2), bool), must_keep=np.full(3, -1, np.int32), weight=np.array([5, 3, 4]))
    >>> moved = move_for_leaders(problem, problem.current, every, np.zeros(3, np.int64), TIGHT)
    >>> moved.placement.replicas.tolist(), moved.placement.moved, moved.placement.certificate.optimal
    ([[0, 1], [0, 2], [0, 1]], 3, True)
    """
    if not lists.shape[1]:  # there is no partition
        lists, is_ready = widened(lists, 1), None
    alone = leadership(problem, lists, may_lead, base, is_ready)
    spent = moved_weight(problem, lists)
    search = _Search(alone, balance, is_over, _Costs(alone, lists[:, 0], fewest_changes))
    found = search.within(0, 0)
    if budget is not None:
        if spent > budget:
            raise BudgetTooSmall(spent)
        if moved_weight(alone, found.leaders) > budget - spent:
            found = search.affordable(budget - spent)
    more = ("no more leader changes",) if fewest_changes else ()
    return MovedForLeaders(_placed(problem, lists, alone, found, spent, more), found.bounds)


@dataclass(frozen=True, slots=True, eq=False)
class _Found:
    """Leaders, (rows, 1) int32, within bounds, and a lower bound on the weight that any within them move; if changes
    come first, that any move which change no more.
    """

    leaders: Int32s
    bounds: BrokerBounds
    bound: int
    above: int


class _Search:
    """The least movement of a leadership problem within bounds of different width."""

    def __init__(self, alone: MovementProblem, balance: Balance, is_over: Deadline, costs: "_Costs") -> None:
        self.alone, self.start, self.is_over, self.costs = alone, alone.current[:, :1], is_over, costs
        self.balance, self.levels = balance, narrowest_levels(alone)

    def within(self, below: int, above: int) -> _Found:
        """The least movement within the balance's bounds, which are wider by `below` and `above` leaders."""
        bounds = self.levels.bounds(self.balance, below=below, above=above)
        leaders, unit = least_within(self.alone, bounds, self.costs)
        units = replace(self.alone, weight=self.alone.weight // unit)
        return _Found(leaders, bounds, unit * moved_weight(units, leaders), above)

    def affordable(self, budget: int) -> _Found:
        """The smallest upper end that a budget pays for, then the largest lower end, by bisection.

        At the widths of the present leaders nothing moves.
        """
        widest = self.levels.width(counts(self.alone, self.start))
        bounds = self.levels.bounds(self.balance, below=widest, above=widest)
        found = _Found(self.start, bounds, 0, widest)

        def fits(tried: _Found) -> bool:
            return moved_weight(self.alone, tried.leaders) <= budget

        found = narrowest(widest - 1, lambda above: self.within(widest, above), fits, self.is_over) or found
        above = found.above
        return narrowest(widest - 1, lambda below: self.within(below, above), fits, self.is_over) or found


def least_within(alone: MovementProblem, bounds: BrokerBounds, of_places: "_Costs") -> tuple[Int32s, int]:
    """Minimise the changes, if they come first, then the weight moved, then the replicas and the changes.

    Returns
    -------
    (rows, 1) int32 leaders; the unit of weight, in multiples of which, rounded down, they are proven: 1 unless sums are
    too large.

    Raises
    ------
    InfeasibleFlow : no choice is within the bounds.
    """
    bounded, table = alone.is_bounded, alone.table
    low = np.where(bounded, np.maximum(bounds.low - alone.base, 0), 0)
    high = np.where(bounded, np.maximum(bounds.high - alone.base, low), len(alone.current))
    sets, set_of = np.unique(table.may_receive, axis=0, return_inverse=True)
    set_of = set_of.reshape(-1)[alone.domain_of]
    for costs, unit in of_places.attempts():
        received = Receivers(costs.other, set_of, sets)
        found = settled(alone.current, costs.current, alone.current[:, 0], low, high, received)
        if found is not None:
            return found[0][:, None], unit
    raise InfeasibleFlow


@dataclass(frozen=True, slots=True, eq=False)
class _Costs:
    """The costs of leaders.

    Parameters
    ----------
    present : (rows,) int32 present leaders. fewest_changes : whether changes count before weight, not last.
    """

    alone: MovementProblem
    present: Int32s
    fewest_changes: bool

    def attempts(self) -> Iterator[tuple[PlaceCosts, int]]:
        """The costs with their unit of weight; with fewer ties if sums are too large.

        A cycle of brokers passes on distinct partitions. So a leader that changes first costs more than the heaviest
        ones, one for each broker, a unit of weight more than their replicas, and a replica more than their changes.
        """
        alone, weight = self.alone, movement_costs(self.alone).other
        ties = len(alone.base) + 2
        most = sum(np.sort(weight)[1 - ties :].tolist()) if self.fewest_changes else int(weight.max(initial=0))
        for scale, replica in ((ties**2, ties), (ties, 1), (1, 0)):
            unit = 1 if replica else 1 + ties * 2 * most // LONGEST
            largest = (most // unit + 1) * scale
            change = largest if self.fewest_changes else replica // ties
            if largest < LONGEST // 2:
                costs = np.where(alone.current == self.present[:, None], 0, change)
                costs = np.where(alone.current == NO_REPLICA, -1, costs)
                yield PlaceCosts(costs, weight // unit * scale + replica + change), unit


def leadership(
    problem: MovementProblem, lists: Int32s, may_lead: Bools, base: Int64s, is_ready: Bools | None = None
) -> MovementProblem:
    """The problem of leaders alone: each partition has a factor of 1, and its present leader is in the first column.

    Parameters
    ----------
    problem, lists, may_lead, base, is_ready : as in `move_for_leaders`.
    """
    in_racks = per_rack(lists, problem.rack_of, problem.racks)
    reach = _reachable(problem, in_racks)
    reach &= (problem.must_keep == NO_REPLICA)[:, None] & ~_differs(problem, lists)[:, None]
    may = leader_candidates(lists, may_lead, is_ready)
    # A replica that may not lead, such as one out of sync, is not received once more.
    closed = np.sort(np.where(may | ~np.append(may_lead, False)[lists], NO_REPLICA, lists), axis=1)
    keys, domain_of = np.unique(np.column_stack([problem.domain_of, reach, closed]), axis=0, return_inverse=True)
    every, racks = np.ones(len(base), np.bool_), problem.racks
    one, none = np.ones(racks, np.int64), np.zeros(racks, np.int64)
    domains = tuple(
        Domain(
            1,
            every,
            problem.domains[int(key[0])].may_receive
            & may_lead
            & key[1 : 1 + problem.racks].astype(np.bool_)[problem.rack_of]
            & ~np.isin(np.arange(len(base)), key[1 + problem.racks :]),
            none,
            one,
        )
        for key in keys
    )
    candidates = np.where(may, lists, NO_REPLICA)
    order = np.argsort(candidates == NO_REPLICA, axis=1, kind="stable")
    led = base + per_broker(candidates[:, :1], len(base))
    cap = None if problem.floor_cap is None else np.where(may_lead & (problem.floor_cap >= 0), led, -1)
    return replace(
        problem,
        target=problem.target & may_lead,
        base=base,
        floor_cap=cap,
        domains=domains,
        domain_of=domain_of.reshape(-1).astype(np.int32),
        current=np.take_along_axis(candidates, order, axis=1).astype(np.int32),
        is_copied=np.zeros(lists.shape, np.bool_),
        must_keep=np.full(len(lists), NO_REPLICA, np.int32),
        in_sync=None,
    )


def _reachable(problem: MovementProblem, in_racks: Int64s) -> Bools:
    """(rows, racks) bool: whether a rack may receive a replica for one that leaves, from this rack or another."""
    table = problem.table
    least, most = table.least[problem.domain_of], table.most[problem.domain_of]
    may_leave = in_racks > least
    # A rack without a replica is not the one that loses it.
    some_leaves = np.count_nonzero(may_leave, axis=1) > 0
    return np.asarray((in_racks > 0) | ((in_racks < most) & some_leaves[:, None]), np.bool_)


def _differs(problem: MovementProblem, lists: Int32s) -> Bools:
    """(rows,) bool: partitions whose replicas are not those of `problem.current`, or are copied all the same."""
    width = max(lists.shape[1], problem.current.shape[1])
    now, before = (
        np.pad(each, ((0, 0), (0, width - each.shape[1])), constant_values=NO_REPLICA)
        for each in (lists, problem.current)
    )
    differs: Bools = (np.sort(now, axis=1) != np.sort(before, axis=1)).any(axis=1)
    return np.logical_or(differs, problem.is_copied.any(axis=1))


def _placed(
    problem: MovementProblem, lists: Int32s, alone: MovementProblem, found: _Found, spent: int, more: tuple[str, ...]
) -> ReplicaPlacement:
    """The lists with the leaders found. more : constraints of their bound."""
    replicas = with_leaders(problem, lists, found.leaders.reshape(-1))
    # Forced moves could serve leaders as well: then no more than the forced ones is proven.
    proven = min(found.bound, moved_weight(alone, found.leaders)) if not spent else forced_weight(problem)
    band = summary(alone.target, found.bounds)
    words = (*PLACEMENT_RULES, f"{band.low} to {band.high} leaders on every target broker", *more)
    certificate = Certificate("moved weight", moved_weight(problem, replicas), proven, BY_COUNT.solver, words)
    return ReplicaPlacement(in_order(problem, replicas), None, certificate)


def with_leaders(problem: MovementProblem, lists: Int32s, leaders: Int32s) -> Int32s:
    """(rows, width) int32 lists in which each leader has a replica, in place of one that racks let leave.

    Of several that may leave, a follower does, out of sync or in the rack of the new replica if there is one, on the
    broker that has the most replicas.

    Parameters
    ----------
    lists : (rows, width) int32. leaders : (rows,) int32.
    """
    replicas = lists.copy()
    on_each = problem.base + per_broker(lists, len(problem.base))
    in_racks, table = per_rack(lists, problem.rack_of, problem.racks), problem.table
    out_of_sync = np.zeros(lists.shape, np.bool_)
    if problem.in_sync is not None:
        is_out = (problem.current != NO_REPLICA) & ~problem.in_sync
        out_of_sync = ~not_among(lists, np.where(is_out, problem.current, NO_REPLICA))
    lacking = np.flatnonzero((leaders != NO_REPLICA) & ~(lists == leaders[:, None]).any(axis=1))
    for row in lacking.tolist():
        leader, here = int(leaders[row]), in_racks[row]
        least, most = table.least[problem.domain_of[row]], table.most[problem.domain_of[row]]
        rack = int(problem.rack_of[leader])
        places = np.flatnonzero(lists[row] != NO_REPLICA)
        racks = problem.rack_of[lists[row, places]]
        same = racks == rack
        may_leave = same | ((here[racks] > least[racks]) & bool(here[rack] < most[rack]))
        stays_in_sync = ~out_of_sync[row, places]
        # The last key counts most: legal, out of sync, in the same rack, not the first of the list, the fullest broker.
        place = places[np.lexsort((-on_each[lists[row, places]], places == 0, ~same, stays_in_sync, ~may_leave))[0]]
        on_each[replicas[row, place]] -= 1
        on_each[leader] += 1
        replicas[row, place] = leader
    return replicas
