"""How the options of `rackplan plan …` become fields of a request's body; the API's models check the values."""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

from app.cli.output import listed, read_input
from app.cli.planning import read_json
from app.cli.registration import PLANS
from app.errors import Json
from app.errors.requests import ConflictingFields
from app.formats.kafka_files import reassignment
from app.formats.sources import broker_sets as sets_of_brokers
from app.formats.syntax.lines import decode
from app.services.amounts import MOST_PERCENT, number_of

Number = TypeVar("Number", int, float)
_NUMBER = re.compile(r"-?[0-9]{1,18}")
"""Text that is passed on as a number; the API's models check its range."""
_BROKER = re.compile(r"\*|[0-9]{1,10}")
_CAPACITIES = {"disk": "disk_bytes", "nic_in": "nic_in_bytes_per_s", "nic_out": "nic_out_bytes_per_s", "cpu": "vcpu"}


def fields_of(options: Mapping[str, Any], fields: Mapping[str, tuple[str, Callable[[Any], Json]]]) -> dict[str, Json]:
    """The fields of a body that options state. Raises `ConflictingFields` if an option does not have its form."""
    body: dict[str, Any] = {}
    for name, (path, read) in fields.items():
        value = options[name]
        if value is None or value is False or value in ((), []):
            continue
        *outer, last = path.split(".")
        inner: Any = body
        for part in outer:
            inner = inner.setdefault(part, {})
        inner[last] = read(value)
    return body


def _names(texts: Sequence[str]) -> Json:
    """One name as a text, several as a list, so that problems name the intended form."""
    names = list(dict.fromkeys(listed(texts)))
    return names[0] if len(names) == 1 else names


def _numbers(option: str) -> Callable[[Sequence[str]], Json]:
    def read(texts: Sequence[str]) -> Json:
        for text in (values := listed(texts)):
            if not _NUMBER.fullmatch(text):
                raise ConflictingFields(f"--{option} is {text}; it has to be a number", path=(option,))
        return list(map(int, values))

    return read


def _broker(text: str) -> dict[str, Json]:
    number, _, rack = text.partition(":")
    if not _NUMBER.fullmatch(number):
        raise ConflictingFields(f"--add-broker is {text}; it has to be id:rack, or an id", path=("add_brokers",))
    return {"id": int(number)} | ({"rack": rack} if ":" in text else {})


def _or_word(read: Callable[[str], Json]) -> Callable[[str], Json]:
    """The value that `read` returns, or the text itself: the API rejects unknown words."""

    def read_or_word(text: str) -> Json:
        try:
            return read(text)
        except ValueError:
            return text

    return read_or_word


def _tolerances(text: str) -> Json:
    """A tolerance, or two, above the mean and below it: `0.07:0.33`."""
    above, is_given, below = text.partition(":")
    return {"tolerance": float(above)} | ({"below": float(below)} if is_given else {})


_written = _or_word(number_of)
_balance = _or_word(lambda text: {"tolerance": float(text)})


def _receivers(texts: list[str]) -> Any:
    """`added`, or the ids of brokers."""
    return "added" if texts == ["added"] else _numbers("receivers")(texts)


def _by_name(option: str, texts: Sequence[str], form: str, read: Callable[[str], Number]) -> dict[str, Number]:
    """By name the number of `name=number`. Raises `ConflictingFields` for another form, and a name that comes twice."""
    numbers: dict[str, Number] = {}
    for text in texts:
        name, _, number = text.partition("=")
        try:
            value = read(number)
        except ValueError:
            name = ""
        if not name:
            raise ConflictingFields(f"--{option} is {text}; it has to be {form}", path=(option,))
        if name in numbers:
            raise ConflictingFields(f"--{option} names {name} twice", path=(option,))
        numbers[name] = value
    return numbers


def _whole(text: str) -> int:
    if not _NUMBER.fullmatch(text):
        raise ValueError
    return int(text)


def _pairs(option: str, form: str = "topic=number") -> Callable[[Sequence[str]], Json]:
    return lambda texts: _by_name(option, listed(texts), form, _whole)


def _bytes(option: str) -> Callable[[str], Json]:
    return lambda text: _by_name(option, [f"{option}={text}"], "bytes, such as 3.4TB", number_of)[option]


