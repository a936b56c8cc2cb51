"""What reassignment plans look like as JSON."""

from datetime import datetime
from typing import Any

from pydantic import BaseModel

from app.api.models.clusters import WarningDocument
from app.api.plan_documents import PlacedTopic, WholePlan
from app.core.measures.placement import PlacementMeasures
from app.core.measures.violations import Violation
from app.services.plans.record import Certificate
from app.services.reassignment.problem.problem import Relaxation
from app.services.reassignment.problem.resources import RebalancingGroup
from app.services.reassignment.reports.balance import Balance, ExcessReport, TradeOffPoint
from app.services.reassignment.reports.batches import Batch, Execution, LogDirsReport
from app.services.reassignment.reports.loads import BrokerLoads, CrossRackReport
from app.services.reassignment.reports.report import BrokerMovement, MeasuresBefore
from app.services.reassignment.solve import GeneratedMovement


class LedgerBatchDocument(BaseModel):
    """The execution of one batch."""

    index: int
    """Number of the batch, from 1, as its file has it."""
    began_at: datetime
    """When Kafka accepted the batch, RFC 3339 in UTC."""
    ended_at: datetime
    """When the batch was seen to be complete."""
    throttle_bytes_per_s: int | None
    """Throttle that was set; null if there was none."""
    predicted_bytes: int | None
    """Bytes that the plan predicted; null if sizes were unknown."""
    actual_bytes: int | None
    """Bytes of the new replicas when the batch was complete; null if they were not measured."""
    predicted_seconds: float | None
    """Duration that the plan predicted; null if there was none, or at another throttle than the plan's."""
    actual_seconds: float
    """Duration, up to half of the time between the last two looks at the batch more or less."""


class LedgerDocument(BaseModel):
    """What the execution of a plan took, against what the plan predicted."""

    bytes_error: float | None
    """|actual − predicted| / predicted of the bytes of all batches that can be compared; null if none can."""
    seconds_error: float | None
    """The same of seconds."""
    ended_at: datetime
    """When the last of the batches was seen to be complete."""
    batches: list[LedgerBatchDocument]
    """Batches whose begin and end the log has, by number."""


class ReassignmentPlanDocument(WholePlan):
    """A change of a cluster with the least movement, in batches, with its certificate."""

    topics: list[PlacedTopic]
    """Topics whose partitions may move, with the replicas of all their partitions after the plan."""
    certificate: Certificate
    """What is moved, and the proof that no plan within the constraints moves less."""
    leader_changes: int
    """Number of partitions whose preferred leader changes."""
    not_preferred: int
    """Partitions that are led by another replica than the preferred leader before the plan."""
    balance: Balance
    """Load of brokers before and after the plan."""
    batches: list[Batch]
    """Steps of the plan, in the order of execution."""
    recommended_throttle_bytes_per_s: int | None
    """Least of 1, 2, 5, 10, … bytes per second that is twice what producers write to the partitions which one broker
    sends or receives in a batch; null if no rate is known, or a network has less left."""
    fewest_batches: int
    """No schedule of these steps has fewer batches."""
    execution: Execution | None
    """Null if no broker is cordoned, nor removed from a cluster of Kafka 4.3 or later."""
    rebalancing_groups: list[RebalancingGroup]
    """Groups of the consumer and the streams protocol, since Kafka 4.1 (KIP-1101), by batch and id."""
    kafka_generate: GeneratedMovement
    """Movement of Kafka's own tool for the same change."""
    movement: list[BrokerMovement]
    """What each broker receives and sends, by ascending broker id."""
    loads: dict[str, BrokerLoads]
    """By broker id, the load of each resource whose loads are known, before and after the plan, and after losses."""
    cross_rack: CrossRackReport | None
    """Bytes/s between racks; null without ingress rates, or with fewer than two racks."""
    excess: ExcessReport | None
    """Loads above limits, if limits are soft or conflicts relaxed; null if every limit holds."""
    log_dirs: LogDirsReport | None = None
    """Log directories before and after; absent if the request has no `log_dirs`."""
    trade_off: list[TradeOffPoint] | None
    """Least movement for each load band, if the request has `trade_off`; null otherwise."""
    relaxed: list[Relaxation]
    """Constraints that were relaxed because they conflict, if `on_conflict` is `relax`; empty otherwise."""
    measures: PlacementMeasures
    """Balance over brokers, rack safety and the cost of each loss, after the plan."""
    measures_before: MeasuresBefore
    """Balance over brokers and rack safety before the plan."""
    violations: list[Violation]
    """Ways in which the result is illegal or fragile, by topic; empty if there are none."""
    warnings: list[WarningDocument]
    """Conditions that did not prevent the plan; empty if there are none."""
    ledger: LedgerDocument | None = None
    """What the execution took, against what was predicted; absent until its log was recorded."""
    request: dict[str, Any]
    """The canonical request: every field with its default, in canonical order."""
