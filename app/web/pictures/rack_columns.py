"""The layout of a picture: a column for each item, a panel for each rack, in lines of panels."""

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from math import floor
from typing import TypeVar

from app.web.pictures.svg import shortened

Item = TypeVar("Item")

MOST_COLUMNS = 480
"""Items that have a column of their own; of more, neighbours in a panel share one, which shows their mean."""
LONGEST_NAME = 16
"""Characters of a name beneath a column."""
LEFT, RIGHT = 60, 60
"""Margins, in pixels: the names of rows on the left, text about them on the right."""
WIDEST = 960
"""Pixels that a line takes at most, margins included."""
PANEL_GAP, PANEL_PADDING = 8, 8
_LINE = WIDEST - LEFT - RIGHT
_WIDEST_PITCH, _NARROWEST_PITCH = 120, 5
_READABLE_PITCH = 14
"""Below this all racks in one line are too thin to read; then each rack may have a line of its own."""
_NAMED_PANEL, _LONGEST_PANEL, _NARROWEST_PANEL, _LETTER = 84, 168, 40, 8
"""The least width of a panel: for names of few letters and of more if there is space, and always; that of a letter."""


@dataclass(frozen=True, slots=True)
class RackItem:
    """An item of a rack, with a bar: a broker with its replicas, a member with its partitions, or several of these.

    Parameters
    ----------
    name : written beneath it. tooltip : all facts about it.
    counts : the parts of its bar, from the baseline up, named by the picture. Of several it is their sum.
    stands_for : how many it stands for; the bar is their mean. least, most : the lowest and the highest bar of them.
    was : its previous load, the sum if there are several; an outline in the bar. None if nothing is compared.
    is_out : whether it is excluded, like a fenced broker.
    """

    name: str
    tooltip: str
    counts: tuple[int, ...]
    stands_for: int = 1
    least: int | None = None
    most: int | None = None
    was: int | None = None
    is_out: bool = False

    @property
    def heights(self) -> list[float]:
        """The heights of the parts of its bar."""
        return [count / self.stands_for for count in self.counts]


@dataclass(frozen=True, slots=True)
class Rack:
    """The items of a panel, which may be none, and its name."""

    name: str
    items: tuple[RackItem, ...]


@dataclass(frozen=True, slots=True)
class Column:
    """An item, and the x of the middle of its column."""

    item: RackItem
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
    """Every column.

    Parameters
    ----------
    lines : the panels, line by line.
    pitch : pixels from one column to the next.
    width : pixels of the widest line, margins included.
    longest_name : its characters.
    """

    lines: tuple[tuple[Panel, ...], ...]
    pitch: float
    width: float
    longest_name: int

    @property
    def panels(self) -> list[Panel]:
        """All panels, line by line."""
        return [panel for line in self.lines for panel in line]


def by_place(
    items: Iterable[tuple[str, str | None, Item]],
    *,
    column: Callable[[Sequence[tuple[str, Item]]], RackItem],
    most: int,
    more: str,
    without: str,
    empty: Sequence[str] = (),
) -> list[Rack]:
    """A panel for each place, by name, then for the items without a place; none for no item.

    Parameters
    ----------
    items : name, place and content; in their order, in which they are drawn in their panel.
    column : draws neighbours that share a column, given with the names that fit beneath it.
    most : of more places, the further ones share a panel, named `more` after their number.
    without : the name of the last panel. empty : places that have a panel without an item.
    """
    listed = list(items)
    entries: dict[str, list[tuple[str, Item]]] = defaultdict(list)
    for name, (_, place, content) in zip(short_names([name for name, *_ in listed]), listed, strict=True):
        entries[place or ""].append((name, content))
    size = max(-(-len(listed) // MOST_COLUMNS), 1)  # how many share a column

    def panel(name: str, of: Sequence[tuple[str, Item]]) -> Rack:
        return Rack(name, tuple([column(of[start : start + size]) for start in range(0, len(of), size)]))

    elsewhere = entries.pop("", [])
    places = sorted({*entries, *empty})
    panels = [panel(place, entries[place]) for place in places[:most]]
    if further := places[most:]:
        panels.append(panel(f"{len(further)} {more}", [entry for place in further for entry in entries[place]]))
    return panels + ([panel(without, elsewhere)] if elsewhere else [])


def short_names(names: Sequence[str]) -> list[str]:
    """Names that fit beneath a column; a common prefix is left out if they are long."""
    if max(map(len, names), default=0) <= LONGEST_NAME:
        return list(names)
    # A common prefix of the first and the last in alphabetical order is common to all.
    first, last = min(names), max(names)
    length = next((i for i, (a, b) in enumerate(zip(first, last, strict=False)) if a != b), min(len(first), len(last)))
    # Cut behind a sign and the zeros after it, not within a word or number: of m-10 and m-11 the ends are 10 and 11.
    prefix = re.match(r".*[^0-9A-Za-z]0*", first[:length], re.DOTALL)
    begin = 0 if prefix is None or first == last else prefix.end()
    return [shortened(f"…{name[begin:]}" if begin else name, LONGEST_NAME) for name in names]


def lay_out(racks: Sequence[Rack]) -> Columns:
    """Give each item a column; columns are as wide as the space allows, and equally wide in every rack."""
    named = max([_NAMED_PANEL, *(len(rack.name) * _LETTER + 2 * PANEL_PADDING for rack in racks)])
    narrowest = min(max(_LINE / max(len(racks), 1) - PANEL_GAP, _NARROWEST_PANEL), named, _LONGEST_PANEL)
    pitch = _pitch(racks, narrowest)
    most = int((_LINE - 2 * PANEL_PADDING) / pitch)
    lines: list[list[Panel]] = [[]]
    x = float(LEFT)
    for rack in racks:
        for start in range(0, max(len(rack.items), 1), most):
            items = rack.items[start : start + most]
            width = _width(len(items), pitch, narrowest)
            if lines[-1] and x + width > LEFT + _LINE:
                lines.append([])
                x = LEFT
            first = x + (width - len(items) * pitch) / 2 + pitch / 2
            columns = tuple([Column(one, first + index * pitch) for index, one in enumerate(items)])
            lines[-1].append(Panel(rack.name, x, width, columns))
            x += width + PANEL_GAP
    right = max([panel.x + panel.width for line in lines for panel in line], default=LEFT)
    longest = max([len(one.name) for rack in racks for one in rack.items], default=1)
    return Columns(tuple(map(tuple, lines)), pitch, right + RIGHT, longest)


def _pitch(racks: Sequence[Rack], narrowest: float) -> float:
    sizes = [len(rack.items) for rack in racks]
    for pitch in range(_WIDEST_PITCH, _READABLE_PITCH - 1, -1):
        widths = [_width(size, pitch, narrowest) for size in sizes]
        if sum(widths) + PANEL_GAP * (len(sizes) - 1) <= _LINE:
            return pitch
    # The racks need several lines; the largest one should still fit on one of them. Cut to a hundredth, as the picture
    # is written, so that the sum of the columns never is a hair wider than the line.
    widest = floor((_LINE - 2 * PANEL_PADDING) / max(*sizes, 1) * 100) / 100
    return min(max(widest, _NARROWEST_PITCH), _READABLE_PITCH)


def _width(items: int, pitch: float, narrowest: float) -> float:
    return max(items * pitch + 2 * PANEL_PADDING, narrowest)
