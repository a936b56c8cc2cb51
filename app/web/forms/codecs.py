"""How parts of a request are written in the fields of forms: numbers in units, lists, lines of pairs, tables."""

from collections.abc import Callable, Mapping, Sequence
from shlex import join, split
from typing import Any

import orjson

from app.services.amounts import bytes_of
from app.web.forms import series, values
from app.web.forms.values import SHARE, Codec, by_name, in_unit, lines_of, pairs, whole, wholes

MB = 1e6
_RATE, _BY_NAME = "ingress_bytes_per_s", "topic_name_hash"
_CAPACITIES = ((1e12, ("disk_bytes",)), (MB, ("nic_in_bytes_per_s", "nic_out_bytes_per_s")), (1, ("vcpu",)))
"""The columns of a capacity: the unit, and the fields that have the value."""


def _values(text: str) -> object:
    """`2 to 6` as a range, `2, 3` as a list."""
    first, is_range, last = text.partition(" to ")
    if is_range:
        begin, end = whole(first.strip()), whole(last.strip())
        if begin > end:
            raise ValueError(f"No number is from {begin} to {end}.")
        return {"from": begin, "to": end}
    return [whole(word) for word in values.commas(text)]


def _written_values(value: Any) -> str:
    return f"{value['from']} to {value['to']}" if isinstance(value, dict) else ", ".join(map(str, value))


def _bytes(text: str) -> object:
    stated = bytes_of(text)
    return values.decimal(text) if stated is text else stated


def _vcpus(text: str) -> float:
    return values.decimal(text.removesuffix("vCPU").strip())


def _pins(text: str) -> object:
    """Lines of a partition and its replicas: `orders-0=101 104 107`."""
    pins = []
    for partition, replicas in pairs(text, "orders-0=101 104 107", wholes).items():
        topic, _, number = partition.rpartition("-")
        pins.append({"topic": topic, "partition": whole(number), "replicas": replicas})
    return pins


def _written_pins(value: Any) -> str:
    return "\n".join(f"{each['topic']}-{each['partition']}={_WHOLES.write(each['replicas'])}" for each in value)


_PARTS: Mapping[str, Callable[[str], object]] = {
    "id": whole,
    "brokers": wholes,
    "exclusive": values.flag,
    "is_stateful": values.flag,
    **dict.fromkeys(("topics", "source_topics", "changelog_topics"), values.commas),
}
"""The parts of records that are no texts."""


def _records(text: str) -> object:
    """Lines of parts `name=value` between blanks; quoted as in a shell if a value has blanks."""
    records = []
    for line in lines_of(text):
        parts = [word.partition("=") for word in split(line)]
        if wrong := next((name for name, is_given, _ in parts if not is_given), ""):
            raise ValueError(f"Write name=value between blanks; {wrong[:100]!r} has no =.")
        records.append({name: _PARTS.get(name, str)(value) for name, _, value in parts})
    return records


def _written_records(value: Any) -> str:
    def written(part: object) -> str:
        if isinstance(part, bool):
            return "yes" if part else "no"
        return ",".join(map(str, part)) if isinstance(part, list) else str(part)

    return "\n".join(join(f"{name}={written(part)}" for name, part in record.items()) for record in value)


def _rates(text: str) -> object:
    rates = pairs(text, "orders=12.5", in_unit(MB).read)
    return [{"name": name, _RATE: rate} for name, rate in rates.items()]


def _brokers(text: str) -> object:
    """Lines of an id, and of a rack if there is one: `107 az-a`."""
    split = [line.partition(" ") for line in lines_of(text)]
    return [{"id": whole(word)} | ({"rack": rack.strip()} if rack.strip() else {}) for word, _, rack in split]


def _band(text: str) -> object:
    """`10%` is a tolerance of the mean; everything else is a word of the request."""
    return {"tolerance": values.decimal(text, 0.01)} if text.endswith("%") else text


def _goals(text: str) -> object:
    """Lines of a goal, and of its tolerance in percent if there is one: `disk 10`."""
    split = [line.partition(" ") for line in lines_of(text)]
    return [
        {"goal": name} | ({"tolerance": values.decimal(share, 0.01)} if share.strip() else {})
        for name, _, share in split
    ]


def _written_goals(value: Any) -> str:
    shares = {each["goal"]: each.get("tolerance") for each in value}
    return "\n".join(goal if share is None else f"{goal} {100 * share:.12g}" for goal, share in shares.items())


def _events(text: str) -> object:
    """Lines of an event, and of its value if there is one, a text or JSON: `leave billing-0`, `rolling_restart`."""
    events = []
    for name, _, value in (line.partition(" ") for line in lines_of(text)):
        try:
            events.append({name: orjson.loads(value) if value.startswith(("{", "[")) else value or True})
        except orjson.JSONDecodeError:
            raise ValueError(f"The value of {name[:100]} is no JSON: {value[:100]!r}.") from None
    return events


def _written_events(value: Any) -> str:
    def written(of: object) -> str:
        return of if isinstance(of, str) else "" if of is True else orjson.dumps(of).decode()

    return "\n".join(f"{name} {written(of)}".strip() for event in value for name, of in event.items())


