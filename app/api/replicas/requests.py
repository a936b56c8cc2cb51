"""The request for a placement of new topics and new partitions."""

from collections.abc import Callable, Mapping, Sequence
from typing import Annotated, Any, Literal

from pydantic import Field, create_model

from app.api.models.clusters import CordonableBrokerRequest
from app.core.replicas.options import Option
from app.core.replicas.registry import PLACEMENT_OPTIONS, PLACEMENTS
from app.services import fields
from app.services.bodies import Request as RequestModel
from app.services.replicas import PLANNER, ReplicasRequest

# The bounds are documented here and checked by the core, whose failures say more than "less than 1".
Count = Annotated[fields.Int32, Field(json_schema_extra={"minimum": 1})]


OptionValues = Annotated[list[fields.Name], Field(min_length=1, max_length=1000)]


class NewTopicRequest(RequestModel):
    """Partitions of a new topic, or, from `start_partition_id` on, of an existing one."""

    name: fields.TopicName
    partitions: Count
    """Number of partitions to place."""
    replication_factor: Count
    """Number of replicas of each partition."""
    start_partition_id: fields.PartitionId = 0
    """Id of the first partition to place; 0 for a new topic."""


class ConfiguredTopicRequest(NewTopicRequest):
    """Partitions of a new topic with its configurations, or of an existing one."""

    configs: fields.TopicConfigs = Field(default_factory=dict)
    """Configurations of a new topic, such as `min.insync.replicas`: they count for the cost of a loss, and the
    commands that create the topic state them."""


class _PlaceFields(fields.OnSnapshot):
    """Where to place, with which algorithm."""

    brokers: Annotated[list[CordonableBrokerRequest], Field(min_length=1)] | None = None
    """Brokers to place on, each once; null if a snapshot has them."""
    cordoned_brokers: list[fields.BrokerId] | None = None
    """Brokers whose log directories are all cordoned (KIP-1066), which get no replica; by default as in the
    snapshot. `cordoned` of `brokers` adds to them."""
    algorithm: Literal[tuple(PLACEMENTS)] | None = Field(  # type: ignore[valid-type] # decided by the registry
        None,
        description="By default the algorithm of the cluster's controller: `striped` under KRaft, `admin_utils` under "
        "ZooKeeper, and `striped` with the warning `algorithm_assumed` if the kind of controller is unknown; "
        "`admin_utils` with `fixed_start_index`. "
        + "; ".join(f"`{algorithm.name}`: {algorithm.summary}" for algorithm in PLACEMENTS.values()),
    )
    rack_mode: Literal["enforced", "safe", "disabled"] | None = None
    """How racks constrain the placement. By default admin_utils enforces racks, and striped treats the brokers without
    one as a rack. Not for awareness."""
    fixed_start_index: fields.PartitionId | None = None
    """Start index of admin_utils in the list of brokers. The plan is then `pinned`: nothing is random."""
    seed: fields.Seed | None = None
    """Seed of the controller's generator, which is replayed. By default it is derived from the request's hash, and the
    plan's `prediction` is `envelope` (of awareness and copysets: `pinned`)."""
    defaults: fields.Defaults | None = None
    """Values for new topics, and for topics that lack them in the snapshot."""


def _with_options(base: type[RequestModel]) -> type[RequestModel]:
    """The model with a field for each option of the registry."""
    by_name: dict[str, Any] = {
        name: (_ANNOTATIONS[option.form](option) | None, Field(None, description=_described(option, algorithms)))
        for name, (option, algorithms) in PLACEMENT_OPTIONS.items()
    }
    return create_model(f"{base.__name__}WithOptions", __base__=base, **by_name)


def _described(option: Option, algorithms: Sequence[str]) -> str:
    return f"{option.description} For the algorithm `{'`, `'.join(algorithms)}`."


_ANNOTATIONS: Mapping[str, Callable[[Option], Any]] = {
    "choice": lambda option: Literal[option.choices],
    "names": lambda _: Annotated[list[fields.AttributeName], Field(min_length=1, max_length=16)],
    "values_by_name": lambda _: Annotated[dict[fields.AttributeName, OptionValues], Field(min_length=1, max_length=16)],
    "integer": lambda option: Annotated[fields.Int32, Field(ge=option.bounds[0], le=option.bounds[1])],
    "flag": lambda _: bool,
}


class PlaceRequest(_with_options(_PlaceFields)):  # type: ignore[misc] # the registry decides which options there are
    """Topics to place, on the brokers of a snapshot or on brokers listed here."""

    topics: Annotated[list[ConfiguredTopicRequest], Field(min_length=1)]
    """Topics to place, in the order in which they are created."""
    kafka_version: fields.RequestedRelease = None
    compare_kafka_versions: fields.ComparedReleases = Field(default_factory=list)
    labels: fields.Labels = Field(default_factory=dict)

    def service(self) -> ReplicasRequest:
        """As the service knows it."""
        plain = self.model_dump()
        plain["configs"] = {topic["name"]: configs for topic in plain["topics"] if (configs := topic.pop("configs"))}
        cordoned = {broker.id for broker in self.brokers or () if broker.cordoned}
        if cordoned:
            given = self.cordoned_brokers or []
            plain["cordoned_brokers"] = [*given, *sorted(cordoned.difference(given))]
        return PLANNER.restored(plain)
