"""A map of a cluster: its racks, in each its brokers, and of each broker one measure as a shade."""

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from app.core.measures.partition_table import BrokerLoads, PartitionTable
from app.core.model import NO_RACK, Bools, Float64s
from app.web.assets import ASSETS
from app.web.pictures.rendering import STYLE, head
from app.web.pictures.svg import document, element, escaped, label
from app.web.words import byte_size, counted, number

SHADES = 9
"""Shades from the smallest to the largest value."""
NO_RACK_NAME = "no rack"
_NEUTRAL = SHADES // 2
MOST_NUMBERED = 300
"""Brokers of a map of which each has its number; the text beside a larger one names the extremes."""


@dataclass(frozen=True, slots=True)
class Measure:
    """A number of each broker.

    Parameters
    ----------
    label : as the page calls it. values : (brokers,) float64 of the loads; None if the snapshot does not report it.
    written : a value as text.
    """

    label: str
    values: Callable[[PartitionTable, BrokerLoads], Float64s | None]
    written: Callable[[float], str]


def _rate(value: float) -> str:
    return f"{byte_size(round(value))}/s"


def _percent(value: float) -> str:
    return "–" if np.isnan(value) else f"{value * 100:.0f} %"


def _disk_shares(table: PartitionTable, loads: BrokerLoads) -> Float64s | None:
    """Bytes over the size of the disks; NaN if that is unknown."""
    sizes = [None if broker.capacity is None else broker.capacity.disk_bytes for broker in table.brokers.brokers]
    if not any(sizes):
        return None
    return np.array([np.nan if not size else used / size for size, used in zip(sizes, loads.bytes, strict=True)])


MEASURES: Mapping[str, Measure] = {
    "replicas": Measure("Replicas", lambda _, loads: loads.replicas.astype(np.float64), number),
    "leaders": Measure("Leaders", lambda _, loads: loads.leaders.astype(np.float64), number),
    "bytes": Measure(
        "Bytes",
        lambda table, loads: loads.bytes.astype(np.float64) if table.size_bytes.any() else None,
        lambda value: byte_size(int(value)),
    ),
    "ingress": Measure("Ingress", lambda _, loads: loads.ingress_bytes_per_s, _rate),
    "disk": Measure("Disk used", _disk_shares, _percent),
}
"""The measures that a map can show, by the name that addresses have."""


@dataclass(frozen=True, slots=True)
class BrokerCell:
    """A broker on the map.

    Parameters
    ----------
    shade : 0 … `SHADES` − 1; `SHADES // 2` is the mean. state : special states of the broker, empty for none.
    """

    id: int
    value: str
    shade: int
    state: str
    tooltip: str


@dataclass(frozen=True, slots=True)
class RackPanel:
    """A rack on the map, with its brokers by id. `total` is the sum of the measure, empty if it has none."""

    name: str
    has_name: bool
    cells: Sequence[BrokerCell]
    total: str


@dataclass(frozen=True, slots=True)
class BrokerMap:
    """Racks by name, then the brokers without rack.

    Parameters
    ----------
    measure : its label. smallest, mean, largest : of the brokers that are listed and not lost.
    extremes : the brokers with most and least, of a map that is too large for numbers; else empty.
    """

    measure: str
    panels: Sequence[RackPanel]
    smallest: str
    mean: str
    largest: str
    extremes: str

    @property
    def brokers(self) -> int:
        """The number of brokers."""
        return sum(len(panel.cells) for panel in self.panels)


def available(table: PartitionTable, loads: BrokerLoads) -> list[str]:
    """The names of the measures that the snapshot has."""
    return [name for name, measure in MEASURES.items() if measure.values(table, loads) is not None]


def broker_map(table: PartitionTable, loads: BrokerLoads, lost: Bools, name: str) -> BrokerMap:
    """The map of one measure.

    Parameters
    ----------
    lost : (brokers,) bool. name : of `MEASURES`; replicas if the snapshot does not have it.
    """
    measure = MEASURES[name]
    values = measure.values(table, loads)
    if values is None:
        measure, values = MEASURES["replicas"], loads.replicas.astype(np.float64)
    counts = table.is_listed & ~lost & ~np.isnan(values)
    compared = values[counts] if counts.any() else np.zeros(1)
    shades = _shades(values, compared)
    racks: dict[int, list[BrokerCell]] = defaultdict(list)
    for position, broker in enumerate(table.brokers.brokers):
        state = "lost" if lost[position] else broker_state(table, position)
        value = measure.written(values[position])
        facts = [f"broker {broker.id}", *([state] if state else []), f"{measure.label.lower()} {value}"]
        if name not in ("replicas", "leaders"):
            facts.append(f"replicas {loads.replicas[position]:,}")
        cell = BrokerCell(broker.id, value, int(shades[position]), state, ", ".join(facts))
        racks[int(table.brokers.rack_of[position])].append(cell)
    sums: dict[int, float] = {
        rack: float(np.nansum(values[table.brokers.rack_of == rack])) for rack in racks if name != "disk"
    }
    order = sorted(racks, key=lambda rack: (rack == NO_RACK, rack))
    panels = [
        RackPanel(
            NO_RACK_NAME if rack == NO_RACK else table.brokers.racks[rack],
            rack != NO_RACK,
            racks[rack],
            measure.written(sums[rack]) if rack in sums else "",
        )
        for rack in order
    ]
    low, mean, high = (measure.written(float(value)) for value in (compared.min(), compared.mean(), compared.max()))
    return BrokerMap(measure.label, panels, low, mean, high, _extremes(table, values, counts, measure))


