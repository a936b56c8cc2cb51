"""The parts of the answer of a group plan, as JSON and the OpenAPI document have them."""

from typing import Any, Literal

from app.core.groups.measures.locality import Handover
from app.core.groups.measures.violations import GroupViolation
from app.services.bodies import ABSENT, AnswerRecord
from app.services.plans.answers import PlanAnswer, WholePlan
from app.services.plans.record import Certificate, KafkaFailure

Assigned = dict[str, dict[str, list[int]]]
"""Partitions by member and topic: members in the group's order, the rest in the order of Kafka's own lists."""
ChangeName = Literal["follower_fetching", "assignor", "optimum", "preferred_leaders", "one_more_replica"]


class LocalityCounts(AnswerRecord):
    """Where partitions are read: in a rack with a replica, in another rack, or unknown."""

    in_rack: int
    """Amount that is read in a rack with a replica: partitions, or bytes/s."""
    cross_rack: int
    """Amount that is read from another rack: partitions, or bytes/s."""
    unknown: int
    """Amount whose rack is unknown, as the member or the replicas have none: partitions, or bytes/s."""
    in_rack_share: float | None
    """Share of `in_rack` in `in_rack` + `cross_rack`; null if both are 0."""


class Locality(LocalityCounts, schema="LocalityDocument"):
    """Where partitions are read, also by bytes/s if these are known."""

    bytes_per_s: LocalityCounts | None = ABSENT
    """The same in bytes/s; absent if the rates are unknown."""


class TrafficSums(AnswerRecord):
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


class TrafficPart(AnswerRecord):
    """Bytes/s of a part of the partitions."""

    bytes_per_s: float
    """Bytes/s that are read."""
    cross_rack_bytes_per_s: float
    """Bytes/s of these that are read from another rack."""
    unknown_bytes_per_s: float
    """Bytes/s of these of which a rack is unknown."""


class TopicTraffic(TrafficPart):
    """Bytes/s of a topic."""

    topic: str
    """Name of the topic."""


class MemberTraffic(TrafficPart):
    """Bytes/s of a member."""

    member_id: str
    """Id of the member."""


class RackPairTraffic(AnswerRecord):
    """Bytes/s from brokers of a rack to members of a rack; also within one rack."""

    from_: str | None
    """Rack of the brokers; null if it is unknown."""
    to: str | None
    """Rack of the members; null if it is unknown."""
    bytes_per_s: float
    """Bytes/s that are read."""


class Change(AnswerRecord, schema="ChangeDocument"):
    """A change of one thing; the members, and everything else, stay."""

    change: ChangeName
    """`follower_fetching`: switched on, or off. `assignor`: another one for members of this protocol. `optimum`:
    balanced, then the fewest bytes across racks. `preferred_leaders`: each partition is led by a replica in the rack of
    its reader, if it has one. `one_more_replica`: each partition has a follower in one more rack: the rack of its
    reader if it has none there."""
    value: str | bool | None
    """Name of the assignor, or whether consumers fetch from followers; null for other changes."""


class ChangedTraffic(Change, TrafficSums):
    """The traffic under a change, once the group has rebalanced."""


class ChangeLeftOut(Change):
    """A change whose traffic cannot be computed."""

    reason: str
    """Why not."""


class Price(AnswerRecord, schema="PriceDocument"):
    """The price of traffic."""

    cross_rack_per_gib: float
    """Price of a GiB from rack to rack."""
    is_default: bool
    """Whether the request has no `prices`."""


class Traffic(TrafficSums, schema="TrafficDocument"):
    """Reads of the group from rack to rack. A consumer fetches from the leader, the first replica; with
    `follower_fetching`, from a replica in its own rack if there is one. Every replica counts as in sync.
    """

    follower_fetching: bool
    """Whether consumers fetch from a replica in their rack."""
    rates: Literal["request", "snapshot"]
    """Where the rates of partitions are from."""
    price: Price
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


class Pause(AnswerRecord, schema="PauseDocument"):
    """The partitions that no member reads during the rebalances of a step. Time until a rebalance begins, such as
    the session timeout of a failed member, is not included.
    """

    partitions: int
    """Number of partitions that are revoked from a member and assigned afterwards. Eager members revoke all."""
    seconds: float
    """The longest time that one of them has no member: `rebalance_seconds`, for each rebalance that revokes it."""
    is_default: bool
    """Whether the request has no `rebalance_seconds`."""
    lag_bytes: int | None
    """Bytes that producers write to them meanwhile; null if a rate is unknown."""


