"""The documents of the service. Written by `make openapi`; not edited."""

from __future__ import annotations

from datetime import datetime
from typing import Any, Literal

from rackplan.records import Record


class AdditionDocument(Record):
    """The fewest additional clients with which every task can be ideal, by tag values; null is a new value."""

    clients: list[dict[str, str | None]]
    new_values: dict[str, int]
    clients_apart_already: int
    clients_without_a_tag: list[str]


class Alive(Record):
    """The process answers."""

    status: str


class AttributeExposure(Record):
    """How placements are spread over one attribute; a broker without it has none of its values."""

    values_per_partition: RacksPerPartition
    spanning_share: float
    losses: dict[str, ValueLoss]


class AwareMeasures(Record):
    """The measures of a placement by attributes; a plan has them in the order of its request."""

    partitions: int
    leaders: PerBroker
    replicas: PerBroker
    racks_per_partition: RacksPerPartition | None
    rack_safe_share: float | None
    exposure: Exposure
    attributes: dict[str, AttributeExposure]


class BalanceDocument(Record):
    """The balance of brokers."""

    replicas: ReplicasBalance
    leaders: LeadersBalance


class BatchDocument(Record):
    """Steps that are executed together. `partitions` names the first 100; `count` counts them all."""

    partitions: list[MovedPartition]
    count: int
    moves_data: bool
    """False if only the order of replica lists changes, and with it preferred leaders."""
    moved_replicas: int
    moved_bytes: int
    unknown_size_replicas: int
    max_bytes_in: int
    """The largest number of bytes copied to one broker."""
    seconds: float | None
    """Duration at the throttle, of the broker with the most bytes to copy."""


class BestDocument(Record):
    """The best scenario, null if none is acceptable, and why each cheaper neighbour is not acceptable."""

    objective: str
    constraints: dict[str, float]
    counts: CountsDocument
    best: ScenarioDocument | None
    why_not_cheaper: list[dict[str, Any]]


class BestSharingDocument(Record):
    """The best possible: the smallest largest load that covers every partition, and the smallest spread with it."""

    uncovered: int
    largest_load: int
    spread: int


class BestStandbysDocument(Record):
    """The best standbys for the given active tasks, by client, compared with the assignor's."""

    standby: dict[str, list[str]]
    differing_tasks: list[str]
    quality: StandbyQualityDocument
    of_the_assignor: StandbyQualityDocument
    certificate: StandbyCertificateDocument


class BindingDocument(Record):
    """The limit that breaks first: on which broker, under which failure, with which load."""

    resource: str
    broker: int | None
    failure: str
    value: float
    limit: float


class BrokerFlow(Record):
    """What passes from one broker to another; None is nowhere, where a factor changes."""

    from_broker: int | None
    to_broker: int | None
    replicas: int
    bytes: int
    unknown_size_replicas: int


class BrokerMovement(Record):
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


class BrokerShare(Record):
    """Bounds over all random outcomes, `lowest` and `highest`, and the extremes of the sampled ones."""

    lowest: int
    highest: int
    seen_lowest: int
    seen_highest: int


class BrokerTransfer(Record):
    """What a broker has before and after, and what it gets and gives.

    The bytes leave out replicas of unknown size, which `unknown_size_…` counts. `replicas_created` are of new
    partitions, and part of `replicas_after` alone."""

    broker: int
    rack: str | None
    replicas_before: int
    replicas_after: int
    leaders_before: int
    leaders_after: int
    bytes_before: int
    bytes_after: int
    unknown_size_before: int
    unknown_size_after: int
    replicas_in: int
    replicas_out: int
    bytes_in: int
    bytes_out: int
    unknown_size_in: int
    unknown_size_out: int
    replicas_created: int


class CertificateDocument(Record):
    """The quality of an answer and its proof: what was reached, and a lower bound that no answer can be below.

    `optimal`, `gap` and `solver` are in every certificate. Those of a reassignment also have movement and its
    bounds;
    those of a group have the bound of each goal, in lexicographic order."""

    optimal: bool
    """Whether every goal reaches its lower bound."""
    gap: float
    """Relative optimality gap: (value − lower bound) / value; 0 if optimal."""
    solver: str
    constraints: list[str] | None
    """The constraints that the lower bound holds under."""
    minimised: Literal["bytes", "replicas"] | None
    """Of a reassignment."""
    moved_replicas: int | None
    """Replicas that Kafka has to copy; those of new partitions are not copied."""
    moved_bytes: int | None
    """Bytes of moved replicas whose size is known."""
    lower_bound_bytes: int | None
    """No plan within the constraints moves fewer bytes."""
    lower_bound_replicas: int | None
    """The same in replicas, if those are minimised."""
    unknown_size_replicas: int | None
    """Moved replicas of partitions of unknown size."""
    seconds: float | None
    """Solver time, including leaders and batches."""
    in_rack_bound: int | None
    """Upper bound on partitions that a balanced assignment of the group reads in rack."""
    moved_bound: int | None
    """Lower bound on moved partitions of such an assignment."""
    largest_load_bound: int | None
    """Lower bound on the largest load, if one is balanced."""


