"""Charts as Vega-Lite specifications: on the server as SVG and PNG, in a browser interactive.

Rows have columns of fixed names (`x`, `y`, `series`, …): texts of strangers are values, never names of columns or
parts of expressions.
"""

from collections.abc import Mapping, Sequence
from http import HTTPStatus
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
_SCHEMA = "https://vega.github.io/schema/vega-lite/v6.json"
"""The name of the language, which nothing loads."""
_FONT = 'system-ui, -apple-system, "Segoe UI", Roboto, "Liberation Sans", sans-serif'
_COLOURS: Mapping[Theme, Mapping[str, str]] = {
    "light": {"ground": "#ffffff", "text": "#1b2430", "muted": "#5a6675", "line": "#d9e0e8", "mark": "#1f5fae"},
    "dark": {"ground": "#151a21", "text": "#e4e9f0", "muted": "#9aa7b7", "line": "#2f3945", "mark": "#74b0f4"},
}
_COUNTS = {"tickMinStep": 1, "format": ",d", "labelExpr": "datum.value % 1 ? '' : datum.label"}
"""The axis of whole numbers."""
_SERIES: Mapping[Theme, Sequence[str]] = {
    "light": ("#1f5fae", "#d55e00", "#1a6b46", "#8a5fb0", "#8b97a6", "#b8860b"),
    "dark": ("#74b0f4", "#f08a3c", "#6fcf9f", "#c3a1e4", "#9aa7b7", "#e3c05a"),
}


def steps(rows: Rows, *, y: str) -> Spec:
    """Numbers that stay until they change: columns `x` (RFC 3339), `y`, `series`. `y` is the title of its axis."""
    axis = {"labelExpr": "utcFormat(datum.value, utcFormat(datum.value, '%H:%M') == '00:00' ? '%b %d' : '%H:%M')"}
    return {
        "data": {"values": rows},
        "mark": {"type": "line", "interpolate": "step-after", "point": True, "tooltip": True},
        "encoding": {
            "x": _field("x", "temporal", "UTC", scale={"type": "utc"}, axis=axis),
            "y": _field("y", "quantitative", y, axis=_COUNTS),
            "color": _BY_SERIES,
        },
    }


def points(rows: Rows, *, x: str, y: str, tooltips: Mapping[str, str]) -> Spec:
    """One point a row: columns `x`, `y`, `series`, `href`, and those of `tooltips` with their titles.

    Rows with a `front` that is not null are joined by a line.
    """
    axes = _plane(x, y)
    return {
        "data": {"values": rows},
        "layer": [
            {
                "transform": [{"filter": {"field": "front", "valid": True}}],
                "mark": {"type": "line", "opacity": 0.6},
                "encoding": {**axes, "order": {"field": "front", "type": "quantitative"}},
            },
            {
                "mark": {"type": "point", "filled": True, "opacity": 0.75, "size": 45},
                "params": [_ZOOM],
                "encoding": {
                    **axes,
                    "color": _field("series", "nominal", None, scale=_by_meaning(rows)),
                    **_links(tooltips),
                },
            },
        ],
    }


def fronts(rows: Rows, *, x: str, y: str, tooltips: Mapping[str, str], joined: bool) -> Spec:
    """Points of several series: columns `x`, `y`, `series`, `href` and those of `tooltips`.

    Parameters
    ----------
    joined : whether a line joins the points of a series, in the order of `x`.
    """
    encoding = {**_plane(x, y), "color": _BY_SERIES}
    points = {
        "mark": {"type": "point", "filled": True, "size": 60},
        "params": [_ZOOM],
        "encoding": {**encoding, **_links(tooltips), "shape": {"field": "series", "legend": None}},
    }
    joins = [{"mark": {"type": "line", "opacity": 0.6}, "encoding": encoding}] if joined else []
    return {"data": {"values": rows}, "layer": [*joins, points]}


def heat_map(rows: Rows, *, x: str, y: str, value: str, order: Sequence[str]) -> Spec:
    """A cell for each pair: columns `x`, `y` (texts) and `value`. `order` is that of the texts of both axes."""
    axis = {"labelLimit": 160, "labelAngle": 0, "labelOverlap": True}
    return {
        "data": {"values": rows},
        "mark": {"type": "rect", "tooltip": True},
        "encoding": {
            "x": _field("x", "nominal", x, sort=order, axis=axis),
            "y": _field("y", "nominal", y, sort=order, axis=axis),
            "color": _field("value", "quantitative", value, scale={"scheme": "blues"}),
        },
    }


