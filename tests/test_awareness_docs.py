"""`docs/awareness.md` agrees with the code, and shows the real output."""

import httpx
import pytest

from app.core.replicas.awareness.rules import POLICIES
from tests.conftest import ROOT
from tests.documents import Document, code, replay

DOC = Document(ROOT / "docs" / "awareness.md")


@pytest.mark.long
@pytest.mark.slow
def test_every_request_prints_what_is_shown(client: httpx.Client) -> None:
    replay(DOC, str(client.base_url).rstrip("/"))


def test_the_policies_are_the_registrys() -> None:
    rows = [(code(policy.value), rule.summary, rule.source) for policy, rule in POLICIES.items()]
    assert DOC.table("policy", "what it does", "source") == rows


def test_each_policy_is_documented() -> None:
    for policy in POLICIES:
        assert f"### {policy.value}\n" in DOC.text


@pytest.mark.parametrize("path", DOC.links())
def test_links_lead_somewhere(path: str) -> None:
    assert (DOC.path.parent / path).exists()
