"""Warnings about a group's prediction: implicit behaviour of Kafka, and what it ignores."""

from collections.abc import Iterator

from app.core.groups.measures.findings import Finding, input_findings, known_faults
from app.core.groups.measures.locality import RacksIgnored, racks_ignored
from app.core.groups.registry import Assignor, OwnedIn
from app.services.cautions import Caution
from app.services.groups.predictions import Prediction
from app.services.groups.sources import GroupSource

_STICKY_ONLY = {"partition_beyond_topic", "missing_topic_counts"}
"""Faults that need an assignor which looks at what members own, and compares subscriptions as the sticky ones do."""
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
        *(_caution(finding) for finding in input_findings(prediction.members, source.metadata)),
        *(_caution(finding) for finding in _faults(prediction, source)),
        *_of_racks(prediction, source),
        *_of_ownership(prediction),
        *_of_topic_ids(prediction, source),
        *_of_phases(prediction),
    ]


def _caution(finding: Finding) -> Caution:
    members = () if finding.member is None else (finding.member,)
    return Caution(
        finding.code, finding.detail, members=members, topics=() if finding.topic is None else (finding.topic,)
    )


def _faults(prediction: Prediction, source: GroupSource) -> list[Finding]:
    if not prediction.assignor.is_exclusive:
        return []
    named = known_faults(prediction.members, source.metadata, prediction.answer)
    return [fault for fault in named if prediction.assignor.is_sticky or fault.code not in _STICKY_ONLY]


def _of_racks(prediction: Prediction, source: GroupSource) -> Iterator[Caution]:
    assignor = prediction.assignor
    if not assignor.is_rack_aware:
        where = "as shipped" if assignor.runs_on == "coordinator" else "in any version"
        yield Caution("assignor_ignores_racks", f"{assignor.name} does not look at racks, {where}")
        return
    reason = racks_ignored(prediction.members, source.metadata)
    if reason is not None:
        yield Caution("racks_ignored", f"racks decide nothing in this group: {_REASONS[reason]}")
    without = tuple(member.id for member in prediction.members if not member.rack_id)
    if without and len(without) < len(prediction.members):
        detail = (
            f"{len(without)} of {len(prediction.members)} members have no rack (client.rack), and are near everything"
        )
        yield Caution("members_without_rack", detail, members=without)


def _of_ownership(prediction: Prediction) -> Iterator[Caution]:
    if prediction.assignor.owned_in is not OwnedIn.USER_DATA:
        return
    without = tuple(member.id for member in prediction.members if member.owned and member.generation_id is None)
    if without:
        detail = (
            f"{len(without)} members own partitions and say no generation_id; the sticky assignor then takes them to "
            "own nothing"
        )
        yield Caution("owned_without_generation", detail, members=without)


def _of_topic_ids(prediction: Prediction, source: GroupSource) -> Iterator[Caution]:
    if not _reads_topic_ids(prediction.assignor):
        return
    subscribed = {topic for member in prediction.members for topic in member.topics}
    unknown = tuple(
        name for name, topic in source.metadata.topics.items() if topic.topic_id is None and name in subscribed
    )
    # With one topic there is no order that an id could decide.
    if unknown and len(subscribed) > 1:
        detail = (
            f"the ids of {len(unknown)} topics are not known, and {prediction.assignor.name} goes through topics in "
            "their order; with others it may assign otherwise"
        )
        yield Caution("topic_ids_unknown", detail, topics=unknown[:20])


def _reads_topic_ids(assignor: Assignor) -> bool:
    """Whether the order of topic ids can change the assignment: range assigns each topic by itself."""
    return assignor.runs_on == "coordinator" and assignor.owned_in is OwnedIn.TARGET


def _of_phases(prediction: Prediction) -> Iterator[Caution]:
    done = prediction.rebalance
    if done is None:
        return
    if not done.settled:
        detail = f"after {len(done.phases)} rounds members still hand partitions over; Kafka would go on"
        yield Caution("not_settled", detail)
    elif len(done.phases) > 1:
        detail = (
            f"{done.phases[0].pending} partitions are first given up and then handed out: the members read them only "
            f"after round {len(done.phases)}"
        )
        yield Caution("partitions_withheld", detail)