class ChangedDocument(Record):
    """Reassigned partitions that the newest snapshot has otherwise: the first of them, and how many there are."""

    snapshot_id: str
    count: int
    partitions: list[PartitionChange]


class CheckDocument(Record):
    """What there is to say about the cluster once the reassignment is done.

    `violations` and `measures` are of the reassigned partitions, by attribute too where the brokers have some;
    `movement` says what has to be copied, `minimum` what the same end takes at least; `fresh` whether the cluster
    was
    last seen in the state of this snapshot, and `changed` what is otherwise where it was not."""

    violations: list[Violation]
    measures: PlacementMeasures | AwareMeasures
    movement: DiffSummary
    minimum: MinimumDocument
    fresh: bool
    kafka_version: str
    """The release of Kafka that the check is for."""
    changed: ChangedDocument | None
    warnings: list[WarningDocument]


class ClientDocument(Record):
    """The default of a client library, from one version to another; null is the first or the current one."""

    client: str
    language: str
    versions: str
    since: str | None
    until: str | None
    partitioner: str
    null_keys: str | None
    source: str


class ClientLoadDocument(Record):
    """The load of one client. Active tasks read `sources`; standbys and warm-ups read `changelogs`."""

    process_id: str
    capacity: int
    rack_id: str | None
    client_tags: dict[str, str]
    active: int
    standby: int
    warmup: int
    sources: ReadsDocument | None
    changelogs: ReadsDocument | None


class ClientTasksDocument(Record):
    """One client's tasks, ascending. `standby` includes `warmup`, as in the assignment that Kafka sends.

    `members` are the threads of a streams group; null under the classic protocol."""

    active: list[str]
    standby: list[str]
    warmup: list[str]
    members: dict[str, MemberTasksDocument] | None


class ComparedAssignor(Record):
    """One line of the comparison; all figures are null if the assignor fails."""

    assignor: str
    runs_on: Literal["leader", "coordinator", "nowhere"]
    protocol: Literal["eager", "cooperative", "reconciled"]
    rack_aware: bool
    in_rack: int | None
    cross_rack: int | None
    unknown: int | None
    in_rack_share: float | None
    bytes_per_s: LocalityCounts | None
    moved: int | None
    revoked: int | None
    phases: int | None
    loads: Loads | None
    error: FailureDocument | None


class ComparedRelease(Record):
    """The answer of another release, as its difference from the plan; `rows` has the first thousand."""

    kafka_version: str
    kafka: KafkaReleases | None
    differing: int | None
    rows: list[DifferingRow]
    error: FailureDocument | None


class ComparedWithClassicDocument(Record):
    """What a streams group lacks beside the classic protocol, whose assignor places standbys by client tags."""

    assignor: str
    single_value_tasks: list[SingleValueTasksDocument]


class ComparisonDocument(Record):
    """The best scenarios of two sweeps."""

    first: BestDocument
    second: BestDocument


class CountDocument(Record):
    """The balance of clients."""

    min: int
    max: int
    spread: int
    total: int


class CountsDocument(Record):
    """The number of scenarios that are scored, feasible, and within the constraints as well."""

    scored: int
    feasible: int
    acceptable: int


class CrossRackBytes(Record):
    """Produced bytes by the rack of the leader that they are sent to.

    Parameters
    ----------
    unknown : to partitions without a leader, or whose leader has no rack.
    cross_rack_otherwise : what crosses racks with `partitioner.rack.aware` the other way, from the same seed."""

    in_rack: int
    cross_rack: int
    unknown: int
    cross_rack_otherwise: int


class DiffDocument(Record):
    """The partitions that differ, by topic and partition id."""

    summary: DiffSummary
    items: list[PartitionChange]
    next_page_token: str | None


class DiffSummary(Record):
    """Counts of differences between two assignments. Kafka copies `replicas_added`."""

    partitions: int
    partitions_added: int
    partitions_removed: int
    partitions_changed: int
    replicas_added: int
    replicas_removed: int
    preferred_leaders_changed: int


class DifferingRow(Record):
    """A row of a plan, as a page of its partitions lists it, in the plan and in the answer of another release."""

    before: dict[str, Any]
    after: dict[str, Any]


class Disagreement(Record):
    """Two partitioners over the same keys and partition count.

    Parameters
    ----------
    keys : number of keys that both partition by key.
    differing_keys, differing_share : of these, the keys sent to different partitions. Unrelated hashes differ on
        1 − 1/partitions of them.
    one_sided : number of keys that only one of the two takes to be missing.
    examples : indices of the first differing or one-sided keys."""

    first: str
    second: str
    keys: int
    differing_keys: int
    differing_share: float
    one_sided: int
    examples: list[int]


class DistributionDocument(Record):
    """A figure over the scenarios that have it; `without` counts the others."""

    count: int
    without: int
    min: float
    mean: float
    p50: float
    p95: float
    max: float
    histogram: HistogramDocument


class Ends(Record):
    """The smallest and the largest load of brokers that may receive replicas."""

    smallest: int
    largest: int


