"""What reassignment plans look like as JSON."""

from typing import Any, Literal

from pydantic import BaseModel, Field

from app.api.plan_documents import CertificateDocument, PlacedTopic, WholePlan
from app.api.snapshots import WarningDocument
from app.core.measures.placement import PlacementMeasures
from app.core.measures.violations import Violation
from app.services.reassignment import LeadersBy, ReplicasBy


class Ends(BaseModel):
    """The smallest and the largest load of brokers that may receive replicas."""

    smallest: int
    largest: int


class ReplicasBalance(Ends):
    """The replica load of brokers after the plan. `low` and `high` are the load band; null without one."""

    by: ReplicasBy
    low: int | None
    high: int | None
    before: Ends
    largest_bound: int | None = Field(description="By bytes or throughput: no plan has a smaller `largest`.")


class LeadersBalance(Ends):
    """The leader load of brokers after the plan, and the certificate of the number of leader changes."""

    by: LeadersBy
    low: int | None
    high: int | None
    before: Ends
    largest_bound: int
    changes: int
    bound: int
    optimal: bool
    gap: float
    solver: str


class BalanceDocument(BaseModel):
    """The balance of brokers."""

    replicas: ReplicasBalance
    leaders: LeadersBalance


class MovedPartition(BaseModel):
    """A partition."""

    topic: str
    partition: int


class BatchDocument(BaseModel):
    """Steps that are executed together. `partitions` names the first 100; `count` counts them all."""

    partitions: list[MovedPartition]
    count: int
    moves_data: bool = Field(
        description="False if only the order of replica lists changes, and with it preferred leaders."
    )
    moved_replicas: int
    moved_bytes: int
    unknown_size_replicas: int
    max_bytes_in: int = Field(description="The largest number of bytes copied to one broker.")
    seconds: float | None = Field(description="Duration at the throttle, of the broker with the most bytes to copy.")


class ExecutionStepDocument(BaseModel):
    """One step: a batch by its number, or brokers whose log directories are all cordoned or uncordoned."""

    action: Literal["execute", "cordon", "uncordon"]
    batch: int | None
    brokers: list[int]


class ExecutionDocument(BaseModel):
    """The order of execution under cordons (KIP-1066): since 4.3.2 Kafka rejects every list with a cordoned broker."""

    batches: list[ExecutionStepDocument]
    rollback: list[ExecutionStepDocument] = Field(description="The inverses of batches, from the last to the first.")
    at_once: list[ExecutionStepDocument] = Field(description="The whole plan as one file, `format=reassignment`.")
    rollback_at_once: list[ExecutionStepDocument] = Field(description="Its inverse, `format=rollback`.")


class RebalancingGroup(BaseModel):
    """A group that rebalances when a batch is complete, since a topic that it reads has replicas in other racks."""

    group_id: str
    batch: int


class MovementRange(BaseModel):
    """The movement of several runs; the median is that of a run."""

    min: int
    median: int
    max: int


class KafkaGenerateDocument(BaseModel):
    """What `kafka-reassign-partitions --generate` of the release would move for the same topics on the brokers that may
    receive replicas. It draws a random seed; the runs have the same seeds in every plan.
    """

    algorithm: Literal["striped", "admin_utils"] = Field(description="`striped` since 4.1, `admin_utils` before.")
    seeds: int = Field(description="The number of runs: 20, fewer of a large cluster.")
    moved_replicas: MovementRange | None
    moved_bytes: MovementRange | None
    left_out: str | None = Field(description="Why there is no comparison; null if there is one.")


class BrokerMovement(BaseModel):
    """Replicas that a broker receives and sends. Bytes and leaders are of the topics that may move."""

    broker: int
    rack: str | None
    replicas_before: int
    replicas_in: int
    replicas_out: int
    replicas_after: int
    bytes_before: int
    bytes_in: int
    bytes_out: int
    bytes_after: int
    leaders_before: int
    leaders_after: int


class TradeOffPoint(BaseModel):
    """The least movement after which the load of every broker is between `low` and `high`."""

    low: int
    high: int
    moved_replicas: int
    moved_bytes: int
    optimal: bool = Field(description="Whether no plan within this band moves less.")


class RelaxedConstraint(BaseModel):
    """A constraint that was relaxed."""

    constraint: str
    detail: str


class Spread(BaseModel):
    """A count over brokers."""

    min: int
    max: int
    spread: int


class MeasuresBefore(BaseModel):
    """The measures before the plan."""

    rack_safe_share: float | None
    replicas: Spread
    leaders: Spread


class ReassignmentPlanDocument(WholePlan):
    """A change of a cluster with the least movement, in batches, with its certificate."""

    topics: list[PlacedTopic]
    certificate: CertificateDocument
    leader_changes: int
    not_preferred: int = Field(
        description="Partitions that are led by another replica than the preferred leader before the plan."
    )
    balance: BalanceDocument
    batches: list[BatchDocument]
    fewest_batches: int = Field(description="No schedule of these steps has fewer batches.")
    execution: ExecutionDocument | None = Field(
        description="Null if no broker is cordoned, nor removed from a cluster of Kafka 4.3 or later."
    )
    rebalancing_groups: list[RebalancingGroup] = Field(
        description="Groups of the consumer and the streams protocol, since Kafka 4.1 (KIP-1101), by batch and id."
    )
    kafka_generate: KafkaGenerateDocument
    movement: list[BrokerMovement]
    trade_off: list[TradeOffPoint] | None
    relaxed: list[RelaxedConstraint]
    measures: PlacementMeasures
    measures_before: MeasuresBefore
    violations: list[Violation]
    warnings: list[WarningDocument]
    request: dict[str, Any]
