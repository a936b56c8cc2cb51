"""The README, the quickstart, the pages on plans, jobs, teams and formats: their commands print what they show."""

import httpx
import pytest

from tests.conftest import ROOT
from tests.documents import Document, replay

README = Document(ROOT / "README.md")
QUICKSTART = Document(ROOT / "docs" / "quickstart.md")
PLANS = Document(ROOT / "docs" / "plans.md")
JOBS = Document(ROOT / "docs" / "jobs.md")
TEAMS = Document(ROOT / "docs" / "teams.md")
FORMATS = Document(ROOT / "docs" / "formats.md")


@pytest.mark.slow
@pytest.mark.parametrize(
    "document", [README, QUICKSTART, PLANS, JOBS, TEAMS, FORMATS], ids=lambda document: document.path.stem
)
def test_every_command_prints_what_is_shown(document: Document, client: httpx.Client) -> None:
    assert document is not QUICKSTART or len(list(document.commands())) >= 9
    replay(document, str(client.base_url).rstrip("/"))


def test_the_picture_is_the_plans(client: httpx.Client) -> None:
    """The README's request, and then the picture of the plan that it makes."""
    (_, output) = next(README.commands())
    replay(README, str(client.base_url).rstrip("/"))
    newest = client.get("/v1/plans", params={"page_size": 1}).json()["items"][0]
    assert newest["id"] not in output
    picture = client.get(f"/v1/plans/{newest['id']}/picture.svg")
    assert picture.content == (ROOT / "docs" / "pictures" / "orders-v2.svg").read_bytes()


def test_a_first_visit_is_short() -> None:
    """One screen before the first command, two commands, one request."""
    assert len(README.text.splitlines()) <= 100
    assert [kind for kind, _ in README.blocks] == ["sh", "sh", "text"]
