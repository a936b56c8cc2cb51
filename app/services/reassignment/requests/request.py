"""The request for a reassignment: the body of the API, stored with a job, and its canonical form."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Annotated, Any, Literal, TypeAlias

from pydantic import Field, TypeAdapter

from app.core.model import Broker
from app.core.reassignment.model import KEEP, TIGHT, Balance
from app.core.replicas.options import RackMode
from app.errors import Json
from app.services import fields
from app.services.amounts import InBytes, InSeconds
from app.services.bodies import ListOf, Read, WordOr, reader_of_stored
from app.services.plans.record import own_fields
from app.services.reassignment.requests import parts

KIND = "reassignment"
"""Name of this kind of plan, everywhere."""
MOST_BYTES_PER_REPLICA = 1 << 30
"""Upper limit on the default cost of moving a replica."""
_Minimised = Literal["bytes", "replicas", "leader_changes"]
Minimised: TypeAlias = _Minimised | parts.MovementCost


@dataclass(frozen=True, kw_only=True)
class ReassignmentRequest(parts.ResourceFields, fields.SnapshotFields, schema="PlanReassignmentRequest"):
    """Changes to a snapshot's cluster, alone or together."""

    requires_snapshot = True
    add_brokers: fields.ListedBrokers = field(default_factory=list)
    """New brokers, which need not exist yet. A broker that is up already means itself, with a warning."""
    remove_brokers: ListOf[fields.BrokerId] = field(default_factory=list)
    """Ids of brokers that have no replica after the plan."""
    remove_racks: ListOf[fields.Rack] = field(default_factory=list)
    """Racks all of whose brokers are removed, as if `remove_brokers` named them."""
    replace_brokers: Mapping[fields.BrokerKey, fields.BrokerId] = field(default_factory=dict)
    """Broker → successor, which gets its replicas. A successor that is in no list is in the same rack."""
    # The service rejects factors below 1, with the exception of Kafka.
    replication_factor: Mapping[fields.TopicName, Annotated[fields.Int32, Field(json_schema_extra={"minimum": 1})]] = (
        field(default_factory=dict)
    )
    """By topic. If it is lowered, the preferred leader stays, unless limits are exceeded otherwise."""
    partitions: Mapping[fields.TopicName, parts.Number] = field(default_factory=dict)
    """By topic, the total number of partitions."""
    topics: ListOf[fields.TopicName] | None = None
    """Topics whose partitions may move; all by default. Others count where they are."""
    leaders_only: bool = False
    """Balance leaders without moving replicas."""
    fix_offline_replicas: bool = False
    """Move the replicas of fenced and offline brokers."""
    repair_racks: bool | None = None
    """Whether partitions that span too few racks are repaired. By default yes, but if the request names topics (in
    `replication_factor`, `partitions`, `spread_leaders`, `isolate` or `pins`) and has no `topics`, `remove_racks` or
    `max_replicas_per_rack`, partitions of other topics are not, and a warning counts them."""
    rack_mode: Annotated[RackMode, Read(Literal["enforced", "safe", "disabled"], RackMode)] = RackMode.ENFORCED
    """`enforced`: a partition spans min(replicas, racks) racks of those before brokers are removed, and every broker
    needs a rack; `safe`: of the remaining racks, unconstrained if a broker has no rack; `disabled`: racks are not
    constrained."""
    max_replicas_per_rack: parts.Number | None = None
    """Upper limit on replicas of one partition in a rack; rejected if racks do not count."""
    placement: Mapping[fields.TopicName, parts.InRack] = field(default_factory=dict)
    """By topic, `in_rack`: all replicas of a partition are in one rack, that in which it keeps the most. Rejected if
    `rack_mode` is `disabled`, and without effect if it is `safe` and a broker has no rack (`racks_ignored`)."""
    receivers: Literal["added"] | Annotated[ListOf[fields.BrokerId], Field(min_length=1)] | None = None
    """The only brokers that receive replicas, besides successors: `added` means `add_brokers`. The others keep
    their replicas, or give. With `receivers`, the default of `balance.replicas` is `tight`."""
    forbid_brokers: ListOf[fields.BrokerId] = field(default_factory=list)
    """Brokers that receive no further replicas; those above the mean still give."""
    cordoned_brokers: ListOf[fields.BrokerId] | None = None
    """Brokers whose log directories are all cordoned (KIP-1066), which receive no further replicas; by default as in
    the snapshot."""
    broker_sets: Mapping[parts.BrokerSetName, Annotated[ListOf[fields.BrokerId], Field(min_length=1)]] = field(
        default_factory=dict
    )
    """By name, the brokers of a set; no broker is in two. The topics of a set are on its brokers alone, and are
    balanced among them alone. Topics of no set are on the brokers outside every set."""
    topic_sets: parts.TopicSetsRequest = field(default_factory=dict)
    """By topic, the name of its set in `broker_sets`; `topic_name_hash` maps every topic by its name, as Cruise Control
    does by default (`TopicNameHashBrokerSetMappingPolicy`)."""
    isolate: Annotated[ListOf[parts.IsolateRequest], Field(max_length=1000)] = field(default_factory=list)
    """Topics that are restricted to brokers, and brokers that are reserved for them."""
    pins: ListOf[parts.PinRequest] = field(default_factory=list)
    """Partitions with given replicas; they override the rack constraint."""
    objective: WordOr[Literal["balance", "relieve"], parts.GoalsRequest] = "balance"
    """`balance`: as `balance` states; `relieve`: the least movement that brings every broker below its `limits`, and
    no other change; or goals in order of priority."""
    evacuate_leaders: parts.EvacuateRequest = field(default_factory=parts.EvacuateRequest)
    """Brokers and racks that lead no partition after the plan."""
    preferred_racks: Mapping[fields.TopicName | Literal["*"], Annotated[ListOf[fields.Rack], Field(min_length=1)]] = (
        field(default_factory=dict)
    )
    """By topic, or `*` for all others, racks in the order of preference: of the replicas that may lead, one in the
    first listed rack that has any leads."""
    min_leaders_per_broker: Mapping[fields.TopicName, parts.Number] = field(default_factory=dict)
    """By topic, the number of its partitions that each broker leads at least, of the brokers that stay, are up and may
    lead."""
    spread_leaders: ListOf[fields.TopicName] = field(default_factory=list)
    """Topics whose leaders are spread, each alone, over the brokers with a replica that may lead, with the fewest
    changes: these brokers differ by one leader at most, or by as little as the replicas permit. Leaders of other topics
    are chosen afterwards, and by default stay."""
    balance: parts.BalanceRequest = field(default_factory=parts.BalanceRequest)
    """How replicas and leaders are balanced over brokers."""
    minimise: WordOr[_Minimised, parts.MovementCost] | None = None
    """What to minimise; `replicas` if the size of any partition is unknown. `leader_changes`: with
    balance.leaders_move_replicas, the fewest leader changes, then the fewest bytes. `bytes_per_replica`: the bytes, and
    this cost of each replica. The default is `bytes`, but of a plan with the objective `relieve` and no budget it is a
    cost: the mean size of the partitions that may move, or 1 GiB if that is less."""
    max_moved_bytes: Annotated[int, InBytes()] | None = None
    """Upper limit on moved bytes; the plan is the most balanced one within it."""
    copysets: WordOr[Literal["no_new"], parts.SetsOfWidth] | None = None
    """`no_new`: no partition is on a set of brokers that no partition of the cluster is on before, so that simultaneous
    losses do not become more likely to lose data; sets with a broker that has no replica yet, as an added one, and
    those of `pins`, are exempt. For replicas that are balanced by count, bytes or throughput. A scatter width: all
    partitions that may move are on few sets, equally many on each, instead of a balance of brokers. null: sets do not
    count."""
    trade_off: bool = False
    """Whether the answer has a table of movement against balance."""
    unknown_sizes: Literal["estimate"] | None = None
    """`estimate`: a partition of unknown size has the mean size of its topic's partitions."""
    on_conflict: Literal["refuse", "relax"] = "refuse"
    """`relax`: relax constraints that conflict, and list them in `relaxed`."""
    running_reassignment: Literal["refuse", "merge"] = "refuse"
    """`merge`: partitions that are being reassigned are planned from their target replicas."""
    deadline_s: Annotated[float, Field(allow_inf_nan=False), InSeconds(gt=0, le=86_400)] | None = None
    """Time limit of the solver; then the best plan so far is the answer, with its gap."""
    batches: parts.BatchesRequest = field(default_factory=parts.BatchesRequest)
    """Limits of each batch."""
    log_dirs: parts.LogDirsRequest | None = None
    """Choose the log directory of each replica; null leaves it to the brokers."""
    kafka_version: fields.RequestedRelease = None
    labels: fields.Labels = field(default_factory=dict)

    @property
    def replicas_balance(self) -> Balance:
        """The band that replicas are to be in."""
        return _balance(balance_of(self).replicas or "keep")

    @property
    def balanced_topics(self) -> Sequence[str]:
        """The topics that a balance per topic names."""
        return () if self.balance.per_topic is None else self.balance.per_topic.topics or ()

    @property
    def topic_tolerance(self) -> Fraction | None:
        """The tolerance of each topic's mean of replicas; None if these are not balanced."""
        per_topic = self.balance.per_topic
        return None if per_topic is None or per_topic.replicas is None else _balance(per_topic.replicas).tolerance

    @property
    def topic_leaders_tolerance(self) -> Fraction | None:
        """The tolerance of each topic's mean of leaders; None if these are not balanced."""
        per_topic = self.balance.per_topic
        return None if per_topic is None or per_topic.leaders is None else _balance(per_topic.leaders).tolerance

    @property
    def leaders_balance(self) -> Balance:
        """The band that leaders are to be in; `preferred` leaves the lists as they are, and `moved` has no band."""
        leaders = balance_of(self).leaders
        return KEEP if leaders is None or (isinstance(leaders, str) and leaders != "tight") else _balance(leaders)


