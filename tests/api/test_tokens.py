"""Access tokens at operations: read before the body, beside API keys, for the teams and scopes of their claims."""

import asyncio
from collections.abc import AsyncIterator, Iterator
from typing import Any

import httpx
import pytest
import sqlalchemy as sa
from fastapi import FastAPI
from hypothesis import given
from hypothesis import strategies as st

from app.api.examples import PLACE
from app.api.slots import scopes
from app.errors.access import Forbidden, IssuerUnavailable, TokenRejected
from app.errors.requests import InvalidField
from app.main import create_app
from app.services import api_keys, callers
from app.services.api_keys import Scope
from app.services.callers import Caller
from app.services.oidc.options import OidcOptions
from app.services.oidc.tokens import caller_of
from app.settings import Settings
from app.store import transaction
from tests import databases, issuer
from tests.issuer import Provider

OPTIONS = OidcOptions(oidc_issuer="https://issuer.example", oidc_audience="x")
GIVEN = {"sub": "ada", "team": "payments", "roles": ["read"]}


@pytest.fixture(scope="module")
def provider() -> Iterator[Provider]:
    with issuer.running() as running:
        yield running


@pytest.fixture(scope="module")
def app(rows: databases.Rows, provider: Provider) -> Iterator[FastAPI]:
    """The application without a server, and without sign-in."""
    url = rows.database.url.render_as_string(hide_password=False)
    made = create_app(
        Settings(
            database_url=url,
            log_level="error",
            solver_processes=0,
            oidc_issuer=provider.url,
            oidc_audience=issuer.AUDIENCE,
        )
    )
    yield made
    made.state.readiness.close()
    made.state.database.close()


def sent(app: FastAPI, method: str, path: str, token: str | None, **request: Any) -> httpx.Response:
    async def send() -> httpx.Response:
        headers = {} if token is None else {"Authorization": f"Bearer {token}"}
        async with httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://localhost") as client:
            return await client.request(method, path, headers=headers | request.pop("headers", {}), **request)

    return asyncio.run(send())


@pytest.fixture(autouse=True)
def _rows(rows: databases.Rows, provider: Provider) -> None:
    rows.reset(examples=True)
    provider.answers_with = None


