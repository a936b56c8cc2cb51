"""Every route of the application, and its access rights: a route that is not in the table fails the test."""

import asyncio
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

import httpx
import pytest
from fastapi import FastAPI

from app.api.examples import (
    CHECK_REQUEST,
    CLONE_REQUEST,
    COMPARISON_REQUEST,
    CONSUMERS_REQUEST,
    EXAMPLE_DELIVERY_ID,
    EXAMPLE_GROUPS_SNAPSHOT_ID,
    EXAMPLE_JOB_ID,
    EXAMPLE_PLAN_ID,
    EXAMPLE_REASSIGNMENT_PLAN_ID,
    EXAMPLE_SHARE_LINK_ID,
    EXAMPLE_SNAPSHOT_ID,
    EXAMPLE_SWEEP_ID,
    EXAMPLE_WEBHOOK_ID,
    KEYS_REQUEST,
    PLACE,
    SNAPSHOT,
    SWEEP,
    WEBHOOK_REQUEST,
)
from app.main import create_app
from app.services.api_keys import Scope
from app.settings import Settings
from app.store.database import Database
from tests import databases, issuer
from tests.issuer import Provider

OPEN = None
READ, PLAN, RUN, ADMIN = Scope


@dataclass(frozen=True)
class Route:
    """The requirements of a route.

    Parameters
    ----------
    scope : of the key; `OPEN` needs none.
    of_other : status if path, query or body name another team's resource, as if it did not exist; None if they name
        nothing.
    body : JSON, or a form if `is_form`.
    """

    scope: Scope | None
    of_other: int | None = None
    query: dict[str, str] = field(default_factory=dict)
    body: Any = None
    is_form: bool = False


