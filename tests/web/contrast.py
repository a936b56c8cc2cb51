"""Contrast as WCAG 2.2 defines it: of two colours, and of the texts and controls of a rendered page."""

from typing import Any

from playwright.sync_api import Page

LEAST_OF_TEXT, LEAST_OF_EDGES = 4.5, 3.0
"""Success criteria 1.4.3, for texts of any size, and 1.4.11, for what bounds a control and for parts of pictures."""


def channels(colour: str) -> tuple[float, float, float]:
    """Red, green and blue of `#rrggbb`, from 0 to 1."""
    red, green, blue = (int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5))
    return red, green, blue


def over(colour: str, ground: str, opacity: float) -> str:
    """The colour that is seen if a colour of that opacity is on a ground."""
    mixed = (
        round(255 * (opacity * one + (1 - opacity) * other))
        for one, other in zip(channels(colour), channels(ground), strict=True)
    )
    return "#" + "".join(f"{channel:02x}" for channel in mixed)


def ratio(one: str, other: str) -> float:
    """From 1, of equal colours, to 21, of black and white."""
    darker, lighter = sorted(map(_luminance, (one, other)))
    return (lighter + 0.05) / (darker + 0.05)


def _luminance(colour: str) -> float:
    linear = (each / 12.92 if each <= 0.04045 else ((each + 0.055) / 1.055) ** 2.4 for each in channels(colour))
    return sum(weight * each for weight, each in zip((0.2126, 0.7152, 0.0722), linear, strict=True))


def pale(page: Page) -> list[Any]:
    """The texts and the edges of controls of a page that are paler than allowed: kind, element, ratio."""
    found: list[Any] = page.evaluate(_PALE, [LEAST_OF_TEXT, LEAST_OF_EDGES])
    return found


_PALE = """([leastOfText, leastOfEdges]) => {
    const parsed = (text) => { const [r, g, b, a = 1] = text.match(/[\\d.]+/g).map(Number); return [r, g, b, a]; };
    const over = ([r, g, b, a], [R, G, B]) => [r * a + R * (1 - a), g * a + G * (1 - a), b * a + B * (1 - a), 1];
    const luminance = (colour) => colour.slice(0, 3).map((each) => each / 255)
        .map((each) => (each <= 0.04045 ? each / 12.92 : ((each + 0.055) / 1.055) ** 2.4))
        .reduce((sum, each, at) => sum + each * [0.2126, 0.7152, 0.0722][at], 0);
    const ratio = (one, other) => {
        const [darker, lighter] = [luminance(one), luminance(other)].sort((a, b) => a - b);
        return (lighter + 0.05) / (darker + 0.05);
    };
    // The grounds that are seen behind an element: one, or the colours of a gradient that has no colour beneath it.
    const grounds = (element) => {
        if (!element) return [[255, 255, 255, 1]];
        const { backgroundColor, backgroundImage } = getComputedStyle(element);
        const own = parsed(backgroundColor);
        if (own[3] === 1) return [own];
        const beneath = grounds(element.parentElement);
        const stops = (own[3] === 0 && backgroundImage.match(/rgba?\\([^)]*\\)/g)) || [];
        if (stops.length) return stops.flatMap((stop) => beneath.map((ground) => over(parsed(stop), ground)));
        return beneath.map((ground) => over(own, ground));
    };
    const opacity = (element) =>
        element ? Number(getComputedStyle(element).opacity) * opacity(element.parentElement) : 1;
    const isSeen = (element) => {
        const { width, height } = element.getBoundingClientRect();
        return width > 1 && height > 1 && element.checkVisibility({ visibilityProperty: true });
    };
    const found = [];
    const note = (kind, element, seen, least) => {
        if (seen >= least) return;
        found.push([kind, element.cloneNode(false).outerHTML.slice(0, 120), Math.round(seen * 100) / 100]);
    };
    const text = (kind, element, { color, opacity: own }) => {
        const [r, g, b, a] = parsed(color);
        const shade = [r, g, b, a * own * opacity(element)];
        const seen = grounds(element).map((ground) => ratio(over(shade, ground), ground));
        note(kind, element, Math.min(...seen), leastOfText);
    };
    const words = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    while (words.nextNode()) {
        const element = words.currentNode.parentElement;
        if (!words.currentNode.data.trim() || !isSeen(element) || element.closest("svg, option")) continue;
        text("text", element, { color: getComputedStyle(element).color, opacity: 1 });
    }
    for (const field of document.querySelectorAll("input[placeholder], textarea[placeholder]")) {
        if (isSeen(field) && field.placeholder) text("placeholder", field, getComputedStyle(field, "::placeholder"));
    }
    const fields = "input:not([type=checkbox], [type=range], [type=file]), select, textarea";
    const others = "button, .button, summary, label, .switches a, .exports a";
    for (const control of document.querySelectorAll(`${fields}, ${others}`)) {
        const { borderTopWidth, borderTopStyle, borderTopColor } = getComputedStyle(control);
        if (!isSeen(control) || borderTopStyle === "none" || borderTopWidth === "0px") continue;
        const [outside] = grounds(control.parentElement);
        const edge = over(parsed(borderTopColor), outside);
        note("edge", control, Math.max(ratio(edge, outside), ratio(grounds(control)[0], outside)), leastOfEdges);
    }
    for (const link of document.querySelectorAll("a[aria-pressed]")) { // a switch, whose knob is part of its background
        const { backgroundColor, backgroundImage } = getComputedStyle(link, "::before");
        const [knob] = (backgroundImage.match(/rgba?\\([^)]*\\)/) ?? [backgroundColor]).map(parsed);
        const seen = [ratio(parsed(backgroundColor), grounds(link)[0]), ratio(parsed(backgroundColor), knob)];
        if (isSeen(link)) note("switch", link, Math.min(...seen), leastOfEdges);
    }
    return found;
}"""
