"""The map of a cluster as SVG."""

from app.web.assets import ASSETS
from app.web.clusters.broker_map import SHADES, BrokerMap, RackPanel
from app.web.pictures.rendering import STYLE
from app.web.pictures.svg import NAMESPACE, element, escaped, label

MAP_STYLE = STYLE + ASSETS["map.css"].content.decode()
"""The rules of pictures, and those of maps."""
_MARGIN, _TITLE, _FACT, _FIRST = 20, 34, 56, 76
_GAP, _HEAD = 4, 30
_SIZES = ((60, 72, 40), (300, 44, 30), (10**9, 16, 12))
"""Up to so many brokers a cell is so wide and so high, in pixels; the smallest have no text."""
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
    fact = f"{shown.measure} of a broker: {shown.smallest} to {shown.largest}, {shown.mean} on average."
    bottom = top + _MARGIN - 8
    return element(
        "svg",
        element("title", escaped(title)),
        element("desc", escaped(fact)),
        element("style", style) if style else "",
        element("rect", class_="surface", width=_WIDTH, height=bottom, rx=10),
        label(title, _MARGIN, _TITLE, width=_WIDTH - 2 * _MARGIN, size=17, class_="title"),
        label(fact, _MARGIN, _FACT, width=_WIDTH - 2 * _MARGIN, size=12.5, class_="fact"),
        *drawn,
        xmlns=NAMESPACE,
        class_="placement-picture",
        role="img",
        viewBox=f"0 0 {_WIDTH} {bottom:.0f}",
        width=_WIDTH,
        height=round(bottom),
    )


def _heading(panel: RackPanel) -> str:
    brokers = f"{len(panel.cells)} broker{'' if len(panel.cells) == 1 else 's'}"
    return f"{panel.name}: {brokers}" + (f", {panel.total} in all" if panel.total else "")