def _extremes(table: PartitionTable, values: Float64s, counts: Bools, measure: Measure) -> str:
    if len(values) <= MOST_NUMBERED:
        return ""
    ranked = np.flatnonzero(counts)[np.argsort(-values[counts], kind="stable")]
    named = [f"{table.brokers.ids[place]} ({measure.written(values[place])})" for place in ranked]
    return f"; most on {', '.join(named[:3])}; least on {', '.join(named[:-4:-1])}"


def broker_state(table: PartitionTable, position: int) -> str:
    """Remarks on the broker at a position; empty if it is a usual one."""
    if not table.is_listed[position]:
        return "not listed"
    return "fenced" if table.brokers.fenced[position] else ""


def _shades(values: Float64s, compared: Float64s) -> NDArray[np.int64]:
    """(brokers,) int64: the mean is the middle shade, the value farthest from it the lightest or the darkest."""
    mean = float(compared.mean())
    if mean <= 0:
        return np.full(len(values), _NEUTRAL, np.int64)
    widest = max(0.05, float(np.abs(compared / mean - 1).max()))
    relative = np.nan_to_num(values / mean - 1) / widest
    return np.clip(np.rint(_NEUTRAL + relative * _NEUTRAL), 0, SHADES - 1).astype(np.int64)


MAP_STYLE = STYLE + ASSETS["map.css"].content.decode()
"""The rules of pictures and of maps."""
_MARGIN, _FIRST = 16, 76
_GAP, _HEAD = 4, 30
_SIZES = ((60, 72, 40), (MOST_NUMBERED, 44, 30), (10**9, 16, 12))
"""Number of brokers up to which a cell has this width and height, in pixels; the smallest have no text."""
_READABLE = 40
_WIDTH = 960


def draw(title: str, shown: BrokerMap, *, style: str) -> str:
    """Draw the map; `style` are rules that become the document's own."""
    width, height = next((wide, high) for most, wide, high in _SIZES if shown.brokers <= most)
    columns = (_WIDTH - 2 * _MARGIN + _GAP) // (width + _GAP)
    drawn, top = [], float(_FIRST)
    for panel in shown.panels:
        drawn.append(label(_heading(panel), _MARGIN, top + 18, width=_WIDTH - 2 * _MARGIN, size=13, class_="rack"))
        top += _HEAD
        for index, cell in enumerate(panel.cells):
            x, y = _MARGIN + index % columns * (width + _GAP), top + index // columns * (height + _GAP)
            out = cell.state in {"lost", "not listed"}
            shade = "out" if out else f"shade-{cell.shade}"
            parts = [
                element("title", escaped(cell.tooltip)),
                element("rect", class_=shade, x=x, y=y, width=width, height=height, rx=3),
            ]
            if width >= _READABLE:
                middle = x + width / 2
                tone = "" if out or cell.shade < SHADES // 2 + 2 else "inside"
                parts.append(element("text", str(cell.id), class_=f"number {tone}", x=middle, y=y + height / 2 - 1))
                parts.append(element("text", escaped(cell.value), class_=f"moved {tone}", x=middle, y=y + height - 6))
            drawn.append(element("g", *parts))
        top += -(-len(panel.cells) // columns) * (height + _GAP) + 10
    fact = f"{shown.measure} of a broker: {shown.smallest} to {shown.largest}, {shown.mean} on average{shown.extremes}."
    bottom = top + _MARGIN - 8
    words, _ = head(title, [fact], _WIDTH - 2 * _MARGIN, style=style)
    return document(title, fact, *words, *drawn, style=style, width=_WIDTH, height=bottom)


def _heading(panel: RackPanel) -> str:
    return f"{panel.name}: {counted(len(panel.cells), 'broker')}" + (f", {panel.total} in all" if panel.total else "")
