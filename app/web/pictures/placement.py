"""A placement as a picture: brokers in their racks with their replicas, and the partitions beneath if there are few."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from app.core.measures.placement import PlacementMeasures, measure
from app.core.measures.tally import Tally, tally
from app.core.model import NO_REPLICA, Assignment, Broker, unpadded
from app.deferred import IMPORTING
from app.web.pictures import rack_bars
from app.web.pictures.rack_bars import Bars
from app.web.pictures.rack_columns import LEFT, PANEL_PADDING, Column, Columns, Rack, RackItem, lay_out
from app.web.pictures.rendering import STYLE, Beneath, Picture, render
from app.web.pictures.svg import element, escaped, label
from app.web.words import counted, extent, number, share

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
        Row(topic, partition, replicas, len({rack_of[each] for each in replicas if each in rack_of}), bool(fault))
        for (topic, assignment), faults in zip(tally.assignments.items(), tally.faults, strict=True)
        for partition, replicas, fault in zip(
            *(assignment.partition_ids.tolist(), unpadded(assignment.replicas), (faults & TOO_FEW_RACKS).tolist()),
            strict=True,
        )
    ]


def height(rows: Sequence[Row]) -> float:
    """Pixels that the rows take, the names of several topics included."""
    topics = len(_topics(rows))
    return len(rows) * ROW + (topics * TOPIC_ROW if topics > 1 else 0) + (10 if rows else 0)


def draw_matrix(rows: Sequence[Row], top: float, columns: Columns, *, has_racks: bool) -> list[str]:
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


@dataclass(frozen=True, slots=True, eq=False)
class PlacementPicture:
    """The contents of a picture: assignments by topic, in the order in which they are drawn.

    Replicas on brokers that are not listed get a panel of their own.
    """

    title: str
    brokers: Sequence[Broker]
    assignments: Mapping[str, Assignment] = field(repr=False)


def draw(picture: PlacementPicture, *, style: str = STYLE) -> str:
    """Draw a placement.

    Parameters
    ----------
    style : the style sheet of the document; empty if the page has it.
    """
    counts = tally(picture.assignments, picture.brokers)
    unlisted = _unlisted(counts)
    shown = tally(picture.assignments, (*counts.brokers, *unlisted)) if unlisted else counts
    columns = lay_out(_racks(shown, unlisted))
    has_fenced = any(broker.fenced for broker in shown.brokers)
    legend: list[tuple[str, Mapping[str, str]]] = [
        ("preferred leader", {"class_": "leads"}),
        ("follower", {"class_": "follows"}),
        *([("fenced broker", rack_bars.OUT)] if has_fenced else []),
    ]
    sentences = facts(measure(counts), counts)
    drawing = Picture(picture.title, sentences, legend, columns, _bars(shown), _partitions(shown, columns))
    return render(drawing, style=style)


def facts(measures: PlacementMeasures, counts: Tally) -> list[str]:
    """The facts that the picture shows, as sentences."""
    sentences = [_rack_safety(measures)]
    leaders, replicas = measures.leaders, measures.replicas
    sentences.append(
        f"A broker leads {extent(leaders.min, leaders.max)} partitions (spread {number(leaders.spread)}) and holds "
        f"{extent(replicas.min, replicas.max)} replicas (spread {number(replicas.spread)})."
    )
    if fenced := sum(broker.fenced for broker in counts.brokers):
        verb = "is" if fenced == 1 else "are"
        sentences.append(f"{fenced} of {counted(len(counts.brokers), 'broker')} {verb} fenced.")
    return sentences


def _rack_safety(measures: PlacementMeasures) -> str:
    safe = measures.rack_safe_share
    if safe is None:
        return "No broker has a rack, so racks are not measured."
    if safe == 1:
        spanned = measures.racks_per_partition
        racks = "" if spanned is None or not spanned.max else f": {extent(spanned.min, spanned.max)}"
        return f"Rack-safe: every partition spans as many racks as it can{racks}."
    crowded = round((1 - safe) * measures.partitions)
    return (
        f"{share(safe)} rack-safe: {crowded:,} of {counted(measures.partitions, 'partition')} "
        f"{'spans' if crowded == 1 else 'span'} fewer racks than {'it' if crowded == 1 else 'they'} could."
    )


def _unlisted(counts: Tally) -> tuple[Broker, ...]:
    with IMPORTING:
        from app.core.measures.tally_kernel import UNKNOWN_BROKER  # noqa: PLC0415 — numba is imported late

    broker_ids = [
        np.unique(assignment.replicas[(faults & UNKNOWN_BROKER).astype(np.bool_)])
        for assignment, faults in zip(counts.assignments.values(), counts.faults, strict=True)
    ]
    listed = {broker.id for broker in counts.brokers} | {NO_REPLICA}
    ids = {broker for of_topic in broker_ids for broker in of_topic.tolist()} - listed
    return tuple([Broker(broker, fenced=True) for broker in sorted(ids)])  # they are down


def _racks(shown: Tally, unlisted: tuple[Broker, ...]) -> list[Rack]:
    """By name, then the brokers without a rack, then the unlisted ones."""
    unlisted_ids = {broker.id for broker in unlisted}
    racks: dict[tuple[int, str], list[RackItem]] = defaultdict(list)
    for broker, (leaders, replicas, _) in zip(shown.brokers, shown.per_broker.tolist(), strict=True):
        order = 2 if broker.id in unlisted_ids else 1 if broker.rack is None else 0
        racks[order, broker.rack or ""].append(_item(broker, leaders, replicas))
    names = {1: "no rack", 2: "unlisted"}
    return [Rack(names.get(order, rack or "“”"), tuple(racks[order, rack])) for order, rack in sorted(racks)]


def _item(broker: Broker, leaders: int, replicas: int) -> RackItem:
    where = "no rack" if broker.rack is None else f"rack {broker.rack}"
    tooltip = f"broker {broker.id}, {where}: {counted(replicas, 'replica')}, leads {leaders:,}"
    return RackItem(
        name=str(broker.id),
        tooltip=tooltip + (", fenced" if broker.fenced else ""),
        counts=(leaders, replicas - leaders),
        is_out=broker.fenced,
    )


def _bars(shown: Tally) -> Bars:
    leaders, replicas = (shown.per_broker[:, column].tolist() for column in (0, 1))
    live = max(sum(not broker.fenced for broker in shown.brokers), 1)
    means = {"leaders": sum(leaders) / live, "replicas": sum(replicas) / live}
    return Bars(
        noun="broker",
        looks=("leads", "follows"),
        summed=_summed,
        named=_named,
        highest=max(replicas, default=0),
        even=[
            (mean, f"the mean of the {what}: {number(mean)} a broker")
            for what, mean in means.items()
            if what == "replicas" or mean < means["replicas"]
        ],
    )


def _summed(items: Sequence[RackItem]) -> tuple[str, ...]:
    leaders = sum(one.counts[0] for one in items)
    replicas = leaders + sum(one.counts[1] for one in items)
    return f"{counted(replicas, 'replica')}, {leaders:,} lead", f"{replicas:,}, {leaders:,} lead", f"{replicas:,}"


def _named(items: Sequence[RackItem]) -> str:
    first, last = items[0].name, items[-1].name
    return f"brokers {first}–{last}" if len(items) > 1 else f"broker {first}"


def _partitions(shown: Tally, columns: Columns) -> Beneath | None:
    rows = rows_of(shown, columns)
    if not rows:
        return None
    return Beneath(height(rows), lambda top: draw_matrix(rows, top, columns, has_racks=bool(shown.racks)))
