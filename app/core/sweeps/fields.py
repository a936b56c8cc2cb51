"""Read JSON objects: records whose fields are declared with their limits, or one field at a time.

An invalid value raises `ImpossibleValue` with its path.

The values of an axis reach a scenario after the request has been validated, and numbers between the ends of a range are
seen for the first time there, so every field is validated here.
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import MISSING, Field, dataclass, field, fields
from functools import partial
from math import isfinite
from typing import Any, ClassVar, Protocol, TypeAlias, TypeVar

from app.core.model import INT32_MAX, control_in
from app.errors import FieldPath, Json
from app.errors.requests import ImpossibleValue


class Record(Protocol):
    """Any dataclass."""

    __dataclass_fields__: ClassVar[dict[str, Field[Any]]]


RecordT = TypeVar("RecordT", bound=Record)
DECLARED = "declared"
"""The key of the metadata of a field that has its `Declared`."""
REQUIRED = object()
"""The default of a field that has none."""


class Fields:
    """The fields of one JSON object.

    Raises
    ------
    ImpossibleValue : it is not an object, or has a field that is not among `known`.
    """

    def __init__(self, value: Json, path: FieldPath, *, known: Collection[str]) -> None:
        if not isinstance(value, Mapping):
            raise impossible("an object is needed", value, path)
        for name in value:
            if name not in known:
                raise ImpossibleValue(
                    f"there is no field {name}; there are {', '.join(known)}", path=(*path, name), known=list(known)
                )
        self._value = value
        self._path = path

    @property
    def all(self) -> Mapping[str, Json]:
        """The object itself."""
        return self._value

    def at(self, name: str) -> FieldPath:
        return (*self._path, name)

    def raw(self, name: str) -> Json:
        """The value of a field; None if it is absent."""
        return self._value.get(name)

    def number(self, name: str, default: object = REQUIRED, **limits: Any) -> float:
        """A finite number, within limits as of `as_number`."""
        return as_number(self._value_or(name, default), self.at(name), **limits)

    def integer(self, name: str, default: object = REQUIRED, *, minimum: int, maximum: int = INT32_MAX) -> int:
        """A whole number."""
        return as_integer(self._value_or(name, default), self.at(name), minimum=minimum, maximum=maximum)

    def text(self, name: str, default: object = REQUIRED) -> str:
        return as_name(self._value_or(name, default), self.at(name))

    def _value_or(self, name: str, default: object) -> object:
        value = self.raw(name)
        if value is not None:
            return value
        if default is REQUIRED:
            raise ImpossibleValue(f"{name} is missing", path=self.at(name))
        return default


Read: TypeAlias = Callable[[Any, FieldPath], object]
"""Reads the value of a field; raises `ImpossibleValue` with its path."""


@dataclass(frozen=True, slots=True)
class Declared:
    """The values that a field of a record accepts. Requests are documented and validated by it as well.

    Parameters
    ----------
    read : reads its JSON. json_type : float, int or bool; None if only `read` knows.
    limits : `minimum`, `maximum`, `above` (exclusive). description : for callers.
    """

    read: Read
    json_type: type | None = None
    limits: Mapping[str, float] = field(default_factory=dict)
    description: str | None = None


def declared(read: Read, default: object = REQUIRED, **schema: Any) -> Any:
    """A field of a record that `read_record` reads; it is required if it has no default.

    Parameters
    ----------
    schema : the other parameters of `Declared`.
    """
    metadata = {DECLARED: Declared(read, **schema)}
    return field(metadata=metadata) if default is REQUIRED else field(default=default, metadata=metadata)


def number(
    default: object = REQUIRED,
    *,
    minimum: float = 0.0,
    above: float | None = None,
    maximum: float,
    description: str | None = None,
) -> Any:
    """A field of a record: a finite number of `minimum` or more, or more than `above`, and `maximum` or less."""
    limits = {"maximum": maximum} | ({"minimum": minimum} if above is None else {"above": above})
    read = partial(as_number, minimum=minimum, above=above, maximum=maximum)
    return declared(read, default, json_type=float, limits=limits, description=description)


def integer(
    default: object = REQUIRED, *, minimum: int, maximum: int = INT32_MAX, description: str | None = None
) -> Any:
    """A field of a record: a whole number of `minimum` to `maximum`."""
    limits = {"minimum": minimum, "maximum": maximum}
    read = partial(as_integer, minimum=minimum, maximum=maximum)
    return declared(read, default, json_type=int, limits=limits, description=description)


def flag(default: bool, *, description: str | None = None) -> Any:
    """A field of a record: true or false."""
    return declared(as_flag, default, json_type=bool, description=description)


def random_seed(default: int | None) -> Any:
    """A field of a record: the seed of java.util.Random, 64 bits with sign."""
    return integer(default, minimum=-(2**63), maximum=2**63 - 1)


def read_record(record: type[RecordT], value: Json, path: FieldPath) -> RecordT:
    """Read a dataclass whose fields are `declared`: a JSON object with the same names. A null is an absent field.

    Raises
    ------
    ImpossibleValue : the value is no object, has another field, lacks a required one, or one is invalid.

    Examples
    --------
    >>> from dataclasses import make_dataclass
    >>> size, name = number(above=0, maximum=1e18), declared(as_name, "data")
    >>> Disk = make_dataclass("Disk", [("bytes", float, size), ("name", str, name)])
    >>> read_record(Disk, {"bytes": 10}, ("disk",))
    Disk(bytes=10.0, name='data')
    """
    given = Fields(value, path, known=field_names(record))
    values = {}
    for each in fields(record):
        if given.raw(each.name) is not None:
            values[each.name] = each.metadata[DECLARED].read(given.raw(each.name), given.at(each.name))
        elif each.default is MISSING:
            raise ImpossibleValue(f"{each.name} is missing", path=given.at(each.name))
    return record(**values)


def field_names(record: type[Record]) -> tuple[str, ...]:
    """The names of a record's fields, in their order."""
    return tuple(each.name for each in fields(record))


