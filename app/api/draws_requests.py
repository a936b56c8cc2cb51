"""A sweep over the seeds of a placement, as requests write it."""

from typing import Annotated, Literal

from pydantic import Field

from app.api.clusters import BrokerRequest
from app.api.fields import Id, Int32, Labels, Seed
from app.api.fields import Request as RequestModel
from app.api.replicas import NewTopicRequest
from app.api.sweep_kind_field import KnownKind
from app.core.replicas.registry import PLACEMENTS
from app.services.sweeps import SweepRequest


class SeedsRequest(RequestModel):
    """`count` seeds in a row; scenario i is placed from `first` + i."""

    first: Seed = 0
    count: Annotated[Int32, Field(ge=1)]


class DrawsChanges(RequestModel):
    """Which seeds are drawn from."""

    seeds: SeedsRequest | None = None


class DrawsSweepRequest(DrawsChanges):
    """A sweep over seeds: topics on brokers, placed anew from each, as controllers draw them."""

    kind: Annotated[Literal["placement_draws"], KnownKind]
    snapshot_id: Id | None = None
    brokers: Annotated[list[BrokerRequest], Field(min_length=1)] | None = None
    topics: Annotated[list[NewTopicRequest], Field(min_length=1)]
    algorithm: Literal[tuple(PLACEMENTS)] = "striped"  # type: ignore[valid-type] # the registry is what decides
    rack_mode: Literal["enforced", "safe", "disabled"] | None = Field(
        None, description="How much racks count; where it is left out, as the algorithm has it."
    )
    seeds: SeedsRequest
    labels: Labels = Field(default_factory=dict)

    def service(self) -> SweepRequest:
        """As the service knows it: what was left out is the default."""
        definition = self.model_dump(mode="json", exclude_none=True, exclude={"kind", "labels"})
        return SweepRequest(self.kind, definition, self.labels)