def minimised(request: ReassignmentRequest, mean_bytes: int | None) -> Minimised:
    """The objective of movement, with its default.

    The fewest bytes that relieve a broker often take hundreds of small replicas, where a few larger ones would do.
    So a replica costs the mean size of a partition, up to 1 GiB: a plan moves more bytes than the fewest only for
    fewer replicas, and at most that much for each.

    Parameters
    ----------
    mean_bytes : mean size of the partitions that may move; None if any is unknown.
    """
    if request.minimise is not None:
        return request.minimise
    if request.objective != "relieve" or request.max_moved_bytes is not None or mean_bytes is None:
        return "bytes"
    return parts.MovementCost(min(mean_bytes, MOST_BYTES_PER_REPLICA))


def bytes_per_replica(minimise: Minimised | None) -> int | None:
    """Cost of each moved replica beside its bytes; None if replicas are minimised."""
    return (
        minimise.bytes_per_replica
        if isinstance(minimise, parts.MovementCost)
        else None
        if minimise == "replicas"
        else 0
    )


def canonical_fields(request: ReassignmentRequest, added: Sequence[Broker]) -> dict[str, Json]:
    """The request with nothing left to guess, which is hashed and stored.

    Parameters
    ----------
    added : the brokers that it adds, including those that it only names as successors.
    """
    # Removed racks are removed brokers.
    written = own_fields(replace(request, add_brokers=added, balance=balance_of(request)), "remove_racks")
    if request.repair_racks is None and repaired_topics(request) is None:
        written["repair_racks"] = True
    if request.receivers == "added":
        written["receivers"] = [broker.id for broker in request.add_brokers]
    of_some = (
        *("preferred_racks", "min_leaders_per_broker", "spread_leaders", "placement", "broker_sets"),
        "topic_sets",
    )
    for name in of_some:
        if not getattr(request, name):
            del written[name]
    for name in ("receivers", "cordoned_brokers", "log_dirs", "copysets"):  # None: of the snapshot, or none
        if getattr(request, name) is None:
            del written[name]
    for broker, listed in zip(added, written["add_brokers"], strict=True):
        if broker.capacity is not None and broker.capacity.vcpu is None:
            del listed["capacity"]["vcpu"]
    if request.objective == "balance":
        del written["objective"]
    if request.batches.record_batch_bytes is None:
        del written["batches"]["record_batch_bytes"]
    _leave_out_defaults(request.balance, written["balance"])
    return parts.stated_fields(request, written)


