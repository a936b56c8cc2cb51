"""`docs/tiered.md`: the output of its commands."""

import httpx
import pytest

from tests.conftest import ROOT
from tests.documents import Document, replay

DOC = Document(ROOT / "docs" / "tiered.md")


@pytest.mark.slow
def test_every_command_prints_what_is_shown(client: httpx.Client) -> None:
    replay(DOC, str(client.base_url).rstrip("/"))
