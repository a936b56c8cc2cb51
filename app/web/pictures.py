"""A placement as a picture: racks as panels, brokers as columns, and the partitions beneath where there are few.

The picture is one SVG document without script, font or outside reference. It says in words what it shows, follows the
reader's light or dark colours, and has the same bytes whenever it is drawn.
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from importlib.resources import files

import numpy as np

from app.core.measures.placement import PlacementMeasures, measure
from app.core.measures.tally import Tally, tally
from app.core.model import NO_REPLICA, Assignment, Broker
from app.web import broker_bars, partition_matrix
from app.web.broker_columns import Columns, Rack, lay_out
from app.web.svg import NAMESPACE, element, escaped, label
from app.web.words import counted, number, share

STYLE = files("app.web").joinpath("static", "picture.css").read_text(encoding="utf-8")
"""The picture's own style sheet. A page that links it draws its pictures without."""

NARROWEST = 620
"""Pixels that the words above the picture need."""
_MARGIN = 16
_TITLE, _FACT, _LEGEND, _FIRST_LINE = 34, 56, 18, 18
_DESCRIBED_RACKS = 40


@dataclass(frozen=True, slots=True, eq=False)
class PlacementPicture:
    """What a picture is of: assignments by topic, in the order in which they are drawn.

    Replicas on brokers that are not listed get a panel of their own.
    """

    title: str
    brokers: Sequence[Broker]
    assignments: Mapping[str, Assignment] = field(repr=False)


def draw(picture: PlacementPicture, *, style: str = STYLE) -> str:
    """Draw a placement.

    Parameters
    ----------
    style : rules that become the document's own; none where the page around it brings them.
    """
    counts = tally(picture.assignments, picture.brokers)
    measures = measure(counts)
    unlisted = _unlisted(counts)
    shown = tally(picture.assignments, (*counts.brokers, *unlisted)) if unlisted else counts
    columns = lay_out(_racks(counts.brokers, unlisted))
    told = facts(measures, counts)
    body, bottom = _body(shown, columns, top=_FACT + _LEGEND * len(told) + _FIRST_LINE + 8)
    width = max(columns.width, NARROWEST)
    has_fenced = any(broker.fenced for broker in counts.brokers)
    return element(
        "svg",
        element("title", escaped(picture.title)),
        element("desc", escaped(" ".join([*told, *_described(shown, columns)]))),
        element("style", style) if style else "",
        broker_bars.hatching() if has_fenced else "",
        element("rect", class_="surface", width=width, height=bottom, rx=10),
        *_head(picture.title, told, width, has_fenced=has_fenced),
        *body,
        xmlns=NAMESPACE,
        class_="placement-picture",
        role="img",
        viewBox=f"0 0 {width:.0f} {bottom:.0f}",
        width=round(width),
        height=round(bottom),
    )


def facts(measures: PlacementMeasures, counts: Tally) -> list[str]:
    """What the picture shows, in sentences."""
    told = [_rack_safety(measures)]
    leaders, replicas = measures.leaders, measures.replicas
    told.append(
        f"A broker leads {_range(leaders.min, leaders.max)} partitions (spread {number(leaders.spread)}) and holds "
        f"{_range(replicas.min, replicas.max)} replicas (spread {number(replicas.spread)})."
    )
    if fenced := sum(broker.fenced for broker in counts.brokers):
        told.append(f"{fenced} of {counted(len(counts.brokers), 'broker')} {'is' if fenced == 1 else 'are'} fenced.")
    return told


def _rack_safety(measures: PlacementMeasures) -> str:
    safe = measures.rack_safe_share
    if safe is None:
        return "No broker has a rack, so nothing can be said about racks."
    if safe == 1:
        spanned = measures.racks_per_partition
        racks = "" if spanned is None or not spanned.max else f": {_range(spanned.min, spanned.max)}"
        return f"Rack-safe: every partition spans as many racks as it can{racks}."
    crowded = round((1 - safe) * measures.partitions)
    return (
        f"{share(safe)} rack-safe: {crowded:,} of {counted(measures.partitions, 'partition')} "
        f"{'spans' if crowded == 1 else 'span'} fewer racks than {'it' if crowded == 1 else 'they'} could."
    )