CLUSTER = SNAPSHOT["cluster"]
OF_PLAN, OF_SWEEP = {"plan": str(EXAMPLE_PLAN_ID)}, {"sweep": str(EXAMPLE_SWEEP_ID)}
NAMED = {
    "of_kind:path": "",
    "snapshot_id": EXAMPLE_GROUPS_SNAPSHOT_ID,
    "plan_id": EXAMPLE_REASSIGNMENT_PLAN_ID,
    "plan_id:uuid": EXAMPLE_REASSIGNMENT_PLAN_ID,
    "sweep_id": EXAMPLE_SWEEP_ID,
    "sweep_id:uuid": EXAMPLE_SWEEP_ID,
    "table": "csv",
    "job_id": EXAMPLE_JOB_ID,
    "webhook_id": EXAMPLE_WEBHOOK_ID,
    "delivery_id": EXAMPLE_DELIVERY_ID,
    "share_link_id": EXAMPLE_SHARE_LINK_ID,
    "link_id:uuid": EXAMPLE_SHARE_LINK_ID,
    "index": 0,
    "name:path": CLUSTER,
    "name": "style.css",
    "kind": "group",
    "tab": "about",
    "action": "delete",
    "plot": "compared",
    "suffix": "svg",
    "file_type": "svg",
}
ROUTES: dict[tuple[str, str], Route] = {
    ("POST", "/v1/snapshots"): Route(PLAN, body=SNAPSHOT),
    ("GET", "/v1/snapshots"): Route(READ),
    ("GET", "/v1/snapshots/{snapshot_id}"): Route(READ, 404),
    ("DELETE", "/v1/snapshots/{snapshot_id}"): Route(ADMIN, 404),
    ("POST", "/v1/plans/replicas"): Route(PLAN, 404, body=PLACE),
    ("POST", "/v1/plans/reassignment"): Route(PLAN, 404, body={"snapshot_id": str(EXAMPLE_SNAPSHOT_ID)}),
    ("POST", "/v1/plans/group"): Route(
        PLAN,
        404,
        body={
            "snapshot_id": str(EXAMPLE_SNAPSHOT_ID),
            "assignor": "range",
            "members": [{"member_id": "m", "topics": []}],
        },
    ),
    ("POST", "/v1/plans/streams"): Route(PLAN, body={"tasks": ["0_0"]}),
    ("POST", "/v1/plans/restart"): Route(PLAN, 404, body={"snapshot_id": str(EXAMPLE_SNAPSHOT_ID)}),
    ("POST", "/v1/plans/consumers"): Route(PLAN, body=CONSUMERS_REQUEST["hours"]["value"]),
    ("GET", "/v1/plans"): Route(READ),
    ("GET", "/v1/plans/{plan_id:uuid}"): Route(READ, 404),
    ("GET", "/v1/plans/{plan_id:uuid}/partitions"): Route(READ, 404),
    ("GET", "/v1/plans/{plan_id:uuid}/diff"): Route(READ, 404),
    ("GET", "/v1/plans/{plan_id:uuid}/export"): Route(READ, 404),
    ("GET", "/v1/plans/{plan_id:uuid}/picture.svg"): Route(READ, 404),
    ("PATCH", "/v1/plans/{plan_id:uuid}"): Route(PLAN, 404, body={"status": "approved"}),
    ("DELETE", "/v1/plans/{plan_id:uuid}"): Route(ADMIN, 404),
    ("POST", "/v1/plans/{plan_id:uuid}/progress"): Route(PLAN, 404, body={"snapshot_id": str(EXAMPLE_SNAPSHOT_ID)}),
    ("POST", "/v1/plans/{plan_id:uuid}/diff"): Route(PLAN, 404, body=COMPARISON_REQUEST["proposal"]["value"]),
    ("POST", "/v1/checks"): Route(PLAN, 404, body=CHECK_REQUEST["check"]["value"]),
    ("GET", "/v1/keys/partitioners"): Route(READ),
    ("POST", "/v1/keys/partitions"): Route(PLAN, body=KEYS_REQUEST["clients"]["value"]),
    ("POST", "/v1/sweeps"): Route(RUN, body=SWEEP),
    ("GET", "/v1/sweeps"): Route(READ),
    ("GET", "/v1/sweeps/{sweep_id}"): Route(READ, 404),
    ("GET", "/v1/sweeps/{sweep_id}/events"): Route(READ, 404),
    ("DELETE", "/v1/sweeps/{sweep_id}"): Route(RUN, 404),
    ("POST", "/v1/sweeps/{sweep_id}/clones"): Route(RUN, 404, body=next(iter(CLONE_REQUEST.values()))["value"]),
    ("GET", "/v1/sweeps/{sweep_id}/scenarios"): Route(READ, 404),
    ("GET", "/v1/sweeps/{sweep_id}/scenarios/{index}"): Route(READ, 404),
    ("POST", "/v1/sweeps/{sweep_id}/scenarios/{index}/plan"): Route(PLAN, 404),
    ("GET", "/v1/sweeps/{sweep_id}/summary"): Route(READ, 404),
    ("GET", "/v1/sweeps/{sweep_id}/front"): Route(READ, 404),
    ("GET", "/v1/sweeps/{sweep_id}/best"): Route(READ, 404),
    ("GET", "/v1/sweeps/{sweep_id}/comparison"): Route(READ, 404, query={"against": str(EXAMPLE_SWEEP_ID)}),
    ("GET", "/v1/jobs"): Route(READ),
    ("GET", "/v1/jobs/{job_id}"): Route(READ, 404),
    ("GET", "/v1/jobs/{job_id}/events"): Route(READ, 404),
    ("DELETE", "/v1/jobs/{job_id}"): Route(PLAN, 404),
    ("POST", "/v1/webhooks"): Route(ADMIN, body=WEBHOOK_REQUEST["all"]["value"]),
    ("GET", "/v1/webhooks"): Route(ADMIN),
    ("GET", "/v1/webhooks/{webhook_id}"): Route(ADMIN, 404),
    ("DELETE", "/v1/webhooks/{webhook_id}"): Route(ADMIN, 404),
    ("POST", "/v1/webhooks/{webhook_id}/ping"): Route(ADMIN, 404),
    ("GET", "/v1/webhooks/{webhook_id}/deliveries"): Route(ADMIN, 404),
    ("POST", "/v1/webhooks/{webhook_id}/deliveries/{delivery_id}/replay"): Route(ADMIN, 404),
    ("GET", "/v1/audit"): Route(ADMIN),
    ("GET", "/v1/audit/export"): Route(ADMIN),
    ("GET", "/v1/usage"): Route(READ),
    ("GET", "/v1/ledger"): Route(READ),
    ("GET", "/healthz"): Route(OPEN),
    ("GET", "/readyz"): Route(OPEN),
    ("GET", "/metrics"): Route(OPEN),
    ("GET", "/static/{name}"): Route(OPEN),
    ("GET", "/openapi.json"): Route(OPEN),
    ("GET", "/docs"): Route(OPEN),
    ("GET", "/redoc"): Route(OPEN),
    ("GET", "/problems"): Route(OPEN),
    ("GET", "/violations"): Route(OPEN),
    ("GET", "/sign-in"): Route(OPEN),
    ("GET", "/sign-in/callback"): Route(OPEN),
    ("GET", "/use-key"): Route(READ),
    ("GET", "/sign-out"): Route(OPEN),
    ("POST", "/sign-out"): Route(OPEN, is_form=True),
    ("GET", "/warnings"): Route(OPEN),
    ("GET", "/"): Route(READ),
    ("GET", "/search"): Route(READ),
    ("POST", "/clusters"): Route(PLAN, body={"text": ""}, is_form=True),
    ("POST", "/clusters/example"): Route(PLAN, is_form=True),
    ("GET", "/plan/keys"): Route(READ, query={"cluster": CLUSTER}),
    ("POST", "/plan/keys"): Route(PLAN, 422, body={"cluster": CLUSTER}, is_form=True),
    ("GET", "/plan/check"): Route(READ, query={"cluster": CLUSTER}),
    ("POST", "/plan/check"): Route(PLAN, 422, body={"cluster": CLUSTER}, is_form=True),
    ("GET", "/plan"): Route(READ),
    ("GET", "/plan/{kind}"): Route(READ),
    ("GET", "/plan/{kind}/estimate"): Route(PLAN),
    ("POST", "/plan/{kind}/members"): Route(PLAN, body={"text": ""}, is_form=True),
    ("POST", "/plan/sweep{of_kind:path}"): Route(RUN, body={"body": "{}"}, is_form=True),
    ("POST", "/plan/{kind}"): Route(PLAN, body={"body": "{}"}, is_form=True),
    ("GET", "/plans"): Route(READ),
    ("GET", "/jobs"): Route(READ),
    ("GET", "/jobs/{job_id}"): Route(READ, 404),
    ("POST", "/jobs/{job_id}/cancel"): Route(PLAN, 404, is_form=True),
    ("GET", "/sweeps"): Route(READ),
    ("GET", "/sweeps/compare"): Route(READ, 422, query={"a": str(EXAMPLE_SWEEP_ID), "b": str(EXAMPLE_SWEEP_ID)}),
    ("GET", "/pictures/sweeps-compared.{suffix}"): Route(
        READ, 404, query={"a": str(EXAMPLE_SWEEP_ID), "b": str(EXAMPLE_SWEEP_ID)}
    ),
    ("GET", "/sweeps/{sweep_id}"): Route(READ, 404),
    ("GET", "/sweeps/{sweep_id}/scenarios/{index}"): Route(READ, 404),
    ("GET", "/pictures/sweep-{plot}.{suffix}"): Route(READ, 404, query=OF_SWEEP),
    ("POST", "/sweeps/{sweep_id}/cancel"): Route(RUN, 404, is_form=True),
    ("POST", "/sweeps/{sweep_id}/scenarios/{index}/plan"): Route(PLAN, 404, is_form=True),
    ("GET", "/plans/compare"): Route(READ, 422, query={"a": str(EXAMPLE_PLAN_ID), "b": str(EXAMPLE_PLAN_ID)}),
    ("GET", "/plans/{plan_id}"): Route(READ, 404),
    ("GET", "/plans/{plan_id}/{tab}"): Route(READ, 404),
    ("POST", "/plans/{plan_id}/progress"): Route(PLAN, 404, body={"text": "x"}, is_form=True),
    ("POST", "/plans/{plan_id}/status"): Route(PLAN, 404, body={"status": "approved", "revision": "0"}, is_form=True),
    ("POST", "/plans/{plan_id}/delete"): Route(ADMIN, 404, is_form=True),
    ("POST", "/snapshots/{snapshot_id}/delete"): Route(ADMIN, 404, is_form=True),
    ("GET", "/pictures/plan.{file_type}"): Route(READ, 404, query=OF_PLAN),
    ("POST", "/v1/share-links"): Route(PLAN, 404, body={"kind": "plan", "name": str(EXAMPLE_REASSIGNMENT_PLAN_ID)}),
    ("GET", "/v1/share-links"): Route(ADMIN),
    ("DELETE", "/v1/share-links/{share_link_id}"): Route(ADMIN, 404),
    ("DELETE", "/v1/share-links"): Route(ADMIN),
    ("GET", "/plans/{plan_id:uuid}/plan.json"): Route(READ, 404),
    ("GET", "/plans/{plan_id:uuid}/export"): Route(READ, 404, query={"format": "csv"}),
    ("GET", "/sweeps/{sweep_id:uuid}/definition.json"): Route(READ, 404),
    ("GET", "/sweeps/{sweep_id:uuid}/scenarios.{table}"): Route(READ, 404),
    ("POST", "/share"): Route(
        PLAN, 404, body={"kind": "plan", "name": str(EXAMPLE_PLAN_ID), "days": "1"}, is_form=True
    ),
    ("POST", "/share/revoke"): Route(ADMIN, is_form=True),
    ("POST", "/share/{link_id:uuid}/revoke"): Route(ADMIN, is_form=True),
    ("GET", "/keys"): Route(ADMIN),
    ("POST", "/keys"): Route(ADMIN, body={"name": "another", "scope": "read"}, is_form=True),
    ("POST", "/keys/revoke"): Route(ADMIN, 422, body={"name": "admin", "team": "default"}, is_form=True),
    ("GET", "/webhooks"): Route(ADMIN),
    ("POST", "/webhooks"): Route(ADMIN, body={"url": ""}, is_form=True),
    ("GET", "/webhooks/{webhook_id}"): Route(ADMIN, 404),
    ("POST", "/webhooks/{webhook_id}/{action}"): Route(ADMIN, 422, is_form=True),
    ("POST", "/webhooks/{webhook_id}/deliveries/{delivery_id}/replay"): Route(ADMIN, 422, is_form=True),
    ("GET", "/audit"): Route(ADMIN),
    ("GET", "/guide"): Route(READ),
    ("GET", "/guide/{name}"): Route(READ),
    ("GET", "/clusters/{name:path}"): Route(READ, 404),
    ("GET", "/pictures/cluster-map.{file_type}"): Route(READ, 404, query={"cluster": CLUSTER}),
    ("GET", "/pictures/cluster-history.{suffix}"): Route(READ, 200, query={"cluster": CLUSTER}),
}


