"""HTML pages: templates, and the headers that prevent a page from loading or running anything else."""

from collections.abc import Awaitable, Callable, Sequence
from contextvars import ContextVar
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from http import HTTPStatus
from urllib.parse import parse_qsl, quote, urlencode

from fastapi import APIRouter, Request, Response
from fastapi.responses import HTMLResponse
from jinja2 import Environment, PackageLoader, StrictUndefined

from app import __version__
from app.services import callers
from app.slots.in_place import BlockingRoute
from app.web import words
from app.web.assets import ASSETS

Pages = partial(APIRouter, include_in_schema=False, route_class=BlockingRoute)
"""A router of pages, which the OpenAPI document does not list."""


@dataclass(frozen=True, slots=True)
class Framing:
    """Whether a page is shown in a frame of another page.

    Parameters
    ----------
    is_embedded : without header and footer. ancestors : the origins that may embed pages, as the operator allows them.
    share : the signed part of the share link that leads to the page; empty if it is shown without one.
    shared_until : when that link expires. path : of the page.
    origin : the beginning of every address of the service, without a slash at the end.
    signed_in : the name of the person whose browser has signed in; empty otherwise.
    """

    is_embedded: bool = False
    ancestors: Sequence[str] = ()
    share: str = ""
    shared_until: datetime | None = None
    path: str = ""
    origin: str = "http://127.0.0.1:8080"
    signed_in: str = ""

    @property
    def carried(self) -> str:
        """The parameters of the page's address that addresses within the page repeat."""
        stated = [*([("embed", "1")] if self.is_embedded else []), *([("share", self.share)] if self.share else [])]
        return urlencode(stated)


_UNFRAMED = Framing()
_framing: ContextVar[Framing] = ContextVar("_framing", default=_UNFRAMED)


def framing(ancestors: Sequence[str]) -> Callable[..., Awaitable[None]]:
    """The dependency of all pages that may be embedded: `?embed=1` leaves out header and footer."""

    # Not a plain function: its context would be another thread's, and lost.
    async def of_request(request: Request, embed: bool = False) -> None:
        until: datetime | None = getattr(request.state, "shared_until", None)
        share = "" if until is None else request.query_params.get("share", "")
        origin = str(request.base_url).rstrip("/")
        caller = getattr(request.state, callers.STATE, None) or {}
        shown: str = "" if until is not None else caller.get("shown", "")
        _framing.set(Framing(embed, ancestors, share, until, request.url.path, origin, shown))

    return of_request


def is_shared() -> bool:
    """Whether the page is opened by a share link, or in a frame, which lead to no form."""
    return bool(_framing.get().carried)


def framed(address: str) -> str:
    """An address within the page, with the parameters that keep it embedded and shared."""
    carried = _framing.get().carried
    if not carried:
        return address
    path, hash_, fragment = address.partition("#")
    return f"{path}{'&' if '?' in path else '?'}{carried}{hash_}{fragment}"


def file_of(address: str) -> str:
    """The address of a plan's file: an operation of the API, or on a shared page a page that the link opens."""
    if not _framing.get().share:
        return address
    path, mark, query = address.removeprefix("/v1").partition("?")
    _, _, plan_id, *rest = path.split("/")
    if rest == ["picture.svg"]:
        return framed(f"/pictures/plan.svg?plan={plan_id}")
    return framed((path if rest else f"{path}/plan.json") + mark + query)


def headers(policy: str | None = None) -> dict[str, str]:
    """The headers of a page. `policy` replaces its content security policy."""
    ancestors = _framing.get().ancestors
    allowed = " ".join(ancestors) or "'none'"
    return {
        "Content-Security-Policy": policy
        or "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
        f"form-action 'self'; frame-ancestors {allowed}; base-uri 'none'",
        "X-Content-Type-Options": "nosniff",
        **({} if ancestors and policy is None else {"X-Frame-Options": "DENY"}),
        # Not `no-referrer`: with it browsers send forms with `Origin: null`, and such are refused.
        "Referrer-Policy": "same-origin",
        "Cache-Control": "private, no-cache",
    }


_templates = Environment(
    loader=PackageLoader("app.web"), autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True
)
_templates.auto_reload = False
_templates.filters.update(
    number=words.number,
    figure=words.figure,
    runs=words.runs,
    share=words.share,
    size=words.byte_size,
    segment=partial(quote, safe=""),
    framed=framed,
    file=file_of,
)
_templates.globals.update(
    assets=ASSETS,
    version=__version__,
    counted=words.counted,
    measured=words.measured,
    known_size=words.known_size,
    since=words.since,
)
_templates.filters["marked"] = _templates.get_template("lists.html").module.marked  # type: ignore[attr-defined] # a macro


def page(template: str, *, status: HTTPStatus = HTTPStatus.OK, policy: str | None = None, **values: object) -> Response:
    """Render a template, with the current time as `now`. `policy` replaces the content security policy of pages."""
    framing = _framing.get()
    content = _templates.get_template(template).render(
        now=datetime.now(UTC),
        embed=framing.is_embedded or framing.shared_until is not None,
        shared_until=framing.shared_until,
        carried=parse_qsl(framing.carried),
        origin=framing.origin,
        path=framing.path,
        signed_in=framing.signed_in,
        **{"place": None, **values},
    )
    return HTMLResponse(content, status, headers=headers(policy))


def download(content: bytes, media_type: str, name: str) -> Response:
    """A file, which browsers save under a name of letters, digits, `-`, `_` and dots."""
    shown = {"Content-Disposition": f'attachment; filename="{name}"', "Cache-Control": "private, no-cache"}
    return Response(content, media_type=media_type, headers=shown)


def shown_once(shown: Response) -> Response:
    """A page with a secret, which no browser stores."""
    shown.headers["Cache-Control"] = "no-store"
    return shown
