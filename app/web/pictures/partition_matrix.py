"""Every partition of a small plan as a row under the brokers' columns, which shows the racks that it spans."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from app.core.measures.tally import Tally
from app.core.model import Assignment, unpadded
from app.deferred import IMPORTING
from app.web.pictures.rack_columns import LEFT, PANEL_PADDING, Column, Columns
from app.web.pictures.svg import element, escaped, label
from app.web.words import counted

MOST_ROWS = 64
"""Partitions that a matrix shows; larger plans have their bars only."""
NARROWEST_PITCH = 14
ROW, TOPIC_ROW = 17, 26
_CELL = 11


@dataclass(frozen=True, slots=True)
class Row:
    """A partition: its brokers, the preferred leader first, and whether it spans fewer racks than it could."""

    topic: str
    partition: int
    replicas: Sequence[int]
    racks: int
    is_crowded: bool


def rows_of(tally: Tally, columns: Columns) -> list[Row]:
    """The partitions to draw; none if the plan is too large, or its brokers do not fit side by side."""
    with IMPORTING:
        from app.core.measures.tally_kernel import TOO_FEW_RACKS  # noqa: PLC0415 — numba is imported late

    partitions = sum(len(assignment.replicas) for assignment in tally.assignments.values())
    if partitions > MOST_ROWS or len(columns.lines) > 1 or columns.pitch < NARROWEST_PITCH:
        return []
    rack_of = {broker.id: broker.rack for broker in tally.brokers if broker.rack is not None}
    return [
        row
        for (topic, assignment), faults in zip(tally.assignments.items(), tally.faults, strict=True)
        for row in _rows(topic, assignment, (faults & TOO_FEW_RACKS).astype(np.bool_).tolist(), rack_of)
    ]


def height(rows: Sequence[Row]) -> float:
    """Pixels that the rows take, the names of several topics included."""
    topics = len(_topics(rows))
    return len(rows) * ROW + (topics * TOPIC_ROW if topics > 1 else 0) + (10 if rows else 0)


def draw(rows: Sequence[Row], top: float, columns: Columns, *, has_racks: bool) -> list[str]:
    """The rows; a filled cell is the preferred leader, an outlined one a follower, a line connects a row."""
    column_of = {int(column.item.name): column for panel in columns.panels for column in panel.columns}
    right = max([panel.x + panel.width for panel in columns.panels], default=LEFT)
    is_titled = len(_topics(rows)) > 1
    drawn = []
    if rows and has_racks:
        drawn.append(element("text", "racks", class_="quiet middle", x=right + 28, y=top - 6))
    y = top
    topic = None
    for row in rows:
        if is_titled and row.topic != topic:
            drawn.append(label(row.topic, LEFT + PANEL_PADDING, y + 17, width=right - LEFT - 16, class_="topic"))
            y += TOPIC_ROW
        topic = row.topic
        drawn.append(_row(row, y + ROW / 2, column_of, right if has_racks else None))
        y += ROW
    return drawn


def _rows(topic: str, assignment: Assignment, crowded: Sequence[bool], rack_of: Mapping[int, str]) -> list[Row]:
    return [
        Row(
            topic=topic,
            partition=partition,
            replicas=replicas,
            racks=len({rack_of[broker] for broker in replicas if broker in rack_of}),
            is_crowded=is_crowded,
        )
        for partition, replicas, is_crowded in zip(
            assignment.partition_ids.tolist(), unpadded(assignment.replicas), crowded, strict=True
        )
    ]


def _topics(rows: Sequence[Row]) -> dict[str, None]:
    return dict.fromkeys(row.topic for row in rows)


def _row(row: Row, y: float, column_of: Mapping[int, Column], right: float | None) -> str:
    xs = [column_of[broker].x for broker in row.replicas]
    parts = [element("text", str(row.partition), class_="id end", x=LEFT - 10, y=y + 4)]
    if len(xs) > 1:
        parts.append(element("path", class_="thread", d=f"M{min(xs):.2f} {y:.2f}H{max(xs):.2f}"))
    # The leader is drawn last: were a broker named twice, its cell would still show that it leads.
    parts += [_cell(row, index, xs[index], y) for index in reversed(range(len(row.replicas)))]
    if right is not None:
        tooltip = element("title", escaped(f"partition {row.partition} spans {counted(row.racks, 'rack')}"))
        parts.append(element("text", tooltip, str(row.racks), class_="spans", x=right + 28, y=y + 4))
    return element("g", *parts, class_="row crowded" if row.is_crowded else "row")


def _cell(row: Row, index: int, x: float, y: float) -> str:
    role = "preferred leader" if index == 0 else f"replica {index + 1} of {len(row.replicas)}"
    tooltip = element("title", escaped(f"{row.topic}-{row.partition} on broker {row.replicas[index]}: {role}"))
    size = _CELL if index == 0 else _CELL - 1
    place = {"x": x - size / 2, "y": y - size / 2, "width": size, "height": size, "rx": 2.5}
    return element("rect", tooltip, class_="leads" if index == 0 else "follows", **place)
