"""The prediction of one assignor for a group, and the cautions about it.

A caution is whatever Kafka does silently: ignored racks, known faults, ownership that is not read.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from app.core.groups.arrays.owned import owned_assignment
from app.core.groups.lifecycle.rebalance import GroupRebalance, rebalance
from app.core.groups.measures.findings import Finding, input_findings, known_faults
from app.core.groups.measures.locality import Handover, RacksIgnored, handover, racks_ignored
from app.core.groups.model import GroupAssignment, Member
from app.core.groups.registry import LIBRARY_ASSIGNORS, Assignor, OwnedIn
from app.services.cautions import Caution, caution
from app.services.groups.answers import Step
from app.services.groups.sources import GroupSource


@dataclass(frozen=True, slots=True, eq=False)
class Prediction:
    """The prediction of one assignor for a group.

    Parameters
    ----------
    members : as it sees them. rebalance : None where partitions are shared, and nothing is handed over.
    assignment : once all phases are over. handover : from owned partitions to it.
    """

    assignor: Assignor
    members: tuple[Member, ...]
    answer: GroupAssignment
    rebalance: GroupRebalance | None
    assignment: GroupAssignment
    handover: Handover | None

    @property
    def moved(self) -> int | None:
        """Partitions that go from one member to another; None where they are shared."""
        return None if self.handover is None else self.handover.moved

    @property
    def revoked(self) -> int | None:
        """Partitions that members give up on the way, over all phases; None where they are shared."""
        return None if self.rebalance is None else sum(phase.revoked for phase in self.rebalance.phases)


def predict(assignor: Assignor, source: GroupSource) -> Prediction:
    """Have an assignor assign the group, and the members hand over. Raises the assignor's errors."""
    members = tuple(listed.seen_by(assignor) for listed in source.listed)
    metadata = source.metadata
    if not assignor.is_exclusive or not members:
        answer = source.assign(assignor)(members, metadata)
        return Prediction(assignor, members, answer, None, answer, None)
    done = rebalance(members, metadata, assign=source.assign(assignor), protocol=assignor.protocol)
    moved = handover(metadata, owned_assignment(members, metadata), done.assignment)
    return Prediction(assignor, members, done.answer, done, done.assignment, moved)


_STICKY_ONLY = {"partition_beyond_topic", "missing_topic_counts"}
"""Faults only for assignors that read owned partitions, and compare subscriptions, as the sticky ones do."""
_JAVA_ONLY = "missing_topic_counts"
"""A fault that librdkafka lacks: it compares subscriptions by the topics that exist."""
_SHARED = "partition_owned_twice"
"""Not a fault in a share group."""
_REASONS = {
    RacksIgnored.NO_MEMBER_HAS_A_RACK: "no member has one",
    RacksIgnored.NO_REPLICA_HAS_A_RACK: "no replica is on a broker that has one",
    RacksIgnored.NO_RACK_IN_COMMON: "no member's rack holds a replica",
    RacksIgnored.ALL_PARTITIONS_ALIKE: "all partitions have replicas in the same racks",
}


def cautions_of(prediction: Prediction, source: GroupSource) -> list[Caution]:
    """Everything to know about a prediction, in a fixed order of subjects."""
    return [
        *source.cautions,
        *(
            _of_finding(finding)
            for finding in input_findings(prediction.members, source.metadata)
            if prediction.assignor.is_exclusive or finding.code != _SHARED
        ),
        *(_of_finding(finding) for finding in _faults(prediction, source)),
        *_of_racks(prediction, source),
        *_of_ownership(prediction),
        *_of_topic_ids(prediction, source),
        *_of_phases(prediction),
    ]


def _of_finding(finding: Finding) -> Caution:
    members = () if finding.member is None else (finding.member,)
    return Caution(
        finding.code, finding.detail, members=members, topics=() if finding.topic is None else (finding.topic,)
    )


def _faults(prediction: Prediction, source: GroupSource) -> list[Finding]:
    if not prediction.assignor.is_exclusive:
        return []
    named = known_faults(prediction.members, source.metadata, prediction.answer)
    if prediction.assignor is LIBRARY_ASSIGNORS["librdkafka", "cooperative-sticky"]:
        return [fault for fault in named if fault.code != _JAVA_ONLY]
    return [fault for fault in named if prediction.assignor.is_sticky or fault.code not in _STICKY_ONLY]


def _of_racks(prediction: Prediction, source: GroupSource) -> Iterator[Caution]:
    assignor = prediction.assignor
    if not assignor.is_rack_aware:
        where = "as shipped" if assignor.runs_on == "coordinator" else "in any version"
        yield Caution("assignor_ignores_racks", f"{assignor.name} ignores racks, {where}")
        return
    reason = racks_ignored(prediction.members, source.metadata)
    if reason is RacksIgnored.NO_MEMBER_HAS_A_RACK and source.of_unknown_rack:
        yield caution("racks_ignored.members")
    elif reason is not None:
        yield Caution("racks_ignored", f"racks decide nothing in this group: {_REASONS[reason]}")
    without = tuple(
        member.id for member in prediction.members if not member.rack_id and member.id not in source.of_unknown_rack
    )
    if without and len(without) < len(prediction.members):
        yield caution("members_without_rack", of=prediction.members, members=without)


def _of_ownership(prediction: Prediction) -> Iterator[Caution]:
    if prediction.assignor.owned_in is not OwnedIn.USER_DATA:
        return
    without = tuple(member.id for member in prediction.members if member.owned and member.generation_id is None)
    if without:
        yield caution("owned_without_generation", members=without)


def _of_topic_ids(prediction: Prediction, source: GroupSource) -> Iterator[Caution]:
    assignor = prediction.assignor
    # Range assigns each topic by itself, whatever the order of their ids.
    if assignor.runs_on != "coordinator" or assignor.owned_in is not OwnedIn.TARGET:
        return
    subscribed = {topic for member in prediction.members for topic in member.topics}
    unknown = tuple(
        name for name, topic in source.metadata.topics.items() if topic.topic_id is None and name in subscribed
    )
    # With one topic there is no order that an id could decide.
    if unknown and len(subscribed) > 1:
        yield caution("topic_ids_unknown", unknown=unknown, assignor=assignor.name, topics=unknown[:20])


def _of_phases(prediction: Prediction) -> Iterator[Caution]:
    done = prediction.rebalance
    if done is None:
        return
    if not done.settled:
        yield caution("not_settled", rounds=done.phases)
    elif len(done.phases) > 1:
        yield caution("partitions_withheld", pending=done.phases[0].pending, rounds=done.phases)


def of_failures(steps: Sequence[Step]) -> Iterator[Caution]:
    """The steps of a share group at which Kafka's own assignor fails."""
    if failing := [step for step in steps if step.failures]:
        yield caution("assignor_fails", failing=failing)


def of_arbitrary_choices(assignor: Assignor, answers: Iterable[GroupAssignment]) -> Iterator[Caution]:
    """Whether the order of sets decides in the answers of an assignor: of a group and of its steps."""
    choices = sum(answer.arbitrary_choices for answer in answers)
    if not choices:
        return
    if assignor.library is None:
        yield caution("order_of_sets_decides", choices=choices)
        return
    library, name = assignor.library.library, assignor.name
    yield caution("order_of_sets_decides.library", library=library, assignor=name, choices=choices)
