"""What reassignment plans look like as JSON."""

from datetime import datetime
from typing import Any, Literal

from pydantic import BaseModel, Field

from app.api.models.clusters import WarningDocument
from app.api.plan_documents import CertificateDocument, PlacedTopic, WholePlan
from app.core.measures.copysets import Copysets
from app.core.measures.losses import Losses
from app.core.measures.placement import PlacementMeasures
from app.core.measures.violations import Violation
from app.services.reassignment import LeadersBy, ReplicasBy
from app.services.reassignment.requests.parts import GoalName, Limited


class AfterWorstLoss(BaseModel):
    """The load after the worst loss. If a leader is lost, the first live replica leads. What a broker stores and
    receives stays.
    """

    broker: float
    """Load after the worst loss of one other broker."""
    lost_broker: int | None
    """Id of this other broker; null if no loss adds load."""
    rack: float | None
    """Load after the worst loss of another rack; null without racks."""
    lost_rack: str | None
    """Name of this other rack; null if no loss adds load."""


class ResourceLoadDocument(BaseModel):
    """The load of a resource of a broker: bytes, bytes/s, vCPU, or a count."""

    before: float
    """Load before the plan."""
    after: float
    """Load after the plan."""
    after_worst_loss: AfterWorstLoss
    """Load after the plan and the worst loss of another broker, and of another rack."""
    capacity: float | None
    """Capacity of the broker; null if unknown."""
    limit: float | None
    """Limit of the request; null without one."""
    headroom: float | None
    """Limit, or capacity if there is no limit, minus `after`; null if neither is known."""


class SentLoadDocument(ResourceLoadDocument):
    """The bytes/s that a broker sends."""

    potential: float
    """Bytes/s that the broker sends if it leads all partitions that it has."""


class BrokerLoads(BaseModel):
    """The loads of a broker by resource. Resources of unknown load are absent."""

    disk: ResourceLoadDocument | None = None
    """Bytes on disk; absent if no size is known."""
    nic_in: ResourceLoadDocument | None = None
    """Bytes/s that it receives, of producers and as a follower; absent without ingress rates."""
    nic_out: SentLoadDocument | None = None
    """Bytes/s that it sends, to followers and to consumers; absent without ingress rates."""
    cpu: ResourceLoadDocument | None = None
    """vCPU by the model of the request; absent if neither that nor any `vcpu` is known."""
    replicas: ResourceLoadDocument | None = None
    """Number of replicas, if they are limited."""
    leaders: ResourceLoadDocument | None = None
    """Number of preferred leaders, if they are limited."""


class CrossRackCause(BaseModel):
    """Bytes/s from rack to rack of one cause."""

    before_bytes_per_s: int
    """Bytes/s before the plan."""
    after_bytes_per_s: int
    """Bytes/s after the plan."""


class GroupCrossRack(CrossRackCause):
    """Bytes/s that a group reads from rack to rack, by the recorded partitions and racks of its members: from leaders,
    with `follower_fetching` from a replica in the rack of the member if there is one. They are not in other sums.
    """

    group_id: str
    """Id of the group."""
    unknown_bytes_per_s: int
    """Bytes/s after the plan of which the rack of the member or of the broker is unknown."""
    before_cost_per_month: float | None
    """Cost of a month before the plan, by `prices`; null without a price."""
    after_cost_per_month: float | None
    """Cost of a month after the plan, by `prices`; null without a price."""


class CrossRackDocument(CrossRackCause):
    """Bytes/s from rack to rack: of all causes, and of each. Clients are spread evenly over racks."""

    producers: CrossRackCause
    """From producers to leaders."""
    replication: CrossRackCause
    """From leaders to followers."""
    consumers: CrossRackCause
    """From replicas to consumers."""
    before_cost_per_month: float | None
    """Cost of a month before the plan, by `prices`; null without a price."""
    after_cost_per_month: float | None
    """Cost of a month after the plan, by `prices`; null without a price."""
    groups: list[GroupCrossRack] = Field(default_factory=list)
    """The groups of the snapshot whose members have assigned partitions; absent from plans of earlier releases."""


class GoalDocument(BaseModel):
    """What a goal reached. The ideal load of a broker is its share of the total by its capacity, or an equal share if
    the capacity of any broker is unknown.
    """

    goal: GoalName
    """What is balanced."""
    tolerance: float
    """Tolerance of the request."""
    smallest: float
    """Smallest load of a broker over its ideal load."""
    largest: float
    """Largest load of a broker over its ideal load."""
    largest_bound: float
    """Lower bound on `largest`."""
    gap: float
    """Relative optimality gap: (largest − bound) / largest."""


