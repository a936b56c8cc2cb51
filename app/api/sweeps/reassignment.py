"""Requests for sweeps over reassignments of a cluster."""

from typing import Annotated, Literal

from pydantic import Field

from app.api.models.fields import Rack
from app.api.models.fields import Request as RequestModel
from app.api.reassignment.requests import BalanceFields, ReassignmentFields
from app.api.reassignment.resource_fields import LimitsWithLogDirs
from app.api.sweeps.fields import ChangeAxes, KnownKind, Submission
from app.services.sweeps import SweepRequest


class AddedFields(RequestModel):
    """Where the brokers are that `add_brokers` of the axes counts."""

    racks_of_added: Annotated[list[Rack], Field(min_length=1, max_length=10_000)] | None = Field(
        None,
        description="The racks of added brokers, in rotation from the first. By default each gets the rack that has "
        "the fewest brokers by then, of equal ones the first by name.",
    )


class ReassignmentChanges(AddedFields):
    """The options of a change, besides the axes."""

    balance: BalanceFields | None = None
    """The balance constraints of every scenario; null for their defaults."""
    limits: LimitsWithLogDirs | None = None
    """Upper limits of every broker. One that cannot hold is exceeded as little as is found; the scenario says so."""
    minimise: Literal["bytes", "replicas", "leader_changes"] | None = None
    """What to minimise; null for the default."""


class ReassignmentSweepRequest(ReassignmentFields, AddedFields, Submission):
    """A sweep over changes of a cluster: a broker removed, brokers added, limits varied; and what moves.

    Every field of a plan's request applies to every scenario, and axes change some of them.
    """

    kind: Annotated[Literal["reassignment"], KnownKind]
    """Kind of the sweep."""
    axes: ChangeAxes
    running_reassignment: Literal["refuse", "merge"] = Field(
        "merge", description="`merge`: partitions that are being reassigned are planned from their target replicas."
    )

    def service(self) -> SweepRequest:
        """The service's request; what has its default is left out of the definition, but `minimise` and `rack_mode`."""
        definition = self.model_dump(mode="json", exclude_none=True, by_alias=True, exclude_defaults=True)
        always = {"minimise": self.minimise, "rack_mode": self.rack_mode}
        kind, labels = definition.pop("kind"), definition.pop("labels", {})
        return SweepRequest(kind, definition | always, labels)
