"""Fields that the requests of several kinds of sweeps have: the kind itself, and the axes."""

import re
from collections.abc import Collection
from dataclasses import MISSING, fields
from typing import Annotated, Any, Literal, Self

import orjson
from pydantic import AfterValidator, BeforeValidator, Field, create_model
from pydantic_core import PydanticCustomError

from app.core.sweeps.fields import DECLARED, Declared, Record
from app.services.amounts import InBytes, InGrowth, InSeconds, InShares, amount_of
from app.services.bodies import Request as RequestModel
from app.services.sweeps import KINDS, SweepRequest
from app.store.database import UnitOfWork

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

    def on_newest(self, _uow: UnitOfWork) -> Self:
        """The request with the id of its snapshot, if it is about one."""
        return self

    def service(self) -> SweepRequest:
        """The service's request; absent fields have their defaults."""
        definition = self.model_dump(mode="json", exclude_none=True, by_alias=True)
        return SweepRequest(definition.pop("kind"), definition, definition.pop("labels"))


_WRITTEN = {"bytes": InBytes, "share": InShares, "retention_s": InSeconds, "growth": InGrowth, "headroom": InGrowth}
_CONSTRAINTS = {"minimum": "ge", "maximum": "le", "above": "gt"}


def model_of(
    record: type[Record], *, optional: Collection[str] = (), without: Collection[str] = ()
) -> type[RequestModel]:
    """A model of a record of the core: the fields, with the types, limits, defaults and descriptions declared there.

    Subclasses declare the other fields, of which the core has a reader alone.

    Parameters
    ----------
    optional : fields that may be null, which is their default. without : fields that the model does not have.
    """
    models: dict[str, Any] = {}
    for field in fields(record):
        schema: Declared = field.metadata[DECLARED]
        if schema.json_type is None or field.name in without:
            continue
        limits: dict[str, Any] = {_CONSTRAINTS[name]: limit for name, limit in schema.limits.items()}
        if schema.json_type is float:
            limits["allow_inf_nan"] = False
        kind: Any = Annotated[schema.json_type, Field(**limits)]
        for word, written in _WRITTEN.items():
            if word in field.name:
                del limits["allow_inf_nan"]
                kind = Annotated[float, Field(allow_inf_nan=False), written(**limits)]
        default = None if field.name in optional else field.default
        default = ... if default is MISSING else default
        models[field.name] = (kind | None if default is None else kind, Field(default, description=schema.description))
    return create_model(record.__name__, __base__=RequestModel, **models)


AxisName = Annotated[str, Field(min_length=1, max_length=600)]


class SpanRequest(RequestModel):
    """The numbers from `from` to `to`, both included, `step` apart."""

    from_: float = Field(alias="from", allow_inf_nan=False)
    """First value."""
    to: Annotated[float, Field(allow_inf_nan=False)]
    """Upper bound of the values, itself included if a step meets it."""
    step: Annotated[float, Field(gt=0, allow_inf_nan=False)] = 1.0
    """Difference of one value to the next."""


_OF_AMOUNTS = re.compile(r"bytes|share|growth|headroom|retention_s|^(?:targets|limits)\.")


def _with_numbers(axes: dict[str, Any]) -> dict[str, Any]:
    """The axes, with numbers in place of texts such as `12 h` on axes of amounts."""
    lists = {name: values for name, values in axes.items() if isinstance(values, list) and _OF_AMOUNTS.search(name)}
    return axes | {name: [*map(amount_of, values)] for name, values in lists.items()}


def _storable(values: object) -> object:
    """Values that JSON of the database can have; the core reads each as its field is read."""
    try:
        orjson.dumps(values if isinstance(values, list) else None)
    except TypeError as error:
        message = "Values are numbers within 64 bits, texts, and lists and objects of them, at most 250 deep"
        raise PydanticCustomError("axis_values", message) from error
    return values


Axes = Annotated[
    dict[AxisName, Annotated[list[Any] | SpanRequest, AfterValidator(_storable)]],
    AfterValidator(_with_numbers),
    Field(
        max_length=32,
        description="A path in `base` → its values, as a list or a range. The last axis varies fastest. "
        "`topics.*.replication_factor` applies to every topic, `broker_profile` replaces a whole section.",
    ),
]
ChangeAxes = Annotated[
    dict[AxisName, Annotated[list[Any] | SpanRequest | Literal["each"], AfterValidator(_storable)]],
    AfterValidator(_with_numbers),
    Field(
        min_length=1,
        max_length=8,
        description="`remove_broker` → the brokers to remove, one in each scenario, or `each`; `add_brokers` → numbers "
        "of brokers to add, as a list or a range; `limits.disk`, `limits.nic_in`, `limits.nic_out`, `limits.cpu` → "
        "shares of the capacity of each broker; the same with `.absolute`, `limits.replicas.absolute` and "
        "`limits.leaders.absolute` → amounts; `broker_sets.<name>` → lists of the brokers of a set; "
        "`topic_sets.<topic>` → names of sets, null for none; `weights.<broker>` → weights of a broker. Every "
        "combination is a scenario. The last axis varies fastest.",
    ),
]
AnyAxes = Annotated[
    dict[AxisName, Annotated[list[Any] | SpanRequest | Literal["each"], AfterValidator(_storable)]],
    AfterValidator(_with_numbers),
    Field(max_length=32, description="As in a request of the sweep's kind."),
]
