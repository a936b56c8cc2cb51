"""Waves of restarts: a column for each wave, a row for each rack, and the brokers where they meet."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from app.web.pictures.rendering import STYLE, captioned, head
from app.web.pictures.svg import document, element, escaped, label
from app.web.words import counted, number

MOST_RACKS = 12
"""Racks that have rows of their own; brokers of more are in one row."""
MOST_LINES = 14
"""Brokers of a cell that are written out; of more their number is."""
_LEFT, _MARGIN, _ROOM, _LINE, _BAR, _GAP = 120, 16, 870, 13, 48, 3


@dataclass(frozen=True, slots=True)
class Wave:
    """A wave: its brokers, and the partitions that change their leader and that cannot be written meanwhile."""

    brokers: Sequence[int]
    leaders: int
    unwritable: int


def draw(
    title: str, facts: Sequence[str], waves: Sequence[Wave], racks: Mapping[int, str], *, style: str = STYLE
) -> str:
    """Draw waves, over several bands if they are many; `style` are rules of the document.

    Parameters
    ----------
    racks : the rack of each broker that has one.
    """
    of = {broker: racks.get(broker, "no rack") for wave in waves for broker in wave.brokers}
    if len({*of.values()}) > MOST_RACKS:
        of = dict.fromkeys(of, "all racks")
    width = max(26.0, 9 + 6.6 * len(str(max(of, default=0))))
    drawn, top = head(title, facts, _ROOM, style=style)
    columns = int(_ROOM / width)
    for first in range(0, len(waves), columns):
        band, top = _band(waves, range(len(waves))[first : first + columns], of, top, width)
        drawn += band
    full = max(620.0 if style else 0.0, _LEFT + min(len(waves), columns) * width + _MARGIN)
    drawing = document(title, " ".join(facts), *drawn, style=style, width=full, height=top)
    return captioned(drawing, facts, style=style)


def _band(
    waves: Sequence[Wave], band: Sequence[int], of: Mapping[int, str], top: float, width: float
) -> tuple[list[str], float]:
    """Waves beside each other, and where the next band begins; `of` is the row of each broker."""
    drawn: list[str] = []
    figures = [("leaders moved", "leads", [wave.leaders for wave in waves])]
    if any(wave.unwritable for wave in waves):
        figures.append(("not writable", "cross-rack", [wave.unwritable for wave in waves]))
    for words, look, values in figures:
        drawn += _bars(words, look, values, band, top, width)
        top += _BAR + 22
    drawn += [_middle(str(wave + 1), at, top + 4, width, "number") for at, wave in enumerate(band)]
    top += 12
    for rack in sorted({*of.values()}):
        cells = [sorted(broker for broker in waves[wave].brokers if of[broker] == rack) for wave in band]
        drawn.append(label(rack, _MARGIN, top + _LINE, width=_LEFT - _MARGIN - 8, class_="rack"))
        for at, (wave, brokers) in enumerate(zip(band, cells, strict=True)):
            drawn += _cell(brokers, f"wave {wave + 1}, {rack}", _LEFT + at * width, top, width - _GAP)
        top += min(MOST_LINES, max(1, *map(len, cells))) * _LINE + 6 + _GAP
    return drawn, top + 20


def _bars(words: str, look: str, values: Sequence[int], band: Sequence[int], top: float, width: float) -> Iterator[str]:
    """A figure of each wave of a band as bars with their values; the largest of all waves has the whole height."""
    yield element("text", words, class_="quiet", x=_MARGIN, y=top + 14 + _BAR)
    for at, wave in enumerate(band):
        height = _BAR * values[wave] / max(*values, 1)
        place = {"x": _LEFT + at * width + _GAP, "y": top + 14 + _BAR - height, "width": width - 2 * _GAP - 2}
        if height:
            yield element("rect", class_=look, height=height, **place)
        yield _middle(number(values[wave]), at, top + 10 + _BAR - height, width, "id")


def _middle(words: str, at: int, y: float, width: float, look: str) -> str:
    return element("text", words, class_=look, x=_LEFT + (at + 0.5) * width - 1, y=y)


def _cell(brokers: Sequence[int], place: str, x: float, top: float, width: float) -> Iterator[str]:
    """The brokers of a rack in a wave, one below the other; of too many their number."""
    if not brokers:
        return
    listed = list(map(str, brokers))
    tooltip = element("title", escaped(f"{place}: {counted(len(brokers), 'broker')}: {', '.join(listed)}"))
    lines = listed if len(listed) <= MOST_LINES else [f"{len(listed)}×"]
    yield element("rect", tooltip, class_="follows", x=x, y=top, width=width, height=len(lines) * _LINE + 6, rx=4)
    for line, words in enumerate(lines, 1):
        yield element("text", words, class_="id", x=x + width / 2, y=top + _LINE * line)
