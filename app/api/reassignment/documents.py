"""What reassignment plans look like as JSON."""

from datetime import datetime
from typing import Any, Literal

from pydantic import BaseModel

from app.api.models.warnings import WarningDocument
from app.api.plan_documents import CertificateDocument, PlacedTopic, WholePlan
from app.api.reassignment.balance_documents import BalanceDocument
from app.api.reassignment.load_documents import BrokerLoads, CrossRackDocument, ExcessDocument
from app.api.reassignment.log_dir_documents import LogDirsDocument
from app.core.measures.placement import PlacementMeasures
from app.core.measures.violations import Violation


class MovedPartition(BaseModel):
    """A partition."""

    topic: str
    """Name of the topic."""
    partition: int
    """Id of the partition in its topic."""


class BatchDocument(BaseModel):
    """Steps that are executed together. `partitions` names the first 100; `count` counts them all."""

    partitions: list[MovedPartition]
    """The first 100 partitions of the batch, in the order of execution."""
    count: int
    """Number of partitions in the batch."""
    moves_data: bool
    """False if only the order of replica lists changes, and with it preferred leaders."""
    moved_replicas: int
    """Number of replicas that are copied."""
    moved_bytes: int
    """Bytes that are copied, of replicas of known size."""
    unknown_size_replicas: int
    """Number of copied replicas whose size is unknown."""
    max_bytes_in: int
    """The largest number of bytes copied to one broker."""
    seconds: float | None
    """Duration by a fluid model of the throttle, the networks and what producers write meanwhile; 0 if nothing is
    copied; null if it never completes, neither a throttle nor a network is known, or replicas move between log
    directories without a throttle."""
    completes: bool | None
    """Whether the batch completes: false if replicas are copied no faster than producers write to their partitions, or
    if Kafka waits for a broker that is fenced or down (a warning); otherwise null if `seconds` is unknown."""
    log_dir_moves: int | None = None
    """Number of replicas moved between log directories; absent without `log_dirs`."""
    log_dir_moved_bytes: int | None = None
    """Bytes of these replicas; absent without `log_dirs`."""


class ExecutionStepDocument(BaseModel):
    """One step: a batch by its number, or brokers whose log directories are all cordoned or uncordoned."""

    action: Literal["execute", "cordon", "uncordon"]
    """`execute` a file, or `cordon` or `uncordon` all log directories of brokers."""
    batch: int | None
    """Number of the executed batch, from 1; null if the step executes none or the whole plan."""
    brokers: list[int]
    """Broker ids that are cordoned or uncordoned, ascending; empty if the step executes."""


class ExecutionDocument(BaseModel):
    """The order of execution under cordons (KIP-1066): since 4.3.2 Kafka rejects every list with a cordoned broker."""

    batches: list[ExecutionStepDocument]
    """Steps of the batches, in the order of execution."""
    rollback: list[ExecutionStepDocument]
    """The inverses of batches, from the last to the first."""
    at_once: list[ExecutionStepDocument]
    """The whole plan as one file, `format=reassignment`."""
    rollback_at_once: list[ExecutionStepDocument]
    """Its inverse, `format=rollback`."""


class RebalancingGroup(BaseModel):
    """A group that rebalances when a batch is complete, since a topic that it reads has replicas in other racks."""

    group_id: str
    """Id of the group."""
    batch: int
    """Number of the batch, from 1."""


class MovementRange(BaseModel):
    """The movement of several runs; the median is that of a run."""

    min: int
    """Smallest amount of a run."""
    median: int
    """Amount of the median run."""
    max: int
    """Largest amount of a run."""


class KafkaGenerateDocument(BaseModel):
    """What `kafka-reassign-partitions --generate` of the release would move for the same topics on the brokers that may
    receive replicas. It draws a random seed; the runs have the same seeds in every plan.
    """

    algorithm: Literal["striped", "admin_utils"]
    """`striped` since 4.1, `admin_utils` before."""
    seeds: int
    """The number of runs: 20, fewer of a large cluster."""
    moved_replicas: MovementRange | None
    """Number of replicas that the runs move; null if there is no comparison."""
    moved_bytes: MovementRange | None
    """Bytes that the runs move, of replicas of known size; null if there is no comparison."""
    left_out: str | None
    """Why there is no comparison; null if there is one."""


