"""A plan's rows as JSON: partitions of one topic may have unequal factors, and padding is nobody's replica."""

from app.core.model import NO_REPLICA, unpadded
from app.errors import Json
from app.services.plans import Plan, PlannedPartition
from app.store.plans import NewPlan, PlanHead


def placed(plan: Plan | NewPlan) -> dict[str, object]:
    """Where the replicas shall be, as the contract writes it."""
    return {
        "topics": [
            {
                "name": placement.topic,
                "first_partition_id": placement.first_partition_id,
                "replicas": unpadded(rows) if (rows == NO_REPLICA).any() else rows,
            }
            for placement in plan.placements
            for rows in (placement.replicas,)
        ]
    }


def partition_json(_: PlanHead, row: PlannedPartition) -> dict[str, Json]:
    """One partition of a plan; the first replica is the preferred leader."""
    listed = [broker for broker in row.row if broker != NO_REPLICA]
    return {"topic": row.topic, "partition": row.partition, "leader": listed[0], "replicas": listed}