def bars(rows: Rows, *, x: str, y: str, is_count: bool = False) -> Spec:
    """A bar for each row: columns `x` (text, in the order of the rows) and `y`, a count or any number."""
    axis = {"labelLimit": 120, "labelAngle": 0, "labelOverlap": True}
    return {
        "data": {"values": rows},
        "mark": {"type": "bar", "tooltip": True},
        "encoding": {
            "x": _field("x", "nominal", x, sort=None, axis=axis),
            "y": _field("y", "quantitative", y, axis=_COUNTS if is_count else {}),
        },
    }


def histogram(edges: Sequence[float], counts: Sequence[int], *, x: str, y: str) -> Spec:
    """A bar for each count, between the edges on both sides of it."""
    rows = [{"x": low, "x2": high, "y": count} for low, high, count in zip(edges[:-1], edges[1:], counts, strict=True)]
    axis = {"labelOverlap": True, "labelSeparation": 8}
    return {
        "data": {"values": rows},
        "mark": {"type": "bar", "tooltip": True, "binSpacing": 1},
        "encoding": {
            "x": _field("x", "quantitative", x, bin={"binned": True}, scale={"zero": False}, axis=axis),
            "x2": {"field": "x2"},
            "y": _field("y", "quantitative", y, axis=_COUNTS),
        },
    }


def _field(name: str, kind: str, title: str | None, **properties: object) -> Spec:
    """The column that an axis or colour shows, and how."""
    return {"field": name, "type": kind, "title": title, **properties}


def _plane(x: str, y: str) -> Spec:
    """Two axes of numbers, which need not begin at 0."""
    return {name: _field(name, "quantitative", title, scale={"zero": False}) for name, title in (("x", x), ("y", y))}


def _links(tooltips: Mapping[str, str]) -> Spec:
    shown = [{"field": field, "title": title} for field, title in tooltips.items()]
    return {"href": {"field": "href"}, "tooltip": shown}


_MEANINGS = {"Pareto front": "#3b82d6", "feasible": "#2f9e6b", "not feasible": "#d9682a", "scenario": "#8b97a6"}
"""The colours of scenarios in both themes: infeasible scenarios are never green."""


def _by_meaning(rows: Rows) -> Spec:
    """The scale of the series of scenarios, those that there are."""
    there = {row.get("series") for row in rows}
    known = [name for name in _MEANINGS if name in there]
    return {"domain": known, "range": [_MEANINGS[name] for name in known]}


_BY_SERIES = _field("series", "nominal", None)
_ZOOM = {"name": "zoom", "select": "interval", "bind": "scales"}


def response(spec: Spec, suffix: Suffix, *, theme: Theme = "light", width: int = WIDTH, height: int = 280) -> Response:
    """The chart as an answer: a picture, or the specification for a browser."""
    whole = _styled(spec, theme, width, height)
    # Of a browser, not of a proxy: a chart is as private as the page that it is on.
    headers = {"Cache-Control": "private, no-cache", "X-Content-Type-Options": "nosniff"}
    if suffix == "json":
        return Response(orjson.dumps(whole), HTTPStatus.OK, headers, "application/json")
    media_type = "image/png" if suffix == "png" else "image/svg+xml"
    return Response(ENGINE.draw(suffix, whole), HTTPStatus.OK, headers, media_type)


def _styled(spec: Spec, theme: Theme, width: int, height: int) -> Spec:
    colours = _COLOURS[theme]
    axis = {"gridColor": colours["line"], "domainColor": colours["line"], "tickColor": colours["line"]}
    texts = {"labelColor": colours["muted"], "titleColor": colours["muted"], "titleFontWeight": "normal"}
    return {
        "$schema": _SCHEMA,
        "background": colours["ground"],
        "width": width - 120,
        "height": height,
        "autosize": {"type": "fit-x", "contains": "padding"},
        "padding": 12,
        "config": {
            "font": _FONT,
            "axis": {**axis, **texts, "labelFontSize": 11, "titleFontSize": 12},
            "legend": {**texts, "orient": "top", "labelFontSize": 12, "labelOverlap": True, "gradientLength": 320},
            "view": {"stroke": None},
            "mark": {"color": colours["mark"]},
            "point": {"aria": False},
            "range": {"category": _SERIES[theme]},
        },
        **spec,
    }
