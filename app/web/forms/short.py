"""The fields of forms, each a part of a request: as text in the form, as a value in the request, and back."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from importlib.resources import files
from math import isfinite, nan
from typing import Any

import orjson

from app.core.groups.registry import ASSIGNORS
from app.core.replicas.options import RackMode
from app.core.replicas.registry import PLACEMENTS
from app.services.amounts import bytes_of
from app.web.forms.fields import joined, more

MB = 1e6
_RATE, _BY_NAME = "ingress_bytes_per_s", "topic_name_hash"


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
    if text.isascii() and text.isdigit() and len(text) < 20:
        return int(text)
    raise ValueError(f"Enter whole numbers; {text[:100]!r} is none.")


def _decimal(text: str, unit: float = 1) -> float:
    """A number in a unit; of bytes also with its own, such as 3.4 TB."""
    if unit > 1 and isinstance(stated := bytes_of(text), int):
        return stated
    try:
        value = round(float(text.rstrip("% ")) * unit, 12)
    except ValueError:
        value = nan
    if isfinite(value):
        return int(value) if value.is_integer() else value
    raise ValueError(f"Enter a number; {text[:100]!r} is none.")


def _list(text: str) -> list[str]:
    return [word.strip() for word in text.split(",") if word.strip()]


def _words(text: str) -> list[str]:
    return text.replace(",", " ").split()


def _lines(text: str) -> list[str]:
    return [line.strip() for line in text.splitlines() if line.strip()]


def _wholes(text: str) -> list[int]:
    return [_whole(word) for word in _words(text)]


def _values(text: str) -> object:
    """`2 to 6` as a range, `2, 3` as a list."""
    first, is_range, last = text.partition(" to ")
    if is_range:
        return {"from": _whole(first.strip()), "to": _whole(last.strip())}
    return [_whole(word) for word in _list(text)]


def _written_values(value: Any) -> str:
    return f"{value['from']} to {value['to']}" if isinstance(value, dict) else ", ".join(map(str, value))


def _pairs(text: str, example: str, read: Callable[[str], object] = str) -> dict[str, object]:
    """Lines `name=value`."""
    found = {}
    for line in _lines(text):
        name, is_given, value = line.rpartition("=")
        if not is_given:
            raise ValueError(f"Write lines such as {example}; {line[:100]!r} has no =.")
        found[name.strip()] = read(value.strip())
    return found


def _written_pairs(value: Any) -> str:
    texts = {name: " ".join(map(str, each)) if isinstance(each, list) else each for name, each in value.items()}
    return "\n".join(f"{name}={each}" for name, each in texts.items())


def _rates(text: str) -> object:
    rates = _pairs(text, "orders=12.5", in_unit(MB).read)
    return [{"name": name, _RATE: rate} for name, rate in rates.items()]


def _brokers(text: str) -> object:
    """Lines of an id, and of a rack if there is one: `107 az-a`."""
    split = [line.partition(" ") for line in _lines(text)]
    return [{"id": _whole(word)} | ({"rack": rack.strip()} if rack.strip() else {}) for word, _, rack in split]


def _band(text: str) -> object:
    """`10%` is a tolerance of the mean; everything else is a word of the request."""
    return {"tolerance": _decimal(text, 0.01)} if text.endswith("%") else text


def _goals(text: str) -> object:
    """Lines of a goal, and of its tolerance in percent if there is one: `disk 10`."""
    split = [line.partition(" ") for line in _lines(text)]
    return [
        {"goal": name} | ({"tolerance": _decimal(share, 0.01)} if share.strip() else {}) for name, _, share in split
    ]


def _written_goals(value: Any) -> str:
    shares = {each["goal"]: each.get("tolerance") for each in value}
    return "\n".join(goal if share is None else f"{goal} {100 * share:.12g}" for goal, share in shares.items())


def _drained(text: str) -> object:
    """Lines of a broker and a directory: `101 /data/d1`."""
    drained: dict[str, list[str]] = {}
    for line in _lines(text):
        broker, _, path = line.partition(" ")
        if not path.strip():
            raise ValueError(f"Write a broker and a directory as 101 /data/d1; {line[:100]!r} has no directory.")
        drained.setdefault(str(_whole(broker)), []).append(path.strip())
    return drained


def in_unit(unit: float) -> Codec:
    """Decimal numbers in a unit."""
    return Codec(partial(_decimal, unit=unit), lambda value: f"{value / unit:.12g}")


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
    "": Codec(str, lambda value: value if str(value).isprintable() else ""),
    "whole": Codec(_whole, str),
    "signed": Codec(lambda text: -_whole(text[1:]) if text.startswith("-") else _whole(text), str),
    "wholes": Codec(_wholes, lambda value: "\n".join(map(str, value))),
    "list": Codec(_list, ", ".join),
    "words": Codec(_words, " ".join),
    "lines": Codec(_lines, "\n".join),
    "values": Codec(_values, _written_values),
    "factors": Codec(partial(_pairs, example="orders=3", read=_whole), _written_pairs),
    "sets": Codec(partial(_pairs, example="blue=101 102", read=_wholes), _written_pairs),
    "topic_sets": Codec(
        lambda text: text if text == _BY_NAME else _pairs(text, "orders=blue"),
        lambda value: value if isinstance(value, str) else _written_pairs(value),
    ),
    "rates": Codec(_rates, lambda value: "\n".join(f"{each['name']}={each[_RATE] / MB:.12g}" for each in value)),
    "brokers": Codec(
        _brokers, lambda value: "\n".join(f"{each['id']} {each.get('rack', '')}".strip() for each in value)
    ),
    "band": Codec(_band, lambda value: f"{100 * value['tolerance']:.12g}%" if isinstance(value, dict) else value),
    "goals": Codec(_goals, _written_goals),
    "drained": Codec(
        _drained, lambda value: "\n".join(f"{broker} {path}" for broker, paths in value.items() for path in paths)
    ),
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


TABLE = orjson.loads(files("app.web.forms").joinpath("fields.json").read_bytes())
"""The titles and purposes of the forms, as `kinds`, and their `fields`."""
SHORT: dict[str, tuple[ShortField, ...]] = {k: tuple(map(_field, fields)) for k, fields in TABLE["fields"].items()}
"""The fields of each kind, besides `more`, which has every other part of a request; `limits` are in two forms."""
SHORT["reassignment"] += SHORT["limits"]


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
    absent: tuple[object, ...] = (None, {}, []) if kind == "reassignment" else (None,)
    rest: Any = orjson.loads(orjson.dumps({name: each for name, each in body.items() if each not in absent}))
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
        for field in SHORT.get(kind, ())
        for path in (field.path, *field.also, *field.errors)
        if f"{part}/".startswith(f"{path}/")
    ]
    return max(found)[1] if found else part.partition("/")[0]


def _parent(body: dict[str, Any], path: str) -> dict[str, Any]:
    """The object at a path, in which `0` is the only item of a list; it is made if it is not there."""
    for name in path.replace("/0", "").split("/") if path else ():
        if not isinstance(body.get(name), dict | list):
            body[name] = [{}] if f"{name}/0" in path else {}
        body = body[name][0] if isinstance(body[name], list) else body[name]
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
        return text if text.strip() == text and _CODECS[name].read(text) == value else ""
    except (ValueError, TypeError, KeyError, AttributeError):
        return ""


def _remove(body: Any, path: list[str]) -> None:
    """Remove what is at a path, and what is empty without it."""
    place = 0 if path[0] == "0" else path[0]
    if len(path) > 1:
        _remove(body[place], path[1:])
    if len(path) == 1 or not body[place]:
        del body[place]
