"""The problem of choosing preferred leaders, its answer with two certificates, and the verifier.

Leader changes: what each candidate costs, and lower bounds on the number of changes.

The bound on changes follows from dual prices alone. For any prices of leading at the brokers, no choice within the band
costs less than every partition's cheapest candidate, prices included, less the most that brokers within the band could
earn by them. With optimal prices that is the optimum, since the flow has an integral one.
"""

from dataclasses import dataclass, field, replace

import numpy as np

from app.core.certificate import Certificate
from app.core.model import NO_LEADER, NO_REPLICA, Bools, Int32s, Int64s
from app.core.reassignment.model import KEEP, UNLIMITED, Balance, Band, BrokerBounds
from app.core.replica_lists import per_broker, sums_by

NOT_A_CANDIDATE = -1
"""Cost of a replica that may not lead."""


def leader_candidates(replicas: Int32s, may_lead: Bools, is_ready: Bools | None) -> Bools:
    """(rows, width) bool: replicas of which one leads. They are ready and on brokers that may lead; of a partition
    without any, those that are ready, else those on brokers that may lead, else all.

    Parameters
    ----------
    replicas : (rows, width) int32. may_lead : (brokers,) bool. is_ready : (rows, width) bool, as of `LeaderProblem`.
    """
    may: Bools = replicas != NO_REPLICA
    for is_fit in (is_ready, np.append(may_lead, False)[replicas]):
        if is_fit is not None:
            fit = np.logical_and(may, is_fit)
            may = np.where(np.asarray(fit.any(axis=1))[:, None], fit, may)
    return may


@dataclass(frozen=True, slots=True, eq=False)
class LeaderTopics:
    """Topics of which each broker leads a number of partitions within a band.

    Parameters
    ----------
    topic : (rows,) index of the partition's topic among them; −1 for a partition of another topic.
    low, high : (topics, brokers) int64 leaders of the topic on a broker; without a band, 0 and at least `UNLIMITED`.
    """

    topic: Int32s | Int64s = field(repr=False)
    low: Int64s = field(repr=False)
    high: Int64s = field(repr=False)

    @classmethod
    def minimums(cls, topic: Int32s | Int64s, low: Int64s) -> "LeaderTopics":
        """Minimum numbers of leaders."""
        return cls(topic, low, np.full_like(low, UNLIMITED))

    def led(self, leaders: Int32s) -> Int64s:
        """(topics, brokers) int64: of each topic what each broker leads under a choice."""
        led = np.zeros_like(self.low)
        is_counted = (self.topic >= 0) & (leaders != NO_LEADER)
        np.add.at(led, (self.topic[is_counted], leaders[is_counted]), 1)
        return led

    def excess(self, leaders: Int32s) -> int:
        """By how many leaders topics are outside their bands under a choice."""
        led = self.led(leaders)
        return int(np.abs(led - np.clip(led, self.low, self.high)).sum())

    def of(self, rows: Int64s) -> "LeaderTopics":
        """The bands of some rows."""
        return replace(self, topic=self.topic[rows])


