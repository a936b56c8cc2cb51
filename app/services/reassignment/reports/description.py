"""A reassignment in a few words."""

from collections.abc import Sequence
from typing import Any, cast

from app.formats.syntax.quantities import byte_size, counted, known_size, share
from app.services.plans.description import at, some
from app.store.records import NewPlan


def title(plan: NewPlan) -> str:
    """`Remove broker 105 from prod-eu`, `Add 2 brokers to prod-eu, set orders to 4 replicas`."""
    request, answer = cast("Any", plan.request), cast("Any", plan.answer)
    added = [broker["id"] for broker in request.get("add_brokers") or ()]
    removed = list(request.get("remove_brokers") or ())
    replaced = request.get("replace_brokers") or {}
    factors = request.get("replication_factor") or {}
    partitions = request.get("partitions") or {}
    changes = [
        *([f"remove {_brokers(removed)}{at(plan.cluster, 'from')}"] if removed else []),
        *([f"add {_brokers(added)}{at(plan.cluster, 'to')}"] if added else []),
        *(f"replace broker {old} by {new}{at(plan.cluster, 'in')}" for old, new in replaced.items()),
        *(f"set {topic} to {counted(factor, 'replica')}" for topic, factor in factors.items()),
        *(f"grow {topic} to {counted(count, 'partition')}" for topic, count in partitions.items()),
        *([f"choose the leaders{at(plan.cluster, 'of')}"] if request.get("leaders_only") else []),
    ]
    words = some(changes, noun="change") if changes else f"{_unstated(answer)} {plan.cluster or 'the cluster'}"
    return words[0].upper() + words[1:]


def summary(plan: NewPlan) -> str:
    """`moves 12 replicas, 3.4 GiB; 2 batches; proven least`."""
    answer: Any = plan.answer
    certificate, batches = answer["certificate"], len(answer["batches"])
    replicas = certificate["moved_replicas"]
    log_dirs = answer.get("log_dirs") or {"moved_replicas": 0}
    within = f"moves {counted(log_dirs['moved_replicas'], 'replica')} between log directories"
    if not replicas and log_dirs["moved_replicas"]:
        return f"{within}, {byte_size(log_dirs['moved_bytes'])}; {batches} batch{'' if batches == 1 else 'es'}"
    if not replicas:
        changed = answer["leader_changes"]
        return f"moves no replica; {counted(changed, 'leader')} {'changes' if changed == 1 else 'change'}"
    size = known_size(certificate["moved_bytes"], replicas=replicas, unknown=certificate["unknown_size_replicas"])
    proof = "proven least" if certificate["optimal"] else f"optimality gap {share(certificate['gap'])}"
    steps = f"{batches} batch{'' if batches == 1 else 'es'}"
    also = f"; {within}" if log_dirs["moved_replicas"] else ""
    return f"moves {counted(replicas, 'replica')}, {size}; {steps}; {proof}{also}"


def _unstated(answer: Any) -> str:
    """The change of a plan whose request adds, removes and sets nothing; the name of the cluster follows."""
    if not (answer.get("log_dirs") or {}).get("moved_replicas", 0):
        return "rebalance"
    within = "move replicas between log directories"
    if not answer["certificate"]["moved_replicas"]:
        return f"{within} of"
    before, after = (answer[name]["rack_safe_share"] or 0 for name in ("measures_before", "measures"))
    return f"{within} and repair the racks of" if after > before else f"{within} and rebalance"


def _brokers(ids: Sequence[int]) -> str:
    return f"broker {ids[0]}" if len(ids) == 1 else counted(len(ids), "broker")
