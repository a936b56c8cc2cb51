"""The documents of the service. Written by `make openapi`; not edited."""

from __future__ import annotations

from datetime import datetime
from typing import Any, Literal, TypeAlias

from rackplan.records import Record


class AdditionDocument(Record):
    """The fewest additional clients with which every task can be ideal, by tag values; null is a new value."""

    clients: list[dict[str, str | None]]
    """Tags of each client to add, name → value; null is a value that no client has yet."""
    new_values: dict[str, int]
    """Number of values to add by tag."""
    clients_apart_already: int
    """Largest number of clients that are apart by every tag already."""
    clients_without_a_tag: list[str]
    """Process ids of clients that lack a listed tag."""


class AfterWorstLoss(Record):
    """The load after the worst loss. If a leader is lost, the first live replica leads. Stored and received
    bytes stay."""

    broker: float
    """Load after the worst loss of one other broker."""
    lost_broker: int | None
    """Id of this other broker; null if no loss adds load."""
    rack: float | None
    """Load after the worst loss of another rack; null without racks."""
    lost_rack: str | None
    """Name of this other rack; null if no loss adds load."""


class Alive(Record):
    """The process answers."""

    status: str
    """Always `ok`."""


class AttributeExposure(Record):
    """How placements are spread over one attribute; a broker without it has none of its values."""

    values_per_partition: RacksPerPartition
    """Number of values that the partitions span."""
    spanning_share: float
    """The share of partitions that span min(replicas, values) values; 1.0 if there is no partition."""
    losses: dict[str, ValueLoss]
    """The losses by value, sorted."""


class AuditEntryDocument(Record):
    """A change: the operation, its actor, the address and the time."""

    id: int
    """Number of the entry, in the order in which entries were added."""
    at: datetime
    """When it was added, by the clock of the database."""
    actor: Literal["key", "token", "link", "anyone", "unknown", "command"]
    """`key`: an API key; `link`: a share link; `anyone`: any process, while the service is open; `unknown`: no valid
    credentials; `command`: a command of the operator."""
    name: str | None
    """Name of the API key; null without one."""
    key_id: str | None
    """Id of the API key, since names are used again; null if none."""
    team: str | None
    """Team that was acted for, `*` for all; null if it is not known."""
    address: str | None
    """IP address of the client; null if unknown."""
    request_id: str | None
    """Id of the request, as in the log; null for a command."""
    action: str
    """Method and route of a request, or a change: `key.created`, `key.revoked`, `service.opened`,
    `share_link.created`, `share_link.revoked`, `share_links.revoked`."""
    resource: str | None
    """Path of the created resource, else of the request; name of a key."""
    status: int | None
    """HTTP status of the answer; null if the client left, or a change."""
    code: str | None
    """Code of the problem that was the answer; null if there was none."""
    count: int
    """Requests that the entry is for: denied ones of a sender within a minute."""


class AuditPage(Record):
    """Entries of the audit log, newest first."""

    items: list[AuditEntryDocument]
    """The entries of this page."""
    next_page_token: str | None
    """`page_token` of the next page; null on the last."""


class AwareMeasures(Record):
    """The measures of a placement by attributes; a plan has them in the order of its request."""

    partitions: int
    """Number of partitions."""
    leaders: PerBroker
    """Preferred leaders of each broker."""
    replicas: PerBroker
    """Replicas of each broker."""
    racks_per_partition: RacksPerPartition | None
    """Number of racks that partitions span; null if no broker has a rack."""
    rack_safe_share: float | None
    """Share of partitions that span min(replicas, racks) racks; 1.0 if there are none, null without racks."""
    exposure: Exposure
    """Cost of losing each broker and each rack."""
    losses: Losses | None
    """Cost of each loss with the in-sync replicas that writes need, exact; absent from plans of earlier releases."""
    copysets: Copysets | None
    """Distinct replica sets, and the odds that simultaneous losses contain one; absent likewise."""
    attributes: dict[str, AttributeExposure]
    """How replicas are spread over each attribute, in the order of the request."""


class BalanceDocument(Record):
    """The balance of brokers."""

    replicas: ReplicasBalance
    """Balance of replicas over brokers."""
    leaders: LeadersBalance
    """Balance of preferred leaders over brokers."""
    resources: list[GoalDocument] | None
    """Result of each goal over resources; null if the request has none."""
    sets: list[BrokerSetBalance] | None
    """With `broker_sets`: each set that has topics, by name; those outside every set come last."""


class Banded(Record):
    """A load of the brokers of a set. `low` and `high` are the load band; null without one."""

    smallest: int
    """Smallest load of a broker, in the unit of `by`."""
    largest: int
    """Largest load of a broker, in the unit of `by`."""
    low: int | None
    """Lower end of the load band; null without a band."""
    high: int | None
    """Upper end of the load band; null without a band."""
    before: Ends
    """Extremes before the plan."""
    largest_bound: int | None
    """Lower bound on `largest`; null if the load is a count, whose band is exact."""


class BatchDocument(Record):
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
    """Duration by a fluid model of the throttle, the networks and concurrent writes of producers, up to 11 s less if
    it begins within 11 s of the end of another batch; 0 if nothing is copied; null if it never completes, neither
    a throttle nor a network is known, or replicas move between log directories without a throttle."""
    completes: bool | None
    """Whether the batch completes: false if replicas are copied no faster than producers write to their partitions,
    or if Kafka waits for a broker that is fenced or down (a warning); otherwise null if `seconds` is unknown."""
    log_dir_moves: int | None
    """Number of replicas moved between log directories; absent without `log_dirs`."""
    log_dir_moved_bytes: int | None
    """Bytes of these replicas; absent without `log_dirs`."""


class BatchProgressDocument(Record):
    """The progress of one batch, by the state of its partitions' steps."""

    index: int
    """Number of the batch, from 1, as its file has it."""
    state: Literal["not_started", "in_progress", "done", "drifted"]
    """`in_progress`: some partitions are in reassignment or done, and not all are done; `drifted`: nothing is left
    but partitions that something else has changed."""
    partitions_left: int
    """Number of partitions whose list is still to be requested of Kafka."""
    partitions_in_progress: int
    """Number of partitions that are being reassigned."""
    partitions_done: int
    """Number of partitions that have the list of the batch, or one of a later batch."""
    partitions_drifted: int
    """Number of partitions that something else has changed."""
    replicas_left: int
    """Number of replicas to copy that are not in sync yet."""
    bytes_left: int
    """Bytes of these replicas, each as a whole, of those of known size."""
    unknown_size_replicas_left: int
    """Number of these replicas whose size is unknown."""
    seconds_left: float | None
    """Remaining duration at the throttle of the plan; null if it is unknown."""


class BestDocument(Record):
    """The best scenario, null if none is acceptable, and why each cheaper neighbour is not acceptable."""

    objective: str
    """Figure that is minimised or maximised."""
    constraints: dict[str, float]
    """Bounds that an acceptable scenario is within, by name."""
    counts: CountsDocument
    """Number of scenarios by whether they qualify."""
    best: ScenarioDocument | None
    """The best acceptable scenario; null without one."""
    why_not_cheaper: list[dict[str, Any]]
    """Neighbours on the axes that cost less, each with the reason why it is not acceptable."""


class BestSharingDocument(Record):
    """The best possible: the smallest largest load that covers every partition, and the smallest spread with it."""

    uncovered: int
    """Smallest possible number of partitions without a member."""
    largest_load: int
    """Smallest possible number of partitions of the fullest member."""
    spread: int
    """Smallest possible difference between two members, in partitions."""


class BestStandbysDocument(Record):
    """The best standbys for the given active tasks, by client, compared with the assignor's."""

    standby: dict[str, list[str]]
    """Ids of tasks by process id, ascending."""
    differing_tasks: list[str]
    """Ids of tasks whose standbys differ from the assignor's, ascending."""
    quality: StandbyQualityDocument
    """Quality of the best standbys."""
    of_the_assignor: StandbyQualityDocument
    """Quality of the assignor's standbys."""
    certificate: StandbyCertificateDocument
    """Proof that no standbys are better."""


class BindingDocument(Record):
    """The limit that breaks first: on which broker, under which failure, with which load."""

    resource: str
    """Resource that reaches its limit first."""
    broker: int | None
    """Id of the broker that it belongs to; null if it belongs to none."""
    failure: str
    """Failure under which it does, such as `none`, `broker:3` or `rack:a`."""
    value: float
    """Load of the resource, in its unit."""
    limit: float
    """Limit of the resource, in its unit."""


class BlockedDocument(Record):
    """A blocker in any schedule; the waves are planned in spite of it."""

    topic: str | None
    """Topic of the partition; null if it is no partition."""
    partition: int | None
    """Id of the partition; null likewise."""
    broker: int | None
    """Id of the broker; null unless `reason` is `above_limit`."""
    reason: Literal[
        "no_in_sync_replica",
        "min_isr_above_factor",
        "below_min_isr",
        "single_replica",
        "factor_equals_min_isr",
        "at_min_isr",
        "above_limit",
        "quorum",
    ]
    """Why a partition is not writable during the restart of any of its brokers: it has no replica in sync on a
    broker that is up; `min.insync.replicas` exceeds its replicas; fewer are in sync than it needs; it has one
    replica; it has as many replicas as it needs; as many are in sync as it needs. `above_limit`: the leaders of
    the broker alone exceed a limit elsewhere, so that it is restarted alone. `quorum`: the restart of one
    controller leaves no majority."""


class BrokerFlow(Record):
    """Transfers from one broker to another; None is nowhere, where a factor changes."""

    from_broker: int | None
    """Id of the sending broker; null if a replica is added without another one being removed."""
    to_broker: int | None
    """Id of the receiving broker; null if a replica is removed without another one being added."""
    replicas: int
    """Number of replicas of the flow."""
    bytes: int
    """Bytes of these replicas, of known sizes only."""
    unknown_size_replicas: int
    """Number of these replicas whose size is unknown."""


class BrokerLoads(Record):
    """The loads of a broker by resource. Resources of unknown load are absent."""

    disk: ResourceLoadDocument | None
    """Bytes on disk; absent if no size is known."""
    nic_in: ResourceLoadDocument | None
    """Bytes/s that it receives, of producers and as a follower; absent without ingress rates."""
    nic_out: SentLoadDocument | None
    """Bytes/s that it sends, to followers and to consumers; absent without ingress rates."""
    cpu: ResourceLoadDocument | None
    """vCPU by the model of the request; absent if neither that nor any `vcpu` is known."""
    replicas: ResourceLoadDocument | None
    """Number of replicas, if they are limited."""
    leaders: ResourceLoadDocument | None
    """Number of preferred leaders, if they are limited."""


class BrokerLogDirsDocument(Record):
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


class BrokerLossDocument(Record):
    """The loss of one broker or one rack. The first remaining replica in sync leads, in the order of the list."""

    lost_broker: int | None
    """Id of the lost broker; null if a rack is lost."""
    lost_rack: str | None
    """Name of the lost rack; null if a broker is lost."""
    offline_partitions: int
    """Number of partitions without a replica in sync to lead them."""
    elected_partitions: int
    """Number of partitions that get another leader."""
    reduced_partitions: int
    """Number of partitions that have fewer replicas."""
    unwritable_partitions: int | None
    """Number of partitions that are left with fewer in-sync replicas than `min.insync.replicas`; null if it is
    unknown for all partitions."""
    at_min_isr_partitions: int | None
    """Number of partitions that are left with exactly `min.insync.replicas` in-sync replicas; null likewise."""
    loads: dict[str, dict[str, float]]
    """By id of each remaining broker, its load of each resource: bytes, bytes/s, vCPU or a count."""
    over_limit: list[OverLimitDocument]
    """Loads above a limit, or above the capacity if there is no limit, by broker id and resource."""


class BrokerMovement(Record):
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


class BrokerSetBalance(Record):
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
    """Load of the set's brokers by replicas, in units of `balance.replicas.by`."""
    leaders: Banded
    """Load of the set's brokers by preferred leaders, in units of `balance.leaders.by`."""
    moved_replicas: int
    """Number of replicas that are copied to the set's brokers."""
    moved_bytes: int
    """Bytes that are copied to the set's brokers, of replicas of known size."""
    moved: int
    """The minimised quantity: moved bytes or moved replicas."""
    lower_bound: int
    """Lower bound on `moved`."""
    gap: float
    """Relative optimality gap: (moved − lower_bound) / moved; 0 if optimal."""
    resources: list[GoalDocument] | None
    """Result of each goal over resources among the set's brokers; null if the request has none."""


class BrokerShare(Record):
    """Bounds over all random outcomes, `lowest` and `highest`, and the extremes of the sampled ones."""

    lowest: int
    """Lower bound on the number over all random outcomes."""
    highest: int
    """Upper bound on the number over all random outcomes."""
    seen_lowest: int
    """Smallest number among the sampled outcomes."""
    seen_highest: int
    """Largest number among the sampled outcomes."""


class BrokerTransfer(Record):
    """Load of a broker before and after, and its transfers."""

    broker: int
    """Id of the broker."""
    rack: str | None
    """Rack of the broker; null if it has none."""
    replicas_before: int
    """Number of replicas before."""
    replicas_after: int
    """Number of replicas after."""
    leaders_before: int
    """Number of preferred leaders before."""
    leaders_after: int
    """Number of preferred leaders after."""
    bytes_before: int
    """Bytes before, of replicas of known size."""
    bytes_after: int
    """Bytes after, of replicas of known size."""
    unknown_size_before: int
    """Number of replicas of unknown size before."""
    unknown_size_after: int
    """Number of replicas of unknown size after."""
    replicas_in: int
    """Number of replicas that are copied to the broker."""
    replicas_out: int
    """Number of replicas that are removed from the broker."""
    bytes_in: int
    """Bytes that are copied to the broker, of replicas of known size."""
    bytes_out: int
    """Bytes that are removed from the broker, of replicas of known size."""
    unknown_size_in: int
    """Number of replicas of unknown size that are copied to the broker."""
    unknown_size_out: int
    """Number of replicas of unknown size that are removed from the broker."""
    replicas_created: int
    """Number of replicas of new partitions, which are not copied; `replicas_in` does not count them."""


class BrokerWave(Record):
    """A broker that is restarted in another wave."""

    broker: int
    """Id of the broker."""
    before: int | None
    """Number of its wave before; null if it is not restarted."""
    after: int | None
    """Number of its wave after; null if it is not restarted."""


class BrokerWeight(Record):
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


class CertificateDocument(Record):
    """The quality of an answer and its proof: its value, and a lower bound that no answer can be below.

    `optimal`, `gap` and `solver` are in every certificate. For a reassignment it also has movement and its
    bounds;
    for a group the bound of each goal, in lexicographic order."""

    in_rack_bound: int | None
    """Upper bound on partitions that a balanced assignment of the group reads in rack."""
    moved_bound: int | None
    """Lower bound on moved partitions of such an assignment."""
    largest_load_bound: int | None
    """Lower bound on the largest load, if one is balanced."""
    moved_replicas: int | None
    """Replicas that Kafka has to copy; new partitions need no copies."""
    moved_bytes: int | None
    """Bytes of moved replicas whose size is known."""
    lower_bound_bytes: int | None
    """No plan within the constraints moves fewer bytes."""
    lower_bound_replicas: int | None
    """The same in replicas, if those are minimised."""
    unknown_size_replicas: int | None
    """Moved replicas of partitions of unknown size."""
    minimised: Literal["bytes", "replicas", "cost"] | None
    """Of a reassignment; `cost`: moved_bytes + bytes_per_replica × moved_replicas."""
    optimal: bool
    """Whether every goal reaches its lower bound."""
    gap: float
    """Relative optimality gap: (value − lower bound) / value; 0 if optimal."""
    constraints: list[str] | None
    """The constraints that the lower bound holds under."""
    solver: str
    """The solver that computed the answer and its bound."""
    bytes_per_replica: int | None
    """Cost of each moved replica beside its bytes, if the cost is minimised."""
    moved_cost: int | None
    """Moved bytes, and `bytes_per_replica` for each moved replica, if the cost is minimised."""
    lower_bound_cost: int | None
    """Lower bound of `moved_cost`."""
    seconds: float | None
    """Solver time, including leaders and batches."""


class ChangeLeftOut(Record):
    """A change whose traffic cannot be computed."""

    change: Literal["follower_fetching", "assignor", "optimum", "preferred_leaders", "one_more_replica"]
    """`follower_fetching`: switched on, or off. `assignor`: another one for members of this protocol. `optimum`:
    balanced, then the fewest bytes across racks. `preferred_leaders`: each partition is led by a replica in the
    rack of its reader, if it has one. `one_more_replica`: each partition has a follower in one more rack: the
    rack of its reader if it has none there."""
    value: str | bool | None
    """Name of the assignor, or whether consumers fetch from followers; null for other changes."""
    reason: str
    """Why not."""