class TestTokens:
    """A token takes the place of a key."""

    def test_a_key_goes_on_beside_it(self, app: FastAPI, provider: Provider, rows: databases.Rows) -> None:
        with rows.database.begin() as uow:
            _, secret = uow.api_keys.create("one", ["read"])
        for credentials in (secret, provider.token()):
            assert sent(app, "GET", "/v1/plans", credentials).status_code == 200

    def test_without_a_key_the_service_is_not_open(self, app: FastAPI) -> None:
        for credentials in (None, "garbage", "rackplan_garbage"):
            assert sent(app, "GET", "/v1/plans", credentials).status_code == 401
            assert sent(app, "POST", "/v1/plans/replicas", credentials, json=PLACE).status_code == 401

    def test_it_is_verified_before_the_body_is_read(self, app: FastAPI, provider: Provider) -> None:
        async def body() -> AsyncIterator[bytes]:
            raise AssertionError("the body is read")
            yield b""

        for changed in ({"aud": "another"}, {"team": None}):
            token = provider.token(**changed)
            answer = sent(app, "POST", "/v1/plans/replicas", token, content=body(), headers={"Content-Length": "9"})
            assert answer.status_code in (401, 403)

    def test_a_rejection_says_why_and_repeats_nothing(self, app: FastAPI, provider: Provider) -> None:
        token = provider.token(aud="the-other-audience", sub="the-subject")
        answer = sent(app, "GET", "/v1/plans", token)
        assert (answer.status_code, answer.json()["code"], answer.json()["check"]) == (401, "token_rejected", "aud")
        assert answer.headers["www-authenticate"] == 'Bearer realm="rackplan", error="invalid_token"'
        assert not any(part in answer.text for part in (*token.split("."), "the-other-audience", "the-subject"))

    def test_an_issuer_that_does_not_answer(self, rows: databases.Rows) -> None:
        """503 with the time to try again: the token may be valid."""
        url = rows.database.url.render_as_string(hide_password=False)
        with issuer.running() as gone:
            stated = {"oidc_issuer": gone.url, "oidc_audience": issuer.AUDIENCE}
            app = create_app(Settings(database_url=url, log_level="error", solver_processes=0, **stated))  # type: ignore[arg-type] # by name
            token = gone.token()
        answer = sent(app, "GET", "/v1/plans", token)
        assert (answer.status_code, answer.json()["code"]) == (503, "issuer_unavailable")
        assert answer.headers["retry-after"] == "10"
        assert sent(app, "GET", "/problems", token).status_code == 200, "what is open to all does not look at it"
        app.state.readiness.close()
        app.state.database.close()

    def test_a_token_of_two_teams_states_one(self, app: FastAPI, provider: Provider) -> None:
        token = provider.token(team=["default", "payments"])
        answer = sent(app, "GET", "/v1/plans", token)
        assert (answer.status_code, "of the teams default, payments" in answer.json()["detail"]) == (403, True)
        for team, has_plans in (("default", True), ("payments", False)):
            answer = sent(app, "GET", "/v1/plans", token, headers={"Rackplan-Team": team})
            assert bool(answer.json()["items"]) == has_plans
        assert sent(app, "GET", "/v1/plans", token, headers={"Rackplan-Team": "others"}).status_code == 403

    def test_changes_have_the_name_of_the_subject(self, app: FastAPI, provider: Provider) -> None:
        listed = sent(app, "GET", "/v1/plans", provider.token()).json()["items"]
        plan = f"/v1/plans/{listed[0]['id']}"
        changed = sent(app, "PATCH", plan, provider.token(sub="grace"), json={"status": "approved"})
        assert changed.json()["history"][-1]["by"] == "oidc:grace"

    def test_the_audit_log_names_the_subject(self, app: FastAPI, provider: Provider) -> None:
        """Also of a request that is denied for want of a scope: each subject has an entry of its own."""
        assert sent(app, "POST", "/v1/plans/replicas", provider.token(), json=PLACE).status_code == 201
        for subject in ("grace", "edsger"):
            assert sent(app, "GET", "/v1/webhooks", provider.token(sub=subject, roles=["read"])).status_code == 403
        with app.state.database.engine.connect() as connection:
            rows = connection.execute(sa.text("SELECT actor, name, team, status FROM audit_entries ORDER BY id")).all()
        assert [tuple(row) for row in rows] == [
            ("token", "oidc:ada", "default", 201),
            ("token", "oidc:grace", "default", 403),
            ("token", "oidc:edsger", "default", 403),
        ]

    def test_no_key_has_the_name_of_a_subject(self, rows: databases.Rows) -> None:
        """Idempotent answers are stored by the name of the caller."""
        with rows.database.begin() as uow, pytest.raises(InvalidField, match="those of the OIDC issuer"):
            api_keys.create(uow, name="oidc:ada", scopes=["read"])

    @pytest.mark.parametrize("path", ["/v1/plans", "/plans"])
    def test_nothing_is_signed_in(self, app: FastAPI, path: str) -> None:
        """Without a client id there are no routes for signing in, and a browser has to send a key."""
        assert sent(app, "GET", "/sign-in", None).status_code == 404
        answer = sent(app, "GET", path, None, headers={"Accept": "text/html"})
        assert ("Basic" in answer.headers["www-authenticate"], "/sign-in" in answer.text) == (True, False)


def test_cookies_of_a_public_address_are_for_https_alone(rows: databases.Rows, provider: Provider) -> None:
    """And no other host of the domain can set a session's."""
    settings = Settings(
        database_url=rows.database.url.render_as_string(hide_password=False),
        log_level="error",
        solver_processes=0,
        oidc_issuer=provider.url,
        oidc_client_id=issuer.CLIENT,
        public_url="https://rackplan.example.org/",
    )
    app = create_app(settings)
    answer = sent(app, "GET", "/sign-in", None)
    app.state.readiness.close()
    app.state.database.close()
    assert "Secure" in answer.headers["set-cookie"]
    parameters = issuer.parameters_of(answer.headers["location"])
    assert parameters["redirect_uri"] == "https://rackplan.example.org/sign-in/callback"
    assert settings.oidc is not None
    assert settings.oidc.session_cookie == "__Host-rackplan-session"


