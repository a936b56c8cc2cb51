"""Requests for sweeps over the seeds of a placement."""

from typing import Annotated, Literal

from pydantic import Field

from app.api.clusters import BrokerRequest
from app.api.fields import Id, Int32, Labels, Seed
from app.api.fields import Request as RequestModel
from app.api.replicas import NewTopicRequest
from app.api.sweeps.fields import KnownKind
from app.core.replicas.registry import PLACEMENTS
from app.services.sweeps import SweepRequest


class SeedsRequest(RequestModel):
    """`count` consecutive seeds; scenario i is placed with `first` + i."""

    first: Seed = 0
    count: Annotated[Int32, Field(ge=1)]


class DrawsChanges(RequestModel):
    """The seeds."""

    seeds: SeedsRequest | None = None


class DrawsSweepRequest(DrawsChanges):
    """A sweep over seeds: topics on brokers, placed with each seed as a controller would place them."""

    kind: Annotated[Literal["placement_draws"], KnownKind]
    snapshot_id: Id | None = None
    brokers: Annotated[list[BrokerRequest], Field(min_length=1)] | None = None
    topics: Annotated[list[NewTopicRequest], Field(min_length=1)]
    algorithm: Literal[tuple(PLACEMENTS)] = "striped"  # type: ignore[valid-type] # the registry is what decides
    rack_mode: Literal["enforced", "safe", "disabled"] | None = Field(
        None, description="How racks constrain the placement; the default is the algorithm's."
    )
    seeds: SeedsRequest
    labels: Labels = Field(default_factory=dict)

    def service(self) -> SweepRequest:
        """The service's request; absent fields have their defaults."""
        definition = self.model_dump(mode="json", exclude_none=True, exclude={"kind", "labels"})
        return SweepRequest(self.kind, definition, self.labels)
