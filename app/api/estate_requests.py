"""A sweep over the consumer groups of a cluster, as requests write it."""

from typing import Annotated, Literal

from pydantic import Field

from app.api.fields import GroupString, Id, Int32, Labels, Seed
from app.api.fields import Request as RequestModel
from app.api.groups import AssignorName
from app.api.sweep_kind_field import KnownKind
from app.services.sweeps import SweepRequest

Numbers = Annotated[list[Annotated[Int32, Field(ge=0, le=10_000)]], Field(min_length=1, max_length=1000)]


class GroupsChanges(RequestModel):
    """What is tried on every group."""

    assignors: Annotated[list[AssignorName], Field(min_length=1)] | None = None
    members_lost: Numbers | None = None
    members_added: Numbers | None = None


class GroupsSweepRequest(GroupsChanges):
    """A sweep over groups: each under every assignor, with members lost and members added."""

    kind: Annotated[Literal["consumer_groups"], KnownKind]
    snapshot_id: Id
    groups: Annotated[list[GroupString], Field(min_length=1)] | None = Field(
        None, description="Of the snapshot; every one that has members where it is left out."
    )
    assignors: Annotated[list[AssignorName], Field(min_length=1)] = Field(
        description="Those that divide partitions among members: all but `simple`."
    )
    members_lost: Numbers = Field(
        default_factory=lambda: [0],
        description="How many members a group loses at once. Who they are is drawn by `seed` and the group alone: "
        "every assignor meets the same loss, and who is among two lost is among three.",
    )
    members_added: Numbers = Field(
        default_factory=lambda: [0],
        description="How many join with that rebalance, each in the rack with the fewest members (in none where no "
        "member has one), subscribing to what most do.",
    )
    seed: Seed = Field(0, description="What draws who is lost.")
    labels: Labels = Field(default_factory=dict)

    def service(self) -> SweepRequest:
        """As the service knows it: what was left out is the default."""
        definition = self.model_dump(mode="json", exclude_none=True, exclude={"kind", "labels"})
        return SweepRequest(self.kind, definition, self.labels)
