"""Figures of intervals as a picture, such as the rate as an area, consumers as steps, movement as bars."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from app.web.pictures.rendering import STYLE, captioned, head
from app.web.pictures.svg import document, element, escaped
from app.web.words import byte_size, number

_LEFT, _HEIGHT = 120, 90
_MOMENT = 145
"""The width of a moment below the figures."""


@dataclass(frozen=True, slots=True)
class Part:
    """One figure of each interval: its name, the class of its line or area, and the values, bytes/s but of `span`."""

    name: str
    look: str
    values: Sequence[float]


def draw(
    title: str,
    facts: Sequence[str],
    parts: Sequence[Part],
    moments: tuple[str, str],
    *,
    style: str = STYLE,
    width: float = 720,
) -> str:
    """Draw figures of each interval, one below the other; `style` are rules of the document."""
    lines, top = head(title, facts, width - 32, style=style)
    bottom = top + len(parts) * (_HEIGHT + 24)
    lines += [
        element("text", escaped(moments[0]), class_="quiet", x=min(_LEFT, width - 2 * _MOMENT), y=bottom),
        element("text", escaped(moments[1]), class_="quiet end", x=width - 16, y=bottom),
    ]
    for place, part in enumerate(parts):
        lines += _part(part, top + place * (_HEIGHT + 24), width)
    drawing = document(title, " ".join(facts), *lines, style=style, width=width, height=bottom + 16)
    return captioned(drawing, facts, style=style)


def _part(part: Part, top: float, width: float) -> Iterator[str]:
    look, values = part.look, part.values
    most, room = max(*values, 1), width - _LEFT - 16
    step, base = room / len(values), top + _HEIGHT
    words = number(most) if look == "span" else f"{byte_size(round(most))}/s"
    yield element("text", part.name, x=16, y=top + 12)
    yield element("text", f"up to {words}", class_="quiet", x=16, y=top + 28)
    yield element("rect", class_="panel", x=_LEFT, y=top, width=room, height=_HEIGHT, rx=6)
    path = "".join(f"V{base - value * (_HEIGHT - 8) / most:.2f}h{step:.2f}" for value in values)
    closed = "" if look == "span" else f"V{base:.2f}z"
    start = base if closed else base - values[0] * (_HEIGHT - 8) / most
    yield element("path", class_=look, d=f"M{_LEFT} {start:.2f}{path}{closed}")
