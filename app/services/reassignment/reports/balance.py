"""The balance of a plan, over all brokers and each broker set; and the movement that other bands cost."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any, TypeAlias, cast

import numpy as np

from app.core.certificate import Certificate
from app.core.model import Int32s, Int64s
from app.core.reassignment.model import Band, BrokerBounds, MovementProblem, ReplicaPlacement
from app.core.reassignment.parts import ProblemPart
from app.core.reassignment.plan import Moves
from app.core.reassignment.problem import LeaderObjective, ReplicaObjective
from app.core.reassignment.resource_problem import RESOURCES, BalancedGoal, ResourcePlacement
from app.core.reassignment.solvers.leaders.per_topic import topic_bands
from app.core.reassignment.stages.leading import LedPart
from app.core.reassignment.stages.placing import PlacedReplicas
from app.core.replica_lists import per_broker
from app.services.bodies import ABSENT, AnswerRecord
from app.services.reassignment.problem.brokers import Bools
from app.services.reassignment.problem.problem import ReassignmentProblem
from app.services.reassignment.problem.resources import in_unit
from app.services.reassignment.requests.parts import GoalName, LeadersBy, Limited, ReplicasBy
from app.services.reassignment.solve import ReassignmentSolution

_DIGITS = 6


class ReachedGoal(AnswerRecord, schema="GoalDocument"):
    """Result of a goal. The ideal load of a broker is its share of the total by its capacity, or an equal share if
    the capacity of any broker is unknown.
    """

    goal: GoalName
    """The balanced quantity."""
    tolerance: float
    """Tolerance of the request."""
    smallest: float
    """Smallest load of a broker over its ideal load."""
    largest: float
    """Largest load of a broker over its ideal load."""
    largest_bound: float
    """Lower bound on `largest`."""
    gap: float
    """Relative optimality gap: (largest − bound) / largest."""


class ExcessOfBroker(AnswerRecord):
    """A load above its limit."""

    broker: int
    """Id of the broker."""
    resource: Limited
    """Resource that is limited."""
    value: float
    """The load: bytes, bytes/s, vCPU or a count."""
    limit: float
    """The limit, in the same unit."""
    soft: bool
    """Whether the limit is soft."""


class TotalExcess(AnswerRecord):
    """The sum of (load − limit) / limit over brokers and resources."""

    total: float
    """The sum."""
    lower_bound: float
    """Lower bound on the sum."""
    optimal: bool
    """Whether the sum is its lower bound."""


class ExcessReport(AnswerRecord, schema="ExcessDocument"):
    """Excess over limits, and how much of it no plan avoids."""

    brokers: list[ExcessOfBroker]
    """Loads above limits, by broker id and resource."""
    hard: TotalExcess
    """Excess over hard limits."""
    soft: TotalExcess
    """Excess over soft limits."""


class BrokerWeight(AnswerRecord):
    """A broker that is balanced by its weight."""

    broker: int
    """Id of the broker."""
    weight: int
    """Weight of the broker, as a whole number without a factor that all have in common."""
    share: float
    """Share of the load of the brokers of its set that is in proportion to the weight, in the unit of `by`."""
    low: int | None
    """Lower end of the broker's band; null if the load is no count, or replicas stay on their brokers."""
    high: int | None
    """Upper end of the broker's band; null if the load is no count, or replicas stay on their brokers."""
    load: int
    """Load of the broker after the plan, in the unit of `by`."""


class TradeOffPoint(AnswerRecord):
    """The least movement after which the load of every broker is between `low` and `high`."""

    low: int | None
    """Lower end of the load band, in the unit of the balanced load; null if broker sets have bands of their own."""
    high: int | None
    """Upper end of the load band, in the unit of the balanced load; null if broker sets have bands of their own."""
    moved_replicas: int
    """Number of replicas that are copied."""
    moved_bytes: int
    """Bytes that are copied, of replicas of known size."""
    optimal: bool
    """Whether no plan within this band moves less."""


