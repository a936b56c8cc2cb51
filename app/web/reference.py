"""The reference: the OpenAPI document, Swagger UI and ReDoc over it, and the pages of codes."""

from collections.abc import Callable, Mapping, Sequence
from hashlib import sha256
from threading import Lock, Thread
from typing import Protocol

from fastapi import APIRouter, Request, Response

from app.web.assets import sent
from app.web.pages import page

DOCUMENT = "/openapi.json"
# React sets style attributes, and both place style elements of their own; neither runs a script of the page.
_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; font-src 'self'; "
    "connect-src 'self'; worker-src blob:; form-action 'none'; frame-ancestors 'none'; base-uri 'none'"
)


class OpenApiDocument:
    """The document as bytes, built when it is first requested.

    Parameters
    ----------
    build : returns the JSON.
    """

    def __init__(self, build: Callable[[], bytes]) -> None:
        self._build = build
        self._lock = Lock()
        self._built: tuple[bytes, str] | None = None

    def begin(self) -> None:
        """Begin to build the document, for a page whose scripts ask for it as soon as the browser has read them."""
        if self._built is None:
            Thread(target=self.built, name="openapi", daemon=True).start()

    def built(self) -> tuple[bytes, str]:
        """The document and its entity tag."""
        with self._lock:
            if self._built is None:
                content = self._build()
                self._built = content, sha256(content).hexdigest()[:32]
            return self._built


class CodeFamily(Protocol):
    """Codes with their meanings, in a table of the page at `page`; `statuses` is for problems."""

    @property
    def page(self) -> str: ...
    @property
    def title(self) -> str: ...
    @property
    def meanings(self) -> Mapping[str, str]: ...
    @property
    def statuses(self) -> Mapping[str, int]: ...


def router(document: OpenApiDocument, families: Sequence[CodeFamily]) -> APIRouter:
    """The routes of the reference. Every family of codes is in a table of its page."""
    routes = APIRouter(include_in_schema=False)

    @routes.get(DOCUMENT)
    def openapi(request: Request) -> Response:
        content, etag = document.built()
        headers = {"Content-Type": "application/json", "Cache-Control": "no-cache"}
        return sent(request, content, etag=etag, **headers)

    @routes.get("/docs")
    def swagger_ui() -> Response:
        document.begin()
        return page("docs.html", policy=_POLICY, document=DOCUMENT)

    @routes.get("/redoc")
    def redoc() -> Response:
        document.begin()
        return page("redoc.html", policy=_POLICY, document=DOCUMENT)

    def codes(request: Request) -> Response:
        path = request.url.path
        tables = [family for family in families if family.page == path]
        return page("codes.html", title=path.strip("/").capitalize(), tables=tables)

    for path in sorted({family.page for family in families}):
        routes.add_api_route(path, codes, methods=["GET"])
    return routes
