"""Plan the consumers of a group: how many in each interval, which partitions each reads, and when to start them."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from app.core import consumers as scaling
from app.core.groups.registry import Assignor, assignor_for
from app.core.model import Placement
from app.errors import Json
from app.formats.syntax.quantities import counted
from app.services.bodies import AnswerRecord
from app.services.cautions import Caution, caution
from app.services.consumers import answers
from app.services.consumers.answers import ConsumersAnswer
from app.services.consumers.requests import READER, ConsumersRequest, Rates, check_bounds, check_topics, rates_of
from app.services.limits import Limits
from app.services.plans import Allowance, PlannedPartition, Planner, Site
from app.services.plans.record import own_fields
from app.store.records import NewPlan, PlanHead

KIND = "consumers"
MOST_TRIES = 100
"""Numbers of consumers for which Kafka's assignor is computed."""
_RATE_WORK, _INTERVAL_WORK = 10, 50
"""Partitions of another plan that take as long as one rate; rates that take as long as an interval without any."""
_HOUR = 3_600


@dataclass(frozen=True, slots=True, eq=False)
class Scaling:
    """Consumers to plan, with nothing left to look up.

    Parameters
    ----------
    core : the problem, with rates of consumption. racks : number of racks of the cluster, at least 1.
    """

    request: ConsumersRequest
    rates: Rates
    core: scaling.ConsumersProblem
    racks: int
    assignor: Assignor
    canonical: dict[str, Json] = field(repr=False)

    def in_hours(self, consumers: int) -> float:
        """Hours of a sum of consumers over intervals."""
        return consumers * self.rates.step_s / _HOUR

    def cost(self, hours: float) -> float | None:
        """Their price, or None if prices are unknown."""
        price = self.request.price_per_consumer_hour
        return None if price is None else round(hours * price, 6)