class EnvelopeDocument(Record):
    """What the placement of one topic can come to, over all that a controller may draw.

    `enumerated`: all `outcomes` were looked at, and each bound is reached. `bounded_and_sampled`: no draw passes
    the
    bounds; what is `seen` was seen on that many `seeds`."""

    topic: str
    method: Literal["enumerated", "bounded_and_sampled"]
    outcomes: int
    seeds: int
    leaders: ShareDocument
    replicas: ShareDocument


class EvennessDocument(Record):
    """The balance of members. `spread` is the largest difference between two members that could share partitions."""

    min: int
    max: int
    spread: int
    total: int


class ExecutionDocument(Record):
    """The order of execution under cordons (KIP-1066): since 4.3.2 Kafka rejects every list with a cordoned broker."""

    batches: list[ExecutionStepDocument]
    rollback: list[ExecutionStepDocument]
    """The inverses of batches, from the last to the first."""
    at_once: list[ExecutionStepDocument]
    """The whole plan as one file, `format=reassignment`."""
    rollback_at_once: list[ExecutionStepDocument]
    """Its inverse, `format=rollback`."""


class ExecutionStepDocument(Record):
    """One step: a batch by its number, or brokers whose log directories are all cordoned or uncordoned."""

    action: Literal["execute", "cordon", "uncordon"]
    batch: int | None
    brokers: list[int]


class Exposure(Record):
    """The cost of each loss: racks by name, brokers by ascending id."""

    racks: dict[str, Loss]
    brokers: dict[str, Loss]


class FailureDocument(Record):
    """Why an assignor or a release has no answer: what Kafka's own code does with such a request."""

    code: str
    detail: str
    kafka_exception: str | None


class FrontDocument(Record):
    """The feasible scenarios that no other dominates in cost, headroom and cross-rack bytes; cheapest first."""

    items: list[ScenarioDocument]


class GroupDiffDocument(Record):
    """The partitions whose readers differ, by topic and partition id."""

    summary: Handover
    items: list[ReaderChange]
    next_page_token: str | None


class GroupPlanDocument(Record):
    """The assignment after the group has rebalanced. `phases[0].assignment` is the assignor's first answer."""

    id: str
    kind: str
    hash: str
    engine_version: int
    created_at: datetime
    cluster: str | None
    snapshot_id: str | None
    labels: dict[str, str]
    prediction: Literal["replay", "envelope", "pinned"]
    seed: int | None
    kafka: KafkaReleases | None
    """The releases whose code was compared and gives the same answer; null if the plan replays no code of Kafka, or
    the release that it is made for was not compared."""
    compared_kafka_versions: list[ComparedRelease] | None
    """For each of `compare_kafka_versions` what it answers otherwise; absent if there are none."""
    assignor: str
    protocol: Literal["eager", "cooperative", "reconciled"]
    assignment: dict[str, dict[str, list[int]]]
    phases: list[PhaseDocument]
    settled: bool
    locality: LocalityDocument
    loads: LoadsDocument
    moved: int | None
    revoked: int | None
    handover: Handover | None
    optimum: OptimumDocument | None
    sharing: SharingDocument | None
    comparison: list[ComparedAssignor]
    steps: list[StepDocument]
    trigger: TriggerDocument | None
    violations: list[GroupViolation]
    warnings: list[WarningDocument]
    request: dict[str, Any]


class GroupViolation(Record):
    """One violation of an assignment, for one topic or, if `topic` is None, for the group.

    Parameters
    ----------
    code : stable.
    severity : `illegal`: a partition is assigned twice, to no member, or to a member that does not subscribe to
    it.
        `uneven`: legal, and another assignment is more balanced.
    count : all partitions, or members, that are concerned.
    partitions, members : the first `NAMED_PARTITIONS` of them.
    detail : a sentence with names and numbers."""

    code: str
    severity: str
    topic: str | None
    count: int
    partitions: list[int]
    members: list[str]
    detail: str


class Handover(Record):
    """Numbers of partitions by what happens to them.

    Parameters
    ----------
    kept : assigned to the same member before and after.
    moved : assigned to one member before and to another one after.
    taken_up : unassigned before, assigned after.
    dropped : assigned before, unassigned after.
    revoked : taken from a member that is still in the group; moved or dropped."""

    kept: int
    moved: int
    taken_up: int
    dropped: int
    revoked: int


class HeavyKeyDocument(Record):
    """A frequent key, identified by the index of its first occurrence in the request."""

    first_index: int
    weight: int
    share: float


class HistogramDocument(Record):
    """The number of values from each edge to the next; the last bin includes its upper edge."""

    edges: list[float]
    counts: list[int]


class JobDocument(Record):
    """A job. `plan` is set once `state` is `succeeded`, `error` once it is `failed`."""

    id: str
    kind: str
    state: Literal["queued", "running", "succeeded", "failed", "cancelled"]
    plan: str | None
    error: dict[str, Any] | None
    created_at: datetime
    started_at: datetime | None
    finished_at: datetime | None


class KafkaGenerateDocument(Record):
    """What `kafka-reassign-partitions --generate` of the release would move for the same topics on the brokers that
    may
    receive replicas. It draws a random seed; the runs have the same seeds in every plan."""

    algorithm: Literal["striped", "admin_utils"]
    """`striped` since 4.1, `admin_utils` before."""
    seeds: int
    """The number of runs: 20, fewer of a large cluster."""
    moved_replicas: MovementRange | None
    moved_bytes: MovementRange | None
    left_out: str | None
    """Why there is no comparison; null if there is one."""


