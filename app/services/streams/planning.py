"""Plan a Streams application: where its tasks run, whether that is ideal, and the cost of each loss."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from app.core.kafka_versions import KafkaRange, KafkaVersion
from app.core.model import NO_REPLICA, Placement
from app.core.streams.model import RackAwareStrategy, StreamsAssignment, name_of
from app.core.streams.rack_aware.racks import RacksOff, why_off
from app.core.streams.registry import StreamsAssignor, later_versions, streams_assignor_for
from app.core.streams.standbys import require_tags_within_limits
from app.core.streams.violations import violations
from app.errors.every import ConflictingFields, Json
from app.formats.syntax.quantities import counted
from app.services.bodies import AnswerRecord
from app.services.cautions import Caution, caution
from app.services.groups import listed_metadata, metadata_of
from app.services.limits import Limits
from app.services.plans import Allowance, PlannedPartition, Planner, Site
from app.services.plans.record import own_fields
from app.services.snapshots import check_brokers
from app.services.streams.answers import StreamsAnswer, StreamsStep, TaskViolation
from app.services.streams.events import AppliedEvents, events_of, steps_of
from app.services.streams.optimum import addition_of, best_of, compared_with_classic, rack_aware_of
from app.services.streams.recorded import with_recorded_clients
from app.services.streams.reports import report
from app.services.streams.requests import READER, Protocol, StreamsRequest, omit_if_empty
from app.services.streams.rows import PlannedTaskDocument, client_names, placements_of
from app.services.streams.sources import StreamsSource, source_of
from app.store.records import NewPlan, PlanHead


def cautions_of(
    source: StreamsSource, assignor: StreamsAssignor, assignment: StreamsAssignment, steps: Sequence[StreamsStep]
) -> Iterator[Caution]:
    """Warnings about implicit behaviour of Kafka, and the protocol that the prediction holds for."""
    options = source.options
    tags = options.rack_aware_assignment_tags
    is_rack_aware = options.rack_aware_assignment_strategy is not RackAwareStrategy.NONE
    if tags and not assignor.uses_tags:
        yield Caution("assignor_ignores_tags", f"{assignor.name} places standbys by load alone, whatever their tags")
    if tags and not options.num_standby_replicas:
        yield caution("no_standbys")
    if is_rack_aware:
        yield from _of_racks(source, assignor)
    if (tags or is_rack_aware) and not assignment.threads:
        yield caution("classic_protocol_only")
    if assignment.probing_rebalance:
        yield caution("probing_rebalance_follows", warmups=int(assignment.warmup.sum()))
    if assignment.by_chance or any(step.by_chance for step in steps):
        yield caution("ties_broken_by_chance")
    if assignor.reads_offsets:
        yield from _of_offsets(source)


def _of_racks(source: StreamsSource, assignor: StreamsAssignor) -> Iterator[Caution]:
    off = why_off(source.clients, source.options, source.partitions)
    if not assignor.uses_racks:
        yield Caution("assignor_ignores_racks", f"{assignor.name} ignores racks")
    elif off is not None and off.reason is not RacksOff.NO_STRATEGY:
        yield Caution("rack_aware_assignment_off", f"KIP-925 is off, which Kafka does not report: {off.detail}")


def _of_offsets(source: StreamsSource) -> Iterator[Caution]:
    owners = Counter(task for client in source.clients for thread in client.threads for task in thread.standby)
    reported = {task for client in source.clients for thread in client.threads for task in thread.task_offsets}
    unknown = [name_of(task) for task, count in sorted(owners.items()) if count > 1 and task not in reported]
    if unknown:
        yield caution("task_offsets_unknown", unknown=unknown, first=", ".join(unknown[:20]))


KIND = "streams"
_REBALANCES_A_STEP = 30
"""Most rebalances of a step: tasks warm up two at a time, and each pair is a probing rebalance."""
_RACK_AWARE_WORK = 100
"""How many times as long KIP-925's flow takes, for a client and task, as the rest does."""


@dataclass(frozen=True, slots=True, eq=False)
class StreamsProblem:
    """An application to predict, with nothing left to look up.

    Parameters
    ----------
    version : the release that assigns.
    source : clients, tasks, options and the partitions that tasks read.
    assignor : of the protocol, as the release has it.
    events : after the plan holds, as the core applies them.
    canonical : the request with nothing left to guess.
    """

    version: KafkaVersion
    source: StreamsSource
    assignor: StreamsAssignor
    protocol: Protocol
    events: AppliedEvents = field(repr=False)
    canonical: dict[str, Json] = field(repr=False)


