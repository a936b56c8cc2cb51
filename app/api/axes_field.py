"""The field that says what varies in a sweep: the same of every kind that has axes."""

from typing import Annotated, Any, Literal

from pydantic import Field

from app.api.fields import Request as RequestModel

AxisName = Annotated[str, Field(min_length=1, max_length=600)]


class SpanRequest(RequestModel):
    """Numbers from one to the other, both included."""

    from_: float = Field(alias="from", allow_inf_nan=False)
    to: Annotated[float, Field(allow_inf_nan=False)]
    step: Annotated[float, Field(gt=0, allow_inf_nan=False)] = 1.0


Axes = Annotated[
    dict[AxisName, list[Any] | SpanRequest],
    Field(
        max_length=32,
        description="A path into `base` → its values, as a list or a span. The last axis varies fastest. "
        "`topics.*.replication_factor` is that of every topic, `broker_profile` a whole section.",
    ),
]
WhatIfAxes = Annotated[
    dict[AxisName, list[Any] | SpanRequest | Literal["each"]],
    Field(
        min_length=1,
        max_length=2,
        description="`remove_broker` → the brokers that are removed, one a scenario, or `each`; `add_brokers` → how "
        "many are added, as a list or a span. With both, every one is removed with every number added. The last axis "
        "varies fastest.",
    ),
]
AnyAxes = Annotated[
    dict[AxisName, list[Any] | SpanRequest | Literal["each"]],
    Field(max_length=32, description="As the sweep's kind has them."),
]