class KafkaReleases(Record):
    """Releases of Kafka, both included; an end without a patch number is all of its line."""

    from_: str
    to: str


class KeysDocument(Record):
    """The answer of every partitioner, and the keys on which they differ."""

    keys: int
    partitions: int
    seed: int | None
    """The source of randomness of records without key; present if the request has `null_keys`."""
    partitioners: list[PlacedKeysDocument]
    heaviest_keys: list[HeavyKeyDocument]
    disagreements: list[Disagreement]


class LeadersBalance(Record):
    """The leader load of brokers after the plan, and the certificate of the number of leader changes."""

    smallest: int
    largest: int
    by: Literal["count", "ingress"]
    low: int | None
    high: int | None
    before: Ends
    largest_bound: int
    changes: int
    bound: int
    optimal: bool
    gap: float
    solver: str


class LeastMovement(Record):
    """What has to be copied at least; `optimal` where that is proven."""

    moved_replicas: int
    moved_bytes: int
    optimal: bool


class Loads(Record):
    """The balance of members, by each known weight."""

    partitions: EvennessDocument
    lag: EvennessDocument | None
    bytes_per_s: EvennessDocument | None


class LoadsDocument(Record):
    """The balance of members, and the load of each."""

    partitions: EvennessDocument
    lag: EvennessDocument | None
    bytes_per_s: EvennessDocument | None
    per_member: list[MemberLoad]


class LocalityCounts(Record):
    """Where partitions are read: in a rack with a replica, in another rack, or unknown."""

    in_rack: int
    cross_rack: int
    unknown: int
    in_rack_share: float | None


class LocalityDocument(Record):
    """Where partitions are read, also by bytes/s if these are known."""

    in_rack: int
    cross_rack: int
    unknown: int
    in_rack_share: float | None
    bytes_per_s: LocalityCounts | None


class Loss(Record):
    """The cost of losing one broker or one rack, before anything is moved."""

    leaders: int
    partitions_reduced: int
    partitions_offline: int


class LossDocument(Record):
    """The effect of losing clients: tasks without a copy, tasks that a copy takes over, and moved stateless tasks."""

    clients: int
    without_survivor: list[str]
    promoted: list[PromotedTask]
    moved: list[str]


class MeasuresBefore(Record):
    """The measures before the plan."""

    rack_safe_share: float | None
    replicas: Spread
    leaders: Spread


class MemberLoad(Record):
    """The load of one member."""

    member_id: str
    group_instance_id: str | None
    rack_id: str | None
    partitions: int
    lag: int | None
    bytes_per_s: int | None
    in_rack: int
    cross_rack: int
    unknown: int


class MemberTasksDocument(Record):
    """The tasks of one member of a streams group."""

    active: list[str]
    standby: list[str]


class MembersPerPartition(Record):
    """Members of a partition of a share group."""

    min: int
    max: int


class MinimumDocument(Record):
    """What the same end takes at least: as many replicas of each partition, the same brokers emptied, and, where the
    reassignment leaves every partition so, spread over racks. `as_even` keeps replicas as even over brokers, too."""

    moved_replicas: int
    moved_bytes: int
    optimal: bool
    as_even: LeastMovement
    minimised: Literal["bytes", "replicas"]
    emptied_brokers: list[int]
    spread_over_racks: bool


class MovedPartition(Record):
    """A partition."""

    topic: str
    partition: int


class MovementRange(Record):
    """The movement of several runs; the median is that of a run."""

    min: int
    median: int
    max: int


class NullKeyPolicyDocument(Record):
    """A policy for records without key."""

    name: str
    summary: str


class OptimumDocument(Record):
    """The optimal assignment of the group, given the partitions that its members own."""

    in_rack: int
    cross_rack: int
    unknown: int
    in_rack_share: float | None
    bytes_per_s: LocalityCounts | None
    balance: Literal["partitions", "lag", "bytes_per_s"]
    moved: int
    spread: int
    largest_load: int | None
    certificate: CertificateDocument


class PartitionChange(Record):
    """One partition that differs. `before` is None if it is new, `after` if it is removed."""

    topic: str
    partition: int
    before: list[int] | None
    after: list[int] | None
    adding_replicas: list[int]
    removing_replicas: list[int]
    preferred_leader_changes: bool


class PartitionDocument(Record):
    """One partition of a plan."""

    topic: str
    partition: int
    leader: int
    replicas: list[int]
    unassigned: int | None
    """Number of unassigned replicas; present if there are any."""


class PartitionTransfer(Record):
    """One partition that differs. `before` is None if it is new; `size_bytes` if it is unknown."""

    topic: str
    partition: int
    before: list[int] | None
    after: list[int]
    adding_replicas: list[int]
    removing_replicas: list[int]
    preferred_leader_changes: bool
    size_bytes: int | None
    racks_before: int
    racks_after: int


