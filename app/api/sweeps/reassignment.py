"""Requests for sweeps over reassignments of a cluster."""

from typing import Annotated, Literal

from pydantic import Field

from app.api.models.fields import BrokerId, Labels, Rack, TopicName
from app.api.models.fields import Request as RequestModel
from app.api.models.snapshot_choice import OnSnapshot
from app.api.reassignment import (
    BrokerSetName,
    EvenReplicas,
    LimitsFields,
    LoadFields,
    Objective,
    PerTopicReplicasFields,
)
from app.api.reassignment.requests import Weight
from app.api.reassignment.resource_fields import BrokerOrAll
from app.api.sweeps.fields import ChangeAxes, KnownKind, Submission
from app.services.reassignment.requests.resources import Resource
from app.services.sweeps import SweepRequest


class SweepBalance(RequestModel):
    """The balance constraint of every scenario."""

    replicas: EvenReplicas | None = Field(
        None,
        description="`tight`: max − min ≤ 1 wherever that is possible; `keep`: only replicas that must move do; a "
        "tolerance: in between. The default is `tight` if brokers are added, `keep` otherwise.",
    )
    resources: Annotated[list[Resource], Field(max_length=4)] | None = Field(
        None,
        description="Resources that are balanced jointly, each by the capacity of each broker, together with "
        "`replicas` if these are `tight` or have a tolerance.",
    )
    per_topic: PerTopicReplicasFields | None = None
    """The balance of each topic, by count; without limits, resources or an objective."""
    weights: Literal["capacity"] | dict[BrokerOrAll, Weight] | None = Field(
        None,
        description="By broker id, or `*` for all others and added ones, the weight of a broker: bands of replicas and "
        "of each topic are in proportion to it. `capacity`: disk_bytes is the weight. By default the weights are those "
        "of the snapshot, and 1 for added brokers.",
    )


class ReassignmentChanges(RequestModel):
    """The options of a change, besides the axes."""

    balance: SweepBalance | None = None
    """The balance constraint of every scenario; null for its default."""
    limits: LimitsFields | None = None
    """Upper limits of every broker. One that cannot hold is exceeded as little as is found; the scenario says so."""
    minimise: Literal["bytes", "replicas"] | None = None
    """What to minimise; null for the default."""
    racks_of_added: Annotated[list[Rack], Field(min_length=1, max_length=10_000)] | None = Field(
        None,
        description="The racks of added brokers, in rotation from the first. By default each gets the rack that has "
        "the fewest brokers by then, of equal ones the first by name.",
    )


class ReassignmentSweepRequest(OnSnapshot, Submission, ReassignmentChanges, LoadFields):
    """A sweep over changes of a cluster: a broker removed, brokers added, limits varied; and what moves."""

    kind: Annotated[Literal["reassignment"], KnownKind]
    """Kind of the sweep."""
    requires_snapshot = True
    axes: ChangeAxes
    topics: Annotated[list[TopicName], Field(min_length=1)] | None = Field(
        None, description="Topics whose partitions may move; all by default. Others count where they are."
    )
    minimise: Literal["bytes", "replicas"] = Field(
        "bytes", description="What to minimise; `replicas` if the size of any partition is unknown."
    )
    rack_mode: Literal["enforced", "safe", "disabled"] = Field(
        "enforced",
        description="`enforced`: a partition spans min(replicas, racks) racks of those before a broker is removed, "
        "and every broker needs a rack; `safe`: of the remaining racks, unconstrained if a broker has no rack; "
        "`disabled`: racks are not constrained.",
    )
    objective: Objective = Field(
        "balance",
        description="`balance`: what `balance` states; `relieve`: the least movement that brings every broker below "
        "its limits, and no other change; or goals in order of priority.",
    )
    broker_sets: dict[BrokerSetName, Annotated[list[BrokerId], Field(min_length=1)]] = Field(
        default_factory=dict,
        description="By name, the brokers of a set; no broker is in two. The topics of a set are on its brokers alone, "
        "and topics of no set on the brokers outside every set. An added broker is in none.",
    )
    topic_sets: Literal["topic_name_hash"] | dict[TopicName, BrokerSetName] = Field(
        default_factory=dict,
        description="By topic, the name of its set; `topic_name_hash` maps every topic by its name, as Cruise Control "
        "does by default.",
    )
    labels: Labels = Field(default_factory=dict)

    def service(self) -> SweepRequest:
        """The service's request; what has its default is left out of the definition, but `minimise` and `rack_mode`."""
        request = super().service()
        unstated = {
            name
            for name in ("objective", "broker_sets", "topic_sets", *LoadFields.model_fields)
            if getattr(self, name) == type(self).model_fields[name].get_default(call_default_factory=True)
        }
        definition = {name: value for name, value in request.definition.items() if name not in unstated}
        return SweepRequest(request.kind, definition, request.labels)
