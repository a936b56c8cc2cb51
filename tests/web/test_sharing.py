"""Share links: one page or picture without a key, until they expire or are revoked."""

import hmac
import re
from base64 import urlsafe_b64encode
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from html import unescape
from itertools import product
from urllib.parse import urlsplit
from uuid import UUID, uuid4

import httpx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.api.examples import EXAMPLE_PLAN_ID, EXAMPLE_REASSIGNMENT_PLAN_ID, EXAMPLE_SWEEP_ID
from app.errors.access import ShareLinkRejected
from app.services import share_links
from app.services.share_links import Granted, Subject
from app.store.api_keys import ShareLink
from app.store.database import Database, UnitOfWork
from app.store.transaction import uuid7
from tests.api.contract import UNKNOWN_ID
from tests.web.browser import Browser
from tests.web.test_clusters import keep, small


class Unkept:
    """A unit of work with a key and links of which none is revoked, and nothing else."""

    def __init__(self) -> None:
        self.installation_keys = self.share_links = self
        self.key = b"k" * 32
        self.ahead = timedelta()

    def of(self, _: str) -> bytes:
        return self.key

    def is_stored(self, _: UUID) -> bool:
        return True

    def is_past(self, moment: datetime) -> bool:
        return moment <= datetime.now(UTC) + self.ahead


def signed(uow: UnitOfWork, subject: Subject, granted: Granted, *, days: int = 1) -> str:
    """The signed part of a new link."""
    now = datetime.now(UTC)
    link = ShareLink(uuid7(), "default", subject.kind, subject.name, None, now, now + timedelta(days=days))
    return share_links.make(share_links.signing_key(uow), subject, granted, link)


subjects = st.builds(Subject, st.sampled_from(["plan", "sweep", "cluster"]), st.text(max_size=20))
grants: st.SearchStrategy[Granted] = st.sampled_from(["page", "picture"])


@given(subject=subjects, granted=grants, wanted=grants, days=st.integers(1, 365))
def test_a_link_opens_what_it_was_made_for(subject: Subject, granted: Granted, wanted: Granted, days: int) -> None:
    """A link to a page opens its pictures, too; one to a picture does not open its page."""
    uow: UnitOfWork = Unkept()  # type: ignore[assignment] # all that links need of it
    token = signed(uow, subject, granted, days=days)
    if (granted, wanted) == ("picture", "page"):
        with pytest.raises(ShareLinkRejected, match="picture alone"):
            share_links.verify(uow, subject, wanted, token)
    else:
        left = share_links.verify(uow, subject, wanted, token) - datetime.now(UTC)
        assert timedelta(days=days, minutes=-1) < left <= timedelta(days=days)


@given(one=subjects, other=subjects, granted=grants)
def test_a_link_opens_nothing_else(one: Subject, other: Subject, granted: Granted) -> None:
    uow: UnitOfWork = Unkept()  # type: ignore[assignment] # all that links need of it
    token = signed(uow, one, granted, days=1)
    if one != other:
        with pytest.raises(ShareLinkRejected, match="for another page"):
            share_links.verify(uow, other, granted, token)


@given(data=st.data())
def test_no_character_of_a_link_can_be_changed(data: st.DataObject) -> None:
    uow: UnitOfWork = Unkept()  # type: ignore[assignment] # all that links need of it
    subject = Subject("plan", "p")
    token = signed(uow, subject, "page", days=1)
    place = data.draw(st.integers(0, len(token) - 1))
    changed = token[:place] + data.draw(st.text(max_size=2)) + token[place + 1 :]
    if changed != token:
        with pytest.raises(ShareLinkRejected):
            share_links.verify(uow, subject, "page", changed)


def test_a_link_expires() -> None:
    unkept = Unkept()
    uow: UnitOfWork = unkept  # type: ignore[assignment] # all that links need of it
    subject = Subject("plan", "p")
    token = signed(uow, subject, "page", days=1)
    unkept.ahead = timedelta(days=1, seconds=1)
    with pytest.raises(ShareLinkRejected, match="expired at"):
        share_links.verify(uow, subject, "page", token)