class ExcessOfBroker(BaseModel):
    """A load above its limit."""

    broker: int
    """Id of the broker."""
    resource: Limited
    """Resource that is limited."""
    value: float
    """The load: bytes, bytes/s, vCPU or a count."""
    limit: float
    """The limit, in the same unit."""
    soft: bool
    """Whether the limit is soft."""


class TotalExcess(BaseModel):
    """The sum of (load − limit) / limit over brokers and resources."""

    total: float
    """The sum."""
    lower_bound: float
    """Lower bound on the sum."""
    optimal: bool
    """Whether the sum is its lower bound."""


class ExcessDocument(BaseModel):
    """What is above limits, and how much of it no plan avoids."""

    brokers: list[ExcessOfBroker]
    """Loads above limits, by broker id and resource."""
    hard: TotalExcess
    """Excess over hard limits."""
    soft: TotalExcess
    """Excess over soft limits."""


class Ends(BaseModel):
    """The smallest and the largest load of brokers that may receive replicas."""

    smallest: int
    """Smallest load of a broker, in the unit of `by`."""
    largest: int
    """Largest load of a broker, in the unit of `by`."""


class TopicEnds(Ends):
    """Replicas of a topic on the brokers that may receive replicas."""

    topic: str
    """Name of the topic."""
    low: int
    """Lower end of the topic's band, in replicas."""
    high: int
    """Upper end of the topic's band, in replicas."""
    before: Ends
    """Extremes before the plan."""


class PerTopicBalance(BaseModel):
    """The balance of each topic."""

    topics: int
    """Number of topics that are balanced."""
    excess: int
    """Number of replicas by which topics are outside their bands, summed over brokers; the fewest possible."""
    worst: list[TopicEnds]
    """The topics with the widest range of replicas after the plan, then before it; 20 at most."""


class BrokerWeight(BaseModel):
    """A broker that is balanced by its weight."""

    broker: int
    """Id of the broker."""
    weight: int
    """Weight of the broker, as a whole number without a factor that all have in common."""
    share: float
    """Share of the load of the brokers of its set that is in proportion to the weight, in the unit of `by`."""
    low: int | None
    """Lower end of the broker's band; null if the load is no count, or replicas stay on their brokers."""
    high: int | None
    """Upper end of the broker's band; null if the load is no count, or replicas stay on their brokers."""
    load: int
    """Load of the broker after the plan, in the unit of `by`."""


class ReplicasBalance(Ends):
    """The replica load of brokers after the plan. `low` and `high` are the load band; null without one."""

    by: ReplicasBy
    """Load that is balanced: `count` is replicas, other loads are sums over replicas."""
    low: int | None
    """Lower end of the load band, in the unit of `by`; null without a band."""
    high: int | None
    """Upper end of the load band, in the unit of `by`; null without a band."""
    before: Ends
    """Extremes before the plan."""
    largest_bound: int | None
    """By bytes or throughput: no plan has a smaller `largest`."""
    per_topic: PerTopicBalance | None
    """Balance of each topic; null if the request has none."""
    weights: list[BrokerWeight] | None = None
    """Brokers that are balanced, if their weights differ; `low` and `high` then are extremes."""


class PreferredRacksDocument(BaseModel):
    """Partitions with preferred racks, by the rack of their leader."""

    first: int
    """Number of partitions led in the first rack of their list."""
    other_listed: int
    """Number of partitions led in another rack of their list."""
    elsewhere: int
    """Number of partitions led in none of these racks."""


class PerTopicLeaders(BaseModel):
    """The balance of the leaders of each topic."""

    topics: int
    """Number of topics that are balanced."""
    excess: int
    """Number of leaders by which topics are outside their bands, summed over brokers; the fewest possible."""
    worst: list[TopicEnds]
    """The topics with the widest range of leaders after the plan, then before it; 20 at most."""


class SpreadTopic(TopicEnds):
    """A topic whose leaders are spread, over the brokers with a replica that may lead."""

    brokers: list[int]
    """Ids of these brokers, ascending."""


class LeadersBalance(Ends):
    """The leader load of brokers after the plan, and the certificate of the number of leader changes."""

    by: LeadersBy
    """Load that is balanced: `count` is preferred leaders, other loads are sums over led partitions."""
    low: int | None
    """Lower end of the load band, in the unit of `by`; null without a band."""
    high: int | None
    """Upper end of the load band, in the unit of `by`; null without a band."""
    before: Ends
    """Extremes before the plan."""
    largest_bound: int
    """Lower bound on `largest`, in the unit of `by`."""
    changes: int
    """Number of partitions whose preferred leader changes."""
    bound: int
    """Lower bound on `changes`."""
    optimal: bool
    """Whether `changes` reaches its lower bound."""
    gap: float
    """Relative optimality gap: (changes − bound) / changes; 0 if optimal."""
    preferred_racks: PreferredRacksDocument | None = None
    """With `preferred_racks`: where leaders are."""
    per_topic: PerTopicLeaders | None
    """Balance of the leaders of each topic; null if the request has none."""
    spread: list[SpreadTopic] | None = None
    """With `spread_leaders`: each of these topics, by name; by broker set if there are any."""
    weights: list[BrokerWeight] | None = None
    """Brokers whose leaders are balanced by count, if their weights differ; `low` and `high` then are extremes."""
    solver: str
    """The solver that computed the leaders."""


