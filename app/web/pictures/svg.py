"""SVG elements, escaped text, and text that fits."""

import html
import re
import unicodedata

NAMESPACE = "http://www.w3.org/2000/svg"
ADVANCE = 0.6
"""Width of a character by the size of its font, at most."""
_NOT_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def element(name: str, *children: str, **attributes: str | float) -> str:
    """An element with children that are markup already.

    An attribute's `_` becomes `-`, and one at its end is dropped: `class_`, `text_anchor`. Numbers keep two decimal
    places, so that the same picture has the same bytes on every machine.
    """
    written = "".join([f' {_attribute(key)}="{_value(value)}"' for key, value in attributes.items()])
    content = "".join(children)
    return f"<{name}{written}>{content}</{name}>" if content else f"<{name}{written}/>"


def document(
    title: str, description: str, *children: str, style: str, width: float, height: float, patterns: str = ""
) -> str:
    """A picture with its name and description; `style` are rules of its own, empty if the page has them.

    `patterns` are elements that others refer to.
    """
    return element(
        "svg",
        element("title", escaped(title)),
        element("desc", escaped(description)),
        element("style", style) if style else "",
        patterns,
        element("rect", class_="surface", width=width, height=height, rx=10),
        *children,
        xmlns=NAMESPACE,
        class_="placement-picture",
        role="img",
        viewBox=f"0 0 {width:.0f} {height:.0f}",
        width=round(width),
        height=round(height),
    )


def escaped(content: str) -> str:
    """Text as markup; a character that XML cannot hold becomes U+FFFD."""
    return html.escape(_NOT_XML.sub("\ufffd", content))


def label(content: str, x: float, y: float, *, width: float, size: float = 12, **attributes: str | float) -> str:
    """A text of at most about `width` pixels; if it is cut, the whole text is its tooltip."""
    shown = shortened(content, int(width / (size * ADVANCE)))
    tooltip = element("title", escaped(content)) if shown != content else ""
    return element("text", tooltip, escaped(shown), x=x, y=y, **attributes)


def shortened(content: str, columns: int) -> str:
    """A text in that many columns, of which East Asian characters take two; a cut shows as `…`."""
    taken = 0
    for index, character in enumerate(content):
        taken += 2 if unicodedata.east_asian_width(character) in "WF" else 1
        if taken > columns:
            start = content[: max(index - 1, 0)]
            return f"{start}…"
    return content


def _attribute(key: str) -> str:
    return key.rstrip("_").replace("_", "-")


def _value(value: str | float) -> str:
    if isinstance(value, str):
        return escaped(value)
    return f"{value:.2f}".rstrip("0").rstrip(".")