def _leave_out_defaults(balance: parts.BalanceRequest, written: dict[str, Any]) -> None:
    """Leave out unstated fields of the balance, so that requests of earlier releases have the same hash."""
    for name in ("resources", "per_topic", "weights", "leaders_move_replicas"):
        if not getattr(balance, name):
            del written[name]
    for stated in (written, written.get("per_topic") or {}):
        for name in ("replicas", "leaders"):
            if isinstance(stated.get(name), dict) and stated[name]["below"] is None:
                del stated[name]["below"]
    for name in ("replicas", "leaders"):
        if balance.per_topic is not None and getattr(balance.per_topic, name) is None:
            del written["per_topic"][name]


def balance_of(request: ReassignmentRequest) -> parts.BalanceRequest:
    """The balance with defaults filled in."""
    # New brokers are there to take their share, and a budget is there to be spent on balance.
    # A successor takes the replicas of the broker that it replaces, and no share besides.
    successors = set(request.replace_brokers.values())
    is_added = any(broker.id not in successors for broker in request.add_brokers)
    is_to_be_even = is_added or request.max_moved_bytes is not None or request.receivers is not None
    # Then the budget is of the leaders.
    is_to_be_even &= not request.balance.leaders_move_replicas
    return replace(
        request.balance,
        replicas=request.balance.replicas or ("tight" if is_to_be_even else "keep"),
        leaders=request.balance.leaders or _default_leaders(request),
    )


