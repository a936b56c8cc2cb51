"""Consumers over time as a picture: the rate as an area, consumers as steps, what moves as bars."""

from collections.abc import Iterator, Sequence

from app.web.pictures.rendering import STYLE
from app.web.pictures.svg import NAMESPACE, element, escaped, label
from app.web.words import byte_size, number

_WIDTH, _LEFT, _HEIGHT, _TOP = 720, 110, 90, 96
_PARTS = (("rate", "follows"), ("consumers", "span"), ("moved", "cross-rack"))


def draw(
    title: str,
    facts: Sequence[str],
    series: Sequence[tuple[int, int, int]],
    moments: tuple[str, str],
    *,
    style: str = STYLE,
) -> str:
    """Draw the rate, the consumers and what moves of each interval; `style` are rules of the document."""
    lines = [label(title, 16, 34, width=_WIDTH - 32, size=17, class_="title")]
    lines += [label(fact, 16, 56 + 18 * at, width=_WIDTH - 32, class_="fact") for at, fact in enumerate(facts)]
    bottom = _TOP + len(_PARTS) * (_HEIGHT + 24)
    lines += [
        element("text", escaped(moments[0]), class_="quiet", x=_LEFT, y=bottom),
        element("text", escaped(moments[1]), class_="quiet end", x=_WIDTH - 16, y=bottom),
    ]
    for place, (name, look) in enumerate(_PARTS):
        lines += _part(name, look, [each[place] for each in series], _TOP + place * (_HEIGHT + 24))
    return element(
        "svg",
        element("title", escaped(title)),
        element("desc", escaped(" ".join(facts))),
        element("style", style) if style else "",
        element("rect", class_="surface", width=_WIDTH, height=bottom + 16, rx=10),
        *lines,
        xmlns=NAMESPACE,
        class_="placement-picture",
        role="img",
        viewBox=f"0 0 {_WIDTH} {bottom + 16}",
        width=_WIDTH,
        height=bottom + 16,
    )


def _part(name: str, look: str, values: Sequence[int], top: float) -> Iterator[str]:
    most, room = max(*values, 1), _WIDTH - _LEFT - 16
    step, base = room / len(values), top + _HEIGHT
    words = number(most) if name == "consumers" else f"{byte_size(most)}/s"
    yield element("text", name, x=16, y=top + 12)
    yield element("text", f"up to {words}", class_="quiet", x=16, y=top + 28)
    yield element("rect", class_="panel", x=_LEFT, y=top, width=room, height=_HEIGHT, rx=6)
    path = "".join(f"V{base - value * (_HEIGHT - 8) / most:.2f}h{step:.2f}" for value in values)
    closed = "" if look == "span" else f"V{base:.2f}z"
    start = base if closed else base - values[0] * (_HEIGHT - 8) / most
    yield element("path", class_=look, d=f"M{_LEFT} {start:.2f}{path}{closed}")
