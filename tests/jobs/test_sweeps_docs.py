"""`docs/sweeps.md` and `docs/other-sweeps.md` show the real output, with a worker and its Spark."""

import httpx
import pytest

from app.jobs.spark import Spark
from app.store.database import Database
from tests.conftest import ROOT
from tests.documents import Document, replay
from tests.jobs.working import working

DOC, OTHER_KINDS = (Document(ROOT / "docs" / name) for name in ("sweeps.md", "other-sweeps.md"))


@pytest.mark.slow
@pytest.mark.parametrize(
    "document",
    [
        pytest.param(DOC, id=DOC.path.name),
        # `test_sweep_kernels.py` scores each kind without a JVM, `test_spark_local.py` reassignments with one.
        pytest.param(OTHER_KINDS, id=OTHER_KINDS.path.name, marks=pytest.mark.long),
    ],
)
def test_every_request_prints_what_is_shown(
    client: httpx.Client, database: Database, spark: Spark, document: Document
) -> None:
    with working(database, spark):
        replay(document, str(client.base_url).rstrip("/"))


@pytest.mark.parametrize("path", sorted({*DOC.links(), *OTHER_KINDS.links()}))
def test_links_lead_somewhere(path: str) -> None:
    assert (DOC.path.parent / path).exists()


@pytest.mark.long
def test_the_operations_are_the_services(client: httpx.Client) -> None:
    paths = client.get("/openapi.json").json()["paths"]
    for operation, _ in DOC.table("operation", "what"):
        method, path = operation.strip("`").split("?")[0].split(" ")
        known = {name.replace("sweep_id", "id"): operations for name, operations in paths.items()}
        assert method.lower() in known[path], operation
