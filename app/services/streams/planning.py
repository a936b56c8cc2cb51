"""Plan a Streams application: where its tasks run, whether that is ideal, and what each loss costs."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from app.core.kafka_versions import KafkaRange, KafkaVersion
from app.core.model import Placement
from app.core.streams.model import RackAwareStrategy, StreamsAssignment
from app.core.streams.registry import StreamsAssignor, later_versions, streams_assignor_for
from app.core.streams.standbys import require_tags_within_limits
from app.core.streams.violations import violations
from app.errors import Json
from app.errors.requests import ConflictingFields
from app.services.groups import listed_metadata, metadata_of
from app.services.limits import Limits
from app.services.plans import Allowance, PlannedPartition, Planner, Site, as_json
from app.services.snapshots import check_brokers
from app.services.streams import description
from app.services.streams.against_classic import compared_json
from app.services.streams.assumptions import cautions_of
from app.services.streams.events import AppliedEvents, events_of, steps_json
from app.services.streams.optimum import addition_json, best_json, rack_aware_json
from app.services.streams.recorded import with_recorded_clients
from app.services.streams.reports import report
from app.services.streams.requests import READER, Protocol, StreamsRequest, omit_if_empty
from app.services.streams.rows import partition_json, placements_of
from app.services.streams.sources import StreamsSource, source_of
from app.store.records import NewPlan

KIND = "streams"
_REBALANCES_A_STEP = 30
"""What a step may take: tasks warm up two at a time, and each pair is a probing rebalance."""
_RACK_AWARE_WORK = 100
"""How many times as long KIP-925's flow takes, for a client and task, as the rest does."""


@dataclass(frozen=True, slots=True, eq=False)
class StreamsProblem:
    """An application to predict, with nothing left to look up.

    Parameters
    ----------
    version : the release that assigns.
    source : clients, tasks, options and what tasks read.
    assignor : of the protocol, as the release has it.
    events : what happens once the plan holds, as the core applies it.
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

    def check_site(self, request: StreamsRequest) -> None:
        """Nothing: an application may be planned without knowing any racks."""

    def check(self, request: StreamsRequest, limits: Limits) -> None:
        _check(request, limits)

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

    def compared_versions(self, request: StreamsRequest) -> Sequence[str]:
        return request.compare_kafka_versions

    def later_versions(self, problem: StreamsProblem) -> Sequence[KafkaVersion]:
        return later_versions(problem.assignor, problem.version)

    def row_json(self, head: NewPlan, row: PlannedPartition) -> dict[str, Json]:
        return partition_json(head, row)

    def solve(self, problem: StreamsProblem) -> StreamsAssignment:
        source = problem.source
        return problem.assignor.assign(source.clients, source.tasks, source.options, source.partitions)

    def title(self, plan: NewPlan) -> str:
        return description.title(plan)

    def summary(self, plan: NewPlan) -> str:
        return description.summary(plan)

    def answer(self, problem: StreamsProblem, solution: StreamsAssignment) -> dict[str, Json]:
        source, assignor = problem.source, problem.assignor
        steps = steps_json(problem.events, source, assignor.assign)
        best, best_cautions = best_json(source, solution)
        addition, addition_cautions = addition_json(source)
        compared = None if problem.protocol == "classic" else compared_json(source, solution)
        own_cautions = cautions_of(source, assignor, solution, steps)
        cautions = (*source.cautions, *own_cautions, *best_cautions, *addition_cautions)
        return {
            "prediction": "replay",
            "seed": None,
            "assignor": assignor.name,
            "protocol": problem.protocol,
            **report(source, solution),
            "rack_aware": rack_aware_json(source, solution, assignor),
            "best_standbys": best,
            "addition": addition,
            "compared_with_classic": compared,
            "steps": steps,
            "violations": _violations_json(source, solution),
            "warnings": [caution.as_json() for caution in cautions],
        }

    def placements(self, _problem: StreamsProblem, solution: StreamsAssignment) -> Sequence[Placement]:
        return placements_of(solution)


PLANNER = _StreamsPlanner()


def _check(request: StreamsRequest, limits: Limits) -> None:
    """Raise what is wrong with a request before anything is looked up: conflicts and limits."""
    if request.snapshot_id is not None and (request.brokers is not None or request.topics is not None):
        detail = "a request names either a snapshot (snapshot_id or cluster) or brokers and topics"
        raise ConflictingFields(detail, path=("snapshot_id",))
    check_brokers(request.brokers or (), limits)
    limits.check_count("topics", request.topics or (), path=("topics",))
    limits.check_count("members", request.clients, path=("clients",))
    limits.check_count("partitions", request.tasks or (), path=("tasks",))
    limits.check_count("events", request.events, path=("events",))


def _canonical(request: StreamsRequest, assignor: StreamsAssignor) -> dict[str, Json]:
    """The clients of a recorded group are listed. A request without the fields of streams groups has the hash that it
    had before there were any."""
    fields: dict[str, Any] = as_json(request) | {"assignor": assignor.name}
    del (
        fields["snapshot_id"],
        fields["cluster"],
        fields["group"],
        fields["kafka_version"],
        fields["compare_kafka_versions"],
    )
    for client in fields["clients"]:
        omit_if_empty(client, "members")
    for event in fields["events"]:
        for client in event["scale_out"] or ():
            omit_if_empty(client, "member_ids")
    if request.protocol == "classic":
        del fields["protocol"]
    return fields


def _violations_json(source: StreamsSource, assignment: StreamsAssignment) -> list[Json]:
    return [
        {
            "code": violation.code,
            "severity": violation.severity,
            "count": violation.count,
            "tasks": [f"{subtopology}_{partition}" for subtopology, partition in violation.tasks],
            "detail": violation.detail,
        }
        for violation in violations(assignment, source.clients, source.tasks, source.options)
    ]


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
