"""A plan of replicas in a few words."""

from typing import Any

from app.formats.syntax.quantities import counted, share
from app.services.plans.description import at, some
from app.store.records import NewPlan


def title(plan: NewPlan) -> str:
    """`Place orders, payments on prod-eu`."""
    return f"Place {some([placement.topic for placement in plan.placements], noun='topic')}" + at(plan.cluster, "on")


def summary(plan: NewPlan) -> str:
    """`36 partitions, 108 replicas; rack-safe`."""
    sizes = [placement.replicas.shape for placement in plan.placements]
    partitions = counted(sum(rows for rows, _ in sizes), "partition")
    replicas = counted(sum(rows * factor for rows, factor in sizes), "replica")
    measures: Any = plan.answer["measures"]
    safe = measures.get("rack_safe_share")
    racks = [] if safe is None else ["rack-safe" if safe == 1 else f"{share(safe)} rack-safe"]
    return "; ".join([f"{partitions}, {replicas}", *racks])
