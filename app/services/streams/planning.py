"""Plan a Streams application: where its tasks run, whether that is ideal, and what each loss costs."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

from app.core.kafka_versions import KafkaRange
from app.core.model import Placement
from app.core.streams.model import (
    RackAwareStrategy,
    StreamsAssignment,
)
from app.core.streams.rack_aware.racks import RacksOff, why_off
from app.core.streams.registry import STREAMS_ASSIGNORS, StreamsAssignor
from app.core.streams.standbys import require_tags_within_limits
from app.core.streams.violations import violations
from app.errors import Json
from app.errors.requests import ConflictingFields
from app.services.cautions import Caution
from app.services.groups import listed_metadata, metadata_of
from app.services.limits import Limits
from app.services.plans import Allowance, Planner, Site, as_json
from app.services.snapshots import check_brokers
from app.services.streams.events import AppliedEvents, events_of, steps_json
from app.services.streams.optimum import addition_json, best_json, rack_aware_json
from app.services.streams.recorded import with_recorded_clients
from app.services.streams.reports import report
from app.services.streams.requests import READER, StreamsRequest
from app.services.streams.rows import placements_of
from app.services.streams.sources import StreamsSource, source_of

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
    source : clients, tasks, options and what tasks read.
    events : what happens once the plan holds, as the core applies it.
    canonical : the request with nothing left to guess.
    """

    source: StreamsSource
    assignor: StreamsAssignor
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
        request, cautions = with_recorded_clients(request, site.cluster)
        metadata = None if site.cluster is None else metadata_of(site.cluster)
        if metadata is None and request.topics is not None:
            metadata = listed_metadata(request.brokers or (), request.topics)
        source = source_of(request, metadata)
        source = replace(source, cautions=(*cautions, *source.cautions))
        require_tags_within_limits(source.clients, source.options)
        _check_size(request, source, allowance)
        fields: dict[str, Json] = as_json(request)
        # The clients of a recorded group are listed in the stored request.
        del fields["snapshot_id"], fields["group"], fields["kafka_version"]
        return StreamsProblem(source, STREAMS_ASSIGNORS[request.assignor], events_of(request, source), fields)

    def releases(self, problem: StreamsProblem) -> KafkaRange | None:
        return problem.assignor.replays.holds

    def solve(self, problem: StreamsProblem) -> StreamsAssignment:
        source = problem.source
        return problem.assignor.assign(source.clients, source.tasks, source.options, source.partitions)

    def answer(self, problem: StreamsProblem, solution: StreamsAssignment) -> dict[str, Json]:
        source, assignor = problem.source, problem.assignor
        steps = steps_json(problem.events, source, assignor.assign)
        best, best_cautions = best_json(source, solution)
        addition, addition_cautions = addition_json(source)
        cautions = (*source.cautions, *_cautions(problem, solution), *best_cautions, *addition_cautions)
        return {
            "prediction": "replay",
            "seed": None,
            "assignor": assignor.name,
            "protocol": "classic",
            **report(source, solution),
            "rack_aware": rack_aware_json(source, solution, assignor),
            "best_standbys": best,
            "addition": addition,
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
        detail = "a request names either a snapshot_id or brokers and topics"
        raise ConflictingFields(detail, path=("snapshot_id",))
    check_brokers(request.brokers or (), limits)
    limits.check_count("topics", request.topics or (), path=("topics",))
    limits.check_count("members", request.clients, path=("clients",))
    limits.check_count("partitions", request.tasks or (), path=("tasks",))
    limits.check_count("events", request.events, path=("events",))


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


def _cautions(problem: StreamsProblem, assignment: StreamsAssignment) -> Iterator[Caution]:
    """Warnings about implicit behaviour of Kafka, and the protocol that the prediction holds for."""
    source, assignor, options = problem.source, problem.assignor, problem.source.options
    tags, is_rack_aware = (
        options.rack_aware_assignment_tags,
        options.rack_aware_assignment_strategy is not RackAwareStrategy.NONE,
    )
    if tags and not assignor.uses_tags:
        yield Caution("assignor_ignores_tags", f"{assignor.name} places standbys by load alone, whatever their tags")
    if tags and not options.num_standby_replicas:
        detail = "rack.aware.assignment.tags decide where standbys go, and num.standby.replicas is 0"
        yield Caution("no_standbys", detail)
    if is_rack_aware:
        off = why_off(source.clients, options, source.partitions)
        if not assignor.uses_racks:
            yield Caution("assignor_ignores_racks", f"{assignor.name} ignores racks")
        elif off is not None and off.reason is not RacksOff.NO_STRATEGY:
            detail = f"KIP-925 is off, which Kafka does not report: {off.detail}"
            yield Caution("rack_aware_assignment_off", detail)
    if tags or is_rack_aware:
        yield Caution(
            "classic_protocol_only",
            "the group's leader assigns so under the classic protocol; the broker's own assignor (KIP-1071) has no "
            "rack-aware standbys",
        )
    if assignment.probing_rebalance:
        yield Caution(
            "probing_rebalance_follows",
            f"{int(assignment.warmup.sum())} warm-ups are to catch up; after probing.rebalance.interval.ms the group "
            "rebalances again, and tasks move to where they have",
        )
