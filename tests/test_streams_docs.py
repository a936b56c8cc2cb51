"""`docs/streams.md` agrees with the code, and shows the real output."""

import httpx
import pytest

from app.core.streams.registry import STREAMS_ASSIGNORS
from tests.conftest import ROOT
from tests.documents import Document, code, replay
from tests.warnings_made import codes_made

DOC = Document(ROOT / "docs" / "streams.md")


@pytest.mark.long
@pytest.mark.slow
def test_every_request_prints_what_is_shown(client: httpx.Client) -> None:
    replay(DOC, str(client.base_url).rstrip("/"))


def test_the_assignors_are_the_registrys() -> None:
    def said(holds: bool) -> str:
        return "yes" if holds else "no"

    assert DOC.table("assignor", "tags", "racks", "warm-ups", "what") == [
        (code(one.name), said(one.uses_tags), said(one.uses_racks), said(one.warms_up), one.summary)
        for one in STREAMS_ASSIGNORS.values()
    ]


def test_every_warning_that_a_plan_can_carry_is_there() -> None:
    made = codes_made((ROOT / "app/services/streams").glob("*.py"))
    assert {warning.strip("`") for warning, _ in DOC.table("code", "what it says")} == made


@pytest.mark.parametrize("path", DOC.links())
def test_links_lead_somewhere(path: str) -> None:
    assert (DOC.path.parent / path).exists()
