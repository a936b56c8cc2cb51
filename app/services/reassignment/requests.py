"""What is asked of a reassignment, as plain records: the same that a job keeps and a plan is hashed by."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any, Literal
from uuid import UUID

from pydantic import TypeAdapter

from app.core import ENGINE_VERSION
from app.core.model import Broker
from app.core.reassignment import KEEP, TIGHT, Balance
from app.core.replicas.rack_modes import RackMode
from app.errors import Json
from app.services.plans import as_json

KIND = "reassignment"
"""What this kind of plan is called, everywhere."""


@dataclass(frozen=True, slots=True)
class Tolerance:
    """How far brokers may be from the most even that they can be, as a share of its ends."""

    tolerance: float


Evenness = Literal["tight", "keep"] | Tolerance


@dataclass(frozen=True, slots=True)
class BalanceRequest:
    """How even brokers are to be; None is what the change itself calls for."""

    replicas: Evenness | None = None
    replicas_by: Literal["count", "bytes", "throughput"] = "count"
    leaders: Evenness | Literal["preferred"] | None = None
    leaders_by: Literal["count", "ingress"] = "count"


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
class ReassignmentRequest:
    """Changes to a cluster, and how its replicas and leaders are to stand after them.

    Parameters
    ----------
    add_brokers : new, or on paper only. replace_brokers : by broker its successor.
    replication_factor, partitions : by topic what it is to have in all.
    topics : what may be moved; None is every topic. forbid_brokers : receive nothing that they do not have.
    ingress_bytes_per_s : by topic of the whole, or of each partition.
    max_moved_bytes : a budget. unknown_sizes : None leaves them unknown.
    deadline_s : when the best that was found is answered, though it may not be proven.
    """

    snapshot_id: UUID | None = None
    add_brokers: Sequence[Broker] = ()
    remove_brokers: Sequence[int] = ()
    replace_brokers: Mapping[int, int] = field(default_factory=dict)
    replication_factor: Mapping[str, int] = field(default_factory=dict)
    partitions: Mapping[str, int] = field(default_factory=dict)
    topics: Sequence[str] | None = None
    leaders_only: bool = False
    fix_offline_replicas: bool = False
    repair_racks: bool = True
    rack_mode: RackMode = RackMode.ENFORCED
    max_replicas_per_rack: int | None = None
    forbid_brokers: Sequence[int] = ()
    isolate: Sequence[IsolateRequest] = ()
    pins: Sequence[PinRequest] = ()
    evacuate_leaders: EvacuateRequest = EvacuateRequest()
    balance: BalanceRequest = BalanceRequest()
    ingress_bytes_per_s: Mapping[str, float | Sequence[float]] | None = None
    minimise: Literal["bytes", "replicas"] = "bytes"
    max_moved_bytes: int | None = None
    trade_off: bool = False
    unknown_sizes: Literal["estimate"] | None = None
    on_conflict: Literal["refuse", "relax"] = "refuse"
    running_reassignment: Literal["refuse", "merge"] = "refuse"
    deadline_s: float | None = None
    batches: BatchesRequest = BatchesRequest()
    labels: Mapping[str, str] = field(default_factory=dict)

    @property
    def replicas_balance(self) -> Balance:
        """How even replicas are to be."""
        return _balance(_told(self).replicas or "keep")

    @property
    def leaders_balance(self) -> Balance:
        """How even leaders are to be: even where nothing else is asked for; `preferred` leaves the lists."""
        told = _told(self).leaders
        return KEEP if told is None or told == "preferred" else _balance(told)


def stored(request: ReassignmentRequest) -> Mapping[str, Json]:
    """A request as a job keeps it; `restored` reads it again."""
    plain: dict[str, Json] = as_json(request)
    return plain


def restored(plain: Mapping[str, Any]) -> ReassignmentRequest:
    """The inverse of `stored`. The shape is trusted: what others send is checked before it comes here."""
    return _READER.validate_python(plain)


def canonical(
    request: ReassignmentRequest, added: Sequence[Broker], *, cluster: str, content_hash: str | None
) -> dict[str, Json]:
    """The request with nothing left to guess: what the hash is of, and what is kept.

    Parameters
    ----------
    added : the brokers that it adds, those that it only names as successors among them.
    """
    asked = dict(
        stored(replace(request, add_brokers=added, balance=_told(request), labels=dict(sorted(request.labels.items()))))
    )
    # What is in a snapshot counts, not under which id it is kept.
    del asked["snapshot_id"]
    return {
        "kind": KIND,
        "engine_version": ENGINE_VERSION,
        "cluster": cluster or None,
        "snapshot_content_hash": content_hash,
        **asked,
    }


def _told(request: ReassignmentRequest) -> BalanceRequest:
    """The balance with what was left to Rackplan filled in."""
    told = request.balance
    # New brokers are there to take their share, and a budget is there to be spent on balance.
    # A successor takes what the broker had that it replaces, and no share besides.
    successors = set(request.replace_brokers.values())
    is_added = any(broker.id not in successors for broker in request.add_brokers)
    is_to_be_even = is_added or request.max_moved_bytes is not None
    return replace(
        told,
        replicas=told.replicas or ("tight" if is_to_be_even else "keep"),
        leaders=told.leaders or ("tight" if request.leaders_only else "keep"),
    )


def _balance(told: Evenness) -> Balance:
    if isinstance(told, Tolerance):
        # The fraction that was written, and not the float next to it.
        return Balance(Fraction(repr(told.tolerance)))
    return TIGHT if told == "tight" else KEEP


_READER = TypeAdapter(ReassignmentRequest)
