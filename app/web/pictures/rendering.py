"""The parts of every picture of a plan: racks as panels, their items as bars, and the facts in words.

A picture is one SVG document without script, font or outside reference. It describes itself in words, follows the
reader's light or dark colours, and has the same bytes whenever it is drawn. On a page, which has its title and its
style sheet, the facts and the legend are the caption of the figure instead: HTML, which a narrow window wraps.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from importlib.resources import files
from textwrap import wrap

from app.web.pictures import rack_bars
from app.web.pictures.rack_bars import Bars
from app.web.pictures.rack_columns import Columns
from app.web.pictures.svg import ADVANCE, document, element, escaped, label
from app.web.words import counted

STYLE = files("app.web").joinpath("static", "picture.css").read_text(encoding="utf-8")
"""The picture's own style sheet. A page that links it draws its pictures without."""

NARROWEST = 620
"""Pixels that the words above the picture need."""
_MARGIN = 16
_TITLE, _FACT, _LEGEND, _FIRST_LINE = 34, 56, 18, 18
_TITLE_SIZE, _FACT_SIZE, _LONGEST_TITLE = 17, 12.5, 80
"""Pixels, and characters up to which a picture is as wide as its title."""
_DESCRIBED_RACKS = 40


@dataclass(frozen=True, slots=True)
class Beneath:
    """A drawing under the bars, if the racks are in one line: its height, and how it is drawn from a given y."""

    height: float
    draw: Callable[[float], list[str]]


@dataclass(frozen=True, slots=True, eq=False)
class Picture:
    """The contents of a picture.

    Parameters
    ----------
    facts : sentences. legend : words and their style.
    """

    title: str
    facts: Sequence[str]
    legend: Sequence[tuple[str, Mapping[str, str]]]
    columns: Columns = field(repr=False)
    bars: Bars = field(repr=False)
    beneath: Beneath | None = None


def render(picture: Picture, *, style: str) -> str:
    """Draw it; `style` are rules that become the document's own, none if the page has them."""
    title_width = min(len(picture.title), _LONGEST_TITLE) * _TITLE_SIZE * ADVANCE + 2 * _MARGIN
    width = max(picture.columns.width, NARROWEST, math.ceil(title_width)) if style else picture.columns.width
    facts = [line for fact in picture.facts for line in wrap(fact, int((width - 2 * _MARGIN) / (_FACT_SIZE * ADVANCE)))]
    drawn, top = head(picture.title, facts, width - 2 * _MARGIN, style=style)
    if style:
        drawn += _legend(picture.legend, _MARGIN, top + 4)
        top += _FIRST_LINE + 8
    body, bottom = _body(picture, top=top)
    is_hatched = any(column.item.is_out for panel in picture.columns.panels for column in panel.columns)
    description = " ".join([*picture.facts, *_described(picture)])
    patterns = rack_bars.hatching() if is_hatched else ""
    drawing = document(
        picture.title, description, *drawn, *body, style=style, width=width, height=bottom, patterns=patterns
    )
    return captioned(drawing, picture.facts, picture.legend, style=style)


def head(title: str, facts: Sequence[str], room: float, *, style: str) -> tuple[list[str], float]:
    """The title of a picture and its facts, a line each, in that many pixels, and the y below them.

    Nothing without a `style`: the page has the title, and `captioned` adds the facts.
    """
    if not style:
        return [], _MARGIN
    lines = [label(title, _MARGIN, _TITLE, width=room, size=_TITLE_SIZE, class_="title")]
    for index, fact in enumerate(facts):
        lines.append(label(fact, _MARGIN, _FACT + index * _LEGEND, width=room, size=_FACT_SIZE, class_="fact"))
    return lines, _FACT + _LEGEND * len(facts)


def captioned(
    drawing: str, facts: Sequence[str], legend: Sequence[tuple[str, Mapping[str, str]]] = (), *, style: str
) -> str:
    """A drawing, after its facts and legend as HTML if it is for a page, which is without a `style` of its own."""
    if style:
        return drawing
    entries = []
    for named, look in legend:
        swatch = element("rect", x=0.5, y=0.5, width=10, height=10, rx=2, **look)
        icon = element("svg", swatch, class_="placement-picture", width=11, height=11, aria_hidden="true")
        entries.append(element("span", icon, escaped(named)))
    keys = element("p", *entries, element("span", "⌀ mean"), class_="legend") if legend else ""
    words = element("p", escaped(" ".join(facts))) if facts else ""
    return element("figcaption", words, keys) + drawing


def _legend(entries: Sequence[tuple[str, Mapping[str, str]]], x: float, y: float) -> list[str]:
    drawn = []
    for words, look in entries:
        drawn.append(element("rect", x=x + 0.5, y=y - 9, width=10, height=10, rx=2, **look))
        drawn.append(element("text", words, class_="quiet", x=x + 16, y=y))
        x += 16 + len(words) * 6.1 + 18
    drawn.append(element("path", class_="even", d=f"M{x:.2f} {y - 4:.2f}h16"))
    drawn.append(element("text", "⌀ mean", class_="quiet", x=x + 22, y=y))
    return drawn


def _body(picture: Picture, *, top: float) -> tuple[list[str], float]:
    line_height = rack_bars.line_height(picture.columns)
    depth = line_height + (0 if picture.beneath is None else picture.beneath.height)
    drawn = []
    for panels in picture.columns.lines:
        for panel in panels:
            place = {"x": panel.x, "y": top, "width": panel.width, "height": depth}
            drawn.append(element("rect", element("title", escaped(panel.name)), class_="panel", rx=6, **place))
        drawn += rack_bars.draw_line(panels, top, picture.columns, picture.bars)
        if picture.beneath is not None:
            drawn += picture.beneath.draw(top + line_height)
        top += depth + 12
    return drawn, top + _MARGIN - 8


def _described(picture: Picture) -> list[str]:
    panels = picture.columns.panels
    sentences = []
    for panel in panels[:_DESCRIBED_RACKS]:
        items = [column.item for column in panel.columns]
        size = counted(sum(one.stands_for for one in items), picture.bars.noun)
        words = f"{size}, {picture.bars.summed(items)[0]}" if items else f"no {picture.bars.noun}"
        sentences.append(f"{panel.name}: {words}.")
    if len(panels) > _DESCRIBED_RACKS:
        sentences.append(f"And {len(panels) - _DESCRIBED_RACKS} more racks.")
    return sentences
