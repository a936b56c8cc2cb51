"""The files of the pages, served from the package; no page loads anything from another host."""

from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import sha256
from importlib.resources import files
from types import MappingProxyType

from fastapi import APIRouter, HTTPException, Request, Response

FOLDER = "/static"
_MEDIA_TYPES = {"css": "text/css; charset=utf-8", "svg": "image/svg+xml"}
_FOREVER = "public, max-age=31536000, immutable"


@dataclass(frozen=True, slots=True)
class Asset:
    """A file's bytes, and the address that changes with them."""

    content: bytes
    media_type: str
    version: str
    address: str


def _read(name: str) -> Asset:
    content = files("app.web").joinpath("static", name).read_bytes()
    version = sha256(content).hexdigest()[:12]
    return Asset(content, _MEDIA_TYPES[name.rpartition(".")[2]], version, f"{FOLDER}/{name}?v={version}")


ASSETS: Mapping[str, Asset] = MappingProxyType({name: _read(name) for name in ("style.css", "picture.css", "icon.svg")})


def router() -> APIRouter:
    """`/static/{name}`. The address with its version can be cached for ever, the one without only with revalidation."""
    routes = APIRouter(include_in_schema=False)

    @routes.get(FOLDER + "/{name}")
    def asset(request: Request, name: str) -> Response:
        file = ASSETS.get(name)
        if file is None:
            raise HTTPException(404)
        is_current = request.query_params.get("v") == file.version
        headers = {"Cache-Control": _FOREVER if is_current else "no-cache", "ETag": f'"{file.version}"'}
        return Response(file.content, media_type=file.media_type, headers=headers)

    return routes
