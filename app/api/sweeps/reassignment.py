"""Requests for sweeps over reassignments of a cluster."""

from dataclasses import dataclass
from typing import Annotated, Any, Literal

from pydantic import Field

from app.api.sweeps.fields import ChangeAxes, KnownKind
from app.services.bodies import ListOf, RequestRecord, stated
from app.services.bodies import Request as RequestModel
from app.services.fields import Rack
from app.services.plans import as_json
from app.services.reassignment import BalanceRequest, ReassignmentRequest
from app.services.reassignment.requests.parts import LimitsRequest, MovementCost
from app.services.sweeps import SweepRequest

RacksOfAdded = Annotated[
    Annotated[ListOf[Rack], Field(min_length=1, max_length=10_000)] | None,
    Field(
        description="The racks of added brokers, in rotation from the first. By default each gets the rack that has "
        "the fewest brokers by then, of equal ones the first by name."
    ),
]


class ReassignmentChanges(RequestModel):
    """The options of a change, besides the axes."""

    racks_of_added: RacksOfAdded = None
    balance: BalanceRequest | None = None
    """The balance constraints of every scenario; null for their defaults."""
    limits: LimitsRequest | None = None
    """Upper limits of every broker. One that cannot hold is exceeded as little as is found; the scenario says so."""
    minimise: Literal["bytes", "replicas", "leader_changes"] | MovementCost | None = None
    """What to minimise; null for the default."""


@dataclass(frozen=True, kw_only=True)
class _AddedFields(RequestRecord):
    racks_of_added: RacksOfAdded = None


@dataclass(frozen=True, kw_only=True)
class ReassignmentSweepRequest(ReassignmentRequest, _AddedFields):
    """A sweep over changes of a cluster: a broker removed, brokers added, limits varied; and the movement.

    Every field of a plan's request applies to every scenario, and axes change some of them.
    """

    kind: Annotated[Literal["reassignment"], KnownKind]
    """Kind of the sweep."""
    axes: ChangeAxes
    running_reassignment: Literal["refuse", "merge"] = "merge"
    """`merge`: partitions that are being reassigned are planned from their target replicas."""

    def service(self) -> SweepRequest:
        """The service's request; defaults are left out of the definition, but `minimise` and `rack_mode`."""
        always = {"minimise": self.minimise or "bytes", "rack_mode": self.rack_mode}
        definition: dict[str, Any] = as_json(stated(self) | always)
        kind, labels = definition.pop("kind"), definition.pop("labels", {})
        return SweepRequest(kind, definition, labels)
