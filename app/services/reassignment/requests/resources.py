"""What a request says about resources: capacities, traffic, limits and prices; and what is wrong with it by itself."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from app.errors import FieldPath, Json
from app.errors.requests import ConflictingFields

Resource = Literal["disk", "nic_in", "nic_out", "cpu"]
"""The resources of a broker that partitions load; the API reads it."""
Limited = Literal["disk", "nic_in", "nic_out", "cpu", "replicas", "leaders"]
"""What can be limited a broker."""
RESOURCES: tuple[Resource, ...] = ("disk", "nic_in", "nic_out", "cpu")
COUNTS: tuple[Limited, ...] = ("replicas", "leaders")
EVERY = "*"
"""In place of a broker or a topic: all that are not named."""


@dataclass(frozen=True, slots=True)
class CapacityRequest:
    """Capacities of a broker that override those of the snapshot; None does not."""

    disk_bytes: int | None = None
    nic_in_bytes_per_s: int | None = None
    nic_out_bytes_per_s: int | None = None
    vcpu: float | None = None


@dataclass(frozen=True, slots=True)
class CpuModel:
    """vCPU that a broker uses: by bytes/s in and out, and by replica.

    The defaults are a vCPU for 20 MiB/s in and for 80 MiB/s out, and nothing for an idle replica: a default, not a
    measurement.
    """

    per_byte_in: float = 1 / (20 * 2**20)
    per_byte_out: float = 1 / (80 * 2**20)
    per_partition: float = 0.0


@dataclass(frozen=True, slots=True)
class Limit:
    """An upper limit on what a broker has: a share of its capacity, or an amount; a soft one may be exceeded."""

    share: float | None = None
    absolute: float | None = None
    soft: bool = False


LimitRequest: TypeAlias = float | Limit
"""A share, or a limit with its kind."""


LogDirLimitsRequest: TypeAlias = float | Mapping[str, Mapping[str, float]]
"""Of the size of every log directory a share; or by broker and path, `*` for all others."""


@dataclass(frozen=True, slots=True)
class LimitsRequest:
    """The limits of every broker by resource; None does not limit it. Those of log directories are hard."""

    disk: LimitRequest | None = None
    nic_in: LimitRequest | None = None
    nic_out: LimitRequest | None = None
    cpu: LimitRequest | None = None
    replicas: LimitRequest | None = None
    leaders: LimitRequest | None = None
    log_dirs: LogDirLimitsRequest | None = None

    def log_dir_share(self, broker: int, path: str) -> float | None:
        """The share of its size that a log directory may have at any time; None is not limited."""
        if self.log_dirs is None or isinstance(self.log_dirs, int | float):
            return self.log_dirs
        of_broker, of_all = (self.log_dirs.get(name, {}) for name in (str(broker), EVERY))
        found = (shares.get(name) for shares in (of_broker, of_all) for name in (path, EVERY))
        return next((share for share in found if share is not None), None)

    def stated(self) -> Mapping[Limited, Limit]:
        """The limits of brokers that there are, by resource."""
        limits: dict[Limited, Limit] = {}
        for name in (*RESOURCES, *COUNTS):
            value = getattr(self, name)
            if value is not None:
                limits[name] = value if isinstance(value, Limit) else Limit(share=value)
        return limits


@dataclass(frozen=True, slots=True)
class PricesRequest:
    """Prices, in any currency."""

    cross_rack_per_gib: float = 0.0


GoalName = Literal["disk", "nic_in", "nic_out", "cpu", "replicas", "leaders", "topic_replicas"]
"""What a goal balances."""


@dataclass(frozen=True, slots=True)
class GoalRequest:
    """A goal; 0 is as balanced as possible, t > 0 within ±t of each broker's share by capacity."""

    goal: GoalName
    tolerance: float = 0.0


@dataclass(frozen=True, slots=True)
class GoalsRequest:
    """Goals in order of priority: none worsens those before it."""

    goals: Sequence[GoalRequest]


ObjectiveRequest: TypeAlias = Literal["balance", "relieve"] | GoalsRequest
"""`balance` is what `balance` of the request states; `relieve` brings brokers below limits and changes nothing else."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ResourceFields:
    """The fields of a request about resources, of plans and of checks.

    Parameters
    ----------
    capacity : by broker id, `*` for all others; over the snapshot's.
    consumers : by topic, how many times its bytes are read; `*` for all others, which are read 0 times by default.
    follower_fetching : whether consumers read from the replica in their rack (KIP-392).
    cpu_model : None is the default model. growth : by topic, the factor on sizes and rates; `*` for all others.
    prices : None leaves out costs.
    """

    capacity: Mapping[str, CapacityRequest] = field(default_factory=dict)
    consumers: Mapping[str, float] = field(default_factory=dict)
    follower_fetching: bool = False
    cpu_model: CpuModel | None = None
    growth: Mapping[str, float] = field(default_factory=dict)
    limits: LimitsRequest = LimitsRequest()
    prices: PricesRequest | None = None


def stated_fields(request: ResourceFields, fields: Mapping[str, Json]) -> dict[str, Json]:
    """The canonical fields of a request without those about resources that have their default.

    So a request that states none of them keeps the hash that it had before there were any.
    """
    default = ResourceFields()
    unstated = {
        name for name in ResourceFields.__dataclass_fields__ if getattr(request, name) == getattr(default, name)
    }
    return {name: value for name, value in fields.items() if name not in unstated}


def check_resources(request: ResourceFields) -> None:
    """Raise `ConflictingFields` for limits that are no limits."""
    for path, value, detail in _conflicts(request):
        raise ConflictingFields(detail, path=path, value=value)


def _conflicts(request: ResourceFields) -> Iterator[tuple[FieldPath, Json, str]]:
    for name, limit in request.limits.stated().items():
        path = ("limits", name)
        if (limit.share is None) == (limit.absolute is None):
            yield path, None, f"the limit of {name} is either a share or absolute, and one of the two is required"
        elif limit.share is not None and name in COUNTS:
            detail = f"the limit of {name} is a share of a capacity, and no broker has a capacity of {name}; state "
            yield path, limit.share, f'{detail}{{"absolute": …}}'


def topic_factors(stated: Mapping[str, float], names: Sequence[str], otherwise: float) -> list[float]:
    """By topic in the order of `names`: what is stated of it, else of `*`, else `otherwise`."""
    rest = stated.get(EVERY, otherwise)
    return [stated.get(name, rest) for name in names]
