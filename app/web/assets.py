"""The files of the pages, served from packages; no page loads anything from another host."""

from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import sha256
from importlib.resources import files

from fastapi import APIRouter, HTTPException, Request, Response

from app.web.chart_process import ENGINE

FOLDER = "/static"
_MEDIA_TYPES = {"css": "text/css; charset=utf-8", "js": "text/javascript; charset=utf-8", "svg": "image/svg+xml"}
_FOREVER = "public, max-age=31536000, immutable"
PACKAGES: Mapping[str, str] = {
    "style.css": "app.web",
    "picture.css": "app.web",
    "map.css": "app.web",
    "icon.svg": "app.web",
    "docs.css": "app.web",
    "docs.js": "app.web",
    "console.js": "app.web",
    "swagger-ui.css": "fastapi_offline",
    "swagger-ui-bundle.js": "fastapi_offline",
    "redoc.standalone.js": "fastapi_offline",
    "charts.js": "vl_convert",
}
"""The package whose folder `static` has the file, or that makes it."""
CHARTS = "charts.js"
"""Vega, Vega-Lite and Vega-Embed, 0.9 MB. Bundling takes a second, so no page links it by its version."""
_LOGO_OF_REDOC = b"https://cdn.redoc.ly/redoc/logo-mini.svg"


@dataclass(frozen=True, slots=True)
class Asset:
    """A file's bytes, and the address that changes with them."""

    content: bytes
    media_type: str
    version: str
    address: str


def _read(name: str) -> Asset:
    if name == CHARTS:
        content = ENGINE.draw("script", "window.vegaEmbed = vegaEmbed;")
    else:
        content = files(PACKAGES[name]).joinpath("static", name).read_bytes()
    if name == "redoc.standalone.js":  # no option of it leaves out the picture of another host
        content = content.replace(_LOGO_OF_REDOC, f"{FOLDER}/icon.svg".encode())
    version = sha256(content).hexdigest()[:12]
    return Asset(content, _MEDIA_TYPES[name.rpartition(".")[2]], version, f"{FOLDER}/{name}?v={version}")


class _Assets(dict[str, Asset]):
    def __missing__(self, name: str) -> Asset:
        return self.setdefault(name, _read(name))


ASSETS = _Assets()
"""Files by their names; one is read when it is first used."""


def sent(request: Request, content: bytes, *, etag: str, **headers: str) -> Response:
    """The content, or 304 if the caller has it."""
    headers = {"ETag": f'"{etag}"', **headers}
    if f'"{etag}"' in request.headers.get("if-none-match", ""):
        return Response(status_code=304, headers=headers)
    return Response(content, headers=headers)


def router() -> APIRouter:
    """`/static/{name}`. The address with its version can be cached for ever, the one without only with revalidation."""
    routes = APIRouter(include_in_schema=False)

    @routes.get(FOLDER + "/{name}")
    def asset(request: Request, name: str) -> Response:
        if name not in PACKAGES:
            raise HTTPException(404)
        file = ASSETS[name]
        cached = _FOREVER if request.query_params.get("v") == file.version else "no-cache"
        headers = {"Cache-Control": cached, "Content-Type": file.media_type}
        return sent(request, file.content, etag=file.version, **headers)

    return routes