class ChangedDocument(Record):
    """Reassigned partitions that the newest snapshot has otherwise: the first of them, and how many there are."""

    snapshot_id: str
    """Id of the newest snapshot of the cluster."""
    count: int
    """Number of reassigned partitions that it has otherwise."""
    partitions: list[PartitionChange]
    """The first of these partitions: their replicas in the checked snapshot and in the newest one."""


class ChangedTraffic(Record):
    """The traffic under a change, once the group has rebalanced."""

    cross_rack_bytes_per_s: float
    """Bytes/s that members fetch from brokers in another rack."""
    unknown_bytes_per_s: float
    """Bytes/s that members fetch, if the rack of the member or of the broker is unknown."""
    cost_per_month: float
    """Cost of `cross_rack_bytes_per_s` a month, by the price in `traffic`."""
    replication_bytes_per_s: float | None
    """Bytes/s that leaders of these partitions send to followers in another rack; null if the rack of a replica is
    unknown."""
    replication_cost_per_month: float | None
    """Cost of `replication_bytes_per_s` a month; null likewise."""
    change: Literal["follower_fetching", "assignor", "optimum", "preferred_leaders", "one_more_replica"]
    """`follower_fetching`: switched on, or off. `assignor`: another one for members of this protocol. `optimum`:
    balanced, then the fewest bytes across racks. `preferred_leaders`: each partition is led by a replica in the
    rack of its reader, if it has one. `one_more_replica`: each partition has a follower in one more rack: the
    rack of its reader if it has none there."""
    value: str | bool | None
    """Name of the assignor, or whether consumers fetch from followers; null for other changes."""


class CheckDocument(Record):
    """Check of the cluster once the reassignment is done, or of the cluster as it is.

    `violations` and `measures` are of the reassigned partitions, by attribute too where the brokers have some;
    `movement` is the movement to do, `minimum` the least to the same end; `fresh` is whether the cluster was last
    seen
    in the state of this snapshot, and `changed` lists the differences if it was not."""

    snapshot_id: str
    """Id of the snapshot that was checked against."""
    snapshot_content_hash: str
    """Content hash of this snapshot, in hexadecimal."""
    violations: list[Violation]
    """Ways in which the result is illegal or fragile, by topic; empty if there are none."""
    measures: PlacementMeasures | AwareMeasures
    """Balance over brokers, rack safety and the cost of each loss, of the reassigned partitions."""
    movement: DiffSummary | None
    """Counts of changes, of which Kafka copies `replicas_added`; null of a cluster as it is."""
    minimum: MinimumDocument | None
    """The least movement with the same end; null of a cluster as it is."""
    fresh: bool
    """Whether no newer snapshot of the cluster differs from the checked one."""
    kafka_version: str
    """The release of Kafka that the check is for."""
    changed: ChangedDocument | None
    """Differences of the newest snapshot; null if `fresh`."""
    source: Literal["file", "generate", "execute", "verify"] | None
    """Which output of `kafka-reassign-partitions` was checked; null of a reassignment as JSON."""
    progress: ProgressDocument | None
    """Results of `--verify`; null of any other output."""
    loads: dict[str, BrokerLoads] | None
    """By broker id, the load of each resource of known load; absent of a reassignment without resources."""
    cross_rack: CrossRackDocument | None
    """Bytes/s between racks; absent of a reassignment without resources, null if they are unknown."""
    skew: dict[str, float] | None
    """By resource, the largest load above the mean: 0.1 is 10 %; absent of a reassignment without resources."""
    over_limit: list[OverLimitDocument] | None
    """Brokers above a limit, by broker id and resource; absent of a reassignment without resources."""
    log_dirs_over_limit: list[LogDirOverLimit] | None
    """Log directories above a limit, by broker id and path; null if `limits.log_dirs` has none, and of a
    reassignment; absent of one without resources."""
    fails_first: list[FirstToFailDocument] | None
    """The load nearest to a limit or capacity: before any loss, after the worst loss of a broker, and of a rack;
    absent of a reassignment without resources."""
    least_repair: LeastRepairDocument | None
    """The least repair of a cluster as it is; null if the cluster cannot be repaired, which a warning explains. Of a
    reassignment it is null, and absent if the check has no resources."""
    losses: list[BrokerLossDocument] | None
    """State after each loss: brokers by id, then racks by name; null unless requested, absent if a reassignment is
    checked."""
    warnings: list[WarningDocument]
    """Conditions that did not prevent the check; empty if there are none."""


class ClientDocument(Record):
    """The default of a client library, from one version to another; null is the first or the current one."""

    client: str
    """Name of the client library."""
    language: str
    """Programming language of the library."""
    versions: str
    """Versions of the library with this default, in words."""
    since: str | None
    """First version with this default; null for the first version of all."""
    until: str | None
    """Last version with this default; null for the current one."""
    partitioner: str
    """Partitioner that the library uses by default."""
    null_keys: str | None
    """Policy for records without key; null if they are hashed as an empty key."""
    source: str
    """Address of the source code that states the default."""


class ClientLoadDocument(Record):
    """The load of one client. Active tasks read `sources`; standbys and warm-ups read `changelogs`."""

    process_id: str
    """Process id of the client."""
    capacity: int
    """Number of its stream threads."""
    rack_id: str | None
    """Its `client.rack`; null if it has none."""
    client_tags: dict[str, str]
    """Its client tags, name → value."""
    active: int
    """Number of tasks that it runs."""
    standby: int
    """Number of its standbys, without warm-ups."""
    warmup: int
    """Number of its warm-ups."""
    sources: ReadsDocument | None
    """Source partitions that its active tasks read; null if the topics are unknown."""
    changelogs: ReadsDocument | None
    """Changelog partitions that its standbys and warm-ups read; null if the topics are unknown."""


class ClientTasksDocument(Record):
    """One client's tasks, ascending. `standby` includes `warmup`, as in the assignment that Kafka sends.

    `members` are the threads of a streams group; null under the classic protocol."""

    active: list[str]
    """Ids of tasks that the client runs, ascending."""
    standby: list[str]
    """Ids of tasks of which the client has a standby or warm-up, ascending."""
    warmup: list[str]
    """Ids of tasks of which the client has a warm-up, ascending."""
    members: dict[str, MemberTasksDocument] | None
    """Tasks of each thread by member id; null under the classic protocol."""


class ClusterHealth(Record):
    """Counts of partitions, and the balance of the listed brokers."""

    offline: int
    """Partitions without a leader."""
    under_replicated: int
    """Partitions with fewer in-sync replicas than replicas."""
    not_rack_safe: int
    """Partitions that span fewer racks than they could; a broker that is down and of unknown rack may be in any."""
    not_preferred: int
    """Partitions whose leader a preferred election would change."""
    reassigning: int
    """Partitions that are being reassigned."""
    illegal: int
    """Partitions without replicas, or with a broker twice. A broker that is not listed is down, and legal."""
    replicas: int
    """Replicas of all partitions."""
    bytes: int
    """Bytes of all replicas whose size is known."""
    unknown_sizes: int
    """Partitions of unknown size."""
    fenced_brokers: int
    """Listed brokers that are fenced."""
    replica_skew: float
    """Replicas of the broker that has most, over the mean of the listed brokers; 0 without replicas."""
    leader_skew: float
    """Preferred leaders of the broker that has most, over the mean of the listed brokers; 0 without leaders."""
    under_min_isr: int | None
    """Partitions with fewer in-sync replicas than `min.insync.replicas`, to which producers with `acks=all` cannot
    write; null in a snapshot that an earlier release stored."""
    at_min_isr: int | None
    """Partitions with exactly as many in-sync replicas as `min.insync.replicas`; null likewise."""
    min_isr_unknown: int | None
    """Partitions whose `min.insync.replicas` is unknown, which neither of these counts; null likewise."""


class ComparedAssignor(Record):
    """One line of the comparison; all figures are null if the assignor fails."""

    assignor: str
    """Name of the assignor."""
    runs_on: Literal["leader", "coordinator", "nowhere"]
    """Where the assignor runs: in the leading member, in the coordinator, or, as an optimum, in neither."""
    protocol: Literal["eager", "cooperative", "reconciled"]
    """How members hand partitions over: all at once, in two phases, or as the coordinator reconciles them."""
    rack_aware: bool
    """Whether the assignor considers racks."""
    in_rack: int | None
    """Number of partitions that are read in a rack with a replica; null if the assignor fails."""
    cross_rack: int | None
    """Number of partitions that are read from another rack; null if the assignor fails."""
    unknown: int | None
    """Number of partitions whose racks are unknown; null if the assignor fails."""
    in_rack_share: float | None
    """Share of `in_rack` in `in_rack` + `cross_rack`; null if both are 0 or the assignor fails."""
    bytes_per_s: LocalityCounts | None
    """Where bytes are read, in bytes/s; absent if the rates are unknown."""
    traffic: TrafficSums | None
    """Bytes/s from rack to rack; null if no rate is known, or the assignor fails, absent from plans of earlier
    releases."""
    moved: int | None
    """Number of partitions that change members; null if the assignor fails."""
    revoked: int | None
    """Number of partitions that are taken from members that stay; null if the assignor fails."""
    phases: int | None
    """Number of rounds until the group has settled; null if the assignor fails."""
    loads: Loads | None
    """Balance of members; null if the assignor fails."""
    error: FailureDocument | None
    """Why the assignor fails; null if it does not."""


class ComparedRelease(Record):
    """The answer of another release, as its difference from the plan; `rows` has the first thousand."""

    kafka_version: str
    """The release that is compared."""
    kafka: KafkaReleases | None
    """The releases that have this other answer; null if none has."""
    differing: int | None
    """Number of rows that differ; null if the release has no answer."""
    rows: list[DifferingRow]
    """The first 1,000 rows that differ, in the order of the plan."""
    error: FailureDocument | None
    """Why the release has no answer; null if it has one."""


class ComparedWithClassicDocument(Record):
    """Gaps of a streams group beside the classic protocol, whose assignor places standbys by client tags."""

    assignor: str
    """Name of the classic assignor."""
    single_value_tasks: list[SingleValueTasksDocument]
    """Counts by tag, then by rack."""


class ComparisonDocument(Record):
    """The best scenarios of two sweeps."""

    first: BestDocument
    """Best scenario of the sweep in the path."""
    second: BestDocument
    """Best scenario of the sweep in `with`."""


class ComparisonWithTextDocument(Record):
    """The partitions that a plan has otherwise than another reassignment, which counts as the state before."""

    summary: ReassignmentDiffSummary
    """Counts over the whole difference, not only its page."""
    items: list[PartitionTransfer]
    """Differences of the page, in order."""
    next_page_token: str | None
    """Token of the next page; null on the last page."""
    warnings: list[WarningDocument]
    """What was not read of the text; empty if nothing."""


class ConsumerCounts(Record):
    """Counts of two plans of consumers."""

    intervals: int
    """Number of intervals on either side."""
    changed: int
    """Number of intervals whose consumers differ in number."""
    consumer_hours_before: float
    """Sum of the time of all consumers before; 0 without a plan to compare with."""
    consumer_hours_after: float
    """Sum of the time of all consumers after."""


class ConsumersDiffDocument(Record):
    """The intervals whose number of consumers differs."""

    summary: ConsumerCounts
    """Counts over the whole difference, not only its page."""
    items: list[IntervalConsumers]
    """Differences of the page, in order."""
    next_page_token: str | None
    """Token of the next page; null on the last page."""


class ConsumersFront(Record):
    """One choice between fewer consumers and less movement."""

    hold_s: float
    """`hold_s` of a request for this choice."""
    spare: int
    """`spare` of a request for this choice."""
    consumer_hours: float
    """Sum over consumers of the time for which each is there."""
    cost: float | None
    """Its price; null without `price_per_consumer_hour`."""
    moved_bytes_per_s: float
    """Mean of `moved_bytes_per_s` over intervals; a request for this choice may find less."""


class ConsumersInterval(Record):
    """The consumers of one interval."""

    from_: str
    """Begin of the interval."""
    consumers: int
    """Number of consumers."""
    lower_bound: int
    """No assignment within capacity, and no `min`, allows fewer consumers."""
    bytes_per_s: int
    """Rate at which all consumers read; with `delay_s` it differs from the rate of the series."""
    assignment: dict[str, list[int]]
    """By topic, the number of each partition's consumer, from 0. Consumers keep their numbers."""
    moved_bytes_per_s: int
    """Rate of the partitions with another consumer than in the interval before; 0 in the first."""
    moved_lower_bound: int
    """No assignment to as many consumers moves less from the interval before."""
    lost_bytes_per_s: int
    """Rate above the capacity of consumers, by which lag grows: of oversized partitions, and if `max` is too small."""
    backlog_bytes: int
    """Bytes that wait at the end of the interval, within `delay_s`."""


class ConsumersKafka(Record):
    """The same with one of Kafka's assignors, which do not know rates, and the releases that have it."""

    from_: str | None
    """The first release of Kafka with this answer."""
    to: str | None
    """The last release of Kafka with this answer."""
    assignor: str
    """Name of the assignor."""
    consumers_needed: int | None
    """The fewest consumers, at least `min`, with which none exceeds its capacity in any interval; null if there are
    none, up to the number of partitions and to 100 more than the plan has."""
    intervals_above_capacity: int
    """Number of intervals in which a consumer would exceed its capacity with as many consumers as planned."""


class ConsumersPlanDocument(Record):
    """The consumers of a group over time."""

    id: str
    """Id of the plan, a UUIDv7: later plans have greater ids."""
    kind: str
    """Kind of the plan: `replicas`, `reassignment`, `group`, `streams`, `restart` or `consumers`."""
    title: str
    """The plan's effect, in a few words."""
    summary: str
    """Movement and result in a few words; empty for plans that were stored before there were summaries."""
    status: Literal["proposed", "approved", "executing", "executed", "failed", "superseded"]
    """How far the plan has come, as its callers state it; `proposed` at first."""
    hash: str
    """SHA-256 of the canonical request and the engine version, in hexadecimal; equal hashes mean equal answers."""
    engine_version: int
    """Version of the algorithms that made the plan; a change of any answer increases it."""
    created_at: datetime
    """When the plan was stored, RFC 3339 in UTC."""
    cluster: str | None
    """Cluster of the snapshot that the plan was made on; null if the request listed brokers itself."""
    snapshot_id: str | None
    """Id of the snapshot that the plan was made on; null if the request listed brokers itself."""
    labels: dict[str, str]
    """Labels, name → value, with which plans can be found: from the request, as changed since."""
    prediction: Literal["replay", "envelope", "pinned"]
    """`replay`: the outcome in Kafka for this seed. `envelope`: one outcome of several possible ones. `pinned`:
    nothing is random."""
    seed: int | None
    """Seed of the random generator that was replayed; null if nothing is random."""
    notes: str | None
    """Notes of the callers; null if there are none."""
    history: list[PlanChangeDocument] | None
    """The changes of status, labels and notes, oldest first; the newest 100."""
    kafka: ConsumersKafka
    """The same with one of Kafka's assignors."""
    compared_kafka_versions: list[ComparedRelease] | None
    """For each of `compare_kafka_versions` its different answers; absent without such releases."""
    request: dict[str, Any]
    """The canonical request: every field with its default, in canonical order."""
    warnings: list[WarningDocument]
    """Conditions that did not prevent the plan; empty if there are none."""
    intervals: list[ConsumersInterval]
    """The intervals of the series."""
    step_s: int
    """Seconds of an interval."""
    proven_consumers: int
    """Number of intervals whose number of consumers is proven to be the fewest."""
    proven_moves: int
    """Number of intervals whose movement is proven to be least."""
    consumer_hours: float
    """Sum over consumers of the time for which each is there."""
    cost: float | None
    """Its price; null without `price_per_consumer_hour`."""
    moved_bytes_per_s: float
    """Mean of `moved_bytes_per_s` over intervals."""
    front: list[ConsumersFront]
    """Choices of which none has both fewer consumer hours and less movement than another, by consumer hours."""
    schedule: list[ConsumersStep]
    """When to have how many consumers."""
    oversized: list[OversizedPartition]
    """Partitions above the capacity of a consumer."""
    partitions: list[PartitionsNeeded]
    """Partitions that each topic needs; empty unless requested."""


class ConsumersStep(Record):
    """A change of the number of consumers."""

    from_: str
    """When to order it: `start_s` before it is needed, if there are more."""
    consumers: int
    """Number of consumers from then on."""


class Copysets(Record):
    """The distinct sets of brokers that have all replicas of a partition."""

    sets: int
    """Number of distinct sets."""
    scatter_width: ScatterWidth
    """How many brokers share partitions with a broker."""
    pairs: int
    """Number of pairs of brokers that share a partition."""
    loss_probability: dict[str, float | None]
    """By the number of brokers that are lost at once, 2 and 3, the probability that all replicas of some partition
    are lost, if every choice of brokers is equally likely; null with fewer brokers."""
    method: str | None
    """How probabilities are computed: `exact`, or `sampled`."""
    standard_error: float | None
    """Largest standard error of a sampled probability; null if they are exact."""