def _drained(text: str) -> object:
    """Lines of a broker and a directory: `101 /data/d1`."""
    drained: dict[str, list[str]] = {}
    for line in lines_of(text):
        broker, _, path = line.partition(" ")
        if not path.strip():
            raise ValueError(f"Write a broker and a directory as 101 /data/d1; {line[:100]!r} has no directory.")
        drained.setdefault(str(whole(broker)), []).append(path.strip())
    return drained


def _capacities(text: str) -> object:
    """Lines of a broker, or `*` for all others, its disk in TB, and perhaps its network in MB/s and its vCPUs.

    `625/1250` is a network that differs by direction.
    """
    read = {}
    for line in lines_of(text):
        broker, *amounts = line.split()
        columns = [(unit, names, value.split("/")) for (unit, names), value in zip(_CAPACITIES, amounts, strict=False)]
        if len(columns) != len(amounts) or not amounts or any(len(each) > len(names) for _, names, each in columns):
            raise ValueError(
                f"Write a broker or *, TB, MB/s (in/out) and vCPUs as * 4 625 16; {line[:100]!r} is something else."
            )
        read[broker] = {
            name: values.decimal(value, unit)
            for unit, names, each in columns
            for name, value in zip(names, each * 2, strict=False)
        }
    return read


def _written_capacities(value: Any) -> str:
    def written(stated: Mapping[str, float], unit: float, names: Sequence[str]) -> str:
        return "/".join(dict.fromkeys(f"{stated[name] / unit:.12g}" for name in names))

    return "\n".join(
        " ".join([broker, *(written(stated, *column) for column in _CAPACITIES if column[1][0] in stated)])
        for broker, stated in value.items()
    )


_TEXT = Codec(str, lambda value: value if str(value).isprintable() else "")
_WHOLE = Codec(whole, str)
_WHOLES = Codec(wholes, lambda value: ", ".join(map(str, value)))
_LIST = Codec(values.commas, ", ".join)
_WORDS = Codec(values.words, " ".join)
_NUMBER = in_unit(1)
_BYTES = Codec(_bytes, lambda value: f"{value:.15g}")

CODECS = {
    "": _TEXT,
    "text": Codec(lambda text: "\n".join(text.splitlines()), str),
    "flag": Codec(values.flag, lambda value: "yes" if value else "no"),
    "whole": _WHOLE,
    "signed": Codec(lambda text: -whole(text[1:]) if text.startswith("-") else whole(text), str),
    "wholes": _WHOLES,
    "each": values.word_or("each", _WHOLES),
    "receivers": values.word_or("added", _WHOLES),
    "list": _LIST,
    "words": _WORDS,
    "lines": Codec(lines_of, "\n".join),
    "values": Codec(_values, _written_values),
    "factors": by_name(_WHOLE, "orders=3"),
    "names": by_name(_TEXT, "team=payments"),
    "lists": by_name(_LIST, "zone=a, b"),
    "sets": by_name(_WHOLES, "blue=101 102"),
    "lags": by_name(values.one_or_list(_WHOLE), "orders=120"),
    "by_topic": by_name(_NUMBER, "orders=2", is_of_all=True),
    "weights": by_name(_NUMBER, "101=2", word="capacity", is_of_all=True),
    "racks_by_topic": by_name(_WORDS, "orders=az-a az-b", is_of_all=True),
    "topic_sets": by_name(_TEXT, "orders=blue", word=_BY_NAME),
    "rates": Codec(_rates, lambda value: "\n".join(f"{each['name']}={each[_RATE] / MB:.12g}" for each in value)),
    "topic_rates": by_name(values.one_or_list(in_unit(MB)), "orders=12.5"),
    "sizes": by_name(in_unit(1e9), "0_1=12"),
    "capacities": Codec(_capacities, _written_capacities),
    "limit": values.limit(_BYTES, "B"),
    "vcpus": values.limit(Codec(_vcpus, _NUMBER.write), "vCPU"),
    "most": values.limit(Codec(whole, "{:.15g}".format), ""),
    "directory_shares": values.by_directory(SHARE, is_of_all=True),
    "directory_sizes": values.by_directory(in_unit(1e12)),
    "pins": Codec(_pins, _written_pins),
    "records": Codec(_records, _written_records),
    "json": Codec(orjson.loads, lambda value: orjson.dumps(value).decode()),
    "series": Codec(series.series, series.written_series),
    "groups": Codec(series.groups, series.written_groups),
    "brokers": Codec(
        _brokers, lambda value: "\n".join(f"{each['id']} {each.get('rack', '')}".strip() for each in value)
    ),
    "band": Codec(_band, lambda value: f"{100 * value['tolerance']:.12g}%" if isinstance(value, dict) else value),
    "goals": Codec(_goals, _written_goals),
    "events": Codec(_events, _written_events),
    "drained": Codec(
        _drained, lambda value: "\n".join(f"{broker} {path}" for broker, paths in value.items() for path in paths)
    ),
    "number": _NUMBER,
    "%": SHARE,
    "bytes": _BYTES,
    "MB": in_unit(MB),
    "per_MB": in_unit(1 / MB),
    "TB": in_unit(1e12),
}
"""The codecs by the names that `fields.json` has."""