@dataclass(frozen=True, slots=True, eq=False)
class LeaderProblem:
    """Partitions whose preferred leader is to be chosen. Rows are partitions; brokers are positions, as in
    `MovementProblem`.

    Parameters
    ----------
    replicas : (rows, width) int32 brokers of the replicas, distinct in a row, padded with `NO_REPLICA` anywhere.
    leader : (rows,) int32 present preferred leader, a replica or not; `NO_LEADER` if choosing one is no change.
    may_change : (rows,) bool, partitions whose leader may change with `KEEP` although it could stay, if that makes the
        broker that leads most smaller.
    may_lead : (brokers,) bool.
    is_new : (rows, width) bool, replicas that have to be copied first.
    target : (brokers,) bool, the brokers whose leaders are balanced; others may lead any number.
    base : (brokers,) int64 >= 0, leaders (or their ingress) of partitions outside the problem.
    weight : (rows,) int64 >= 0, the load of leading the partition: 1, or its ingress in bytes/s.
    rank : (rows, width) int32 preference, the smallest first: of the replicas that may lead, one of the smallest rank
        leads. None if all are alike.
    minimums : leaders that each broker has at least of some topics, which are attainable; None without any.
    topics : the bands of topics, as far as possible, which only a balance with a band has; None without any.
    share : (brokers,) int64 > 0: with a band, leaders by count are balanced in proportion to it. None is the same for
        all brokers.
    is_ready : (rows, width) bool, replicas that Kafka can elect: in sync now, or when the reassignment completes. None
        is all of them.
    """

    replicas: Int32s = field(repr=False)
    leader: Int32s = field(repr=False)
    may_change: Bools = field(repr=False)
    may_lead: Bools
    is_new: Bools = field(repr=False)
    target: Bools
    base: Int64s
    weight: Int64s = field(repr=False)
    rank: Int32s | None = field(default=None, repr=False)
    minimums: LeaderTopics | None = field(default=None, repr=False)
    topics: LeaderTopics | None = field(default=None, repr=False)
    share: Int64s | None = field(default=None, repr=False)
    is_ready: Bools | None = field(default=None, repr=False)

    def band(self, balance: Balance, tight: Band) -> Band:
        """The loads of target brokers that a balance with a band allows, given the narrowest feasible band."""
        total = int(self.weight.sum()) + int(self.base[self.target].sum())
        return balance.band(total, int(np.count_nonzero(self.target)), tight)

    def candidates(self) -> Bools:
        """(rows, width) bool: the replicas that may lead, as `leader_candidates`."""
        may = leader_candidates(self.replicas, self.may_lead, self.is_ready)
        if self.rank is not None and may.size:
            rank = np.where(may, self.rank, np.iinfo(np.int32).max)
            may &= rank == rank.min(axis=1)[:, None]
        return may

    def without_choice(self) -> int:
        """Number of partitions that have replicas, but none on a broker that may lead."""
        is_there = self.replicas != NO_REPLICA
        return int(np.count_nonzero(is_there.any(axis=1) & ~(is_there & self.may_lead[self.replicas]).any(axis=1)))

    def is_kept(self) -> Bools:
        """(rows,) bool: partitions whose present leader leads on with `KEEP`."""
        has_leader = (self.leader != NO_LEADER) & (self.replicas != NO_REPLICA).any(axis=1)
        kept: Bools = has_leader & ~self.is_forced() & ~self.may_change
        # A minimum may need any leader of its topic.
        return kept if self.minimums is None else kept & (self.minimums.topic < 0)

    def is_forced(self) -> Bools:
        """(rows,) bool: partitions whose present leader cannot lead, whatever is chosen."""
        stays = (self.candidates() & (self.replicas == self.leader[:, None])).any(axis=1)
        forced: Bools = (self.leader != NO_LEADER) & ~stays & (self.replicas != NO_REPLICA).any(axis=1)
        return forced

    def part(self, rows: Int64s, leaders: Int32s) -> "LeaderProblem":
        """The problem of some rows alone; `base` includes the others, led by `leaders`."""
        others = leaders.copy()
        others[rows] = NO_LEADER
        return replace(
            self,
            replicas=self.replicas[rows],
            leader=self.leader[rows],
            may_change=self.may_change[rows],
            is_ready=None if self.is_ready is None else self.is_ready[rows],
            is_new=self.is_new[rows],
            base=self.loads(others),
            weight=self.weight[rows],
            rank=None if self.rank is None else self.rank[rows],
            minimums=None if self.minimums is None else self.minimums.of(rows),
            topics=None if self.topics is None else self.topics.of(rows),
        )

    def loads(self, leaders: Int32s) -> Int64s:
        """(brokers,) int64: what each broker leads under a choice, `base` included."""
        return self.base + per_broker(leaders[:, None], len(self.base), self.weight)

    def changes(self, leaders: Int32s) -> int:
        """Number of partitions that have a leader and get another."""
        return int(np.count_nonzero((self.leader != NO_LEADER) & (leaders != NO_LEADER) & (leaders != self.leader)))