class CopysetsChoice(Record):
    """A choice of sets: the fewer there are, the rarer is a loss, and the more other brokers then lead."""

    scatter_width: int
    """Smallest number of other brokers that share a set with a broker."""
    sets: int
    """Number of distinct sets."""
    loss_probability: dict[str, float | None]
    """As in `copysets` of the measures, if every set has partitions."""
    unwritable_pairs: int | None
    """Pairs of brokers whose loss makes a partition unwritable; null if `min.insync.replicas` is unknown."""
    largest_load_after_loss: float
    """Leaders of the most loaded broker after the loss of any one, as a multiple of before."""


class CountDocument(Record):
    """The balance of clients."""

    min: int
    """Smallest number of a client."""
    max: int
    """Largest number of a client."""
    spread: int
    """Largest number minus the smallest."""
    total: int
    """Sum over all clients."""


class CountsDocument(Record):
    """The number of scenarios that are scored, feasible, and within the constraints as well."""

    scored: int
    """Number of scenarios that are scored."""
    feasible: int
    """Number of scenarios within their limits."""
    acceptable: int
    """Number of feasible scenarios within the constraints as well."""


class CreatedWebhook(Record):
    """A new webhook, with its secret."""

    id: str
    """Id of the webhook (UUIDv7)."""
    url: str
    """The URL that events are sent to."""
    events: list[Literal["job.ended", "sweep.ended", "plan.created"]]
    """Types of events that are sent."""
    created_at: datetime
    """When the webhook was created."""
    failing_since: datetime | None
    """When the first attempt failed since the last that succeeded; null if the last succeeded."""
    disabled_at: datetime | None
    """When the webhook was disabled; null if events are delivered to it."""
    disabled_reason: str | None
    """Why the webhook was disabled; null if it was not."""
    secret: str
    """The key of the signatures. No other answer has it."""


class CrossRackBytes(Record):
    """Produced bytes by the rack of the leader that they are sent to."""

    in_rack: int
    """Bytes sent to leaders in the producer's rack."""
    cross_rack: int
    """Bytes sent to leaders in other racks."""
    unknown: int
    """Bytes sent to partitions without a leader, or whose leader has no rack."""
    cross_rack_otherwise: int
    """Bytes sent to other racks with `partitioner.rack.aware` the other way, from the same seed."""


class CrossRackCause(Record):
    """Bytes/s from rack to rack of one cause."""

    before_bytes_per_s: int
    """Bytes/s before the plan."""
    after_bytes_per_s: int
    """Bytes/s after the plan."""


class CrossRackChange(Record):
    """Bytes/s between racks on both sides."""

    before_bytes_per_s: int
    """Bytes/s before."""
    after_bytes_per_s: int
    """Bytes/s after the plan."""


class CrossRackDocument(Record):
    """Bytes/s from rack to rack: of all causes, and of each. Clients are spread evenly over racks."""

    before_bytes_per_s: int
    """Bytes/s before the plan."""
    after_bytes_per_s: int
    """Bytes/s after the plan."""
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
    groups: list[GroupCrossRack] | None
    """The groups of the snapshot whose members have assigned partitions; absent from plans of earlier releases."""


class DeliveriesPage(Record):
    """Deliveries, newest first."""

    items: list[DeliveryDocument]
    """The deliveries of this page."""
    next_page_token: str | None
    """`page_token` of the next page; null on the last."""


class DeliveryDocument(Record):
    """An event and its delivery to a webhook."""

    id: str
    """Id of the delivery; the header `webhook-id` of each attempt."""
    webhook_id: str
    """Id of the webhook."""
    state: Literal["pending", "succeeded", "failed"]
    """`pending` until an attempt is answered 2xx (`succeeded`) or the last has failed (`failed`)."""
    attempts: int
    """Attempts so far, those before a replay included."""
    status: int | None
    """HTTP status of the last answer; null if there was none."""
    error: str | None
    """Why the last attempt failed; null if it did not."""
    response: str | None
    """Beginning of the last answer, at most 1 KiB."""
    created_at: datetime
    """When the event happened."""
    attempted_at: datetime | None
    """When the last attempt ended; null before the first."""
    next_attempt_at: datetime | None
    """When the next attempt is due; null if none is."""
    payload: dict[str, Any]
    """The body of each attempt: `type`, `timestamp` and `data` of the event."""


class DiffDocument(Record):
    """The partitions that differ, by topic and partition id."""

    summary: DiffSummary
    """Counts over the whole difference, not only its page."""
    items: list[PartitionChange]
    """Differences of the page, in order."""
    next_page_token: str | None
    """Token of the next page; null on the last page."""


class DiffSummary(Record):
    """Counts of differences between two assignments. Kafka copies `replicas_added`."""

    partitions: int
    """Number of partitions that either assignment has."""
    partitions_added: int
    """Number of partitions that only the second assignment has."""
    partitions_removed: int
    """Number of partitions that only the first assignment has."""
    partitions_changed: int
    """Number of partitions whose replica lists differ, in members or in order."""
    replicas_added: int
    """Number of replicas that only the second assignment has; Kafka copies them."""
    replicas_removed: int
    """Number of replicas that only the first assignment has."""
    preferred_leaders_changed: int
    """Number of partitions whose first replica differs."""


class DifferingRow(Record):
    """A row of a plan, as a page of its partitions lists it, in the plan and in the answer of another release."""

    before: dict[str, Any]
    """The row of the plan, with the fields of the plan's page of partitions."""
    after: dict[str, Any]
    """The same row in the answer of the other release."""


class Disagreement(Record):
    """Two partitioners over the same keys and partition count."""

    first: str
    """Name of one partitioner."""
    second: str
    """Name of the other partitioner."""
    keys: int
    """Number of keys that both partition by key."""
    differing_keys: int
    """Number of these keys that are sent to different partitions."""
    differing_share: float
    """Share of these keys that are sent to different partitions; unrelated hashes differ on 1 − 1/partitions."""
    one_sided: int
    """Number of keys that only one of the two takes to be missing."""
    examples: list[int]
    """Indices of the first differing or one-sided keys of the request."""


class DistributionDocument(Record):
    """A figure over the scenarios that have it; `without` counts the others."""

    count: int
    """Number of scenarios that have the figure."""
    without: int
    """Number of scenarios that do not have it."""
    min: float
    """Smallest value."""
    mean: float
    """Arithmetic mean."""
    p50: float
    """Median."""
    p95: float
    """95th percentile."""
    max: float
    """Largest value."""
    histogram: HistogramDocument
    """Number of values in bins of equal width."""


class Drift(Record):
    """A partition that something else has changed."""

    topic: str
    """Name of the topic."""
    partition: int
    """Id of the partition in its topic."""
    planned: list[int] | None
    """Replicas after the plan, preferred leader first; null if the plan has no such partition."""
    actual: list[int] | None
    """Replicas in the snapshot, or those that a reassignment in progress leads to; null if it has no such partition."""
    reason: Literal["other_replicas", "other_order", "deleted", "recreated", "created"]
    """`other_order`: the replicas are on a list of the plan, in another order; `other_replicas`: they are not;
    `recreated`: the topic was deleted and created again; `deleted`, `created`: the partition or its topic was."""
    is_planned: bool
    """Whether the plan moves or creates the partition; the others count where they were."""


class Ends(Record):
    """The smallest and the largest load of brokers that may receive replicas."""

    smallest: int
    """Smallest load of a broker, in the unit of `by`."""
    largest: int
    """Largest load of a broker, in the unit of `by`."""


class EnvelopeDocument(Record):
    """Bounds of the placement of one topic over all random choices of a controller.

    `enumerated`: all `outcomes` were evaluated, and each bound is reached. `bounded_and_sampled`: no outcome
    exceeds
    the bounds; `seen` values come from `seeds` seeds."""

    topic: str
    """Name of the topic."""
    method: Literal["enumerated", "bounded_and_sampled"]
    """`enumerated`: every outcome was computed. `bounded_and_sampled`: bounds are proven, extremes are sampled."""
    outcomes: int
    """Number of distinct outcomes if they are enumerated, otherwise 0."""
    seeds: int
    """Number of sampled seeds; 0 if the outcomes were enumerated."""
    leaders: ShareDocument
    """Possible numbers of preferred leaders of each broker."""
    replicas: ShareDocument
    """Possible numbers of replicas of each broker."""


class ErrorDocument(Record):
    """|actual − predicted| / predicted, over plans."""

    median: float
    """Error that half of the plans do not exceed."""
    p90: float
    """Error that nine of ten plans do not exceed."""


class EvennessDocument(Record):
    """The balance of members. `spread` is the largest difference between two members that could share partitions."""

    min: int
    """Smallest load of a member."""
    max: int
    """Largest load of a member."""
    spread: int
    """Largest difference between two members that could share partitions."""
    total: int
    """Sum over all members."""


class ExcessDocument(Record):
    """Excess over limits, and how much of it no plan avoids."""

    brokers: list[ExcessOfBroker]
    """Loads above limits, by broker id and resource."""
    hard: TotalExcess
    """Excess over hard limits."""
    soft: TotalExcess
    """Excess over soft limits."""


class ExcessOfBroker(Record):
    """A load above its limit."""

    broker: int
    """Id of the broker."""
    resource: Literal["disk", "nic_in", "nic_out", "cpu", "replicas", "leaders"]
    """Resource that is limited."""
    value: float
    """The load: bytes, bytes/s, vCPU or a count."""
    limit: float
    """The limit, in the same unit."""
    soft: bool
    """Whether the limit is soft."""


class ExecutedPlanDocument(Record):
    """A plan whose execution was recorded. An error is null if nothing can be compared."""

    id: str
    """Id of the plan, whose `ledger` has its batches."""
    title: str
    """The plan in a few words."""
    cluster: str | None
    """Cluster of the plan."""
    bytes_error: float | None
    """Relative error of the copied bytes."""
    seconds_error: float | None
    """Relative error of the duration."""


class ExecutionDocument(Record):
    """The order of execution under cordons (KIP-1066): since 4.3.2 Kafka rejects every list with a cordoned broker."""

    batches: list[ExecutionStepDocument]
    """Steps of the batches, in the order of execution."""
    rollback: list[ExecutionStepDocument]
    """The inverses of batches, from the last to the first."""
    at_once: list[ExecutionStepDocument]
    """The whole plan as one file, `format=reassignment`."""
    rollback_at_once: list[ExecutionStepDocument]
    """Its inverse, `format=rollback`."""


class ExecutionStepDocument(Record):
    """One step: a batch by its number, or brokers whose log directories are all cordoned or uncordoned."""

    action: Literal["execute", "cordon", "uncordon"]
    """`execute` a file, or `cordon` or `uncordon` all log directories of brokers."""
    batch: int | None
    """Number of the executed batch, from 1; null if the step executes none or the whole plan."""
    brokers: list[int]
    """Broker ids that are cordoned or uncordoned, ascending; empty if the step executes."""


class Exposure(Record):
    """The cost of each loss: racks by name, brokers by ascending id."""

    racks: dict[str, Loss]
    """Cost of losing each rack, by name."""
    brokers: dict[str, Loss]
    """Cost of losing each broker, by id."""


class FailureDocument(Record):
    """Why an assignor or a release has no answer: the behaviour of Kafka's own code."""

    code: str
    """Stable code of the failure, as in a problem document."""
    detail: str
    """The failure in a sentence, with its numbers."""
    kafka_exception: str | None
    """Class name of the exception that Kafka's own code raises; null if it is not known to raise one."""


class FirstToFailDocument(Record):
    """The load that is nearest to its limit, or farthest above it, after the worst loss of a kind. A resource
    without a
    limit has its capacity as limit."""

    loss: Literal["none", "broker", "rack"]
    """The loss: nothing, one broker, or one rack."""
    lost_broker: int | None
    """Id of the lost broker; null if no broker is lost, or no loss adds load."""
    lost_rack: str | None
    """Name of the lost rack; null if no rack is lost, or no loss adds load."""
    broker: int
    """Id of the broker with the load."""
    resource: Literal["disk", "nic_in", "nic_out", "cpu", "replicas", "leaders"]
    """Resource of the load."""
    value: float
    """The load: bytes, bytes/s, vCPU or a count."""
    limit: float
    """The limit of the broker, in the same unit."""
    share: float
    """Load as a share of the limit; it fails above 1."""


class FrontDocument(Record):
    """The feasible scenarios that no other dominates in cost, headroom and cross-rack bytes; cheapest first."""

    items: list[ScenarioDocument]
    """Scenarios that no other dominates, cheapest first."""


class GoalDocument(Record):
    """Result of a goal. The ideal load of a broker is its share of the total by its capacity, or an equal share if
    the capacity of any broker is unknown."""

    goal: Literal["disk", "nic_in", "nic_out", "cpu", "replicas", "leaders", "topic_replicas"]
    """The balanced quantity."""
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


class GroupCrossRack(Record):
    """Bytes/s that a group reads from rack to rack, by the recorded partitions and racks of its members: from
    leaders,
    with `follower_fetching` from a replica in the rack of the member if there is one. They are not in other sums."""

    before_bytes_per_s: int
    """Bytes/s before the plan."""
    after_bytes_per_s: int
    """Bytes/s after the plan."""
    group_id: str
    """Id of the group."""
    unknown_bytes_per_s: int
    """Bytes/s after the plan of which the rack of the member or of the broker is unknown."""
    before_cost_per_month: float | None
    """Cost of a month before the plan, by `prices`; null without a price."""
    after_cost_per_month: float | None
    """Cost of a month after the plan, by `prices`; null without a price."""


class GroupDiffDocument(Record):
    """The partitions whose readers differ, by topic and partition id."""

    summary: Handover
    """Counts over the whole difference, not only its page."""
    items: list[ReaderChange]
    """Differences of the page, in order."""
    next_page_token: str | None
    """Token of the next page; null on the last page."""


class GroupPlanDocument(Record):
    """The assignment after the group has rebalanced. `phases[0].assignment` is the assignor's first answer."""

    id: str
    """Id of the plan, a UUIDv7: later plans have greater ids."""
    kind: str
    """Kind of the plan: `replicas`, `reassignment`, `group`, `streams`, `restart` or `consumers`."""
    title: str
    """The plan's effect, in a few words."""
    summary: str
    """Movement and result in a few words; empty for plans that were stored before there were summaries."""
    status: Literal["proposed", "approved", "executing", "executed", "failed", "superseded"]
    """How far the plan has come, as its callers state it; `proposed` at first."""
    hash: str
    """SHA-256 of the canonical request and the engine version, in hexadecimal; equal hashes mean equal answers."""
    engine_version: int
    """Version of the algorithms that made the plan; a change of any answer increases it."""
    created_at: datetime
    """When the plan was stored, RFC 3339 in UTC."""
    cluster: str | None
    """Cluster of the snapshot that the plan was made on; null if the request listed brokers itself."""
    snapshot_id: str | None
    """Id of the snapshot that the plan was made on; null if the request listed brokers itself."""
    labels: dict[str, str]
    """Labels, name → value, with which plans can be found: from the request, as changed since."""
    prediction: Literal["replay", "envelope", "pinned"]
    """`replay`: the outcome in Kafka for this seed. `envelope`: one outcome of several possible ones. `pinned`:
    nothing is random."""
    seed: int | None
    """Seed of the random generator that was replayed; null if nothing is random."""
    notes: str | None
    """Notes of the callers; null if there are none."""
    history: list[PlanChangeDocument] | None
    """The changes of status, labels and notes, oldest first; the newest 100."""
    kafka: KafkaReleases | None
    """The releases whose code was compared and gives the same answer; null if the plan replays no code of Kafka, or
    the release that it is made for was not compared."""
    compared_kafka_versions: list[ComparedRelease] | None
    """For each of `compare_kafka_versions` its different answers; absent without such releases."""
    request: dict[str, Any]
    """The canonical request: every field with its default, in canonical order."""
    warnings: list[WarningDocument]
    """Conditions that did not prevent the plan; empty if there are none."""
    assignor: str
    """Name of the assignor."""
    protocol: Literal["eager", "cooperative", "reconciled"]
    """How members hand partitions over: all at once, in two phases, or as the coordinator reconciles them."""
    assignment: dict[str, dict[str, list[int]]]
    """Partition ids by member id and topic, once the group has settled."""
    phases: list[PhaseDocument]
    """Rounds of the rebalance, in order."""
    settled: bool
    """Whether the rounds end."""
    locality: LocalityDocument
    """Where partitions are read."""
    traffic: TrafficDocument | None
    """Bytes/s from rack to rack; null if no rate is known, or for a share group; absent from plans of earlier
    releases."""
    loads: LoadsDocument
    """Balance of members, and the load of each."""
    moved: int | None
    """Number of partitions that change members; null if owned partitions do not matter, as in a share group."""
    revoked: int | None
    """Number of partitions that are taken from members that stay; null as `moved`."""
    handover: Handover | None
    """Number of partitions by outcome; null as `moved`."""
    optimum: OptimumDocument | None
    """The optimal assignment to compare with; null for a share group."""
    sharing: SharingDocument | None
    """How partitions are covered; null unless it is a share group."""
    comparison: list[ComparedAssignor]
    """Each assignor of the request, in its order."""
    steps: list[StepDocument]
    """Effect of each event, in order; empty without events."""
    trigger: TriggerDocument | None
    """Whether changes since `previous_snapshot_id` make the leader rebalance; null without one."""
    violations: list[GroupViolation]
    """Ways in which the assignment is illegal or uneven; empty if there are none."""


