"""Predictions, comparisons and events as records of the answer of a group plan: by member and topic, not by array."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from app.core.groups.lifecycle.rebalance import GroupRebalance, Protocol
from app.core.groups.lifecycle.rebalance_trigger import TopicChange, Trigger
from app.core.groups.lifecycle.steps import GroupStep, ShareStep
from app.core.groups.measures.locality import locality, member_loads
from app.core.groups.measures.sharing import best_sharing, coverage, restricted
from app.core.groups.model import GroupAssignment, Member
from app.core.groups.optimum.by_load import balance_by_load
from app.core.groups.optimum.optimal import optimum
from app.core.groups.registry import Assignor
from app.core.measures.violations import NAMED_PARTITIONS
from app.errors import Failure, Json
from app.services.bodies import ABSENT
from app.services.groups import answers
from app.services.groups.predictions import Prediction, predict
from app.services.groups.sources import GroupSource
from app.services.groups.traffic import pause_of, sums_of, traffic_of
from app.services.plans.record import Certificate, KafkaFailure


def assignment_json(assignment: GroupAssignment, members: Sequence[Member]) -> dict[str, dict[str, list[int]]]:
    """The assignment by member, in the group's order; topics and partitions in the order of Kafka's lists."""
    answered: dict[str, dict[str, list[int]]] = {member.id: {} for member in members}
    topics, partitions = assignment.topic_index.tolist(), assignment.partitions.tolist()
    for name, begin, end in zip(
        assignment.members, assignment.offsets[:-1].tolist(), assignment.offsets[1:].tolist(), strict=True
    ):
        by_topic: dict[int, list[int]] = {}
        for topic, partition in zip(topics[begin:end], partitions[begin:end], strict=True):
            by_topic.setdefault(topic, []).append(partition)
        answered[name] = {assignment.topics[topic]: listed for topic, listed in by_topic.items()}
    return answered


def locality_of(members: Sequence[Member], source: GroupSource, assignment: GroupAssignment) -> answers.Locality:
    """Reads in rack; by bytes/s as well, if these are known."""
    weights, weighed = source.bytes_per_s, ABSENT
    if weights is not None:
        weighed = answers.LocalityCounts.of(locality(members, source.metadata, assignment, weights=weights))
    return answers.Locality.of(locality(members, source.metadata, assignment), bytes_per_s=weighed)


def loads_of(members: Sequence[Member], source: GroupSource, assignment: GroupAssignment) -> answers.LoadsOfMembers:
    """How much each member reads, and how even that is: in partitions, and by whichever weight is known."""
    by = {"partitions": None, "lag": source.lag, "bytes_per_s": source.bytes_per_s}
    measured = {
        name: member_loads(members, source.metadata, assignment, weights=weights)
        for name, weights in by.items()
        if name == "partitions" or weights is not None
    }
    where = locality(members, source.metadata, assignment).per_member.tolist()
    rows = [
        answers.MemberLoad(
            member_id=member.id,
            group_instance_id=member.group_instance_id,
            rack_id=member.rack_id,
            **{name: int(loads.per_member[place]) for name, loads in measured.items()},
            **dict(zip(("in_rack", "cross_rack", "unknown"), counts, strict=True)),
        )
        for place, (member, counts) in enumerate(zip(members, where, strict=True))
    ]
    evenness = {name: answers.Evenness.of(loads) for name, loads in measured.items()}
    return answers.LoadsOfMembers(**evenness, per_member=rows)


def optimum_of(members: Sequence[Member], source: GroupSource) -> answers.Optimum:
    """The optimal assignment of these members, from their owned partitions, with its certificate."""
    known, load, largest_load = source.metadata, source.load, ABSENT
    if load is not None:
        balanced = balance_by_load(members, known, load)
        largest = balanced.certificate
        certificate = Certificate(
            largest_load_bound=largest.lower_bound,
            optimal=largest.optimal,
            # Of the bound, as the contract has it; the certificate's own gap is of the value.
            gap=(largest.value - largest.lower_bound) / largest.lower_bound if largest.lower_bound else 0.0,
            solver=largest.solver,
        )
        moved, assignment, largest_load = balanced.moved, balanced.assignment, largest.value
    else:
        best = optimum(members, known, weights=source.bytes_per_s)
        missed = best.certificate.value - best.certificate.lower_bound
        certificate = Certificate(
            optimal=best.certificate.optimal,
            gap=best.certificate.gap,
            solver=best.certificate.solver,
            in_rack_bound=best.in_rack + missed,
            moved_bound=best.moves.lower_bound,
        )
        moved, assignment = best.moved, best.assignment
    return answers.Optimum(
        **vars(locality_of(members, source, assignment)),
        balance=source.balance,
        moved=moved,
        spread=member_loads(members, known, assignment).spread,
        largest_load=largest_load,
        certificate=certificate,
    )


def phases_of(done: GroupRebalance) -> list[answers.Phase]:
    """The rounds of one rebalance."""
    return [
        answers.Phase.of(phase, assignment=assignment_json(phase.assignment, done.members)) for phase in done.phases
    ]


def step_of(step: GroupStep, event: dict[str, Json], source: GroupSource, protocol: Protocol) -> answers.Step:
    """One event and its outcome."""
    source = replace(source, metadata=step.metadata)
    return answers.Step(
        **_common(step, event, source),
        moved=step.handover.moved,
        revoked=step.revoked,
        handover=step.handover,
        optimum=optimum_of(step.starting, source),
        rebalances=[answers.Rebalance(done.settled, phases_of(done)) for done in step.rebalances],
        pause=pause_of(step, source, protocol),
        sharing=None,
        added=None,
        failures=[],
    )


def share_step_of(step: ShareStep, event: dict[str, Json], source: GroupSource) -> answers.Step:
    """One event of a share group, in which nothing is handed over."""
    source = replace(source, metadata=step.metadata)
    none: dict[str, Any] = dict.fromkeys(("moved", "handover", "optimum", "pause"))
    return answers.Step(
        **_common(step, event, source),
        **none,
        revoked=step.removed,
        rebalances=[],
        sharing=sharing_of(step.members, source, step.assignment),
        added=step.added,
        failures=[*map(KafkaFailure.of_failure, step.failures)],
    )


def _common(step: GroupStep | ShareStep, event: dict[str, Json], source: GroupSource) -> dict[str, Any]:
    return {
        "event_index": step.index,
        "event": event,
        "assignment": assignment_json(step.assignment, step.members),
        "locality_before": answers.LocalityCounts.of(step.locality_before),
        "locality": locality_of(step.members, source, step.assignment),
        "trigger": None if step.trigger is None else trigger_of(step.trigger),
    }


def sharing_of(members: Sequence[Member], source: GroupSource, assignment: GroupAssignment) -> answers.Sharing:
    """How a share group covers its partitions, beside the best possible."""
    measured = coverage(members, source.metadata, assignment, source.assignable)
    return answers.Sharing.of(
        measured,
        uncovered=len(measured.uncovered),
        uncovered_partitions=[answers.UncoveredPartition(*each) for each in measured.uncovered[:NAMED_PARTITIONS]],
        members_per_partition=answers.MembersPerPartition(measured.fewest_members, measured.most_members),
        best=answers.BestSharing.of(best_sharing(members, restricted(source.metadata, source.assignable)), uncovered=0),
    )


def trigger_of(verdict: Trigger) -> answers.StepTrigger:
    """The leader's verdict on other metadata."""

    def changes(of: Sequence[TopicChange]) -> list[answers.TopicChange]:
        return [
            answers.TopicChange.of(each, partitions=each.partitions[:NAMED_PARTITIONS], count=len(each.partitions))
            for each in of
        ]

    return answers.StepTrigger(verdict.would_rebalance, changes(verdict.because), changes(verdict.unseen))