class Ends(AnswerRecord):
    """The smallest and the largest load of brokers that may receive replicas."""

    smallest: int
    """Smallest load of a broker, in the unit of `by`."""
    largest: int
    """Largest load of a broker, in the unit of `by`."""


class TopicEnds(Ends):
    """Replicas of a topic on the brokers that may receive replicas."""

    topic: str
    """Name of the topic."""
    low: int
    """Lower end of the topic's band, in replicas."""
    high: int
    """Upper end of the topic's band, in replicas."""
    before: Ends
    """Extremes before the plan."""


class PerTopicBalance(AnswerRecord):
    """The balance of each topic."""

    topics: int
    """Number of topics that are balanced."""
    excess: int
    """Number of replicas by which topics are outside their bands, summed over brokers; the fewest possible."""
    worst: list[TopicEnds]
    """The topics with the widest range of replicas after the plan, then before it; 20 at most."""


class ReplicasBalance(Ends, kw_only=True):
    """The replica load of brokers after the plan. `low` and `high` are the load band; null without one."""

    by: ReplicasBy
    """Load that is balanced: `count` is replicas, other loads are sums over replicas."""
    low: int | None
    """Lower end of the load band, in the unit of `by`; null without a band."""
    high: int | None
    """Upper end of the load band, in the unit of `by`; null without a band."""
    before: Ends
    """Extremes before the plan."""
    largest_bound: int | None
    """By bytes or throughput: no plan has a smaller `largest`."""
    per_topic: PerTopicBalance | None
    """Balance of each topic; null if the request has none."""
    weights: list[BrokerWeight] | None = ABSENT
    """Brokers that are balanced, if their weights differ; `low` and `high` then are extremes."""


class PreferredRacks(AnswerRecord, schema="PreferredRacksDocument"):
    """Partitions with preferred racks, by the rack of their leader."""

    first: int
    """Number of partitions led in the first rack of their list."""
    other_listed: int
    """Number of partitions led in another rack of their list."""
    elsewhere: int
    """Number of partitions led in none of these racks."""


class PerTopicLeaders(AnswerRecord):
    """The balance of the leaders of each topic."""

    topics: int
    """Number of topics that are balanced."""
    excess: int
    """Number of leaders by which topics are outside their bands, summed over brokers; the fewest possible."""
    worst: list[TopicEnds]
    """The topics with the widest range of leaders after the plan, then before it; 20 at most."""


class SpreadTopic(TopicEnds):
    """A topic whose leaders are spread, over the brokers with a replica that may lead."""

    brokers: list[int]
    """Ids of these brokers, ascending."""


class LeadersBalance(Ends, kw_only=True):
    """The leader load of brokers after the plan, and the certificate of the number of leader changes."""

    by: LeadersBy
    """Load that is balanced: `count` is preferred leaders, other loads are sums over led partitions."""
    low: int | None
    """Lower end of the load band, in the unit of `by`; null without a band."""
    high: int | None
    """Upper end of the load band, in the unit of `by`; null without a band."""
    before: Ends
    """Extremes before the plan."""
    largest_bound: int
    """Lower bound on `largest`, in the unit of `by`."""
    changes: int
    """Number of partitions whose preferred leader changes."""
    bound: int
    """Lower bound on `changes`."""
    optimal: bool
    """Whether `changes` reaches its lower bound."""
    gap: float
    """Relative optimality gap: (changes − bound) / changes; 0 if optimal."""
    preferred_racks: PreferredRacks | None = ABSENT
    """With `preferred_racks`: where leaders are."""
    per_topic: PerTopicLeaders | None
    """Balance of the leaders of each topic; null if the request has none."""
    spread: list[SpreadTopic] | None = ABSENT
    """With `spread_leaders`: each of these topics, by name; by broker set if there are any."""
    weights: list[BrokerWeight] | None = ABSENT
    """Brokers whose leaders are balanced by count, if their weights differ; `low` and `high` then are extremes."""
    solver: str
    """The solver that computed the leaders."""