class _ConsumersPlanner(Planner[ConsumersRequest, Scaling, list[scaling.Interval]]):
    kind, reader = KIND, READER
    engine_version = 3

    def check(self, request: ConsumersRequest, _limits: Limits) -> None:
        check_bounds(request.min, request.max)

    def resolve(self, request: ConsumersRequest, site: Site, allowance: Allowance) -> Scaling:
        rates = rates_of(request, allowance.limits)
        intervals, partitions = rates.bytes_per_s.shape
        allowance.check_work(intervals * (partitions + _INTERVAL_WORK) * _RATE_WORK, path=("series",))
        check_topics(rates, site.cluster)
        core = scaling.ConsumersProblem(
            scaling.delayed(rates.bytes_per_s, int(request.delay_s // rates.step_s)),
            int(request.capacity_bytes_per_s),
            request.min,
            request.max,
            int(request.hold_s // rates.step_s),
            request.spare,
        )
        racks = {broker.rack for broker in site.cluster.brokers if broker.rack} if site.cluster else ()
        assignor = assignor_for(request.assignor, site.version)
        topics = [*rates.topics] if request.topics is not None else None
        return Scaling(request, rates, core, max(1, len(racks)), assignor, own_fields(request) | {"topics": topics})

    def solve(self, problem: Scaling) -> list[scaling.Interval]:
        return scaling.scale(problem.core)

    def violations(self, problem: Scaling, solution: list[scaling.Interval]) -> Sequence[str]:
        return [*scaling.consumer_violations(problem.core, solution)]

    def title(self, plan: NewPlan) -> str:
        counts = [interval["consumers"] for interval in _intervals(plan)]
        topics = [*_intervals(plan)[0]["assignment"]]
        least = f"{min(counts)} to " if min(counts) < max(counts) else ""
        of = topics[0] if len(topics) == 1 else counted(len(topics), "topic")
        return f"Read {of} with {least}{counted(max(counts), 'consumer')}"

    def summary(self, plan: NewPlan) -> str:
        answer: Any = plan.answer
        proven = f"{answer['proven_consumers']} of {counted(len(answer['intervals']), 'interval')} proven fewest"
        return f"{answer['consumer_hours']:,.4g} consumer hours; {proven}"

    def answer(self, problem: Scaling, solution: list[scaling.Interval]) -> ConsumersAnswer:
        oversized = [*_oversized(problem)]
        hours = problem.in_hours(sum(each.consumers for each in solution))
        return ConsumersAnswer(
            prediction="pinned",
            seed=None,
            intervals=[*_intervals_of(problem, solution)],
            step_s=problem.rates.step_s,
            proven_consumers=sum(each.consumers == each.lower_bound for each in solution),
            proven_moves=sum(each.moved == each.moved_lower_bound for each in solution),
            consumer_hours=hours,
            cost=problem.cost(hours),
            moved_bytes_per_s=sum(each.moved for each in solution) / len(solution),
            front=[*_front(problem, solution)],
            schedule=_schedule(problem, [each.consumers for each in solution]),
            kafka=_with_assignor(problem, solution),
            oversized=oversized,
            partitions=[*_partitions(problem)],
            warnings=[*_cautions(problem, solution, len(oversized))],
        )

    def listed_row(self, _head: PlanHead | NewPlan, row: PlannedPartition) -> AnswerRecord:
        return answers.ScaledPartitionDocument(row.topic, row.partition, [int(one) for one in row.row])

    def placements(self, problem: Scaling, solution: list[scaling.Interval]) -> Sequence[Placement]:
        owners = np.column_stack([each.owners for each in solution])
        return [Placement(name, 0, np.ascontiguousarray(rows)) for name, rows in _by_topic(problem, owners)]


PLANNER = _ConsumersPlanner()


def _intervals(plan: PlanHead | NewPlan) -> Any:
    return plan.answer["intervals"]


def _by_topic(problem: Scaling, rows: Any) -> Iterator[tuple[str, Any]]:
    """An array's part for each topic; its first axis is partitions."""
    ends = np.cumsum([*problem.rates.topics.values()])
    yield from zip(problem.rates.topics, np.split(rows, ends[:-1]), strict=True)


def _intervals_of(problem: Scaling, solution: Sequence[scaling.Interval]) -> Iterator[answers.ConsumersInterval]:
    consumed, arrived = problem.core.rates, problem.rates.bytes_per_s
    backlog = (arrived - consumed).sum(axis=1, dtype=np.float64).cumsum() * problem.rates.step_s
    for place, each in enumerate(solution):
        yield answers.ConsumersInterval.of(
            each,
            from_=problem.rates.moment(place),
            bytes_per_s=int(consumed[place].sum()),
            assignment={name: owners.tolist() for name, owners in _by_topic(problem, each.owners)},
            moved_bytes_per_s=each.moved,
            lost_bytes_per_s=each.lost,
            backlog_bytes=int(backlog[place]),
        )


def _front(problem: Scaling, solution: Sequence[scaling.Interval]) -> Iterator[answers.ConsumersFront]:
    for point in scaling.front(problem.core, solution):
        hours, hold_s = problem.in_hours(point.consumers), point.hold * problem.rates.step_s
        yield answers.ConsumersFront(hold_s, point.spare, hours, problem.cost(hours), point.moved)


def _schedule(problem: Scaling, counts: Sequence[int]) -> list[answers.ConsumersStep]:
    """When to have how many consumers: more of them are ordered so that they read when they are needed."""
    found: dict[str, int] = {}
    before = 0
    for place, count in enumerate(counts):
        if count != before:
            lead = problem.request.start_s / problem.rates.step_s if count > before else 0
            found[problem.rates.moment(place - lead)] = count
        before = count
    return [answers.ConsumersStep(*step) for step in found.items()]


def _with_assignor(problem: Scaling, solution: Sequence[scaling.Interval]) -> answers.ConsumersKafka:
    """How Kafka's assignor would do: the consumers that it needs, and where the planned number is too small for it."""
    capacity, rates, topics = problem.core.capacity, problem.core.rates, problem.rates.topics
    partitions = rates.shape[1]
    replays = problem.assignor.replays

    def is_above(consumers: int) -> Any:
        return scaling.largest_loads(rates, topics, consumers, problem.assignor.assign) > capacity

    needed = max(each.lower_bound for each in solution)
    most = max(needed, min(partitions, needed + MOST_TRIES))
    tried = range(needed, most + 1) if rates.max() <= capacity else ()
    # More consumers than partitions are idle.
    counts = np.minimum([each.consumers for each in solution], partitions)
    above = sum(int(is_above(count)[counts == count].sum()) for count in np.unique(counts).tolist())
    return answers.ConsumersKafka.of(
        replays and replays.holds,
        assignor=problem.request.assignor,
        consumers_needed=next((count for count in tried if not is_above(min(count, partitions)).any()), None),
        intervals_above_capacity=above,
    )


def _oversized(problem: Scaling) -> Iterator[answers.OversizedPartition]:
    """Partitions above the capacity of a consumer at their peak, and remedies."""
    capacity = problem.core.capacity
    for name, rates in _by_topic(problem, problem.core.rates.T):
        for partition in np.flatnonzero(rates.max(axis=1) > capacity).tolist():
            peak = int(rates[partition].max())
            needed, _ = scaling.partitions_needed(peak, len(rates), capacity, growth=0, months=0, multiple=1)
            intervals = int((rates[partition] > capacity).sum())
            yield answers.OversizedPartition(name, partition, peak, intervals, needed)


def _partitions(problem: Scaling) -> Iterator[answers.PartitionsNeeded]:
    wanted = problem.request.partitions
    if wanted is None:
        return
    for name, rates in _by_topic(problem, problem.rates.bytes_per_s.T):
        needed, months = scaling.partitions_needed(
            float(rates.max()),
            len(rates),
            problem.core.capacity,
            growth=wanted.growth_per_month,
            months=wanted.horizon_months,
            multiple=problem.racks,
        )
        yield answers.PartitionsNeeded(name, needed, len(rates), months)


def _cautions(problem: Scaling, solution: Sequence[scaling.Interval], oversized: int) -> Iterator[Caution]:
    if grown := tuple(problem.request.series.size_growth_of or ()):
        yield caution("rates_of_size_growth", topics=grown)
    if lacking := [each for each in solution if each.consumers < each.lower_bound]:
        needed = max(each.lower_bound for each in lacking)
        yield caution("consumers_too_few", max=problem.request.max, lacking=lacking, needed=needed)
    if oversized:
        yield caution("oversized_partitions", oversized=oversized)
