"""HTML pages: templates, and the headers that prevent a page from loading or running anything else."""

from collections.abc import Mapping
from datetime import UTC, datetime
from http import HTTPStatus

from fastapi import Response
from fastapi.responses import HTMLResponse
from jinja2 import Environment, PackageLoader, StrictUndefined

from app import __version__
from app.web import words
from app.web.assets import ASSETS

HEADERS: Mapping[str, str] = {
    "Content-Security-Policy": "default-src 'none'; style-src 'self'; img-src 'self' data:; form-action 'self'; "
    "frame-ancestors 'none'; base-uri 'none'",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    # Not `no-referrer`: with it browsers send forms with `Origin: null`, and such are refused.
    "Referrer-Policy": "same-origin",
    "Cache-Control": "private, no-cache",
}

_templates = Environment(
    loader=PackageLoader("app.web"), autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True
)
_templates.filters.update(number=words.number, share=words.share, size=words.byte_size)
_templates.globals.update(
    assets=ASSETS, version=__version__, counted=words.counted, known_size=words.known_size, since=words.since
)


def page(template: str, *, status: HTTPStatus = HTTPStatus.OK, policy: str | None = None, **values: object) -> Response:
    """Render a template, with the current time as `now`. `policy` replaces the content security policy of pages."""
    content = _templates.get_template(template).render(now=datetime.now(UTC), **values)
    headers = HEADERS if policy is None else {**HEADERS, "Content-Security-Policy": policy}
    return HTMLResponse(content, status, headers=headers)
