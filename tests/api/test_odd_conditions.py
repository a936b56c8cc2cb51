"""A disk that is full, a schema that is newer, and bytes that are not HTTP."""

import errno
import shutil
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import httpx
import pytest
import sqlalchemy as sa

from app.api.examples import PLACE
from app.errors.access import DatabaseUnavailable
from app.store import embedded, migrations
from app.store.database import Database
from app.store.transaction import RowSecurity, Transaction
from tests import databases
from tests.api.conftest import Serve
from tests.api.contract import problem

# Postgres's error when its file system has no space, raised in its place: in the statement that stores.
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


@pytest.fixture
def small_disk() -> Iterator[Path]:
    """A file system of 160 MiB; a test is skipped if this account cannot mount one."""
    if shutil.which("mount") is None:
        pytest.skip("there is no mount command")
    with databases.folder_of_postgres() as folder:
        mount = ["mount", "-t", "tmpfs", "-o", "size=160m,mode=755", "rackplan-small-disk", str(folder)]
        mounted = subprocess.run(mount, capture_output=True, text=True, check=False)
        if mounted.returncode != 0:
            pytest.skip(f"this account mounts no file system: {mounted.stderr.strip()}")
        try:
            yield folder
        finally:
            subprocess.run(["umount", str(folder)], check=True)


def _fill(file: Path) -> None:
    """Write until the file system has no space."""
    with file.open("wb", buffering=0) as writing:
        try:
            while True:
                writing.write(bytes(2**16))
        except OSError as full:
            assert full.errno == errno.ENOSPC  # noqa: PT017 -- the condition itself


@pytest.mark.long
def test_a_file_system_that_is_really_full(small_disk: Path, serve: Serve) -> None:
    """Postgres may even have to restart for lack of WAL: answers are 503, and acknowledged rows are there after."""
    with embedded.running(small_disk / "data") as server, Database(server.url) as database:
        migrations.upgrade(database.engine)
        client = serve(database)
        filler = small_disk / "filler"
        _fill(filler)
        acknowledged, rejected, seed = {}, 0, 0
        while rejected < 20:
            seed += 1
            assert seed < 5_000, "the disk is not full"
            answer = client.post("/v1/plans/replicas", json=PLACE | {"seed": seed})
            if answer.status_code == 201:
                acknowledged[answer.json()["id"]] = answer.json()["hash"]
            else:
                assert (answer.status_code, answer.json()["code"] in {"storage_full", "unavailable"}) == (503, True)
                rejected += 1
        filler.unlink()
        ends = time.monotonic() + 120
        while client.post("/v1/plans/replicas", json=PLACE | {"seed": 0}).status_code != 201:
            assert time.monotonic() < ends, "there is space again, and nothing is stored"
            time.sleep(0.2)
        for plan_id, plan_hash in acknowledged.items():
            assert client.get(f"/v1/plans/{plan_id}").json()["hash"] == plan_hash


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


_POST = b"POST /v1/plans/streams HTTP/1.1\r\nHost: 127.0.0.1\r\n"
_NEXT = b"GET /healthz HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n"
_AMBIGUOUS = (
    _POST + b"Content-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n" + _NEXT,
    _POST + b"Content-Length: 4\r\nContent-Length: 5\r\n\r\nabcd" + _NEXT,
    _POST + b"Content-Length: +4\r\n\r\nabcd" + _NEXT,
    _POST + b"Content-Length: 99999999999999999999\r\n\r\nabcd" + _NEXT,
    _POST + b"Transfer-Encoding: xchunked\r\n\r\n0\r\n\r\n" + _NEXT,
    _POST + b"Transfer-Encoding: chunked, identity\r\n\r\n0\r\n\r\n" + _NEXT,
    _POST + b"Content-Length : 0\r\n\r\n" + _NEXT,
    _POST + b"X-A: b\r\n Content-Length: 4\r\n\r\nabcd" + _NEXT,
    _POST.replace(b"\r", b"") + b"\n" + _NEXT,
)
"""Requests whose end another reader of HTTP may see elsewhere, which is how requests are smuggled through proxies."""


@pytest.mark.parametrize(
    "sent", [b"\x16\x03\x01\x02\x00\x01\x00", b"nonsense\r\n\r\n", b"GET / HTTP/9.9\r\n\r\n", *_AMBIGUOUS]
)
def test_what_is_not_http_gets_a_400(client: httpx.Client, sent: bytes) -> None:
    """Such as TLS; the connection is closed, so that nothing after it is a request."""
    with closing(
        socket.create_connection((client.base_url.host, client.base_url.port or 80), timeout=20)
    ) as connection:
        connection.sendall(sent)
        connection.shutdown(socket.SHUT_WR)
        answer = b"".join(iter(lambda: connection.recv(4096), b""))
    assert answer.startswith(b"HTTP/1.1 400 ")
    assert answer.count(b"HTTP/1.1 ") == 1
