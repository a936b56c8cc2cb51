"""Predictions, comparisons and events as a group plan writes them: by member and topic, not by array."""

from collections.abc import Sequence
from dataclasses import asdict

from app.core.groups.arrays.partition_table import Weights
from app.core.groups.lifecycle.rebalance import GroupRebalance, Protocol
from app.core.groups.lifecycle.rebalance_trigger import TopicChange, Trigger
from app.core.groups.lifecycle.steps import GroupStep, ShareStep
from app.core.groups.measures.locality import Handover, Locality, locality, member_loads
from app.core.groups.measures.sharing import best_sharing, coverage, restricted
from app.core.groups.model import GroupAssignment, GroupMetadata, Member
from app.core.groups.optimum.by_load import balance_by_load
from app.core.groups.optimum.optimal import optimum
from app.core.groups.registry import Assignor
from app.core.measures.violations import NAMED_PARTITIONS
from app.core.model import Int64s
from app.errors import Failure, Json
from app.errors.kafka import KafkaRefuses
from app.services.groups.predictions import Prediction, predict
from app.services.groups.sources import GroupSource
from app.services.groups.traffic import pause_json, sums_json, traffic_of


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


def locality_json(
    members: Sequence[Member],
    source: GroupSource,
    assignment: GroupAssignment,
    *,
    metadata: GroupMetadata | None = None,
) -> dict[str, Json]:
    """What is read in rack; by bytes/s as well, where they are known."""
    known = source.metadata if metadata is None else metadata
    counted = counts_json(locality(members, known, assignment))
    if source.bytes_per_s is not None:
        weighed = locality(members, known, assignment, weights=source.bytes_per_s)
        counted["bytes_per_s"] = counts_json(weighed)
    return counted


def counts_json(counts: Locality) -> dict[str, Json]:
    """Locality without its members."""
    return {
        "in_rack": counts.in_rack,
        "cross_rack": counts.cross_rack,
        "unknown": counts.unknown,
        "in_rack_share": counts.in_rack_share,
    }


def loads_json(members: Sequence[Member], source: GroupSource, assignment: GroupAssignment) -> dict[str, Json]:
    """How much each member reads, and how even that is: in partitions, and by whichever weight is known."""

    def evenness(weights: Weights | None) -> tuple[dict[str, Json], Int64s]:
        measured = member_loads(members, source.metadata, assignment, weights=weights)
        document: dict[str, Json] = {
            "min": measured.min,
            "max": measured.max,
            "spread": measured.spread,
            "total": measured.total,
        }
        return document, measured.per_member

    by = {"partitions": None, "lag": source.lag, "bytes_per_s": source.bytes_per_s}
    by_weight = {name: evenness(weights) for name, weights in by.items() if name == "partitions" or weights is not None}
    where = locality(members, source.metadata, assignment).per_member.tolist()
    rows: list[Json] = [
        {
            "member_id": member.id,
            "group_instance_id": member.group_instance_id,
            "rack_id": member.rack_id,
            **{name: int(per_member[place]) for name, (_, per_member) in by_weight.items()},
            **dict(zip(("in_rack", "cross_rack", "unknown"), counts, strict=True)),
        }
        for place, (member, counts) in enumerate(zip(members, where, strict=True))
    ]
    return {**{name: document for name, (document, _) in by_weight.items()}, "per_member": rows}


def optimum_json(
    members: Sequence[Member], source: GroupSource, *, metadata: GroupMetadata | None = None
) -> dict[str, Json]:
    """The best these members could have, from what they own, with its certificate."""
    known = source.metadata if metadata is None else metadata
    load = source.load
    if load is not None:
        balanced = balance_by_load(members, known, load)
        largest = balanced.certificate
        certificate: dict[str, Json] = {
            "largest_load_bound": largest.lower_bound,
            "optimal": largest.optimal,
            # Of the bound, as the contract has it; the certificate's own gap is of the value.
            "gap": (largest.value - largest.lower_bound) / largest.lower_bound if largest.lower_bound else 0.0,
            "solver": largest.solver,
        }
        moved, assignment = balanced.moved, balanced.assignment
    else:
        best = optimum(members, known, weights=source.bytes_per_s)
        missed = best.certificate.value - best.certificate.lower_bound
        certificate = {
            "in_rack_bound": best.in_rack + missed,
            "moved_bound": best.moves.lower_bound,
            "optimal": best.certificate.optimal,
            "gap": best.certificate.gap,
            "solver": best.certificate.solver,
        }
        moved, assignment = best.moved, best.assignment
    spread = member_loads(members, known, assignment).spread
    answer: dict[str, Json] = {"balance": source.balance, "moved": moved, "spread": spread}
    if load is not None:
        answer["largest_load"] = largest.value
    return answer | locality_json(members, source, assignment, metadata=known) | {"certificate": certificate}


def phases_json(done: GroupRebalance) -> list[dict[str, Json]]:
    """The rounds of one rebalance."""
    return [
        {
            "assignment": assignment_json(phase.assignment, done.members),
            "revoked": phase.revoked,
            "added": phase.added,
            "pending": phase.pending,
        }
        for phase in done.phases
    ]