class Evenness(AnswerRecord, schema="EvennessDocument"):
    """The balance of members. `spread` is the largest difference between two members that could share partitions."""

    min: int
    """Smallest load of a member."""
    max: int
    """Largest load of a member."""
    spread: int
    """Largest difference between two members that could share partitions."""
    total: int
    """Sum over all members."""


class MemberLoad(AnswerRecord, kw_only=True):
    """The load of one member."""

    member_id: str
    """Id of the member."""
    group_instance_id: str | None
    """Its `group.instance.id`; null if it is a dynamic member."""
    rack_id: str | None
    """Its `client.rack`; null if it has none."""
    partitions: int
    """Number of partitions that it reads."""
    lag: int | None = ABSENT
    """Records that remain to be read; absent if lags are unknown."""
    bytes_per_s: int | None = ABSENT
    """Bytes/s that it reads; absent if rates are unknown."""
    in_rack: int
    """Number of its partitions with a replica in its rack."""
    cross_rack: int
    """Number of its partitions without a replica in its rack."""
    unknown: int
    """Number of its partitions whose racks, or its own, are unknown."""


class Loads(AnswerRecord):
    """The balance of members, by each known weight."""

    partitions: Evenness
    """Balance by number of partitions."""
    lag: Evenness | None = ABSENT
    """Balance by records that remain to be read; absent if lags are unknown."""
    bytes_per_s: Evenness | None = ABSENT
    """Balance by bytes/s; absent if rates are unknown."""


class LoadsOfMembers(Loads, schema="LoadsDocument", kw_only=True):
    """The balance of members, and the load of each."""

    per_member: list[MemberLoad]
    """Load of each member, in the order of the group."""


class Optimum(Locality, schema="OptimumDocument", kw_only=True):
    """The optimal assignment of the group, given the partitions that its members own."""

    balance: Literal["partitions", "lag", "bytes_per_s"]
    """Load that is balanced among members."""
    moved: int
    """Number of partitions that change members."""
    spread: int
    """Spread of the balanced load over members."""
    largest_load: int | None = ABSENT
    """Largest balanced load of a member; absent if partitions are balanced."""
    certificate: Certificate
    """Bounds of each goal, and whether they are reached."""


class Phase(AnswerRecord, schema="PhaseDocument"):
    """One round of joining and assigning; `pending` partitions were revoked and are assigned by the next one."""

    assignment: Assigned
    """Partition ids by member id and topic after the round."""
    revoked: int
    """Number of partitions that members give up in the round."""
    added: int
    """Number of partitions that members get in the round."""
    pending: int
    """Number of revoked partitions that the next round assigns."""


class Rebalance(AnswerRecord, schema="RebalanceDocument"):
    """A rebalance, until no member has to revoke a partition; not `settled` if that does not happen."""

    settled: bool
    """Whether the rounds end."""
    phases: list[Phase]
    """Rounds of the rebalance, in order."""


class TopicChange(AnswerRecord, schema="TopicChangeDocument"):
    """A change of a topic: `appeared`, `vanished`, `partitions` or `racks`; the first partitions are listed."""

    topic: str
    """Name of the topic."""
    what: Literal["appeared", "vanished", "partitions", "racks"]
    """The change: the topic, its number of partitions, or the racks of its replicas."""
    partitions: list[int]
    """Ids of the first partitions concerned, ascending."""
    count: int
    """Number of partitions concerned."""


class StepTrigger(AnswerRecord, schema="StepTriggerDocument"):
    """Whether new metadata makes the leader rebalance; `unseen` are changes that a leader without rack ignores."""

    would_rebalance: bool
    """Whether the leader makes the group rebalance."""
    because: list[TopicChange]
    """Changes that make it rebalance, by topic."""
    unseen: list[TopicChange]
    """Changes of racks that a leader without `client.rack` ignores, by topic."""


class Trigger(StepTrigger, schema="TriggerDocument"):
    """Whether the leader rebalances, and which member leads."""

    leader: str | None
    """Id of the member that leads the group; null if none does."""


class UncoveredPartition(AnswerRecord):
    """A partition that no member of a share group reads."""

    topic: str
    """Name of the topic."""
    partition: int
    """Id of the partition in its topic."""