class _StreamsPlanner(Planner[StreamsRequest, StreamsProblem, StreamsAssignment]):
    kind, reader = KIND, READER
    certificate_path = ("best_standbys", "certificate")

    def check(self, request: StreamsRequest, limits: Limits) -> None:
        if request.snapshot_id is not None and (request.brokers is not None or request.topics is not None):
            detail = "a request names either a snapshot (snapshot_id or cluster) or brokers and topics"
            raise ConflictingFields(detail, path=("snapshot_id",))
        check_brokers(request.brokers or (), limits)
        limits.check_count("topics", request.topics or (), path=("topics",))
        limits.check_count("members", request.clients, path=("clients",))
        limits.check_count("partitions", request.tasks or (), path=("tasks",))
        limits.check_count("events", request.events, path=("events",))

    def resolve(self, request: StreamsRequest, site: Site, allowance: Allowance) -> StreamsProblem:
        assignor = streams_assignor_for(request.protocol, request.assignor, site.version)
        request, cautions = with_recorded_clients(request, site.cluster)
        metadata = None if site.cluster is None else metadata_of(site.cluster)
        if metadata is None and request.topics is not None:
            metadata = listed_metadata(request.brokers or (), request.topics)
        source = source_of(request, metadata)
        source = replace(source, cautions=(*cautions, *source.cautions))
        require_tags_within_limits(source.clients, source.options)
        _check_size(request, source, allowance)
        return StreamsProblem(
            site.version, source, assignor, request.protocol, events_of(request, source), _canonical(request, assignor)
        )

    def releases(self, problem: StreamsProblem) -> KafkaRange | None:
        return problem.assignor.replays.holds

    def later_versions(self, problem: StreamsProblem) -> Sequence[KafkaVersion]:
        return later_versions(problem.assignor, problem.version)

    def listed_row(self, head: PlanHead | NewPlan, row: PlannedPartition) -> AnswerRecord:
        active, *others = row.row
        names = client_names(head)
        standby = [names[place] for place in others if place != NO_REPLICA]
        return PlannedTaskDocument(
            f"{row.topic}_{row.partition}", None if active == NO_REPLICA else names[active], standby
        )

    def solve(self, problem: StreamsProblem) -> StreamsAssignment:
        source = problem.source
        return problem.assignor.assign(source.clients, source.tasks, source.options, source.partitions)

    def title(self, plan: NewPlan) -> str:
        """`Assign 12 tasks to 3 clients under high_availability`."""
        answer: Any = plan.answer
        tasks, clients = counted(len(answer["tasks"]), "task"), counted(len(answer["loads"]["per_client"]), "client")
        return f"Assign {tasks} to {clients} under {answer['assignor']}"

    def summary(self, plan: NewPlan) -> str:
        """`4 active tasks move; 12 of 12 stateful tasks ideal`."""
        answer: Any = plan.answer
        moved = answer["movement"]["active_moved"]
        judged = [task["ideal"] for task in answer["tasks"] if task["ideal"] is not None]
        ideal = [f"{sum(judged):,} of {counted(len(judged), 'stateful task')} ideal"] if judged else []
        return "; ".join([f"{counted(moved, 'active task')} {'moves' if moved == 1 else 'move'}", *ideal])

    def answer(self, problem: StreamsProblem, solution: StreamsAssignment) -> StreamsAnswer:
        source, assignor = problem.source, problem.assignor
        steps = steps_of(problem.events, source, assignor.assign)
        best, best_cautions = best_of(source, solution)
        addition, addition_cautions = addition_of(source)
        compared = None if problem.protocol == "classic" else compared_with_classic(source, solution)
        own_cautions = cautions_of(source, assignor, solution, steps)
        cautions = (*source.cautions, *own_cautions, *best_cautions, *addition_cautions)
        return StreamsAnswer(
            prediction="replay",
            seed=None,
            assignor=assignor.name,
            protocol=problem.protocol,
            **report(source, solution),
            rack_aware=rack_aware_of(source, solution, assignor),
            best_standbys=best,
            addition=addition,
            compared_with_classic=compared,
            steps=steps,
            violations=[
                TaskViolation.of(violation, tasks=[f"{part}_{number}" for part, number in violation.tasks])
                for violation in violations(solution, source.clients, source.tasks, source.options)
            ],
            warnings=cautions,
        )

    def placements(self, _problem: StreamsProblem, solution: StreamsAssignment) -> Sequence[Placement]:
        return placements_of(solution)


PLANNER = _StreamsPlanner()


def _canonical(request: StreamsRequest, assignor: StreamsAssignor) -> dict[str, Json]:
    """The clients of a recorded group are listed. A request without the fields of streams groups has the hash that it
    had before there were any."""
    fields = own_fields(request, "group", "compare_kafka_versions") | {"assignor": assignor.name}
    for client in fields["clients"]:
        omit_if_empty(client, "members")
    for event in fields["events"]:
        for client in event["scale_out"] or ():
            omit_if_empty(client, "member_ids")
    if request.protocol == "classic":
        del fields["protocol"]
    return fields


def _check_size(request: StreamsRequest, source: StreamsSource, allowance: Allowance) -> None:
    """Tasks × clients, once for the plan and some times for each step of an event."""
    threads = sum(len(client.threads) for client in source.clients)
    allowance.limits.check_number("members", threads, path=("clients",))
    tasks = {*source.tasks.ids, *source.tasks.stateful}
    allowance.limits.check_number("partitions", len(tasks), path=("tasks",))
    rolling = sum(event.rolling_deploy is not None for event in request.events)
    steps = len(request.events) + rolling * len(source.clients)
    joining = sum(len(event.scale_out or ()) for event in request.events)
    work = len(tasks) * (len(source.clients) + joining) * (1 + _REBALANCES_A_STEP * steps)
    allowance.limits.check_number("replicas", work, path=("clients",))
    if source.options.rack_aware_assignment_strategy is not RackAwareStrategy.NONE:
        work *= _RACK_AWARE_WORK
    allowance.check_work(work // 10, path=("clients",))
