"""Charts as Vega-Lite specifications: on the server as SVG and PNG, in a browser interactive.

Rows have columns of fixed names (`x`, `y`, `series`, …): texts of strangers are values, never names of columns or
parts of expressions.
"""

from collections.abc import Mapping, Sequence
from http import HTTPStatus
from importlib.resources import files
from typing import Annotated, Any, Literal, TypeAlias

import orjson
from fastapi import Query, Response

from app.web.chart_process import ENGINE

Spec: TypeAlias = dict[str, Any]
Rows: TypeAlias = Sequence[Mapping[str, object]]
Theme: TypeAlias = Literal["light", "dark"]
Suffix: TypeAlias = Literal["svg", "png", "json"]

NARROWEST, WIDEST, WIDTH = 200, 2_000, 860
Width: TypeAlias = Annotated[int, Query(ge=NARROWEST, le=WIDEST)]
SPECS: Mapping[str, Any] = orjson.loads(files("app.web").joinpath("charts.json").read_bytes())
"""Each chart as Vega-Lite, in which `@name` is a value of the call. `look` is around all, `colours` has a
theme's colours, and `meanings` scenarios' in both themes: infeasible ones are never green. `words` are names of
figures, `pairs` the figures that a kind of sweep compares first, `axes` the labels of figures by the end of a name."""


def _filled(part: object, values: Mapping[str, object]) -> Any:
    """A part of `SPECS` with the values of a call."""
    match part:
        case dict():
            return {name: _filled(each, values) for name, each in part.items()}
        case list():
            return [_filled(each, values) for each in part]
        case str() if part.startswith("@"):
            return values[part.removeprefix("@")]
    return part


def _spec(name: str, rows: Rows, **values: object) -> Spec:
    return {"data": {"values": rows}, **_filled(SPECS[name], values)}


def _shown(tooltips: Mapping[str, str]) -> Sequence[Mapping[str, str]]:
    return [{"field": field, "title": title} for field, title in tooltips.items()]


def _axes(rows: Rows, names: Sequence[str]) -> dict[str, Any]:
    """The axes of two figures: bytes and shares with their unit, whole numbers without decimals between them."""
    axes = {}
    for column, name in zip("xy", names, strict=True):
        is_whole = all(isinstance(row[column], int | None) for row in rows)
        axes[f"{column}_axis"] = _labels(name, "whole" if is_whole else "other")
    return axes


def _labels(name: str, otherwise: str) -> Any:
    return SPECS["axes"][next((suffix for suffix in SPECS["axes"] if name.endswith(suffix)), otherwise)]


def steps(rows: Rows, *, y: str) -> Spec:
    """Numbers that stay until they change: columns `x` (RFC 3339), `y`, `series`. `y` is the title of its axis."""
    return _spec("steps", rows, y=y)


def points(rows: Rows, *, x: str, y: str, tooltips: Mapping[str, str], names: Sequence[str] = ("", "")) -> Spec:
    """One point a row: columns `x`, `y`, `series`, `href`, and `tooltips` with their titles.

    Rows with a `front` that is not null are joined by a line. `names` of the figures determine the labels of the axes.
    """
    series = {row.get("series") for row in rows}
    known = {name: colour for name, colour in SPECS["meanings"].items() if name in series}
    scale = {"domain": list(known), "range": list(known.values())}
    return _spec("points", rows, x=x, y=y, tooltips=_shown(tooltips), scale=scale, **_axes(rows, names))


def fronts(
    rows: Rows, *, x: str, y: str, tooltips: Mapping[str, str], names: Sequence[str] = ("", ""), joined: bool
) -> Spec:
    """Points of several series: columns `x`, `y`, `series`, `href` and `tooltips`.

    Parameters
    ----------
    names : of the figures, as of `points`. joined : whether a line joins the points of a series, in the order of `x`.
    """
    spec = _spec("fronts", rows, x=x, y=y, tooltips=_shown(tooltips), **_axes(rows, names))
    return spec if joined else {**spec, "layer": spec["layer"][1:]}


def heat_map(rows: Rows, *, x: str, y: str, value: str, order: Sequence[str], name: str = "") -> Spec:
    """A cell for each pair: columns `x`, `y` (texts) and `value`. `order` lists the texts of both axes.

    The `name` of the figure determines the labels of the legend.
    """
    return _spec("heat_map", rows, x=x, y=y, value=value, order=order, legend=_labels(name, "other"))


def bars(rows: Rows, *, x: str, y: str, is_count: bool = False) -> Spec:
    """A bar for each row: columns `x` (text, in the order of the rows) and `y`, a count or any number."""
    return _spec("counts" if is_count else "bars", rows, x=x, y=y)


def histogram(edges: Sequence[float], counts: Sequence[int], *, x: str, y: str) -> Spec:
    """A bar for each count, between the edges on both sides of it."""
    rows = [{"x": low, "x2": high, "y": count} for low, high, count in zip(edges[:-1], edges[1:], counts, strict=True)]
    return _spec("histogram", rows, x=x, y=y)


def response(spec: Spec, suffix: Suffix, *, theme: Theme = "light", width: int = WIDTH, height: int = 280) -> Response:
    """The chart as an answer: a picture, or the specification for a browser."""
    whole = _filled(SPECS["look"], {**SPECS["colours"][theme], "width": width - 120, "height": height}) | spec
    # Of a browser, not of a proxy: a chart is as private as the page that it is on.
    headers = {"Cache-Control": "private, no-cache", "X-Content-Type-Options": "nosniff"}
    if suffix == "json":
        return Response(orjson.dumps(whole), HTTPStatus.OK, headers, "application/json")
    media_type = "image/png" if suffix == "png" else "image/svg+xml"
    return Response(ENGINE.draw(suffix, whole), HTTPStatus.OK, headers, media_type)