class Banded(Ends):
    """A load of the brokers of a set. `low` and `high` are the load band; null without one."""

    low: int | None
    """Lower end of the load band; null without a band."""
    high: int | None
    """Upper end of the load band; null without a band."""
    before: Ends
    """Extremes before the plan."""
    largest_bound: int | None
    """Lower bound on `largest`; null if the load is a count, whose band is exact."""


class BrokerSetBalance(AnswerRecord, kw_only=True):
    """A broker set with its topics: moved, balanced and proven on its own."""

    set: str | None
    """Name of the broker set; null for the brokers and topics outside every set."""
    brokers: list[int]
    """Ids of the brokers that stay in the set, ascending."""
    topics: int
    """Number of topics of the set that may move."""
    partitions: int
    """Number of their partitions."""
    replicas: Banded
    """Load of the set's brokers by replicas, in units of `balance.replicas.by`."""
    leaders: Banded
    """Load of the set's brokers by preferred leaders, in units of `balance.leaders.by`."""
    moved_replicas: int
    """Number of replicas that are copied to the set's brokers."""
    moved_bytes: int
    """Bytes that are copied to the set's brokers, of replicas of known size."""
    moved: int
    """The minimised quantity: moved bytes or moved replicas."""
    lower_bound: int
    """Lower bound on `moved`."""
    gap: float
    """Relative optimality gap: (moved − lower_bound) / moved; 0 if optimal."""
    resources: list[ReachedGoal] | None
    """Result of each goal over resources among the set's brokers; null if the request has none."""


class Balance(AnswerRecord, schema="BalanceDocument", kw_only=True):
    """The balance of brokers."""

    replicas: ReplicasBalance
    """Balance of replicas over brokers."""
    leaders: LeadersBalance
    """Balance of preferred leaders over brokers."""
    resources: list[ReachedGoal] | None
    """Result of each goal over resources; null if the request has none."""
    sets: list[BrokerSetBalance] | None = ABSENT
    """With `broker_sets`: each set that has topics, by name; those outside every set come last."""


def goals_of(placement: ResourcePlacement) -> list[ReachedGoal]:
    """Results of goals, in the order of the request, as shares of the brokers' ideal loads."""
    return [_goal(reached) for reached in placement.goals]


def excess_of(problem: ReassignmentProblem, placement: ResourcePlacement) -> ExcessReport | None:
    """The loads above limits by broker and resource, with the least excess in all; None if every limit holds."""
    excess, limits = placement.excess, problem.limits
    if excess is None:
        return None
    places, columns = np.nonzero(excess.above)
    above = [
        ExcessOfBroker(
            broker=int(problem.brokers.ids[place]),
            resource=cast("Limited", RESOURCES[column]),
            value=in_unit(int(placement.loads[place, column]), column),
            limit=in_unit(int(limits.upper[place, column]), column),
            soft=bool(limits.is_soft[column]),
        )
        for place, column in zip(places.tolist(), columns.tolist(), strict=True)
    ]
    return ExcessReport(above, _total(excess.hard), _total(excess.soft))


def _goal(reached: BalancedGoal) -> ReachedGoal:
    largest = reached.largest
    return ReachedGoal(
        goal=cast("GoalName", reached.goal.name),
        tolerance=float(reached.goal.tolerance),
        smallest=round(float(reached.smallest), _DIGITS),
        largest=round(float(largest.value), _DIGITS),
        largest_bound=round(float(largest.lower_bound), _DIGITS),
        gap=largest.gap,
    )


def _total(certificate: Certificate[Fraction]) -> TotalExcess:
    value, bound = (round(float(each), _DIGITS) for each in (certificate.value, certificate.lower_bound))
    return TotalExcess(value, bound, certificate.is_reached)


