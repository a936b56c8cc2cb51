"""Plan a consumer group: the assignment after the next rebalance, the effect of events, the distance to the optimum.

The leader of a classic group runs its library's assignor, so that the leader's library counts. The coordinator's
assignors are the broker's, whichever clients the members are.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

from app.core.groups.lifecycle.events import Burst, Event, Join, Replace, ReplicaRacksChanged, TopicGrown
from app.core.groups.lifecycle.rebalance_trigger import trigger
from app.core.groups.lifecycle.steps import apply_events, apply_share_events, with_shared
from app.core.groups.measures.violations import GroupViolation, violations
from app.core.groups.model import GroupAssignment, GroupMetadata
from app.core.groups.registry import Assignor, later_versions
from app.core.kafka_versions import KafkaRange, KafkaVersion, has_assignment_interval
from app.core.model import NO_REPLICA, Placement
from app.errors.every import ConflictingFields, DuplicateMember, DuplicateTopic, Json
from app.formats.syntax.quantities import counted
from app.services.amounts import bytes_of
from app.services.bodies import AnswerRecord
from app.services.cautions import Caution, caution
from app.services.groups import answers, reports
from app.services.groups.members import leading_member
from app.services.groups.predictions import Prediction, cautions_of, of_arbitrary_choices, of_failures, predict
from app.services.groups.requests import READER, GroupRequest
from app.services.groups.sources import NAMED_TOPICS, GroupSource, event_of, metadata_of, source_of
from app.services.groups.stored import ReadPartitionDocument, member_ids, readers_of
from app.services.groups.traffic import traffic_report
from app.services.limits import Limits
from app.services.plans import Allowance, PlannedPartition, Planner, Site
from app.services.plans.record import at, own_fields, some
from app.services.snapshots import check_brokers, first_repeated, require_distinct
from app.store.records import NewPlan, PlanHead

_DEFAULT_CLIENT_IDS = {"sarama": "sarama", "kgo": "franz-go", "kafkajs": "KafkaJS", "rdkafka": "librdkafka"}
"""By the client id if none is set, with which member ids begin."""


KIND = "group"


@dataclass(frozen=True, slots=True, eq=False)
class GroupProblem:
    """A group to predict, with nothing left to look up.

    Parameters
    ----------
    source : members, metadata, weights and assignors; the plan is the first assignor's.
    events : as the core applies them. event_documents : the same as the caller wrote them.
    leader : the leading member's id; None is the first member.
    previous : the metadata that the group was assigned by, if the request names its snapshot.
    canonical : the request with nothing left to guess.
    """

    source: GroupSource
    events: Sequence[Event] = field(repr=False)
    event_documents: Sequence[dict[str, Json]] = field(repr=False)
    leader: str | None
    previous: GroupMetadata | None = field(repr=False)
    canonical: dict[str, Json] = field(repr=False)


class _GroupPlanner(Planner[GroupRequest, GroupProblem, Prediction]):
    kind, reader = KIND, READER
    # Loads in multiples of their unit. Small groups are balanced by load exactly. Share groups: hash maps that grow
    # late, members of a second round.
    engine_version = 6
    certificate_path = ("optimum", "certificate")

    def check_site(self, request: GroupRequest) -> None:
        _require_source(request, has_cluster=request.snapshot_id is not None)

    def check(self, request: GroupRequest, limits: Limits) -> None:
        check_brokers(request.brokers or (), limits)
        limits.check_count("topics", request.topics or (), path=("topics",))
        limits.check_count("members", request.members or (), path=("members",))
        limits.check_count("events", [single for event in request.events for single in event.singles], path=("events",))
        names = [topic.name for topic in request.topics or ()]
        require_distinct("topic", names, DuplicateTopic, "topics", member="name")
        limits.check_number("partitions", sum(topic.partitions for topic in request.topics or ()), path=("topics",))
        _require_distinct(request)

    def previous_snapshot(self, request: GroupRequest) -> UUID | None:
        return request.previous_snapshot_id

    def resolve(self, request: GroupRequest, site: Site, allowance: Allowance) -> GroupProblem:
        _require_source(request, has_cluster=site.cluster is not None)
        source = source_of(request, site.cluster, site.version)
        _require_leader(request.leader, source)
        _check_size(request, source, allowance)
        previous = None if site.previous is None else site.previous.cluster
        return GroupProblem(
            source=source,
            events=[
                event_of(event, source.assignors[0], ("events", i), source.version)
                for i, event in enumerate(request.events)
            ],
            event_documents=[event.as_json() for event in request.events],
            leader=request.leader,
            previous=None if previous is None else metadata_of(previous),
            canonical=_canonical(request, site),
        )

    def releases(self, problem: GroupProblem) -> KafkaRange | None:
        replays = problem.source.assignors[0].replays
        return None if replays is None else replays.holds

    def later_versions(self, problem: GroupProblem) -> Sequence[KafkaVersion]:
        return later_versions(problem.source.assignors[0], problem.source.version)

    def listed_row(self, head: PlanHead | NewPlan, row: PlannedPartition) -> AnswerRecord:
        ids = member_ids(head)
        return ReadPartitionDocument(row.topic, row.partition, [ids[place] for place in row.row if place != NO_REPLICA])

    def solve(self, problem: GroupProblem) -> Prediction:
        return predict(problem.source.assignors[0], problem.source)

    def title(self, plan: NewPlan) -> str:
        """`Assign billing under range on prod-eu`; the topics if the group has no name."""
        group = plan.request.get("group") or some([placement.topic for placement in plan.placements], noun="topic")
        return f"Assign {group} under {plan.answer['assignor']}" + at(plan.cluster, "on")

    def summary(self, plan: NewPlan) -> str:
        """`12 partitions to 3 members; 9 read in rack`."""
        answer: Any = plan.answer
        members, in_rack = len(answer["loads"]["per_member"]), answer["locality"]["in_rack"]
        partitions = sum(len(placement.replicas) for placement in plan.placements)
        return f"{counted(partitions, 'partition')} to {counted(members, 'member')}; {in_rack:,} read in rack"

    def answer(self, problem: GroupProblem, solution: Prediction) -> answers.GroupAnswer:
        source, (first, *others) = problem.source, problem.source.assignors
        steps, assignments = _steps(problem, solution)
        phases = [] if solution.rebalance is None else reports.phases_of(solution.rebalance)
        members, assignment, is_exclusive = solution.members, solution.assignment, first.is_exclusive
        return answers.GroupAnswer.of(
            solution,
            # The optimum is Rackplan's own: no coordinator would assign so.
            prediction="pinned" if first.runs_on == "nowhere" else "replay",
            seed=None,
            assignor=first.name,
            protocol=first.protocol.value,
            # The last phase's, if there are phases: a list as long as the group is written once.
            assignment=phases[-1].assignment if phases else reports.assignment_json(solution.answer, members),
            phases=phases,
            settled=solution.rebalance is None or solution.rebalance.settled,
            locality=reports.locality_of(members, source, assignment),
            traffic=traffic_report(solution, source),
            loads=reports.loads_of(members, source, assignment),
            # Where members share partitions there is nothing to divide, and so no best division, but a best coverage.
            optimum=reports.optimum_of(members, source) if is_exclusive else None,
            sharing=None if is_exclusive else reports.sharing_of(members, source, assignment),
            comparison=[reports.comparison_row(solution, source), *(reports.compared(each, source) for each in others)],
            steps=steps,
            trigger=None if problem.previous is None else _trigger(problem, problem.previous),
            violations=_violations(solution, source),
            warnings=[
                *cautions_of(solution, source),
                *of_arbitrary_choices(first, [solution.answer, *assignments]),
                *_of_leader(problem, first),
                *_of_grown_topics(problem, first),
                *of_failures(steps),
            ],
        )

    def placements(self, problem: GroupProblem, solution: Prediction) -> Sequence[Placement]:
        return readers_of(solution.members, problem.source.metadata, solution.assignment)


PLANNER = _GroupPlanner()


def _require_source(request: GroupRequest, *, has_cluster: bool) -> None:
    """Topics and members each have one source. Of an offline plan the cluster is that of the files."""
    if has_cluster == (request.brokers is not None or request.topics is not None):
        detail = "a request names either a snapshot (snapshot_id or cluster) or brokers and topics"
        raise ConflictingFields(detail, path=("snapshot_id",))
    if (request.members is None) == (request.group is None):
        raise ConflictingFields("a request lists members or names a group of its snapshot", path=("members",))
    if request.group is not None and not has_cluster:
        detail = "a group is read from a snapshot, which snapshot_id or cluster names, and neither is given"
        raise ConflictingFields(detail, path=("group",))
    if request.group is None and request.member_overrides:
        detail = "member_overrides are of the members of a recorded group, and group is not there"
        raise ConflictingFields(detail, path=("member_overrides",))


def _require_distinct(request: GroupRequest) -> None:
    members = request.members or ()
    ids = [member.member_id for member in members]
    require_distinct("member", ids, DuplicateMember, "members", member="member_id")
    places = [place for place, member in enumerate(members) if member.group_instance_id]
    instances = [str(members[place].group_instance_id) for place in places]
    if (twice := first_repeated(instances)) is not None:
        raise DuplicateMember(
            f"two members have the group instance id {instances[twice]}; Kafka fences the one that joined first",
            path=("members", places[twice], "group_instance_id"),
            value=instances[twice],
        )


def _require_leader(leader: str | None, source: GroupSource) -> None:
    if leader not in (None, *(listed.member.id for listed in source.listed)):
        raise ConflictingFields(f"the leader {leader} is not among the members", path=("leader",), value=leader)


def _violations(prediction: Prediction, source: GroupSource) -> list[GroupViolation]:
    """The verifier's violations, for assignors that give each partition one reader.

    If a load is balanced, unequal numbers of partitions are no violation.
    """
    if not prediction.assignor.is_exclusive:
        return []
    listed = violations(prediction.members, source.metadata, prediction.assignment)
    return [violation for violation in listed if violation.severity == "illegal" or source.load is None]


_LATER_FIELDS = ("assignable", "member_overrides", "follower_fetching", "prices", "rebalance_seconds")
"""Fields that a canonical request has only if they are stated: requests without them keep their hash."""


def _canonical(request: GroupRequest, site: Site) -> dict[str, Json]:
    fields = own_fields(request, "previous_snapshot_id", "compare_kafka_versions")
    joining = [member for event in fields["events"] for member in (event["join"], (event["replace"] or {}).get("by"))]
    for member in filter(None, [*(fields["members"] or ()), *fields["member_overrides"], *joining]):
        if member["client"] is None:
            del member["client"]
    default = GroupRequest()
    for name in _LATER_FIELDS:
        if getattr(request, name) == getattr(default, name):
            del fields[name]
    return {
        **fields,
        "bytes_per_s": request.bytes_per_s
        and {name: _canonical_rates(rates) for name, rates in request.bytes_per_s.items()},
        "previous_snapshot_content_hash": None if site.previous is None else site.previous.content_hash,
        "events": [{name: value for name, value in event.items() if value is not None} for event in fields["events"]],
    }


def _canonical_rates(stated: float | Sequence[float]) -> Any:
    """Whole rates are integers, as they were when requests had no others."""
    return bytes_of(stated) if isinstance(stated, int | float) else [*map(bytes_of, stated)]


def _check_size(request: GroupRequest, source: GroupSource, allowance: Allowance) -> None:
    """Partitions are counted once an assignor and once a rebalance; shared ones once for every member."""
    limits, members, topics = allowance.limits, source.listed, source.metadata.topics
    limits.check_count("members", members, path=("members",))
    events = [single for event in request.events for single in event.singles]
    grown = sum(event.topic_grown.partitions for event in events if event.topic_grown is not None)
    partitions = sum(len(topic.replicas) for topic in topics.values()) + grown
    limits.check_number("partitions", partitions, path=("topics",))
    restarts = sum(2 * len(members) if event.rolling_restart else 1 for event in events)
    work = partitions * (len(source.assignors) + restarts)
    if not all(assignor.is_exclusive for assignor in source.assignors):
        subscribed = (topics[name] for listed in members for name in listed.member.topics if name in topics)
        work += sum(len(topic.replicas) for topic in subscribed)
    limits.check_number("replicas", work, path=("topics",))
    allowance.check_work(work, path=("topics",))


def _steps(problem: GroupProblem, prediction: Prediction) -> tuple[list[answers.Step], list[GroupAssignment]]:
    """The steps, and the answers of the assignor in their rebalances."""
    if not problem.events:
        return [], []
    source, assignor = problem.source, prediction.assignor
    has_interval = assignor.runs_on == "coordinator" and has_assignment_interval(source.version)
    if not assignor.is_exclusive:
        starting = prediction.members if source.is_settled else with_shared(prediction.members, prediction.assignment)
        shared_steps = apply_share_events(
            starting, source.metadata, problem.events, assign=source.assign(assignor), has_interval=has_interval
        )
        reported = [reports.share_step_of(step, problem.event_documents[step.index], source) for step in shared_steps]
        return reported, [step.assignment for step in shared_steps]
    # A settled group does not rebalance before the first event: Kafka's sticky assignors would not leave it as it is.
    rebalanced = () if prediction.rebalance is None else prediction.rebalance.members
    steps = apply_events(
        prediction.members if source.is_settled else rebalanced,
        source.metadata,
        problem.events,
        assign=source.assign(assignor),
        protocol=assignor.protocol,
        leader=problem.leader,
        has_interval=has_interval,
    )
    reported = [reports.step_of(step, problem.event_documents[step.index], source, assignor.protocol) for step in steps]
    return reported, [done.answer for step in steps for done in step.rebalances]


def _of_leader(problem: GroupProblem, assignor: Assignor) -> Iterator[Caution]:
    """The client library of the leader decides otherwise than the replay, or may.

    A leader without a stated library has Kafka's own, unless its id begins as the default client id of another.
    """
    leading = leading_member(problem.source.listed, problem.leader)
    if leading is None or assignor.runs_on != "leader":
        return
    client, leader = leading.client, leading.member.id
    library: str | None = client or _DEFAULT_CLIENT_IDS.get(leader.partition("-")[0])
    if library in (None, "java"):
        return
    if assignor.library is None:
        of_leader = {"leader": leader, "assignor": assignor.name, "library": library}
        yield caution("client_not_compared", **of_leader, members=(leader,))
    elif client == "librdkafka" and len({topic for one in problem.source.listed for topic in one.member.topics}) > 1:
        yield caution("topic_order_unknown", assignor=assignor.name, client=client)


def _of_grown_topics(problem: GroupProblem, assignor: Assignor) -> Iterator[Caution]:
    """Whether racks of partitions that topics get may decide, and are unknown."""
    events = [each for event in problem.events for each in (event.events if isinstance(event, Burst) else (event,))]
    topics = sorted({event.topic for event in events if isinstance(event, TopicGrown) and event.replicas is None})
    racks, of_members = dict(problem.source.metadata.rack_of), {each.member.rack_id for each in problem.source.listed}
    for event in events:
        match event:
            case Join(member) | Replace(by=member):
                of_members.add(member.rack_id)
            case ReplicaRacksChanged(rack_of):
                racks |= rack_of
    if topics and assignor.is_rack_aware and any(of_members) and any(racks.values()):
        first = tuple(topics[:NAMED_TOPICS])
        yield caution("racks_of_new_partitions_unknown", assignor=assignor.name, grown=topics, topics=first)


def _trigger(problem: GroupProblem, previous: GroupMetadata) -> answers.Trigger:
    listed = problem.source.listed
    leading = leading_member(listed, problem.leader)
    leader = None if leading is None else leading.member
    verdict = trigger([one.member for one in listed], previous, problem.source.metadata, leader=leader)
    return answers.Trigger(**vars(reports.trigger_of(verdict)), leader=None if leader is None else leader.id)