class GroupViolation(Record):
    """One violation of an assignment, for one topic or, if `topic` is None, for the group."""

    code: GroupViolationCode
    """Stable code of the violation."""
    severity: str
    """`illegal`: a partition is assigned twice, to no member, or to a member that does not subscribe to it.
    `uneven`: legal, and another assignment is more balanced."""
    topic: str | None
    """Name of the topic; null if the violation is of the whole group."""
    count: int
    """Number of partitions, or of members, concerned."""
    partitions: list[int]
    """Ids of the first partitions concerned."""
    members: list[str]
    """Ids of the first members concerned."""
    detail: str
    """The violation in a sentence, with names and numbers."""


class Handover(Record):
    """Numbers of partitions by their handover."""

    kept: int
    """Number of partitions that are assigned to the same member before and after."""
    moved: int
    """Number of partitions that are assigned to one member before and to another one after."""
    taken_up: int
    """Number of partitions that are unassigned before and assigned after."""
    dropped: int
    """Number of partitions that are assigned before and unassigned after."""
    revoked: int
    """Number of partitions that are taken from a member that stays in the group; they are moved or dropped."""


class HeavyKeyDocument(Record):
    """A frequent key, identified by the index of its first occurrence in the request."""

    first_index: int
    """Index in `keys` of the first record with this key, from 0."""
    weight: int
    """Number of records with this key."""
    share: float
    """Share of these in all records."""


class HistogramDocument(Record):
    """The number of values from each edge to the next; the last bin includes its upper edge."""

    edges: list[float]
    """Edges of the bins, ascending, in the unit of the figure; one more than `counts`."""
    counts: list[int]
    """Number of scenarios in each bin."""


class IntervalConsumers(Record):
    """An interval with another number of consumers."""

    interval: int
    """Number of the interval, from 1."""
    before: int | None
    """Number of consumers before; null if there is no such interval."""
    after: int | None
    """Number of consumers after; null if there is no such interval."""


class JobDocument(Record):
    """A job. `plan` is set once `state` is `succeeded`, `error` once it is `failed`."""

    id: str
    """Id of the job, a UUIDv7."""
    kind: str
    """Kind of the plan that the job makes: `replicas`, `reassignment`, `group` or `streams`."""
    state: Literal["queued", "running", "succeeded", "failed", "cancelled"]
    """State of the job; the last three are final."""
    progress: JobProgress | None
    """How far the job is; null unless `state` is `running`."""
    plan: str | None
    """Path of the plan, `/v1/plans/{id}`; null unless `state` is `succeeded`, and again once the plan is deleted."""
    error: dict[str, Any] | None
    """Problem that the request has met; null unless `state` is `failed`."""
    created_at: datetime
    """When the job was accepted, RFC 3339 in UTC."""
    started_at: datetime | None
    """When a worker started the job, RFC 3339 in UTC; null before."""
    finished_at: datetime | None
    """When the job ended, RFC 3339 in UTC; null before."""


class JobProgress(Record):
    """How far a running job is."""

    step: Literal["resolve", "solve", "measure", "compare", "store"]
    """Step in progress: the request and the snapshot become a problem, it is solved, the solution is verified and
    measured, other releases of Kafka are compared, and the plan is stored."""
    steps_done: int
    """Number of complete steps."""
    steps: int
    """Number of all steps. Their durations differ; `solve` usually takes longest."""


class JobsPage(Record):
    """Jobs, newest first."""

    items: list[JobDocument]
    """Jobs of the page."""
    next_page_token: str | None
    """Token of the next page; null on the last page."""


class KafkaGenerateDocument(Record):
    """Movement by `kafka-reassign-partitions --generate` of the release for the same topics on the brokers that may
    receive replicas. It draws a random seed; the runs have the same seeds in every plan."""

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


class KafkaReleases(Record):
    """Releases of Kafka, both included; an end without a patch number is all of its line."""

    from_: str
    """The first release of Kafka with this answer."""
    to: str
    """The last release of Kafka with this answer."""


class KeysDocument(Record):
    """The answer of every partitioner, and the keys on which they differ."""

    keys: int
    """Number of records."""
    partitions: int
    """Number of partitions of the topic."""
    seed: int | None
    """The source of randomness of records without key; present if the request has `null_keys`."""
    partitioners: list[PlacedKeysDocument]
    """Placement by each partitioner, in the order of the request."""
    heaviest_keys: list[HeavyKeyDocument]
    """The most frequent keys, most records first."""
    disagreements: list[Disagreement]
    """Each pair of partitioners, and the keys on which they differ."""


class LargestLoad(Record):
    """The load of the remaining broker that is nearest to its limit, or has the largest load if none is limited."""

    broker: int
    """Id of the broker."""
    value: float
    """Its load while the wave is down: partitions that it leads, bytes/s or vCPU."""
    limit: float | None
    """Its limit in the same unit; null if it has none."""


class LeadersBalance(Record):
    """The leader load of brokers after the plan, and the certificate of the number of leader changes."""

    smallest: int
    """Smallest load of a broker, in the unit of `by`."""
    largest: int
    """Largest load of a broker, in the unit of `by`."""
    by: Literal["count", "ingress"]
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
    preferred_racks: PreferredRacksDocument | None
    """With `preferred_racks`: where leaders are."""
    per_topic: PerTopicLeaders | None
    """Balance of the leaders of each topic; null if the request has none."""
    spread: list[SpreadTopic] | None
    """With `spread_leaders`: each of these topics, by name; by broker set if there are any."""
    weights: list[BrokerWeight] | None
    """Brokers whose leaders are balanced by count, if their weights differ; `low` and `high` then are extremes."""
    solver: str
    """The solver that computed the leaders."""


class LeastMovement(Record):
    """The least to copy; `optimal` if that is proven."""

    moved_replicas: int
    """Number of replicas that have to be copied."""
    moved_bytes: int
    """Bytes that have to be copied, of replicas of known size."""
    optimal: bool
    """Whether the movement is proven to be the least."""


class LeastRepairDocument(Record):
    """The least movement between brokers after which every partition spans as many racks as it can, every hard limit
    holds, and no broker has more bytes than the limits of its log directories together."""

    moved_bytes: int
    """Bytes that are copied, of replicas of known size."""
    moved_replicas: int
    """Number of replicas that are copied."""
    lower_bound_bytes: int
    """No repair moves fewer bytes."""


class LedgerBatchDocument(Record):
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
    """Duration that the plan predicted, less what Kafka's quota lets through at once: whole fetches, and the
    throttle of up to 11 s before the batch in which its brokers sent nothing; null without a prediction, or at
    another throttle than the plan's."""
    actual_seconds: float
    """Duration, up to half of the time between the last two looks at the batch more or less."""


class LedgerDocument(Record):
    """The execution of a plan against its prediction."""

    bytes_error: float | None
    """|actual − predicted| / predicted of the bytes of all batches that can be compared; null if none can."""
    seconds_error: float | None
    """The same of seconds."""
    ended_at: datetime
    """When the last of the batches was seen to be complete."""
    batches: list[LedgerBatchDocument]
    """Batches whose begin and end the log has, by number."""


class LedgerSummaryDocument(Record):
    """Relative errors of the predictions of plans that were executed; null if nothing can be compared."""

    count: int
    """Number of plans whose execution was recorded."""
    bytes_error: ErrorDocument | None
    """Error of the copied bytes, over these plans."""
    seconds_error: ErrorDocument | None
    """Error of the duration, over these plans."""
    plans: list[ExecutedPlanDocument]
    """The newest 100 of them, newest first."""


class ListedShareLink(Record):
    """A link that was made; its addresses are in no answer but the first."""

    id: str
    """Id of the link (UUIDv7)."""
    kind: Literal["plan", "sweep", "cluster"]
    """The kind of page."""
    name: str
    """The id of the plan or sweep, or the name of the cluster."""
    created_by: str | None
    """Name of the API key, or subject of the token, that made it; null if there was none."""
    created_at: datetime
    """When the link was made."""
    expires_at: datetime
    """When the link expires."""


class LoadChange(Record):
    """The load of a resource of a broker on both sides: bytes, bytes/s, vCPU, or a count."""

    before: float | None
    """Load before; null if it is unknown there, as of a broker that only one of two plans has."""
    after: float | None
    """Load after the plan; null if it is unknown."""


class Loads(Record):
    """The balance of members, by each known weight."""

    partitions: EvennessDocument
    """Balance by number of partitions."""
    lag: EvennessDocument | None
    """Balance by records that remain to be read; absent if lags are unknown."""
    bytes_per_s: EvennessDocument | None
    """Balance by bytes/s; absent if rates are unknown."""


class LoadsDocument(Record):
    """The balance of members, and the load of each."""

    partitions: EvennessDocument
    """Balance by number of partitions."""
    lag: EvennessDocument | None
    """Balance by records that remain to be read; absent if lags are unknown."""
    bytes_per_s: EvennessDocument | None
    """Balance by bytes/s; absent if rates are unknown."""
    per_member: list[MemberLoad]
    """Load of each member, in the order of the group."""


class LocalityCounts(Record):
    """Where partitions are read: in a rack with a replica, in another rack, or unknown."""

    in_rack: int
    """Amount that is read in a rack with a replica: partitions, or bytes/s."""
    cross_rack: int
    """Amount that is read from another rack: partitions, or bytes/s."""
    unknown: int
    """Amount whose rack is unknown, as the member or the replicas have none: partitions, or bytes/s."""
    in_rack_share: float | None
    """Share of `in_rack` in `in_rack` + `cross_rack`; null if both are 0."""


class LocalityDocument(Record):
    """Where partitions are read, also by bytes/s if these are known."""

    in_rack: int
    """Amount that is read in a rack with a replica: partitions, or bytes/s."""
    cross_rack: int
    """Amount that is read from another rack: partitions, or bytes/s."""
    unknown: int
    """Amount whose rack is unknown, as the member or the replicas have none: partitions, or bytes/s."""
    in_rack_share: float | None
    """Share of `in_rack` in `in_rack` + `cross_rack`; null if both are 0."""
    bytes_per_s: LocalityCounts | None
    """The same in bytes/s; absent if the rates are unknown."""


class LogDirDocument(Record):
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


class LogDirOverLimit(Record):
    """A log directory above its limit."""

    broker: int
    """Id of the broker."""
    log_dir: str
    """Path of the directory."""
    value: int
    """Bytes of its replicas."""
    limit: int
    """Bytes that it may have."""


class LogDirProgressDocument(Record):
    """A replica that has not moved to its planned log directory."""

    broker: int
    """Id of its broker."""
    state: Literal["in_progress", "failed"]
    """`failed`: it is neither in the planned directory nor moving there."""
    planned: str | None
    """Path of the planned directory; null if the output does not have it."""


class LogDirsDocument(Record):
    """Moves between log directories of the same broker, and their certificate. Replicas from other brokers are in
    `certificate` alone."""

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


class Loss(Record):
    """The cost of losing one broker or one rack, before anything is moved."""

    leaders: int
    """Partitions whose preferred leader is lost; another replica has to lead."""
    partitions_reduced: int
    """Partitions that lose at least one replica."""
    partitions_offline: int
    """Partitions that lose every replica."""


class LossCounts(Record):
    """Numbers of partitions that the loss of one rack or broker affects, without those already offline or
    unwritable."""

    offline: int
    """Partitions that lose their leader and have no other in-sync replica."""
    unwritable: int | None
    """Partitions that are left with fewer in-sync replicas than `min.insync.replicas`, so that producers with
    `acks=all` cannot write; null if it is unknown for all partitions."""
    at_min_isr: int | None
    """Partitions that are left with exactly `min.insync.replicas` in-sync replicas; null likewise."""
    leaders_moved: int
    """Partitions that another replica has to lead."""
    fewer_replicas: int
    """Partitions that lose at least one replica."""


class LossDocument(Record):
    """The effect of losing clients: tasks without a copy, tasks that a copy takes over, and moved stateless tasks."""

    clients: int
    """Number of lost clients."""
    without_survivor: list[str]
    """Ids of stateful tasks that lose every copy, ascending."""
    promoted: list[PromotedTask]
    """Stateful tasks that another copy takes over, by task id."""
    moved: list[str]
    """Ids of stateless tasks that other clients take over, ascending."""


class Losses(Record):
    """The cost of each loss: of racks by name, of brokers by id, and of pairs of brokers."""

    racks: dict[str, LossCounts]
    """Cost of losing each rack, by name."""
    brokers: dict[str, LossCounts]
    """Cost of losing each broker, by id."""
    pairs: PairLosses | None
    """Cost of losing two brokers; null with more than 2,000 live brokers."""
    during_restart: RestartLosses | None
    """A failure during a restart; null with more than 2,000 live brokers."""
    min_isr_unknown: int
    """Partitions whose `min.insync.replicas` is unknown, which count as writable until they are offline."""
    log_dirs: dict[str, dict[str, LossCounts]] | None
    """Cost of losing each log directory, by broker id and path; null unless a cluster is checked as it is, and its
    directories are known."""


class MeasuresBefore(Record):
    """The measures before the plan."""

    rack_safe_share: float | None
    """Share of partitions that span min(replicas, racks) racks; null if no broker has a rack."""
    replicas: Spread
    """Replicas of brokers."""
    leaders: Spread
    """Preferred leaders of brokers."""
    losses: Losses | None
    """Cost of each loss; absent from plans of earlier releases."""
    copysets: Copysets | None
    """Distinct replica sets, and the odds that simultaneous losses contain one; absent likewise."""


class MemberLoad(Record):
    """The load of one member."""

    member_id: str
    """Id of the member."""
    group_instance_id: str | None
    """Its `group.instance.id`; null if it is a dynamic member."""
    rack_id: str | None
    """Its `client.rack`; null if it has none."""
    partitions: int
    """Number of partitions that it reads."""
    lag: int | None
    """Records that remain to be read; absent if lags are unknown."""
    bytes_per_s: int | None
    """Bytes/s that it reads; absent if rates are unknown."""
    in_rack: int
    """Number of its partitions with a replica in its rack."""
    cross_rack: int
    """Number of its partitions without a replica in its rack."""
    unknown: int
    """Number of its partitions whose racks, or its own, are unknown."""


class MemberTasksDocument(Record):
    """The tasks of one member of a streams group."""

    active: list[str]
    """Ids of tasks that the member runs, ascending."""
    standby: list[str]
    """Ids of tasks of which the member has a standby, ascending."""


class MemberTraffic(Record):
    """Bytes/s of a member."""

    bytes_per_s: float
    """Bytes/s that are read."""
    cross_rack_bytes_per_s: float
    """Bytes/s of these that are read from another rack."""
    unknown_bytes_per_s: float
    """Bytes/s of these of which a rack is unknown."""
    member_id: str
    """Id of the member."""


class MembersPerPartition(Record):
    """Members of a partition of a share group."""

    min: int
    """Smallest number of members of a partition."""
    max: int
    """Largest number of members of a partition."""


class MinimumDocument(Record):
    """The least movement to the same end: as many replicas of each partition, the same brokers emptied, and, where
    the
    reassignment leaves every partition so, spread over racks. `as_even` keeps replicas as even over brokers, too."""

    moved_replicas: int
    """Number of replicas that have to be copied."""
    moved_bytes: int
    """Bytes that have to be copied, of replicas of known size."""
    optimal: bool
    """Whether the movement is proven to be the least."""
    as_even: LeastMovement
    """The least movement if replicas stay as balanced over brokers as in the reassignment, too."""
    minimised: Literal["bytes", "replicas"]
    """Whether bytes are minimised, or replicas, as when the size of any partition is unknown."""
    emptied_brokers: list[int]
    """Ids of brokers that the reassignment empties, ascending; the minimum empties them as well."""
    spread_over_racks: bool
    """Whether the minimum spreads every partition over racks, as the reassignment does."""


class MovedPartition(Record):
    """A partition."""

    topic: str
    """Name of the topic."""
    partition: int
    """Id of the partition in its topic."""


class MovementRange(Record):
    """The movement of several runs; the median is one run's."""

    min: int
    """Smallest amount of a run."""
    median: int
    """Amount of the median run."""
    max: int
    """Largest amount of a run."""


class NullKeyPolicyDocument(Record):
    """A policy for records without key."""

    name: str
    """Name of the policy."""
    summary: str
    """How the policy places records."""


