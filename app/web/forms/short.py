"""The forms of few fields: a new topic, a group, a Streams application, restarts. Each field is a part of a request."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import orjson

from app.core.groups.registry import ASSIGNORS
from app.core.replicas.options import RackMode
from app.core.replicas.registry import PLACEMENTS
from app.web.forms.fields import joined, more, whole


@dataclass(frozen=True, slots=True)
class ShortField:
    """A field of a form.

    Parameters
    ----------
    path : the part of the request that it states, with dots. choices : values with their words; empty for a text.
    listed : what the newest snapshot of the cluster suggests: `topics` or `groups`; empty for nothing.
    """

    path: str
    label: str
    is_number: bool = False
    is_optional: bool = False
    initial: str = ""
    choices: tuple[tuple[str, str], ...] = ()
    listed: str = ""

    @property
    def name(self) -> str:
        """The name of the field in the form."""
        return self.path.replace(".", "_")


_CLUSTER = ShortField("cluster", "Cluster")
_GROUP = ShortField("group", "Group", listed="groups")
SHORT: Mapping[str, tuple[ShortField, ...]] = {
    "replicas": (
        _CLUSTER,
        ShortField("topics.name", "Topic"),
        ShortField("topics.partitions", "Partitions", is_number=True, initial="12"),
        ShortField("topics.replication_factor", "Replication factor", is_number=True, initial="3"),
        ShortField(
            "algorithm",
            "Algorithm",
            is_optional=True,
            choices=(
                ("", "as the cluster’s controller places: KRaft or ZooKeeper"),
                *((each.name, each.summary) for each in PLACEMENTS.values()),
            ),
        ),
        ShortField(
            "rack_mode",
            "Racks",
            is_optional=True,
            choices=(("", "Kafka’s default"), *((mode.value, mode.value) for mode in RackMode)),
        ),
        ShortField("seed", "Seed of the random placement", is_number=True, is_optional=True),
    ),
    "group": (
        _CLUSTER,
        _GROUP,
        ShortField(
            "assignor",
            "Assignor",
            is_optional=True,
            choices=(("", "that of the group"), *((name, name) for name in ASSIGNORS)),
        ),
    ),
    "streams": (_CLUSTER, _GROUP),
    "restart": (_CLUSTER,),
}
"""The fields of each kind, besides `more`, which has every other part of a request as JSON."""


def request(kind: str, typed: Mapping[str, str], problems: dict[str, str]) -> dict[str, Any]:
    """The request of the fields, without those that are empty; what cannot be read is added to `problems`."""
    body: dict[str, Any] = {}
    for field in SHORT[kind]:
        if not (text := typed.get(field.name, "").strip()):
            continue
        part, _, inner = field.path.partition(".")
        value: object = text
        if field.is_number:
            value = -whole(text[1:], field.name, problems) if text[0] == "-" else whole(text, field.name, problems)
        if inner:
            body.setdefault(part, [{}])[0][inner] = value
        else:
            body[part] = value
    return joined(body, more(typed, problems))


def typed_of(kind: str, body: Mapping[str, Any]) -> dict[str, str]:
    """The fields that make a request; parts that have no field are in `more`."""
    rest: dict[str, Any] = dict(body)
    typed: dict[str, str] = {}
    for field in SHORT[kind]:
        part, _, inner = field.path.partition(".")
        value = rest.get(part)
        if not inner and isinstance(value, str | int):
            typed[field.name] = str(rest.pop(part))
    names = {field.path.partition(".")[2] for field in SHORT[kind]} - {""}
    match rest.get("topics"):
        case [dict(topic)] if names and topic.keys() <= names:
            typed |= {f"topics_{name}": str(value) for name, value in rest.pop("topics")[0].items()}
    return typed | {"more": orjson.dumps(rest, option=orjson.OPT_INDENT_2).decode() if rest else ""}
