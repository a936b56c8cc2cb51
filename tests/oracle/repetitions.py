"""Laws of two answers: the same request again, in other names, on the planned cluster, and with a weaker constraint."""

from collections.abc import Mapping
from random import Random
from typing import Any

from tests.oracle.changes import CONSTRAINTS, planned_cluster, renamed
from tests.oracle.clusters import Document
from tests.oracle.exact import Replicas
from tests.oracle.examined import Examined
from tests.oracle.instances import engine_of, resource_limits
from tests.oracle.loads import limit_of
from tests.oracle.model import Model, breaks_racks, repairs_racks
from tests.oracle.problems import REJECTED_FOR_ITS_FORM
from tests.oracle.service import plan

MORE_TOLERANCE = 0.25


def repetitions(examined: Examined, model: Model, after: Replicas) -> None:
    """One of the four laws by the seed, the cheap ones more often."""
    turn = examined.instance.seed // 7 % 4
    if turn == 0:
        _same_again(examined)
    if turn == 1:
        _other_names(examined)
    if turn in {0, 2}:
        _nothing_left(examined, model, after)
    if turn in {1, 3}:
        _weaker(examined)


def _cost(document: Document) -> tuple[str, int]:
    certificate = document["certificate"]
    return certificate["minimised"], certificate[f"moved_{certificate['minimised']}"]


def _goals_above_bounds(document: Document) -> list[float]:
    """What each goal reached whose least is not proven: a model that finds more or less of it moves more or less."""
    return [goal["largest"] for goal in document["balance"]["resources"] or () if goal["gap"]]


def _same_again(examined: Examined) -> None:
    again = plan(examined.instance.snapshot, examined.instance.request)
    examined.hold("the same request has the same answer", again.document == examined.answer.document, "", "any")


def _other_names(examined: Examined) -> None:
    instance = examined.instance
    if instance.request.get("topic_sets") == "topic_name_hash":
        return
    other = plan(*renamed(instance.snapshot, instance.request, Random(instance.seed)))
    if other.status != 200:
        examined.hold("names and order do not matter", False, str(other.document))
        return
    if _goals_above_bounds(examined.answer.document) or _goals_above_bounds(other.document):
        return
    costs = _cost(examined.answer.document), _cost(other.document)
    examined.hold("names and order do not matter", costs[0] == costs[1], f"{costs[0]}, renamed {costs[1]}")


def _nothing_left(examined: Examined, model: Model, after: Replicas) -> None:
    request = examined.instance.request
    # If racks are repaired, replicas do not move for leaders beside.
    repaired = any(breaks_racks(row, model.brokers) for row in model.partitions)
    if engine_of(examined.instance) == "leaders" and repaired:
        return
    others = ("partitions", "max_moved_bytes", "replace_brokers", "unknown_sizes")
    if any(name in request for name in others) or request.get("receivers") == "added" or model.brokers.down:
        return
    # A partition whose factor is lowered keeps its preferred leader, and is free of that later; limits do not free the
    # leader of one that is not in sync.
    keeps = any(row.keeps_leader and set(row.isr) != set(row.before) for row in model.partitions)
    is_balanced = any(request.get(name) for name in ("balance", "add_brokers")) or isinstance(
        request.get("objective"), dict
    )
    if "replication_factor" in request and (is_balanced or (keeps and request.get("limits"))):
        return
    again = plan(planned_cluster(examined.instance.snapshot, request, after, examined.answer), request)
    if again.status != 200:
        is_form = again.document["code"] in REJECTED_FOR_ITS_FORM
        examined.hold("the planned cluster stays as it is", is_form, str(again.document))
        return
    before, after_again = _goals_above_bounds(examined.answer.document), _goals_above_bounds(again.document)
    if before and after_again != before:
        examined.hold("goals do not worsen on the planned cluster", after_again < before, f"{before}, {after_again}")
        return
    certificate = again.document["certificate"]
    detail = f"moves {certificate['moved_replicas']} replicas, {certificate['moved_bytes']} bytes again"
    examined.hold("the planned cluster stays as it is", certificate["moved_replicas"] == 0, detail)
    within = (again.document.get("log_dirs") or {"moved_bytes": 0})["moved_bytes"]
    examined.hold("planned log directories stay", within == 0, f"{within} bytes move within brokers again")
    # The planned cluster is in sync, so that replicas may lead which could not before.
    was_in_sync = all(
        set(row.get("isr", row["replicas"])) == set(row["replicas"])
        for topic in examined.instance.snapshot["topics"]
        for row in topic["partitions"]
    )
    if was_in_sync and request.get("balance", {}).get("leaders") != "preferred":
        changes = again.document["leader_changes"]
        examined.hold("the planned leaders stay", changes == 0, f"{changes} leaders change again")


def _weaker(examined: Examined) -> None:
    """A wider tolerance, a higher limit, or one constraint less never costs more."""
    instance = examined.instance
    for law, request in _weaker_requests(instance.request, engine_of(instance)):
        other = plan(instance.snapshot, request)
        if other.status != 200:
            if other.document["code"] in {"infeasible_reassignment", "budget_below_minimum"}:
                examined.hold(law, False, f"{request}: {other.document['detail']}")
            continue
        (minimised, cost), (other_minimised, other_cost) = _cost(examined.answer.document), _cost(other.document)
        detail = f"{cost} {minimised}, with {request} {other_cost}"
        if minimised == other_minimised:
            examined.hold(law, other_cost <= cost, detail)


def _weaker_requests(request: Document, engine: str) -> list[tuple[str, Document]]:
    weaker: list[tuple[str, Document]] = []
    balance: Mapping[str, Any] = request.get("balance", {})
    stated = balance.get("replicas")
    if request.get("max_moved_bytes") is not None or request.get("on_conflict") == "relax":
        return []
    if isinstance(stated, dict):
        wider = {"tolerance": min(1, stated["tolerance"] + MORE_TOLERANCE)}
        weaker.append(("a wider tolerance costs no more", request | {"balance": {**balance, "replicas": wider}}))
    if stated == "tight" and engine == "counts":
        other = request | {"balance": {**balance, "replicas": {"tolerance": MORE_TOLERANCE}}}
        weaker.append(("a wider tolerance costs no more", other))
    if engine == "limits" and not isinstance(request.get("objective"), dict):
        limits = {name: {"absolute": 1 + int(1.2 * limit_of(request, name))} for name in resource_limits(request)}
        weaker.append(("a higher limit costs no more", request | {"limits": request["limits"] | limits}))
    keeps = stated == "keep" or not (stated or request.get("add_brokers") or request.get("receivers"))
    may_drop = not any(request.get(name) for name in ("leaders_only", "evacuate_leaders", "min_leaders_per_broker"))
    if keeps and engine in {"counts", "limits"} and may_drop:
        weaker += [
            ("one constraint less costs no more", other)
            for name in CONSTRAINTS
            for other in [{field: value for field, value in request.items() if field != name}]
            # A broker that replaces another one also takes replicas of those that are removed.
            if not (name == "replace_brokers" and (request.get("remove_racks") or request.get("remove_brokers")))
            if request.get(name) and repairs_racks(other) == repairs_racks(request)
        ]
    return weaker
