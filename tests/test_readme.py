"""The README, the quickstart, the pages on plans, jobs, teams and formats: their commands print the shown output."""

import json
import re

import httpx
import pytest

from tests.api.contract import SNAPSHOT_ID
from tests.conftest import ROOT
from tests.documents import Document, replay

README = Document(ROOT / "README.md")
QUICKSTART = Document(ROOT / "docs" / "quickstart.md")
PLANS = Document(ROOT / "docs" / "plans.md")
JOBS = Document(ROOT / "docs" / "jobs.md")
TEAMS = Document(ROOT / "docs" / "teams.md")
FORMATS = Document(ROOT / "docs" / "formats.md")


@pytest.mark.long
@pytest.mark.slow
@pytest.mark.parametrize(
    "document", [README, QUICKSTART, PLANS, JOBS, TEAMS, FORMATS], ids=lambda document: document.path.stem
)
def test_every_command_prints_what_is_shown(document: Document, client: httpx.Client) -> None:
    assert document is not QUICKSTART or len(list(document.commands())) >= 11
    replay(document, str(client.base_url).rstrip("/"), lambda command: not is_of_keys(command))


def is_of_keys(command: str) -> bool:
    """Whether a command creates or revokes keys, which closes the service that it is run against."""
    return "rackplan keys" in command


def test_the_operations_of_the_readme_take_what_it_names() -> None:
    """Each row names an operation, and fields of its body in quotes: all exist, so that none is a 422."""
    document = json.loads((ROOT / "openapi" / "openapi.json").read_text())
    schemas = document["components"]["schemas"]
    operation = ""
    for _, cell, _ in README.table("question", "operation", "guide"):
        named = re.findall(r"`(?:POST )?(/v1/[^`]*)`", cell)
        operation = named[0] if named else operation  # `the same, with …`
        for path in named:
            assert any(re.sub(r"\{\w+\}", "{id}", known) == path for known in document["paths"]), path
        fields = re.findall(r'`"(\w+)"', cell)
        if fields:
            content = document["paths"][operation]["post"]["requestBody"]["content"]["application/json"]
            schema = schemas[content["schema"]["$ref"].rpartition("/")[2]]
            assert set(fields) <= {*schema["properties"]}, cell


@pytest.mark.parametrize("limits", [{"replicas": {"absolute": 40}}, {"leaders": {"absolute": 15}}])
def test_a_check_of_limits_as_the_readme_has_it(client: httpx.Client, limits: dict[str, object]) -> None:
    answer = client.post("/v1/checks", json={"snapshot_id": SNAPSHOT_ID, "limits": limits})
    assert answer.status_code == httpx.codes.OK, answer.text
    assert {"over_limit", "fails_first", "least_repair"} <= {*answer.json()}


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
