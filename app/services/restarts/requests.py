"""The request for a restart: the body of the API, stored with a job."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Annotated, Literal

from pydantic import Field, TypeAdapter

from app.core.model import INT32_MAX
from app.errors.every import ConflictingFields
from app.services.amounts import InBytes, InSeconds
from app.services.bodies import ListOf, RequestRecord
from app.services.fields import BrokerId, Defaults, Labels, OneOrEach, RequestedRelease, SnapshotFields, TopicName
from app.services.reassignment.requests import parts
from app.services.snapshots import require_distinct


@dataclass(frozen=True)
class RestartLimits(RequestRecord, schema="RestartLimitsFields"):
    """Upper limits of each broker while others are restarted. They are hard."""

    leaders: parts.LimitRequest | None = None
    """Limit of the number of partitions that it leads, `{"absolute": …}`."""
    nic_out: parts.LimitRequest | None = None
    """Limit of sent bytes/s: replication and consumers. Followers that are down count, since they catch up."""
    nic_in: parts.LimitRequest | None = None
    """Limit of received bytes/s, which a new leader does not change: producers now send the former leader's bytes."""
    cpu: parts.LimitRequest | None = None
    """Limit of vCPU, by `cpu_model`."""

    @property
    def of_brokers(self) -> parts.LimitsRequest:
        """The same as limits of a reassignment."""
        return parts.LimitsRequest(**vars(self))


@dataclass(frozen=True, kw_only=True)
class RestartRequest(SnapshotFields, schema="PlanRestartRequest"):
    """Rules for every wave of restarts, and known durations."""

    requires_snapshot = True
    per: Literal["broker", "rack"] = "broker"
    """`rack`: no wave has brokers of two racks."""
    max_brokers_per_wave: Annotated[int, Field(ge=1, le=INT32_MAX)] | None = None
    """The most brokers of a wave; null does not limit it."""
    limits: RestartLimits = field(default_factory=RestartLimits)
    """Upper limits of each remaining broker's load while a wave is down and its leaders are elsewhere."""
    controllers: Annotated[ListOf[BrokerId], Field(max_length=100)] = field(default_factory=list)
    """Ids of the brokers that are voters of the quorum of controllers (`kafka-metadata-quorum`), all of which count for
    the majority. Dedicated controllers are no brokers, and are left out."""
    order: Literal["controllers_last"] | None = None
    """`controllers_last`: waves with controllers come after those without; null orders by rack, if `per` is `rack`, and
    by the smallest broker id."""
    restart_seconds: Annotated[float, Field(allow_inf_nan=False), InSeconds(le=86_400)] = 120.0
    """Time for which a restarted broker is down."""
    catch_up_bytes_per_s: Annotated[float, Field(allow_inf_nan=False), InBytes(gt=0, le=1e15)] | None = None
    """Rate at which a restarted broker fetches missed data; null leaves the catch-up out of `seconds`."""
    defaults: Defaults = field(default_factory=Defaults)
    """Values that the snapshot does not have; without them 1 replica has to be in sync. A warning says so."""
    capacity: Mapping[parts.BrokerOrAll, parts.CapacityRequest] = field(default_factory=dict)
    """Capacities by broker id, `*` for all others; they override the snapshot's."""
    ingress_bytes_per_s: Mapping[TopicName, OneOrEach[parts.Rate]] | None = None
    """By topic, the ingress rate of the topic, or of each partition; by default the rates that the snapshot has."""
    consumers: Mapping[parts.TopicOrAll, parts.Times] = field(default_factory=dict)
    """By topic, the number of consumer groups that read each byte; `*` for all other topics, 0 by default."""
    cpu_model: parts.CpuModel | None = None
    """The model of the processor; by default a vCPU receives 20 MiB/s, or sends 80 MiB/s."""
    pod_name: Annotated[str, Field(max_length=249, pattern=r"^[a-z0-9.-]*\{broker\}[a-z0-9.-]*$")] = "kafka-{broker}"
    """Name of a broker's pod, with `{broker}` in place of its id; the format `kubernetes` has these names."""
    kafka_version: RequestedRelease = None
    labels: Labels = field(default_factory=dict)


def check_restart(request: RestartRequest) -> None:
    """Raise `ConflictingFields` for a controller that is listed twice, and for limits that are none, or soft."""
    require_distinct("broker", request.controllers, ConflictingFields, "controllers", where=" in controllers")
    limits = request.limits.of_brokers
    parts.check_resources(parts.ResourceFields(limits=limits))
    for name, limit in limits.stated().items():
        if limit.soft:
            detail = f"the limit of {name} is soft, and limits of a restart are hard"
            raise ConflictingFields(detail, path=("limits", name))


READER = TypeAdapter(RestartRequest)
"""Reads the body of a request."""