def routes_of(router: Any, prefix: str = "") -> Iterator[tuple[str, str]]:
    """The method and path of every route, also of routers within routers."""
    for route in router.routes:
        if hasattr(route, "original_router"):
            yield from routes_of(route.original_router, prefix + route.include_context.prefix)
        elif hasattr(route, "routes"):
            yield from routes_of(route, prefix + route.path)
        else:
            yield from ((method, prefix + route.path) for method in route.methods - {"HEAD"})


@pytest.fixture(scope="module")
def provider() -> Iterator[Provider]:
    """An OIDC issuer whose tokens the application takes."""
    with issuer.running() as running:
        yield running


@pytest.fixture(scope="module")
def app(rows: databases.Rows, provider: Provider) -> Iterator[FastAPI]:
    """The application without a server; browsers may sign in, too."""
    url = rows.database.url.render_as_string(hide_password=False)
    made = create_app(
        Settings(
            database_url=url,
            log_level="error",
            webhooks=True,
            solver_processes=0,
            oidc_issuer=provider.url,
            oidc_audience=issuer.AUDIENCE,
            oidc_client_id=issuer.CLIENT,
            public_url="http://localhost",
        )
    )
    made.state.routers.build_all()
    yield made
    made.state.audit.close()
    made.state.readiness.close()
    made.state.database.close()


