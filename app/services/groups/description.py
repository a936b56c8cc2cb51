"""A group plan in a few words."""

from typing import Any

from app.formats.syntax.quantities import counted
from app.services.plans.description import at, some
from app.store.records import NewPlan


def title(plan: NewPlan) -> str:
    """`Assign billing under range on prod-eu`; the topics if the group has no name."""
    group = plan.request.get("group") or some([placement.topic for placement in plan.placements], noun="topic")
    return f"Assign {group} under {plan.answer['assignor']}" + at(plan.cluster, "on")


def summary(plan: NewPlan) -> str:
    """`12 partitions to 3 members; 9 read in rack`."""
    answer: Any = plan.answer
    members, in_rack = len(answer["loads"]["per_member"]), answer["locality"]["in_rack"]
    partitions = sum(len(placement.replicas) for placement in plan.placements)
    return f"{counted(partitions, 'partition')} to {counted(members, 'member')}; {in_rack:,} read in rack"
