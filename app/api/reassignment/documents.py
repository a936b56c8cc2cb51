"""What reassignment plans look like as JSON."""

from typing import Any

from pydantic import BaseModel, Field

from app.api.plan_documents import CertificateDocument, PlacedTopic, PlanSummary
from app.api.snapshots import WarningDocument
from app.core.measures.placement import PlacementMeasures
from app.core.measures.violations import Violation
from app.services.reassignment import LeadersBy, ReplicasBy


class Ends(BaseModel):
    """What the brokers that may receive have: the one with least and the one with most."""

    smallest: int
    largest: int


class ReplicasBalance(Ends):
    """How even replicas are afterwards. `low` and `high` are the band that was to be kept; null where none was."""

    by: ReplicasBy
    low: int | None
    high: int | None
    before: Ends
    largest_bound: int | None = Field(description="By bytes or throughput: no plan has a smaller `largest`.")


class LeadersBalance(Ends):
    """How even leaders are afterwards, and the proof of how few of them change for it."""

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
    """How even brokers are."""

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
    moves_data: bool = Field(description="False where only the order of lists changes, and with it preferred leaders.")
    moved_replicas: int
    moved_bytes: int
    unknown_size_replicas: int
    max_bytes_in: int = Field(description="The most that one broker takes.")
    seconds: float | None = Field(description="With a throttle: how long the broker that has most to copy takes.")


class BrokerMovement(BaseModel):
    """What a broker gives and takes. Bytes and leaders are of the topics that may move."""

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
    """So much movement buys so much balance: every broker between `low` and `high`."""

    low: int
    high: int
    moved_replicas: int
    moved_bytes: int
    optimal: bool = Field(description="Whether it is proven that no plan within this band moves less.")


class RelaxedConstraint(BaseModel):
    """What was asked for and given up."""

    constraint: str
    detail: str


class Spread(BaseModel):
    """A count over brokers."""

    min: int
    max: int
    spread: int


class MeasuresBefore(BaseModel):
    """What the measures were."""

    rack_safe_share: float | None
    replicas: Spread
    leaders: Spread


class ReassignmentPlanDocument(PlanSummary):
    """A change of a cluster with the least movement, in steps, with its proof."""

    topics: list[PlacedTopic]
    certificate: CertificateDocument
    leader_changes: int
    not_preferred: int = Field(description="Partitions that are led now by another than the first of their list.")
    balance: BalanceDocument
    batches: list[BatchDocument]
    fewest_batches: int = Field(description="No schedule of these steps has fewer batches.")
    movement: list[BrokerMovement]
    trade_off: list[TradeOffPoint] | None
    relaxed: list[RelaxedConstraint]
    measures: PlacementMeasures
    measures_before: MeasuresBefore
    violations: list[Violation]
    warnings: list[WarningDocument]
    request: dict[str, Any]