NAMED_TOPICS = 20
"""How many topics are listed, the least balanced first."""


def balance_of(problem: ReassignmentProblem, solution: ReassignmentSolution, moves: Moves) -> Balance:
    """The balance of replicas, of leaders and over resources, with their bounds."""
    target, after = problem.movement.target, solution.leaders.after
    parts = () if problem.movement.share is None else zip(problem.parts, solution.placed.parts, strict=True)
    weights = [row for part, lists in parts for row in _weights(problem, part, lists)]
    return Balance(
        replicas=ReplicasBalance(
            by=cast("ReplicasBy", problem.replicas.by),
            **_banded(problem, after, problem.replicas, solution.placement.band, target),
            largest_bound=solution.placed.largest_bound,
            per_topic=None if problem.topics is None else _per_topic(problem, solution),
            weights=ABSENT if problem.movement.share is None else weights,
        ),
        leaders=_leaders(problem, solution),
        resources=None if solution.resources is None else goals_of(solution.resources.placement),
        sets=_sets(problem, solution, moves) if problem.sets.names else ABSENT,
    )


def _leaders(problem: ReassignmentProblem, solution: ReassignmentSolution) -> LeadersBalance:
    """The balance of leaders, with its bounds."""
    target, after, changes = problem.movement.target, solution.leaders.after, solution.leaders.changes
    preferred = problem.leaders.preferred
    parts, spread = solution.leaders.parts, solution.leaders.spread
    is_weighted = problem.weights_of_leaders is not None and any(led.choice.bounds is not None for led in parts)
    return LeadersBalance.of(
        changes,
        by=problem.leaders.by,
        **_banded(problem, after, problem.leaders, solution.leaders.band, target),
        largest_bound=solution.leaders.largest_bound,
        changes=changes.value,
        bound=changes.lower_bound,
        preferred_racks=None if preferred is None else PreferredRacks(*preferred.led(after[:, 0])),
        per_topic=None if problem.topic_leaders is None else _leaders_per_topic(problem, solution),
        spread=[_spread(problem, index, led) for index, led in spread] if spread else ABSENT,
        weights=[row for led in parts for row in _weights_of_leaders(problem, led)] if is_weighted else ABSENT,
    )


def weights_of_targets(movement: MovementProblem) -> Int64s:
    """(targets,) int64 weight of each broker that is balanced; 1 of all without weights."""
    share = np.ones(len(movement.base), np.int64) if movement.share is None else movement.share
    return np.asarray(share[movement.target], np.int64)


def _weights(problem: ReassignmentProblem, part: ProblemPart, placement: ReplicaPlacement) -> Iterator[BrokerWeight]:
    """The weight of each balanced broker of a part, its share of the load, and its bounds."""
    objective, lists = problem.replicas, placement.replicas
    loads = objective.base_load + per_broker(lists, len(objective.base_load), objective.load[part.rows])
    return _weighted_rows(problem, part.movement.target, weights_of_targets(part.movement), loads, placement.bounds)


def _weights_of_leaders(problem: ReassignmentProblem, led: LedPart) -> Iterator[BrokerWeight]:
    """As `_weights`, of the leaders of a part."""
    target, share = led.problem.target, led.problem.share
    weights = np.ones(len(target), np.int64) if share is None else share
    return _weighted_rows(problem, target, weights[target], led.problem.loads(led.choice.leaders), led.choice.bounds)


def _weighted_rows(
    problem: ReassignmentProblem, target: Bools, weights: Int64s, loads: Int64s, bounds: BrokerBounds | None
) -> Iterator[BrokerWeight]:
    """A row for each target broker. weights : (targets,) int64. loads : (brokers,) int64."""
    unit = int(loads[target].sum()) / max(1, int(weights.sum()))
    for place, weight in zip(np.flatnonzero(target).tolist(), weights.tolist(), strict=True):
        yield BrokerWeight(
            broker=int(problem.brokers.ids[place]),
            weight=weight,
            share=round(unit * weight, 6),
            low=None if bounds is None else int(bounds.low[place]),
            high=None if bounds is None else int(bounds.high[place]),
            load=int(loads[place]),
        )


