"""The forms whose fields are parts of a request: a new topic, a group, a Streams application, restarts, a study."""

from collections.abc import Callable, Mapping
from copy import deepcopy
from dataclasses import dataclass
from importlib.resources import files
from math import isfinite
from typing import Any

import orjson

from app.core.groups.registry import ASSIGNORS
from app.core.replicas.options import RackMode
from app.core.replicas.registry import PLACEMENTS
from app.web.forms.fields import joined, more

MB = 1e6
_RATE = "ingress_bytes_per_s"


@dataclass(frozen=True, slots=True)
class Codec:
    """How a part of a request is written in a field.

    Parameters
    ----------
    read : the value of a text. Raises `ValueError`. write : the text of a value, which `read` may read as another one.
    """

    read: Callable[[str], object]
    write: Callable[[Any], str]


def _whole(text: str) -> int:
    digits = text.removeprefix("-")
    if digits.isascii() and digits.isdigit() and len(digits) < 20:
        return int(text)
    raise ValueError(f"Enter whole numbers; {text[:100]!r} is none.")


def _decimal(text: str, unit: float = 1) -> float:
    try:
        value = round(float(text) * unit, 12)
    except ValueError:
        value = float("nan")
    if isfinite(value):
        return int(value) if value.is_integer() else value
    raise ValueError(f"Enter a number; {text[:100]!r} is none.")


def _list(text: str) -> list[str]:
    return [word.strip() for word in text.split(",") if word.strip()]


def _values(text: str) -> object:
    """`2 to 6` as a range, `2, 3` as a list."""
    first, is_range, last = text.partition(" to ")
    if is_range:
        return {"from": _whole(first.strip()), "to": _whole(last.strip())}
    return [_whole(word) for word in _list(text)]


def _rates(text: str) -> object:
    """Lines `topic=MB/s`."""
    pairs = [line.rpartition("=") for line in text.splitlines() if line.strip()]
    return [{"name": name.strip(), _RATE: _decimal(rate, MB)} for name, _, rate in pairs]


def _written_values(value: Any) -> str:
    return f"{value['from']} to {value['to']}" if isinstance(value, dict) else ", ".join(map(str, value))


def _written_rates(value: Any) -> str:
    return "\n".join(f"{each['name']}={each[_RATE] / MB:.12g}" for each in value)


def in_unit(unit: float) -> Codec:
    """Decimal numbers in a unit."""
    return Codec(lambda text: _decimal(text, unit), lambda value: f"{value / unit:.12g}")


@dataclass(frozen=True, slots=True)
class ShortField:
    """A field of a form.

    Parameters
    ----------
    path : the part of the request that it states, as a JSON pointer without its first slash. also : further parts that
        have the same value. errors : further parts whose errors are beside the field. named : its name in the form; if
        empty, the end of the path.
    codec : of `_CODECS`. choices : values with their words; empty for a text. listed : what the newest snapshot of the
        cluster suggests: `groups`; empty for nothing.
    """

    path: str
    label: str
    codec: str = ""
    is_optional: bool = False
    initial: str = ""
    choices: tuple[tuple[str, str], ...] = ()
    listed: str = ""
    hint: str = ""
    also: tuple[str, ...] = ()
    errors: tuple[str, ...] = ()
    named: str = ""

    @property
    def name(self) -> str:
        """The name of the field in the form."""
        return self.named or self.path.replace("/0/", "_").rpartition("/")[2].replace(".", "_")


_CODECS = {
    "": Codec(str, str),
    "whole": Codec(_whole, str),
    "list": Codec(_list, ", ".join),
    "values": Codec(_values, _written_values),
    "rates": Codec(_rates, _written_rates),
    "number": in_unit(1),
    "%": in_unit(0.01),
    "MB": in_unit(MB),
    "TB": in_unit(1e12),
}
_CHOICES = {
    "placements": (
        ("", "as the cluster’s controller places: KRaft or ZooKeeper"),
        *((each.name, each.summary) for each in PLACEMENTS.values()),
    ),
    "rack_modes": (("", "Kafka’s default"), *((mode.value, mode.value) for mode in RackMode)),
    "assignors": (("", "that of the group"), *((name, name) for name in ASSIGNORS)),
}


