"""A sweep of any kind as requests write it: which model reads a body is decided by its `kind`."""

from typing import Annotated, Any, TypeAlias

from pydantic import Discriminator, Tag

from app.api.axes_field import AnyAxes
from app.api.capacity_requests import CapacityChanges, CapacitySweepRequest
from app.api.draws_requests import DrawsChanges, DrawsSweepRequest
from app.api.estate_requests import GroupsChanges, GroupsSweepRequest
from app.api.key_skew_requests import KeySkewChanges, KeySkewSweepRequest
from app.api.sweep_kind_field import kind_of
from app.api.what_if_requests import WhatIfChanges, WhatIfSweepRequest

SweepSubmission: TypeAlias = Annotated[
    Annotated[CapacitySweepRequest, Tag("capacity")]
    | Annotated[DrawsSweepRequest, Tag("placement_draws")]
    | Annotated[GroupsSweepRequest, Tag("consumer_groups")]
    | Annotated[KeySkewSweepRequest, Tag("key_skew")]
    | Annotated[WhatIfSweepRequest, Tag("reassignment")],
    Discriminator(kind_of),
]


class ChangesRequest(CapacityChanges, DrawsChanges, GroupsChanges, KeySkewChanges, WhatIfChanges):
    """What another sweep over the same does differently; what is left out, or null, stays. A `sample` of null is none.

    Each field but the axes is of one kind of sweep.
    """

    axes: AnyAxes | None = None  # type: ignore[assignment] # wider than capacity's own: its service refuses `each`

    def changes(self) -> dict[str, Any]:
        """The part of a definition that is new."""
        told = self.model_dump(mode="json", exclude_unset=True, by_alias=True)
        return {name: value for name, value in told.items() if value is not None or name == "sample"}