@dataclass(frozen=True, slots=True, eq=False)
class LeaderChoice:
    """The chosen leaders, with the certificates of the leader changes and of the largest load.

    Parameters
    ----------
    leaders : (rows,) int32, a replica of each partition, `NO_LEADER` if it has none.
    band : the leaders (or their ingress) of the target brokers are within it; None with `keep`, which bounds nothing.
    certificate : of the leader changes, partitions that have a leader and get another, among choices within the band;
        with `keep`, among the fairest choices; with some that `may_change`, among those with the smallest maximum.
    largest : of the load of the target broker that leads most; with `keep`, among choices that keep what `is_kept`.
    without_choice : partitions of which no replica may lead; one of them leads all the same.
    topic_excess : by how many leaders topics are outside their bands, the fewest possible; None if they have none.
    bounds : of each broker if they differ by its share, or are given; `band` then is from the smallest to the largest.
    """

    leaders: Int32s = field(repr=False)
    band: Band | None
    certificate: Certificate[int]
    largest: Certificate[int]
    without_choice: int
    topic_excess: int | None = None
    bounds: BrokerBounds | None = field(default=None, repr=False)


def leader_violations(problem: LeaderProblem, answer: LeaderChoice, balance: Balance) -> list[str]:
    """List every way in which chosen leaders violate the requirements, or differ from the figures stated for them.

    Returns
    -------
    Sentences; empty if every partition is led by one of its replicas that may lead, target brokers are within the band,
    `keep` changes no leader that is kept and, by count, is the fairest choice or, with leaders that `may_change`, has
    the smallest maximum, and changes, largest load and partitions without choice are as stated.
    """
    leaders = answer.leaders
    if leaders.shape != problem.leader.shape:
        return [f"{len(leaders)} leaders were chosen for {len(problem.leader)} partitions"]
    has_replicas = (problem.replicas != NO_REPLICA).any(axis=1)
    is_replica = (problem.replicas == leaders[:, None]).any(axis=1)
    if not is_replica[has_replicas].all() or (leaders[~has_replicas] != NO_LEADER).any():
        outside = np.count_nonzero(has_replicas & ~is_replica) + np.count_nonzero(leaders[~has_replicas] != NO_LEADER)
        return [f"{outside} partitions are led by a broker without a replica of them"]
    violations = []
    may = (problem.candidates() & (problem.replicas == leaders[:, None])).any(axis=1)
    if barred := np.count_nonzero(has_replicas & ~may):
        violations.append(f"{barred} partitions are led by a broker that may not lead, although another replica's may")
    if problem.minimums is not None:
        lacks = np.maximum(problem.minimums.low - problem.minimums.led(leaders), 0)
        if lacks.any():
            violations.append(f"{np.count_nonzero(lacks)} minimums of topics lack {lacks.sum()} leaders")
    if balance == KEEP:
        violations += _unkept(problem, answer)
    loads = problem.loads(leaders)[problem.target]
    return violations + _outside_band(problem, answer, loads) + _miscounted(problem, answer, int(loads.max(initial=0)))


def _outside_band(problem: LeaderProblem, answer: LeaderChoice, loads: Int64s) -> list[str]:
    """Violations of the band by target brokers with these loads, (targets,) int64."""
    if answer.band is None or not len(loads):
        return []
    of_each = answer.bounds or BrokerBounds.of(answer.band, len(problem.base))
    low, high = of_each.low[problem.target], of_each.high[problem.target]
    outside = np.count_nonzero((loads < low) | (loads > high))
    words = f"{outside} brokers lead fewer than {answer.band.low} or more than {answer.band.high}"
    return [words] if outside else []


def _unkept(problem: LeaderProblem, answer: LeaderChoice) -> list[str]:
    """Violations of `KEEP`: leaders that change though they are kept, and brokers that lead more than is fair."""
    kept, leaders = problem.is_kept(), answer.leaders
    if changed := np.count_nonzero(kept & (leaders != problem.leader)):
        return [f"{changed} leaders changed that could stay"]
    if not (problem.weight == 1).all():
        return []
    is_open = ~kept & (leaders != NO_LEADER)
    may_change = problem.may_change
    if problem.minimums is not None:
        # Fairness is among the other topics.
        is_other = problem.minimums.topic < 0
        is_open, may_change = is_open & is_other, may_change & is_other
    if may_change.any():
        # A broker that may not lead does so if no replica of a partition is on one that may.
        are_targets = bool(problem.target[problem.replicas[problem.candidates()]].all())
        # The largest of all brokers decides; its bound is of the targets alone, and of any choice for a minimum.
        # What another broker leads, in partitions that are no part of the problem, is a bound, too.
        least = max(answer.largest.lower_bound, int(problem.loads(leaders)[~problem.target].max(initial=0)))
        if are_targets and problem.minimums is None and answer.largest.value > least:
            return [f"a broker leads {answer.largest.value}, and leaders that may change leave less"]
        could_stay = may_change & ~problem.is_forced() & (problem.leader != NO_LEADER)
        if (leaders != problem.leader)[could_stay].any() or not are_targets:
            return []
        is_open &= ~could_stay
    return _unfair(problem, leaders, is_open)


