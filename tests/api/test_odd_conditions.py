"""A disk that is full, a schema that is newer, and bytes that are not HTTP."""

import socket
from contextlib import closing

import httpx
import pytest
import sqlalchemy as sa

from app.api.examples import PLACE
from app.errors.access import DatabaseUnavailable
from app.store.database import Database
from app.store.transaction import RowSecurity, Transaction
from tests.api.conftest import Serve
from tests.api.contract import problem

# What Postgres raises when its file system has no space, where it would raise it: in the statement that stores.
_FULL = """
    CREATE FUNCTION no_space() RETURNS trigger LANGUAGE plpgsql AS
    $$ BEGIN RAISE EXCEPTION 'could not extend file' USING ERRCODE = 'disk_full'; END $$;
    CREATE TRIGGER no_space BEFORE INSERT ON plans EXECUTE FUNCTION no_space();
"""


def test_a_full_disk_is_a_503_and_passes(scratch: Database, serve: Serve) -> None:
    """Reads are answered meanwhile, and nothing has to be restarted."""
    client = serve(scratch)
    with scratch.engine.begin() as connection:
        connection.execute(sa.text(_FULL))
    answer = client.post("/v1/plans/replicas", json=PLACE | {"seed": 4711}, headers={"Idempotency-Key": "full"})
    found = problem(answer, 503, "storage_full")
    assert "disk of the database is full" in found["detail"]
    assert answer.headers["Retry-After"] == "30"
    assert client.get("/v1/plans").is_success
    with scratch.engine.begin() as connection:
        connection.execute(sa.text("DROP TRIGGER no_space ON plans"))
    again = client.post("/v1/plans/replicas", json=PLACE | {"seed": 4711}, headers={"Idempotency-Key": "full"})
    assert again.status_code == 201


def test_a_transaction_that_lost_its_connection_is_not_committed(scratch: Database) -> None:
    """Its commit says so like its statement did: the problem is a 503, whoever commits after it."""
    transaction = Transaction(scratch.engine, RowSecurity())
    transaction.writing.execute(sa.text("SELECT 1"))
    pid = transaction.reading.scalar(sa.text("SELECT pg_backend_pid()"))
    with scratch.engine.connect() as connection:
        connection.execute(sa.text("SELECT pg_terminate_backend(:pid)"), {"pid": pid})
    with pytest.raises(DatabaseUnavailable):
        transaction.reading.execute(sa.text("SELECT 1"))
    with pytest.raises(DatabaseUnavailable):
        transaction.commit()


def test_a_newer_schema_is_ready_and_an_older_one_is_not(scratch: Database, serve: Serve) -> None:
    client = serve(scratch)
    for revision, status in (("9999", 200), ("0001", 503)):
        with scratch.engine.begin() as connection:
            connection.execute(sa.text("UPDATE alembic_version SET version_num = :r"), {"r": revision})
        assert client.get("/readyz").status_code == status


@pytest.mark.parametrize("sent", [b"\x16\x03\x01\x02\x00\x01\x00", b"nonsense\r\n\r\n", b"GET / HTTP/9.9\r\n\r\n"])
def test_what_is_not_http_gets_a_400(client: httpx.Client, sent: bytes) -> None:
    """Such as TLS; the connection is closed."""
    with closing(
        socket.create_connection((client.base_url.host, client.base_url.port or 80), timeout=20)
    ) as connection:
        connection.sendall(sent)
        connection.shutdown(socket.SHUT_WR)
        answer = b"".join(iter(lambda: connection.recv(4096), b""))
    assert answer.startswith(b"HTTP/1.1 400 ")
