"""`docs/consumers.md` agrees with the code, and shows the real output."""

from datetime import UTC, datetime, timedelta

import httpx
import pytest
import sqlalchemy as sa

from app.services.consumers import ConsumersRequest
from app.services.fields import SnapshotFields
from app.store.database import Database
from tests.conftest import ROOT
from tests.documents import Document, replay

DOC = Document(ROOT / "docs" / "consumers.md")


def store_snapshots(client: httpx.Client, database: Database) -> None:
    """The snapshots of `shop` that the document reads: rates of `orders` and sizes of `clicks` every four hours."""
    for hours, rate, size in zip(range(0, 25, 4), (1, 2, 6, 7, 5, 2, 1), (0, 9, 54, 90, 126, 144, 153), strict=True):
        at = datetime(2026, 11, 20, tzinfo=UTC) + timedelta(hours=hours)
        orders = [{"partition": at, "replicas": [1], "ingress_bytes_per_s": rate * 300_000} for at in range(4)]
        clicks = [{"partition": at, "replicas": [1], "size_bytes": size * 800_000_000} for at in range(2)]
        topics = [{"name": "orders", "partitions": orders}, {"name": "clicks", "partitions": clicks}]
        body = {"cluster": "shop", "brokers": [{"id": 1}], "topics": topics}
        row = {"at": at, "id": client.post("/v1/snapshots", json=body).raise_for_status().json()["id"]}
        with database.engine.begin() as connection:
            moved = "UPDATE snapshots SET created_at = :at, last_seen_at = :at WHERE id = :id"
            connection.execute(sa.text(moved), row)


@pytest.mark.long
@pytest.mark.slow
def test_every_command_prints_what_is_shown(client: httpx.Client, database: Database) -> None:
    store_snapshots(client, database)
    replay(DOC, str(client.base_url).rstrip("/"))


def test_every_field_of_the_request_is_there() -> None:
    fields = {name for row in DOC.table("field", "meaning") for name in row[0].replace("`", "").split(", ")}
    others = {*SnapshotFields.__dataclass_fields__, "kafka_version", "labels"}
    assert fields == {*ConsumersRequest.__dataclass_fields__} - others


@pytest.mark.parametrize("path", DOC.links())
def test_links_lead_somewhere(path: str) -> None:
    assert (DOC.path.parent / path).exists()