class BrokerMovement(BaseModel):
    """Replicas that a broker receives and sends. Bytes and leaders are of the topics that may move."""

    broker: int
    """Id of the broker."""
    rack: str | None
    """Rack of the broker; null if it has none."""
    replicas_before: int
    """Number of replicas before the plan."""
    replicas_in: int
    """Number of replicas that are copied to the broker."""
    replicas_out: int
    """Number of replicas that are removed from the broker."""
    replicas_after: int
    """Number of replicas after the plan."""
    bytes_before: int
    """Bytes before the plan, of replicas of known size."""
    bytes_in: int
    """Bytes that are copied to the broker, of replicas of known size."""
    bytes_out: int
    """Bytes that are removed from the broker, of replicas of known size."""
    bytes_after: int
    """Bytes after the plan, of replicas of known size."""
    leaders_before: int
    """Number of preferred leaders before the plan."""
    leaders_after: int
    """Number of preferred leaders after the plan."""


class TradeOffPoint(BaseModel):
    """The least movement after which the load of every broker is between `low` and `high`."""

    low: int | None
    """Lower end of the load band, in the unit of the balanced load; null if broker sets have bands of their own."""
    high: int | None
    """Upper end of the load band, in the unit of the balanced load; null if broker sets have bands of their own."""
    moved_replicas: int
    """Number of replicas that are copied."""
    moved_bytes: int
    """Bytes that are copied, of replicas of known size."""
    optimal: bool
    """Whether no plan within this band moves less."""


class RelaxedConstraint(BaseModel):
    """A constraint that was relaxed."""

    constraint: str
    """Name of the constraint."""
    detail: str
    """Why it was relaxed, in a sentence."""


class Spread(BaseModel):
    """A count over brokers."""

    min: int
    """Smallest count of a broker."""
    max: int
    """Largest count of a broker."""
    spread: int
    """Largest count minus the smallest."""


class MeasuresBefore(BaseModel):
    """The measures before the plan."""

    rack_safe_share: float | None
    """Share of partitions that span min(replicas, racks) racks; null if no broker has a rack."""
    replicas: Spread
    """Replicas of brokers."""
    leaders: Spread
    """Preferred leaders of brokers."""


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
    certificate: CertificateDocument
    """What is moved, and the proof that no plan within the constraints moves less."""
    leader_changes: int
    """Number of partitions whose preferred leader changes."""
    not_preferred: int
    """Partitions that are led by another replica than the preferred leader before the plan."""
    balance: BalanceDocument
    """Load of brokers before and after the plan."""
    batches: list[BatchDocument]
    """Steps of the plan, in the order of execution."""
    recommended_throttle_bytes_per_s: int | None
    """Least of 1, 2, 5, 10, … bytes per second that is twice what producers write to the partitions which one broker
    sends or receives in a batch; null if no rate is known, or a network has less left."""
    fewest_batches: int
    """No schedule of these steps has fewer batches."""
    execution: ExecutionDocument | None
    """Null if no broker is cordoned, nor removed from a cluster of Kafka 4.3 or later."""
    rebalancing_groups: list[RebalancingGroup]
    """Groups of the consumer and the streams protocol, since Kafka 4.1 (KIP-1101), by batch and id."""
    kafka_generate: KafkaGenerateDocument
    """Movement of Kafka's own tool for the same change."""
    movement: list[BrokerMovement]
    """What each broker receives and sends, by ascending broker id."""
    loads: dict[str, BrokerLoads]
    """By broker id, the load of each resource whose loads are known, before and after the plan, and after losses."""
    cross_rack: CrossRackDocument | None
    """Bytes/s between racks; null without ingress rates, or with fewer than two racks."""
    excess: ExcessDocument | None
    """Loads above limits, if limits are soft or conflicts relaxed; null if every limit holds."""
    log_dirs: LogDirsDocument | None = None
    """Log directories before and after; absent if the request has no `log_dirs`."""
    trade_off: list[TradeOffPoint] | None
    """Least movement for each load band, if the request has `trade_off`; null otherwise."""
    relaxed: list[RelaxedConstraint]
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
