"""`docs/progress.md` agrees with the code, and shows the real output."""

import re
from dataclasses import fields

import httpx
import pytest

from app.services.reassignment.progress.progress import PlanProgressDocument
from tests.conftest import ROOT
from tests.documents import Document, replay

DOC = Document(ROOT / "docs" / "progress.md")


@pytest.mark.slow
def test_every_request_prints_what_is_shown(client: httpx.Client) -> None:
    replay(DOC, str(client.base_url).rstrip("/"))


def test_every_field_of_the_answer_is_there() -> None:
    documented = [name for fields, _ in DOC.table("field", "what") for name in re.findall(r"`(\w+)`", fields)]
    assert sorted(documented) == sorted(field.name for field in fields(PlanProgressDocument))


def test_links_lead_somewhere() -> None:
    assert not DOC.broken_links()