def _series(file: Path) -> Json:
    """The series of a file; an answer of Prometheus has `data`."""
    document = read_json(file, "series")
    return {"prometheus": document} if isinstance(document, Mapping) and "data" in document else document


def limits(texts: Sequence[str]) -> dict[str, Json]:
    """By resource a share, `0.8` or `80%`, or an amount (above 1, or of a count). Raises `ConflictingFields`."""
    form = "resource=share or resource=amount, such as disk=0.8"
    stated = _by_name("limit", listed(texts), form, number_of)
    for name, amount in stated.items():
        if name in ("disk", "nic_in", "nic_out") and 1 < amount <= MOST_PERCENT:
            detail = f"--limit {name}={amount:g} is {amount:g} bytes; a share is {amount / 100:g} or {amount:g}%"
            raise ConflictingFields(detail, path=("limit",), value=amount)
    return {
        name: {"absolute": amount} if amount > 1 or name in ("replicas", "leaders") else amount
        for name, amount in stated.items()
    }


def _new_topic(text: str) -> dict[str, Json]:
    name, *numbers = text.split(":")
    if not name or len(numbers) not in (2, 3) or not all(_NUMBER.fullmatch(number) for number in numbers):
        raise ConflictingFields(f"--topic is {text}; it has to be name:partitions:replication_factor", path=("topic",))
    return {
        "name": name,
        **dict(zip(("partitions", "replication_factor", "start_partition_id"), map(int, numbers), strict=False)),
    }


def _group_event(text: str) -> dict[str, Json]:
    name, _, value = text.partition("=")
    if name == "rolling_restart" and not value:
        return {name: True}
    if name in ("leave", "lose_rack") and value:
        return {name: value}
    detail = f"--event is {text}; it has to be leave=MEMBER, lose_rack=RACK or rolling_restart"
    raise ConflictingFields(detail, path=("event",))


def _weights(texts: Sequence[str]) -> Json:
    """`capacity`, or by broker its weight, `101=2`, `*=1`."""
    stated = listed(texts)
    if stated == ["capacity"]:
        return "capacity"
    return _by_name("weight", stated, "broker=number, such as 101=2, or capacity", float)


def broker_sets(file: Path) -> dict[str, Json]:
    """The broker sets of a file. Raises `MalformedText`."""
    return {name: list(ids) for name, ids in sets_of_brokers.read(decode(read_input(file), "broker_sets")).items()}


def _topic_sets(texts: Sequence[str]) -> Json:
    """By topic its set, `orders=blue`; or the name of a policy alone, which the API checks."""
    stated = listed(texts)
    if len(stated) == 1 and "=" not in stated[0]:
        return stated[0]
    sets: dict[str, Json] = {}
    for text in stated:
        topic, _, name = text.partition("=")
        if not topic or not name:
            detail = f"--topic-set is {text}; it has to be topic=set, or topic_name_hash alone"
            raise ConflictingFields(detail, path=("topic_sets",))
        if topic in sets:
            detail = f"--topic-set binds topic {topic} twice, to broker sets {sets[topic]} and {name}"
            raise ConflictingFields(detail, path=("topic_sets", topic), value=name)
        sets[topic] = name
    return sets


def named_topics(topics: Iterable[str] | None, file: Path | None) -> list[str]:
    """Topics of options, and of a file for Kafka's `--topics-to-move-json-file`. Raises `MalformedText`."""
    of_file = () if file is None else reassignment.read_topics_to_move(decode(read_input(file), "topics_to_move"))
    return [*listed(topics), *of_file]


def drained(texts: Sequence[str]) -> dict[str, list[str]]:
    """By broker the directories of `101:/data/d1`. Raises `ConflictingFields`."""
    drains: dict[str, list[str]] = {}
    for text in listed(texts):
        broker, _, path = text.partition(":")
        if not _BROKER.fullmatch(broker) or broker == "*" or not path:
            raise _malformed("drain-log-dir", text, "broker:path, such as 101:/data/d1")
        drains.setdefault(broker, []).append(path)
    return drains


def directory_bytes(texts: Sequence[str]) -> dict[str, dict[str, int]]:
    """By broker, or `*`, and path the bytes of `101:/data/d1=4000000000000`. Raises `ConflictingFields`."""
    stated: dict[str, dict[str, int]] = {}
    for text in listed(texts):
        place, _, number = text.rpartition("=")
        broker, _, path = place.partition(":")
        size = _amount(number)
        if not _BROKER.fullmatch(broker) or not path or not isinstance(size, int) or size < 0:
            raise _malformed("log-dir-bytes", text, "broker:path=bytes, such as *:/data/d1=4000000000000")
        if path in stated.setdefault(broker, {}):
            raise _twice("log-dir-bytes", f"{broker}:{path}")
        stated[broker][path] = size
    return stated


