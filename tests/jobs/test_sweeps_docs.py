"""What `docs/sweeps.md` shows is what happens, with a worker and its Spark."""

import httpx
import pytest

from tests.api.conftest import StartWorker, start_worker
from tests.conftest import ROOT
from tests.documents import Document, replay

DOC = Document(ROOT / "docs" / "sweeps.md")
__all__ = ["start_worker"]


@pytest.mark.slow
def test_every_request_prints_what_is_shown(client: httpx.Client, start_worker: StartWorker) -> None:
    start_worker()
    replay(DOC, str(client.base_url).rstrip("/"))


@pytest.mark.parametrize("path", DOC.links())
def test_links_lead_somewhere(path: str) -> None:
    assert (DOC.path.parent / path).exists()


def test_the_operations_are_the_services(client: httpx.Client) -> None:
    paths = client.get("/openapi.json").json()["paths"]
    for told, _ in DOC.table("operation", "what"):
        method, path = told.strip("`").split("?")[0].split(" ")
        known = {name.replace("sweep_id", "id"): operations for name, operations in paths.items()}
        assert method.lower() in known[path], told
