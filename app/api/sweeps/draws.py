"""Requests for sweeps over the seeds of a placement."""

from typing import Annotated, Literal

from pydantic import Field

from app.api.replicas import NewTopicRequest
from app.api.sweeps.fields import KnownKind, Submission
from app.core.replicas.registry import PLACEMENTS
from app.services.bodies import Request as RequestModel
from app.services.fields import BrokerRequest, Int32, Labels, OnSnapshot, Seed


class SeedsRequest(RequestModel):
    """`count` independent seeds; scenario i has the low 48 bits of SplitMix64 of `first` + i."""

    first: Seed = 0
    count: Annotated[Int32, Field(ge=1)]
    """Number of seeds."""


class DrawsChanges(RequestModel):
    """The seeds."""

    seeds: SeedsRequest | None = None
    """Range of seeds; null keeps it."""


class DrawsSweepRequest(OnSnapshot, Submission, DrawsChanges):
    """A sweep over seeds: topics on brokers, placed with each seed as a controller would place them."""

    kind: Annotated[Literal["placement_draws"], KnownKind]
    """Kind of the sweep."""
    brokers: Annotated[list[BrokerRequest], Field(min_length=1)] | None = None
    """Brokers to place on, each once; null if a snapshot has them."""
    topics: Annotated[list[NewTopicRequest], Field(min_length=1)]
    """Topics to place, in the order in which they are created."""
    algorithm: Literal[tuple(PLACEMENTS)] = "striped"  # type: ignore[valid-type] # decided by the registry
    """Name of the placement algorithm."""
    rack_mode: Literal["enforced", "safe", "disabled"] | None = None
    """How racks constrain the placement; the default is the algorithm's."""
    seeds: SeedsRequest
    """Range of seeds; each is a scenario."""
    labels: Labels = Field(default_factory=dict)