def _unfair(problem: LeaderProblem, leaders: Int32s, is_open: Bools) -> list[str]:
    """Brokers from which a leadership could pass, over others, to a broker that leads at least two fewer.

    Without any the choice is the fairest (decreasingly minimal). Brokers are searched by descending load; what a search
    reaches is within one of a load that is not smaller, and is searched no more.

    Source: Frank and Murota, "Decreasing minimization on M-convex sets" (2018).
    """
    loads, brokers = problem.loads(leaders), len(problem.base)
    may_pass = np.zeros((brokers, brokers), np.bool_)
    row, column = np.nonzero(problem.candidates() & is_open[:, None])
    may_pass[leaders[row], problem.replicas[row, column]] = True
    is_searched = np.zeros(brokers, np.bool_)
    violations = []
    for first in np.argsort(-loads, kind="stable").tolist():
        reached = np.zeros(brokers, np.bool_)
        reached[first] = not is_searched[first]
        while (nearest := reached & ~is_searched).any():
            is_searched |= nearest
            reached |= may_pass[nearest].any(axis=0) & ~is_searched
        if (least := loads[reached].min(initial=loads[first])) < loads[first] - 1:
            violations.append(f"a broker leads {loads[first]}, and some could pass to one that leads {least}")
    return violations


def _miscounted(problem: LeaderProblem, answer: LeaderChoice, largest: int) -> list[str]:
    stated_and_counted = {
        "leader changes": (answer.certificate.value, problem.changes(answer.leaders)),
        "led by the largest": (answer.largest.value, largest),
        "partitions without choice": (answer.without_choice, problem.without_choice()),
    }
    if problem.topics is not None:
        stated_and_counted["leaders of topics outside their bands"] = (
            -1 if answer.topic_excess is None else answer.topic_excess,
            problem.topics.excess(answer.leaders),
        )
    violations = [
        f"{what}: {stated} said, {counted} counted"
        for what, (stated, counted) in stated_and_counted.items()
        if stated != counted
    ]
    if any(claim.lower_bound > claim.value for claim in (answer.certificate, answer.largest)):
        violations.append("a bound is above what was reached")
    return violations


def bounds(problem: LeaderProblem, band: Band | BrokerBounds) -> tuple[Int64s, Int64s]:
    """(brokers,) int64 twice: the minimum and the maximum that each broker leads within the band, without its
    `base`.
    """
    everything = int(problem.weight.sum()) + 1
    low = np.where(problem.target, band.low - problem.base, -1)
    return low, np.where(problem.target, band.high - problem.base, everything)


def forced_changes(problem: LeaderProblem) -> int:
    """Number of partitions with a forced change: a lower bound on changes."""
    return int(np.count_nonzero(problem.is_forced()))


def change_costs(problem: LeaderProblem, *, keep: bool = False) -> Int32s:
    """(rows, width) int32 cost of each candidate: `change_unit` if it is a change, 1 if it has to be copied first, -1
    if it may not lead.

    A partition with a forced change is changed by every candidate, and none of them is charged for it. With `keep` only
    candidates without that charge remain, and those of partitions that `may_change`.
    """
    candidates = problem.candidates()
    has_choice = (problem.leader >= 0) & ~problem.is_forced()
    is_change = has_choice[:, None] & (problem.replicas != problem.leader[:, None])
    is_open = candidates & (~is_change | problem.may_change[:, None]) if keep else candidates
    return np.where(is_open, is_change * change_unit(problem) + problem.is_new, NOT_A_CANDIDATE).astype(np.int32)


def change_unit(problem: LeaderProblem) -> int:
    """The cost of a change: above the number of rows that could lead on a new replica, so that changes count first."""
    return int(np.count_nonzero((problem.candidates() & problem.is_new).any(axis=1))) + 1


