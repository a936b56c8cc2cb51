"""The pages of API keys and webhooks: access, changes, and secrets that are shown once."""

import re

import httpx
import pytest

from app.store.database import Database
from tests.web.browser import Browser

SECRET = re.compile(r'<pre id="secret"[^>]*><code>([^<]+)</code>')


def test_keys_are_created_used_and_revoked(client: httpx.Client, database: Database) -> None:
    """The first key closes the service, also for the page itself; a secret is on no later page."""
    assert "There is no key" in client.get("/keys").text
    rejection = client.post("/keys", data={"name": "first", "scope": "read"})
    assert (rejection.status_code, "the first key needs the scope admin" in rejection.text) == (422, True)
    made = client.post("/keys", data={"name": "first", "scope": "admin"})
    found = SECRET.search(made.text)
    assert found is not None
    assert made.headers["cache-control"] == "no-store"
    admin = ("", found[1])
    assert client.get("/keys").status_code == 401
    listed = client.get("/keys", auth=admin)
    assert found[1] not in listed.text
    assert "There is no key" not in listed.text
    reader = SECRET.search(client.post("/keys", data={"name": "Ada", "scope": "read"}, auth=admin).text)
    assert reader is not None
    for page in ("/keys", "/webhooks"):
        assert client.get(page, auth=("", reader[1])).status_code == 403
    assert client.get("/plans", auth=("", reader[1])).status_code == 200
    assert client.post("/keys/revoke", data={"name": "Ada"}, auth=("", reader[1])).status_code == 403
    assert client.post("/keys/revoke", data={"name": "Ada"}, auth=admin).status_code == 303
    assert client.get("/plans", auth=("", reader[1])).status_code == 401
    with database.begin() as uow:
        assert [(key.name, list(key.scopes), key.revoked_at is None) for key in uow.api_keys.all()] == [
            ("first", ["admin"], True),
            ("Ada", ["read"], False),
        ]


@pytest.mark.parametrize(
    ("days", "state"),
    [("1", "ends within a day"), ("2", "ends in 1 day"), ("14", "ends in 13 days"), ("15", "valid"), ("", "valid")],
)
def test_a_key_that_ends_within_two_weeks_says_so(client: httpx.Client, days: str, state: str) -> None:
    """Days are whole ones that remain, so that a key of two days, a moment later, ends in one."""
    made = SECRET.search(client.post("/keys", data={"name": "first", "scope": "admin", "days": days}).text)
    assert made is not None
    listed = client.get("/keys", auth=("", made[1])).text
    assert re.findall(r'<span class="pill (?:warning|good)">([^<]*)</span>', listed) == [state]


def test_a_name_in_the_audit_log_filters_it(client: httpx.Client) -> None:
    """The link of a name leads to the entries of that name alone, also if a URL has to escape it."""
    made = SECRET.search(client.post("/keys", data={"name": "first", "scope": "admin"}).text)
    assert made is not None
    first = ("", made[1])
    other = SECRET.search(client.post("/keys", data={"name": "R&D + ü", "scope": "admin"}, auth=first).text)
    assert other is not None
    client.post("/keys", data={"name": "third", "scope": "read"}, auth=("", other[1]))
    names = re.compile(r'href="(/audit\?name=[^"]*)"><bdi>([^<]*)</bdi>')
    links = {name: address for address, name in names.findall(client.get("/audit", auth=first).text)}
    assert set(links) == {"first", "R&amp;D + ü"}
    for name, address in links.items():
        found = names.findall(client.get(address, auth=first).text)
        assert found
        assert {by for _, by in found} == {name}


