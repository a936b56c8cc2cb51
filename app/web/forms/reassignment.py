"""The fields of the form that changes a cluster, and the request that they make."""

from collections.abc import Callable, Mapping
from typing import Any

import orjson

from app.services.amounts import bytes_of
from app.web.forms import constraints
from app.web.forms.fields import joined, lines, more, number, pairs, whole, words

FIELDS = (
    "cluster",
    "add_brokers",
    "remove_brokers",
    "remove_racks",
    "replication_factor",
    "replicas",
    "replicas_by",
    "leaders",
    "objective",
    "disk",
    "throttle",
    *constraints.FIELDS,
    "more",
)
_CHOICES = {
    "replicas": ("tight", "keep"),
    "leaders": ("tight", "keep", "preferred"),
    "replicas_by": ("count", "bytes", "throughput"),
    "objective": ("balance", "relieve"),
}


_PLACES = {
    **{("limits", name): field for name, field in constraints.LIMITS.items()},
    ("batches", "throttle_bytes_per_s"): "throttle",
    ("balance", "replicas"): "replicas",
    ("balance", "replicas_by"): "replicas_by",
    ("balance", "leaders"): "leaders",
    ("balance", "per_topic"): "per_topic",
    ("balance", "resources"): "resources",
    ("objective", "goals"): "goals",
    ("log_dirs", "drain"): "drain",
}


def field_of(pointer: str) -> str:
    """The field of the form whose part of the request a pointer names; others are named by their first part."""
    first, _, rest = pointer.strip("/").partition("/")
    return _PLACES.get((first, rest.partition("/")[0]), first)


class Mistaken(Exception):
    """Fields of the form that cannot be read, with what is wrong with each."""

    def __init__(self, problems: Mapping[str, str]) -> None:
        super().__init__(problems)
        self.problems = problems


def request(typed: Mapping[str, str]) -> dict[str, Any]:
    """The request of the fields, without those that are empty.

    Raises
    ------
    Mistaken : a broker is no number, a line has no `=`, or the further fields are no JSON object.
    """
    problems: dict[str, str] = {}
    body: dict[str, Any] = {"cluster": typed["cluster"].strip()}
    body |= _lists(typed, problems)
    balance = {name: _choice(typed, name) for name in ("replicas", "replicas_by", "leaders") if _choice(typed, name)}
    if balance:
        body["balance"] = {name: _band(value) for name, value in balance.items()}
    if _choice(typed, "objective"):
        body["objective"] = _choice(typed, "objective")
    if isinstance(stated := bytes_of(typed.get("throttle", "").strip()), int):
        body["batches"] = {"throttle_bytes_per_s": stated}
    elif (throttle := number(typed, "throttle", problems)) is not None:
        body["batches"] = {"throttle_bytes_per_s": round(throttle * 1_000_000)}
    body = joined(body, constraints.constraints(typed, problems))
    body = joined(body, more(typed, problems))
    if problems:
        raise Mistaken(problems)
    return body


def _lists(typed: Mapping[str, str], problems: dict[str, str]) -> dict[str, Any]:
    lists: dict[str, Any] = {}
    if removed := words(typed, "remove_brokers"):
        lists["remove_brokers"] = [whole(word, "remove_brokers", problems) for word in removed]
    if added := lines(typed, "add_brokers"):
        lists["add_brokers"] = [_broker(line, problems) for line in added]
    if racks := lines(typed, "remove_racks"):
        lists["remove_racks"] = racks
    if factors := pairs(typed, "replication_factor", problems, write="a topic and its factor as orders=3"):
        lists["replication_factor"] = {
            topic: whole(factor, "replication_factor", problems) for topic, factor in factors.items()
        }
    return lists


def _broker(line: str, problems: dict[str, str]) -> dict[str, Any]:
    """`107 az-a`: the id, and the rack if there is one."""
    word, _, rack = line.partition(" ")
    broker: dict[str, Any] = {"id": whole(word, "add_brokers", problems)}
    return broker | ({"rack": rack.strip()} if rack.strip() else {})


def _choice(typed: Mapping[str, str], field: str) -> str:
    value = typed.get(field, "")
    return value if value in _CHOICES[field] or (field in ("replicas", "leaders") and value.endswith("%")) else ""


def _band(value: str) -> object:
    """`10 %` is a tolerance of the mean; everything else is a word of the request."""
    return {"tolerance": int(value.rstrip("% ")) / 100} if value.endswith("%") else value


_WRITTEN: Mapping[str, Callable[[Any], str]] = {
    "remove_brokers": str,
    "remove_racks": str,
    "replication_factor": lambda item: f"{item[0]}={item[1]}",
    "add_brokers": lambda broker: f"{broker['id']} {broker.get('rack') or ''}".strip(),
}
"""The lines of fields that are lists."""


def typed_of(body: Mapping[str, Any]) -> dict[str, str]:
    """The fields that make a request; parts that have no field, or more than a field can state, are in `more`."""
    rest: dict[str, Any] = dict(body)
    typed: dict[str, str] = {"cluster": str(rest.pop("cluster", ""))}
    for name in _WRITTEN.keys() & rest.keys():
        if (lines := _lines_of(name, rest[name])) is not None:
            typed[name] = lines
            del rest[name]
    for (part, inner), field in _PLACES.items():
        value = (rest.get(part) or {}).get(inner) if isinstance(rest.get(part), dict) else None
        text = _typed(field, value)
        if text:
            typed[field] = text
            rest[part] = {name: each for name, each in rest[part].items() if name != inner}
    if rest.get("objective") in _CHOICES["objective"]:
        typed["objective"] = rest.pop("objective")
    rest = {name: value for name, value in rest.items() if value not in (None, {}, [])}
    return typed | {"more": orjson.dumps(rest, option=orjson.OPT_INDENT_2).decode() if rest else ""}


def _lines_of(name: str, value: Any) -> str | None:
    """The lines of a field that is a list; None if they cannot state the value."""
    if not value or (name == "add_brokers" and any(broker.keys() - {"id", "rack"} for broker in value)):
        return None
    return "\n".join(_WRITTEN[name](each) for each in (value.items() if isinstance(value, dict) else value))


def _typed(field: str, value: object) -> str:
    """The text of a field that states a value; empty if none does."""
    if field in constraints.SHARES and isinstance(value, float | int):
        return f"{value * 100:.10g}"
    if field == "throttle" and isinstance(value, int) and value % 1_000_000 == 0:
        return str(value // 1_000_000)
    return value if isinstance(value, str) and value in _CHOICES.get(field, ()) else ""