def only_candidates(problem: LeaderProblem, costs: Int32s) -> tuple[Int32s, Int64s]:
    """(rows,) int32 leaders of the partitions with one candidate, `NO_LEADER` for others; and the rows with a
    choice. With minimums, all rows have one, so that they are counted for them.
    """
    number = np.count_nonzero(costs >= 0, axis=1)
    leaders = np.full(len(number), NO_LEADER, np.int32)
    if problem.minimums is not None:
        return leaders, np.arange(len(number))
    leaders[number == 1] = problem.replicas[(costs >= 0) & (number == 1)[:, None]]
    return leaders, np.flatnonzero(number > 1)


def changes_of_costs(problem: LeaderProblem, least: int) -> int:
    """A lower bound on the leader changes from one on the costs of `change_costs`.

    The remainder of a unit is the part of new replicas, which the unit exceeds.
    """
    return forced_changes(problem) + max(least // change_unit(problem), 0)


def priced_bound(table: Int32s, costs: Int32s, weight: Int64s, low: Int64s, high: Int64s, prices: Int64s) -> int:
    """A lower bound on the costs of choices within bounds: every row's cheapest candidate, prices included, less the
    value of the capacity.

    Parameters
    ----------
    table, costs : (rows, width) int32 nodes and their costs. weight : (rows,) int64.
    low, high, prices : (nodes,) int64.
    """
    priced = np.where(costs >= 0, costs + prices[table] * weight[:, None], np.iinfo(np.int64).max)
    cheapest = priced.min(axis=1, initial=np.iinfo(np.int64).max)[(costs >= 0).any(axis=1)]
    return int(cheapest.sum()) - int(np.where(prices > 0, prices * high, prices * low).sum())


def fewest_to_leave(problem: LeaderProblem, most: int) -> int:
    """A lower bound on the changes from target brokers that lead more than `most`, `base` included; forced changes
    apart.

    The load above it has to leave the broker, at best by its heaviest partitions.
    """
    stays = np.flatnonzero((problem.leader >= 0) & ~problem.is_forced() & (problem.replicas >= 0).any(axis=1))
    order = stays[np.lexsort((-problem.weight[stays], problem.leader[stays]))]
    leader, weight = problem.leader[order], problem.weight[order]
    loads = problem.base + sums_by(leader, weight, len(problem.base))
    before = np.cumsum(weight) - weight
    starts = np.searchsorted(leader, np.arange(len(loads)))
    moved_before = before - np.append(before, 0)[np.minimum(starts, len(before))][leader] if len(order) else before
    return int(np.count_nonzero(problem.target[leader] & (loads[leader] - moved_before > most) & (weight > 0)))


@dataclass(frozen=True, slots=True)
class Method:
    """The words of a method's certificates. limit : what a band allows, formatted with its bounds."""

    solver: str
    largest: str
    limit: str


_KEPT = "leaders that may stay do"
_OF_CHANGED = (
    "leaders of partitions whose replicas stay do as well; others change if that makes the largest broker smaller"
)
_LARGEST = "leaders of the largest broker"
BY_COUNT = Method("flow between brokers, by distances", _LARGEST, "{} to {} leaders a broker")
BY_TOPIC = Method("ortools min-cost flow", _LARGEST, f"{BY_COUNT.limit}; then the least excess of topics")
BY_INGRESS = Method(
    "dual prices and flow between brokers, rounded and repaired",
    "ingress of the largest broker, bytes/s",
    "at most {1} bytes/s led by a broker",
)


def answer(
    problem: LeaderProblem, leaders: Int32s, method: Method, band: Band | None, changes_bound: int, largest_bound: int
) -> LeaderChoice:
    """The choice with its two certificates.

    Parameters
    ----------
    band : None with `keep`. changes_bound, largest_bound : lower bounds on the leader changes, and on the largest
        load of a target broker.
    """
    unbanded = _OF_CHANGED if problem.may_change.any() else _KEPT
    limit = unbanded if band is None else method.limit.format(band.low, band.high)
    constraints = ("a replica of each partition leads", limit)
    largest = int(problem.loads(leaders)[problem.target].max(initial=0))
    return LeaderChoice(
        leaders=leaders,
        band=band,
        certificate=Certificate("leader changes", problem.changes(leaders), changes_bound, method.solver, constraints),
        largest=Certificate(method.largest, largest, largest_bound, method.solver, constraints),
        without_choice=problem.without_choice(),
    )