class PartitionerDocument(Record):
    """A partitioner. `null_keys` is the policy for records without key; null if it hashes them as an empty key."""

    name: str
    summary: str
    null_keys: str | None
    empty_is_null: bool


class PartitionersDocument(Record):
    """Partitioners, policies, and the default of each client."""

    partitioners: list[PartitionerDocument]
    null_key_policies: list[NullKeyPolicyDocument]
    clients: list[ClientDocument]


class PartitionsDocument(Record):
    """A page of partitions, in the order of the request's topics (of a group: by name) and by id; of Streams, tasks."""

    items: list[PartitionDocument] | list[ReadPartitionDocument] | list[PlannedTaskDocument]
    total: int
    next_page_token: str | None


class PerBroker(Record):
    """A count for each broker, by ascending id; `spread` is max - min; all are 0 if there is no broker."""

    min: int
    max: int
    spread: int
    per_broker: dict[str, int]


class PhaseDocument(Record):
    """One round of joining and assigning; `pending` partitions were revoked and are assigned by the next one."""

    assignment: dict[str, dict[str, list[int]]]
    revoked: int
    added: int
    pending: int


class PlacedKeysDocument(Record):
    """The placement of one partitioner.

    The policy `null_keys` places records that have no key for the partitioner: their partition is null unless the
    request has `null_keys`. The skew counts every record that has a partition; resizes count only records with a
    key."""

    partitioner: str
    partition_by_key: list[int | None]
    without_key: int
    null_keys: str | None
    kafka: KafkaReleases | None
    """The releases of Kafka's Java client whose default this is; null if the requested one is not among them, and
    for other clients."""
    cross_rack: CrossRackBytes | None
    """Bytes by the rack of the leader; `cross_rack_otherwise` is what crosses racks with `rack_aware` the other way.
    Null if the racks of leaders are unknown."""
    skew: SkewDocument
    resizes: list[Resize]


class PlacedTopic(Record):
    """The replicas of one topic: row i is partition `first_partition_id` + i, its preferred leader first."""

    name: str
    first_partition_id: int
    replicas: list[list[int]]


class PlacementMeasures(Record):
    """What every plan reports. `rack_safe_share` and `racks_per_partition` are None if no broker has a rack."""

    partitions: int
    leaders: PerBroker
    replicas: PerBroker
    racks_per_partition: RacksPerPartition | None
    rack_safe_share: float | None
    exposure: Exposure


class PlanDocument(Record):
    """An immutable plan, with its request."""

    id: str
    kind: str
    hash: str
    engine_version: int
    created_at: datetime
    cluster: str | None
    snapshot_id: str | None
    labels: dict[str, str]
    prediction: Literal["replay", "envelope", "pinned"]
    seed: int | None
    kafka: KafkaReleases | None
    """The releases whose code was compared and gives the same answer; null if the plan replays no code of Kafka, or
    the release that it is made for was not compared."""
    compared_kafka_versions: list[ComparedRelease] | None
    """For each of `compare_kafka_versions` what it answers otherwise; absent if there are none."""
    topics: list[PlacedTopic]
    envelope: list[EnvelopeDocument] | None
    measures: PlacementMeasures | AwareMeasures
    unassigned: list[UnassignedDocument] | None
    """Of awareness: topics with unassigned replicas."""
    violations: list[Violation]
    warnings: list[WarningDocument]
    request: dict[str, Any]


class PlanSummary(Record):
    """A plan without its assignments."""

    id: str
    kind: str
    hash: str
    engine_version: int
    created_at: datetime
    cluster: str | None
    snapshot_id: str | None
    labels: dict[str, str]
    prediction: Literal["replay", "envelope", "pinned"]
    seed: int | None


class PlannedTaskDocument(Record):
    """One task of a Streams plan and its clients; `standby` includes warm-ups."""

    task: str
    active: str | None
    standby: list[str]


class PlansPage(Record):
    """Plans, newest first."""

    items: list[PlanSummary]
    next_page_token: str | None


class PromotedTask(Record):
    """A task that another copy takes over, and the smallest lag of its copies; null if it is unknown."""

    task: str
    survivor_lag: int | None


class RackAwareDocument(Record):
    """KIP-925: whether it is on, and the partitions that active tasks read across racks, beside the fewest possible.

    The plan shows Kafka's own optimum, replayed; an exact flow over as many tasks a client says what the fewest
    are."""

    on: bool
    shows: Literal["replay"]
    why_off: str | None
    sources_across_racks: int | None
    fewest_possible: int | None
    solver: str | None


class RacksPerPartition(Record):
    """Number of distinct racks that partitions span; `partitions` counts partitions by that number."""

    min: int
    max: int
    partitions: dict[str, int]


class ReadPartitionDocument(Record):
    """One partition of a group plan and its readers: one member at most, except in share groups."""

    topic: str
    partition: int
    members: list[str]


class ReaderChange(Record):
    """One partition whose readers differ, by their ids; None on a side without a reader."""

    topic: str
    partition: int
    before: list[str] | None
    after: list[str] | None


class ReadsDocument(Record):
    """Partitions read, those read across racks, and those whose racks are unknown."""

    partitions: int
    cross_rack: int
    unknown: int


