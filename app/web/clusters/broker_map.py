"""A map of a cluster: its racks, in each its brokers, and of each broker one measure as a shade."""

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from app.core.measures.partition_table import BrokerLoads, PartitionTable
from app.core.model import NO_RACK, Float64s
from app.web.words import byte_size, number

SHADES = 9
"""Shades from the smallest to the largest value."""
NO_RACK_NAME = "no rack"
_NEUTRAL = SHADES // 2


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
    shade : 0 … `SHADES` − 1; `SHADES // 2` is the mean. state : what is special about the broker, empty for nothing.
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
    measure : the label of what is shown. smallest, mean, largest : of the brokers that are listed and not lost.
    """

    measure: str
    panels: Sequence[RackPanel]
    smallest: str
    mean: str
    largest: str

    @property
    def brokers(self) -> int:
        """The number of brokers."""
        return sum(len(panel.cells) for panel in self.panels)


def available(table: PartitionTable, loads: BrokerLoads) -> list[str]:
    """The names of the measures that the snapshot has."""
    return [name for name, measure in MEASURES.items() if measure.values(table, loads) is not None]


def broker_map(table: PartitionTable, loads: BrokerLoads, lost: NDArray[np.bool_], name: str) -> BrokerMap:
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
    return BrokerMap(measure.label, panels, low, mean, high)


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
