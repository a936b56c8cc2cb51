"""What reassignment plans look like as JSON."""

from datetime import datetime
from typing import Any

from pydantic import BaseModel, Field

from app.api.models.clusters import WarningDocument
from app.api.plan_documents import PlacedTopic, WholePlan
from app.core.measures.copysets import Copysets
from app.core.measures.losses import Losses
from app.core.measures.placement import PlacementMeasures
from app.core.measures.violations import Violation
from app.services.plans.record import Certificate
from app.services.reassignment import LeadersBy, ReplicasBy
from app.services.reassignment.problem.problem import Relaxation
from app.services.reassignment.problem.resources import RebalancingGroup
from app.services.reassignment.reports.balance import BrokerWeight, ExcessReport, ReachedGoal, TradeOffPoint
from app.services.reassignment.reports.batches import Execution, LogDirsReport
from app.services.reassignment.reports.report import BrokerMovement
from app.services.reassignment.solve import GeneratedMovement


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
    resources: list[ReachedGoal] | None
    """What each goal over resources reached among the set's brokers; null if the request has none."""


class BalanceDocument(BaseModel):
    """The balance of brokers."""

    replicas: ReplicasBalance
    """Balance of replicas over brokers."""
    leaders: LeadersBalance
    """Balance of preferred leaders over brokers."""
    resources: list[ReachedGoal] | None
    """What each goal over resources reached; null if the request has none."""
    sets: list[BrokerSetBalance] | None = None
    """With `broker_sets`: each set that has topics, by name; those outside every set come last."""


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
    certificate: Certificate
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
    cross_rack: CrossRackDocument | None
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
