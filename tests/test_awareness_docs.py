"""`docs/awareness.md` agrees with the code, and shows the real output."""

import httpx
import pytest

from app.core.replicas.awareness.rules import POLICIES
from app.core.replicas.registry import PLACEMENT_OPTIONS
from tests.conftest import ROOT
from tests.documents import Document, code, replay

DOC = Document(ROOT / "docs" / "awareness.md")


@pytest.mark.long
@pytest.mark.slow
def test_every_request_prints_what_is_shown(client: httpx.Client) -> None:
    replay(DOC, str(client.base_url).rstrip("/"))


def test_the_policies_are_the_registrys() -> None:
    rows = DOC.table("policy", "what it does", "source")
    assert [policy for policy, _, _ in rows] == [code(policy.value) for policy in POLICIES]
    option, _ = PLACEMENT_OPTIONS["policy"]
    described = "; ".join(f"{policy}: {what} ({source})" for policy, what, source in rows)
    assert option.description == f"The placement policy; `spread` by default. {described}"
    assert list(option.choices) == list(POLICIES)


def test_each_policy_is_documented() -> None:
    for policy in POLICIES:
        assert f"### {policy.value}\n" in DOC.text


@pytest.mark.parametrize("path", DOC.links())
def test_links_lead_somewhere(path: str) -> None:
    assert (DOC.path.parent / path).exists()