def handover_json(counts: Handover) -> dict[str, Json]:
    """Partitions by what becomes of them."""
    return asdict(counts)


def step_json(step: GroupStep, event: Json, source: GroupSource, protocol: Protocol) -> dict[str, Json]:
    """One event, and what came of it."""
    rebalances: list[Json] = [{"settled": done.settled, "phases": phases_json(done)} for done in step.rebalances]
    return {
        "event_index": step.index,
        "event": event,
        "assignment": assignment_json(step.assignment, step.members),
        "moved": step.handover.moved,
        "revoked": step.revoked,
        "handover": handover_json(step.handover),
        "locality_before": counts_json(step.locality_before),
        "locality": locality_json(step.members, source, step.assignment, metadata=step.metadata),
        "optimum": optimum_json(step.starting, source, metadata=step.metadata),
        "rebalances": rebalances,
        "trigger": None if step.trigger is None else trigger_json(step.trigger),
        "pause": pause_json(step, source, protocol),
        "sharing": None,
        "added": None,
        "failures": [],
    }


def share_step_json(step: ShareStep, event: Json, source: GroupSource) -> dict[str, Json]:
    """One event of a share group, in which nothing is handed over."""
    return {
        "event_index": step.index,
        "event": event,
        "assignment": assignment_json(step.assignment, step.members),
        "moved": None,
        "revoked": step.removed,
        "handover": None,
        "locality_before": counts_json(step.locality_before),
        "locality": locality_json(step.members, source, step.assignment, metadata=step.metadata),
        "optimum": None,
        "rebalances": [],
        "trigger": None if step.trigger is None else trigger_json(step.trigger),
        "pause": None,
        "sharing": sharing_json(step.members, source, step.assignment, step.metadata),
        "added": step.added,
        "failures": [failure_json(failure) for failure in step.failures],
    }


def sharing_json(
    members: Sequence[Member], source: GroupSource, assignment: GroupAssignment, metadata: GroupMetadata
) -> dict[str, Json]:
    """How a share group covers its partitions, beside the best possible."""
    measured = coverage(members, metadata, assignment, source.assignable)
    best = best_sharing(members, restricted(metadata, source.assignable))
    return {
        "partitions": measured.partitions,
        "uncovered": len(measured.uncovered),
        "uncovered_partitions": [
            {"topic": topic, "partition": number} for topic, number in measured.uncovered[:NAMED_PARTITIONS]
        ],
        "members_per_partition": {"min": measured.fewest_members, "max": measured.most_members},
        "largest_load": measured.largest_load,
        "spread": measured.spread,
        "best": {"uncovered": 0, "largest_load": best.largest_load, "spread": best.spread},
    }


def failure_json(failure: Failure) -> dict[str, Json]:
    """What Kafka's own code does instead of an answer."""
    error: dict[str, Json] = {"code": failure.code, "detail": failure.detail}
    if isinstance(failure, KafkaRefuses):
        error["kafka_exception"] = failure.kafka.exception
    return error


def trigger_json(verdict: Trigger) -> dict[str, Json]:
    """What the leader makes of other metadata."""

    def change(of: TopicChange) -> dict[str, Json]:
        named = of.partitions[:NAMED_PARTITIONS]
        return {"topic": of.topic, "what": of.what, "partitions": named, "count": len(of.partitions)}

    return {
        "would_rebalance": verdict.would_rebalance,
        "because": [change(of) for of in verdict.because],
        "unseen": [change(of) for of in verdict.unseen],
    }


def compared(assignor: Assignor, source: GroupSource) -> dict[str, Json]:
    """The prediction of one assignor for the group; if Kafka's own code fails, the line has the error."""
    try:
        return comparison_row(predict(assignor, source), source)
    except Failure as failure:
        unknown: dict[str, Json] = dict.fromkeys(
            ("in_rack", "cross_rack", "unknown", "in_rack_share", "traffic", "moved", "revoked", "phases", "loads")
        )
        return _assignor_json(assignor) | unknown | {"error": failure_json(failure)}


def comparison_row(prediction: Prediction, source: GroupSource) -> dict[str, Json]:
    """The line of an assignor that has answered."""
    loads = loads_json(prediction.members, source, prediction.assignment)
    found = traffic_of(prediction, source)
    return (
        _assignor_json(prediction.assignor)
        | locality_json(prediction.members, source, prediction.assignment)
        | {
            "traffic": None if found is None else sums_json(found, source),
            "moved": prediction.moved,
            "revoked": prediction.revoked,
            "phases": None if prediction.rebalance is None else len(prediction.rebalance.phases),
            "loads": {name: evenness for name, evenness in loads.items() if name != "per_member"},
            "error": None,
        }
    )


def _assignor_json(assignor: Assignor) -> dict[str, Json]:
    return {
        "assignor": assignor.name,
        "runs_on": assignor.runs_on,
        "protocol": assignor.protocol.value,
        "rack_aware": assignor.is_rack_aware,
    }
