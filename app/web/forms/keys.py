"""`/plan/keys`: the form that places keys, and its answer on the same page: nothing of it is stored."""

from collections.abc import Mapping, Sequence
from http import HTTPStatus
from itertools import islice
from typing import Annotated, Any, Protocol

import orjson
from fastapi import APIRouter, Depends, Request, Response

from app.core.keys.partitioners import CLIENTS, PARTITIONERS
from app.errors import Failure
from app.services.keys import KeysAnswer
from app.services.limits import Limits
from app.web.access import Access
from app.web.forms import short
from app.web.forms.fields import errors_of
from app.web.pages import Pages, page

ADDRESS = "/plan/keys"
MOST_ROWS = 100
"""Keys whose partitions the page lists."""
EXAMPLE = {"keys": "alice\nbob\ncarol", "partitions": "12", "compare_partitions": "24", "encoding": "utf8"}
_EXAMPLE_PARTITIONERS = ("murmur2_adaptive", "consistent_random")
_EMPTY = {"keys": "", **{field.name: field.initial for field in short.SHORT["keys"]}}
MOST_WITHOUT_KEY = 100_000


class Requests(Protocol):
    """Places keys, by the rules of the API."""

    def place_keys(self, body: bytes) -> KeysAnswer:
        """The answer. Raises the `Failure`s of placing keys."""


def router(requests: Requests, access: Access, limits: Limits) -> APIRouter:
    """The form."""
    routes = Pages()

    async def typed_form(request: Request) -> Mapping[str, Any]:
        async with request.form(max_fields=100, max_files=0, max_part_size=limits.max_body_bytes) as form:
            texts = {name: str(form.get(name, "")) for name in _EMPTY}
            return {**texts, "partitioner": [str(name) for name in form.getlist("partitioner")]}

    @routes.get(ADDRESS)
    def form(example: str = "") -> Response:
        return _page(
            {**_EMPTY, **EXAMPLE, "partitioner": _EXAMPLE_PARTITIONERS} if example else {**_EMPTY, "partitioner": ()}
        )

    @routes.post(ADDRESS, dependencies=[access.plan])
    def place(typed: Annotated[Mapping[str, Any], Depends(typed_form)]) -> Response:
        problems: dict[str, str] = {}
        body = _body(typed, problems)
        if problems:
            return _page(typed, problems=problems)
        try:
            answer = requests.place_keys(orjson.dumps(body))
        except Failure as failure:
            return _page(typed, problems=short.beside("keys", errors_of(failure)))
        return _page(typed, keys=body["keys"], answer=answer)

    return routes


def _body(typed: Mapping[str, Any], problems: dict[str, str]) -> dict[str, Any]:
    """The body of the same request of the API; a malformed number becomes a problem of its field."""
    body = short.request("keys", typed, problems)
    without = body.pop("without_key", 0)
    if without > MOST_WITHOUT_KEY:
        problems["without_key"] = f"Enter {MOST_WITHOUT_KEY:,} at most; {without:,} given."
        without = 0
    if without:
        body.setdefault("null_keys", {})
    # Blanks are part of a key; browsers end lines with two characters.
    keys = [line for line in typed["keys"].replace("\r\n", "\n").split("\n") if line]
    stated = {"keys": [*keys, *[None] * without], "partitioner": typed["partitioner"] or ["murmur2"]}
    return body | {name: each for name, each in stated.items() if each}


def _page(
    typed: Mapping[str, Any],
    *,
    problems: Mapping[str, str] | None = None,
    keys: Sequence[str | None] = (),
    answer: KeysAnswer | None = None,
) -> Response:
    by_key = [] if answer is None else [list(islice(each.partition_by_key, MOST_ROWS)) for each in answer.partitioners]
    return page(
        "keys_form.html",
        status=HTTPStatus.UNPROCESSABLE_ENTITY if problems else HTTPStatus.OK,
        typed=typed,
        problems=problems or {},
        short=short.SHORT["keys"],
        partitioners={name: (one.summary, _clients(name)) for name, one in PARTITIONERS.items()},
        answer=answer,
        rows=list(zip(keys[:MOST_ROWS], *by_key, strict=True)),
        shown_keys=keys,
    )


def _clients(partitioner: str) -> str:
    """The client libraries whose default a partitioner is."""
    return ", ".join(f"{client.library} {client.versions}" for client in CLIENTS if client.partitioner == partitioner)
