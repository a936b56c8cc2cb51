"""Where each broker stands in a picture: a column a broker, a panel a rack, as many lines of panels as it takes."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import floor

from app.core.model import Broker

LEFT, RIGHT = 60, 60
"""Margins, in pixels: the names of rows on the left, what is said about them on the right."""
WIDEST = 960
"""Pixels that a line takes at most, margins included."""
PANEL_GAP, PANEL_PADDING = 8, 8
_LINE = WIDEST - LEFT - RIGHT
_WIDEST_PITCH, _NARROWEST_PITCH = 72, 5
_READABLE_PITCH = 14
"""Below this all racks in one line are too thin to read; then each rack may have a line of its own."""
_NAMED_PANEL, _NARROWEST_PANEL = 84, 40
"""A rack's name needs some room even where the rack has one broker: the first if there is any, the second always."""


@dataclass(frozen=True, slots=True)
class Rack:
    """Brokers that stand together, and what the panel is called."""

    name: str
    brokers: tuple[Broker, ...]


@dataclass(frozen=True, slots=True)
class Column:
    """A broker, and the x of its column's middle."""

    broker: Broker
    x: float


@dataclass(frozen=True, slots=True)
class Panel:
    """A rack, or the part of one that fits on a line."""

    name: str
    x: float
    width: float
    columns: tuple[Column, ...]


@dataclass(frozen=True, slots=True)
class Columns:
    """Every broker's column.

    Parameters
    ----------
    lines : the panels, line by line.
    pitch : pixels from one broker to the next.
    width : pixels of the widest line, margins included.
    id_digits : of the longest broker id.
    """

    lines: tuple[tuple[Panel, ...], ...]
    pitch: float
    width: float
    id_digits: int


def lay_out(racks: Sequence[Rack]) -> Columns:
    """Give every broker a column; columns are as wide as the room allows, and equally wide in every rack."""
    narrowest = min(max(_LINE / max(len(racks), 1) - PANEL_GAP, _NARROWEST_PANEL), _NAMED_PANEL)
    pitch = _pitch(racks, narrowest)
    most = int((_LINE - 2 * PANEL_PADDING) / pitch)
    lines: list[list[Panel]] = [[]]
    x = float(LEFT)
    for rack in racks:
        for start in range(0, len(rack.brokers), most):
            brokers = rack.brokers[start : start + most]
            width = _width(len(brokers), pitch, narrowest)
            if lines[-1] and x + width > LEFT + _LINE:
                lines.append([])
                x = LEFT
            first = x + (width - len(brokers) * pitch) / 2 + pitch / 2
            columns = tuple([Column(broker, first + index * pitch) for index, broker in enumerate(brokers)])
            lines[-1].append(Panel(rack.name, x, width, columns))
            x += width + PANEL_GAP
    right = max([panel.x + panel.width for line in lines for panel in line], default=LEFT)
    digits = max([len(str(broker.id)) for rack in racks for broker in rack.brokers], default=1)
    return Columns(tuple(map(tuple, lines)), pitch, right + RIGHT, digits)


def _pitch(racks: Sequence[Rack], narrowest: float) -> float:
    sizes = [len(rack.brokers) for rack in racks]
    for pitch in range(_WIDEST_PITCH, _READABLE_PITCH - 1, -1):
        widths = [_width(size, pitch, narrowest) for size in sizes]
        if sum(widths) + PANEL_GAP * (len(sizes) - 1) <= _LINE:
            return pitch
    # The racks need several lines; the largest one should still fit on one of them. Cut to a hundredth, as the picture
    # is written, so that the sum of the columns never is a hair wider than the line.
    widest = floor((_LINE - 2 * PANEL_PADDING) / max(sizes) * 100) / 100
    return min(max(widest, _NARROWEST_PITCH), _READABLE_PITCH)


def _width(brokers: int, pitch: float, narrowest: float) -> float:
    return max(brokers * pitch + 2 * PANEL_PADDING, narrowest)