class Banded(Ends):
    """A load of the brokers of a set. `low` and `high` are the load band; null without one."""

    low: int | None
    """Lower end of the load band; null without a band."""
    high: int | None
    """Upper end of the load band; null without a band."""
    before: Ends
    """Extremes before the plan."""
    largest_bound: int | None
    """Lower bound on `largest`; null if the load is a count, whose band is exact."""


class BrokerSetBalance(BaseModel):
    """A broker set with its topics: moved, balanced and proven on its own."""

    set: str | None
    """Name of the broker set; null for the brokers and topics outside every set."""
    brokers: list[int]
    """Ids of the brokers that stay in the set, ascending."""
    topics: int
    """Number of topics of the set that may move."""
    partitions: int
    """Number of their partitions."""
    replicas: Banded
    """Load of the set's brokers by replicas, of what `balance.replicas.by` names."""
    leaders: Banded
    """Load of the set's brokers by preferred leaders, of what `balance.leaders.by` names."""
    moved_replicas: int
    """Number of replicas that are copied to the set's brokers."""
    moved_bytes: int
    """Bytes that are copied to the set's brokers, of replicas of known size."""
    moved: int
    """What is minimised: the bytes or the replicas that are moved."""
    lower_bound: int
    """Lower bound on `moved`."""
    gap: float
    """Relative optimality gap: (moved − lower_bound) / moved; 0 if optimal."""
    resources: list[GoalDocument] | None
    """What each goal over resources reached among the set's brokers; null if the request has none."""


class BalanceDocument(BaseModel):
    """The balance of brokers."""

    replicas: ReplicasBalance
    """Balance of replicas over brokers."""
    leaders: LeadersBalance
    """Balance of preferred leaders over brokers."""
    resources: list[GoalDocument] | None
    """What each goal over resources reached; null if the request has none."""
    sets: list[BrokerSetBalance] | None = None
    """With `broker_sets`: each set that has topics, by name; those outside every set come last."""


class LogDirDocument(BaseModel):
    """A log directory. Bytes are of replicas, by the largest replica of each partition."""

    path: str
    """Path of the directory."""
    total_bytes: int | None
    """Bytes of its file system; null if unknown."""
    limit_bytes: int | None
    """Bytes of replicas that it may have at any time; null without a limit."""
    drained: bool
    """Whether the request drains it."""
    offline: bool
    """Whether it is offline."""
    bytes_before: int
    """Bytes before the plan."""
    bytes_after: int
    """Bytes after the plan."""
    replicas_in: int
    """Replicas that are moved into it from another directory of the broker."""
    replicas_out: int
    """Replicas that are moved out of it to another directory of the broker."""


class BrokerLogDirsDocument(BaseModel):
    """The log directories of a broker."""

    broker: int
    """Id of the broker."""
    largest_share: float | None
    """Largest share in use after the plan, of directories that are neither drained nor offline; null if a size is
    unknown."""
    largest_share_lower_bound: float | None
    """Lower bound on it, with `keep` among plans that move no more; 0 with a tolerance."""
    moved_bytes: int
    """Bytes that are moved between its directories."""
    lower_bound_bytes: int
    """Lower bound on these bytes, for the largest share that is reached."""
    log_dirs: list[LogDirDocument]
    """Its directories by path."""


class LogDirsDocument(BaseModel):
    """Moves between log directories of the same broker, and their certificate. What arrives from other brokers is in
    `certificate` alone.
    """

    moved_replicas: int
    """Number of replicas that are moved between directories."""
    moved_bytes: int
    """Bytes of these replicas."""
    lower_bound_bytes: int
    """Lower bound on these bytes, for the largest share that each broker reaches."""
    optimal: bool
    """Whether moved bytes reach their lower bound, and every largest share is within 0.1 % of its own."""
    gap: float
    """Relative optimality gap of the moved bytes."""
    solver: str
    """The solver that chose the directories."""
    brokers: list[BrokerLogDirsDocument]
    """Brokers whose directories are known, by ascending id."""


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
    losses: Losses | None = None
    """Cost of each loss; absent from plans of earlier releases."""
    copysets: Copysets | None = None
    """Distinct replica sets, and the odds that simultaneous losses contain one; absent likewise."""


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