def test_the_key_is_made_once_and_replaced_on_request(database: Database) -> None:
    with database.begin() as one:
        first = one.installation_keys.of("share links")
    with database.begin() as two:
        assert two.installation_keys.of("share links") == first
        assert two.installation_keys.of("another purpose") != first
        share_links.revoke_all(two)
    with database.begin() as three:
        assert three.installation_keys.of("share links") not in (first, b"")


def links(client: httpx.Client, kind: str, name: str, **request: object) -> list[str]:
    """Paths of the page, of the page in a frame and of the picture, as the page that shares them states them."""
    answer = client.post("/share", data={"kind": kind, "name": name, "days": "7"}, **request)  # type: ignore[arg-type]
    assert answer.status_code == 200
    shown = [
        unescape(block) for block in re.findall(r'<pre id="(?:link|frame|image)".*?</pre>', answer.text, re.DOTALL)
    ]
    urls = [re.search(r"http://[^\s\"<]+", block) for block in shown]
    return [url[0].removeprefix(f"http://{urlsplit(url[0]).netloc}") for url in urls if url]


@pytest.mark.long
def test_links_take_the_place_of_a_key(client: httpx.Client, database: Database) -> None:
    """With keys, only the link's resource is open: its page, its pictures, its states; until all links are revoked."""
    keep(database, small())
    with database.begin() as uow:
        _, planner = uow.api_keys.create("planner", ["plan"])
        _, admin = uow.api_keys.create("admin", ["admin"])
    shared = {
        kind: links(client, kind, name, auth=("", planner))
        for kind, name in (
            ("plan", str(EXAMPLE_REASSIGNMENT_PLAN_ID)),
            ("sweep", str(EXAMPLE_SWEEP_ID)),
            ("cluster", "small"),
        )
    }
    for page, frame, picture in shared.values():
        for address in (page, frame, picture, picture.replace(".svg", ".png") + "&theme=dark"):
            assert client.get(address).status_code == 200, address
            assert client.get(address.replace("share=", "x=")).status_code == 401
        token = page.partition("share=")[2]
        text = client.get(page).text
        assert "A shared page of Rackplan, read only" in text
        assert '<form method="post"' not in text
        assert 'aria-label="Main"' not in text
        # The page's own addresses, with the link that it was opened by.
        for address in re.findall(r'(?:src|data-chart)="(/pictures/[^"]*)"', text):
            assert client.get(unescape(address)).status_code == 200
            assert token in address
        # No link leads to a page that needs a key.
        for address in re.findall(r'<a [^>]*href="(/[^"]*)"', text):
            assert client.get(unescape(address)).status_code == 200, address
    for one, other in product(shared, shared):
        stolen = shared[one][0].partition("?")[0] + "?share=" + shared[other][0].partition("share=")[2]
        assert client.get(stolen).status_code == (200 if one == other else 403)
    token = shared["cluster"][0].partition("share=")[2]
    assert client.get(f"/clusters/small?measure=leaders&lose=rack:a&share={token}").status_code == 200
    for elsewhere in ("/", "/plans", "/keys", "/guide", f"/pictures/plan.svg?plan={uuid4()}"):
        rejection = client.get(elsewhere, params={"share": token})
        assert rejection.status_code == 403
        assert "The share link is not valid" in rejection.text
    plan = shared["plan"][0]
    status = client.post(plan.replace("?", "/status?"), data={"status": "approved", "revision": "0"})
    assert status.status_code == 401
    assert client.get("/v1/plans", params={"share": token}).status_code in (401, 422)
    assert client.post("/share/revoke", auth=("", planner)).status_code == 403
    assert client.get(plan).status_code == 200
    assert client.post("/share/revoke", auth=("", admin)).status_code == 303
    assert client.get(plan).status_code == 403


@pytest.mark.parametrize(
    "typed",
    [
        {"kind": "job", "name": "x", "days": "1"},
        {"kind": "plan", "name": "compare", "days": "1"},
        {"kind": "plan", "name": "x", "days": "0"},
        {"kind": "plan", "name": "x", "days": "366"},
        {"kind": "plan", "days": "1"},
        {"kind": "plan", "name": "x" * 301, "days": "1"},
    ],
)
def test_what_cannot_be_shared(browser: Browser, typed: dict[str, str]) -> None:
    assert browser.ask("POST", "/share", data=typed).status_code == 422


