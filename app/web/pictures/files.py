"""Pictures of our own as files: SVG that follows the reader's theme or has one, and PNG made of it."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from http import HTTPStatus
from typing import Annotated, Literal

from fastapi import Depends, Query, Response

from app.web.charts import NARROWEST, WIDEST, Theme
from app.web.pictures.rendering import STYLE

FileType = Literal["svg", "png"]
_DARK = re.compile(r"^@media \(prefers-color-scheme: dark\) \{\n(?P<dark>.*?)^\}\n?", re.DOTALL | re.MULTILINE)
_SIZE = re.compile(r'<svg\b[^>]*? width="(\d+)" height="(\d+)"')


@dataclass(frozen=True, slots=True)
class PictureOptions:
    """How a picture is delivered.

    Parameters
    ----------
    theme : None follows the reader of an SVG, and is light in a PNG. width : in pixels; None leaves its own.
    """

    theme: Theme | None = None
    width: Annotated[int | None, Query(ge=NARROWEST, le=WIDEST)] = None


Options = Annotated[PictureOptions, Depends()]


def picture_file(
    draw: Callable[[str], str], file_type: FileType, options: PictureOptions, *, style: str = STYLE
) -> Response:
    """The file of a picture, which `draw` makes with a style sheet of its own: `style`, for the theme."""
    theme = options.theme or ("light" if file_type == "png" else None)
    svg = _resized(draw(_themed(style, theme)), options.width)
    headers = {"Cache-Control": "private, no-cache", "X-Content-Type-Options": "nosniff"}
    if file_type == "png":
        import vl_convert  # noqa: PLC0415 — 40 MB of a library, which few requests need

        return Response(vl_convert.svg_to_png(svg, scale=2), HTTPStatus.OK, headers, "image/png")
    # Opened by itself, an SVG is a document: nothing in it runs or loads.
    headers["Content-Security-Policy"] = "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'"
    return Response(svg, HTTPStatus.OK, headers, "image/svg+xml")


def _themed(style: str, theme: Theme | None) -> str:
    """A style sheet with its dark rules if the reader prefers them, always, or never."""
    return style if theme is None else _DARK.sub(lambda rules: rules["dark"] if theme == "dark" else "", style)


def _resized(svg: str, width: int | None) -> str:
    size = _SIZE.match(svg)
    if width is None or size is None:
        return svg
    height = round(int(size[2]) * width / int(size[1]))
    return f'{size[0].rpartition(" width=")[0]} width="{width}" height="{height}"{svg[size.end() :]}'