class OptimumDocument(Record):
    """The optimal assignment of the group, given the partitions that its members own."""

    in_rack: int
    """Amount that is read in a rack with a replica: partitions, or bytes/s."""
    cross_rack: int
    """Amount that is read from another rack: partitions, or bytes/s."""
    unknown: int
    """Amount whose rack is unknown, as the member or the replicas have none: partitions, or bytes/s."""
    in_rack_share: float | None
    """Share of `in_rack` in `in_rack` + `cross_rack`; null if both are 0."""
    bytes_per_s: LocalityCounts | None
    """The same in bytes/s; absent if the rates are unknown."""
    balance: Literal["partitions", "lag", "bytes_per_s"]
    """Load that is balanced among members."""
    moved: int
    """Number of partitions that change members."""
    spread: int
    """Spread of the balanced load over members."""
    largest_load: int | None
    """Largest balanced load of a member; absent if partitions are balanced."""
    certificate: CertificateDocument
    """Bounds of each goal, and whether they are reached."""


class OverLimitDocument(Record):
    """A broker above the limit of a resource."""

    broker: int
    """Id of the broker."""
    resource: Literal["disk", "nic_in", "nic_out", "cpu", "replicas", "leaders"]
    """Resource that is limited."""
    value: float
    """Its load: bytes, bytes/s, vCPU or a count."""
    limit: float
    """The limit of the broker, in the same unit."""


class OversizedPartition(Record):
    """A partition above the capacity of a consumer, which has a consumer of its own, and the remedy."""

    topic: str
    """Name of the topic."""
    partition: int
    """Id of the partition."""
    bytes_per_s: int
    """Its largest rate: a consumer with this capacity could read it."""
    intervals: int
    """Number of intervals in which it exceeds the capacity."""
    partitions_needed: int
    """Partitions of the topic with which its share fits, if its keys spread; `/v1/keys` states which keys move."""


class PairLosses(Record):
    """The loss of each two live brokers."""

    pairs: int
    """Number of pairs of live brokers."""
    unwritable_pairs: int | None
    """Pairs without which a partition cannot be written; null if `min.insync.replicas` is unknown for all."""
    offline_pairs: int
    """Pairs without which a partition is offline."""
    worst: list[WorstPair]
    """The pairs without which most partitions cannot be written, at most 10; then by offline partitions and ids."""


class PartitionChange(Record):
    """One partition that differs. `before` is None if it is new, `after` if it is removed."""

    topic: str
    """Name of the topic."""
    partition: int
    """Id of the partition in its topic."""
    before: list[int] | None
    """Broker ids before, the preferred leader first; null if the partition is new."""
    after: list[int] | None
    """Broker ids after, the preferred leader first; null if the partition is removed."""
    adding_replicas: list[int]
    """Broker ids that are only in `after`, in its order."""
    removing_replicas: list[int]
    """Broker ids that are only in `before`, in its order."""
    preferred_leader_changes: bool
    """Whether the first replica differs."""


class PartitionDocument(Record):
    """One partition of a plan."""

    topic: str
    """Name of the topic."""
    partition: int
    """Id of the partition in its topic."""
    leader: int
    """Broker id of the preferred leader, which is the first replica."""
    replicas: list[int]
    """Broker ids, the preferred leader first."""
    unassigned: int | None
    """Number of unassigned replicas; present if there are any."""


class PartitionProgressDocument(Record):
    """A partition whose reassignment is not complete."""

    topic: str
    """Name of the topic."""
    partition: int
    """Id of the partition."""
    state: Literal["in_progress", "failed"]
    """`failed`: no reassignment of it is active, and its replicas or their log directories are not the planned ones."""
    replicas: list[int] | None
    """Ids of the brokers with a replica in the snapshot, preferred leader first; null if it lacks the partition."""
    planned: list[int] | None
    """Ids of the planned brokers, preferred leader first; null if they are unknown."""
    log_dirs: list[LogDirProgressDocument]
    """Its replicas that have not moved to their planned log directories."""


class PartitionTransfer(Record):
    """One partition that differs. `before` is None if it is new; `size_bytes` if it is unknown."""

    topic: str
    """Name of the topic."""
    partition: int
    """Id of the partition in its topic."""
    before: list[int] | None
    """Broker ids before, the preferred leader first; null if the partition is new."""
    after: list[int]
    """Broker ids after, the preferred leader first."""
    adding_replicas: list[int]
    """Broker ids that are only in `after`, in its order."""
    removing_replicas: list[int]
    """Broker ids that are only in `before`, in its order."""
    preferred_leader_changes: bool
    """Whether the first replica differs."""
    size_bytes: int | None
    """Bytes of one replica; null if the size is unknown."""
    racks_before: int
    """Number of racks that the replicas span before."""
    racks_after: int
    """Number of racks that the replicas span after."""


class PartitionerDocument(Record):
    """A partitioner. `null_keys` is the policy for records without key; null if it hashes them as an empty key."""

    name: str
    """Name of the partitioner, as requests have it."""
    summary: str
    """Formula of the partitioner."""
    null_keys: str | None
    """Policy for records without key; null if they are hashed as an empty key."""
    empty_is_null: bool
    """Whether an empty key counts as none."""


class PartitionersDocument(Record):
    """Partitioners, policies, and the default of each client."""

    partitioners: list[PartitionerDocument]
    """Partitioners, in the order of the registry."""
    null_key_policies: list[NullKeyPolicyDocument]
    """Policies for records without key, in the order of the registry."""
    clients: list[ClientDocument]
    """Default of each client library, by library and version."""


class PartitionsDocument(Record):
    """A page of partitions, in the order of the request's topics (of a group: by name) and by id; of tasks or waves."""

    items: (
        list[PartitionDocument]
        | list[ReadPartitionDocument]
        | list[PlannedTaskDocument]
        | list[PlannedWaveDocument]
        | list[ScaledPartitionDocument]
    )
    """Partitions, tasks or waves of the page."""
    total: int
    """Number of partitions or tasks on all pages."""
    next_page_token: str | None
    """Token of the next page; null on the last page."""


class PartitionsNeeded(Record):
    """How many partitions a topic needs until the end of the horizon."""

    topic: str
    """Name of the topic."""
    partitions: int
    """The fewest partitions, a multiple of the number of racks of the cluster; they cannot be reduced later."""
    current: int
    """Number of partitions of the series."""
    lasts_months: int | None
    """Whole months until the largest partition exceeds a consumer; null if it never does."""


class PauseDocument(Record):
    """The partitions that no member reads during the rebalances of a step. Time until a rebalance begins, such as
    the session timeout of a failed member, is not included."""

    partitions: int
    """Number of partitions that are revoked from a member and assigned afterwards. Eager members revoke all."""
    seconds: float
    """The longest time that one of them has no member: `rebalance_seconds`, for each rebalance that revokes it."""
    is_default: bool
    """Whether the request has no `rebalance_seconds`."""
    lag_bytes: int | None
    """Bytes that producers write to them meanwhile; null if a rate is unknown."""


class PerBroker(Record):
    """A count for each broker, by ascending id; `spread` is max - min; all are 0 if there is no broker."""

    min: int
    """Smallest count of a broker."""
    max: int
    """Largest count of a broker."""
    spread: int
    """Largest count minus the smallest."""
    per_broker: dict[str, int]
    """Count of each broker by its id, ascending."""


class PerTopicBalance(Record):
    """The balance of each topic."""

    topics: int
    """Number of topics that are balanced."""
    excess: int
    """Number of replicas by which topics are outside their bands, summed over brokers; the fewest possible."""
    worst: list[TopicEnds]
    """The topics with the widest range of replicas after the plan, then before it; 20 at most."""


class PerTopicLeaders(Record):
    """The balance of the leaders of each topic."""

    topics: int
    """Number of topics that are balanced."""
    excess: int
    """Number of leaders by which topics are outside their bands, summed over brokers; the fewest possible."""
    worst: list[TopicEnds]
    """The topics with the widest range of leaders after the plan, then before it; 20 at most."""


class PhaseDocument(Record):
    """One round of joining and assigning; `pending` partitions were revoked and are assigned by the next one."""

    assignment: dict[str, dict[str, list[int]]]
    """Partition ids by member id and topic after the round."""
    revoked: int
    """Number of partitions that members give up in the round."""
    added: int
    """Number of partitions that members get in the round."""
    pending: int
    """Number of revoked partitions that the next round assigns."""


class PlacedKeysDocument(Record):
    """The placement of one partitioner.

    The policy `null_keys` places records that have no key for the partitioner: their partition is null unless the
    request has `null_keys`. The skew counts every record that has a partition; resizes count only records with a
    key."""

    partitioner: str
    """Name of the partitioner."""
    partition_by_key: list[int | None]
    """Partition id of each of `keys`, in their order; null for a record without a partition."""
    without_key: int
    """Number of records without key."""
    null_keys: str | None
    """Policy that places records without key; null if the partitioner hashes them as an empty key."""
    kafka: KafkaReleases | None
    """The releases of Kafka's Java client whose default this is; null if the requested one is not among them, and
    for other clients."""
    cross_rack: CrossRackBytes | None
    """Bytes by the rack of the leader; `cross_rack_otherwise`: bytes across racks with `rack_aware` the other way.
    Null if the racks of leaders are unknown."""
    skew: SkewDocument
    """Balance of records over partitions."""
    resizes: list[Resize]
    """Effect of each of `compare_partitions`, in their order."""


class PlacedTopic(Record):
    """The replicas of one topic: row i is partition `first_partition_id` + i, its preferred leader first."""

    name: str
    """Name of the topic."""
    first_partition_id: int
    """Id of the partition in the first row of `replicas`; 0 for a new topic."""
    replicas: list[list[int]]
    """Broker ids, a row for each partition by ascending id, the preferred leader first."""


class PlacementMeasures(Record):
    """The measures that every plan reports."""

    partitions: int
    """Number of partitions."""
    leaders: PerBroker
    """Preferred leaders of each broker."""
    replicas: PerBroker
    """Replicas of each broker."""
    racks_per_partition: RacksPerPartition | None
    """Number of racks that partitions span; null if no broker has a rack."""
    rack_safe_share: float | None
    """Share of partitions that span min(replicas, racks) racks; 1.0 if there are none, null without racks."""
    exposure: Exposure
    """Cost of losing each broker and each rack."""
    losses: Losses | None
    """Cost of each loss with the in-sync replicas that writes need, exact; absent from plans of earlier releases."""
    copysets: Copysets | None
    """Distinct replica sets, and the odds that simultaneous losses contain one; absent likewise."""


class PlanChangeDocument(Record):
    """A change of status, labels or notes; fields that did not change are absent."""

    at: datetime
    """When it was changed, RFC 3339 in UTC."""
    by: str
    """Name of the API key that changed it; `anyone` while the service has no keys."""
    status: Literal["proposed", "approved", "executing", "executed", "failed", "superseded"] | None
    """The new status."""
    labels: dict[str, str] | None
    """The new labels, all of them."""
    notes: str | None
    """The new notes; null if they were removed."""


class PlanDocument(Record):
    """An immutable plan, with its request."""

    id: str
    """Id of the plan, a UUIDv7: later plans have greater ids."""
    kind: str
    """Kind of the plan: `replicas`, `reassignment`, `group`, `streams`, `restart` or `consumers`."""
    title: str
    """The plan's effect, in a few words."""
    summary: str
    """Movement and result in a few words; empty for plans that were stored before there were summaries."""
    status: Literal["proposed", "approved", "executing", "executed", "failed", "superseded"]
    """How far the plan has come, as its callers state it; `proposed` at first."""
    hash: str
    """SHA-256 of the canonical request and the engine version, in hexadecimal; equal hashes mean equal answers."""
    engine_version: int
    """Version of the algorithms that made the plan; a change of any answer increases it."""
    created_at: datetime
    """When the plan was stored, RFC 3339 in UTC."""
    cluster: str | None
    """Cluster of the snapshot that the plan was made on; null if the request listed brokers itself."""
    snapshot_id: str | None
    """Id of the snapshot that the plan was made on; null if the request listed brokers itself."""
    labels: dict[str, str]
    """Labels, name → value, with which plans can be found: from the request, as changed since."""
    prediction: Literal["replay", "envelope", "pinned"]
    """`replay`: the outcome in Kafka for this seed. `envelope`: one outcome of several possible ones. `pinned`:
    nothing is random."""
    seed: int | None
    """Seed of the random generator that was replayed; null if nothing is random."""
    notes: str | None
    """Notes of the callers; null if there are none."""
    history: list[PlanChangeDocument] | None
    """The changes of status, labels and notes, oldest first; the newest 100."""
    kafka: KafkaReleases | None
    """The releases whose code was compared and gives the same answer; null if the plan replays no code of Kafka, or
    the release that it is made for was not compared."""
    compared_kafka_versions: list[ComparedRelease] | None
    """For each of `compare_kafka_versions` its different answers; absent without such releases."""
    request: dict[str, Any]
    """The canonical request: every field with its default, in canonical order."""
    warnings: list[WarningDocument]
    """Conditions that did not prevent the plan; empty if there are none."""
    envelope: list[EnvelopeDocument] | None
    """Bounds over all outcomes for each topic; null unless `prediction` is `envelope`."""
    measures: PlacementMeasures | AwareMeasures
    """Balance over brokers, rack safety and the cost of each loss."""
    unassigned: list[UnassignedDocument] | None
    """Of awareness: topics with unassigned replicas."""
    scatter_width: int | None
    """Of copysets: least number of other brokers with which a broker shares the sets of the largest replication
    factor, if every set has partitions."""
    front: list[CopysetsChoice] | None
    """Of copysets, if requested: the choices by ascending scatter width, for the largest replication factor."""
    violations: list[Violation]
    """Ways in which the placement is illegal or fragile, by topic; empty if there are none."""
    topics: list[PlacedTopic]
    """Placed topics, in the order of the request."""


class PlanProgressDocument(Record):
    """Progress of a reassignment at a later snapshot, and the files to go on or back from there."""

    plan_id: str
    """Id of the plan."""
    snapshot_id: str
    """Id of the snapshot that the progress is computed from."""
    state: Literal["not_started", "in_progress", "done", "drifted"]
    """`drifted`: something else has changed partitions that the plan moves or creates."""
    batches: list[BatchProgressDocument]
    """Batches, in the order of execution."""
    replicas_left: int
    """Number of replicas to copy that are not in sync yet."""
    bytes_left: int
    """Bytes of these replicas, each as a whole, of those of known size."""
    unknown_size_replicas_left: int
    """Number of these replicas whose size is unknown."""
    seconds_left: float | None
    """Remaining duration, batch after batch, at the throttle of the plan; null if it is unknown."""
    new_partitions: int
    """Number of partitions that the plan creates."""
    new_partitions_left: int
    """Number of these partitions that the snapshot lacks."""
    returning_partitions: int
    """Number of partitions that are being reassigned back to their lists before the plan."""
    drift: list[Drift]
    """The first 100 partitions that something else has changed: the plan's, then others of the cluster, by topic and
    partition id."""
    drifted_partitions: int
    """Number of partitions of the plan that something else has changed."""
    drifted_other_partitions: int
    """Number of other partitions that are not as in the plan's snapshot; they do not count for `state`."""
    next: str | None
    """The first batch with partitions to be requested of Kafka, as `batch/3`; null if no batch has any."""
    next_file: str | None
    """Path of the file with these partitions; null without a batch."""
    rollback: str | None
    """Path of the file with the previous lists of all partitions that have others now; null if none has."""
    rollback_execution: list[ExecutionStepDocument]
    """The same in batches: inverses of those that were begun, from the last to the first, each the file
    `format=batch&inverse=true` with `from`, and the cordons in between; empty if none was begun."""
    ledger: LedgerDocument | None
    """The execution against its prediction; null if no log of it was recorded."""
    warnings: list[WarningDocument]
    """Conditions that did not prevent the answer; empty if there are none."""


class PlanSummary(Record):
    """A plan without its assignments."""

    id: str
    """Id of the plan, a UUIDv7: later plans have greater ids."""
    kind: str
    """Kind of the plan: `replicas`, `reassignment`, `group`, `streams`, `restart` or `consumers`."""
    title: str
    """The plan's effect, in a few words."""
    summary: str
    """Movement and result in a few words; empty for plans that were stored before there were summaries."""
    status: Literal["proposed", "approved", "executing", "executed", "failed", "superseded"]
    """How far the plan has come, as its callers state it; `proposed` at first."""
    hash: str
    """SHA-256 of the canonical request and the engine version, in hexadecimal; equal hashes mean equal answers."""
    engine_version: int
    """Version of the algorithms that made the plan; a change of any answer increases it."""
    created_at: datetime
    """When the plan was stored, RFC 3339 in UTC."""
    cluster: str | None
    """Cluster of the snapshot that the plan was made on; null if the request listed brokers itself."""
    snapshot_id: str | None
    """Id of the snapshot that the plan was made on; null if the request listed brokers itself."""
    labels: dict[str, str]
    """Labels, name → value, with which plans can be found: from the request, as changed since."""
    prediction: Literal["replay", "envelope", "pinned"]
    """`replay`: the outcome in Kafka for this seed. `envelope`: one outcome of several possible ones. `pinned`:
    nothing is random."""
    seed: int | None
    """Seed of the random generator that was replayed; null if nothing is random."""