def address(path: str) -> str:
    """The path of a route with the ids of the documentation's examples, which belong to the team `default`."""
    for name, value in NAMED.items():
        path = path.replace("{" + name + "}", str(value))
    assert "{" not in path, path
    return path


class Caller:
    """Sends requests to routes, with credentials or without."""

    def __init__(self, app: FastAPI) -> None:
        self._app = app

    def all(self, wanted: list[tuple[str, str]], secret: str | None) -> dict[tuple[str, str], httpx.Response]:
        """The answer of each route."""
        return asyncio.run(self._all(wanted, secret))

    async def _all(self, wanted: list[tuple[str, str]], secret: str | None) -> dict[tuple[str, str], httpx.Response]:
        headers = {} if secret is None else {"Authorization": f"Bearer {secret}"}
        transport = httpx.ASGITransport(self._app)
        async with httpx.AsyncClient(transport=transport, base_url="http://localhost", headers=headers) as client:
            answers = {}
            for method, path in wanted:
                route = ROUTES[method, path]
                body = {"data": route.body or {"x": ""}} if route.is_form else {"json": route.body}
                sent = body if method in ("POST", "PATCH") else {}
                answers[method, path] = await client.request(method, address(path), params=route.query, **sent)
                # Only signing in begins a session, and no other request has one that another origin could ride on.
                assert path.startswith("/sign-") or "set-cookie" not in answers[method, path].headers
            return answers


