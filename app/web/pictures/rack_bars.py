"""The counts of the items of racks, as bars on one baseline, comparable across racks."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from app.web.pictures.rack_columns import LEFT, PANEL_PADDING, Column, Columns, Panel, RackItem
from app.web.pictures.svg import element, escaped, label
from app.web.words import number

_NAME, _COUNTS, _ROOM = 22, 38, 62
"""Pixels from the top of a line to the baselines of a rack's name and counts, and to where bars may begin."""
BAR_HEIGHT = 92
OUT = {"class_": "fenced", "fill": "url(#rackplan-fenced)"}
"""The style of excluded items; it needs `hatching` in the same document."""
_DIGIT = 6.4
"""Pixels that a digit of 11 px takes."""
_LETTER = 7
"""Pixels that a letter takes, of those that stand in names."""
_NAMED_PITCH = 10
"""Below this a column is too narrow to have its name beneath it."""


def brief_number(value: float) -> str:
    """A count in few signs: `12`, `12.3k`, `1.2M`."""
    if value >= 1_000_000:
        return f"{value / 1_000_000:.1f}M"
    if value >= 10_000:
        return f"{value / 1000:.1f}k"
    return number(value if value < 1000 else round(value))


@dataclass(frozen=True, slots=True)
class Bars:
    """The bars of a picture.

    Parameters
    ----------
    noun : the kind of item. looks : a class of the style sheet for each part of a bar, from the baseline up.
    summed : the sum of some items in words, then in fewer words if there is less space.
    named : some items in words, if there is no space for their names.
    highest : of all bars. even : mean loads, which are lines across all of them, each with its tooltip.
    brief : writes a height in as many signs as the margin has room for.
    """

    noun: str
    looks: tuple[str, ...]
    summed: Callable[[Sequence[RackItem]], tuple[str, ...]]
    named: Callable[[Sequence[RackItem]], str]
    highest: float
    even: Sequence[tuple[float, str]]
    brief: Callable[[float], str] = brief_number


def line_height(columns: Columns) -> float:
    """The height of a line of racks in pixels: names, bars and the names beneath them."""
    is_flat = _is_level(columns) or columns.pitch < _NAMED_PITCH
    return _ROOM + BAR_HEIGHT + (16 if is_flat else columns.longest_name * _LETTER + 8) + 10


def draw_line(panels: tuple[Panel, ...], top: float, columns: Columns, bars: Bars) -> list[str]:
    """Draw one line of racks; the caller draws the panels, since it knows their height."""
    base = top + _ROOM + BAR_HEIGHT
    drawn = []
    for panel in panels:
        drawn += _heading(panel, top, bars)
        for column in panel.columns:
            drawn.append(_bar(column, base, columns.pitch, bars))
        drawn += _names(panel, base, columns, bars)
    if panels and bars.highest:
        right = panels[-1].x + panels[-1].width
        for value, tooltip in bars.even:
            drawn += _even_line(value, tooltip, base, right, bars)
    return drawn


def hatching() -> str:
    """The pattern that fills excluded items."""
    line = element("path", class_="hatch", d="M0 6L6 0")
    pattern = element("pattern", line, id="rackplan-fenced", width=6, height=6, patternUnits="userSpaceOnUse")
    return element("defs", pattern)


def _heading(panel: Panel, top: float, bars: Bars) -> list[str]:
    room = panel.width - 2 * PANEL_PADDING
    words, *fewer = bars.summed([column.item for column in panel.columns])
    shown = next((candidate for candidate in (words, *fewer) if len(candidate) * 6 <= room), "")
    x = panel.x + PANEL_PADDING
    return [
        label(panel.name, x, top + _NAME, width=room, size=13, class_="rack", data_rack=panel.name),
        element("text", element("title", escaped(words)), escaped(shown), class_="quiet", x=x, y=top + _COUNTS),
    ]


def _bar(column: Column, base: float, pitch: float, bars: Bars) -> str:
    item = column.item
    width = min(pitch * (0.62 if pitch > 20 else 0.78), 56)
    x = column.x - width / 2
    scale = BAR_HEIGHT / max(bars.highest, 1)
    parts = [element("title", escaped(item.tooltip))]
    # An unseen target, so that the whole column answers to the pointer.
    look = OUT if item.is_out else {"class_": "unseen"}
    parts.append(element("rect", **look, x=x, y=base - BAR_HEIGHT, width=width, height=BAR_HEIGHT))
    outline = min(1.0, width / 4)
    y = base
    for name, height in zip(bars.looks, item.heights, strict=True):
        if height:
            y -= height * scale
            place = {"x": x, "y": y, "width": width, "height": height * scale}
            parts.append(element("rect", class_=name, stroke_width=outline, **place))
    if item.least is not None and item.most is not None and item.least < item.most:
        # At the edge of the bar, beside its numbers, and never above the space of bars: names and totals are there.
        low, high = base - item.least * scale, base - min(item.most * scale, BAR_HEIGHT)
        ends = f"M{x + width - 3:.2f} {low:.2f}V{high:.2f}"
        parts.append(element("path", class_="span", d=ends))
    if item.was is not None:
        before = item.was / item.stands_for * scale
        parts.append(element("rect", class_="was", x=x - 2, y=base - before, width=width + 4, height=before))
    parts += _bar_numbers(column, base, pitch, scale, bars.brief)
    return element("g", *parts, class_="column", data_item=item.name)


def _bar_numbers(column: Column, base: float, pitch: float, scale: float, brief: Callable[[float], str]) -> list[str]:
    first, *others = column.item.heights
    full = first + sum(others)
    shown = brief(full)
    if pitch < _NAMED_PITCH or len(shown) * _DIGIT > pitch - 2:
        return []
    parts = [element("text", shown, class_="number", x=column.x, y=base - full * scale - 5)]
    if full > first and first * scale >= 15 and pitch >= 20:
        parts.append(element("text", brief(first), class_="number inside", x=column.x, y=base - first * scale + 12))
    return parts


def _names(panel: Panel, base: float, columns: Columns, bars: Bars) -> list[str]:
    if columns.pitch < _NAMED_PITCH:
        written = bars.named([column.item for column in panel.columns])
        x = panel.x + PANEL_PADDING
        return [label(written, x, base + 15, width=panel.width - 2 * PANEL_PADDING, size=11, class_="quiet")]
    drawn = []
    for column in panel.columns:
        written, x = escaped(column.item.name), column.x
        if _is_level(columns):
            drawn.append(element("text", written, class_="id", x=x, y=base + 15))
        else:
            x, y = x + 4, base + 6
            drawn.append(
                element("text", written, class_="id turned", x=x, y=y, transform=f"rotate(-90 {x:.2f} {y:.2f})")
            )
    return drawn


def _is_level(columns: Columns) -> bool:
    return columns.longest_name * _DIGIT <= columns.pitch - 3


def _even_line(value: float, tooltip: str, base: float, right: float, bars: Bars) -> list[str]:
    y = base - BAR_HEIGHT * min(value / bars.highest, 1)
    return [
        element("path", element("title", escaped(tooltip)), class_="even", d=f"M{LEFT - 4} {y:.2f}H{right:.2f}"),
        element("text", f"⌀ {bars.brief(value)}", class_="quiet end", x=LEFT - 8, y=y + 4),
    ]
