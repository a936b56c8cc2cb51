"""Requests for sweeps of any kind; the `kind` of a body decides which model validates it."""

from typing import Annotated, Any, TypeAlias

from pydantic import Discriminator, Tag

from app.api.sweeps.capacity import CapacityChanges, CapacitySweepRequest
from app.api.sweeps.consumers import ConsumersChanges, ConsumersSweepRequest
from app.api.sweeps.draws import DrawsChanges, DrawsSweepRequest
from app.api.sweeps.fields import AnyAxes, kind_of
from app.api.sweeps.groups import GroupsChanges, GroupsSweepRequest
from app.api.sweeps.keys import KeySkewChanges, KeySkewSweepRequest
from app.api.sweeps.reassignment import ReassignmentChanges, ReassignmentSweepRequest
from app.services.bodies import stated
from app.services.plans import as_json

SweepSubmission: TypeAlias = Annotated[
    Annotated[CapacitySweepRequest, Tag("capacity")]
    | Annotated[DrawsSweepRequest, Tag("placement_draws")]
    | Annotated[GroupsSweepRequest, Tag("consumer_groups")]
    | Annotated[KeySkewSweepRequest, Tag("key_skew")]
    | Annotated[ReassignmentSweepRequest, Tag("reassignment")]
    | Annotated[ConsumersSweepRequest, Tag("consumers")],
    Discriminator(kind_of),
]


class ChangesRequest(
    CapacityChanges, DrawsChanges, GroupsChanges, KeySkewChanges, ReassignmentChanges, ConsumersChanges
):
    """The fields that a clone changes; absent or null ones stay, except that a `sample` of null removes the sample.

    Each field except the axes is of one kind of sweep.
    """

    axes: AnyAxes | None = None  # type: ignore[assignment] # wider than capacity's own, whose service rejects `each`
    """Axes in place of the sweep's; null keeps them."""

    def changes(self) -> dict[str, Any]:
        """The changed part of the definition."""
        records = {name: as_json(stated(value)) for name in ("balance", "limits") if (value := getattr(self, name))}
        given = self.model_dump(mode="json", exclude_unset=True, by_alias=True, exclude={*records}) | records
        return {name: value for name, value in given.items() if value is not None or name == "sample"}
