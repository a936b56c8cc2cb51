"""What the README prints is what happens."""

import re
import subprocess

import httpx
import pytest

from app.settings import Settings
from tests.conftest import ROOT
from tests.documents import Document

DOC = Document(ROOT / "README.md")
README = DOC.text
ID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}")
MOMENT = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z")


def run(command: str, address: str) -> str:
    """What the command prints, with the service at another address and the repository's own environment."""
    here = command.replace("http://127.0.0.1:8080", address)
    # The command of the environment that runs the tests, wherever that is.
    done = subprocess.run(["bash", "-c", here], cwd=ROOT, capture_output=True, text=True, check=False, timeout=120)
    assert done.returncode == 0, done.stderr
    return done.stdout


def settled(text: str) -> str:
    """Without what differs from run to run."""
    return MOMENT.sub("<moment>", ID.sub("<id>", text)).strip()


def replay(document: Document, address: str) -> None:
    """Run a document's commands, and compare what they print with what it shows.

    Ids differ: the ones that the service gives take the place of the document's in later requests.
    """
    actual_id: dict[str, str] = {}
    shown = list(document.commands())
    assert len(shown) >= 3
    for command, printed in shown:
        for told, real in actual_id.items():
            command = command.replace(told, real)  # noqa: PLW2901 — the command as a reader would type it
        output = run(command, address)
        assert settled(output) == settled(printed), command
        actual_id |= dict(zip(ID.findall(printed), ID.findall(output), strict=True))


def test_every_request_prints_what_the_readme_shows(client: httpx.Client) -> None:
    replay(DOC, str(client.base_url).rstrip("/"))


def test_the_settings_are_all_there_with_their_defaults() -> None:
    table = dict(re.findall(r"^\| `RACKPLAN_(\w+)` \| (.*?) \|", README, re.MULTILINE))
    for name, field in Settings.model_fields.items():
        default = "" if field.default in (None, ()) else f"`{field.default}`"
        assert table.pop(name.upper()) == default
    assert not table


@pytest.mark.parametrize("path", DOC.links())
def test_links_lead_somewhere(path: str) -> None:
    assert (ROOT / path).exists()


def test_what_conformance_prints() -> None:
    assert "admin_utils: 305 cases, 0 mismatches" in README
