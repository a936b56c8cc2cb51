"""Laws of loads: bands of bytes and rates, limits, excess and goals, beside the exact optimum."""

from fractions import Fraction
from math import lcm
from typing import Any

from tests.oracle.clusters import Document
from tests.oracle.exact import BRIEF, DETERMINISTIC_TIME, Exact, Replicas
from tests.oracle.examined import Examined
from tests.oracle.instances import resource_limits
from tests.oracle.model import Model, Partition
from tests.oracle.options import CPU_UNITS, cpu_units

RELATIVE_ERROR = 2e-6
"""Shares of answers have six decimals."""
OF_LEADERS = frozenset({"cpu", "nic_out", "leaders"})
"""Loads that are greater of a leader than of a follower."""


def limit_of(request: Document, resource: str) -> int:
    """The limit of each broker's load; capacities are equal if a limit is a share of them."""
    limit = request["limits"][resource]
    if "absolute" in limit:
        return round(float(limit["absolute"]) * (CPU_UNITS if resource == "cpu" else 1))
    if resource == "cpu":
        return round(float(limit["share"] * request["capacity"]["*"]["vcpu"]) * CPU_UNITS)
    return int(Fraction(repr(limit["share"])) * request["capacity"]["*"]["disk_bytes"])


def capacity_of(request: Document, model: Model, resource: str) -> dict[int, int]:
    """The weight of each broker that stays in the balance of a resource."""
    weights = request.get("balance", {}).get("weights")
    if weights is not None:
        whole = lcm(*(Fraction(str(weight)).denominator for weight in weights.values()))
        return {broker: int(weights.get(str(broker), 1) * whole) for broker in sorted(model.brokers.staying)}
    stated = request.get("capacity", {}) if resource == "disk" else {}
    every = stated.get("*", {"disk_bytes": 1})
    return {broker: stated.get(str(broker), every)["disk_bytes"] for broker in sorted(model.brokers.staying)}


