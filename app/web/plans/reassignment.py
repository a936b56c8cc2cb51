"""The view of a reassignment: movement and its certificate, batches, brokers before and after."""

from collections.abc import Mapping, Sequence
from typing import Any

from app.core.model import Cluster
from app.formats.tables.reassignment_diffs import sentences
from app.services.plans import Plan
from app.services.reassignment import broker_transfers, compared
from app.store.records import PlanHead
from app.web.pictures import moves as moves_picture
from app.web.pictures.moves import MovesPicture
from app.web.plans.view import View
from app.web.words import byte_size, counted, known_size, share

RESOURCE_NAMES = {
    "disk": "disk",
    "nic_in": "NIC in",
    "nic_out": "NIC out",
    "cpu": "vCPU",
    "replicas": "replicas",
    "leaders": "leaders",
}
SHOWN_BATCHES, SHOWN_BROKERS, SHOWN_PARTITIONS = 100, 300, 100


def certificate_words(certificate: Mapping[str, Any]) -> str:
    """The movement and its lower bound."""
    replicas, unknown = certificate["moved_replicas"], certificate["unknown_size_replicas"]
    by_bytes = certificate["minimised"] == "bytes"
    if not replicas:
        return "No replica moves: the current placement satisfies all constraints."
    size = known_size(certificate["moved_bytes"], replicas=replicas, unknown=unknown)
    moves = f"{counted(replicas, 'replica')}, {size}, {'moves' if replicas == 1 else 'move'}"
    if certificate["optimal"]:
        return f"{moves}; no plan that satisfies these constraints moves {'less' if by_bytes else 'fewer'}."
    bound = certificate["lower_bound_bytes" if by_bytes else "lower_bound_replicas"]
    least = byte_size(bound) if by_bytes else counted(bound, "replica")
    return f"{moves}; the lower bound is {least}, an optimality gap of {share(certificate['gap'])}."


def tool_words(generated: Mapping[str, Any] | None) -> str:
    """What Kafka's own tool would move; empty if it was not compared."""
    if generated is None or generated["moved_replicas"] is None:
        return ""
    replicas, size = generated["moved_replicas"], generated["moved_bytes"]
    return (
        f"Kafka’s own kafka-reassign-partitions --generate would move {replicas['min']:,} to "
        f"{counted(replicas['max'], 'replica')} (median {replicas['median']:,}), {byte_size(size['min'])} to "
        f"{byte_size(size['max'])}, in {counted(generated['seeds'], 'run')}: it draws a new placement."
    )


def _title(head: PlanHead, _: Sequence[str]) -> str:
    request: Any = head.request
    changes = [
        *_brokers("add", [broker["id"] for broker in request.get("add_brokers") or ()]),
        *_brokers("remove", list(request.get("remove_brokers") or ())),
        *(f"{new} for {old}" for old, new in (request.get("replace_brokers") or {}).items()),
        *(f"{topic} × {factor}" for topic, factor in (request.get("replication_factor") or {}).items()),
        *(f"{topic} to {counted(count, 'partition')}" for topic, count in (request.get("partitions") or {}).items()),
        *(["leaders only"] if request.get("leaders_only") else []),
    ]
    if not changes:
        return "Reassignment"
    more = f" and {len(changes) - 3} more changes" if len(changes) > 4 else ""
    return f"Reassignment: {', '.join(changes[:3] if more else changes)}{more}"


def _brokers(verb: str, ids: Sequence[int]) -> list[str]:
    if not ids:
        return []
    return [f"{verb} {ids[0]}"] if len(ids) == 1 else [f"{verb} {counted(len(ids), 'broker')}"]


def _draw(plan: Plan, cluster: Cluster, style: str) -> str:
    transfers = compared(plan, cluster)
    picture = MovesPicture(_title(plan.head, ()), sentences(transfers), transfers)
    return moves_picture.draw(picture, style=style)


def _values(plan: Plan, cluster: Cluster) -> Mapping[str, object]:
    answer: Any = plan.head.answer
    request: Any = plan.head.request
    transfers = compared(plan, cluster)
    batches = answer["batches"]
    return {
        "proof": certificate_words(answer["certificate"]),
        "tool": tool_words(answer.get("kafka_generate")),
        "batches": list(enumerate(batches[:SHOWN_BATCHES], start=1)),
        "batches_in_all": len(batches),
        "rebalancing": answer.get("rebalancing_groups", [])[:SHOWN_BATCHES],
        "loads": load_rows(answer.get("loads") or {})[:SHOWN_BROKERS],
        "cross_rack": answer.get("cross_rack"),
        "excess": (answer.get("excess") or {}).get("brokers", [])[:SHOWN_BROKERS],
        "cordons": _cordon_steps(answer.get("execution")),
        "throttle": request["batches"]["throttle_bytes_per_s"],
        "brokers": broker_transfers(transfers)[:SHOWN_BROKERS],
        "brokers_in_all": len(transfers.brokers),
        "partitions": transfers.partitions(0, SHOWN_PARTITIONS),
        "partitions_in_all": transfers.movement.total,
        "grown": transfers.movement.partitions_added,
    }


def load_rows(loads: Mapping[str, Any]) -> list[tuple[str, str, list[str]]]:
    """By broker and resource: before, after, after the worst loss of a broker and of a rack, limit, headroom."""
    return [
        (broker, RESOURCE_NAMES[resource], [_amount(resource, value) for value in _figures(load)])
        for broker, by_resource in loads.items()
        for resource, load in by_resource.items()
        if not _is_plain(load)
    ]


def _figures(load: Mapping[str, Any]) -> list[float | None]:
    worst = load["after_worst_loss"]
    limit = load["capacity"] if load["limit"] is None else load["limit"]
    return [load["before"], load["after"], worst["broker"], worst["rack"], limit, load["headroom"]]


def _is_plain(load: Mapping[str, Any]) -> bool:
    """Whether the table of brokers says as much: a load without a limit that no loss changes."""
    worst = load["after_worst_loss"]
    has_limit = load["capacity"] is not None or load["limit"] is not None
    return not has_limit and worst["broker"] == load["after"] and worst["rack"] in (None, load["after"])


def _amount(resource: str, value: float | None) -> str:
    """A load in words: bytes, bytes/s, vCPU or a count."""
    if value is None:
        return "–"
    if resource in ("disk", "nic_in", "nic_out"):
        size = byte_size(abs(int(value)))
        return ("−" if value < 0 else "") + (size if resource == "disk" else f"{size}/s")
    return f"{value:,}"


def _cordon_steps(execution: Mapping[str, Any] | None) -> Sequence[str]:
    """The steps of an execution that changes cordons; empty if batches alone are executed."""
    steps = [] if execution is None else execution["batches"]
    if all(step["action"] == "execute" for step in steps):
        return []
    return [
        f"Execute batch {step['batch']}"
        if step["action"] == "execute"
        else f"{step['action'].capitalize()} {counted(len(step['brokers']), 'broker')}: "
        + ", ".join(map(str, step["brokers"][:SHOWN_BROKERS]))
        for step in steps[:SHOWN_BATCHES]
    ]


VIEW = View(
    title=_title,
    prediction=lambda _: "Nothing is drawn: Kafka executes the files below exactly.",
    draw=_draw,
    template="reassignment_plan.html",
    has_batches=True,
    values=_values,
)
"""How reassignments are shown."""
