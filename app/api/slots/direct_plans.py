"""The middleware that answers requests for small plans itself: most plans are small, and planning is their least part.

On its way to a slot and back such a request passes two processes, fourteen dependencies and nine round trips to the
database, of which one stores the plan. Here it is one parse, one placement of a known number of steps, and one round
trip, which stores the plan and the entry of the audit log. Its key is checked before its body is read, as of every
other request. Whatever is not a plain request for a small plan that succeeds goes on to the operation in a slot, which
says what is wrong with it. If the answer of the database is lost, the operation finds the plan by its hash.
"""

import itertools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from threading import Thread
from types import SimpleNamespace
from typing import Any, Final

import psycopg
from pydantic import ValidationError
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from app.api.http.audit import entry_of, note_entry
from app.api.http.auth import TEAM_HEADER, acting_in, has_scope
from app.deferred import IMPORTING
from app.errors import Failure
from app.formats.syntax import unique_json
from app.services.api_keys import Scope as KeyScope
from app.services.limits import Limits
from app.services.plans import Plan, outcomes, plan_json
from app.slots.admission import Admission
from app.store import teams
from app.store.audit import NewEntry
from app.store.direct import Acting, DirectPlan, DirectStore
from app.store.ids import uuid7
from app.store.records import NewPlan

PATH: Final = "/v1/plans/replicas"
MOST_BYTES: Final = 8 * 1024
"""Bytes of a body that is parsed here."""
_PLANS: Final = "/v1/plans/"
_MOST_RECENT: Final = 1000
"""Bodies whose plan is looked up before it is made again."""
LOADED_AFTER: Final = 200
"""Small plans after which the loops that make them are loaded, in a thread."""
_ROUTE = SimpleNamespace(path=PATH)
_JSON = b"application/json"
_PLAIN: Mapping[bytes, frozenset[bytes]] = {b"content-type": frozenset({_JSON}), b"accept": frozenset({b"*/*", _JSON})}
"""Headers that a plain request has with one of these values."""
_NOT_PLAIN = frozenset(
    {b"idempotency-key", b"prefer", b"if-match", b"transfer-encoding", b"expect", TEAM_HEADER.lower().encode()}
)
"""Headers with which a request goes on to the operation."""

Draft = Callable[[Any], NewPlan | None]


@dataclass(slots=True)
class SmallPlans:
    """What plans: imported by `load` once the service listens, which needs it no sooner."""

    limits: Limits
    draft: Draft | None = None

    def load(self) -> None:
        """Import the model of requests and the planner, in any thread; no plan is answered here before."""
        with IMPORTING:
            from app.api.replicas.requests import PlaceRequest  # noqa: PLC0415 -- pydantic builds it in 0.2 s
            from app.services.replicas import small  # noqa: PLC0415 -- with its planner

        count = itertools.count(1)

        def draft(body: Any) -> NewPlan | None:
            if not small.is_short(body):
                return None
            if next(count) == LOADED_AFTER:
                Thread(target=small.load_loops, name="load loops", daemon=True).start()
            return small.drafted(PlaceRequest.model_validate(body).service(), self.limits)

        self.draft = draft


class DirectPlans:
    """Answer `POST /v1/plans/replicas`, if the plan is small and the check of the key has identified the caller."""

    def __init__(self, app: ASGIApp, *, plans: SmallPlans, store: DirectStore, admission: Admission) -> None:
        self._app, self._plans, self._store, self._admission = app, plans, store, admission
        # The hash of the plan of each team and body that was sent lately.
        self._recent: dict[tuple[str | None, bytes], str] = {}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        draft = self._plans.draft
        if scope["type"] != "http" or scope["path"] != PATH or draft is None or not _is_plain(scope):
            await self._app(scope, receive, send)
            return
        acting = acting_in(scope)
        if acting is None or acting.actor.team == teams.ALL or not _may_plan(acting):
            await self._app(scope, receive, send)
            return
        messages = await _received(receive)
        response = await self._answer(scope, acting, draft, messages)
        if response is None:
            await self._app(scope, _replayed(messages, receive), send)
            return
        scope["route"] = _ROUTE
        await response(scope, receive, send)

    async def _answer(self, scope: Scope, acting: Acting, draft: Draft, messages: Sequence[Message]) -> Response | None:
        if messages[-1]["type"] != "http.request":
            return None  # the client has left
        body = b"".join(message.get("body", b"") for message in messages)
        scope["route"] = _ROUTE
        entry = entry_of(scope, status=201, made=_PLANS)
        try:
            async with self._admission.slot():
                found, outcome = await self._made(acting, body, draft, entry)
        except (Failure, ValidationError, ValueError, RecursionError, psycopg.Error, OSError):
            found = None
        if found is None:
            del scope["route"]
            return None
        note_entry(scope)
        outcomes.report(outcome)
        content = plan_json(Plan(found.head, found.placements))
        return Response(content, 201, headers={"Location": f"{_PLANS}{found.head.id}"}, media_type=_JSON.decode())

    async def _made(
        self, acting: Acting, body: bytes, draft: Draft, entry: NewEntry
    ) -> tuple[DirectPlan | None, outcomes.PlanOutcome]:
        """The plan of a body, which is looked up if the same body was sent lately, else made and stored."""
        outcome = outcomes.PlanOutcome(PATH.removeprefix(_PLANS), outcomes.SUCCEEDED)
        sent = acting.actor.team, sha256(body).digest()
        outcome.hash = self._recent.get(sent)
        found = None if outcome.hash is None else await self._store.find(acting, outcome.hash, entry)
        if found is None:
            plan = draft(unique_json.loads(body))
            if plan is None:
                return None, outcome
            outcome.succeed(plan, None)
            found = await self._store.store(acting, uuid7(), plan, entry) or await self._store.find(
                acting, plan.hash, entry
            )
            self._recent[sent] = plan.hash
            if len(self._recent) > _MOST_RECENT:
                del self._recent[next(iter(self._recent))]
        return found, outcome


def _is_plain(scope: Scope) -> bool:
    """Whether a request posts a short JSON document and states nothing else that its answer depends on."""
    if scope["method"] != "POST" or scope["query_string"]:
        return False
    length, stated = b"", set()
    for name, value in scope["headers"]:
        if name in _NOT_PLAIN:
            return False
        if name in _PLAIN:
            if name in stated or value not in _PLAIN[name]:
                return False
            stated.add(name)
        elif name == b"content-length":
            length = value
    return b"content-type" in stated and length.isdigit() and int(length) <= MOST_BYTES


def _may_plan(acting: Acting) -> bool:
    return acting.scopes is None or has_scope(acting.scopes, KeyScope.PLAN)


async def _received(receive: Receive) -> list[Message]:
    """The messages of a body; the last one says that the client has left, if it has."""
    messages = [await receive()]
    while messages[-1]["type"] == "http.request" and messages[-1].get("more_body"):
        messages.append(await receive())
    return messages


def _replayed(messages: Sequence[Message], receive: Receive) -> Receive:
    """Receive these messages, and then what follows."""
    again = iter(messages)

    async def received() -> Message:
        message = next(again, None)
        return await receive() if message is None else message

    return received