class Ready(Record):
    """The state of each dependency: `ok`, or the error."""

    status: str
    checks: dict[str, str]


class ReassignmentDiffDocument(Record):
    """The partitions that differ, by topic and partition id, with the racks that they span."""

    summary: ReassignmentDiffSummary
    items: list[PartitionTransfer]
    next_page_token: str | None


class ReassignmentDiffSummary(Record):
    """Counts of differences over all of a cluster; bytes are those of replicas whose size is known."""

    partitions: int
    partitions_added: int
    partitions_removed: int
    partitions_changed: int
    replicas_added: int
    replicas_removed: int
    preferred_leaders_changed: int
    moved_bytes: int
    unknown_size_replicas: int
    """Of the replicas added, those of unknown size."""
    brokers: list[BrokerTransfer]
    """By ascending id."""
    flows: list[BrokerFlow]
    """The largest first, 1000 at most."""
    flows_in_all: int


class ReassignmentPlanDocument(Record):
    """A change of a cluster with the least movement, in batches, with its certificate."""

    id: str
    kind: str
    hash: str
    engine_version: int
    created_at: datetime
    cluster: str | None
    snapshot_id: str | None
    labels: dict[str, str]
    prediction: Literal["replay", "envelope", "pinned"]
    seed: int | None
    kafka: KafkaReleases | None
    """The releases whose code was compared and gives the same answer; null if the plan replays no code of Kafka, or
    the release that it is made for was not compared."""
    compared_kafka_versions: list[ComparedRelease] | None
    """For each of `compare_kafka_versions` what it answers otherwise; absent if there are none."""
    topics: list[PlacedTopic]
    certificate: CertificateDocument
    leader_changes: int
    not_preferred: int
    """Partitions that are led by another replica than the preferred leader before the plan."""
    balance: BalanceDocument
    batches: list[BatchDocument]
    fewest_batches: int
    """No schedule of these steps has fewer batches."""
    execution: ExecutionDocument | None
    """Null if no broker is cordoned, nor removed from a cluster of Kafka 4.3 or later."""
    rebalancing_groups: list[RebalancingGroup]
    """Groups of the consumer and the streams protocol, since Kafka 4.1 (KIP-1101), by batch and id."""
    kafka_generate: KafkaGenerateDocument
    movement: list[BrokerMovement]
    trade_off: list[TradeOffPoint] | None
    relaxed: list[RelaxedConstraint]
    measures: PlacementMeasures
    measures_before: MeasuresBefore
    violations: list[Violation]
    warnings: list[WarningDocument]
    request: dict[str, Any]


class RebalanceDocument(Record):
    """A rebalance, until no member has to revoke a partition; not `settled` if that does not happen."""

    settled: bool
    phases: list[PhaseDocument]


class RebalancingGroup(Record):
    """A group that rebalances when a batch is complete, since a topic that it reads has replicas in other racks."""

    group_id: str
    batch: int


class RelaxedConstraint(Record):
    """A constraint that was relaxed."""

    constraint: str
    detail: str


class ReplicasBalance(Record):
    """The replica load of brokers after the plan. `low` and `high` are the load band; null without one."""

    smallest: int
    largest: int
    by: Literal["count", "bytes", "throughput"]
    low: int | None
    high: int | None
    before: Ends
    largest_bound: int | None
    """By bytes or throughput: no plan has a smaller `largest`."""


class Resize(Record):
    """Keys under two partition counts; shares are of the keys that have a partition under both."""

    partitions_before: int
    partitions_after: int
    keys: int
    moved_keys: int
    moved_share: float
    expected_moved_share: float
    moved_weight_share: float


class ScenarioDocument(Record):
    """One scored scenario, with the figures of its sweep's kind; those listed here are of capacity sweeps.

    A scenario that could not be scored has its `error` and its axes alone."""

    index: int
    axes: dict[str, Any]
    feasible: bool | None
    binding: BindingDocument | None
    monthly_cost: float | None
    headroom: float | None
    first_breaking_month: int | None
    cross_rack_bytes_per_s: float | None
    error: dict[str, Any] | None


class ScenariosPage(Record):
    """A page of scenarios."""

    items: list[ScenarioDocument]
    next_page_token: str | None


class ShareDocument(Record):
    """The possible numbers of leaders or replicas of each broker. A spread is the largest count minus the smallest."""

    guaranteed_spread: int
    worst_case_spread: int
    seen_least_spread: int
    seen_widest_spread: int
    per_broker: dict[str, BrokerShare]


class SharedValueDocument(Record):
    """A tag value that several copies of a task have; null where so many copies' clients lack the tag."""

    tag: str
    value: str | None
    copies: int


class SharingDocument(Record):
    """How a share group covers its partitions: those of subscribed topics that may be assigned. `spread` is the
    largest
    − smallest number of partitions of a member."""

    partitions: int
    uncovered: int
    uncovered_partitions: list[UncoveredPartition]
    members_per_partition: MembersPerPartition
    largest_load: int
    spread: int
    best: BestSharingDocument