@pytest.mark.parametrize(
    ("typed", "words"),
    [
        ({"name": "", "scope": "admin"}, "1 to 100 printable characters"),
        ({"name": "a\nb", "scope": "admin"}, "1 to 100 printable characters"),
        ({"name": "x" * 101, "scope": "admin"}, "1 to 100 printable characters"),
        ({"name": "x", "scope": "root"}, "the scopes are read, plan, sweep, admin"),
        ({"name": "x", "scope": "admin", "days": "0"}, "no number of days from 1 to 3650"),
        ({"name": "x", "scope": "admin", "days": "3651"}, "no number of days from 1 to 3650"),
        ({"name": "x", "scope": "admin", "days": "１"}, "no number of days from 1 to 3650"),
        ({"name": "x"}, "the scopes are read, plan, sweep, admin"),
    ],
)
def test_keys_that_are_not_created(browser: Browser, typed: dict[str, str], words: str) -> None:
    page = browser.post("/keys", typed)
    assert page.status == 422
    assert words in page.text


def test_a_key_of_the_same_name_or_of_no_name_changes_nothing(browser: Browser) -> None:
    assert browser.post("/keys", {"name": "<b>one</b>", "scope": "admin"}).status == 200
    assert (
        "there is a key named <b>one</b> already"
        in browser.post("/keys", {"name": "<b>one</b>", "scope": "admin"}).text
    )
    assert "there is no key named two" in browser.post("/keys/revoke", {"name": "two"}).text


def test_a_page_of_another_origin_creates_no_key(client: httpx.Client) -> None:
    for path, data in (("/keys", {"name": "x", "scope": "admin"}), ("/share/revoke", {}), ("/webhooks", {"url": "x"})):
        assert client.post(path, data=data, headers={"Origin": "http://evil.example"}).status_code == 403
    assert "There is no key" in client.get("/keys").text


def test_webhooks_are_created_tried_and_deleted(client: httpx.Client, database: Database) -> None:
    made = client.post("/webhooks", data={"url": "https://192.0.2.1/hook", "events": ["plan.created", "job.ended"]})
    assert made.status_code == 422  # an address for documentation, which is not public
    made = client.post("/webhooks", data={"url": "https://1.1.1.1/hook", "events": ["plan.created"]})
    secret = SECRET.search(made.text)
    assert secret is not None
    assert secret[1].startswith("whsec_")
    with database.begin() as uow:
        hook = next(each for each in uow.webhooks.page(before=None, size=9).items if each.url.startswith("https://1.1"))
    assert hook.secret == secret[1]
    listed = client.get("/webhooks").text
    assert "https://1.1.1.1/hook" in listed
    assert secret[1] not in listed
    assert client.post(f"/webhooks/{hook.id}/test").status_code == 303
    assert "pending" in client.get("/webhooks").text
    assert client.post(f"/webhooks/{hook.id}/explode").status_code == 422
    assert client.post(f"/webhooks/{hook.id}/delete").status_code == 303
    assert client.post(f"/webhooks/{hook.id}/delete").status_code == 422
    assert "https://1.1.1.1/hook" not in client.get("/webhooks").text


@pytest.mark.parametrize(
    "typed",
    [
        {"url": "", "events": ["plan.created"]},
        {"url": "javascript:alert(1)", "events": ["plan.created"]},
        {"url": "http://127.0.0.1/", "events": ["plan.created"]},
        {"url": "https://1.1.1.1/", "events": []},
        {"url": "https://1.1.1.1/", "events": ["plan.destroyed"]},
    ],
)
def test_webhooks_that_are_not_created(client: httpx.Client, typed: dict[str, object]) -> None:
    answer = client.post("/webhooks", data=typed)
    assert answer.status_code == 422
    assert "Nothing was changed" in answer.text


def test_webhooks_that_the_operator_does_not_allow(browser: Browser) -> None:
    text = browser.get("/webhooks").text
    assert "RACKPLAN_WEBHOOKS=yes" in text
    assert "Create a webhook" not in text
    rejection = browser.post("/webhooks", {"url": "https://1.1.1.1/", "events": "plan.created"})
    assert (rejection.status, "calls no URL" in rejection.text) == (422, True)
