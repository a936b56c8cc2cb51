"""Laws of loads: bands of bytes and rates, limits, excess and goals, beside the exact optimum."""

from typing import Any

from tests.oracle.clusters import Document
from tests.oracle.exact import Exact, Replicas
from tests.oracle.examined import Examined
from tests.oracle.model import Model, Partition

RELATIVE_ERROR = 2e-6
"""Shares of answers have six decimals."""


def weights_of(resource: str, row: Partition) -> tuple[int, int]:
    """The load of a replica, and the further load of a leader."""
    rate = int(row.rate)
    return {
        "disk": (row.size or 0, 0),
        "nic_in": (rate, 0),
        "nic_out": (0, rate * (row.factor - 1)),
        "replicas": (1, 0),
        "leaders": (0, 1),
    }[resource]


def of_brokers(exact: Exact, model: Model, resource: str) -> dict[int, Any]:
    """The load of each broker that is up and stays."""
    return {
        broker: exact.load(broker, lambda row: weights_of(resource, row)[0], lambda row: weights_of(resource, row)[1])
        for broker in sorted(model.brokers.staying)
    }


def total_of(model: Model, resource: str) -> int:
    """The load of all brokers together."""
    each = ((weights_of(resource, row), row.factor) for row in model.partitions)
    return sum(replica * factor + leader for (replica, leader), factor in each)


def least_largest(model: Model, resource: str, after: Replicas, topics: list[str] | None) -> int | None:
    """The smallest largest load of a broker; partitions of topics that are not to change keep their leaders."""
    exact = Exact(model)
    exact.keep_leaders(after, topics)
    largest = exact.bounded(0, max(1, total_of(model, resource)))
    for load in of_brokers(exact, model, resource).values():
        exact.require(load <= largest)
    return exact.minimised(largest)


def band(examined: Examined, model: Model, exact: Exact, after: Replicas) -> bool:
    """The largest load beside the exact one; then the exact model is held within the reported band."""
    request, replicas = examined.instance.request, examined.answer.document["balance"]["replicas"]
    if replicas["low"] is None or examined.answer.document["balance"].get("sets"):
        return False
    resource = "disk" if replicas["by"] == "bytes" else "nic_in"
    least = least_largest(model, resource, after, request.get("topics"))
    if least is None:
        return False
    detail = f"largest {replicas['largest']}, bound {replicas['largest_bound']}, exact {least}"
    if request["balance"].get("replicas") == "tight":
        examined.hold("the largest load is the exact least", replicas["largest"] <= least, detail)
    if replicas["largest_bound"] is not None:
        examined.hold("no bound of a load is above the optimum", replicas["largest_bound"] <= least, detail)
    for broker, load in of_brokers(exact, model, resource).items():
        kept = sum(weights_of(resource, row)[0] for row in model.partitions if broker in row.before)
        low = int(replicas["low"])
        exact.require(load >= (low if broker in model.brokers.receiving else min(low, kept)))
        exact.require(load <= int(replicas["high"]))
    return True


def goals(examined: Examined, model: Model, after: Replicas) -> None:
    """The bound of each goal is at most its optimum alone; the first goal reaches its optimum."""
    document, request = examined.answer.document, examined.instance.request
    rows = document["balance"]["resources"] or []
    if "weights" in request.get("balance", {}):  # which the small model does not have
        return
    is_joint = len(rows) > 1 and not isinstance(request.get("objective"), dict)
    for place, row in enumerate(rows):
        total = 0 if row["goal"] == "topic_replicas" else total_of(model, row["goal"])
        least = least_largest(model, row["goal"], after, request.get("topics")) if total else None
        if document["balance"].get("sets") or least is None:
            continue
        share = least * len(model.brokers.staying) / total
        error = RELATIVE_ERROR * max(1, share)
        detail = f"{row}, exact {share:.6f}"
        examined.hold("no bound of a goal is above the optimum", row["largest_bound"] <= share + error, detail)
        if place == 0 and not is_joint:
            # A tolerance bounds the distance from the ideal load on both sides.
            reached = max(share, 1 + row["tolerance"], 2 - row["smallest"] if row["tolerance"] else 0)
            examined.hold("the first goal is the exact least", row["largest"] <= reached + error, detail)
    # The small model may drop the last replica in sync.
    is_in_sync = all(set(row.isr) == set(row.before) for row in model.partitions)
    if rows and is_in_sync and not document["balance"].get("sets"):
        _least_for_goals(examined, model, rows, after)


def require_goals(exact: Exact, model: Model, rows: list[Document], after: Replicas) -> bool:
    """Hold the loads of tight goals at what was reached; False if a goal has a tolerance or is of topics."""
    for row in rows:
        if row["goal"] == "topic_replicas" or row["tolerance"]:
            return False
        loads = of_brokers(exact, model, row["goal"])
        most = max(_reached(model, row["goal"], broker, after) for broker in model.brokers.receiving)
        for broker in model.brokers.receiving:
            exact.require(loads[broker] <= most)
    return True


def _least_for_goals(examined: Examined, model: Model, rows: list[Document], after: Replicas) -> None:
    """The movement beside the least one of all placements whose largest loads are those that were reached."""
    exact = Exact(model)
    if not require_goals(exact, model, rows, after):
        return
    certificate = examined.answer.document["certificate"]
    least = exact.minimised(exact.moved(lambda row: row.size or 0))
    if certificate["minimised"] == "bytes" and least is not None:
        detail = f"moved {certificate['moved_bytes']}, bound {certificate['lower_bound_bytes']}, exact {least}"
        examined.hold("no bound is above the optimum", certificate["lower_bound_bytes"] <= least, detail)
        examined.hold("moved is the exact least", certificate["moved_bytes"] <= least, detail)


def excess(examined: Examined, model: Model, exact: Exact, after: Replicas) -> bool:
    """The sum of loads above limits is the exact least one, which the exact model then holds; whether it is reached."""
    limits = examined.instance.request["limits"]
    reached = sum(
        max(0, _reached(model, resource, broker, after) - int(limit["absolute"]))
        for resource, limit in limits.items()
        for broker in model.brokers.staying
    )
    least = exact.minimised(sum_above(exact, model, limits))
    examined.hold("the excess is the exact least", reached == least, f"excess {reached}, exact {least}")
    return reached == least


def sum_above(exact: Exact, model: Model, limits: Document) -> Any:
    """The sum of loads above limits."""
    above_limits = []
    for resource, limit in limits.items():
        for load in of_brokers(exact, model, resource).values():
            above_limits.append(exact.bounded(0, max(1, total_of(model, resource))))
            exact.require(above_limits[-1] >= load - int(limit["absolute"]))
    return sum(above_limits)


def _reached(model: Model, resource: str, broker: int, after: Replicas) -> int:
    """The load of a broker after the plan."""
    return sum(
        weights_of(resource, row)[0] * (broker in after[row.key])
        + weights_of(resource, row)[1] * (broker == after[row.key][0])
        for row in model.partitions
    )