def _sets(problem: ReassignmentProblem, solution: ReassignmentSolution, moves: Moves) -> list[BrokerSetBalance]:
    """Each part of the problem."""
    placements, led = solution.placed.parts, solution.leaders.parts
    of_parts: Sequence[LedPart | None] = led if len(led) == len(problem.parts) else [None] * len(problem.parts)
    return [
        _set(problem, solution, moves, number, part, placement, leaders)
        for number, (part, placement, leaders) in enumerate(zip(problem.parts, placements, of_parts, strict=True))
    ]


def _set(
    problem: ReassignmentProblem,
    solution: ReassignmentSolution,
    moves: Moves,
    number: int,
    part: ProblemPart,
    placement: ReplicaPlacement,
    led: LedPart | None,
) -> BrokerSetBalance:
    target, after, resources = part.movement.target, solution.leaders.after, solution.resources
    per_row = moves.is_copied[part.rows].sum(axis=1)
    certificate = placement.certificate
    return BrokerSetBalance(
        set=part.share.name,
        brokers=problem.brokers.ids[part.share.brokers & ~problem.brokers.is_removed].tolist(),
        topics=len(np.unique(problem.scope.topic_of[part.rows])),
        partitions=len(part.rows),
        replicas=Banded(
            **_banded(problem, after, problem.replicas, placement.band, target),
            largest_bound=solution.placed.largest_bounds[number],
        ),
        leaders=Banded(
            **_banded(problem, after, problem.leaders, None if led is None else led.choice.band, target),
            largest_bound=None if led is None else solution.leaders.largest_bounds[number],
        ),
        moved_replicas=int(per_row.sum()),
        moved_bytes=int((per_row * problem.sizes.copied_bytes[part.rows]).sum()),
        moved=certificate.value,
        lower_bound=certificate.lower_bound,
        gap=certificate.gap,
        resources=None if resources is None else goals_of(resources.parts[number].placement),
    )


def _per_topic(problem: ReassignmentProblem, solution: ReassignmentSolution) -> PerTopicBalance:
    """The bands of topics, and the topics that are the least balanced afterwards, then before."""
    rows = [row for part in problem.parts for row in _topics(problem, part, solution)]
    return PerTopicBalance(*_worst(rows, solution.placement.topic_excess))


def _leaders_per_topic(problem: ReassignmentProblem, solution: ReassignmentSolution) -> PerTopicLeaders:
    """As `_per_topic`, of the leaders and their target brokers."""
    topics, brokers = problem.topic_leaders, len(problem.brokers.ids)
    rows: list[_TopicRow] = []
    for part, led in zip(problem.parts, solution.leaders.parts, strict=True):
        if topics is None or led.problem.topics is None or not led.problem.target.any():
            continue
        target, of_part = led.problem.target, replace(topics, topic_of=topics.topic_of[part.rows])
        first = (solution.leaders.after[part.rows, :1], problem.before[part.rows, :1])
        now, then = (of_part.table(leaders, brokers)[:, target] for leaders in first)
        nothing = np.zeros((topics.topics, brokers), np.int64)
        low, high = topic_bands(now.sum(axis=1), topics.tolerance, target, nothing, problem.weights_of_leaders)
        here = np.unique(of_part.topic_of).tolist()
        rows += [
            _topic_row(problem.scope.topics[topic], low[topic, target], high[topic, target], now[topic], then[topic])
            for topic in here
            if topics.tolerance[topic] is not None
        ]
    return PerTopicLeaders(*_worst(rows, solution.leaders.topic_excess))


