"""One field of a JSON object read at a time; raises `ImpossibleValue` with the path of what is invalid.

The values of an axis reach a scenario after the request has been validated, and numbers between the ends of a range are
seen for the first time there, so every field is validated here.
"""

from collections.abc import Collection, Mapping, Sequence
from math import isfinite

from app.errors import FieldPath, Json
from app.errors.requests import ImpossibleValue

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
        """The path of one field."""
        return (*self._path, name)

    def raw(self, name: str) -> Json:
        """The field as it stands; None where it is not there."""
        return self._value.get(name)

    def number(
        self,
        name: str,
        default: object = REQUIRED,
        *,
        minimum: float = 0.0,
        maximum: float | None = None,
        above: float | None = None,
    ) -> float:
        """A finite number."""
        value = self._value_or(name, default)
        return as_number(value, self.at(name), minimum=minimum, maximum=maximum, above=above)

    def number_or_none(self, name: str, *, above: float | None = None) -> float | None:
        """A finite number of 0 or more, or None where the field is not there."""
        return None if self.raw(name) is None else self.number(name, above=above)

    def integer(self, name: str, default: object = REQUIRED, *, minimum: int, maximum: int = 2**31 - 1) -> int:
        """A whole number."""
        return as_integer(self._value_or(name, default), self.at(name), minimum=minimum, maximum=maximum)

    def flag(self, name: str, default: bool) -> bool:
        """True or false."""
        value = self._value_or(name, default)
        if not isinstance(value, bool):
            raise impossible("true or false is needed", value, self.at(name))
        return value

    def text(self, name: str, default: object = REQUIRED) -> str:
        """A string that is not empty and has no control characters, of which PostgreSQL stores no NUL in JSON."""
        value = self._value_or(name, default)
        if not isinstance(value, str) or not value:
            raise impossible("a name is needed", value, self.at(name))
        if any(character < " " or character == "\x7f" for character in value):
            raise impossible("a name without control characters is needed", value, self.at(name))
        return value

    def _value_or(self, name: str, default: object) -> object:
        value = self.raw(name)
        if value is not None:
            return value
        if default is REQUIRED:
            raise ImpossibleValue(f"{name} is missing", path=self.at(name))
        return default


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


def as_integer(value: object, path: FieldPath, *, minimum: int, maximum: int = 2**31 - 1) -> int:
    """A whole number; raises `ImpossibleValue` with the limit that it passes."""
    if isinstance(value, bool) or not isinstance(value, int | float) or value != value // 1:
        raise impossible("a whole number is needed", value, path)
    if not minimum <= value <= maximum:
        raise impossible(
            f"a whole number of {minimum} to {maximum} is needed", value, path, minimum=minimum, maximum=maximum
        )
    return int(value)


def as_list(value: Json, path: FieldPath) -> Sequence[Json]:
    """A list that is not empty."""
    if isinstance(value, str) or not isinstance(value, Sequence) or not value:
        raise impossible("a list with one entry or more is needed", value, path)
    return value


def impossible(needed: str, value: object, path: FieldPath, **limits: Json) -> ImpossibleValue:
    """The failure that says what is needed and what was given; long values are cut."""
    shown = repr(value)
    shown = shown if len(shown) <= 80 else shown[:77] + "..."
    return ImpossibleValue(f"{needed}; {shown} given", path=path, value=shown, **limits)
