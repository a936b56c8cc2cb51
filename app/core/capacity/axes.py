"""What an axis of a sweep may vary, which values it takes, and how one is written into the base scenario.

An axis names a section (`broker_profile`), a field (`traffic.growth_per_month`), a field of one topic
(`topics.orders.partitions`) or of all (`topics.*.replication_factor`), or one rack's brokers where the base counts them
by rack (`topology.brokers_per_rack.a`). A field that the base leaves out may be varied, too.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import TypeAlias, overload

from app.core.capacity.fields import Fields, as_list, as_number
from app.core.capacity.reading import SECTION_FIELDS
from app.core.capacity.topic_reading import TOPIC_FIELDS
from app.errors import ConflictingFields, EmptyAxis, Failure, FieldPath, Json, UnknownAxis

Base: TypeAlias = Mapping[str, Json]
EVERY_TOPIC = "*"
_PER_RACK = "topology.brokers_per_rack."


@dataclass(frozen=True, slots=True)
class Span(Sequence[Json]):
    """The numbers first, first + step …, `length` of them; as exact as they are written, however many."""

    first: Decimal
    step: Decimal
    length: int

    def __len__(self) -> int:
        return self.length

    @overload
    def __getitem__(self, index: int) -> Json: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[Json]: ...
    def __getitem__(self, index: int | slice) -> "Json | Sequence[Json]":
        if isinstance(index, slice):
            return [self[at] for at in range(*index.indices(self.length))]
        if not -self.length <= index < self.length:
            raise IndexError(index)
        value = self.first + self.step * (index % self.length)
        return int(value) if value == value.to_integral_value() else float(value)


@dataclass(frozen=True, slots=True)
class Axis:
    """One axis: what it varies, and its values in their order."""

    path: str
    values: Sequence[Json]

    @property
    def section(self) -> str:
        """The section of the scenario that it writes to."""
        return self.path.split(".", 1)[0]


def read_axis(path: str, values: Json) -> Axis:
    """A list of values, or `{"from", "to", "step"}` with both ends.

    Raises
    ------
    EmptyAxis, ImpossibleValue : there is no value; it is neither a list nor such a range.
    """
    where: FieldPath = ("axes", path)
    if isinstance(values, Mapping):
        axis = Axis(path, _read_span(values, where))
    else:
        axis = Axis(path, list(as_list(values, where)) if values != [] else [])
    if not axis.values:
        raise EmptyAxis(f"axis {path} has no values", path=where)
    return axis


def _read_span(values: Json, where: FieldPath) -> Span:
    fields = Fields(values, where, known=("from", "to", "step"))
    for name in ("from", "to"):
        as_number(fields.raw(name), (*where, name), minimum=None)
    fields.number("step", 1, above=0)
    first, last = Decimal(str(fields.raw("from"))), Decimal(str(fields.raw("to")))
    step = Decimal(str(fields.raw("step") or 1))
    return Span(first, step, max(0, int((last - first) // step) + 1) if last >= first else 0)


def axis_paths(base: Base) -> list[str]:
    """Everything that an axis may name, sections first."""
    paths = list(SECTION_FIELDS)
    paths += [f"{section}.{field}" for section, fields in SECTION_FIELDS.items() for field in fields]
    paths += [f"topics.{EVERY_TOPIC}.{field}" for field in TOPIC_FIELDS if field != "name"]
    paths += [f"topics.{name}.{field}" for name in _topic_names(base) for field in TOPIC_FIELDS if field != "name"]
    topology = base.get("topology")
    counts = topology.get("brokers_per_rack") if isinstance(topology, Mapping) else None
    return paths + ([f"{_PER_RACK}{rack}" for rack in counts] if isinstance(counts, Mapping) else [])


def _topic_names(base: Base) -> list[str]:
    topics = base.get("topics")
    if isinstance(topics, str) or not isinstance(topics, Sequence):
        return []
    return [str(topic["name"]) for topic in topics if isinstance(topic, Mapping) and "name" in topic]


def unknown_axis(path: str, base: Base) -> UnknownAxis:
    """The failure that says what there is instead; of topics only those of all, for there may be thousands."""
    names = _topic_names(base)
    offered = [known for known in axis_paths({**base, "topics": []}) if known not in SECTION_FIELDS]
    topics = f"; topics: {', '.join(names[:20])}{' …' if len(names) > 20 else ''}" if names else ""
    return UnknownAxis(
        f"axis {path} names nothing that a scenario has; there are {', '.join(offered)}, and whole sections: "
        f"{', '.join(SECTION_FIELDS)}{topics}",
        path=("axes", path),
        value=path,
        known=offered,
    )


def write(section: Json, path: str, value: Json, base: Base) -> Json:
    """A copy of the section with `value` where `path` says; what it leaves alone is not copied.

    Raises
    ------
    UnknownAxis : the path names nothing. ConflictingFields : the section is not what the path asks for.
    """
    name, _, tail = path.partition(".")
    if not tail:
        return value
    if name == "topics":
        return _write_topics(section, path, value, base)
    if path.startswith(_PER_RACK):
        tail, rack = "brokers_per_rack", path.removeprefix(_PER_RACK)
        counts = section.get(tail) if isinstance(section, Mapping) else None
        if not isinstance(counts, Mapping) or rack not in counts:
            raise unknown_axis(path, base)
        value = {**counts, rack: value}
    if section is not None and not isinstance(section, Mapping):
        raise _not_an_object(path)
    return {**(section or {}), tail: value}


def _write_topics(section: Json, path: str, value: Json, base: Base) -> Json:
    # Names of topics may have dots, and fields have none.
    name, _, field = path.removeprefix("topics.").rpartition(".")
    if isinstance(section, str) or not isinstance(section, Sequence):
        raise _not_an_object(path)
    written: list[Json] = []
    found = False
    for topic in section:
        if not isinstance(topic, Mapping):
            raise _not_an_object(path)
        matches = name in (EVERY_TOPIC, topic.get("name"))
        found |= matches
        written.append({**topic, field: value} if matches else topic)
    if not found:
        raise unknown_axis(path, base)
    return written


def _not_an_object(path: str) -> Failure:
    return ConflictingFields(f"axis {path} names a field, and there is no object to write it to", path=("axes", path))
