"""The counts of every broker as bars on one baseline, so that the eye compares brokers across racks."""

from dataclasses import dataclass

from app.core.measures.tally import Tally
from app.web.broker_columns import LEFT, PANEL_PADDING, Column, Columns, Panel
from app.web.svg import element, escaped, label
from app.web.words import counted, number

_NAME, _COUNTS, _ROOM = 22, 38, 62
"""Pixels from the top of a line to the baselines of a rack's name and counts, and to where bars may begin."""
BAR_HEIGHT = 92
FENCED = {"class_": "fenced", "fill": "url(#rackplan-fenced)"}
"""The look of a fenced broker; it needs `hatching` in the same document."""
_DIGIT = 6.4
"""Pixels that a digit of 11 px takes."""


@dataclass(frozen=True, slots=True)
class Count:
    """What one broker holds."""

    leaders: int
    replicas: int


@dataclass(frozen=True, slots=True)
class Bars:
    """The counts by broker id, the highest of them, and the even share of each unfenced broker."""

    counts: dict[int, Count]
    most_replicas: int
    even_leaders: float
    even_replicas: float


def bars_of(tally: Tally) -> Bars:
    """Take from a tally what the bars show."""
    held = [Count(leaders, replicas) for leaders, replicas, _ in tally.per_broker.tolist()]
    live = max(sum(not broker.fenced for broker in tally.brokers), 1)
    return Bars(
        counts={broker.id: count for broker, count in zip(tally.brokers, held, strict=True)},
        most_replicas=max([count.replicas for count in held], default=0),
        even_leaders=sum(count.leaders for count in held) / live,
        even_replicas=sum(count.replicas for count in held) / live,
    )


def line_height(columns: Columns) -> float:
    """Pixels from a line's top to where the next may begin: names, bars and broker ids."""
    return _ROOM + BAR_HEIGHT + _ids_height(columns) + 10


def draw_line(panels: tuple[Panel, ...], top: float, columns: Columns, bars: Bars) -> list[str]:
    """One line of racks; the panels themselves are drawn by the caller, who knows how far down they go."""
    base = top + _ROOM + BAR_HEIGHT
    drawn = []
    for panel in panels:
        drawn += _heading(panel, top, bars)
        for column in panel.columns:
            drawn.append(_bar(column, base, columns.pitch, bars))
        drawn += _ids(panel, base, columns)
    if panels and bars.most_replicas:
        right = panels[-1].x + panels[-1].width
        if bars.even_leaders < bars.even_replicas:
            drawn += _even_line("leaders", bars.even_leaders, base, right, bars)
        drawn += _even_line("replicas", bars.even_replicas, base, right, bars)
    return drawn


def hatching() -> str:
    """The pattern that fenced brokers are filled with."""
    line = element("path", class_="hatch", d="M0 6L6 0")
    pattern = element("pattern", line, id="rackplan-fenced", width=6, height=6, patternUnits="userSpaceOnUse")
    return element("defs", pattern)


def _heading(panel: Panel, top: float, bars: Bars) -> list[str]:
    held = [bars.counts[column.broker.id] for column in panel.columns]
    leaders, replicas = sum(count.leaders for count in held), sum(count.replicas for count in held)
    room = panel.width - 2 * PANEL_PADDING
    words = f"{counted(replicas, 'replica')}, {leaders:,} lead"
    shown = words if len(words) * 6 <= room else f"{replicas:,}, {leaders:,} lead"
    x = panel.x + PANEL_PADDING
    return [
        label(panel.name, x, top + _NAME, width=room, size=13, class_="rack"),
        element("text", element("title", escaped(words)), escaped(shown), class_="quiet", x=x, y=top + _COUNTS),
    ]


def _bar(column: Column, base: float, pitch: float, bars: Bars) -> str:
    broker, count = column.broker, bars.counts[column.broker.id]
    width = min(pitch * (0.62 if pitch > 20 else 0.78), 40)
    x = column.x - width / 2
    scale = BAR_HEIGHT / max(bars.most_replicas, 1)
    full, led = count.replicas * scale, count.leaders * scale
    where = "no rack" if broker.rack is None else f"rack {broker.rack}"
    told = f"broker {broker.id}, {where}: {counted(count.replicas, 'replica')}, leads {count.leaders:,}"
    parts = [element("title", escaped(told + (", fenced" if broker.fenced else "")))]
    if broker.fenced:
        parts.append(element("rect", **FENCED, x=x, y=base - BAR_HEIGHT, width=width, height=BAR_HEIGHT))
    else:
        # An unseen target, so that the whole column answers to the pointer.
        parts.append(element("rect", class_="unseen", x=x, y=base - BAR_HEIGHT, width=width, height=BAR_HEIGHT))
    outline = min(1.0, width / 4)
    if full > led:
        parts.append(
            element("rect", class_="follows", x=x, y=base - full, width=width, height=full - led, stroke_width=outline)
        )
    if led:
        parts.append(element("rect", class_="leads", x=x, y=base - led, width=width, height=led, stroke_width=outline))
    parts += _bar_numbers(column, base, pitch, count, full=full, led=led)
    return element("g", *parts, class_="broker")


def _bar_numbers(column: Column, base: float, pitch: float, count: Count, *, full: float, led: float) -> list[str]:
    if len(str(count.replicas)) * _DIGIT > pitch - 2:
        return []
    parts = [element("text", str(count.replicas), class_="number", x=column.x, y=base - full - 5)]
    if led >= 15 and pitch >= 20:
        parts.append(element("text", str(count.leaders), class_="number inside", x=column.x, y=base - led + 12))
    return parts


def _ids_height(columns: Columns) -> float:
    return 16 if _is_level(columns) or columns.pitch < 10 else columns.id_digits * _DIGIT + 8


def _ids(panel: Panel, base: float, columns: Columns) -> list[str]:
    if columns.pitch < 10:
        ids = [column.broker.id for column in panel.columns]
        if not ids:
            return []
        written = f"brokers {ids[0]}–{ids[-1]}" if len(ids) > 1 else f"broker {ids[0]}"
        x = panel.x + PANEL_PADDING
        return [label(written, x, base + 15, width=panel.width - 2 * PANEL_PADDING, size=11, class_="quiet")]
    drawn = []
    for column in panel.columns:
        written, x = str(column.broker.id), column.x
        if _is_level(columns):
            drawn.append(element("text", written, class_="id", x=x, y=base + 15))
        else:
            x, y = x + 4, base + 6
            drawn.append(
                element("text", written, class_="id turned", x=x, y=y, transform=f"rotate(-90 {x:.2f} {y:.2f})")
            )
    return drawn


def _is_level(columns: Columns) -> bool:
    return columns.id_digits * _DIGIT <= columns.pitch - 3


def _even_line(what: str, even: float, base: float, right: float, bars: Bars) -> list[str]:
    y = base - BAR_HEIGHT * min(even / bars.most_replicas, 1)
    told = element("title", escaped(f"an even share of the {what}: {number(even)} a broker"))
    return [
        element("path", told, class_="even", d=f"M{LEFT - 4} {y:.2f}H{right:.2f}"),
        element("text", f"⌀ {_brief(even)}", class_="quiet end", x=LEFT - 8, y=y + 4),
    ]


def _brief(value: float) -> str:
    """A number in as many signs as the margin has room for."""
    if value >= 1_000_000:
        return f"{value / 1_000_000:.1f}M"
    if value >= 10_000:
        return f"{value / 1000:.1f}k"
    return number(value if value < 1000 else round(value))