@pytest.mark.parametrize(("kind", "name"), [("plan", UNKNOWN_ID), ("sweep", UNKNOWN_ID), ("cluster", "no-such")])
def test_what_does_not_exist_is_not_shared(client: httpx.Client, database: Database, kind: str, name: str) -> None:
    answer = client.post("/share", data={"kind": kind, "name": name, "days": "7"})
    assert answer.status_code == 404
    with database.begin() as uow:
        assert not uow.share_links.valid(before=None, size=10).items


def test_changes_are_recorded_under_the_name_of_the_key(client: httpx.Client, database: Database) -> None:
    plan = f"/plans/{EXAMPLE_REASSIGNMENT_PLAN_ID}"
    assert client.post(f"{plan}/status", data={"status": "approved", "revision": "0"}).status_code == 303
    with database.begin() as uow:
        _, secret = uow.api_keys.create("Ada", ["plan"])
    client.post(f"{plan}/status", data={"status": "executing", "revision": "1"}, auth=("anything", secret))
    history = client.get(f"/v1{plan}", auth=("", secret)).json()["history"]
    assert [change["by"] for change in history] == ["console", "Ada"]


def test_a_link_opens_the_files_of_its_plan(client: httpx.Client, database: Database) -> None:
    """Every file that the shared page links to, with the bytes and the name of the API's; none of another plan."""
    with database.begin() as uow:
        _, planner = uow.api_keys.create("planner", ["plan"])
    key = {"Authorization": f"Bearer {planner}"}
    body = {"kind": "plan", "name": str(EXAMPLE_REASSIGNMENT_PLAN_ID), "days": 2}
    made = client.post("/v1/share-links", json=body, headers=key).json()
    assert client.get(made["page"]).status_code == 200
    page = client.get(made["page"].replace("?", "/execute?", 1))
    assert page.status_code == 200
    token = made["page"].partition("share=")[2]
    files = {
        unescape(address) for address in re.findall(r'href="(/plans/[^"]*/(?:export|plan\.json)[^"]*)"', page.text)
    }
    assert len(files) >= 9
    for address in files:
        shared = client.get(address)
        own = client.get("/v1" + address.partition("/plan.json")[0].replace(f"&share={token}", ""), headers=key)
        assert shared.status_code == own.status_code == 200, address
        assert shared.content == own.content
        assert shared.headers.get("content-disposition") == own.headers.get("content-disposition")
        assert client.get(address.replace("share=", "x=")).status_code == 401
        assert client.get(address.replace(str(EXAMPLE_REASSIGNMENT_PLAN_ID), str(EXAMPLE_PLAN_ID))).status_code == 403
    assert f'href="/v1/plans/{EXAMPLE_REASSIGNMENT_PLAN_ID}"' not in page.text


def test_links_are_made_and_revoked_by_the_api(client: httpx.Client, database: Database) -> None:
    """A link to a missing resource is not made; making one needs the scope plan, revoking all of them admin."""
    keep(database, small())
    with database.begin() as uow:
        secrets = {scope: uow.api_keys.create(scope, [scope])[1] for scope in ("read", "plan", "admin")}
    keys = {scope: {"Authorization": f"Bearer {secret}"} for scope, secret in secrets.items()}
    cluster = {"kind": "cluster", "name": "small"}
    assert client.post("/v1/share-links", json=cluster, headers=keys["read"]).status_code == 403
    made = client.post("/v1/share-links", json=cluster, headers=keys["plan"])
    assert made.status_code == 201
    left = datetime.fromisoformat(made.json()["expires_at"]) - datetime.now(UTC)
    assert timedelta(days=6, hours=23) < left <= timedelta(days=7)
    assert client.get(made.json()["page"]).status_code == 200
    assert client.get(made.json()["picture"]).headers["content-type"] == "image/svg+xml"
    for wrong, status, code in (
        ({"kind": "plan", "name": str(uuid4())}, 404, "plan_not_found"),
        ({"kind": "plan", "name": "compare"}, 404, "plan_not_found"),
        ({"kind": "plan", "name": str(EXAMPLE_PLAN_ID).upper()}, 404, "plan_not_found"),
        ({"kind": "sweep", "name": str(EXAMPLE_PLAN_ID)}, 404, "sweep_not_found"),
        ({"kind": "cluster", "name": "x"}, 404, "snapshot_not_found"),
        ({"kind": "job", "name": "x"}, 422, "validation"),
        ({**cluster, "days": 0}, 422, "validation"),
        ({**cluster, "days": 366}, 422, "validation"),
        ({**cluster, "minutes": 5}, 422, "validation"),
    ):
        answer = client.post("/v1/share-links", json=wrong, headers=keys["plan"])
        assert (answer.status_code, answer.json()["code"]) == (status, code), wrong
    assert client.delete("/v1/share-links", headers=keys["plan"]).status_code == 403
    assert client.delete("/v1/share-links", headers=keys["admin"]).status_code == 204
    assert client.get(made.json()["page"]).status_code == 403