@pytest.fixture
def caller(app: FastAPI) -> Caller:
    return Caller(app)


@pytest.fixture
def examples(rows: databases.Rows) -> Database:
    """The database of the run, with the documentation's examples and a share link."""
    rows.reset(examples=True)
    with rows.database.begin() as uow:
        expires_at = datetime.now(UTC) + timedelta(days=1)
        uow.share_links.create("cluster", CLUSTER, team="default", expires_at=expires_at, link_id=EXAMPLE_SHARE_LINK_ID)
    return rows.database


def key(database: Database, scope: str, *, team: str = "default", name: str = "", valid_for_s: int = 60) -> str:
    expires_at = datetime.now(UTC) + timedelta(seconds=valid_for_s)
    with database.begin() as uow:
        return uow.api_keys.create(name or scope, [scope], team=team, expires_at=expires_at)[1]


OPEN_ROUTES = [each for each, route in ROUTES.items() if route.scope is OPEN]
SIGN_IN = {("GET", "/sign-in"): 303, ("GET", "/sign-in/callback"): 403}
"""The statuses of those open routes that take part in a sign-in."""
CLOSED_ROUTES = [each for each, route in ROUTES.items() if route.scope is not OPEN]


def test_every_route_is_in_the_table(app: FastAPI) -> None:
    found = list(routes_of(app.router))
    assert sorted(found) == sorted(ROUTES), "list new routes with what they need"
    assert len(found) == len(set(found))


def check_open_routes(caller: Caller, secret: str | None) -> None:
    for each, answer in caller.all(OPEN_ROUTES, secret).items():
        assert answer.status_code in (SIGN_IN.get(each, 200), 503), each


@pytest.mark.long
@pytest.mark.parametrize("changed", [{"aud": "another-service"}, {"exp": 1}, {"iss": "https://elsewhere.example"}])
def test_with_a_token_that_is_not_for_the_service(
    caller: Caller, provider: Provider, examples: Database, changed: dict[str, Any]
) -> None:
    """401 that names the claim, as for a key that is not valid."""
    key(examples, "admin")
    token = provider.token(**changed)
    rejected = caller.all(CLOSED_ROUTES, token)
    assert {each: (answer.status_code, answer.json()["code"]) for each, answer in rejected.items()} == dict.fromkeys(
        CLOSED_ROUTES, (401, "token_rejected")
    )
    assert {answer.json()["check"] for answer in rejected.values()} == set(changed)
    check_open_routes(caller, token)