class TestCrossing:
    """The listening process verifies, the slot serves."""

    @pytest.mark.parametrize(
        "found",
        [
            Caller("oidc:ada", "oidc:ada", ("a", "b"), ("read", "sweep"), "Ada"),
            TokenRejected("the token is rejected: it has expired", check="exp"),
            IssuerUnavailable("the issuer answers 500"),
            Forbidden("the token gives no team", claim="team"),
        ],
    )
    def test_a_caller_and_a_rejection_arrive_as_they_were(self, found: Any) -> None:
        head = {
            "type": "http",
            "method": "GET",
            "path": "/",
            "root_path": "",
            "scheme": "http",
            "http_version": "1.1",
            "query_string": b"",
            "headers": [],
            "state": {callers.STATE: callers.as_state(found)},
        }
        state = scopes.read_scope(scopes.written_scope(head))["state"]
        if isinstance(found, Caller):
            assert callers.of_state(state) == found
            return
        with pytest.raises(type(found)) as raised:
            callers.of_state(state)
        assert (raised.value.detail, raised.value.context) == (found.detail, found.context)

    def test_a_request_without_a_token(self) -> None:
        assert callers.of_state({}) is None
        assert callers.of_state({callers.STATE: None}) is None


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=9) | st.sampled_from(["payments", "read", "*", "a b"]),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)


class TestClaims:
    """Claims give teams and scopes, or nothing."""

    @given(VALUES, VALUES, VALUES)
    def test_any_claims_give_names_of_teams_and_scopes_or_nothing(self, team: Any, roles: Any, sub: Any) -> None:
        try:
            caller = caller_of({"sub": sub, "team": team, "roles": roles}, OPTIONS)
        except Forbidden:
            return
        assert caller.teams
        assert all(map(transaction.is_name, caller.teams)), "no value of a claim is all teams, unless it is mapped so"
        assert caller.scopes
        assert set(caller.scopes) <= set(Scope)
        assert caller.name == f"oidc:{sub}"

    @pytest.mark.parametrize(
        ("options", "claims", "expected"),
        [
            ({}, {}, (("payments",), ("read",))),
            ({}, {"roles": "read plan"}, (("payments",), ("read", "plan"))),
            ({}, {"team": ["b", "a", "b", "Not One", 7]}, (("b", "a"), ("read",))),
            ({"oidc_teams": {"g 1": "orders"}}, {"team": "g 1"}, (("orders",), ("read",))),
            ({"oidc_teams": {"ops": "*", "g": "a"}}, {"team": ["g", "ops"]}, (("*",), ("read",))),
            ({"oidc_scopes": {"planner": "sweep"}}, {"roles": ["planner", "admin"]}, (("payments",), ("sweep",))),
            (
                {"oidc_scopes_claim": "realm_access.roles"},
                {"realm_access": {"roles": ["admin"]}},
                (("payments",), ("admin",)),
            ),
            ({"oidc_team_claim": "https://a.example/team"}, {"https://a.example/team": "x"}, (("x",), ("read",))),
        ],
    )
    def test_what_they_give(self, options: dict[str, Any], claims: dict[str, Any], expected: object) -> None:
        caller = caller_of(GIVEN | claims, OidcOptions(**OPTIONS.model_dump() | options))
        assert (caller.teams, caller.scopes) == expected

    @pytest.mark.parametrize(
        ("options", "claims", "claim"),
        [
            ({}, {"team": None}, "team"),
            ({}, {"team": "*"}, "team"),
            ({}, {"team": "Payments"}, "team"),
            ({}, {"team": "x" * 64}, "team"),
            ({}, {"team": {"name": "payments"}}, "team"),
            ({"oidc_teams": {"other": "payments"}}, {}, "team"),
            ({}, {"roles": []}, "roles"),
            ({}, {"roles": ["READ"]}, "roles"),
            ({"oidc_scopes": {"planner": "plan"}}, {"roles": ["read"]}, "roles"),
            ({"oidc_name_claim": "email"}, {}, "email"),
            ({"oidc_name_claim": "email"}, {"email": "a\nb"}, "email"),
        ],
    )
    def test_what_gives_nothing(self, options: dict[str, Any], claims: dict[str, Any], claim: str) -> None:
        with pytest.raises(Forbidden) as raised:
            caller_of(GIVEN | claims, OidcOptions(**OPTIONS.model_dump() | options))
        assert raised.value.context["claim"] == claim