class SingleValueTasksDocument(Record):
    """Stateful tasks all of whose copies are on clients with one value of a tag, or in one rack: its loss takes
    them.

    `of_classic`: under the classic assignor, once all warm-ups have caught up. `of_best_standbys`: with the
    optimal
    standbys for the same active tasks. Null if they could not be computed."""

    by: str
    kind: Literal["tag", "rack"]
    values: int
    tasks: int
    named_tasks: list[str]
    of_classic: int | None
    of_best_standbys: int | None


class SkewDocument(Record):
    """The skew of the keys. `gini` is 0 if all partitions have the same load, and near 1 if one has all of it."""

    per_partition: list[int]
    max_over_mean: float
    gini: float


class SnapshotDocument(Record):
    """A snapshot without its cluster: counts and warnings."""

    id: str
    cluster: str
    content_hash: str
    brokers: int
    racks: int
    topics: int
    partitions: int
    groups: int
    kafka_version: str | None
    """The release that the brokers run; null if it is unknown."""
    warnings: list[WarningDocument]
    created_at: datetime


class SnapshotWithCluster(Record):
    """A snapshot with its cluster."""

    id: str
    cluster: str
    content_hash: str
    brokers: int
    racks: int
    topics: int
    partitions: int
    groups: int
    kafka_version: str | None
    """The release that the brokers run; null if it is unknown."""
    warnings: list[WarningDocument]
    created_at: datetime
    document: dict[str, Any]


class SnapshotsPage(Record):
    """Snapshots, newest first."""

    items: list[SnapshotDocument]
    next_page_token: str | None


class Spread(Record):
    """A count over brokers."""

    min: int
    max: int
    spread: int


class StandbyCertificateDocument(Record):
    """Lower bounds for standbys with as many ideal tasks and distinct values."""

    imbalance_bound: float
    restored_bound: int
    optimal: bool
    gap: float
    solver: str


class StandbyQualityDocument(Record):
    """The quality of standbys, most important first. `imbalance` is the sum over clients of standbys² / threads."""

    missing: int
    ideal: int
    distinct_values: int
    imbalance: float
    restored: int
    spread: float


class StepDocument(Record):
    """One event and its effects. A rolling restart has a step for each member, with the same `event_index`.

    In a share group nothing is handed over: `added` and `revoked` are pairs of a member and a partition, and
    `failures`
    are those of Kafka's own assignor, after which members keep what they have."""

    event_index: int
    event: dict[str, Any]
    assignment: dict[str, dict[str, list[int]]]
    moved: int | None
    revoked: int
    handover: Handover | None
    locality_before: LocalityCounts
    locality: LocalityDocument
    optimum: OptimumDocument | None
    rebalances: list[RebalanceDocument]
    trigger: StepTriggerDocument | None
    sharing: SharingDocument | None
    added: int | None
    failures: list[FailureDocument]


class StepTriggerDocument(Record):
    """Whether new metadata makes the leader rebalance; `unseen` are changes that a leader without rack ignores."""

    would_rebalance: bool
    because: list[TopicChangeDocument]
    unseen: list[TopicChangeDocument]


class StreamsDiffDocument(Record):
    """The tasks whose clients differ, by task id."""

    summary: TaskMoves
    items: list[TaskChange]
    next_page_token: str | None


class StreamsLoadsDocument(Record):
    """The balance of clients, and their reads across racks."""

    active: CountDocument
    standby: CountDocument
    warmup: CountDocument
    sources: ReadsDocument | None
    changelogs: ReadsDocument | None
    per_client: list[ClientLoadDocument]


class StreamsPlanDocument(Record):
    """The assignment of an application. Lists of tasks are sorted by subtopology and partition."""

    id: str
    kind: str
    hash: str
    engine_version: int
    created_at: datetime
    cluster: str | None
    snapshot_id: str | None
    labels: dict[str, str]
    prediction: Literal["replay", "envelope", "pinned"]
    seed: int | None
    kafka: KafkaReleases | None
    """The releases whose code was compared and gives the same answer; null if the plan replays no code of Kafka, or
    the release that it is made for was not compared."""
    compared_kafka_versions: list[ComparedRelease] | None
    """For each of `compare_kafka_versions` what it answers otherwise; absent if there are none."""
    assignor: str
    protocol: Literal["classic", "streams"]
    assignment: dict[str, ClientTasksDocument]
    probing_rebalance: bool
    ideal: bool
    tasks: list[TaskDocument]
    tags: list[TagDocument]
    if_lost: dict[str, LossDocument]
    if_client_lost: dict[str, LossDocument]
    loads: StreamsLoadsDocument
    movement: TaskMovementDocument
    rack_aware: RackAwareDocument | None
    best_standbys: BestStandbysDocument | None
    addition: AdditionDocument | None
    compared_with_classic: ComparedWithClassicDocument | None
    steps: list[StreamsStepDocument]
    violations: list[TaskViolationDocument]
    warnings: list[WarningDocument]
    request: dict[str, Any]


class StreamsRebalanceDocument(Record):
    """One rebalance of a step. `not_running` are tasks whose state has to be restored first."""

    cause: Literal["left", "joined", "restarted", "probing", "nothing"]
    active_moved: int
    restored_copies: int
    warmups: int
    not_running: list[str]