def compared(assignor: Assignor, source: GroupSource) -> answers.ComparedAssignor:
    """The prediction of one assignor for the group; if Kafka's own code fails, the line has the error."""
    try:
        return comparison_row(predict(assignor, source), source)
    except Failure as failure:
        unknown: dict[str, Any] = dict.fromkeys(
            ("in_rack", "cross_rack", "unknown", "in_rack_share", "traffic", "moved", "revoked", "phases", "loads")
        )
        return answers.ComparedAssignor(**_assignor(assignor), **unknown, error=KafkaFailure.of_failure(failure))


def comparison_row(prediction: Prediction, source: GroupSource) -> answers.ComparedAssignor:
    """The line of an assignor that has answered."""
    found = traffic_of(prediction, source)
    return answers.ComparedAssignor(
        **_assignor(prediction.assignor),
        **vars(locality_of(prediction.members, source, prediction.assignment)),
        traffic=None if found is None else sums_of(found, source),
        moved=prediction.moved,
        revoked=prediction.revoked,
        phases=None if prediction.rebalance is None else len(prediction.rebalance.phases),
        loads=answers.Loads.of(loads_of(prediction.members, source, prediction.assignment)),
        error=None,
    )


def _assignor(assignor: Assignor) -> dict[str, Any]:
    return {
        "assignor": assignor.name,
        "runs_on": assignor.runs_on,
        "protocol": assignor.protocol.value,
        "rack_aware": assignor.is_rack_aware,
    }