def weights_of(resource: str, row: Partition) -> tuple[int, int]:
    """The load of a replica, and the further load of a leader."""
    rate = int(row.rate)
    return {
        "disk": (row.size or 0, 0),
        "nic_in": (rate, 0),
        "nic_out": (0, rate * (row.factor - 1)),
        "replicas": (1, 0),
        "leaders": (0, 1),
        "cpu": (cpu_units(rate, row.factor)[0] // row.factor, cpu_units(rate, row.factor)[1]),
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


def least_largest(model: Model, resource: str, after: Replicas, request: Document) -> Fraction | None:
    """The smallest largest load for a unit of capacity; topics that are not to change keep their leaders."""
    exact, capacity = Exact(model), capacity_of(request, model, resource)
    exact.keep_leaders(after, request.get("topics"))
    whole = lcm(*capacity.values())
    largest = exact.bounded(0, max(1, total_of(model, resource) * whole // min(capacity.values(), default=1)))
    for broker, load in of_brokers(exact, model, resource).items():
        exact.require(load * (whole // capacity[broker]) <= largest)
    # Leaders and followers with loads of their own are a partition of numbers, which takes minutes to prove.
    least = exact.minimised(largest, BRIEF if resource in OF_LEADERS else DETERMINISTIC_TIME)
    return None if least is None else Fraction(least, whole)


def band(examined: Examined, model: Model, exact: Exact, after: Replicas) -> bool:
    """The largest load beside the exact one; then the exact model is held within the reported band."""
    request, replicas = examined.instance.request, examined.answer.document["balance"]["replicas"]
    if replicas["low"] is None or examined.answer.document["balance"].get("sets"):
        return False
    resource = "disk" if replicas["by"] == "bytes" else "nic_in"
    least = least_largest(model, resource, after, request | {"capacity": {}})
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
    balance = request.get("balance", {})
    if "weights" in balance and (len(rows) != 1 or balance.get("replicas_by", "count") == "count"):
        return  # of which the small model does not have the combination
    is_joint = len(rows) > 1 and not isinstance(request.get("objective"), dict)
    # The small model may drop the last replica in sync, or let one lead that is not.
    is_in_sync = all(set(row.isr) == set(row.before) for row in model.partitions)
    for place, row in enumerate(rows):
        if row["goal"] in OF_LEADERS and not is_in_sync:
            continue
        total = 0 if row["goal"] == "topic_replicas" else total_of(model, row["goal"])
        least = least_largest(model, row["goal"], after, request) if total else None
        if document["balance"].get("sets") or least is None:
            continue
        share = float(least * sum(capacity_of(request, model, row["goal"]).values()) / total)
        error = RELATIVE_ERROR * max(1, share)
        detail = f"{row}, exact {share:.6f}"
        examined.hold("no bound of a goal is above the optimum", row["largest_bound"] <= share + error, detail)
        if place == 0 and not is_joint:
            # A tolerance bounds the distance from the ideal load on both sides.
            reached = max(share, 1 + row["tolerance"], 2 - row["smallest"] if row["tolerance"] else 0)
            examined.hold("the first goal is the exact least", row["largest"] <= reached + error, detail)
            if not row["tolerance"]:
                # Of brokers that receive nothing, too: those with any of the load.
                largest = max(
                    Fraction(_reached(model, row["goal"], broker, after), each)
                    for broker, each in capacity_of(request, model, row["goal"]).items()
                )
                detail = f"{row}: a broker has {float(largest)}, exact {float(least)}"
                examined.hold("the largest load is the exact least", largest <= least, detail)
    if rows and is_in_sync and not document["balance"].get("sets"):
        _least_for_goals(examined, model, rows, after)


def require_goals(exact: Exact, model: Model, request: Document, rows: list[Document], after: Replicas) -> bool:
    """Hold the loads of tight goals at what was reached; False if a goal has a tolerance or is of topics."""
    for row in rows:
        if row["goal"] == "topic_replicas" or row["tolerance"]:
            return False
        loads, capacity = of_brokers(exact, model, row["goal"]), capacity_of(request, model, row["goal"])
        reached_shares = (
            Fraction(_reached(model, row["goal"], broker, after), capacity[broker])
            for broker in model.brokers.receiving
        )
        most = max(reached_shares, default=Fraction(0))
        for broker, load in loads.items():
            # Brokers that receive nothing are balanced as well if they have more than their share.
            reached = 0 if broker in model.brokers.receiving else _reached(model, row["goal"], broker, after)
            exact.require(load <= max(reached, int(most * capacity[broker])))
    return True


def _least_for_goals(examined: Examined, model: Model, rows: list[Document], after: Replicas) -> None:
    """The movement beside the least one of all placements whose largest loads are those that were reached."""
    exact = Exact(model)
    if not require_goals(exact, model, examined.instance.request, rows, after):
        return
    certificate = examined.answer.document["certificate"]
    least = exact.minimised(exact.moved(lambda row: row.size or 0))
    if certificate["minimised"] == "bytes" and least is not None:
        detail = f"moved {certificate['moved_bytes']}, bound {certificate['lower_bound_bytes']}, exact {least}"
        examined.hold("no bound is above the optimum", certificate["lower_bound_bytes"] <= least, detail)
        examined.hold("moved is the exact least", certificate["moved_bytes"] <= least, detail)


def excess(examined: Examined, model: Model, exact: Exact, after: Replicas) -> bool:
    """The sum of loads above limits is the exact least one, which the exact model then holds; whether it is reached."""
    request = examined.instance.request
    reached = sum(
        max(0, _reached(model, resource, broker, after) - limit_of(request, resource))
        for resource in resource_limits(request)
        for broker in model.brokers.staying
    )
    least = exact.minimised(sum_above(exact, model, request))
    examined.hold("the excess is the exact least", reached == least, f"excess {reached}, exact {least}")
    return reached == least


def sum_above(exact: Exact, model: Model, request: Document) -> Any:
    """The sum of loads above limits."""
    above_limits = []
    for resource in resource_limits(request):
        for load in of_brokers(exact, model, resource).values():
            above_limits.append(exact.bounded(0, max(1, total_of(model, resource))))
            exact.require(above_limits[-1] >= load - limit_of(request, resource))
    return sum(above_limits)


def fits(request: Document, model: Model, row: Partition, broker: int, after: Replicas) -> bool:
    """Whether a broker is within its limits with a further follower."""
    return all(
        _reached(model, resource, broker, after) + weights_of(resource, row)[0] <= limit_of(request, resource)
        for resource in resource_limits(request)
    )


def _reached(model: Model, resource: str, broker: int, after: Replicas) -> int:
    """The load of a broker after the plan."""
    return sum(
        weights_of(resource, row)[0] * (broker in after[row.key])
        + weights_of(resource, row)[1] * (broker == after[row.key][0])
        for row in model.partitions
    )
