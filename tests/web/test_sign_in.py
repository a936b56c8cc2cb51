"""Browsers sign in at a real issuer, by the authorization code flow with PKCE, and out again."""

import socket
from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Iterator
from dataclasses import dataclass
from threading import Thread
from typing import TYPE_CHECKING, Any
from urllib.parse import urljoin, urlsplit

import httpx
import orjson
import pytest
import sqlalchemy as sa
import uvicorn
from hypothesis import example, given
from hypothesis import strategies as st

from app.api.examples import EXAMPLE_REASSIGNMENT_PLAN_ID, PLACE
from app.main import create_app
from app.services.oidc.sign_in import local_path
from app.settings import Settings
from app.store.database import Database
from tests import databases, issuer
from tests.issuer import Provider, parameters_of
from tests.service import client_of

if TYPE_CHECKING:
    from playwright.sync_api import Browser as Chromium

HTML = {"Accept": "text/html"}
PLAN = f"/plans/{EXAMPLE_REASSIGNMENT_PLAN_ID}"


@dataclass
class Site:
    """A service at which browsers sign in, and its issuer."""

    address: str
    provider: Provider


@pytest.fixture(scope="module")
def running(rows: databases.Rows, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    """The application in a server. Its address has to be known before it is made: the issuer sends browsers there."""
    secret = tmp_path_factory.mktemp("oidc") / "secret"
    secret.write_text(issuer.SECRET + "\n")
    with issuer.running() as provider, socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        address = f"http://127.0.0.1:{listening.getsockname()[1]}"
        provider.redirects, provider.returns = {f"{address}/sign-in/callback"}, {f"{address}/sign-out"}
        app = create_app(
            Settings(
                database_url=rows.database.url.render_as_string(hide_password=False),
                log_level="error",
                solver_processes=0,
                oidc_issuer=provider.url,
                oidc_audience=issuer.AUDIENCE,
                oidc_client_id=issuer.CLIENT,
                oidc_client_secret_file=secret,
                oidc_teams={"everyone": "default", "/groups/payments": "payments", "operators": "*"},
                public_url=address,
            )
        )
        # Nothing is planned here, so that nothing has to be prepared.
        server = uvicorn.Server(uvicorn.Config(app, lifespan="off", log_config=None, access_log=False))
        thread = Thread(target=server.run, kwargs={"sockets": [listening]}, daemon=True)
        thread.start()
        while not server.started:
            assert thread.is_alive(), "the service did not start"
            thread.join(0.01)
        yield Site(address, provider)
        server.should_exit = True
        thread.join(20)
        app.state.readiness.close()
        app.state.database.close()


@pytest.fixture
def site(running: Site, rows: databases.Rows) -> Site:
    """The service over the documentation's examples; the issuer as it is at first."""
    rows.reset(examples=True)
    provider = running.provider
    provider.answers_with, provider.secret, provider.id_claims, provider.ended = None, issuer.SECRET, {}, []
    provider.users = {
        "ada": {"team": ["everyone", "else"], "roles": ["admin"], "name": "Ada"},
        "bob": {"team": "/groups/payments", "roles": ["read"]},
        "eve": {"team": ["nothing"], "roles": ["admin"]},
        "two": {"team": ["everyone", "/groups/payments"], "roles": ["plan"]},
    }
    return running


@pytest.fixture
def browser(site: Site) -> Iterator[httpx.Client]:
    with client_of(site.address) as client:
        yield client


def at_issuer(browser: httpx.Client, start: str, user: str) -> httpx.Response:
    """Begin a sign-in and log in at the issuer; the answer that sends the browser back."""
    begun = browser.get(start)
    assert begun.status_code == 303
    form = browser.get(begun.headers["location"])
    if form.status_code == 303:  # the issuer knows the browser
        return form
    assert "Log in" in form.text, form.text
    return browser.post(begun.headers["location"], data={"user": user})


def sign_in(browser: httpx.Client, user: str = "ada", start: str = "/sign-in") -> httpx.Response:
    return browser.get(at_issuer(browser, start, user).headers["location"], headers=HTML)


def cookies_of(answer: httpx.Response) -> dict[str, str]:
    return {line.partition("=")[0]: line for line in answer.headers.get_list("set-cookie")}


@pytest.mark.long
def test_the_whole_way_in_chromium(site: Site, chromium: "Chromium") -> None:
    """From a page that needs a caller to the issuer and back to this page; then out, here and at the issuer."""
    context = chromium.new_context()
    page = context.new_page()
    violations: list[str] = []
    page.on("console", lambda message: violations.append(message.text) if "Policy" in message.text else None)
    answer = page.goto(f"{site.address}{PLAN}?show=all")
    assert answer is not None
    assert answer.status == 401
    page.click("a.button:has-text('Sign in')")
    page.fill("input[name=user]", "ada")
    page.click("button")
    page.wait_for_url(f"{site.address}{PLAN}?show=all")
    assert page.inner_text(".signed-in bdi") == "ada"
    (cookie,) = (each for each in context.cookies() if each["name"] == "rackplan-session")
    assert (cookie["httpOnly"], cookie["sameSite"], cookie["path"]) == (True, "Lax", "/")
    assert page.evaluate("document.cookie") == ""
    exported = page.evaluate(f"fetch('/v1{PLAN}').then(answer => answer.status)")
    assert exported == 200, "files that pages link to are operations of the API"
    page.goto(f"{site.address}/keys")
    page.fill("#name", "made by ada")
    page.click("text=Create the key")
    page.wait_for_selector("#secret")
    page.click("text=Sign out")
    page.wait_for_url(f"{site.address}/sign-out")
    assert page.inner_text("h1") == "You are signed out"
    assert site.provider.ended == ["ada"]
    after = page.goto(site.address + PLAN)
    assert after is not None
    assert after.status == 401
    assert violations == []
    context.close()


class TestSignIn:
    """By requests, one by one."""

    def test_a_page_offers_it(self, browser: httpx.Client) -> None:
        """Without a challenge of HTTP Basic, for which a browser would show its dialog; the API has one."""
        answer = browser.get("/plans?page=2", headers=HTML)
        assert (answer.status_code, answer.headers["www-authenticate"]) == (401, 'Bearer realm="rackplan"')
        assert 'href="/sign-in?to=/plans%3Fpage%3D2"' in answer.text
        assert ("Sign in to see this page" in answer.text, "Authorization" in answer.text) == (True, False)
        by_key = browser.get("/use-key", headers=HTML)
        assert (by_key.status_code, "Basic" in by_key.headers["www-authenticate"]) == (401, True)
        assert "enter an API key as the password" in by_key.text
        revoked = browser.get("/use-key", headers=HTML, auth=("", "no such key"))
        assert "the API key is not valid" in revoked.text
        assert "Basic" in browser.get("/v1/plans").headers["www-authenticate"]

    def test_the_request_to_the_issuer(self, site: Site, browser: httpx.Client) -> None:
        begun = browser.get("/sign-in")
        parameters = parameters_of(begun.headers["location"])
        assert parameters["redirect_uri"] == f"{site.address}/sign-in/callback"
        assert (parameters["response_type"], parameters["code_challenge_method"]) == ("code", "S256")
        again = parameters_of(browser.get("/sign-in").headers["location"])
        for name in ("state", "nonce", "code_challenge"):
            assert len(parameters[name]) == 43
            assert parameters[name] != again[name]
        cookie = cookies_of(begun)["rackplan-sign-in"]
        assert all(part in cookie for part in ("HttpOnly", "SameSite=lax", "Path=/sign-in/callback", "Max-Age=600"))
        assert begun.headers["cache-control"] == "no-store"

    def test_a_session(self, browser: httpx.Client) -> None:
        answer = sign_in(browser, start=f"/sign-in?to={PLAN}")
        assert (answer.status_code, answer.headers["location"]) == (303, PLAN)
        cookie = cookies_of(answer)["rackplan-session"]
        assert all(part in cookie for part in ("HttpOnly", "SameSite=lax", "Path=/", "Max-Age=28800"))
        assert "Secure" not in cookie, "on loopback there is no https"
        assert "ada" in browser.get(PLAN, headers=HTML).text
        assert browser.get(f"/v1{PLAN}").status_code == 200

    def test_what_is_stored_cannot_be_sent(self, site: Site, browser: httpx.Client, rows: databases.Rows) -> None:
        sign_in(browser)
        secret = browser.cookies["rackplan-session"]
        with rows.database.engine.connect() as connection:
            stored = connection.execute(sa.text("SELECT secret_hash, caller FROM sessions")).one()
        assert secret not in str(stored)
        with client_of(site.address) as thief:
            thief.cookies.set("rackplan-session", stored[0])
            assert thief.get(PLAN).status_code == 401

    def test_a_key_goes_on_beside_it(self, browser: httpx.Client, rows: databases.Rows) -> None:
        with rows.database.begin() as uow:
            _, secret = uow.api_keys.create("read", ["read"])
        assert browser.get("/use-key?to=/plans", auth=("", secret)).headers["location"] == "/plans"
        assert browser.get("/use-key?to=//evil.example", auth=("", secret)).headers["location"] == "/"
        sign_in(browser, "bob")
        assert browser.get(PLAN).status_code == 404, "the team of the session does not have it"
        assert browser.get(PLAN, headers={"Authorization": f"Bearer {secret}"}).status_code == 200

    def test_scope_and_team_are_those_of_the_claims(self, browser: httpx.Client) -> None:
        sign_in(browser, "bob")
        assert browser.get("/v1/plans").json()["items"] == []
        assert browser.get("/keys").status_code == 403
        assert browser.get("/v1/plans", headers={"Rackplan-Team": "default"}).status_code == 403

    def test_claims_that_give_nothing(self, browser: httpx.Client) -> None:
        answer = sign_in(browser, "eve")
        assert (answer.status_code, "the token gives no team" in answer.text) == (403, True)
        assert "rackplan-session" not in browser.cookies

    def test_a_person_of_two_teams_chooses_one(self, browser: httpx.Client) -> None:
        answer = sign_in(browser, "two", f"/sign-in?to={PLAN}")
        assert "Choose a team" in answer.text
        assert "rackplan-session" not in browser.cookies
        chosen = sign_in(browser, "two", f"/sign-in?to={PLAN}&team=payments")
        assert (chosen.status_code, browser.get(PLAN).status_code) == (303, 404)
        sign_in(browser, "two", "/sign-in?team=default")
        assert browser.get(PLAN).status_code == 200
        assert "Choose a team" in sign_in(browser, "two", "/sign-in?team=operators").text

    def test_a_public_client(self, site: Site, browser: httpx.Client) -> None:
        """The code alone is worth nothing: the issuer wants the client's secret as well."""
        site.provider.secret = None
        assert sign_in(browser).status_code == 403


class TestEnd:
    """Reasons for rejecting a callback. No session begins, and the issuer's texts are not markup."""

    @pytest.fixture
    def back(self, browser: httpx.Client) -> str:
        """The address that a browser comes back to."""
        return at_issuer(browser, "/sign-in", "ada").headers["location"]

    def check(self, browser: httpx.Client, back: str, check: str) -> None:
        answer = browser.get(back)
        assert (answer.status_code, answer.json().get("check")) == (403, check)
        assert "rackplan-session" not in browser.cookies

    def test_another_state(self, browser: httpx.Client, back: str) -> None:
        self.check(browser, back.replace("state=", "state=x"), "state")

    def test_no_state(self, browser: httpx.Client, back: str) -> None:
        self.check(browser, back.replace("state=", "other="), "state")

    def test_another_browser(self, site: Site, back: str) -> None:
        """Whoever sends a victim the address of an own sign-in does not sign the victim in."""
        with client_of(site.address) as victim:
            self.check(victim, back, "cookie")
            victim.get("/sign-in")
            self.check(victim, back, "state")

    def test_another_issuer(self, browser: httpx.Client, back: str) -> None:
        self.check(browser, back.replace("iss=", "iss=x"), "iss")
        self.check(browser, back.replace("iss=", "not="), "iss")

    def test_another_code(self, browser: httpx.Client, back: str) -> None:
        self.check(browser, back.replace("code=", "code=x"), "code")

    def test_a_code_is_used_once(self, browser: httpx.Client, back: str) -> None:
        pending = browser.cookies["rackplan-sign-in"]
        assert browser.get(back).status_code == 303
        browser.cookies.clear()
        browser.cookies.set("rackplan-sign-in", pending)
        self.check(browser, back, "code")

    def test_the_issuer_says_no(self, browser: httpx.Client) -> None:
        answer = browser.get(at_issuer(browser, "/sign-in", "nobody").headers["location"], headers=HTML)
        assert answer.status_code == 403
        assert "access_denied: &lt;b&gt;nobody&lt;/b&gt; knows this name" in answer.text

    @pytest.mark.parametrize(
        ("check", "claims"),
        [
            ("nonce", {"nonce": "another"}),
            ("nonce", {"nonce": None}),
            ("aud", {"aud": issuer.AUDIENCE}),
            ("azp", {"aud": [issuer.CLIENT, "other"]}),
            ("azp", {"azp": "other"}),
            ("iss", {"iss": "https://elsewhere.example"}),
            ("exp", {"exp": 1}),
            ("iat", {"iat": None}),
            ("typ", {"header": {"typ": "at+jwt"}}),
        ],
    )
    def test_an_id_token_that_is_not_for_this(
        self, browser: httpx.Client, site: Site, back: str, check: str, claims: dict[str, Any]
    ) -> None:
        site.provider.id_claims = claims
        answer = browser.get(back)
        assert (answer.status_code, answer.json()["check"]) == (401, check)
        assert "rackplan-session" not in browser.cookies

    @pytest.mark.parametrize(
        "cookie", ["", "x", "é", "bnVsbA==", "e30=", urlsafe_b64encode(b'{"state": 1}').decode(), "x" * 3000]
    )
    def test_a_cookie_that_is_none(self, site: Site, back: str, cookie: str) -> None:
        with client_of(site.address) as other:
            answer = other.get(back, headers=[(b"Cookie", f"rackplan-sign-in={cookie}".encode())])
            assert (answer.status_code, answer.json()["check"]) == (403, "cookie")

    def test_a_sign_in_that_took_too_long(self, browser: httpx.Client, back: str) -> None:
        pending = orjson.loads(urlsafe_b64decode(browser.cookies["rackplan-sign-in"]))
        browser.cookies.clear()
        browser.cookies.set("rackplan-sign-in", urlsafe_b64encode(orjson.dumps(pending | {"expires": 1})).decode())
        self.check(browser, back, "expiry")

    def test_an_issuer_that_does_not_answer(self, browser: httpx.Client, site: Site, back: str) -> None:
        site.provider.answers_with = 503
        assert browser.get(back).status_code == 403


class TestSession:
    """Until it expires or the browser signs out."""

    def test_signing_out_ends_it_for_every_copy_of_the_cookie(self, site: Site, browser: httpx.Client) -> None:
        sign_in(browser)
        with client_of(site.address) as copy:
            copy.cookies.set("rackplan-session", browser.cookies["rackplan-session"])
            assert copy.get(PLAN).status_code == 200
            page = browser.post("/sign-out", headers={"Origin": site.address})
            assert "You are signed out" in page.text
            assert f'content="0;url={site.provider.url}/end-session?' in page.text
            assert "id_token_hint=" in page.text
            assert copy.get(PLAN).status_code == 401
        assert "rackplan-session" not in browser.cookies

    def test_the_audit_log_has_both(self, site: Site, browser: httpx.Client, rows: databases.Rows) -> None:
        sign_in(browser)
        browser.post("/sign-out", headers={"Origin": site.address})
        with rows.database.engine.connect() as connection:
            found = connection.execute(sa.text("SELECT actor, name, team, action FROM audit_entries ORDER BY id")).all()
        assert [tuple(row) for row in found] == [
            ("token", "oidc:ada", "default", action) for action in ("session.began", "POST /sign-out")
        ]

    def test_it_has_the_allowance_of_a_key(self, browser: httpx.Client) -> None:
        assert '"key"' not in browser.get(PLAN).headers.get("ratelimit-policy", "")
        sign_in(browser)
        assert '"key"' in browser.get(PLAN).headers["ratelimit-policy"]

    def test_it_expires(self, browser: httpx.Client, rows: databases.Rows) -> None:
        sign_in(browser)
        with rows.database.engine.begin() as connection:
            connection.execute(sa.text("UPDATE sessions SET expires_at = now()"))
        rejected = browser.get(PLAN, headers=HTML)
        assert rejected.status_code == 401
        assert "Sign in to see this page" in rejected.text
        assert f"/sign-in?to={PLAN}" in rejected.text
        sign_in(browser)
        with rows.database.engine.connect() as connection:
            assert connection.scalar(sa.text("SELECT count(*) FROM sessions")) == 1, "those that expired are deleted"

    @pytest.mark.parametrize("origin", [None, "http://evil.example", "null", "http://127.0.0.1:1"])
    def test_pages_of_others_change_nothing(self, site: Site, browser: httpx.Client, origin: str | None) -> None:
        """A browser may send the cookie with requests of other pages: each change needs the origin of the service."""
        sign_in(browser)
        headers = {} if origin is None else {"Origin": origin}
        for path, sent in (
            ("/keys", {"data": {"name": "x", "scope": "admin"}}),
            ("/v1/plans/replicas", {"json": PLACE}),
            ("/share/revoke", {"data": {}}),
        ):
            assert browser.post(path, headers=headers, **sent).status_code == 403
        assert browser.post("/share/revoke", headers={"Origin": site.address}).status_code == 303

    @pytest.mark.parametrize("cookie", ["", "x", "é", "x" * 4000])
    def test_a_cookie_that_is_none(self, browser: httpx.Client, cookie: str) -> None:
        answer = browser.get(PLAN, headers=[(b"Cookie", f"rackplan-session={cookie}".encode())])
        assert answer.status_code == 401

    def test_a_service_without_keys_is_not_open(self, browser: httpx.Client) -> None:
        for path in ("/", PLAN, "/v1/plans", f"/v1{PLAN}"):
            assert browser.get(path).status_code == 401


@given(st.text() | st.text(st.sampled_from("/\\.:@?#%\t\n evil")))
@example("//evil.example")
@example("/\\evil.example")
@example("/\t/evil.example")
@example("https://evil.example")
def test_no_path_leads_to_another_host(path: str) -> None:
    """Also not for browsers, which remove tabs and line ends and read a backslash as a slash."""
    to = local_path(path)
    as_browsers_read_it = "".join(c for c in to if c not in "\t\r\n").replace("\\", "/").strip()
    assert urlsplit(urljoin("https://rackplan.example/sign-in", as_browsers_read_it)).netloc == "rackplan.example"
    assert to in (path, "/")


def test_the_database_of_requests_has_no_sessions(rows: databases.Rows) -> None:
    """The role of requests is granted nothing of them."""
    database: Database = rows.database
    with database.engine.connect() as connection:
        granted = "SELECT has_table_privilege('rackplan_api', 'sessions', 'SELECT')"
        assert connection.scalar(sa.text(granted)) is False
