"""Fields that the requests of several kinds of sweeps have: the kind itself, and the axes."""

from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field
from pydantic_core import PydanticCustomError

from app.api.fields import Request as RequestModel
from app.services.sweeps import KINDS, SweepRequest

DEFAULT_KIND = "capacity"
"""The kind of a request without `kind`."""


def kind_of(body: object) -> str:
    """The kind whose model validates a body; of an unknown kind the default's, which rejects it."""
    kind = body.get("kind", DEFAULT_KIND) if isinstance(body, dict) else getattr(body, "kind", DEFAULT_KIND)
    return kind if isinstance(kind, str) and kind in KINDS else DEFAULT_KIND


def _known(kind: object) -> object:
    if not isinstance(kind, str) or kind not in KINDS:
        raise PydanticCustomError("kind", "The kinds of sweeps are {kinds}", {"kinds": ", ".join(KINDS)})
    return kind


KnownKind = BeforeValidator(_known)
"""Lists every kind if a body has an unknown one; the literal of a model would list its own alone."""


class Submission(RequestModel):
    """Base of the requests of sweeps: all fields but `kind` and `labels` are the definition."""

    def service(self) -> SweepRequest:
        """The service's request; absent fields have their defaults."""
        definition = self.model_dump(mode="json", exclude_none=True, by_alias=True)
        return SweepRequest(definition.pop("kind"), definition, definition.pop("labels"))


AxisName = Annotated[str, Field(min_length=1, max_length=600)]


class SpanRequest(RequestModel):
    """The numbers from `from` to `to`, both included, `step` apart."""

    from_: float = Field(alias="from", allow_inf_nan=False)
    to: Annotated[float, Field(allow_inf_nan=False)]
    step: Annotated[float, Field(gt=0, allow_inf_nan=False)] = 1.0


Axes = Annotated[
    dict[AxisName, list[Any] | SpanRequest],
    Field(
        max_length=32,
        description="A path in `base` → its values, as a list or a range. The last axis varies fastest. "
        "`topics.*.replication_factor` applies to every topic, `broker_profile` replaces a whole section.",
    ),
]
ChangeAxes = Annotated[
    dict[AxisName, list[Any] | SpanRequest | Literal["each"]],
    Field(
        min_length=1,
        max_length=2,
        description="`remove_broker` → the brokers to remove, one in each scenario, or `each`; `add_brokers` → numbers "
        "of brokers to add, as a list or a range. With both, every combination is a scenario. The last axis varies "
        "fastest.",
    ),
]
AnyAxes = Annotated[
    dict[AxisName, list[Any] | SpanRequest | Literal["each"]],
    Field(max_length=32, description="As in a request of the sweep's kind."),
]