class PlannedTaskDocument(Record):
    """One task of a Streams plan and its clients; `standby` includes warm-ups."""

    task: str
    """Id of the task, `<subtopology>_<partition>`."""
    active: str | None
    """Process id of the client that runs it; null if no client does."""
    standby: list[str]
    """Process ids of the clients with a standby or warm-up of it."""


class PlannedWaveDocument(Record):
    """One wave of a restart."""

    wave: int
    """Number of the wave, from 1."""
    brokers: list[int]
    """Ids of the brokers that are restarted in it, ascending."""


class PlansPage(Record):
    """Plans, newest first."""

    items: list[PlanSummary]
    """Plans without their assignments, newest first."""
    next_page_token: str | None
    """Token of the next page; null on the last page."""


class PreferredRacksDocument(Record):
    """Partitions with preferred racks, by the rack of their leader."""

    first: int
    """Number of partitions led in the first rack of their list."""
    other_listed: int
    """Number of partitions led in another rack of their list."""
    elsewhere: int
    """Number of partitions led in none of these racks."""


class PriceDocument(Record):
    """The price of traffic."""

    cross_rack_per_gib: float
    """Price of a GiB from rack to rack."""
    is_default: bool
    """Whether the request has no `prices`."""


class ProgressDocument(Record):
    """The progress of a reassignment, by the output of `--verify`."""

    complete: int
    """Number of partitions with the planned replicas, in the planned log directories."""
    in_progress: int
    """Number of partitions that are still being reassigned, or of which replicas move between log directories."""
    failed: int
    """Number of partitions without an active reassignment and without the planned replicas, or of which a replica is
    neither in its planned log directory nor moving there."""
    not_reported: int
    """Number of planned partitions that the output does not have."""
    partitions: list[PartitionProgressDocument]
    """The first 100 partitions that are not complete, in the order of the output."""


class PromotedTask(Record):
    """A task that another copy takes over, and the smallest lag of its copies; null if it is unknown."""

    task: str
    """Id of the task, `<subtopology>_<partition>`."""
    survivor_lag: int | None
    """Smallest lag of the remaining copies, in offsets; null if it is unknown."""


class QuotaDocument(Record):
    """A quota and its use."""

    used: int
    """Present number."""
    limit: int | None
    """Largest number that is allowed; null if there is no limit."""


class RackAwareDocument(Record):
    """KIP-925: whether it is on, and the partitions that active tasks read across racks, beside the fewest possible.

    The plan shows Kafka's own optimum, replayed; an exact flow over as many tasks a client finds the fewest."""

    on: bool
    """Whether Kafka assigns by racks."""
    shows: Literal["replay"]
    """The plan has Kafka's own optimum, replayed."""
    why_off: str | None
    """Why Kafka does not assign by racks; null if it does or it is unknown."""
    sources_across_racks: int | None
    """Number of source partitions that active tasks read across racks; null if it is off."""
    fewest_possible: int | None
    """Smallest possible number of these; null if it is off."""
    solver: str | None
    """The solver that computed it; null if it is off."""


class RackPairTraffic(Record):
    """Bytes/s from brokers of a rack to members of a rack; also within one rack."""

    from_: str | None
    """Rack of the brokers; null if it is unknown."""
    to: str | None
    """Rack of the members; null if it is unknown."""
    bytes_per_s: float
    """Bytes/s that are read."""


class RacksPerPartition(Record):
    """Number of distinct racks that partitions span; `partitions` counts partitions by that number."""

    min: int
    """Smallest number that a partition spans."""
    max: int
    """Largest number that a partition spans."""
    partitions: dict[str, int]
    """Number of partitions by the number that they span."""


class ReadPartitionDocument(Record):
    """One partition of a group plan and its readers: one member at most, except in share groups."""

    topic: str
    """Name of the topic."""
    partition: int
    """Id of the partition in its topic."""
    members: list[str]
    """Ids of the members that read it; empty if no member does."""


class ReaderChange(Record):
    """One partition whose readers differ, by their ids; None on a side without a reader."""

    topic: str
    """Name of the topic."""
    partition: int
    """Id of the partition in its topic."""
    before: list[str] | None
    """Ids of the members that read it before; null if none does."""
    after: list[str] | None
    """Ids of the members that read it after; null if none does."""


class ReadsDocument(Record):
    """Partitions read, those read across racks, and those whose racks are unknown."""

    partitions: int
    """Number of partitions that are read."""
    cross_rack: int
    """Number of partitions without a replica in the client's rack."""
    unknown: int
    """Number of partitions whose racks, or the client's, are unknown."""


class Ready(Record):
    """The state of each dependency: `ok`, or the error."""

    status: str
    """`ok`, or `unavailable` if `database`, `queue`, `spark` or `slots` fails."""
    checks: dict[str, str]
    """Result of each check by name: `ok`, another state in which requests are served, or the failure."""


class ReassignmentDiffDocument(Record):
    """The partitions that differ, by topic and partition id, with the racks that they span."""

    summary: ReassignmentDiffSummary
    """Counts over the whole difference, not only its page."""
    items: list[PartitionTransfer]
    """Differences of the page, in order."""
    next_page_token: str | None
    """Token of the next page; null on the last page."""


class ReassignmentDiffSummary(Record):
    """Counts of differences over all of a cluster; bytes count only replicas of known size."""

    partitions: int
    """Number of partitions that either assignment has."""
    partitions_added: int
    """Number of partitions that only the second assignment has."""
    partitions_removed: int
    """Number of partitions that only the first assignment has."""
    partitions_changed: int
    """Number of partitions whose replica lists differ, in members or in order."""
    replicas_added: int
    """Number of replicas that only the second assignment has; Kafka copies them."""
    replicas_removed: int
    """Number of replicas that only the first assignment has."""
    preferred_leaders_changed: int
    """Number of partitions whose first replica differs."""
    moved_bytes: int
    """Bytes of the replicas added, of known sizes only."""
    unknown_size_replicas: int
    """Number of added replicas of unknown size."""
    brokers: list[BrokerTransfer]
    """By ascending id."""
    flows: list[BrokerFlow]
    """The largest first, 1,000 at most."""
    flows_in_all: int
    """Number of flows, listed or not."""
    loads: dict[str, dict[str, LoadChange]] | None
    """By broker id and resource, as each plan states its loads; null against another snapshot."""
    cross_rack: CrossRackChange | None
    """Bytes/s between racks, as each plan states them; null if either does not."""


class ReassignmentPlanDocument(Record):
    """A change of a cluster with the least movement, in batches, with its certificate."""

    id: str
    """Id of the plan, a UUIDv7: later plans have greater ids."""
    kind: str
    """Kind of the plan: `replicas`, `reassignment`, `group`, `streams`, `restart` or `consumers`."""
    title: str
    """The plan's effect, in a few words."""
    summary: str
    """Movement and result in a few words; empty for plans that were stored before there were summaries."""
    status: Literal["proposed", "approved", "executing", "executed", "failed", "superseded"]
    """How far the plan has come, as its callers state it; `proposed` at first."""
    hash: str
    """SHA-256 of the canonical request and the engine version, in hexadecimal; equal hashes mean equal answers."""
    engine_version: int
    """Version of the algorithms that made the plan; a change of any answer increases it."""
    created_at: datetime
    """When the plan was stored, RFC 3339 in UTC."""
    cluster: str | None
    """Cluster of the snapshot that the plan was made on; null if the request listed brokers itself."""
    snapshot_id: str | None
    """Id of the snapshot that the plan was made on; null if the request listed brokers itself."""
    labels: dict[str, str]
    """Labels, name → value, with which plans can be found: from the request, as changed since."""
    prediction: Literal["replay", "envelope", "pinned"]
    """`replay`: the outcome in Kafka for this seed. `envelope`: one outcome of several possible ones. `pinned`:
    nothing is random."""
    seed: int | None
    """Seed of the random generator that was replayed; null if nothing is random."""
    notes: str | None
    """Notes of the callers; null if there are none."""
    history: list[PlanChangeDocument] | None
    """The changes of status, labels and notes, oldest first; the newest 100."""
    kafka: KafkaReleases | None
    """The releases whose code was compared and gives the same answer; null if the plan replays no code of Kafka, or
    the release that it is made for was not compared."""
    compared_kafka_versions: list[ComparedRelease] | None
    """For each of `compare_kafka_versions` its different answers; absent without such releases."""
    request: dict[str, Any]
    """The canonical request: every field with its default, in canonical order."""
    warnings: list[WarningDocument]
    """Conditions that did not prevent the plan; empty if there are none."""
    certificate: CertificateDocument
    """The movement, and the proof that no plan within the constraints moves less."""
    leader_changes: int
    """Number of partitions whose preferred leader changes."""
    not_preferred: int
    """Partitions that are led by another replica than the preferred leader before the plan."""
    balance: BalanceDocument
    """Load of brokers before and after the plan."""
    batches: list[BatchDocument]
    """Steps of the plan, in the order of execution."""
    recommended_throttle_bytes_per_s: int | None
    """Least of 1, 2, 5, 10, … bytes per second that is twice the rate of writes to the partitions which one broker
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
    """Movement of each broker, by ascending broker id."""
    loads: dict[str, BrokerLoads]
    """By broker id, the load of each resource whose loads are known, before and after the plan, and after losses."""
    cross_rack: CrossRackDocument | None
    """Bytes/s between racks; null without ingress rates, or with fewer than two racks."""
    excess: ExcessDocument | None
    """Loads above limits, if limits are soft or conflicts relaxed; null if every limit holds."""
    log_dirs: LogDirsDocument | None
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
    topics: list[PlacedTopic]
    """Topics whose partitions may move, with the replicas of all their partitions after the plan."""
    ledger: LedgerDocument | None
    """The execution against its prediction; absent until its log was recorded."""


class RebalanceDocument(Record):
    """A rebalance, until no member has to revoke a partition; not `settled` if that does not happen."""

    settled: bool
    """Whether the rounds end."""
    phases: list[PhaseDocument]
    """Rounds of the rebalance, in order."""


class RebalancingGroup(Record):
    """A group that rebalances when a batch is complete, since a topic that it reads has replicas in other racks."""

    group_id: str
    """Id of the group."""
    batch: int
    """Number of the batch, from 1."""


class RelaxedConstraint(Record):
    """A constraint that was relaxed."""

    constraint: str
    """Name of the constraint."""
    detail: str
    """Why it was relaxed, in a sentence."""


class ReplicasBalance(Record):
    """The replica load of brokers after the plan. `low` and `high` are the load band; null without one."""

    smallest: int
    """Smallest load of a broker, in the unit of `by`."""
    largest: int
    """Largest load of a broker, in the unit of `by`."""
    by: Literal["count", "bytes", "throughput"]
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
    weights: list[BrokerWeight] | None
    """Brokers that are balanced, if their weights differ; `low` and `high` then are extremes."""


class Resize(Record):
    """Keys under two partition counts; shares are of the keys that have a partition under both."""

    partitions_before: int
    """Partition count of the request."""
    partitions_after: int
    """The other partition count."""
    keys: int
    """Number of keys that have a partition under both counts."""
    moved_keys: int
    """Number of keys that change partition."""
    moved_share: float
    """Share of keys that change partition."""
    expected_moved_share: float
    """Share of keys that change partition if the hash is uniform."""
    moved_weight_share: float
    """Share of the weights; of the keys if there are no weights."""


class ResourceLoadDocument(Record):
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


class RestartDiffDocument(Record):
    """The brokers whose wave differs, by id."""

    summary: WaveCounts
    """Counts over the whole difference, not only its page."""
    items: list[BrokerWave]
    """Differences of the page, in order."""
    next_page_token: str | None
    """Token of the next page; null on the last page."""


class RestartLosses(Record):
    """One live broker restarts while another one fails, each two equally likely."""

    share_of_failures_unwritable: float | None
    """Share of such failures after which a partition cannot be written until the broker is back; null if
    `min.insync.replicas` is unknown for all partitions, or with fewer than two live brokers."""


class RestartPlanDocument(Record):
    """The waves of a restart, in the order of execution."""

    id: str
    """Id of the plan, a UUIDv7: later plans have greater ids."""
    kind: str
    """Kind of the plan: `replicas`, `reassignment`, `group`, `streams`, `restart` or `consumers`."""
    title: str
    """The plan's effect, in a few words."""
    summary: str
    """Movement and result in a few words; empty for plans that were stored before there were summaries."""
    status: Literal["proposed", "approved", "executing", "executed", "failed", "superseded"]
    """How far the plan has come, as its callers state it; `proposed` at first."""
    hash: str
    """SHA-256 of the canonical request and the engine version, in hexadecimal; equal hashes mean equal answers."""
    engine_version: int
    """Version of the algorithms that made the plan; a change of any answer increases it."""
    created_at: datetime
    """When the plan was stored, RFC 3339 in UTC."""
    cluster: str | None
    """Cluster of the snapshot that the plan was made on; null if the request listed brokers itself."""
    snapshot_id: str | None
    """Id of the snapshot that the plan was made on; null if the request listed brokers itself."""
    labels: dict[str, str]
    """Labels, name → value, with which plans can be found: from the request, as changed since."""
    prediction: Literal["replay", "envelope", "pinned"]
    """`replay`: the outcome in Kafka for this seed. `envelope`: one outcome of several possible ones. `pinned`:
    nothing is random."""
    seed: int | None
    """Seed of the random generator that was replayed; null if nothing is random."""
    notes: str | None
    """Notes of the callers; null if there are none."""
    history: list[PlanChangeDocument] | None
    """The changes of status, labels and notes, oldest first; the newest 100."""
    kafka: KafkaReleases | None
    """The releases whose code was compared and gives the same answer; null if the plan replays no code of Kafka, or
    the release that it is made for was not compared."""
    compared_kafka_versions: list[ComparedRelease] | None
    """For each of `compare_kafka_versions` its different answers; absent without such releases."""
    request: dict[str, Any]
    """The canonical request: every field with its default, in canonical order."""
    warnings: list[WarningDocument]
    """Conditions that did not prevent the plan; empty if there are none."""
    waves: list[WaveDocument]
    """The waves, each after the one before is complete."""
    seconds: float
    """Sum of the times of the waves."""
    certificate: WaveCertificate
    """Proof of the number of waves."""
    blocked: list[BlockedDocument]
    """Brokers, the quorum and the first 1,000 partitions that no schedule keeps available."""
    blocked_partitions: int
    """Number of blocked partitions."""


class ScaledPartitionDocument(Record):
    """One partition, with its consumer over time."""

    topic: str
    """Name of the topic."""
    partition: int
    """Id of the partition."""
    consumers: list[int]
    """Number of its consumer, from 0, in each interval."""


class ScatterWidth(Record):
    """Over brokers with replicas, the number of other brokers that share a partition with one; 0 without replicas."""

    min: int
    """Smallest scatter width of a broker."""
    mean: float
    """Mean scatter width."""
    max: int
    """Largest scatter width of a broker."""


class ScenarioDocument(Record):
    """One scored scenario, with the figures of its sweep's kind; those listed here are of capacity sweeps,
    `feasible`
    and `violated_limits` of reassignments, too.

    A scenario that could not be scored has its `error` and its axes alone."""

    index: int
    """Index of the scenario in the sweep, from 0."""
    axes: dict[str, Any]
    """Value of each axis."""
    feasible: bool | None
    """Whether every load is within its limit under every failure; of reassignments, within every hard limit."""
    violated_limits: list[ViolatedLimitDocument] | None
    """Limits that brokers exceed, by resource; empty if all hold."""
    relaxed: list[RelaxedConstraint] | None
    """Of reassignments, constraints that do not hold because they conflict; empty if the scenario is feasible."""
    binding: BindingDocument | None
    """The limit that breaks first; null if no resource has one."""
    monthly_cost: float | None
    """Cost of a month, in the currency of the prices."""
    headroom: float | None
    """Factor by which traffic can grow until the first limit is reached; null if there is no limit."""
    first_breaking_month: int | None
    """First month of the horizon in which a limit is exceeded, from 0; null if none is."""
    cross_rack_bytes_per_s: float | None
    """Bytes/s between racks."""
    remote_bytes: float | None
    """Bytes of tiered topics in remote storage, one copy of retained data."""
    restart_waves: int | None
    """Waves of a rolling restart; the fewest if they equal `restart_waves_lower_bound`. Null without `base.restart`."""
    restart_waves_lower_bound: int | None
    """No restart has fewer waves; null without `base.restart`."""
    error: dict[str, Any] | None
    """Why the scenario could not be scored, with a code and a detail; null if it was."""


