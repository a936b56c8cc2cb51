"""The request for a reassignment: the records that a job stores, and what is wrong with a request by itself."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any, Literal, TypeAlias, cast
from uuid import UUID

from pydantic import TypeAdapter

from app.core.model import Broker
from app.core.reassignment import KEEP, TIGHT, Balance
from app.core.replicas.rack_modes import RackMode
from app.errors import Json
from app.services.plans import as_json
from app.services.reassignment.requests.broker_sets import TopicSetsRequest
from app.services.reassignment.requests.log_dirs import LogDirsRequest
from app.services.reassignment.requests.resources import (
    ObjectiveRequest,
    Resource,
    ResourceFields,
    stated_fields,
)

KIND = "reassignment"
"""What this kind of plan is called, everywhere."""


@dataclass(frozen=True, slots=True)
class Tolerance:
    """How far brokers may be from the mean, as a share of it.

    below : how far below it, if not as far as above it; of leaders by count alone.
    """

    tolerance: float
    below: float | None = None


Evenness = Literal["tight", "keep"] | Tolerance
ReplicasBy = Literal["count", "bytes", "throughput"]
"""The objectives that replicas can be balanced by; the API reads it, and `loads.py` has the load of each."""
LeadersBy = Literal["count", "ingress"]
"""The objectives that leaders can be balanced by."""
WeightsRequest: TypeAlias = Literal["capacity"] | Mapping[str, float]
"""By broker id, or `EVERY` other, a weight; or the capacity for what is balanced."""


@dataclass(frozen=True, slots=True)
class PerTopicRequest:
    """How even the replicas and the leaders of each topic are to be over brokers; None is neither of them.

    topics : None is every topic that may move.
    """

    replicas: Literal["tight"] | Tolerance | None = None
    leaders: Literal["tight"] | Tolerance | None = None
    topics: Sequence[str] | None = None


@dataclass(frozen=True, slots=True)
class BalanceRequest:
    """How even brokers are to be; None is what the change itself calls for. Resources are balanced jointly.

    Parameters
    ----------
    leaders_move_replicas : whether replicas may move for the balance of leaders.
    weights : by broker id, `*` for all others, the weight of a broker; or its capacity. None is that of the snapshot.
    """

    replicas: Evenness | None = None
    replicas_by: ReplicasBy = "count"
    leaders: Evenness | Literal["moved", "preferred"] | None = None
    leaders_by: LeadersBy = "count"
    leaders_move_replicas: bool = False
    resources: Sequence[Resource] = ()
    per_topic: PerTopicRequest | None = None
    weights: WeightsRequest | None = None


@dataclass(frozen=True, slots=True)
class IsolateRequest:
    """Topics that are to be on these brokers alone; where it is `exclusive` no other topic is to be there."""

    topics: Sequence[str]
    brokers: Sequence[int]
    exclusive: bool = False


@dataclass(frozen=True, slots=True)
class PinRequest:
    """A partition, and its replicas in their order."""

    topic: str
    partition: int
    replicas: Sequence[int]


@dataclass(frozen=True, slots=True)
class EvacuateRequest:
    """Brokers and racks that are to lead no partition."""

    brokers: Sequence[int] = ()
    racks: Sequence[str] = ()


@dataclass(frozen=True, slots=True)
class BatchesRequest:
    """What one batch may do; None does not limit it."""

    max_moves_in_per_broker: int | None = 4
    max_moves_out_per_broker: int | None = None
    max_bytes_in_per_broker: int | None = None
    max_partitions: int | None = None
    max_disk_share: float | None = None
    throttle_bytes_per_s: int | None = None
    hottest: Literal["last", "first"] = "last"


@dataclass(frozen=True, slots=True)
class ReassignmentRequest(ResourceFields):
    """Changes to a cluster, and how its replicas and leaders are to stand after them.

    Parameters
    ----------
    add_brokers : new, or on paper only; one that is up already means itself. replace_brokers : by broker its successor.
    remove_racks : racks all of whose listed brokers are removed.
    replication_factor, partitions : by topic what it is to have in all.
    repair_racks : whether partitions that span too few racks are repaired; None as of `repaired_topics`.
    broker_sets : by name, the brokers of a set; no broker is in two. topic_sets : by topic its set. A topic without one
        is on the brokers outside every set.
    topics : what may be moved; None is every topic. forbid_brokers : receive nothing that they do not have.
    receivers : the only brokers, besides successors, that receive replicas; "added" is those of `add_brokers`.
    cordoned_brokers : all log directories of them are cordoned; None is what the snapshot says.
    ingress_bytes_per_s : by topic of the whole, or of each partition.
    preferred_racks : by topic, or for `EVERY` other, the racks of leaders in the order of preference.
    min_leaders_per_broker : by topic.
    max_moved_bytes : a budget. unknown_sizes : None leaves them unknown.
    deadline_s : when the best that was found is answered, though it may not be proven.
    log_dirs : how replicas are placed in log directories; None leaves that to brokers.
    kafka_version : the release that executes the plan; None is the snapshot's, or the newest.
    """

    snapshot_id: UUID | None = None
    add_brokers: Sequence[Broker] = ()
    remove_brokers: Sequence[int] = ()
    remove_racks: Sequence[str] = ()
    replace_brokers: Mapping[int, int] = field(default_factory=dict)
    replication_factor: Mapping[str, int] = field(default_factory=dict)
    partitions: Mapping[str, int] = field(default_factory=dict)
    topics: Sequence[str] | None = None
    leaders_only: bool = False
    fix_offline_replicas: bool = False
    repair_racks: bool | None = None
    rack_mode: RackMode = RackMode.ENFORCED
    max_replicas_per_rack: int | None = None
    forbid_brokers: Sequence[int] = ()
    receivers: Literal["added"] | Sequence[int] | None = None
    cordoned_brokers: Sequence[int] | None = None
    broker_sets: Mapping[str, Sequence[int]] = field(default_factory=dict)
    topic_sets: TopicSetsRequest = field(default_factory=dict)
    isolate: Sequence[IsolateRequest] = ()
    pins: Sequence[PinRequest] = ()
    objective: ObjectiveRequest = "balance"
    evacuate_leaders: EvacuateRequest = EvacuateRequest()
    preferred_racks: Mapping[str, Sequence[str]] = field(default_factory=dict)
    min_leaders_per_broker: Mapping[str, int] = field(default_factory=dict)
    balance: BalanceRequest = BalanceRequest()
    ingress_bytes_per_s: Mapping[str, float | Sequence[float]] | None = None
    minimise: Literal["bytes", "replicas", "leader_changes"] = "bytes"
    max_moved_bytes: int | None = None
    trade_off: bool = False
    unknown_sizes: Literal["estimate"] | None = None
    on_conflict: Literal["refuse", "relax"] = "refuse"
    running_reassignment: Literal["refuse", "merge"] = "refuse"
    deadline_s: float | None = None
    batches: BatchesRequest = BatchesRequest()
    log_dirs: LogDirsRequest | None = None
    kafka_version: str | None = None
    labels: Mapping[str, str] = field(default_factory=dict)

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


def canonical_fields(request: ReassignmentRequest, added: Sequence[Broker]) -> dict[str, Json]:
    """The request with nothing left to guess: what the hash is of, and what is stored.

    Parameters
    ----------
    added : the brokers that it adds, including those that it only names as successors.
    """
    fields: dict[str, Json] = as_json(replace(request, add_brokers=added, balance=balance_of(request)))
    # The content of a snapshot counts, not the id under which it is stored; removed racks are removed brokers.
    del fields["snapshot_id"], fields["kafka_version"], fields["remove_racks"]
    if request.repair_racks is None and repaired_topics(request) is None:
        fields["repair_racks"] = True
    if request.receivers == "added":
        fields["receivers"] = [broker.id for broker in request.add_brokers]
    for name in ("preferred_racks", "min_leaders_per_broker", "broker_sets", "topic_sets"):
        if not getattr(request, name):
            del fields[name]
    for name in ("receivers", "cordoned_brokers", "log_dirs"):  # None: of the snapshot, or none
        if getattr(request, name) is None:
            del fields[name]
    for broker, listed in zip(added, cast("list[Any]", fields["add_brokers"]), strict=True):
        if broker.capacity is not None and broker.capacity.vcpu is None:
            del listed["capacity"]["vcpu"]
    if request.objective == "balance":
        del fields["objective"]
    _leave_out_defaults(request.balance, cast("dict[str, Any]", fields["balance"]))
    return stated_fields(request, fields)


def _leave_out_defaults(balance: BalanceRequest, fields: dict[str, Any]) -> None:
    """Leave out what the balance does not state, so that requests of earlier releases have the same hash."""
    for name in ("resources", "per_topic", "weights", "leaders_move_replicas"):
        if not getattr(balance, name):
            del fields[name]
    for stated in (fields, fields.get("per_topic") or {}):
        for name in ("replicas", "leaders"):
            if isinstance(stated.get(name), dict) and stated[name]["below"] is None:
                del stated[name]["below"]
    for name in ("replicas", "leaders"):
        if balance.per_topic is not None and getattr(balance.per_topic, name) is None:
            del fields["per_topic"][name]


def balance_of(request: ReassignmentRequest) -> BalanceRequest:
    """The balance with defaults filled in."""
    # New brokers are there to take their share, and a budget is there to be spent on balance.
    # A successor takes the replicas of the broker that it replaces, and no share besides.
    successors = set(request.replace_brokers.values())
    is_added = any(broker.id not in successors for broker in request.add_brokers)
    is_to_be_even = is_added or request.max_moved_bytes is not None or request.receivers is not None
    # Then the budget is that of the leaders.
    is_to_be_even &= not request.balance.leaders_move_replicas
    return replace(
        request.balance,
        replicas=request.balance.replicas or ("tight" if is_to_be_even else "keep"),
        leaders=request.balance.leaders or _default_leaders(request),
    )


def _default_leaders(request: ReassignmentRequest) -> Evenness | Literal["moved"]:
    # Partitions of removed brokers move anyway, and half their leaders change: the others of them cost no copy.
    if request.topic_leaders_tolerance is not None:
        return "tight"
    is_removal = bool(request.remove_brokers or request.remove_racks or request.fix_offline_replicas)
    is_of_leaders = request.leaders_only or request.balance.leaders_move_replicas
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
            *(topic for isolated in request.isolate for topic in isolated.topics),
            *(pin.topic for pin in request.pins),
        )
    )
    is_about_racks = request.max_replicas_per_rack is not None or bool(request.remove_racks)
    # Of `topics` every topic of the scope is named.
    return None if not named or is_about_racks or request.topics is not None else named


def _balance(evenness: Evenness) -> Balance:
    if isinstance(evenness, Tolerance):
        # The fraction that was written, and not the float next to it.
        below = evenness.below
        return Balance(Fraction(repr(evenness.tolerance)), None if below is None else Fraction(repr(below)))
    return TIGHT if evenness == "tight" else KEEP


READER = TypeAdapter(ReassignmentRequest)
"""Reads the record from plain values of its shape; the shape is trusted."""
