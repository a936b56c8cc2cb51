"""Requests for sweeps over the consumer groups of a cluster."""

from typing import Annotated, Literal

from pydantic import Field

from app.api.sweeps.fields import KnownKind, Submission
from app.services.bodies import Request as RequestModel
from app.services.fields import GroupString, Int32, Labels, OnSnapshot, RequestedRelease, Seed
from app.services.groups.requests import AssignorName

Numbers = Annotated[list[Annotated[Int32, Field(ge=0, le=10_000)]], Field(min_length=1, max_length=1000)]


class GroupsChanges(RequestModel):
    """The assignors, and the numbers of members lost and added."""

    assignors: Annotated[list[AssignorName], Field(min_length=1)] | None = None
    """Names of assignors; null keeps them."""
    members_lost: Numbers | None = None
    """Numbers of members that a group loses at once; null keeps them."""
    members_added: Numbers | None = None
    """Numbers of members that join in the same rebalance; null keeps them."""


class GroupsSweepRequest(OnSnapshot, Submission, GroupsChanges):
    """A sweep over groups: each under every assignor, with members lost and members added."""

    kind: Annotated[Literal["consumer_groups"], KnownKind]
    """Kind of the sweep."""
    requires_snapshot = True
    groups: Annotated[list[GroupString], Field(min_length=1)] | None = None
    """Groups of the snapshot; the default is every group that has members."""
    assignors: Annotated[list[AssignorName], Field(min_length=1)]
    """Assignors that give each partition to one member: all except `simple`."""
    members_lost: Numbers = Field(default_factory=lambda: [0])
    """Numbers of members that a group loses at once. They depend on `seed` and the group alone: every assignor meets
    the same loss, and members among two lost are among three lost as well."""
    members_added: Numbers = Field(default_factory=lambda: [0])
    """Numbers of members that join in the same rebalance, each in the rack with the fewest members (in none if no
    member has a rack), with the most common subscription."""
    kafka_version: RequestedRelease = None
    seed: Seed = 0
    """Decides which members are lost."""
    labels: Labels = Field(default_factory=dict)
