"""`docs/consumers.md` agrees with the code, and shows the real output."""

import httpx
import pytest

from app.services.consumers import ConsumersRequest
from app.services.fields import SnapshotFields
from tests.conftest import ROOT
from tests.documents import Document, replay

DOC = Document(ROOT / "docs" / "consumers.md")


@pytest.mark.slow
def test_every_command_prints_what_is_shown(client: httpx.Client) -> None:
    replay(DOC, str(client.base_url).rstrip("/"))


def test_every_field_of_the_request_is_there() -> None:
    fields = {name for row in DOC.table("field", "meaning") for name in row[0].replace("`", "").split(", ")}
    others = {*SnapshotFields.__dataclass_fields__, "kafka_version", "labels"}
    assert fields == {*ConsumersRequest.__dataclass_fields__} - others


@pytest.mark.parametrize("path", DOC.links())
def test_links_lead_somewhere(path: str) -> None:
    assert (DOC.path.parent / path).exists()
