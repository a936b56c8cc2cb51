"""How parts of a request are written in the fields of forms: numbers in units, lists, lines of pairs, tables."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from itertools import pairwise
from math import isfinite, nan
from typing import Any

import orjson

from app.services.amounts import bytes_of, json_number, plain_number, seconds_of

MB = 1e6
_RATE, _BY_NAME = "ingress_bytes_per_s", "topic_name_hash"
_CAPACITIES = ((1e12, ("disk_bytes",)), (MB, ("nic_in_bytes_per_s", "nic_out_bytes_per_s")), (1, ("vcpu",)))
"""The columns of a capacity: the unit, and the fields that have the value."""


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
    if text.isascii() and text.isdigit() and len(text) < 20 and int(text) < 2**63:
        return int(text)
    raise ValueError(f"Enter whole numbers; {text[:100]!r} is none.")


def _decimal(text: str, unit: float = 1) -> float:
    """A number in a unit; of bytes also with its own, such as 3.4 TB, and a duration such as 12 h."""
    stated = bytes_of(text) if unit > 1 else seconds_of(text)
    if isinstance(stated, int | float):
        return stated
    try:
        value = round(plain_number(text.rstrip("% ")) * unit, 12)
    except ValueError:
        value = nan
    if isfinite(value):
        return json_number(value)
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


def _events(text: str) -> object:
    """Lines of an event, and of its value if there is one, a text or JSON: `leave billing-0`, `rolling_restart`."""
    events = []
    for name, _, value in (line.partition(" ") for line in _lines(text)):
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
    for line in _lines(text):
        broker, _, path = line.partition(" ")
        if not path.strip():
            raise ValueError(f"Write a broker and a directory as 101 /data/d1; {line[:100]!r} has no directory.")
        drained.setdefault(str(_whole(broker)), []).append(path.strip())
    return drained


def _capacities(text: str) -> object:
    """Lines of a broker, or `*` for all others, its disk in TB, and perhaps its network in MB/s and its vCPUs.

    `625/1250` is a network that differs by direction.
    """
    read = {}
    for line in _lines(text):
        broker, *values = line.split()
        columns = [(unit, names, value.split("/")) for (unit, names), value in zip(_CAPACITIES, values, strict=False)]
        if len(columns) != len(values) or not values or any(len(each) > len(names) for _, names, each in columns):
            raise ValueError(
                f"Write a broker or *, TB, MB/s (in/out) and vCPUs as * 4 625 16; {line[:100]!r} is something else."
            )
        read[broker] = {
            name: _decimal(value, unit)
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


def series(text: str) -> dict[str, Any]:
    """Rates of partitions over time: a table with columns `topic-partition`, or an answer of Prometheus as JSON.

    The lines of a table are consecutive intervals: the moment at which each begins, and the rate of each partition in
    bytes/s, between commas, semicolons or tabs. Raises `ValueError`.
    """
    if text.startswith("{"):
        return {"prometheus": orjson.loads(text)}
    mark = next((each for each in "\t;" if each in text), ",")
    (_, *names), *rows = [[cell.strip(' "') for cell in line.split(mark)] for line in _lines(text)]
    places = _places(names)
    moments = [_moment(row[0]) for row in rows]
    steps = {int((later - sooner).total_seconds()) for sooner, later in pairwise(moments)}
    if len(steps) != 1:
        raise ValueError("Write two or more intervals of one length, each a line that begins when it begins.")
    if wrong := next((row for row in rows if len(row) != len(names) + 1), None):
        raise ValueError(f"The line of {wrong[0]} has {len(wrong) - 1} rates, and the first line {len(names)} columns.")
    rates = {
        topic: [[_decimal(row[columns[at]]) for at in range(len(columns))] for row in rows]
        for topic, columns in places.items()
    }
    start = moments[0].isoformat().replace("+00:00", "Z")
    return {"start": start, "step_s": steps.pop(), _RATE: rates}


def _places(names: Sequence[str]) -> Mapping[str, Mapping[int, int]]:
    """The column of each partition of each topic, from 1."""
    places: dict[str, dict[int, int]] = {}
    for place, name in enumerate(names, 1):
        topic, _, partition = name.rpartition("-")
        if not topic or _whole(partition) in places.setdefault(topic, {}):
            raise ValueError(f"Each column after the first is a partition, such as orders-0; {name[:100]!r} is not.")
        places[topic][int(partition)] = place
    for topic, columns in places.items():
        if max(columns) >= len(columns):
            raise ValueError(f"Topic {topic[:100]} has {len(columns)} columns, and none of each partition from 0.")
    return places


def _moment(text: str) -> datetime:
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        raise ValueError(
            f"A line begins with a moment, such as 2026-11-27T06:00:00Z; {text[:100]!r} is none."
        ) from None
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)


def _written_series(value: Any, first: str = "time") -> str:
    if "prometheus" in value:
        return orjson.dumps(value["prometheus"]).decode()
    rates: Mapping[str, Sequence[Sequence[float]]] = value.get(_RATE) or value["bytes_per_s"]  # its former name
    start, step = _moment(value["start"]), value["step_s"]
    lines = [[first, *(f"{topic}-{at}" for topic, rows in rates.items() for at in range(len(rows[0])))]]
    for at in range(len(next(iter(rates.values())))):
        moment = datetime.fromtimestamp(start.timestamp() + at * step, start.tzinfo).isoformat()
        lines.append([moment.replace("+00:00", "Z"), *(f"{rate:.12g}" for rows in rates.values() for rate in rows[at])])
    return "\n".join(map(",".join, lines))


def _groups(text: str) -> object:
    """Tables of `series` with blank lines between them, each with the name of a group over its moments."""
    return dict(_tables(text))


def _tables(text: str) -> Iterator[tuple[str, object]]:
    for block in text.replace("\r\n", "\n").split("\n\n"):
        if lines := _lines(block):
            name = next((lines[0].partition(mark)[0] for mark in "\t;," if mark in lines[0]), "")
            yield name.strip(' "'), series("\n".join(lines))


def _written_groups(value: Any) -> str:
    return "\n\n".join(_written_series(each, name) for name, each in value.items())


def in_unit(unit: float) -> Codec:
    """Decimal numbers in a unit."""
    return Codec(partial(_decimal, unit=unit), lambda value: f"{value / unit:.12g}")


CODECS = {
    "": Codec(str, lambda value: value if str(value).isprintable() else ""),
    "whole": Codec(_whole, str),
    "signed": Codec(lambda text: -_whole(text[1:]) if text.startswith("-") else _whole(text), str),
    "wholes": Codec(_wholes, lambda value: ", ".join(map(str, value))),
    "each": Codec(
        lambda text: text if text == "each" else _wholes(text),
        lambda value: value if isinstance(value, str) else ", ".join(map(str, value)),
    ),
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
    "topic_rates": Codec(
        lambda text: _pairs(text, "orders=12.5", in_unit(MB).read),
        lambda value: "\n".join(f"{name}={each / MB:.12g}" for name, each in value.items()),
    ),
    "capacities": Codec(_capacities, _written_capacities),
    "series": Codec(series, _written_series),
    "groups": Codec(_groups, _written_groups),
    "brokers": Codec(
        _brokers, lambda value: "\n".join(f"{each['id']} {each.get('rack', '')}".strip() for each in value)
    ),
    "band": Codec(_band, lambda value: f"{100 * value['tolerance']:.12g}%" if isinstance(value, dict) else value),
    "goals": Codec(_goals, _written_goals),
    "events": Codec(_events, _written_events),
    "drained": Codec(
        _drained, lambda value: "\n".join(f"{broker} {path}" for broker, paths in value.items() for path in paths)
    ),
    "number": in_unit(1),
    "%": in_unit(0.01),
    "MB": in_unit(MB),
    "TB": in_unit(1e12),
}
"""The codecs by the names that `fields.json` has."""
