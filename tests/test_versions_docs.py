"""`docs/kafka-versions.md`: its upgrade question, and its table beside the registries."""

import httpx
import pytest

from app.core.groups.registry import ASSIGNOR_RELEASES
from app.core.kafka_versions import NEWEST, SUPPORTED
from tests.conftest import ROOT
from tests.documents import Document, replay

DOC = Document(ROOT / "docs" / "kafka-versions.md")


@pytest.mark.slow
def test_every_request_prints_what_is_shown(client: httpx.Client) -> None:
    replay(DOC, str(client.base_url).rstrip("/"))


def test_every_release_of_an_assignor_has_a_row() -> None:
    rows = DOC.table("algorithm", "releases", "what a user notices")
    named = [(name, releases) for names, releases, _ in rows for name in names.split(", ")]
    for entry in ASSIGNOR_RELEASES:
        if entry.replays is None:
            continue
        holds = entry.replays.holds
        words = holds.from_ if holds.from_ == holds.to else f"{holds.from_} to {holds.to}"
        assert (f"`{entry.name}`", words) in named


def test_it_states_the_default_and_the_supported_releases() -> None:
    assert f"from {SUPPORTED.from_} to {SUPPORTED.to}" in DOC.text
    assert f"without both it is the newest, {NEWEST.major}.{NEWEST.minor}" in DOC.text