def _field(stated: dict[str, Any]) -> ShortField:
    """A field of `fields.json`, in which registries and codecs have names."""
    choices = stated.pop("choices", ())
    return ShortField(**stated, choices=_CHOICES[choices] if isinstance(choices, str) else tuple(map(tuple, choices)))


SHORT: Mapping[str, tuple[ShortField, ...]] = {
    kind: tuple(map(_field, fields))
    for kind, fields in orjson.loads(files("app.web.forms").joinpath("fields.json").read_bytes()).items()
}
"""The fields of each kind, besides `more`, which has every other part of a request as JSON."""


def request(kind: str, typed: Mapping[str, str], problems: dict[str, str]) -> dict[str, Any]:
    """The request of the fields, without those that are empty; what cannot be read is added to `problems`."""
    body: dict[str, Any] = {}
    for field in SHORT[kind]:
        if not (text := typed.get(field.name, "").strip()):
            continue
        try:
            value = _CODECS[field.codec].read(text)
        except ValueError as unreadable:
            problems[field.name] = str(unreadable)
            continue
        for path in (field.path, *field.also):
            parent, _, last = path.rpartition("/")
            _parent(body, parent)[last] = value
    return joined(body, more(typed, problems))


def typed_of(kind: str, body: Mapping[str, Any]) -> dict[str, str]:
    """The fields that make a request; parts that have no field are in `more`."""
    rest: dict[str, Any] = deepcopy(dict(body))
    typed = dict.fromkeys((field.name for field in SHORT[kind]), "")
    names = {field.path.rpartition("/")[2] for field in SHORT[kind] if field.path.startswith("topics/0/")}
    for field in SHORT[kind]:
        paths = [path.split("/") for path in (field.path, *field.also)]
        values = [_at(rest, path, names) for path in paths]
        text = _written(field.codec, values[0]) if all(value == values[0] for value in values) else ""
        if text:
            typed[field.name] = text
            for path in paths:
                _remove(rest, path)
    return typed | {"more": orjson.dumps(rest, option=orjson.OPT_INDENT_2).decode() if rest else ""}


def field_at(kind: str, pointer: str) -> str:
    """The field that shows the errors of a part of the request: that of the longest path; else the first name in it."""
    part = pointer.strip("/")
    found = [
        (len(path), field.name)
        for field in SHORT[kind]
        for path in (field.path, *field.also, *field.errors)
        if f"{part}/".startswith(f"{path}/")
    ]
    return max(found)[1] if found else part.partition("/")[0]


def _parent(body: dict[str, Any], path: str) -> dict[str, Any]:
    """The object at a path, in which `0` is the only item of a list; it is made if it is not there."""
    for name in path.replace("/0", "").split("/") if path else ():
        made: Any = body.setdefault(name, [{}] if f"{name}/0" in path else {})
        body = made[0] if isinstance(made, list) else made
    return body


def _at(body: object, path: list[str], names: set[str]) -> object:
    """The part at a path; None if it is not there, or is in an item that has more than these names."""
    for name in path:
        match body:
            case [dict(only)] if name == "0" and only.keys() <= names:
                body = only
            case {**fields} if name in fields:
                body = fields[name]
            case _:
                return None
    return body


def _written(name: str, value: object) -> str:
    """The text of a value; empty if the codec cannot write it so that it is read as the same value."""
    try:
        text = "" if value is None or isinstance(value, bool) else _CODECS[name].write(value)
        is_one_line = "\n" not in text or name == "rates"
        is_written = is_one_line and text.strip() == text and _CODECS[name].read(text) == value
        return text if is_written else ""
    except (ValueError, TypeError, KeyError):
        return ""


def _remove(body: Any, path: list[str]) -> None:
    """Remove what is at a path, and what is empty without it."""
    place = 0 if path[0] == "0" else path[0]
    if len(path) > 1:
        _remove(body[place], path[1:])
    if len(path) == 1 or not body[place]:
        del body[place]