def test_a_link_opens_the_files_of_its_sweep_and_its_snapshots(client: httpx.Client, database: Database) -> None:
    """Scenarios in every format, as the API writes them, the definition, and a snapshot as a request that stores it."""
    keep(database, small())
    with database.begin() as uow:
        _, planner = uow.api_keys.create("planner", ["plan"])
    key = {"Authorization": f"Bearer {planner}"}
    paths = {}
    for kind, name in (("sweep", str(EXAMPLE_SWEEP_ID)), ("cluster", "small")):
        paths[kind] = client.post("/v1/share-links", json={"kind": kind, "name": name}, headers=key).json()["page"]
    tabs = ("tab=scenarios&sort=headroom&descending=1", "tab=about")
    page = "".join(client.get(f"{paths['sweep']}&{tab}").text for tab in tabs)
    files = [
        unescape(address) for address in re.findall(r'href="(/sweeps/[^"]*/(?:scenarios|definition)\.[^"]*)"', page)
    ]
    assert len(files) == 4
    own = f"/v1/sweeps/{EXAMPLE_SWEEP_ID}/scenarios?sort=headroom&descending=true"
    for address in files:
        shared = client.get(address)
        assert shared.status_code == 200, address
        assert shared.headers["content-disposition"].startswith("attachment; ")
        if "/scenarios." in address:
            accept = {"Accept": shared.headers["content-type"].partition(";")[0]}
            assert client.get(own, headers=key | accept).content == shared.content
        assert client.get(address.replace("share=", "x=")).status_code == 401
        assert client.get(address.replace(str(EXAMPLE_SWEEP_ID), str(uuid4()))).status_code == 403
    rooms = {
        room: client.get(paths["cluster"].replace("/small", f"/small/{room}"))
        for room in ("brokers", "topics", "groups", "what-if", "history", "plans", "capacity")
    }
    assert [name for name, room in rooms.items() if room.status_code == 403] == ["plans", "capacity"]
    assert {room.status_code for room in rooms.values()} == {200, 403}
    page_of_cluster = rooms["history"].text
    [snapshot] = re.findall(r'href="(/clusters/small\?snapshot=[^"]*file=json[^"]*)"', page_of_cluster)
    document = client.get(unescape(snapshot))
    again = client.post("/v1/snapshots", json=document.json(), headers=key)
    assert (again.status_code, again.json()["id"] in snapshot) == (201, True)
    for text in (page, page_of_cluster):
        assert 'href="/v1/' not in text


def keys_of(database: Database, team: str = "default") -> tuple[dict[str, str], dict[str, str]]:
    """Headers of a key that plans, and of an administrator's, of a team."""
    with database.begin() as uow:
        made = [uow.api_keys.create(scope, [scope], team=team)[1] for scope in ("plan", "admin")]
    planner, admin = ({"Authorization": f"Bearer {secret}"} for secret in made)
    return planner, admin