class MembersPerPartition(AnswerRecord):
    """Members of a partition of a share group."""

    min: int
    """Smallest number of members of a partition."""
    max: int
    """Largest number of members of a partition."""


class BestSharing(AnswerRecord, schema="BestSharingDocument"):
    """The best possible: the smallest largest load that covers every partition, and the smallest spread with it."""

    uncovered: int
    """Smallest possible number of partitions without a member."""
    largest_load: int
    """Smallest possible number of partitions of the fullest member."""
    spread: int
    """Smallest possible difference between two members, in partitions."""


class Sharing(AnswerRecord, schema="SharingDocument"):
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
    best: BestSharing
    """The best possible figures."""


class Step(AnswerRecord, schema="StepDocument", kw_only=True):
    """One event and its effects. A rolling restart has a step for each member, with the same `event_index`.

    In a share group nothing is handed over: `added` and `revoked` are pairs of a member and a partition, and `failures`
    are failures of Kafka's own assignor, after which members keep their partitions.
    """

    event_index: int
    """Index in `events` of the event, from 0."""
    event: dict[str, Any]
    """The event, as in the request."""
    assignment: Assigned
    """Partition ids by member id and topic after the event."""
    moved: int | None
    """Number of partitions that change members; null for a share group."""
    revoked: int
    """Number of partitions that are taken from members that stay."""
    handover: Handover | None
    """Number of partitions by outcome; null for a share group."""
    locality_before: LocalityCounts
    """Where partitions are read before the event."""
    locality: Locality
    """Where partitions are read after the event."""
    optimum: Optimum | None
    """The optimal assignment after the event; null if no comparison applies."""
    rebalances: list[Rebalance]
    """Rebalances that the event causes, in order."""
    trigger: StepTrigger | None
    """Whether new metadata makes the leader rebalance; null if the event changes no metadata."""
    pause: Pause | None = ABSENT
    """The partitions that are not read meanwhile; null for a share group, absent from plans of earlier releases."""
    sharing: Sharing | None
    """How partitions are covered; null unless it is a share group."""
    added: int | None
    """Number of pairs of a member and a partition that are new; null unless it is a share group."""
    failures: list[KafkaFailure]
    """Failures of Kafka's own assignor; empty if there are none."""


class ComparedAssignor(AnswerRecord, kw_only=True):
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
    bytes_per_s: LocalityCounts | None = ABSENT
    """Where bytes are read, in bytes/s; absent if the rates are unknown."""
    traffic: TrafficSums | None = ABSENT
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
    error: KafkaFailure | None
    """Why the assignor fails; null if it does not."""


class GroupAnswer(PlanAnswer, kw_only=True):
    """The fields of a group plan that its planner computes."""

    assignor: str
    """Name of the assignor."""
    protocol: Literal["eager", "cooperative", "reconciled"]
    """How members hand partitions over: all at once, in two phases, or as the coordinator reconciles them."""
    assignment: Assigned
    """Partition ids by member id and topic, once the group has settled."""
    phases: list[Phase]
    """Rounds of the rebalance, in order."""
    settled: bool
    """Whether the rounds end."""
    locality: Locality
    """Where partitions are read."""
    traffic: Traffic | None = ABSENT
    """Bytes/s from rack to rack; null if no rate is known, or for a share group; absent from plans of earlier
    releases."""
    loads: LoadsOfMembers
    """Balance of members, and the load of each."""
    moved: int | None
    """Number of partitions that change members; null if owned partitions do not matter, as in a share group."""
    revoked: int | None
    """Number of partitions that are taken from members that stay; null as `moved`."""
    handover: Handover | None
    """Number of partitions by outcome; null as `moved`."""
    optimum: Optimum | None
    """The optimal assignment to compare with; null for a share group."""
    sharing: Sharing | None
    """How partitions are covered; null unless it is a share group."""
    comparison: list[ComparedAssignor]
    """Each assignor of the request, in its order."""
    steps: list[Step]
    """Effect of each event, in order; empty without events."""
    trigger: Trigger | None
    """Whether changes since `previous_snapshot_id` make the leader rebalance; null without one."""
    violations: list[GroupViolation]
    """Ways in which the assignment is illegal or uneven; empty if there are none."""


class GroupPlanDocument(GroupAnswer, WholePlan, kw_only=True):
    """The assignment after the group has rebalanced. `phases[0].assignment` is the assignor's first answer."""
