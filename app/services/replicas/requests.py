"""The request for a placement: the record, and its validation by itself."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

from pydantic import TypeAdapter

from app.core.model import INT32_MAX, Broker, NewTopic
from app.core.replicas.options import RackMode
from app.core.replicas.registry import PLACEMENT_OPTIONS, PLACEMENTS
from app.errors.every import ConflictingFields, DuplicateBroker, DuplicateTopic, InvalidPartitions, KafkaError
from app.services.fields import Defaults
from app.services.limits import Limits
from app.services.snapshots import check_brokers, require_distinct

KIND = "replicas"


@dataclass(frozen=True, slots=True)
class ReplicasRequest:
    """Topics to place, on the brokers of a snapshot or on the given ones.

    Parameters
    ----------
    algorithm : None is the one of the cluster's controller.
    rack_mode : None is Kafka's behaviour: AdminUtils enforces racks, KRaft's placer takes brokers without one as a rack
        of their own.
    fixed_start_index : where AdminUtils starts in the list of brokers; nothing is random then.
    cordoned_brokers : all log directories of them are cordoned; None is as in the snapshot.
    seed : of the controller's generator; None derives one from the request's hash.
    compare_kafka_versions : releases whose answers are compared with the plan.
    kafka_version : the release whose code places; None is the snapshot's, or the newest.
    configs : by name of a topic to place, its configurations.
    defaults : for topics of which the snapshot does not know it, and new ones.
    options : by name, for the algorithm alone that has them; see `PLACEMENT_OPTIONS`.
    """

    topics: Sequence[NewTopic]
    snapshot_id: UUID | None = None
    brokers: Sequence[Broker] | None = None
    cordoned_brokers: Sequence[int] | None = None
    algorithm: str | None = None
    rack_mode: RackMode | None = None
    fixed_start_index: int | None = None
    seed: int | None = None
    kafka_version: str | None = None
    compare_kafka_versions: tuple[str, ...] = ()
    configs: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    defaults: Defaults | None = None
    options: Mapping[str, Any] = field(default_factory=dict)
    labels: Mapping[str, str] = field(default_factory=dict)


def check(request: ReplicasRequest, limits: Limits) -> None:
    """Validate a request before anything is looked up.

    Raises
    ------
    ConflictingFields, DuplicateBroker, DuplicateTopic, LimitExceeded, InvalidPartitions
    As the algorithm's options.
    """
    _check_options(request)
    check_brokers(request.brokers or (), limits)
    cordoned = request.cordoned_brokers or ()
    require_distinct("broker", cordoned, DuplicateBroker, "cordoned_brokers")
    limits.check_count("topics", request.topics, path=("topics",))
    names = [topic.name for topic in request.topics]
    require_distinct("topic", names, DuplicateTopic, "topics", member="name")
    replicas = sum(max(topic.partitions, 0) * max(topic.replication_factor, 0) for topic in request.topics)
    limits.check_number("partitions", partitions_of(request), path=("topics",))
    limits.check_number("replicas", replicas, path=("topics",))
    for index, topic in enumerate(request.topics):
        last = max(topic.start_partition_id, 0) + topic.partitions - 1
        if topic.partitions > 0 and last > INT32_MAX:
            detail = f"the last partition id would be {last}; Kafka's partition ids end at {INT32_MAX}"
            kafka, first = KafkaError("InvalidPartitionsException"), topic.start_partition_id
            path, maximum = ("topics", index, "start_partition_id"), INT32_MAX - topic.partitions + 1
            raise InvalidPartitions(detail, kafka=kafka, path=path, value=first, maximum=maximum)


def partitions_of(request: ReplicasRequest) -> int:
    """The number of partitions to place."""
    return sum(max(topic.partitions, 0) for topic in request.topics)


def _check_options(request: ReplicasRequest) -> None:
    """Reject wrong options, and options that the algorithm does not have."""
    for name, value in request.options.items():
        _, algorithms = PLACEMENT_OPTIONS[name]
        if value is not None and request.algorithm not in algorithms:
            requested = f"{request.algorithm} is requested" if request.algorithm else "the request has no algorithm"
            detail = f"{name} goes with the algorithm {' or '.join(algorithms)}; {requested}"
            raise ConflictingFields(detail, path=(name,), algorithm=request.algorithm)
    options = None if request.algorithm is None else PLACEMENTS[request.algorithm].options
    if options is None:
        return
    options.read(request.options)
    if request.rack_mode is not None and options.rack_mode_conflict is not None:
        raise ConflictingFields(options.rack_mode_conflict, path=("rack_mode",), value=request.rack_mode.value)


READER = TypeAdapter(ReplicasRequest)
