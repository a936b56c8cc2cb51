"""`docs/bench.md`: the output of its commands, without a service."""

import pytest

from tests.conftest import ROOT
from tests.documents import Document, replay

DOC = Document(ROOT / "docs" / "bench.md")


@pytest.mark.slow
def test_every_command_prints_what_is_shown() -> None:
    replay(DOC, "http://127.0.0.1:8080")