def capacities(texts: Sequence[str]) -> dict[str, dict[str, Json]]:
    """By broker, or `*`, the capacities of `disk=25000000` or `101:cpu=8`. Raises `ConflictingFields`."""
    stated: dict[str, dict[str, Json]] = {}
    for text in listed(texts):
        place, _, number = text.partition("=")
        broker, _, resource = place.rpartition(":")
        field, amount = _CAPACITIES.get(resource), _amount(number)
        if not _BROKER.fullmatch(broker or "*") or field is None or amount is None:
            form = f"resource=amount or broker:resource=amount, of {', '.join(_CAPACITIES)}, such as disk=4000000000000"
            raise _malformed("capacity", text, form)
        if field in stated.setdefault(broker or "*", {}):
            raise _twice("capacity", place)
        stated[broker or "*"][field] = amount
    return stated


def _amount(number: str) -> int | float | None:
    """A number as typed, such as `4TB`; None unless it is a number."""
    try:
        return number_of(number)
    except ValueError:
        return None


def _malformed(option: str, text: str, form: str) -> ConflictingFields:
    return ConflictingFields(f"--{option} is {text}; it has to be {form}", path=(option,))


def _twice(option: str, what: str) -> ConflictingFields:
    return ConflictingFields(f"--{option} states {what} twice", path=(option,))


Fields = Mapping[str, tuple[str, Callable[[Any], Json]]]
"""By option: the field of the body, and how the option is read."""
_READERS: Mapping[str, Callable[[Any], Json]] = {
    "as_typed": lambda value: value,
    "balance": _balance,
    "broker_sets": broker_sets,
    "brokers": lambda texts: [_broker(text) for text in listed(texts)],
    "capacities": capacities,
    "copysets": lambda text: {"scatter_width": int(text)} if _NUMBER.fullmatch(text) else text,
    "directory_bytes": directory_bytes,
    "drained": drained,
    "events": lambda texts: [_group_event(text) for text in texts],
    "forced": lambda texts: {"rack": listed(texts)},
    "in_rack": lambda texts: dict.fromkeys(listed(texts), "in_rack"),
    "leaders": _or_word(_tolerances),
    "limits": limits,
    "listed": listed,
    "minimised": _or_word(lambda text: {"bytes_per_replica": number_of(text)}),
    "names": _names,
    "new_topics": lambda texts: [_new_topic(text) for text in listed(texts)],
    "rates": lambda texts: _by_name("ingress-bytes-per-s", listed(texts), "topic=bytes, such as orders=4MB", number_of),
    "receivers": _receivers,
    "series": _series,
    "text_of_file": lambda file: decode(read_input(file), "topology"),
    "topic_sets": _topic_sets,
    "weights": _weights,
    "written": _written,
}
"""How values are read, by the names in `options.json`."""
_OF_OPTION: Mapping[str, Callable[[str], Callable[[Any], Json]]] = {
    "bytes": _bytes,
    "numbers": _numbers,
    "pairs": _pairs,
    "successors": partial(_pairs, form="old=new, two ids"),
}
"""The same by the name of the option, which their failures have."""


def _fields(options: Mapping[str, Mapping[str, Any]]) -> Fields:
    """The fields of the rows of `options.json` that are fields of a body."""
    fields: dict[str, tuple[str, Callable[[Any], Json]]] = {"kafka_version": ("kafka_version", _READERS["as_typed"])}
    for name, row in options.items():
        read, option = row.get("read", "as_typed"), name.replace("_", "-")
        reader = _OF_OPTION[read](option) if read in _OF_OPTION else _READERS[read]
        if (path := row.get("field", name)) is not None:
            fields[name] = (path, partial(_stated, row["value"]) if "value" in row else reader)
    return fields


def _stated(value: Json, _: object) -> Json:
    """The value that a flag stands for."""
    return value


OF_KIND: Mapping[str, Fields] = {kind: _fields(row["options"]) for kind, row in PLANS.items()}
"""The options of each kind of plan, and of keys."""
