"""Requests that are repeated when the service is busy or out of reach, and lists that are read page by page."""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import TYPE_CHECKING, Any
from urllib.parse import quote
from uuid import uuid4

from rackplan.flows import Flow, Item, Items, Pause, Request, Session, Settings, T
from rackplan.problems import Problem, ServiceUnavailable, problem_of

if TYPE_CHECKING:
    import httpx

_BUSY = frozenset({429, 502, 503, 504})


def exchange(session: Session, request: Request) -> Flow[httpx.Response]:
    """Send a request, repeated as `Settings` say while the service is busy or out of reach.

    A POST has an `Idempotency-Key`, so that the service answers a repetition with the first answer, and never does
    twice what it did already.

    Raises `Problem` and `ServiceUnavailable`.
    """
    if request.method == "POST":
        request = replace(request, headers={"Idempotency-Key": str(uuid4()), **request.headers})
    for pause_s in (*pauses_s(session.settings), None):
        retry_after_s = 0.0
        try:
            response: httpx.Response = yield request
        except ServiceUnavailable:
            if pause_s is None:
                raise
        else:
            if response.is_success and _is_of_the_service(request, response):
                return response
            problem = _problem(response)
            retry_after_s = _retry_after_s(response.headers.get("retry-after"))
            if pause_s is None or not _is_temporary(problem) or retry_after_s > session.settings.longest_pause_s:
                raise problem
        yield Pause(max(pause_s, retry_after_s))
    raise AssertionError("the last attempt returns or raises")


def pauses_s(settings: Settings, draw: Callable[[], float] = random.random) -> Iterator[float]:
    """The pauses between attempts: each up to twice the one before, and at least half of that, at random.

    `draw` returns numbers in [0, 1).
    """
    for attempt in range(settings.retries):
        longest_s = min(settings.first_pause_s * 2**attempt, settings.longest_pause_s)
        yield longest_s * (1 + draw()) / 2


def pages(session: Session, request: Request, parse: Callable[[Any], T]) -> Items[T]:
    """The items of every page of a list."""
    query = dict(request.query)
    while True:
        response = yield from exchange(session, replace(request, query=query))
        page = response.json()
        for item in page["items"]:
            yield Item(parse(item))
        query["page_token"] = page.get("next_page_token")
        if query["page_token"] is None:
            return


def path(*parts: str | int) -> str:
    """A path below `/v1`, whose parts may have any characters."""
    return "/v1/" + "/".join(quote(str(part), safe="") for part in parts)


def _problem(response: httpx.Response) -> Problem:
    try:
        document = response.json()
    except (json.JSONDecodeError, UnicodeDecodeError):
        document = None
    return problem_of(response.status_code, document, text=response.text)


def _is_of_the_service(request: Request, response: httpx.Response) -> bool:
    """Whether a response has the media type that was wanted: what a proxy answers is HTML."""
    media_type = response.headers.get("content-type", "")
    return response.status_code == 204 or "Accept" in request.headers or media_type.startswith("application/json")


def _is_temporary(problem: Problem) -> bool:
    """Whether the same request can succeed later. The first of two equal requests can still be in progress."""
    return problem.status in _BUSY or problem.code == "idempotency_key_in_flight"


def _retry_after_s(header: str | None) -> float:
    """The seconds that `Retry-After` states, as a number or as a date; 0 without one."""
    if header is None:
        return 0.0
    if header.strip().isdecimal():
        return float(header)
    try:
        moment = parsedate_to_datetime(header)
    except ValueError:
        return 0.0
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=UTC)
    return max(0.0, (moment - datetime.now(UTC)).total_seconds())