def as_number(
    value: object,
    path: FieldPath,
    *,
    minimum: float | None = 0.0,
    maximum: float | None = None,
    above: float | None = None,
) -> float:
    """A finite number; raises `ImpossibleValue` with the limit that it passes."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise impossible("a number is needed", value, path)
    try:
        number = float(value)
    except OverflowError:
        number = float("inf")
    if not isfinite(number):
        raise impossible("a finite number is needed", str(value)[:40], path)
    if above is not None and number <= above:
        raise impossible(f"a number above {above:g} is needed", value, path, above=above)
    if minimum is not None and number < minimum:
        raise impossible(f"a number of {minimum:g} or more is needed", value, path, minimum=minimum)
    if maximum is not None and number > maximum:
        raise impossible(f"a number of {maximum:g} or less is needed", value, path, maximum=maximum)
    return number


def as_integer(value: object, path: FieldPath, *, minimum: int, maximum: int = INT32_MAX) -> int:
    """A whole number; raises `ImpossibleValue` with the limit that it passes."""
    if isinstance(value, bool) or not isinstance(value, int | float) or value != value // 1:
        raise impossible("a whole number is needed", value, path)
    if not minimum <= value <= maximum:
        raise impossible(
            f"a whole number of {minimum} to {maximum} is needed", value, path, minimum=minimum, maximum=maximum
        )
    return int(value)


def as_flag(value: object, path: FieldPath) -> bool:
    """True or false."""
    if not isinstance(value, bool):
        raise impossible("true or false is needed", value, path)
    return value


def as_name(value: object, path: FieldPath) -> str:
    """A string that is not empty and has no control characters."""
    if not isinstance(value, str) or not value:
        raise impossible("a name is needed", value, path)
    if control_in(value) is not None:
        raise impossible("a name without control characters is needed", value, path)
    return value


def as_list(value: Json, path: FieldPath) -> Sequence[Json]:
    """A list that is not empty."""
    if isinstance(value, str) or not isinstance(value, Sequence) or not value:
        raise impossible("a list with one entry or more is needed", value, path)
    return value


def impossible(needed: str, value: object, path: FieldPath, **limits: Json) -> ImpossibleValue:
    """The failure that states the requirement and the given value, shortened if long."""
    shown = repr(value)
    shown = shown if len(shown) <= 80 else shown[:77] + "..."
    return ImpossibleValue(f"{needed}; {shown} given", path=path, value=shown, **limits)