def _spread(problem: ReassignmentProblem, index: int, led: LedPart) -> SpreadTopic:
    """A topic whose leaders are spread; the brokers are those with a replica that may lead."""
    of_leaders, target, choice = problem.leaders, led.problem.target, led.choice
    is_topic = np.zeros(len(problem.before), np.bool_) if of_leaders.spread is None else of_leaders.spread == index
    [topic] = np.unique(problem.scope.topic_of[is_topic]).tolist()
    band, then = choice.band or Band(0, 0), per_broker(problem.before[is_topic, :1], len(target))
    low, high = (np.full(np.count_nonzero(target), end) for end in (band.low, band.high))
    now = led.problem.loads(choice.leaders)[target]
    ends = _topic_row(problem.scope.topics[topic], low, high, now, then[target])[2]
    return SpreadTopic(**vars(ends), brokers=problem.brokers.ids[target].tolist())


_TopicRow: TypeAlias = tuple[int, int, TopicEnds]
"""The range of a topic after and before, and its report."""


def _worst(rows: list[_TopicRow], excess: Any) -> tuple[int, Any, list[TopicEnds]]:
    rows.sort(key=lambda row: row[:2], reverse=True)
    return len(rows), excess, [ends for _, _, ends in rows[:NAMED_TOPICS]]


def _topic_row(name: str, low: Int64s, high: Int64s, now: Int64s, then: Int64s) -> _TopicRow:
    """Of one topic: the bands of the target brokers, and their counts afterwards and before."""
    every = np.ones(len(now), np.bool_)
    after, before = _ends(now, every), _ends(then, every)
    ends = _ends(low, every).smallest, _ends(high, every).largest
    row = TopicEnds(after.smallest, after.largest, name, *ends, before)
    return after.largest - after.smallest, before.largest - before.smallest, row


def _topics(problem: ReassignmentProblem, part: ProblemPart, solution: ReassignmentSolution) -> list[_TopicRow]:
    """The topics of a part that have a band."""
    topics, movement, brokers = part.topics, part.movement, len(problem.brokers.ids)
    if topics is None:
        return []
    low, high = (bounds[:, movement.target] for bounds in topics.bands(movement))
    after, before = (replicas[part.rows] for replicas in (solution.leaders.after, problem.before))
    now, then = (topics.table(replicas, brokers)[:, movement.target] for replicas in (after, before))
    names = [problem.scope.topics[topic] for topic in np.unique(problem.scope.topic_of[part.rows]).tolist()]
    return [
        _topic_row(names[topic], low[topic], high[topic], now[topic], then[topic])
        for topic, tolerance in enumerate(topics.tolerance)
        if tolerance is not None
    ]


def _banded(
    problem: ReassignmentProblem,
    after: Int32s,
    objective: ReplicaObjective | LeaderObjective,
    band: Band | None,
    target: Bools,
) -> dict[str, Any]:
    """The band, None if there was none, and the extremes over the target brokers after the plan and before it."""
    before, ends = (_ends(objective.loads(lists), target) for lists in (problem.before, after))
    low, high = (None, None) if band is None else (band.low, band.high)
    return {"low": low, "high": high, "before": before, **vars(ends)}


def _ends(loads: Int64s, target: Bools) -> Ends:
    of_targets = loads[target]
    return Ends(int(of_targets.min()), int(of_targets.max())) if len(of_targets) else Ends(0, 0)


def trade_off_point(problem: ReassignmentProblem, placements: Sequence[ReplicaPlacement]) -> TradeOffPoint:
    """One point of movement against balance: the placement of each part."""
    placement = PlacedReplicas.of(problem, placements).whole
    per_row = Moves.of(problem, placement.replicas).is_copied.sum(axis=1)
    return TradeOffPoint(
        low=None if placement.band is None else placement.band.low,
        high=None if placement.band is None else placement.band.high,
        moved_replicas=int(per_row.sum()),
        moved_bytes=int((per_row * problem.sizes.copied_bytes).sum()),
        optimal=placement.certificate.optimal,
    )