def _range(low: int, high: int) -> str:
    return number(low) if low == high else f"{number(low)} to {number(high)}"


def _unlisted(counts: Tally) -> tuple[Broker, ...]:
    from app.core.measures.tally_kernel import UNKNOWN_BROKER  # noqa: PLC0415 — numba is imported late

    held = [
        np.unique(assignment.replicas[(faults & UNKNOWN_BROKER).astype(np.bool_)])
        for assignment, faults in zip(counts.assignments.values(), counts.faults, strict=True)
    ]
    listed = {broker.id for broker in counts.brokers} | {NO_REPLICA}
    ids = {broker for found in held for broker in found.tolist()} - listed
    return tuple([Broker(broker) for broker in sorted(ids)])


def _racks(brokers: Sequence[Broker], unlisted: tuple[Broker, ...]) -> list[Rack]:
    by_rack: dict[str, list[Broker]] = defaultdict(list)
    without: list[Broker] = []
    for broker in brokers:
        (without if broker.rack is None else by_rack[broker.rack]).append(broker)
    racks = [Rack(rack or "“”", tuple(by_rack[rack])) for rack in sorted(by_rack)]
    if without:
        racks.append(Rack("no rack", tuple(without)))
    if unlisted:
        racks.append(Rack("unlisted", unlisted))
    return racks


def _head(title: str, told: Sequence[str], width: float, *, has_fenced: bool) -> list[str]:
    room = width - 2 * _MARGIN
    lines = [label(title, _MARGIN, _TITLE, width=room, size=17, class_="title")]
    for index, fact in enumerate(told):
        lines.append(label(fact, _MARGIN, _FACT + index * _LEGEND, width=room, size=12.5, class_="fact"))
    return [*lines, *_legend(_MARGIN, _FACT + len(told) * _LEGEND + 4, has_fenced=has_fenced)]


def _legend(x: float, y: float, *, has_fenced: bool) -> list[str]:
    entries: list[tuple[str, dict[str, str]]] = [
        ("preferred leader", {"class_": "leads"}),
        ("follower", {"class_": "follows"}),
        *([("fenced broker", broker_bars.FENCED)] if has_fenced else []),
    ]
    drawn = []
    for words, look in entries:
        drawn.append(element("rect", x=x + 0.5, y=y - 9, width=10, height=10, rx=2, **look))
        drawn.append(element("text", words, class_="quiet", x=x + 16, y=y))
        x += 16 + len(words) * 6.1 + 18
    drawn.append(element("path", class_="even", d=f"M{x:.2f} {y - 4:.2f}h16"))
    drawn.append(element("text", "⌀ an even share", class_="quiet", x=x + 22, y=y))
    return drawn


def _body(counts: Tally, columns: Columns, *, top: float) -> tuple[list[str], float]:
    bars = broker_bars.bars_of(counts)
    rows = partition_matrix.rows_of(counts, columns)
    line_height = broker_bars.line_height(columns)
    depth = line_height + partition_matrix.height(rows)
    drawn = []
    for panels in columns.lines:
        for panel in panels:
            place = {"x": panel.x, "y": top, "width": panel.width, "height": depth}
            drawn.append(element("rect", element("title", escaped(panel.name)), class_="panel", rx=6, **place))
        drawn += broker_bars.draw_line(panels, top, columns, bars)
        drawn += partition_matrix.draw(rows, top + line_height, columns, has_racks=bool(counts.racks))
        top += depth + 12
    return drawn, top + _MARGIN - 8


def _described(counts: Tally, columns: Columns) -> list[str]:
    panels = [panel for line in columns.lines for panel in line]
    bars = broker_bars.bars_of(counts)
    told = []
    for panel in panels[:_DESCRIBED_RACKS]:
        held = [bars.counts[column.broker.id] for column in panel.columns]
        replicas, leaders = sum(count.replicas for count in held), sum(count.leaders for count in held)
        brokers = counted(len(held), "broker")
        told.append(f"{panel.name}: {brokers}, {counted(replicas, 'replica')}, {counted(leaders, 'leader')}.")
    if len(panels) > _DESCRIBED_RACKS:
        told.append(f"And {len(panels) - _DESCRIBED_RACKS} more racks.")
    return told
