"""How a reassignment is shown: what moves and why no less, in which steps, what each broker has before and after."""

from collections.abc import Mapping, Sequence
from typing import Any

from app.core.measures.transfers import PartitionTransfer
from app.core.model import Cluster
from app.formats.reassignment_diffs import sentences
from app.services.plans import Plan
from app.services.reassignment import BrokerTransfer, broker_transfers, compared
from app.store.plans import PlanHead
from app.web import moves_picture
from app.web.moves_picture import MovesPicture
from app.web.views import View, Worth
from app.web.words import byte_size, counted, known_size, share

SHOWN_BATCHES, SHOWN_BROKERS, SHOWN_PARTITIONS = 100, 300, 100


def certificate_words(certificate: Mapping[str, Any]) -> str:
    """What moves, and how it is known that less would not do."""
    replicas, unknown = certificate["moved_replicas"], certificate["unknown_size_replicas"]
    by_bytes = certificate["minimised"] == "bytes"
    if not replicas:
        return "No replica moves: everything already is where these constraints want it."
    size = known_size(certificate["moved_bytes"], replicas=replicas, unknown=unknown)
    moves = f"{counted(replicas, 'replica')}, {size}, {'moves' if replicas == 1 else 'move'}"
    if certificate["optimal"]:
        return f"{moves}; no plan within these constraints moves {'less' if by_bytes else 'fewer'}."
    bound = certificate["lower_bound_bytes" if by_bytes else "lower_bound_replicas"]
    least = byte_size(bound) if by_bytes else counted(bound, "replica")
    return f"{moves}; no plan can move less than {least}, so that at most {share(certificate['gap'])} could be saved."


def _title(head: PlanHead, _: Sequence[str]) -> str:
    asked: Any = head.request
    told = [
        *_brokers("add", [broker["id"] for broker in asked.get("add_brokers") or ()]),
        *_brokers("remove", list(asked.get("remove_brokers") or ())),
        *(f"{new} for {old}" for old, new in (asked.get("replace_brokers") or {}).items()),
        *(f"{topic} × {factor}" for topic, factor in (asked.get("replication_factor") or {}).items()),
        *(f"{topic} to {counted(its, 'partition')}" for topic, its in (asked.get("partitions") or {}).items()),
        *(["leaders only"] if asked.get("leaders_only") else []),
    ]
    if not told:
        return "Reassignment"
    more = f" and {len(told) - 3} more changes" if len(told) > 4 else ""
    return f"Reassignment: {', '.join(told[:3] if more else told)}{more}"


def _brokers(verb: str, ids: Sequence[int]) -> list[str]:
    if not ids:
        return []
    return [f"{verb} {ids[0]}"] if len(ids) == 1 else [f"{verb} {counted(len(ids), 'broker')}"]


def _worth(head: PlanHead) -> Worth:
    answer: Any = head.answer
    found = answer["measures"]["rack_safe_share"]
    return Worth(found, "rack-safe", found == 1)


def _draw(plan: Plan, cluster: Cluster, style: str) -> str:
    found = compared(plan, cluster)
    picture = MovesPicture(_title(plan.head, ()), sentences(found), found)
    return moves_picture.draw(picture, style=style)


def _values(plan: Plan, cluster: Cluster) -> Mapping[str, object]:
    answer: Any = plan.head.answer
    request: Any = plan.head.request
    found = compared(plan, cluster)
    batches = answer["batches"]
    return {
        "proof": certificate_words(answer["certificate"]),
        "batches": list(enumerate(batches[:SHOWN_BATCHES], start=1)),
        "batches_in_all": len(batches),
        "throttle": request["batches"]["throttle_bytes_per_s"],
        "brokers": [_broker_row(its) for its in broker_transfers(found)[:SHOWN_BROKERS]],
        "brokers_in_all": len(found.brokers),
        "partitions": [_partition_row(its) for its in found.partitions(0, SHOWN_PARTITIONS)],
        "partitions_in_all": found.movement.total,
        "grown": found.movement.partitions_added,
    }


def _broker_row(its: BrokerTransfer) -> Mapping[str, object]:
    return {
        "id": its.broker,
        "rack": its.rack,
        "numbers": [
            _changed(f"{its.replicas_before:,}", f"{its.replicas_after:,}"),
            _changed(f"{its.leaders_before:,}", f"{its.leaders_after:,}"),
            _changed(
                known_size(its.bytes_before, replicas=its.replicas_before, unknown=its.unknown_size_before),
                known_size(its.bytes_after, replicas=its.replicas_after, unknown=its.unknown_size_after),
            ),
            known_size(its.bytes_in, replicas=its.replicas_in, unknown=its.unknown_size_in),
            known_size(its.bytes_out, replicas=its.replicas_out, unknown=its.unknown_size_out),
        ],
    }


def _partition_row(its: PartitionTransfer) -> Mapping[str, object]:
    copies = len(its.adding_replicas) if its.before else 0
    size = "size unknown" if its.size_bytes is None else byte_size(its.size_bytes * copies)
    return {
        "name": f"{its.topic}-{its.partition}",
        "before": ", ".join(map(str, its.before)) if its.before else "new",
        "after": ", ".join(map(str, its.after)),
        "size": size if copies else "",
        "racks": _changed(str(its.racks_before), str(its.racks_after)) if its.before else str(its.racks_after),
        "loses_racks": bool(its.before) and its.racks_after < its.racks_before,
        "leader": _changed(str(its.before[0]), str(its.after[0])) if its.before else str(its.after[0]),
    }


def _changed(before: str, after: str) -> str:
    return after if before == after else f"{before} → {after}"


VIEW = View(
    title=_title,
    worth=_worth,
    prediction=lambda _: "Nothing is drawn: Kafka makes exactly this, once it is handed the files below.",
    draw=_draw,
    template="reassignment_plan.html",
    values=_values,
)
"""How reassignments are shown."""
