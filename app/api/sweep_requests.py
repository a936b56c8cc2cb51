"""A sweep of any kind as requests write it: which model reads a body is decided by its `kind`."""

from typing import Annotated, Any, TypeAlias

from pydantic import Discriminator, Tag

from app.api.capacity_requests import CapacityChanges, CapacitySweepRequest
from app.api.draws_requests import DrawsChanges, DrawsSweepRequest
from app.api.estate_requests import GroupsChanges, GroupsSweepRequest
from app.api.key_skew_requests import KeySkewChanges, KeySkewSweepRequest
from app.api.sweep_kind_field import kind_of

SweepSubmission: TypeAlias = Annotated[
    Annotated[CapacitySweepRequest, Tag("capacity")]
    | Annotated[DrawsSweepRequest, Tag("placement_draws")]
    | Annotated[GroupsSweepRequest, Tag("consumer_groups")]
    | Annotated[KeySkewSweepRequest, Tag("key_skew")],
    Discriminator(kind_of),
]


class ChangesRequest(CapacityChanges, DrawsChanges, GroupsChanges, KeySkewChanges):
    """What another sweep over the same does differently; what is left out, or null, stays. A `sample` of null is none.

    Each field is of one kind of sweep.
    """

    def changes(self) -> dict[str, Any]:
        """The part of a definition that is new."""
        told = self.model_dump(mode="json", exclude_unset=True, by_alias=True)
        return {name: value for name, value in told.items() if value is not None or name == "sample"}