def _default_leaders(request: ReassignmentRequest) -> parts.Evenness | Literal["moved"]:
    # Partitions of removed brokers move anyway, and half their leaders change: the others of them cost no copy.
    if request.topic_leaders_tolerance is not None:
        return "tight"
    is_removal = bool(request.remove_brokers or request.remove_racks or request.fix_offline_replicas)
    is_of_leaders = (request.leaders_only and not request.spread_leaders) or request.balance.leaders_move_replicas
    is_of_leaders |= isinstance(request.copysets, parts.SetsOfWidth)  # with which most partitions move
    return "tight" if is_of_leaders else "moved" if is_removal else "keep"


def repaired_topics(request: ReassignmentRequest) -> frozenset[str] | None:
    """The topics whose partitions are repaired if they span too few racks; None is all.

    By default all of them if the request is about racks or names no topic, and otherwise those that it names: a change
    of one topic moves no other.
    """
    if request.repair_racks is not None:
        return None if request.repair_racks else frozenset()
    named = frozenset(
        (
            *request.replication_factor,
            *request.partitions,
            *request.spread_leaders,
            *(topic for isolated in request.isolate for topic in isolated.topics),
            *(pin.topic for pin in request.pins),
        )
    )
    is_about_racks = request.max_replicas_per_rack is not None or bool(request.remove_racks)
    # Of `topics` every topic of the scope is named.
    return None if not named or is_about_racks or request.topics is not None else named


def _balance(evenness: parts.Evenness) -> Balance:
    if isinstance(evenness, parts.Tolerance):
        # The fraction that was written, and not the float next to it.
        below = evenness.tolerance if evenness.below is None else evenness.below
        return Balance(Fraction(repr(evenness.tolerance)), Fraction(repr(below)))
    return TIGHT if evenness == "tight" else KEEP


READER = TypeAdapter(ReassignmentRequest)
"""Reads the body of a request."""


def restored(plain: Mapping[str, Any]) -> ReassignmentRequest:
    """The request of a stored job, plan or sweep, whose further fields are ignored."""
    request: ReassignmentRequest = reader_of_stored(READER)(plain)
    return request
