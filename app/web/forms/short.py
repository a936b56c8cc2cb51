"""The fields of forms, each a part of a request: as text in the form, as a value in the request, and back."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from importlib.resources import files
from typing import Any, cast

import orjson

from app.core.replicas.options import RackMode
from app.core.replicas.registry import PLACEMENTS
from app.web.forms.codecs import CODECS
from app.web.forms.fields import joined, more


@dataclass(frozen=True, slots=True)
class ShortField:
    """A field of a form.

    Parameters
    ----------
    path : the part of the request that it states, as a JSON pointer without its first slash. also : further parts that
        have the same value. errors : further parts whose errors are beside the field. named : its name in the form; if
        empty, the end of the path.
    rows : lines of the text area; 0 is a field of one line. is_fixed : not shown; its value is `initial`.
    group : the heading over it and its neighbours; a group of optional fields is closed while they are empty.
    codec : of `CODECS`. choices : values with their words; empty for a text. listed : suggestions, such as the
        `brokers` of the cluster's newest snapshot, as boxes beside a text area; empty for none.
    """

    path: str
    label: str
    codec: str = ""
    is_optional: bool = False
    initial: str = ""
    choices: tuple[tuple[str, str], ...] = ()
    listed: str = ""
    hint: str = ""
    placeholder: str = ""
    also: tuple[str, ...] = ()
    errors: tuple[str, ...] = ()
    named: str = ""
    rows: int = 0
    is_fixed: bool = False
    group: str = ""

    @property
    def name(self) -> str:
        """The name of the field in the form."""
        return self.named or self.path.replace("/0/", "_").rpartition("/")[2].replace(".", "_")

    @property
    def inputmode(self) -> str:
        """The keyboard of a phone."""
        return {"whole": "numeric"}.get(self.codec, "decimal" if self.codec in ("number", "%", "MB", "TB") else "text")


_CHOICES = {
    "placements": (
        ("", "that of the cluster’s controller"),
        *((each.name, each.summary) for each in PLACEMENTS.values()),
    ),
    "rack_modes": (("", "Kafka’s default"), *((mode.value, mode.value) for mode in RackMode)),
    "flags": (("", "no"), ("yes", "yes")),
}


def _field(stated: dict[str, Any]) -> ShortField:
    """A field of `fields.json`, in which registries and codecs have names."""
    choices = stated.get("choices", ())
    named = _CHOICES[choices] if isinstance(choices, str) else tuple(map(tuple, choices))
    return ShortField(**{**stated, "choices": named})


TABLE = orjson.loads(files("app.web.forms").joinpath("fields.json").read_bytes())
"""The titles and purposes of the forms, as `kinds`, their `fields`, and those that several of them have."""
_SHARED = {each["path"]: each for each in TABLE["shared"]}


def _fields(listed: list[Any]) -> tuple[ShortField, ...]:
    """The fields of a form; a shared one is its path, alone or as `is` beside what differs."""
    stated = [{"is": each} if isinstance(each, str) else dict(each) for each in listed]
    return tuple(_field(_SHARED.get(each.pop("is", ""), {}) | each) for each in stated)


SHORT: dict[str, tuple[ShortField, ...]] = {kind: _fields(listed) for kind, listed in TABLE["fields"].items()}
"""The fields of each kind, besides `more`, which has every other part of a request."""
_CHANGES = {field.path for field in SHORT["sweep-reassignment"]}
SHORT["sweep-reassignment"] += tuple(
    replace(field, group=field.group or "In every scenario")
    for field in SHORT["reassignment"]
    if field.path not in _CHANGES
)


def request(kind: str, typed: Mapping[str, str], problems: dict[str, str]) -> dict[str, Any]:
    """The request of the fields, without empty ones; problems of unreadable values are added to `problems`."""
    body: dict[str, Any] = {}
    for field in SHORT[kind]:
        if not (text := typed.get(field.name, "").strip()):
            continue
        try:
            if "\ufffd" in text:  # in place of bytes that cannot be decoded
                raise ValueError("The file is no text in UTF-8 or UTF-16.")
            value = CODECS[field.codec].read(text)
        except ValueError as unreadable:
            problems[field.name] = str(unreadable)
            continue
        for path in (field.path, *field.also):
            parent, _, last = path.rpartition("/")
            part = _parent(body, parent)
            part[last] = (
                joined(part[last], value) if isinstance(value, dict) and isinstance(part.get(last), dict) else value
            )
    return joined(body, more(typed, problems))


def typed_of(kind: str, body: Mapping[str, Any]) -> dict[str, str]:
    """The fields that make a request; parts that have no field are in `more`."""
    rest: Any = orjson.loads(orjson.dumps(_stated(body, kind in _SPARSE)))
    typed = dict.fromkeys((field.name for field in SHORT[kind]), "")
    names = {field.path.rpartition("/")[2] for field in SHORT[kind] if field.path.startswith("topics/0/")}
    for field in sorted(SHORT[kind], key=lambda field: -field.path.count("/")):  # a part before what it is a part of
        paths = [path.split("/") for path in (field.path, *field.also)]
        values = [_at(rest, path, names) for path in paths]
        text = _written(field.codec, values[0]) if all(value == values[0] for value in values) else ""
        if text:
            typed[field.name] = text
            for path in paths:
                _remove(rest, path)
    return typed | {"more": orjson.dumps(rest, option=orjson.OPT_INDENT_2).decode() if rest else ""}


_SPARSE = ("reassignment", "restart")
"""Kinds in which a field that is empty is one that is missing, but for `_EMPTY_IS_STATED`."""
_EMPTY_IS_STATED = "cordoned_brokers"


def _stated(body: Mapping[str, Any], is_sparse: bool) -> Mapping[str, Any]:
    """The parts of a request that are no defaults: not null; if it is sparse, not empty either, at any depth."""
    if isinstance(limits := body.get("limits"), dict):
        body = {**body, "limits": {name: _limit(each) for name, each in limits.items()}}
    if not is_sparse:
        return {name: each for name, each in body.items() if each is not None}
    parts = {name: _stated(each, is_sparse) if isinstance(each, dict) else each for name, each in body.items()}
    return {n: each for n, each in parts.items() if each not in (None, {}, []) or (n, each) == (_EMPTY_IS_STATED, [])}


def _limit(limit: object) -> object:
    """A limit as people write it: of one that is stored without what is not stated, and a share alone as a number."""
    if not isinstance(limit, dict) or not limit.keys() <= {"share", "absolute", "soft"}:
        return limit
    stated = {name: each for name, each in limit.items() if each not in (None, False)}
    return stated["share"] if [*stated] == ["share"] else stated


def field_at(kind: str, pointer: str) -> str:
    """The field that shows the errors of a part of the request: by the longest path; else the first name in it."""
    part = pointer.strip("/")
    found = [
        (len(path), field.name)
        for field in SHORT.get(kind, ())
        for path in (field.path, *field.also, *field.errors)
        if f"{part}/".startswith(f"{path}/")
    ]
    return max(found)[1] if found else part.partition("/")[0]


def beside(kind: str, errors: Sequence[Mapping[str, Any]]) -> dict[str, str]:
    """The first error of each field, or of an item of it, which is shown beside the field."""
    return {field_at(kind, str(each["pointer"])): str(each["detail"]) for each in reversed(errors)}


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
        if name == "records":
            value = [{part: each for part, each in record.items() if each is not None} for record in cast("Any", value)]
        is_other = value is None or isinstance(value, bool) != (name == "flag")
        text = "" if is_other else CODECS[name].write(value)
        return text if text.strip() == text and CODECS[name].read(text) == value else ""
    except (ValueError, TypeError, LookupError, AttributeError, StopIteration):
        return ""


def _remove(body: Any, path: list[str]) -> None:
    """Remove the value at a path, and containers that become empty."""
    place = 0 if path[0] == "0" else path[0]
    if len(path) > 1:
        _remove(body[place], path[1:])
    if len(path) == 1 or not body[place]:
        del body[place]