@pytest.mark.parametrize("claims", [{"team": None}, {"roles": None}, {"team": "*"}, {"roles": ["root"]}])
def test_with_a_token_that_gives_nothing(
    caller: Caller, provider: Provider, examples: Database, claims: dict[str, Any]
) -> None:
    """403 for every route: without a team or a scope a token may do nothing."""
    key(examples, "admin")
    rejected = caller.all(CLOSED_ROUTES, provider.token(**claims))
    assert {each: answer.status_code for each, answer in rejected.items()} == dict.fromkeys(CLOSED_ROUTES, 403)


@pytest.mark.long
@pytest.mark.parametrize("credentials", ["none", "garbage", "revoked", "expired"])
def test_without_a_valid_key(caller: Caller, examples: Database, credentials: str) -> None:
    """401 for every route but those that are open to all, whatever the request is otherwise."""
    key(examples, "admin")
    secrets = {
        "none": None,
        "garbage": "rackplan_" + "x" * 43,
        "revoked": key(examples, "admin", name="revoked"),
        "expired": key(examples, "admin", name="expired", valid_for_s=-1),
    }
    with examples.begin() as uow:
        uow.api_keys.revoke("revoked")
    code = "api_key_expired" if credentials == "expired" else "unauthenticated"
    rejected = caller.all(CLOSED_ROUTES, secrets[credentials])
    assert {each: (answer.status_code, answer.json()["code"]) for each, answer in rejected.items()} == dict.fromkeys(
        CLOSED_ROUTES, (401, code)
    )
    check_open_routes(caller, secrets[credentials])


@pytest.mark.parametrize("granted", list(Scope))
@pytest.mark.parametrize("by", ["key", "token"])
def test_with_too_low_a_scope(caller: Caller, provider: Provider, examples: Database, granted: Scope, by: str) -> None:
    """403 for every route that needs a higher scope."""
    order = list(Scope)
    beyond = [each for each in CLOSED_ROUTES if order.index(ROUTES[each].scope or READ) > order.index(granted)]
    secret = key(examples, granted) if by == "key" else provider.token(roles=[granted])
    rejected = caller.all(beyond, secret)
    assert {each: answer.status_code for each, answer in rejected.items()} == dict.fromkeys(beyond, 403)


@pytest.mark.long
@pytest.mark.parametrize("by", ["key", "token"])
def test_what_another_team_has(caller: Caller, provider: Provider, examples: Database, by: str) -> None:
    """As if it did not exist: 404, never 403; and nothing of it in the answer."""
    key(examples, "admin")
    theirs = key(examples, "admin", team="others", name="theirs") if by == "key" else provider.token(team="others")
    named = {each: route.of_other for each, route in ROUTES.items() if route.of_other is not None}
    assert {each: answer.status_code for each, answer in caller.all(list(named), theirs).items()} == named
    reading = [each for each in CLOSED_ROUTES if each not in named and each[0] == "GET"]
    for each, answer in caller.all(reading, theirs).items():
        assert answer.status_code in (200, 303, 404), each
        assert f'href="/clusters/{CLUSTER}' not in answer.text, each
        if each[1].startswith("/v1/audit"):  # has this key's own actions
            assert '"team":"default"' not in answer.text
        else:
            assert not each[1].startswith("/v1/") or answer.json().get("items", []) == [], each
    changing = [each for each in CLOSED_ROUTES if each not in named and each[0] != "GET"]
    expected = {200, 201, 202, 204, 303, 422}  # 204: the keys of links are of a team
    others = {each: answer.status_code for each, answer in caller.all(changing, theirs).items()}
    assert {each: status for each, status in others.items() if status not in expected} == {}
    with examples.begin() as uow:
        assert uow.plans.get(EXAMPLE_REASSIGNMENT_PLAN_ID).revision == 0
        assert uow.webhooks.get(EXAMPLE_WEBHOOK_ID).id == EXAMPLE_WEBHOOK_ID
        assert uow.sweeps.get(EXAMPLE_SWEEP_ID).state == "succeeded"
        assert uow.share_links.is_stored(EXAMPLE_SHARE_LINK_ID)
        assert next(each for each in uow.api_keys.all() if each.name == "admin").revoked_at is None