class ScenariosPage(Record):
    """A page of scenarios."""

    items: list[ScenarioDocument]
    """Scenarios in the requested order."""
    next_page_token: str | None
    """Token of the next page; null on the last page."""


class SentLoadDocument(Record):
    """The bytes/s that a broker sends."""

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
    potential: float
    """Bytes/s that the broker sends if it leads all partitions that it has."""


class ShareDocument(Record):
    """The possible numbers of leaders or replicas of each broker. A spread is the largest count minus the smallest."""

    guaranteed_spread: int
    """Lower bound on the spread over brokers of any outcome."""
    worst_case_spread: int
    """Upper bound on the spread over brokers of any outcome."""
    seen_least_spread: int
    """Smallest spread among the sampled outcomes."""
    seen_widest_spread: int
    """Largest spread among the sampled outcomes."""
    per_broker: dict[str, BrokerShare]
    """Bounds on the number of each broker, by broker id."""


class ShareLinkDocument(Record):
    """A link to a page, and one to its picture alone."""

    id: str
    """Id of both links (UUIDv7), by which they can be revoked."""
    page: str
    """URL of the page, with its pictures and files."""
    picture: str
    """URL of the picture alone, as SVG; `.png` is the same as PNG."""
    expires_at: datetime
    """When both links expire."""


class ShareLinksPage(Record):
    """Share links, newest first."""

    items: list[ListedShareLink]
    """The links of this page."""
    next_page_token: str | None
    """`page_token` of the next page; null on the last."""


class SharedValueDocument(Record):
    """A tag value that several copies of a task have; null for copies on clients without it, even a single one."""

    tag: str
    """Name of the tag."""
    value: str | None
    """Value that the copies share; null if their clients lack the tag, which then separates none of them."""
    copies: int
    """Number of copies on clients with this value."""


class SharingDocument(Record):
    """Coverage of the assignable partitions of a share group's topics. `spread` is the largest − smallest number of
    partitions of a member."""

    partitions: int
    """Number of partitions that may be assigned."""
    uncovered: int
    """Number of partitions without a member."""
    uncovered_partitions: list[UncoveredPartition]
    """The first partitions without a member, by topic and id."""
    members_per_partition: MembersPerPartition
    """How many members share a partition."""
    largest_load: int
    """Number of partitions of the fullest member."""
    spread: int
    """Difference in partitions between the fullest and the emptiest member."""
    best: BestSharingDocument
    """The best possible figures."""


class SingleValueTasksDocument(Record):
    """Stateful tasks all of whose copies are on clients with one value of a tag, or in one rack: its loss takes
    them.

    `of_classic`: under the classic assignor, once all warm-ups have caught up. `of_best_standbys`: with the
    optimal
    standbys for the same active tasks. Null if they could not be computed."""

    by: str
    """Name of the tag, or `rack`."""
    kind: Literal["tag", "rack"]
    """Whether values are of a tag or are racks."""
    values: int
    """Number of distinct values of all clients."""
    tasks: int
    """Number of tasks whose copies share one value."""
    named_tasks: list[str]
    """Ids of the first of these tasks, ascending."""
    of_classic: int | None
    """Number of such tasks under the classic assignor; null if it could not be computed."""
    of_best_standbys: int | None
    """Number of such tasks with the optimal standbys; null if it could not be computed."""


class SkewDocument(Record):
    """The skew of the keys. `gini` is 0 if all partitions have the same load, and near 1 if one has all of it."""

    per_partition: list[int]
    """Number of records by partition id."""
    max_over_mean: float
    """Records of the fullest partition divided by the mean; 1 if all are equal."""
    gini: float
    """Gini coefficient of the partitions' records, from 0 (all equal) towards 1 (all in one)."""


class SnapshotDocument(Record):
    """A snapshot without its cluster: counts and warnings."""

    id: str
    """Id of the snapshot, a UUIDv7: later snapshots have greater ids."""
    cluster: str
    """Name of the cluster, as the request states it."""
    content_hash: str
    """SHA-256 of the cluster's state, in hexadecimal; equal states have equal hashes, at any time."""
    brokers: int
    """Number of brokers."""
    racks: int
    """Number of distinct racks of brokers."""
    topics: int
    """Number of topics."""
    partitions: int
    """Number of partitions of all topics."""
    groups: int
    """Number of recorded groups."""
    kafka_version: str | None
    """The release that the brokers run; null if it is unknown."""
    controller: Literal["kraft", "zookeeper"] | None
    """Controller, which elects leaders and places new partitions: `kraft` or `zookeeper`; null if it is unknown."""
    health: ClusterHealth | None
    """State of the cluster in a few numbers; null for a snapshot that an earlier release stored."""
    warnings: list[WarningDocument]
    """Conditions that did not prevent the snapshot; empty if there are none."""
    created_at: datetime
    """When the snapshot was stored, RFC 3339 in UTC."""


class SnapshotWithCluster(Record):
    """A snapshot with its cluster."""

    id: str
    """Id of the snapshot, a UUIDv7: later snapshots have greater ids."""
    cluster: str
    """Name of the cluster, as the request states it."""
    content_hash: str
    """SHA-256 of the cluster's state, in hexadecimal; equal states have equal hashes, at any time."""
    brokers: int
    """Number of brokers."""
    racks: int
    """Number of distinct racks of brokers."""
    topics: int
    """Number of topics."""
    partitions: int
    """Number of partitions of all topics."""
    groups: int
    """Number of recorded groups."""
    kafka_version: str | None
    """The release that the brokers run; null if it is unknown."""
    controller: Literal["kraft", "zookeeper"] | None
    """Controller, which elects leaders and places new partitions: `kraft` or `zookeeper`; null if it is unknown."""
    health: ClusterHealth | None
    """State of the cluster in a few numbers; null for a snapshot that an earlier release stored."""
    warnings: list[WarningDocument]
    """Conditions that did not prevent the snapshot; empty if there are none."""
    created_at: datetime
    """When the snapshot was stored, RFC 3339 in UTC."""
    document: dict[str, Any]
    """The state of the cluster, in the form of a request for a snapshot."""


class SnapshotsPage(Record):
    """Snapshots, newest first."""

    items: list[SnapshotDocument]
    """Snapshots without their clusters, newest first."""
    next_page_token: str | None
    """Token of the next page; null on the last page."""


class Spread(Record):
    """A count over brokers."""

    min: int
    """Smallest count of a broker."""
    max: int
    """Largest count of a broker."""
    spread: int
    """Largest count minus the smallest."""


class SpreadTopic(Record):
    """A topic whose leaders are spread, over the brokers with a replica that may lead."""

    smallest: int
    """Smallest load of a broker, in the unit of `by`."""
    largest: int
    """Largest load of a broker, in the unit of `by`."""
    topic: str
    """Name of the topic."""
    low: int
    """Lower end of the topic's band, in replicas."""
    high: int
    """Upper end of the topic's band, in replicas."""
    before: Ends
    """Extremes before the plan."""
    brokers: list[int]
    """Ids of these brokers, ascending."""


class StandbyCertificateDocument(Record):
    """Lower bounds for standbys with as many ideal tasks and distinct values."""

    imbalance_bound: float
    """Lower bound on `imbalance`."""
    restored_bound: int
    """Lower bound on `restored`."""
    optimal: bool
    """Whether both bounds are reached."""
    gap: float
    """Relative optimality gap: (value − lower bound) / value; 0 if optimal."""
    solver: str
    """The solver that computed the standbys."""


class StandbyQualityDocument(Record):
    """The quality of standbys, most important first. `imbalance` is the sum over clients of standbys² / threads."""

    missing: int
    """Number of missing standbys."""
    ideal: int
    """Number of ideal tasks."""
    distinct_values: int
    """Number of distinct tag values of the copies, summed over tasks and tags."""
    imbalance: float
    """Sum over clients of standbys² / threads."""
    restored: int
    """Number of standbys whose state has to be restored."""
    spread: float
    """Largest difference between two clients, in standbys for each thread."""


class StepDocument(Record):
    """One event and its effects. A rolling restart has a step for each member, with the same `event_index`.

    In a share group nothing is handed over: `added` and `revoked` are pairs of a member and a partition, and
    `failures`
    are failures of Kafka's own assignor, after which members keep their partitions."""

    event_index: int
    """Index in `events` of the event, from 0."""
    event: dict[str, Any]
    """The event, as in the request."""
    assignment: dict[str, dict[str, list[int]]]
    """Partition ids by member id and topic after the event."""
    moved: int | None
    """Number of partitions that change members; null for a share group."""
    revoked: int
    """Number of partitions that are taken from members that stay."""
    handover: Handover | None
    """Number of partitions by outcome; null for a share group."""
    locality_before: LocalityCounts
    """Where partitions are read before the event."""
    locality: LocalityDocument
    """Where partitions are read after the event."""
    optimum: OptimumDocument | None
    """The optimal assignment after the event; null if no comparison applies."""
    rebalances: list[RebalanceDocument]
    """Rebalances that the event causes, in order."""
    trigger: StepTriggerDocument | None
    """Whether new metadata makes the leader rebalance; null if the event changes no metadata."""
    pause: PauseDocument | None
    """The partitions that are not read meanwhile; null for a share group, absent from plans of earlier releases."""
    sharing: SharingDocument | None
    """How partitions are covered; null unless it is a share group."""
    added: int | None
    """Number of pairs of a member and a partition that are new; null unless it is a share group."""
    failures: list[FailureDocument]
    """Failures of Kafka's own assignor; empty if there are none."""


class StepTriggerDocument(Record):
    """Whether new metadata makes the leader rebalance; `unseen` are changes that a leader without rack ignores."""

    would_rebalance: bool
    """Whether the leader makes the group rebalance."""
    because: list[TopicChangeDocument]
    """Changes that make it rebalance, by topic."""
    unseen: list[TopicChangeDocument]
    """Changes of racks that a leader without `client.rack` ignores, by topic."""


class StreamsDiffDocument(Record):
    """The tasks whose clients differ, by task id."""

    summary: TaskMoves
    """Counts over the whole difference, not only its page."""
    items: list[TaskChange]
    """Differences of the page, in order."""
    next_page_token: str | None
    """Token of the next page; null on the last page."""


class StreamsLoadsDocument(Record):
    """The balance of clients, and their reads across racks."""

    active: CountDocument
    """Balance of active tasks."""
    standby: CountDocument
    """Balance of standbys."""
    warmup: CountDocument
    """Balance of warm-ups."""
    sources: ReadsDocument | None
    """Source partitions that all clients read; null if the topics are unknown."""
    changelogs: ReadsDocument | None
    """Changelog partitions that all clients read; null if the topics are unknown."""
    per_client: list[ClientLoadDocument]
    """Load of each client, in the order of the request."""


class StreamsPlanDocument(Record):
    """The assignment of an application. Lists of tasks are sorted by subtopology and partition."""

    id: str
    """Id of the plan, a UUIDv7: later plans have greater ids."""
    kind: str
    """Kind of the plan: `replicas`, `reassignment`, `group`, `streams`, `restart` or `consumers`."""
    title: str
    """The plan's effect, in a few words."""
    summary: str
    """Movement and result in a few words; empty for plans that were stored before there were summaries."""
    status: Literal["proposed", "approved", "executing", "executed", "failed", "superseded"]
    """How far the plan has come, as its callers state it; `proposed` at first."""
    hash: str
    """SHA-256 of the canonical request and the engine version, in hexadecimal; equal hashes mean equal answers."""
    engine_version: int
    """Version of the algorithms that made the plan; a change of any answer increases it."""
    created_at: datetime
    """When the plan was stored, RFC 3339 in UTC."""
    cluster: str | None
    """Cluster of the snapshot that the plan was made on; null if the request listed brokers itself."""
    snapshot_id: str | None
    """Id of the snapshot that the plan was made on; null if the request listed brokers itself."""
    labels: dict[str, str]
    """Labels, name → value, with which plans can be found: from the request, as changed since."""
    prediction: Literal["replay", "envelope", "pinned"]
    """`replay`: the outcome in Kafka for this seed. `envelope`: one outcome of several possible ones. `pinned`:
    nothing is random."""
    seed: int | None
    """Seed of the random generator that was replayed; null if nothing is random."""
    notes: str | None
    """Notes of the callers; null if there are none."""
    history: list[PlanChangeDocument] | None
    """The changes of status, labels and notes, oldest first; the newest 100."""
    kafka: KafkaReleases | None
    """The releases whose code was compared and gives the same answer; null if the plan replays no code of Kafka, or
    the release that it is made for was not compared."""
    compared_kafka_versions: list[ComparedRelease] | None
    """For each of `compare_kafka_versions` its different answers; absent without such releases."""
    request: dict[str, Any]
    """The canonical request: every field with its default, in canonical order."""
    warnings: list[WarningDocument]
    """Conditions that did not prevent the plan; empty if there are none."""
    assignor: str
    """Name of the assignor."""
    protocol: Literal["classic", "streams"]
    """Protocol of the group: the leader assigns (`classic`), or the coordinator (`streams`)."""
    assignment: dict[str, ClientTasksDocument]
    """Tasks of each client by process id."""
    probing_rebalance: bool
    """Whether the group rebalances again once warm-ups have caught up."""
    ideal: bool
    """Whether every stateful task has all its standbys, apart by every listed tag."""
    tasks: list[TaskDocument]
    """Clients and verdict of each task, ascending."""
    tags: list[TagDocument]
    """Whether each listed tag has enough values, in the order of the request."""
    if_lost: dict[str, LossDocument]
    """Effect of losing all clients with a tag value, by `<tag>=<value>`."""
    if_client_lost: dict[str, LossDocument]
    """Effect of losing one client, by process id."""
    loads: StreamsLoadsDocument
    """Balance of clients, and the load of each."""
    movement: TaskMovementDocument
    """Tasks that change clients, and the state to restore."""
    rack_aware: RackAwareDocument | None
    """Result of KIP-925; null if it is not requested or the assignor ignores racks."""
    best_standbys: BestStandbysDocument | None
    """The optimal standbys for the same active tasks; null if there are none or the search is too large."""
    addition: AdditionDocument | None
    """The fewest clients to add; null if no tags are listed or the search is too large."""
    compared_with_classic: ComparedWithClassicDocument | None
    """Gaps beside the classic protocol; null under that protocol."""
    steps: list[StreamsStepDocument]
    """Effect of each event, in order; empty without events."""
    violations: list[TaskViolationDocument]
    """Ways in which the assignment is illegal or fragile; empty if there are none."""


class StreamsRebalanceDocument(Record):
    """One rebalance of a step. `not_running` are tasks whose state has to be restored first."""

    cause: Literal["left", "joined", "restarted", "probing", "nothing"]
    """Why the group rebalances."""
    active_moved: int
    """Number of tasks that another client runs than before."""
    restored_copies: int
    """Number of copies of state that have to be restored."""
    warmups: int
    """Number of warm-ups after the rebalance."""
    not_running: list[str]
    """Ids of tasks whose state has to be restored before they run, ascending."""


class StreamsStepDocument(Record):
    """One event, or the restart of one client in a rolling deploy, and the application after it has settled."""

    event_index: int
    """Index in `events` of the event, from 0."""
    event: dict[str, Any]
    """The event, as in the request."""
    process_id: str | None
    """Process id of the client that restarts; null unless it is a step of a rolling deploy."""
    assignment: dict[str, ClientTasksDocument]
    """Tasks by process id, once the application has settled."""
    ideal: bool
    """Whether every stateful task has all its standbys, apart by every listed tag."""
    active_moved: int
    """Number of tasks that another client runs than before."""
    interrupted: int
    """Number of tasks that stop running."""
    without_copy: list[str]
    """Ids of the interrupted tasks without another copy of their state, ascending."""
    restored_copies: int
    """Number of copies of state that have to be restored."""
    restored_bytes: int | None
    """Bytes of these copies; null if `state_bytes` is not in the request."""
    probing_rebalances: int
    """Number of rebalances until all warm-ups have caught up."""
    settled: bool
    """Whether the application becomes stable."""
    by_chance: bool
    """Whether Kafka breaks ties by chance, so that this is one of several possible outcomes."""
    rebalances: list[StreamsRebalanceDocument]
    """Rebalances of the step, in order."""


class SummaryDocument(Record):
    """The distribution of each figure, null if no scenario has it. `failed` counts the scenarios with an error."""

    kind: str
    """Kind of the sweep."""
    scenarios: int
    """Number of scored scenarios."""
    failed: int
    """Number of scenarios with an error."""
    figures: dict[str, DistributionDocument | None]
    """Distribution by name of the figure; null if no scenario has it."""


