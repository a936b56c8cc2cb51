"""Contrast of the colours of the style sheets and charts in both themes; `contrast.py` measures rendered pages."""

import re
from itertools import product

import pytest

from app.web import charts
from app.web.assets import ASSETS
from tests.web.contrast import LEAST_OF_EDGES, LEAST_OF_TEXT, over, ratio

TEXTS = ("text", "muted", "accent", "good", "bad", "critical")
EDGES = ("edge", "accent-line", "accent", "bad", "critical")
GROUNDS = ("ground", "surface", *(f"{name}-ground" for name in ("info", "good", "bad", "critical", "warn")), "sunken")
SHAPES = ("leads", "follows", "in-rack", "cross-rack", "unknown", "was", "fenced", "hatch", "even", "thread", "span")
"""Parts of pictures, each with a stroke."""
WRITTEN = ("quiet", "id", "spans")
THEMES = ("light", "dark")


def parts(name: str) -> tuple[str, str]:
    """A style sheet before its first rules for dark, and these rules."""
    light, _, rest = ASSETS[name].content.decode().partition("@media (prefers-color-scheme: dark) {")
    dark, end, _ = rest.partition("\n}")
    assert end
    return light, dark


def variables(name: str) -> dict[str, dict[str, str]]:
    """The colours of a style sheet by theme and name; of dark those of light that it does not change."""
    light, dark = (dict(re.findall(r"--([\w-]+): (#[0-9a-f]{6})", part)) for part in parts(name))
    return {"light": light, "dark": light | dark}


def of_pictures(property_: str) -> dict[str, dict[str, str]]:
    """The fills or strokes of the parts of pictures by theme and class."""
    found = []
    for part in parts("picture.css"):
        rules = re.findall(r"^ *((?:\.placement-picture \.[\w-]+(?:, )?)+) \{([^}]*)\}", part, re.MULTILINE)
        colours = [(names, re.search(rf"(?:^|[; ]){property_}: (#[0-9a-f]{{6}})", rule)) for names, rule in rules]
        found.append({name: each[1] for names, each in colours if each for name in re.findall(r"e \.([\w-]+)", names)})
    return {"light": found[0], "dark": found[0] | found[1]}


@pytest.mark.parametrize("theme", THEMES)
@pytest.mark.parametrize(("names", "least"), [(TEXTS, LEAST_OF_TEXT), (EDGES, LEAST_OF_EDGES)], ids=["texts", "edges"])
def test_texts_and_edges_are_seen_on_every_ground(theme: str, names: tuple[str, ...], least: float) -> None:
    colours = variables("style.css")[theme]
    assert {"text", "line"} <= colours.keys()
    seen = {(name, ground): ratio(colours[name], colours[ground]) for name, ground in product(names, GROUNDS)}
    assert {pair: round(each, 2) for pair, each in seen.items() if each < least} == {}
    assert ratio(colours["on-accent"], colours["accent"]) >= LEAST_OF_TEXT


@pytest.mark.parametrize("theme", THEMES)
def test_the_reference_has_the_colours_of_the_pages(theme: str) -> None:
    pages, reference = variables("style.css")[theme], variables("docs.css")[theme]
    assert {name: reference[name] for name in pages.keys() & reference.keys()} == {
        name: pages[name] for name in pages.keys() & reference.keys()
    }
    for name in ("get", "post", "change", "delete"):
        assert ratio(reference[name], reference["surface"]) >= LEAST_OF_TEXT


@pytest.mark.parametrize("theme", THEMES)
def test_parts_of_pictures_are_seen_on_both_grounds(theme: str) -> None:
    strokes, fills = of_pictures("stroke")[theme], of_pictures("fill")[theme]
    grounds = (fills["surface"], fills["panel"])
    shapes = {name: min(ratio(strokes[name], ground) for ground in grounds) for name in SHAPES}
    assert {name: round(each, 2) for name, each in shapes.items() if each < LEAST_OF_EDGES} == {}
    written = {name: min(ratio(fills[name], ground) for ground in grounds) for name in WRITTEN}
    assert {name: round(each, 2) for name, each in written.items() if each < LEAST_OF_TEXT} == {}
    assert ratio(fills["inside"], fills["leads"]) >= LEAST_OF_TEXT


@pytest.mark.parametrize("theme", THEMES)
def test_marks_of_charts_are_seen_on_their_ground(theme: str) -> None:
    """With the opacity that each kind of mark has."""
    colours = charts.SPECS["colours"][theme]
    ground = colours["ground"]
    drawn = [
        (colour, layer["mark"]["opacity"])
        for layer in charts.SPECS["fronts"]["layer"]
        for colour in colours["series"][:2]
    ]
    drawn += [(colour, 1.0) for colour in colours["series"]]
    line, points = (layer["mark"]["opacity"] for layer in charts.SPECS["points"]["layer"])
    drawn += [(colours["mark"], line), *((colour, points) for colour in charts.SPECS["meanings"].values())]
    seen = {(colour, opacity): ratio(over(colour, ground, opacity), ground) for colour, opacity in drawn}
    assert {pair: round(each, 2) for pair, each in seen.items() if each < LEAST_OF_EDGES} == {}
    assert ratio(colours["muted"], ground) >= LEAST_OF_TEXT


def test_ratios_are_those_of_the_guidelines() -> None:
    """Black on white is 21; #767676 on white is the palest grey that is allowed for texts, #949494 for edges."""
    assert ratio("#000000", "#ffffff") == pytest.approx(21)
    assert ratio("#767676", "#ffffff") >= 4.5 > ratio("#777777", "#ffffff")
    assert ratio("#949494", "#ffffff") >= 3 > ratio("#959595", "#ffffff")
    assert over("#000000", "#ffffff", 0.5) == "#808080"
