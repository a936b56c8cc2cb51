"""Amounts as people write them, in bodies, options and pages alike: `3.41e12`, `"3.4 TB"`, `"85 %"`, `"12 h"`.

`kB`, `MB`, `GB`, `TB`, `PB` are powers of 1,000 bytes and `KiB`, `MiB`, … of 1,024; `/s` may follow. Rates may be in
bits: `800 Mbit/s`, `10 Gbps`. Thousands may be separated: `1,234,567`, `1 234 567`, `1_234_567`. A text without a unit
is rejected, and so is a unit that a field does not have, and a comma that may be a decimal one.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from math import isfinite
from typing import Annotated, Any, TypeAlias

import numpy as np
from annotated_types import BaseMetadata, Ge, GroupedMetadata, Gt, Le
from pydantic import AliasChoices, BeforeValidator, Field
from pydantic_core import PydanticCustomError

from app.core.model import Float64s
from app.errors.every import ConflictingFields, FieldPath
from app.services.bodies import RequestRecord

MOST_PERCENT = 100
"""A number above it is no share that somebody wrote in percent."""
_UNITS = {unit: 1000 ** (at + 1) for at, unit in enumerate("kMGTP")} | {
    f"{unit}i": 1024 ** (at + 1) for at, unit in enumerate("KMGTP")
}
_NUMBER = r"(?:[0-9]{1,18}|[0-9]{1,3}(?:(?:[ _][0-9]{3}){1,5}|(?:,[0-9]{3}){2,5}))(?:\.[0-9]{1,18})?"
_PERCENT = rf"^{_NUMBER} ?%$"
_BYTES = rf"^{_NUMBER} ?(?:(?:[kMGTP]|[KMGTP]i)?B(?:/s)?|[kMGTP]?(?:bit/s|bps))$"
_WRITTEN = re.compile(rf"(?P<number>{_NUMBER}) ?(?P<unit>[kMGTP]|[KMGTP]i)?(?P<bits>B(?:/s)?|(?<!i)(?:bit/s|bps))")
_WITH_COMMA = re.compile(r"([0-9]{1,18}),([0-9]{1,18})((?:e[0-9]{1,3})? ?[A-Za-z%/]{0,6})")
_MAY_BE_THOUSANDS = re.compile(r"[1-9][0-9]{0,2},[0-9]{3}(?!\d)")
_IN_PERCENT, _PLAIN = re.compile(_PERCENT), re.compile(_NUMBER)
_SEPARATORS = str.maketrans("", "", " _,")
_SECONDS = {"ms": 0.001, "s": 1, "m": 60, "min": 60, "h": 3600, "d": 86_400, "w": 604_800}
_DURATION = rf"^{_NUMBER} ?(?:{'|'.join(_SECONDS)})$"
_OF_TIME = re.compile(rf"(?P<number>{_NUMBER}) ?(?P<unit>{'|'.join(_SECONDS)})")


def bytes_of(value: object) -> object:
    """The number of bytes of a text such as `3.4 TB`, and a whole number as an integer; anything else as it is."""
    if (written := _match(_WRITTEN, value)) is not None:
        bits = 1 if written["bits"].startswith("B") else 8
        value = _float(written["number"]) * _UNITS.get(written["unit"] or "", 1) / bits
    return json_number(value) if isinstance(value, float) else value


def _match(pattern: re.Pattern[str], value: object) -> re.Match[str] | None:
    """The match of a text. Raises `PydanticCustomError` with both readings of `1,234`, and for `1,5`."""
    if not isinstance(value, str):
        return None
    if (written := _WITH_COMMA.fullmatch(value)) is not None:
        whole, rest, unit = written.groups()
        with_point = f"{whole}.{rest}{unit}"
        if _MAY_BE_THOUSANDS.match(value):
            raise PydanticCustomError("amount", f"Input may be {whole}{rest}{unit} or {with_point}: write one of them")
        raise PydanticCustomError("amount", f"Input should have a point in place of the comma: {with_point}")
    return pattern.fullmatch(value)


def _float(number: str) -> float:
    return float(number.translate(_SEPARATORS))


def json_number(value: float) -> float:
    """A whole number as an integer, if it has at most 64 bits, as JSON is written with; anything else as it is."""
    return int(value) if value.is_integer() and abs(value) < 2**63 else value


def share_of(value: object) -> object:
    """The share of a text such as `85 %`; anything else as it is."""
    if isinstance(value, str) and _match(_IN_PERCENT, value) is not None:
        return _float(value.removesuffix("%")) / 100
    return value


def seconds_of(value: object) -> object:
    """The seconds of a text such as `12 h`; anything else as it is."""
    if (written := _match(_OF_TIME, value)) is not None:
        return json_number(_float(written["number"]) * _SECONDS[written["unit"]])
    return value


def stated_share(value: object) -> object:
    """As `share_of`. Raises `PydanticCustomError` with both readings for a number above 1, such as 85 or `85`."""
    read = share_of(value)
    try:
        number = 0.0 if isinstance(read, bool) else float(str(read))
    except ValueError:
        return read
    if isfinite(number) and (isinstance(read, str) or 1 < number <= MOST_PERCENT):
        percent = number if number > 1 else number * 100
        hint = f'Input should be a share, from 0 to 1 or in percent: {percent / 100:g} or "{percent:g} %"'
        raise PydanticCustomError("share", hint, {"le": 1})
    return read


def amount_of(value: object) -> object:
    """The number of a text with any of the units; anything else as it is."""
    return seconds_of(share_of(bytes_of(value)))


def number_of(text: str) -> int | float:
    """A number as typed, with its unit or without; a whole one as an integer. Raises `ValueError`."""
    value = amount_of(text)
    return json_number(float(value) if isinstance(value, int | float) else plain_number(text))


def plain_number(text: str) -> float:
    """A number as typed, without a unit. Raises `ValueError`."""
    return _float(text) if _match(_PLAIN, text) else float(text)


BytesText: TypeAlias = Annotated[str, Field(pattern=_BYTES, examples=["3.4 TB"])]
"""Bytes, or bytes/s, with their unit: `B`, `kB`, `MB`, `GiB` …"""
PercentText: TypeAlias = Annotated[str, Field(pattern=_PERCENT, examples=["85 %"])]
"""A share in percent."""
DurationText: TypeAlias = Annotated[str, Field(pattern=_DURATION, examples=["12 h"])]
"""Seconds with their unit: `ms`, `s`, `m` or `min`, `h`, `d`, `w`."""


@dataclass(frozen=True, slots=True)
class Written(GroupedMetadata):
    """Bounds of a number that may be a text.

    Parameters
    ----------
    read : makes the number of a text with a unit.
    text : the type of such a text, in the schema.
    """

    read: Callable[[object], object]
    text: Any
    le: float
    ge: float = 0
    gt: float | None = None

    def __iter__(self) -> Iterator[BaseMetadata | BeforeValidator]:
        """The bounds, then the reading of texts, which comes before them."""
        bounds = [Ge(self.ge) if self.gt is None else Gt(self.gt), Le(self.le)]
        schema: Any = Annotated[float, *bounds]
        yield from bounds
        yield BeforeValidator(self._number, json_schema_input_type=schema | self.text)

    def _number(self, value: object) -> object:
        """The number of a text. Raises `PydanticCustomError` for a text without one."""
        if isinstance(number := self.read(value), str):
            example = self.text.__metadata__[0].examples[0]
            raise PydanticCustomError("amount", f'Input should be a number, or one with its unit, such as "{example}"')
        return number


InBytes = partial(Written, bytes_of, BytesText, le=2**63 - 1)
"""Bytes or bytes/s; of a field that also has counts, those without a unit."""
AnyBytes: TypeAlias = Annotated[int, InBytes()]
"""A number of bytes, as a number or with its unit."""
InShares = partial(Written, stated_share, PercentText, le=1)
InGrowth = partial(Written, share_of, PercentText)
"""Growth, which may be above 100 %."""
InSeconds = partial(Written, seconds_of, DurationText)

Rate = Annotated[float, Field(allow_inf_nan=False), InBytes(le=1e15)]
RENAMED_RATES: Any = Field(validation_alias=AliasChoices("ingress_bytes_per_s", "bytes_per_s"))
"""The name that rates have in every request, and the one that some requests had for them."""
Times = Annotated[float, Field(ge=0, le=1e6, allow_inf_nan=False)]


@dataclass(frozen=True)
class PricesRequest(RequestRecord, schema="PricesFields"):
    """Prices, in any currency."""

    cross_rack_per_gib: Times = 0.0
    """Price of a GiB from rack to rack; the answer then has the cost of a month."""


def partition_rates(name: str, stated: float | Sequence[float], partitions: int, *, path: FieldPath) -> Float64s:
    """(partitions,) float64 bytes/s: equal shares of the rate of a topic, or the stated rate of each partition.

    Raises
    ------
    ConflictingFields : the topic has another number of partitions than rates. `path` is the field of the rates.
    """
    require_each(name, stated, partitions, path=path)
    if isinstance(stated, int | float):
        return np.full(partitions, stated / max(partitions, 1))
    return np.array(stated, np.float64)


def require_each(name: str, stated: float | Sequence[float], partitions: int, *, path: FieldPath) -> None:
    """Raise `ConflictingFields` if a list does not have a value for each partition of the topic."""
    if not isinstance(stated, int | float) and len(stated) != partitions:
        detail = f"topic {name} has {partitions} partitions, and the values of {len(stated)} are given"
        raise ConflictingFields(detail, path=(*path, name), value=len(stated), limit=partitions)
