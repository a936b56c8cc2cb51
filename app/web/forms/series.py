"""Rates of partitions over time in the fields of forms: tables, and what Prometheus answers."""

from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from itertools import pairwise
from typing import Any

import orjson

from app.web.forms.values import decimal, lines_of, whole

_RATE = "ingress_bytes_per_s"


def series(text: str) -> dict[str, Any]:
    """Rates of partitions over time: a table with columns `topic-partition`, or an answer of Prometheus as JSON.

    The lines of a table are consecutive intervals: the moment at which each begins, and the rate of each partition in
    bytes/s, between commas, semicolons or tabs. Raises `ValueError`.
    """
    if text.startswith("{"):
        return {"prometheus": orjson.loads(text)}
    mark = next((each for each in "\t;" if each in text), ",")
    (_, *names), *rows = [[cell.strip(' "') for cell in line.split(mark)] for line in lines_of(text)]
    places = _places(names)
    moments = [_moment(row[0]) for row in rows]
    steps = {int((later - sooner).total_seconds()) for sooner, later in pairwise(moments)}
    if len(steps) != 1:
        raise ValueError("Write two or more intervals of one length, each a line that begins when it begins.")
    if wrong := next((row for row in rows if len(row) != len(names) + 1), None):
        raise ValueError(f"The line of {wrong[0]} has {len(wrong) - 1} rates, and the first line {len(names)} columns.")
    rates = {
        topic: [[decimal(row[columns[at]]) for at in range(len(columns))] for row in rows]
        for topic, columns in places.items()
    }
    start = moments[0].isoformat().replace("+00:00", "Z")
    return {"start": start, "step_s": steps.pop(), _RATE: rates}


def _places(names: Sequence[str]) -> Mapping[str, Mapping[int, int]]:
    """The column of each partition of each topic, from 1."""
    places: dict[str, dict[int, int]] = {}
    for place, name in enumerate(names, 1):
        topic, _, partition = name.rpartition("-")
        if not topic or whole(partition) in places.setdefault(topic, {}):
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
            f"A line begins with a moment, such as 2026-11-27T06:00:00Z, not with {text[:100]!r}."
        ) from None
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)


def written_series(value: Any, first: str = "time") -> str:
    if "prometheus" in value:
        return orjson.dumps(value["prometheus"]).decode()
    rates: Mapping[str, Sequence[Sequence[float]]] = value.get(_RATE) or value["bytes_per_s"]  # its former name
    start, step = _moment(value["start"]), value["step_s"]
    lines = [[first, *(f"{topic}-{at}" for topic, rows in rates.items() for at in range(len(rows[0])))]]
    for at in range(len(next(iter(rates.values())))):
        moment = datetime.fromtimestamp(start.timestamp() + at * step, start.tzinfo).isoformat()
        lines.append([moment.replace("+00:00", "Z"), *(f"{rate:.12g}" for rows in rates.values() for rate in rows[at])])
    return "\n".join(map(",".join, lines))


def groups(text: str) -> object:
    """Tables of `series` with blank lines between them, each with the name of a group over its moments."""
    return dict(_tables(text))


def _tables(text: str) -> Iterator[tuple[str, object]]:
    for block in text.replace("\r\n", "\n").split("\n\n"):
        if lines := lines_of(block):
            name = next((lines[0].partition(mark)[0] for mark in "\t;," if mark in lines[0]), "")
            yield name.strip(' "'), series("\n".join(lines))


def written_groups(value: Any) -> str:
    return "\n\n".join(written_series(each, name) for name, each in value.items())