def test_one_link_is_revoked(client: httpx.Client, database: Database) -> None:
    """Both of its addresses; another link to the same page stays valid, and only administrators of the team list it."""
    planner, admin = keys_of(database)
    _, stranger = keys_of(database, "others")
    body = {"kind": "plan", "name": str(EXAMPLE_PLAN_ID)}
    one, other = (client.post("/v1/share-links", json=body, headers=planner).json() for _ in range(2))
    listed = client.get("/v1/share-links", headers=admin).json()["items"]
    assert [(each["id"], each["kind"], each["name"], each["created_by"]) for each in listed] == [
        (made["id"], "plan", str(EXAMPLE_PLAN_ID), "plan") for made in (other, one)
    ]
    assert one["page"].partition("share=")[2] not in str(listed)
    address = f"/v1/share-links/{one['id']}"
    assert client.get("/v1/share-links", headers=stranger).json()["items"] == []
    assert client.delete(address, headers=planner).status_code == 403
    assert client.delete(address, headers=stranger).status_code == 404
    assert client.post(f"/share/{one['id']}/revoke", headers=stranger).status_code == 303
    assert client.get(one["page"]).status_code == 200
    assert client.delete(address, headers=admin).status_code == 204
    missing = client.delete(address, headers=admin)
    assert (missing.status_code, missing.json()["code"]) == (404, "share_link_not_found")
    for link in ("page", "picture"):
        assert client.get(one[link]).status_code == 403
        assert client.get(other[link]).status_code == 200
    entries = client.get("/v1/audit", params={"action": "share_link.revoked"}, headers=admin).json()["items"]
    assert [(entry["name"], entry["resource"]) for entry in entries] == [("admin", f"plan {EXAMPLE_PLAN_ID}")]


def test_a_repeated_request_gets_the_same_link(client: httpx.Client, database: Database) -> None:
    planner, admin = keys_of(database)
    body = {"kind": "plan", "name": str(EXAMPLE_PLAN_ID)}
    made = [
        client.post("/v1/share-links", json=body | {"days": days}, headers=planner | {"Idempotency-Key": "a-link"})
        for days in (1, 1, 2)
    ]
    assert [answer.status_code for answer in made] == [201, 201, 422]
    assert made[0].json() == made[1].json()
    listed = client.get("/v1/share-links", headers=admin).json()["items"]
    assert [link["id"] for link in listed] == [made[0].json()["id"]]


def test_the_page_of_keys_revokes_one_link(client: httpx.Client, database: Database) -> None:
    planner, admin = keys_of(database)
    keep(database, small())
    for name in ("small", "<b>other</b>"):
        keep(database, replace(small(), name=name))
        client.post("/v1/share-links", json={"kind": "cluster", "name": name}, headers=planner)
    shown = client.get("/keys", headers=admin).text
    assert "<b>other</b>" not in shown
    newest, oldest = re.findall(r'action="(/share/[^"]*/revoke)"', shown)
    assert client.post(newest, headers=planner).status_code == 403
    assert client.post(newest, headers=admin).headers["location"] == "/keys?revoked=link#links"
    assert re.findall(r'action="(/share/[^"]*/revoke)"', client.get("/keys", headers=admin).text) == [oldest]


def test_links_end_with_their_expiry(database: Database) -> None:
    """A link that has expired is not listed, and the next one that is made deletes it."""
    now = datetime.now(UTC)
    with database.begin() as uow:
        old = uow.share_links.create("plan", "p", team="default", expires_at=now - timedelta(seconds=1))
        assert uow.share_links.valid(before=None, size=10).items == ()
        new = uow.share_links.create("plan", "p", team="default", expires_at=now + timedelta(days=1))
        assert [uow.share_links.is_stored(link.id) for link in (old, new)] == [False, True]


def test_a_link_of_an_earlier_version_stays_valid(database: Database) -> None:
    """It has no id, so that only revoking all links revokes it. The id cannot be removed from a link that has one."""
    subject, expires = Subject("plan", "p"), int(datetime.now(UTC).timestamp()) + 60
    with database.begin() as uow:
        message = f"page\n{expires}\nplan\np".encode()
        digest = hmac.digest(uow.installation_keys.of("share links"), message, "sha256")
        old = f"page.{expires}.{urlsafe_b64encode(digest).decode().rstrip('=')}"
        assert share_links.verify(uow, subject, "page", old) == datetime.fromtimestamp(expires, UTC)
        with pytest.raises(ShareLinkRejected, match="was changed"):
            share_links.verify(uow, subject, "page", re.sub(r"-[0-9a-f-]*", "", signed(uow, subject, "page")))
        with pytest.raises(ShareLinkRejected, match="revoked"):
            share_links.verify(uow, subject, "page", signed(uow, subject, "page"))
        share_links.revoke_all(uow)
        with pytest.raises(ShareLinkRejected, match="revoked"):
            share_links.verify(uow, subject, "page", old)
