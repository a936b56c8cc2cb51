"""`/v1/plans/replicas`: where new topics and new partitions land."""

from typing import Annotated, Literal

from fastapi import APIRouter, Body, Depends, Response
from pydantic import Field

from app import errors
from app.api import examples
from app.api.clusters import BrokerRequest
from app.api.dependencies import RequestLimits, Uow, json_only
from app.api.fields import AttributeName, Id, Int32, Labels, Name, PartitionId, Seed, TopicName
from app.api.fields import Request as RequestModel
from app.api.idempotency import OnceOnly
from app.api.plan_documents import PlanDocument
from app.api.planned import LATER, IfMatch, Prefer, planned
from app.api.problems import responses
from app.core.model import NewTopic
from app.core.replicas.awareness.placing import POLICIES
from app.core.replicas.awareness.rules import Policy
from app.core.replicas.rack_modes import RackMode
from app.core.replicas.registry import PLACEMENTS
from app.services import replica_requests, replicas
from app.services.replica_requests import ReplicasRequest

router = APIRouter(prefix="/v1/plans", tags=["plans"])

# The bounds are documented here and checked by the core, whose failures say more than "less than 1".
Count = Annotated[Int32, Field(json_schema_extra={"minimum": 1})]


ForcedValues = Annotated[list[Name], Field(min_length=1, max_length=1000)]


class NewTopicRequest(RequestModel):
    """Partitions to place: of a new topic, or from `start_partition_id` on of one that has that many."""

    name: TopicName
    partitions: Count
    replication_factor: Count
    start_partition_id: PartitionId = 0

    def core(self) -> NewTopic:
        """As the core knows it."""
        return NewTopic(self.name, self.partitions, self.replication_factor, self.start_partition_id)


class PlaceRequest(RequestModel):
    """Topics to place, on the brokers of a snapshot or on brokers listed here."""

    snapshot_id: Id | None = None
    brokers: Annotated[list[BrokerRequest], Field(min_length=1)] | None = None
    algorithm: Literal[tuple(PLACEMENTS)] = Field(  # type: ignore[valid-type] # the registry is what decides
        "admin_utils",
        description="; ".join(f"`{algorithm.name}`: {algorithm.summary}" for algorithm in PLACEMENTS.values()),
    )
    rack_mode: Literal["enforced", "safe", "disabled"] | None = Field(
        None,
        description="Where it is left out Kafka's own way: admin_utils enforces racks, striped takes the brokers "
        "without one as a rack of their own. Not for awareness.",
    )
    fixed_start_index: PartitionId | None = Field(
        None,
        description="Where admin_utils starts in the broker list. Nothing is drawn then, and the plan is `pinned`.",
    )
    seed: Seed | None = Field(
        None,
        description="Replays the generator of a controller. One that is left out comes from the request's own hash "
        "and is answered; the plan's `prediction` is then `envelope`, but with awareness, which no controller does.",
    )
    policy: Literal[tuple(policy.value for policy in Policy)] | None = Field(  # type: ignore[valid-type] # as above
        None,
        description="Whose rule awareness follows; `spread` where it is left out. For awareness alone. "
        + "; ".join(f"`{policy.value}`: {rule.summary} ({rule.source})" for policy, rule in POLICIES.items()),
    )
    attributes: Annotated[list[AttributeName], Field(min_length=1, max_length=16)] | None = Field(
        None,
        description="The attributes of brokers that awareness minds, the one that counts most first; `rack` where they "
        "are left out. For awareness alone.",
    )
    forced: Annotated[dict[AttributeName, ForcedValues], Field(min_length=1, max_length=16)] | None = Field(
        None,
        description="By attribute the values that there are meant to be: the share of one without a live broker stays "
        "unassigned. For the policy `forced` alone.",
    )
    topics: Annotated[list[NewTopicRequest], Field(min_length=1)]
    labels: Labels = Field(default_factory=dict)

    def service(self) -> ReplicasRequest:
        """As the service knows it."""
        return ReplicasRequest(
            topics=[topic.core() for topic in self.topics],
            snapshot_id=self.snapshot_id,
            brokers=None if self.brokers is None else [broker.broker() for broker in self.brokers],
            algorithm=self.algorithm,
            rack_mode=None if self.rack_mode is None else RackMode(self.rack_mode),
            fixed_start_index=self.fixed_start_index,
            seed=self.seed,
            policy=None if self.policy is None else Policy(self.policy),
            attributes=self.attributes,
            forced=self.forced,
            labels=self.labels,
        )


@router.post(
    "/replicas",
    status_code=201,
    operation_id="plan_replicas",
    summary="Place new topics as Kafka does",
    dependencies=[Depends(json_only)],
    response_model=PlanDocument,
    responses=responses(
        errors.SnapshotNotFound,
        errors.SnapshotChanged,
        errors.LimitExceeded,
        errors.InvalidPartitions,
        errors.InvalidReplicationFactor,
        errors.BrokersWithoutRack,
        errors.ArithmeticOverflow,
        errors.AttributeMissing,
        errors.DuplicateAttribute,
        errors.ForcedAttributeNotListed,
        errors.TooFewValues,
        errors.DuplicateBroker,
        errors.DuplicateTopic,
        errors.UnsupportedMediaType,
        errors.IdempotencyKeyInFlight,
        others=LATER,
    ),
)
def plan_replicas(
    uow: Uow,
    once: OnceOnly,
    limits: RequestLimits,
    body: Annotated[PlaceRequest, Body(openapi_examples=examples.PLACE_REQUEST)],
    prefer: Prefer = None,
    if_match: IfMatch = None,
) -> Response:
    """Say where the replicas of new topics land, exactly as Kafka's own code would place them; the same request gets
    the same plan, byte for byte.

    The plan's `prediction` is `replay` (this seed gives exactly this), `pinned` (no controller draws it: hand the
    assignment to Kafka) or `envelope` (a controller draws its own seed: this is one outcome, and `envelope` says what
    all of them have in common).
    """

    return planned(
        uow,
        once,
        body.service,
        kind=replica_requests.KIND,
        prefer=prefer,
        if_match=if_match,
        check=lambda wanted: replica_requests.check(wanted, limits, is_job=True),
        stored=replica_requests.stored,
        plan=lambda wanted, hashes: replicas.place(uow, wanted, limits, if_match=hashes),
    )
