"""The request for a check."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Annotated, Literal, cast
from uuid import UUID

from pydantic import Field, TypeAdapter

from app.errors.requests import ConflictingFields
from app.formats.kafka_files.reassignment import Reassignment
from app.services import checks
from app.services.bodies import Read
from app.services.bodies import Request as RequestModel
from app.services.fields import Int32, LogDirPath, Rack, RequestedRelease, SnapshotFields, TopicName
from app.services.limits import Limits
from app.services.plans import LossSelection
from app.services.reassignment.requests.parts import InRack, ResourceFields
from app.store.database import UnitOfWork

_REASSIGNMENT = TypeAdapter(Reassignment)


class ReassignedPartition(RequestModel):
    """One partition of a reassignment, as `kafka-reassign-partitions` writes it."""

    topic: TopicName
    """Name of the topic."""
    partition: Int32
    """Id of the partition in its topic."""
    replicas: list[Int32]
    """Target replicas as broker ids, the preferred leader first."""
    log_dirs: list[LogDirPath] | None = None
    """Log directory of each replica, in the order of `replicas`, or `any`; null for none."""
    observers: list[Int32] = Field(default_factory=list)
    """The observers among `replicas`, in Confluent Server."""


class ReassignmentFile(RequestModel):
    """The JSON file that `kafka-reassign-partitions` takes."""

    version: Literal[1] = 1
    """Version of the file's format."""
    partitions: Annotated[list[ReassignedPartition], Field(min_length=1)]
    """Partitions to reassign, each once."""


class LossesFields(RequestModel):
    """Brokers and racks that are lost, each alone."""

    brokers: Annotated[list[Int32], Field(max_length=10_000)] | None = None
    """Ids of brokers."""
    racks: Annotated[list[Rack], Field(max_length=10_000)] | None = None
    """Names of racks."""


def _losses(losses: Literal["all"] | LossesFields) -> LossSelection:
    return LossSelection() if isinstance(losses, str) else LossSelection(losses.brokers, losses.racks)


@dataclass(frozen=True, kw_only=True)
class CheckRequest(ResourceFields, SnapshotFields):
    """A reassignment and the cluster that it is for; or the cluster as it is. With capacities, limits or rates a check
    of a reassignment reports the loads after it."""

    requires_snapshot = True
    reassignment: ReassignmentFile | None = None
    """The reassignment, as the file that `kafka-reassign-partitions` takes; null if `output` has it. Without both, the
    cluster is checked as it is."""
    output: Annotated[str, Field(min_length=1)] | None = None
    """Output of `kafka-reassign-partitions`, unchanged and recognized by its contents: of `--generate` the proposed
    lists are checked, of `--execute` the previous ones, which a rollback restores; of `--verify` the answer has the
    `progress` of each partition beside the plan, which is `reassignment` if it is given too."""
    losses: Annotated[
        Annotated[LossSelection, Read(Literal["all"] | LossesFields, _losses)] | None,
        Field(
            description="The answer has the load of every remaining broker after the loss of "
            f"each broker and each rack, or of those listed; at most {checks.MOST_LOADS_OF_LOSSES} loads."
        ),
    ] = None
    running_reassignment: Literal["refuse", "merge"] = "merge"
    """Partitions that are being reassigned: `merge` checks from their target replicas, with a warning; `refuse` returns
    409."""
    kafka_version: RequestedRelease = None
    allow_lower_factor: bool = False
    """Whether a reassignment may lower replication factors below 2, or below the topic's other partitions: it is
    then a warning, otherwise the violation `factor_lowered`."""

    placement: Mapping[TopicName, InRack] = field(default_factory=dict)
    """By topic, `in_rack`: all replicas of a partition are to be in one rack, otherwise it is the violation
    `not_in_rack`; the topic does not have to span racks."""

    def health(self) -> checks.HealthRequest:
        """The request as the service reads it."""
        return checks.HealthRequest(**{name: getattr(self, name) for name in _OF_SERVICE})

    @property
    def is_of_cluster(self) -> bool:
        """Whether the cluster is checked as it is. Raises `ConflictingFields` if it is, with a lower factor allowed."""
        is_as_it_is = self.reassignment is None and self.output is None
        if is_as_it_is and self.allow_lower_factor:
            detail = "allow_lower_factor is about a reassignment, and the cluster is checked as it is; leave it out"
            raise ConflictingFields(detail, path=("allow_lower_factor",))
        return is_as_it_is


_OF_SERVICE = (*ResourceFields.__dataclass_fields__, "losses", "allow_lower_factor", "placement")


def run_check(uow: UnitOfWork, body: CheckRequest, limits: Limits) -> checks.Check:
    """Check a request's reassignment or cluster. Raises the `Failure`s of checking."""
    given, version = body.reassignment, body.kafka_version
    snapshot_id = cast("UUID", body.on_newest(uow).snapshot_id)
    if body.is_of_cluster:
        return checks.check_health(uow, snapshot_id, body.health(), limits, version)
    return checks.check(
        uow,
        snapshot_id,
        None if given is None else _REASSIGNMENT.validate_python(given.model_dump(exclude={"version"})),
        limits,
        running_reassignment=body.running_reassignment,
        output=body.output,
        kafka_version=version,
        request=body.health(),
    )