class SweepDocument(Record):
    """A sweep. `error` says why it failed, `waiting` why it is not making progress; both are null otherwise."""

    id: str
    """Id of the sweep, a UUIDv7: later sweeps have greater ids."""
    kind: str
    """Kind of the sweep."""
    state: Literal["queued", "running", "succeeded", "failed", "cancelled"]
    """State of the sweep; the last three are final."""
    scenarios: int
    """Number of scenarios."""
    done: int
    """Number of scenarios that are scored."""
    rate_per_s: float | None
    """Scenarios scored in a second, of late; null unless the sweep runs."""
    seconds_left: float | None
    """Estimated seconds until the sweep ends; null unless the sweep runs."""
    waiting: dict[str, Any] | None
    """Why the sweep makes no progress, with a code and a detail; null if it does."""
    error: dict[str, Any] | None
    """Why the sweep failed, with a code and a detail; null unless `state` is `failed`."""
    labels: dict[str, str]
    """Labels of the request, name → value."""
    created_at: datetime
    """When the sweep was accepted, RFC 3339 in UTC."""
    started_at: datetime | None
    """When a worker started the sweep, RFC 3339 in UTC; null before."""
    finished_at: datetime | None
    """When the sweep ended, RFC 3339 in UTC; null before."""


class SweepWithDefinition(Record):
    """A sweep and its definition."""

    id: str
    """Id of the sweep, a UUIDv7: later sweeps have greater ids."""
    kind: str
    """Kind of the sweep."""
    state: Literal["queued", "running", "succeeded", "failed", "cancelled"]
    """State of the sweep; the last three are final."""
    scenarios: int
    """Number of scenarios."""
    done: int
    """Number of scenarios that are scored."""
    rate_per_s: float | None
    """Scenarios scored in a second, of late; null unless the sweep runs."""
    seconds_left: float | None
    """Estimated seconds until the sweep ends; null unless the sweep runs."""
    waiting: dict[str, Any] | None
    """Why the sweep makes no progress, with a code and a detail; null if it does."""
    error: dict[str, Any] | None
    """Why the sweep failed, with a code and a detail; null unless `state` is `failed`."""
    labels: dict[str, str]
    """Labels of the request, name → value."""
    created_at: datetime
    """When the sweep was accepted, RFC 3339 in UTC."""
    started_at: datetime | None
    """When a worker started the sweep, RFC 3339 in UTC; null before."""
    finished_at: datetime | None
    """When the sweep ended, RFC 3339 in UTC; null before."""
    definition: dict[str, Any]
    """The definition: every field of the request with its default."""


class SweepsPage(Record):
    """Sweeps, newest first."""

    items: list[SweepDocument]
    """Sweeps without their definitions, newest first."""
    next_page_token: str | None
    """Token of the next page; null on the last page."""


class TagDocument(Record):
    """A tag, the number of clients with each value, and the number of values that a task's copies need."""

    tag: str
    """Name of the tag."""
    values: dict[str, int]
    """Number of clients by value of the tag."""
    needed: int
    """Number of distinct values that the copies of a task need: one more than its standbys."""
    without: int
    """Number of clients that lack the tag."""
    enough: bool
    """Whether the clients have as many values as needed."""


class TaskChange(Record):
    """One task that other clients have; None on the side on which it is not there."""

    task: str
    """Id of the task, `<subtopology>_<partition>`."""
    before: TaskHolders | None
    """Clients of the task before; null if there is no such task."""
    after: TaskHolders | None
    """Clients of the task after; null if there is no such task."""


class TaskDocument(Record):
    """A task, its clients, and whether its copies differ in every tag; `ideal` is null for a stateless task."""

    task: str
    """Id of the task, `<subtopology>_<partition>`."""
    active: str | None
    """Process id of the client that runs it; null if none does."""
    standby: list[str]
    """Process ids of clients with a standby or warm-up of it."""
    warmup: list[str]
    """Process ids of clients with a warm-up of it."""
    stateful: bool
    """Whether the task has state."""
    ideal: bool | None
    """Whether it has all its standbys, apart by every listed tag; null for a stateless task."""
    missing_standbys: int
    """Number of standbys that it lacks."""
    repeated_tags: list[str]
    """Tags of which several of its copies share a value, in the order of the request."""
    shared: list[SharedValueDocument]
    """Values that several of its copies share, and copies on clients without the tag."""


class TaskHolders(Record):
    """The client that runs a task, None if none does, and those with a standby of it, by name."""

    active: str | None
    """Process id of the client that runs the task; null if none does."""
    standby: list[str]
    """Process ids of the clients with a standby of the task, by name."""


class TaskMovementDocument(Record):
    """Tasks that change clients, and the copies of state that have to be restored."""

    active_kept: int
    """Number of tasks that the same client runs as before."""
    active_moved: int
    """Number of tasks that another client runs than before."""
    active_started: int
    """Number of tasks that no client ran before."""
    restored_copies: int
    """Number of copies of state that have to be restored."""
    restored_bytes: int | None
    """Bytes of these copies; null if `state_bytes` is not in the request."""


class TaskMoves(Record):
    """Tasks counted: `active_moved` run elsewhere, `standbys_changed` run where they did with other standbys."""

    tasks: int
    """Number of tasks on either side."""
    unchanged: int
    """Number of tasks with the same clients."""
    active_moved: int
    """Number of tasks that another client runs."""
    standbys_changed: int
    """Number of tasks that the same client runs, with other standbys."""
    added: int
    """Number of tasks that are only in the second assignment."""
    removed: int
    """Number of tasks that are only in the first assignment."""


class TaskViolationDocument(Record):
    """One way in which the assignment is illegal or fragile; the first tasks are listed."""

    code: TaskViolationCode
    """Stable code of the violation."""
    severity: Literal["illegal", "fragile"]
    """`illegal`: a task runs on no client or on two, or has a forbidden copy. `fragile`: legal, few copies."""
    count: int
    """Number of tasks concerned."""
    tasks: list[str]
    """Ids of the first tasks concerned, ascending."""
    detail: str
    """The violation in a sentence, with its numbers."""


class TeamUsageDocument(Record):
    """Usage of a team, with its quotas."""

    team: str
    """Name of the team."""
    stored_bytes: QuotaDocument
    """Bytes of snapshots, plans, sweeps with their rows, and stored responses to an `Idempotency-Key`, as the
    database has compressed them, with 128 for each row."""
    plans: QuotaDocument
    """Plans that the team stores."""
    snapshots: QuotaDocument
    """Snapshots that the team stores."""
    share_links: QuotaDocument
    """Share links. Those that have expired count until the next one is made."""
    unfinished_jobs: QuotaDocument
    """Queued and running jobs and sweeps."""


class TopicChangeDocument(Record):
    """A change of a topic: `appeared`, `vanished`, `partitions` or `racks`; the first partitions are listed."""

    topic: str
    """Name of the topic."""
    what: Literal["appeared", "vanished", "partitions", "racks"]
    """The change: the topic, its number of partitions, or the racks of its replicas."""
    partitions: list[int]
    """Ids of the first partitions concerned, ascending."""
    count: int
    """Number of partitions concerned."""


class TopicEnds(Record):
    """Replicas of a topic on the brokers that may receive replicas."""

    smallest: int
    """Smallest load of a broker, in the unit of `by`."""
    largest: int
    """Largest load of a broker, in the unit of `by`."""
    topic: str
    """Name of the topic."""
    low: int
    """Lower end of the topic's band, in replicas."""
    high: int
    """Upper end of the topic's band, in replicas."""
    before: Ends
    """Extremes before the plan."""


class TopicTraffic(Record):
    """Bytes/s of a topic."""

    bytes_per_s: float
    """Bytes/s that are read."""
    cross_rack_bytes_per_s: float
    """Bytes/s of these that are read from another rack."""
    unknown_bytes_per_s: float
    """Bytes/s of these of which a rack is unknown."""
    topic: str
    """Name of the topic."""


class TotalExcess(Record):
    """The sum of (load − limit) / limit over brokers and resources."""

    total: float
    """The sum."""
    lower_bound: float
    """Lower bound on the sum."""
    optimal: bool
    """Whether the sum is its lower bound."""


class TradeOffPoint(Record):
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


class TrafficDocument(Record):
    """Reads of the group from rack to rack. A consumer fetches from the leader, the first replica; with
    `follower_fetching`, from a replica in its own rack if there is one. Every replica counts as in sync."""

    cross_rack_bytes_per_s: float
    """Bytes/s that members fetch from brokers in another rack."""
    unknown_bytes_per_s: float
    """Bytes/s that members fetch, if the rack of the member or of the broker is unknown."""
    cost_per_month: float
    """Cost of `cross_rack_bytes_per_s` a month, by the price in `traffic`."""
    replication_bytes_per_s: float | None
    """Bytes/s that leaders of these partitions send to followers in another rack; null if the rack of a replica is
    unknown."""
    replication_cost_per_month: float | None
    """Cost of `replication_bytes_per_s` a month; null likewise."""
    follower_fetching: bool
    """Whether consumers fetch from a replica in their rack."""
    rates: Literal["request", "snapshot"]
    """Where the rates of partitions are from."""
    price: PriceDocument
    """The price of the costs."""
    unrated_partitions: int
    """Number of assigned partitions of unknown rate, which no figure contains."""
    per_rack_pair: list[RackPairTraffic]
    """Bytes/s for each pair of racks that has any, by name; the sum covers all partitions of known rate."""
    per_topic: list[TopicTraffic]
    """Bytes/s by topic, by name."""
    per_member: list[MemberTraffic]
    """Bytes/s by member, in the order of the group."""
    before: TrafficSums | None
    """The traffic of the partitions that members own before the plan; null if they own none."""
    if_: list[ChangedTraffic]
    """The traffic under each change of one thing."""
    left_out: list[ChangeLeftOut]
    """Changes whose traffic cannot be computed; empty if there are none."""


class TrafficSums(Record):
    """Bytes/s from rack to rack, and their cost of a month of 365 / 12 days."""

    cross_rack_bytes_per_s: float
    """Bytes/s that members fetch from brokers in another rack."""
    unknown_bytes_per_s: float
    """Bytes/s that members fetch, if the rack of the member or of the broker is unknown."""
    cost_per_month: float
    """Cost of `cross_rack_bytes_per_s` a month, by the price in `traffic`."""
    replication_bytes_per_s: float | None
    """Bytes/s that leaders of these partitions send to followers in another rack; null if the rack of a replica is
    unknown."""
    replication_cost_per_month: float | None
    """Cost of `replication_bytes_per_s` a month; null likewise."""


class TriggerDocument(Record):
    """Whether the leader rebalances, and which member leads."""

    would_rebalance: bool
    """Whether the leader makes the group rebalance."""
    because: list[TopicChangeDocument]
    """Changes that make it rebalance, by topic."""
    unseen: list[TopicChangeDocument]
    """Changes of racks that a leader without `client.rack` ignores, by topic."""
    leader: str | None
    """Id of the member that leads the group; null if none does."""


class UnassignedDocument(Record):
    """Replicas of one topic without a place: each of its partitions lacks as many.

    `values` are the forced values that no live broker has, by attribute."""

    topic: str
    """Name of the topic."""
    replicas_per_partition: int
    """Number of unassigned replicas of each partition."""
    partitions: int
    """Number of partitions of the topic in the request."""
    replicas: int
    """Number of unassigned replicas of the topic."""
    values: dict[str, list[str]]
    """Forced values that no live broker has, by attribute."""


class UncoveredPartition(Record):
    """A partition that no member of a share group reads."""

    topic: str
    """Name of the topic."""
    partition: int
    """Id of the partition in its topic."""


class UsageDocument(Record):
    """Usage of teams, with their quotas."""

    teams: list[TeamUsageDocument]
    """The team; every team for a key of all teams."""


class ValueLoss(Record):
    """The cost of losing all brokers of one value, before anything is moved."""

    partitions_leaderless: int
    """Partitions whose preferred leader is lost; another replica has to lead."""
    partitions_reduced: int
    """Partitions that lose at least one replica."""
    partitions_down_to_one: int
    """Partitions that keep one replica, of more."""
    partitions_offline: int
    """Partitions that lose every replica."""


class ViolatedLimitDocument(Record):
    """The limit of a resource that brokers exceed in the placement with the least excess that was found."""

    resource: str
    """Resource whose limit is exceeded."""
    brokers: int
    """Number of brokers above their limits."""
    broker: int
    """Id of the broker that is farthest above its limit."""
    value: float
    """Its load, in the unit of the resource."""
    limit: float
    """Its limit, in the unit of the resource."""
    soft: bool
    """Whether the limit is soft, so that the scenario is feasible all the same."""


class Violation(Record):
    """One way in which some partitions of one topic are illegal or fragile."""

    code: ViolationCode
    """Stable code of the violation."""
    severity: str
    """`illegal`: Kafka rejects, cannot serve or never completes it. `fragile`: legal, but the loss of one broker or
    rack costs more than necessary."""
    topic: str
    """Name of the topic."""
    count: int
    """Number of partitions concerned."""
    partitions: list[int]
    """Ids of the first 100 partitions concerned, ascending."""
    detail: str
    """The violation in a sentence, with its numbers."""


class WarningDocument(Record):
    """A condition that did not prevent the answer."""

    code: WarningCode
    """Stable code of the warning."""
    detail: str
    """The warning in a sentence, with its numbers."""
    brokers: list[int] | None
    """Ids of the brokers that the warning is about, ascending; absent if it is about none."""
    members: list[str] | None
    """Ids of the members that the warning is about, the first 20; absent if it is about none."""
    topics: list[str] | None
    """Names of the topics that the warning is about; absent if it is about none."""
    kafka_version: str | None
    """The release that the warning is about."""


class WaveCertificate(Record):
    """The number of waves and the proof that there are none with fewer."""

    waves: int
    """Number of waves."""
    lower_bound_waves: int
    """No schedule has fewer waves: the sum over `conflict`."""
    optimal: bool
    """Whether the bound is reached."""
    gap: float
    """Relative optimality gap: (waves − lower bound) / waves."""
    conflict: list[WaveConflict]
    """The brokers that need these waves."""


class WaveConflict(Record):
    """A proof that some brokers need several waves."""

    reason: Literal["pairs", "partition", "controllers", "size", "search"]
    """`pairs`: no two of the brokers may be in one wave: they share a partition without slack, are in different
    racks and waves are per rack, or one is above a limit alone. `partition`, `controllers`: a wave can take only
    a part of these brokers. `size`: waves have `max_brokers_per_wave`. `search`: no schedule has fewer waves."""
    waves: int
    """Number of waves that the brokers need at least."""
    brokers: list[int]
    """Ids of the brokers, ascending. Brokers of different proofs are never in one wave, so that their waves add up."""
    topic: str | None
    """Topic of the partition; null unless `reason` is `partition`."""
    partition: int | None
    """Id of the partition; null likewise."""


class WaveCounts(Record):
    """Counts of two restarts."""

    brokers: int
    """Number of brokers that are restarted on either side."""
    changed: int
    """Number of brokers whose wave differs."""
    waves_before: int
    """Number of waves before; 0 without a plan to compare with."""
    waves_after: int
    """Number of waves after."""


class WaveDocument(Record):
    """Brokers that are restarted together."""

    brokers: list[int]
    """Ids of the brokers, ascending."""
    unwritable: int
    """Number of partitions that fall below `min.insync.replicas` while the wave is down; they are in `blocked`."""
    leaders_moved: int
    """Number of partitions that another broker leads while the wave is down."""
    largest_load: dict[str, LargestLoad]
    """By resource, `leaders` and those whose rates are known; empty if no broker remains."""
    seconds: float
    """Time until the last broker of the wave is back and, if `catch_up_bytes_per_s` is stated, in sync."""


class WebhookDocument(Record):
    """A webhook, without its secret."""

    id: str
    """Id of the webhook (UUIDv7)."""
    url: str
    """The URL that events are sent to."""
    events: list[Literal["job.ended", "sweep.ended", "plan.created"]]
    """Types of events that are sent."""
    created_at: datetime
    """When the webhook was created."""
    failing_since: datetime | None
    """When the first attempt failed since the last that succeeded; null if the last succeeded."""
    disabled_at: datetime | None
    """When the webhook was disabled; null if events are delivered to it."""
    disabled_reason: str | None
    """Why the webhook was disabled; null if it was not."""


class WebhooksPage(Record):
    """Webhooks, newest first."""

    items: list[WebhookDocument]
    """The webhooks of this page."""
    next_page_token: str | None
    """`page_token` of the next page; null on the last."""


class WorstPair(Record):
    """The loss of two brokers."""

    brokers: list[Any]
    """Ids of the brokers, ascending."""
    unwritable: int | None
    """Partitions that cannot be written without both; null if `min.insync.replicas` is unknown for all partitions."""
    offline: int
    """Partitions that are offline without both."""


WarningCode: TypeAlias = str
"""Codes of warnings, on the page `/warnings`. A client has to expect codes that are added."""


ViolationCode: TypeAlias = str
"""Violations of a placement, on the page `/violations`. A client has to expect codes that are added."""


GroupViolationCode: TypeAlias = str
"""Violations of a group's assignment, on the page `/violations`. A client has to expect codes that are added."""


TaskViolationCode: TypeAlias = str
"""Violations of a task assignment, on the page `/violations`. A client has to expect codes that are added."""
