"""An upgrade from an earlier schema: rows of each kind are readable, the same, and exported as before."""

import re
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

import httpx
import pytest
import sqlalchemy as sa

from app.api.examples import EXAMPLE_REASSIGNMENT_PLAN_ID
from app.api.start import seeding
from app.errors.machine import DatabaseNewer
from app.services import backups
from app.store import migrations
from app.store.database import Database
from app.store.tables import TABLES
from tests.api.operations import OPERATIONS
from tests.service import client_of, served

EARLIER = ["0017", "0014"]
"""Schemas that have all of the rows but the ledger, and tables that are made anew: usage, and turns at the queue."""
_NO_ROWS = {"/healthz", "/readyz", "/metrics", "/v1/keys/partitioners", "/v1/audit", "/v1/audit/export"}
"""Answers without rows of users, or different after each reading: the export of a plan is an entry of the audit log."""
_KINDS = {"replicas", "reassignment", "group", "streams", "restart", "consumers"}
_EMPTY = {"sessions", "job_turns"}
"""Tables that only sign-ins at an issuer and workers fill."""


@contextmanager
def teams_of(database: Database, keys: dict[str, str]) -> Iterator[dict[str, httpx.Client]]:
    """A client of one service for each team."""
    with served(database) as address, ExitStack() as opened:
        clients = {team: opened.enter_context(client_of(address)) for team in keys}
        for team, client in clients.items():
            client.headers["Authorization"] = f"Bearer {keys[team]}"
        yield clients


def fill(database: Database) -> dict[str, str]:
    """Store rows of each kind, of two teams. Returns the key of each team."""
    for store in seeding.steps(database, has_webhooks=True):
        store()
    with database.begin() as uow:
        keys = {team: uow.api_keys.create(f"of {team}", ["admin"], team=team)[1] for team in ("default", "blue")}
        uow.api_keys.create("revoked", ["read"])
        uow.api_keys.revoke("revoked", team="default")
    bodies = {
        path: [example["value"] for example in content["examples"].values()]
        for method, path, operation in OPERATIONS
        if method == "post" and "examples" in (content := _json_of(operation))
    }
    with teams_of(database, keys) as teams:
        for path in (
            "/v1/snapshots",
            *(f"/v1/plans/{kind}" for kind in sorted(_KINDS)),
            "/v1/sweeps",
            "/v1/share-links",
        ):
            for number, body in enumerate(bodies[path]):
                _stored(teams["default"].post(path, json=body, headers={"Idempotency-Key": f"{path}-{number}"}))
        for path in ("/v1/snapshots", "/v1/plans/consumers"):
            _stored(teams["blue"].post(path, json=bodies[path][0]))
        asynchronous = bodies["/v1/plans/replicas"][0] | {"seed": 1}
        _stored(teams["default"].post("/v1/plans/replicas", json=asynchronous, headers={"Prefer": "respond-async"}))
        plan = f"/v1/plans/{EXAMPLE_REASSIGNMENT_PLAN_ID}"
        for status in ("approved", "executing"):
            _stored(teams["default"].patch(plan, json={"status": status, "notes": "tonight"}))
    return keys


def _json_of(operation: dict[str, Any]) -> dict[str, Any]:
    content: dict[str, Any] = operation.get("requestBody", {}).get("content", {}).get("application/json", {})
    return content


def _stored(response: httpx.Response) -> None:
    assert response.is_success, response.text


def readings(database: Database, keys: dict[str, str]) -> dict[tuple[str, str], tuple[int, bytes]]:
    """Status and body of everything that a team can read, by team and URL: lists, their items, and exports."""
    found = {}
    with teams_of(database, keys) as teams:
        for team, client in teams.items():
            for path in _urls(client):
                response = client.get(path)
                body = response.content if response.is_success else response.json()["code"].encode()
                # Postgres may compress a row otherwise when it is counted anew.
                body = re.sub(rb'"stored_bytes":{"used":\d+', b"", body)
                found[team, path] = (response.status_code, body)
    return found


def _urls(client: httpx.Client) -> Iterator[str]:
    for method, path, operation in OPERATIONS:
        if method != "get" or path in _NO_ROWS or path.endswith("/events"):
            continue
        before, _, after = path.partition("/{")
        if not after:
            yield path
            continue
        formats = next(
            (each["schema"].get("enum", [None]) for each in operation["parameters"] if each["name"] == "format"),
            [None],
        )
        for item in client.get(before).json()["items"]:
            url = f"{before}/{item['id']}{after.partition('}')[2]}".replace("{index}", "0")
            if "{" not in url:
                yield from (url if name is None else f"{url}?format={name}" for name in formats)


def audited(database: Database) -> list[tuple[object, ...]]:
    """The entries of the audit log, in their order."""
    with database.engine.connect() as connection:
        return [tuple(row) for row in connection.execute(sa.text("SELECT * FROM audit_entries ORDER BY id"))]


@pytest.mark.long
def test_everything_is_read_as_before(scratch: Database) -> None:
    """Hundreds of URLs: every kind of plan and of sweep, each in every format, by two teams with their keys."""
    keys = fill(scratch)
    with scratch.engine.connect() as connection:
        rows = {
            name: connection.scalar(sa.select(sa.func.count()).select_from(table)) for name, table in TABLES.items()
        }
        assert {name for name, count in rows.items() if not count} == _EMPTY
        assert set(connection.scalars(sa.text("SELECT kind FROM plans"))) == _KINDS
    before = readings(scratch, keys)
    assert sum(status == 200 for status, _ in before.values()) > 250
    for revision in EARLIER:
        entries = audited(scratch)
        migrations.downgrade(scratch.engine, revision)
        assert migrations.upgrade(scratch.engine)
        assert not migrations.upgrade(scratch.engine), "there was something left to do"
        assert audited(scratch) == entries
        after = readings(scratch, keys)
        assert [url for url, answer in before.items() if after.get(url) != answer] == []
    assert backups.verify(scratch) >= len(_KINDS)


class TestNewerDatabase:
    """A schema that this version cannot work with is rejected, and not changed."""

    @pytest.mark.parametrize(
        ("statement", "words"),
        [
            ("COMMENT ON TABLE alembic_version IS 'code from 9998'", "needs Rackplan with schema 9998 or newer"),
            ("UPDATE alembic_version SET version_num = 'ae1027a6acf'", "which Rackplan does not have"),
        ],
    )
    def test_it_is_rejected_with_both_revisions(self, scratch: Database, statement: str, words: str) -> None:
        with scratch.engine.begin() as connection:
            connection.exec_driver_sql("UPDATE alembic_version SET version_num = '9999'")
            connection.exec_driver_sql(statement)
        with pytest.raises(DatabaseNewer, match=words):
            migrations.upgrade(scratch.engine)
        with served(scratch) as address, client_of(address) as client:
            readiness = client.get("/readyz")
            assert readiness.status_code == 503
            assert words in readiness.text

    def test_the_schema_of_the_next_release_is_not(self, scratch: Database) -> None:
        with scratch.engine.begin() as connection:
            connection.exec_driver_sql("UPDATE alembic_version SET version_num = '9999'")
        assert not migrations.upgrade(scratch.engine)
