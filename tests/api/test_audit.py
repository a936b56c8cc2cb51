"""Requests in the audit log: each change, each denial and each export, before it is answered."""

import asyncio
import csv
import io
from datetime import UTC, datetime, timedelta
from typing import Any

import httpx
import orjson
import pytest
import sqlalchemy as sa
from starlette.types import Message, Receive, Scope, Send

from app.api.examples import EXAMPLE_PLAN_ID, PLACE
from app.api.http import audit
from app.api.http.audit import Audit, AuditLog, address_of
from app.errors.access import DatabaseUnavailable
from app.store.audit import Actor, NewEntry
from app.store.database import Database
from tests.api.conftest import Serve
from tests.api.contract import problem

PLAN = f"/v1/plans/{EXAMPLE_PLAN_ID}"


def _key(database: Database, scope: str, *, team: str = "default", name: str = "", expired: bool = False) -> str:
    expires_at = datetime.now(UTC) - timedelta(seconds=1) if expired else None
    with database.begin() as uow:
        return uow.api_keys.create(name or scope, [scope], team=team, expires_at=expires_at)[1]


def _bearer(secret: str, **headers: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {secret}"} | headers


def _listed(client: httpx.Client, secret: str, **wanted: str | int) -> list[dict[str, Any]]:
    answer = client.get("/v1/audit", params=wanted, headers=_bearer(secret))
    assert answer.status_code == 200, answer.text
    return list(answer.json()["items"])


@pytest.fixture
def admin(client: httpx.Client, database: Database) -> str:  # noqa: ARG001 -- its rows are reset
    return _key(database, "admin", name="boss")


class TestRequests:
    """Which requests have entries, and their contents."""

    def test_a_change(self, client: httpx.Client, database: Database, admin: str) -> None:
        made = client.post("/v1/plans/replicas", json=PLACE, headers=_bearer(admin, **{"X-Request-ID": "mine"}))
        (entry,) = _listed(client, admin, request_id="mine")
        with database.begin() as uow:
            (key,) = uow.api_keys.all()
        moment = datetime.fromisoformat(entry.pop("at"))
        assert abs(datetime.now(UTC) - moment) < timedelta(minutes=1)
        del entry["id"]
        assert entry == {
            "actor": "key",
            "name": "boss",
            "key_id": str(key.id),
            "team": "default",
            "address": "127.0.0.1",
            "request_id": "mine",
            "action": "POST /v1/plans/replicas",
            "resource": made.headers["location"],
            "status": 201,
            "code": None,
            "count": 1,
        }

    def test_a_change_that_fails(self, client: httpx.Client, admin: str) -> None:
        client.post("/v1/plans/replicas", json={"topics": 7}, headers=_bearer(admin))
        client.delete("/v1/plans/01890a5d-0000-7000-8000-000000000000", headers=_bearer(admin))
        deleted, made = _listed(client, admin, actor="key")
        assert (made["status"], made["code"]) == (422, "validation")
        assert (deleted["action"], deleted["status"]) == ("DELETE /v1/plans/{plan_id:uuid}", 404)

    def test_reading_has_none_and_exporting_has(self, client: httpx.Client, admin: str) -> None:
        for path in ("/v1/plans", PLAN, "/healthz", "/readyz", "/metrics", "/", "/static/style.css"):
            assert client.get(path, headers=_bearer(admin)).status_code == 200
        assert _listed(client, admin, actor="key") == []
        assert client.get(f"{PLAN}/export", headers=_bearer(admin)).status_code == 200
        assert client.get("/v1/audit/export", headers=_bearer(admin)).status_code == 200
        assert [entry["resource"] for entry in _listed(client, admin, actor="key")] == [
            "/v1/audit/export",
            f"{PLAN}/export",
        ]

    def test_while_the_service_is_open(self, client: httpx.Client) -> None:
        assert client.post("/v1/plans/replicas", json=PLACE).is_success
        (entry,) = client.get("/v1/audit").json()["items"]
        assert (entry["actor"], entry["team"], entry["name"]) == ("anyone", "default", None)

    def test_the_team_of_a_header(self, client: httpx.Client, database: Database) -> None:
        """An action of a key of all teams is an entry of the team it acts for."""
        ops, blue = _key(database, "admin", team="*"), _key(database, "admin", team="blue")
        headers = _bearer(ops, **{"Rackplan-Team": "blue"})
        assert client.delete("/v1/share-links", headers=headers).status_code == 204
        assert {entry["action"] for entry in _listed(client, blue)} == {
            "DELETE /v1/share-links",
            "share_links.revoked",
            "key.created",
        }

    def test_keys_and_share_links(self, client: httpx.Client, admin: str) -> None:
        form = {"name": "ada", "scope": "read"}
        made = client.post("/keys", data=form, headers=_bearer(admin, **{"X-Request-ID": "made"}))
        assert made.status_code == 200
        link = {"kind": "plan", "name": str(EXAMPLE_PLAN_ID)}
        assert client.post("/v1/share-links", json=link, headers=_bearer(admin)).status_code == 201
        change, request = sorted(_listed(client, admin, request_id="made"), key=lambda entry: entry["id"])
        assert (change["action"], change["resource"], change["name"]) == ("key.created", "ada", "boss")
        assert (request["action"], request["status"]) == ("POST /keys", 200)
        (shared,) = _listed(client, admin, action="share_link.created")
        assert shared["resource"] == f"plan {EXAMPLE_PLAN_ID}"


class TestDenied:
    """401 and 403. Each test has a service of its own, which has counted nothing yet."""

    def test_each_kind(self, database: Database, serve: Serve) -> None:
        client, admin = serve(database), _key(database, "admin", name="boss")
        reader, expired = _key(database, "read"), _key(database, "read", name="old", expired=True)
        client.post("/v1/plans/replicas", json=PLACE, headers=_bearer(reader))
        client.get("/v1/webhooks", headers=_bearer(reader))
        client.get("/v1/plans", headers=_bearer(expired))
        client.get("/v1/plans", headers=_bearer("garbage"))
        client.post("/v1/plans/replicas", json=PLACE, headers={"Origin": "https://evil.example"})
        own = [entry for entry in _listed(client, admin) if entry["status"]]
        assert [(entry["actor"], entry["name"], entry["status"], entry["code"]) for entry in own] == [
            ("key", "old", 401, "api_key_expired"),
            ("key", "read", 403, "forbidden"),
        ]
        everything = _listed(client, _key(database, "admin", team="*"), actor="unknown")
        assert [(entry["team"], entry["status"]) for entry in everything] == [(None, 403), (None, 401)]

    def test_many_are_few_entries(self, database: Database, serve: Serve, monkeypatch: pytest.MonkeyPatch) -> None:
        """A stranger does not fill the database: requests of a minute are counted, and the count is stored."""
        _key(database, "admin")
        monkeypatch.setattr(audit, "COUNTED_S", 1.0)
        client = serve(database)
        for number in range(30):
            assert client.get(f"/v1/plans?page_size={number + 1}").status_code == 401
        with database.engine.connect() as connection:
            counts = "SELECT count FROM audit_entries WHERE status = 401 ORDER BY id"
            assert connection.scalars(sa.text(counts)).first() == 1
            for _ in range(100):
                found = list(connection.scalars(sa.text(counts)))
                if sum(found) == 30:
                    break
                connection.rollback()
                client.get("/healthz")
                asyncio.run(asyncio.sleep(0.05))
        assert sum(found) == 30
        assert len(found) < 10

    def test_texts_of_strangers(self, database: Database, serve: Serve) -> None:
        client = serve(database)
        operator = _key(database, "admin", team="*")
        path = "/v1/" + "x" * 5000 + "%1b%0a%e2%80%ae"
        assert client.request("PROPFIND", path).status_code == 401
        (entry,) = _listed(client, operator, actor="unknown")
        assert (entry["action"], len(entry["resource"])) == ("other", 200)


class TestExport:
    """`GET /v1/audit/export`, and the pages of the list."""

    def test_formats(self, client: httpx.Client, database: Database, admin: str) -> None:
        for name in ("=1+1", 'a,"b"'):
            _key(database, "read", name=name)
        lines = client.get("/v1/audit/export?actor=command", headers=_bearer(admin)).content.splitlines()
        assert [orjson.loads(line)["resource"] for line in lines] == ['a,"b"', "=1+1", "boss"]
        answer = client.get("/v1/audit/export?actor=command&format=csv", headers=_bearer(admin))
        assert answer.headers["content-disposition"] == 'attachment; filename="audit.csv"'
        rows = list(csv.DictReader(io.StringIO(answer.text, newline="")))
        assert [row["resource"] for row in rows] == ['a,"b"', "'=1+1", "boss"]

    def test_more_than_a_page(self, client: httpx.Client, database: Database, admin: str) -> None:
        with database.engine.begin() as connection:
            connection.exec_driver_sql(
                "INSERT INTO audit_entries (team, actor, action) SELECT 'default', 'command', n::text "
                "FROM generate_series(1, 2500) n"
            )
        lines = client.get("/v1/audit/export?actor=command", headers=_bearer(admin)).content.splitlines()
        numbers = [orjson.loads(line)["id"] for line in lines]
        assert len(numbers) == 2501
        assert numbers == sorted(set(numbers), reverse=True)
        first = client.get("/v1/audit?page_size=1000", headers=_bearer(admin)).json()
        again = client.get(f"/v1/audit?page_token={first['next_page_token']}", headers=_bearer(admin)).json()
        assert again["items"][0]["id"] == first["items"][-1]["id"] - 1

    @pytest.mark.parametrize(
        ("query", "pointer"),
        [
            ("status=99", "#query/status"),
            ("since=yesterday", "#query/since"),
            ("until=0.5", "#query/until"),
            ("since=2026-01-01T00:00:00", "#query/since"),
            ("actor=boss", "#query/actor"),
            ("name=", "#query/name"),
            ("address=%00", "#query/address"),
            (f"name={'x' * 201}", "#query/name"),
            ("page_token=x", "#query/page_token"),
            ("nam=x", "#query/nam"),
        ],
    )
    def test_bad_filters(self, client: httpx.Client, admin: str, query: str, pointer: str) -> None:
        code = "invalid_page_token" if query.startswith("page_token") else "validation"
        found = problem(client.get(f"/v1/audit?{query}", headers=_bearer(admin)), 422, code)
        assert [error["pointer"] for error in found["errors"]] == [pointer]
        if not query.startswith("page_token"):
            problem(client.get(f"/v1/audit/export?{query}", headers=_bearer(admin)), 422, code)


class _Log(AuditLog):
    """Keeps entries, or cannot store them."""

    def __init__(self, *, fails: bool = False) -> None:
        self.entries: list[NewEntry] = []
        self.fails = fails

    async def add(self, entry: NewEntry) -> None:
        if self.fails:
            raise DatabaseUnavailable("down")
        self.entries.append(entry)

    async def add_or_count(self, entry: NewEntry) -> None:
        await self.add(entry)


class TestOrder:
    """The entry is stored before the answer begins, or there is another answer."""

    @pytest.mark.parametrize(
        ("method", "status", "answered"),
        [("POST", 201, 503), ("POST", 422, 422), ("GET", 200, 200), ("GET", 401, 401), ("DELETE", 204, 503)],
    )
    def test_a_change_whose_entry_is_lost_is_not_acknowledged(self, method: str, status: int, answered: int) -> None:
        assert self._sent(_Log(fails=True), method, status) == [answered]

    def test_a_client_that_leaves_has_an_entry(self) -> None:
        log = _Log()
        assert self._sent(log, "POST", None) == []
        (entry,) = log.entries
        assert (entry.status, entry.actor.name) == (None, "ci")

    def test_an_exception_has_an_entry(self) -> None:
        log = _Log()
        with pytest.raises(ZeroDivisionError):
            self._sent(log, "POST", 0)
        assert [entry.status for entry in log.entries] == [None]

    def _sent(self, log: AuditLog, method: str, status: int | None) -> list[int]:
        async def app(scope: Scope, _: Receive, send: Send) -> None:
            scope["state"] = {"actor": Actor("key", "ci")}
            if status is not None:
                await send({"type": "http.response.start", "status": status // (status > 0), "headers": []})
                await send({"type": "http.response.body", "body": b""})

        sent: list[Message] = []

        async def send(message: Message) -> None:
            sent.append(message)

        async def receive() -> Message:
            return {"type": "http.disconnect"}

        scope = {"type": "http", "method": method, "path": "/v1/plans", "headers": [], "query_string": b""}
        scope |= {"server": ("localhost", 80), "scheme": "http"}
        asyncio.run(Audit(app, log=log, quiet_paths=frozenset())(scope, receive, send))
        return [message["status"] for message in sent if message["type"] == "http.response.start"]


@pytest.mark.parametrize(
    ("client", "address"),
    [
        (("192.0.2.1", 1), "192.0.2.1"),
        (("2001:DB8::1", 1), "2001:db8::1"),
        (("fe80::1%eth0", 1), "fe80::1"),
        (("<script>", 1), None),
        (None, None),
    ],
)
def test_an_address_is_one_or_none(client: tuple[str, int] | None, address: str | None) -> None:
    assert address_of({"type": "http", "client": client}) == address