class StreamsStepDocument(Record):
    """One event, or the restart of one client in a rolling deploy, and the application after it has settled."""

    event_index: int
    event: dict[str, Any]
    process_id: str | None
    assignment: dict[str, ClientTasksDocument]
    ideal: bool
    active_moved: int
    interrupted: int
    without_copy: list[str]
    restored_copies: int
    restored_bytes: int | None
    probing_rebalances: int
    settled: bool
    by_chance: bool
    rebalances: list[StreamsRebalanceDocument]


class SummaryDocument(Record):
    """The distribution of each figure, null if no scenario has it. `failed` counts the scenarios with an error."""

    kind: str
    scenarios: int
    failed: int
    figures: dict[str, DistributionDocument | None]


class SweepDocument(Record):
    """A sweep. `error` says why it failed, `waiting` why it is not making progress; both are null otherwise."""

    id: str
    kind: str
    state: Literal["queued", "running", "succeeded", "failed", "cancelled"]
    scenarios: int
    done: int
    rate_per_s: float | None
    seconds_left: float | None
    waiting: dict[str, Any] | None
    error: dict[str, Any] | None
    labels: dict[str, str]
    created_at: datetime
    started_at: datetime | None
    finished_at: datetime | None


class SweepWithDefinition(Record):
    """A sweep and its definition."""

    id: str
    kind: str
    state: Literal["queued", "running", "succeeded", "failed", "cancelled"]
    scenarios: int
    done: int
    rate_per_s: float | None
    seconds_left: float | None
    waiting: dict[str, Any] | None
    error: dict[str, Any] | None
    labels: dict[str, str]
    created_at: datetime
    started_at: datetime | None
    finished_at: datetime | None
    definition: dict[str, Any]


class SweepsPage(Record):
    """Sweeps, newest first."""

    items: list[SweepDocument]
    next_page_token: str | None


class TagDocument(Record):
    """A tag, the number of clients with each value, and the number of values that a task's copies need."""

    tag: str
    values: dict[str, int]
    needed: int
    without: int
    enough: bool


class TaskChange(Record):
    """One task that other clients have; None on the side on which it is not there."""

    task: str
    before: TaskHolders | None
    after: TaskHolders | None


class TaskDocument(Record):
    """A task, its clients, and whether its copies differ in every tag; `ideal` is null for a stateless task."""

    task: str
    active: str | None
    standby: list[str]
    warmup: list[str]
    stateful: bool
    ideal: bool | None
    missing_standbys: int
    repeated_tags: list[str]
    shared: list[SharedValueDocument]


class TaskHolders(Record):
    """The client that runs a task, None if none does, and those with a standby of it, by name."""

    active: str | None
    standby: list[str]


class TaskMovementDocument(Record):
    """Tasks that change clients, and the copies of state that have to be restored."""

    active_kept: int
    active_moved: int
    active_started: int
    restored_copies: int
    restored_bytes: int | None


class TaskMoves(Record):
    """Tasks counted: `active_moved` run elsewhere, `standbys_changed` run where they did with other standbys."""

    tasks: int
    unchanged: int
    active_moved: int
    standbys_changed: int
    added: int
    removed: int


class TaskViolationDocument(Record):
    """One way in which the assignment is illegal or fragile; the first tasks are listed."""

    code: str
    severity: Literal["illegal", "fragile"]
    count: int
    tasks: list[str]
    detail: str


class TopicChangeDocument(Record):
    """A change of a topic: `appeared`, `vanished`, `partitions` or `racks`; the first partitions are listed."""

    topic: str
    what: Literal["appeared", "vanished", "partitions", "racks"]
    partitions: list[int]
    count: int


class TradeOffPoint(Record):
    """The least movement after which the load of every broker is between `low` and `high`."""

    low: int
    high: int
    moved_replicas: int
    moved_bytes: int
    optimal: bool
    """Whether no plan within this band moves less."""


class TriggerDocument(Record):
    """Whether the leader rebalances, and which member leads."""

    would_rebalance: bool
    because: list[TopicChangeDocument]
    unseen: list[TopicChangeDocument]
    leader: str | None


class UnassignedDocument(Record):
    """What of one topic has no place: every partition of it lacks as many replicas.

    `values` are the forced values that no live broker has, by attribute."""

    topic: str
    replicas_per_partition: int
    partitions: int
    replicas: int
    values: dict[str, list[str]]


class UncoveredPartition(Record):
    """A partition that no member of a share group reads."""

    topic: str
    partition: int


class ValueLoss(Record):
    """The cost of losing all brokers of one value, before anything is moved."""

    partitions_leaderless: int
    partitions_reduced: int
    partitions_down_to_one: int
    partitions_offline: int


class Violation(Record):
    """One way in which some partitions of one topic are illegal or fragile.

    `partitions` names the first `NAMED_PARTITIONS` of them by ascending id, `count` counts all."""

    code: str
    severity: str
    topic: str
    count: int
    partitions: list[int]
    detail: str


class WarningDocument(Record):
    """A condition that did not prevent the answer."""

    code: str
    detail: str
    brokers: list[int] | None
    kafka_version: str | None
    """The release that the warning is about."""
