"""`docs/restarts.md` agrees with the code, and shows the real output."""

from typing import get_args

import httpx
import pytest

from app.core.restarts.model import Reason
from app.services.fields import SnapshotFields
from app.services.restarts import REASONS, RestartRequest
from tests.conftest import ROOT
from tests.documents import Document, replay

DOC = Document(ROOT / "docs" / "restarts.md")


@pytest.mark.slow
def test_every_command_prints_what_is_shown(client: httpx.Client) -> None:
    replay(DOC, str(client.base_url).rstrip("/"))


def test_every_field_of_the_request_is_there() -> None:
    fields = {name for row in DOC.table("field", "meaning") for name in row[0].replace("`", "").split(", ")}
    others = {*SnapshotFields.__dataclass_fields__, "kafka_version", "labels"}
    assert fields == {*RestartRequest.__dataclass_fields__} - others


def test_every_reason_is_there() -> None:
    proofs = [reason.strip("`") for reason, _ in DOC.table("`reason`", "what is proven")]
    blocked = [reason.strip("`") for reason, _ in DOC.table("`reason`", "meaning")]
    assert proofs == list(get_args(Reason))
    assert blocked == list(REASONS)


@pytest.mark.parametrize("path", DOC.links())
def test_links_lead_somewhere(path: str) -> None:
    assert (DOC.path.parent / path).exists()
