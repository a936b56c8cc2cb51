"""The pages on reassignments agree with the code, and show the real output."""

import dataclasses
import re

import httpx
import pytest

from app.core.replicas.options import RackMode
from app.services.plans import FORMATS
from app.services.reassignment import PLAN_KIND, BatchesRequest, ReassignmentRequest
from tests.conftest import ROOT
from tests.documents import Document, code, replay
from tests.warnings_made import codes_made

PAGES = {
    name: Document(ROOT / "docs" / f"{name}.md")
    for name in ("reassignment", "balance", "limits", "execution", "log-dirs")
}
DOC, EXECUTION = PAGES["reassignment"], PAGES["execution"]


@pytest.mark.slow
@pytest.mark.parametrize(
    # Their plans by bytes and within limits are solved for seconds each.
    "page",
    [
        pytest.param(page, marks=pytest.mark.long) if page in ("balance", "limits", "reassignment") else page
        for page in PAGES
    ],
)
def test_every_request_prints_what_is_shown(client: httpx.Client, page: str) -> None:
    replay(PAGES[page], str(client.base_url).rstrip("/"))


def test_the_formats_are_the_registrys() -> None:
    documented = [(name, file) for name, file, _ in EXECUTION.table("`format`", "file", "what")]
    assert documented == [
        (code(name), code(f"…{written.tail}.{written.suffix}"))
        for name, written in FORMATS.items()
        if name in PLAN_KIND.formats
    ]


def test_every_field_of_a_request_is_there() -> None:
    documented = [name for fields, _ in DOC.table("field", "what") for name in re.findall(r"`(\w+)`", fields)]
    assert sorted(documented) == sorted(field.name for field in dataclasses.fields(ReassignmentRequest))


def test_the_limits_of_a_batch_are_those_of_the_request() -> None:
    documented = {name.strip("`") for name, _ in EXECUTION.table("limit", "what it limits")}
    names = {field.name for field in dataclasses.fields(BatchesRequest)}
    assert documented == {name for name in names if name.startswith("max_")}


def test_the_rack_modes_are_all_there() -> None:
    assert {name for name, _ in DOC.table("`rack_mode`", "what holds")} == {code(mode.value) for mode in RackMode}


def test_every_warning_that_a_plan_can_carry_is_there() -> None:
    made = codes_made((ROOT / "app/services/reassignment").rglob("*.py"))
    assert {warning.strip("`") for warning, _ in DOC.table("code", "what it says")} == made


@pytest.mark.parametrize("path", [path for page in PAGES.values() for path in page.links()])
def test_links_lead_somewhere(path: str) -> None:
    assert (DOC.path.parent / path).exists()


@pytest.mark.parametrize("page", PAGES)
def test_links_to_headings_lead_to_headings(page: str) -> None:
    headings = {
        f"{target}#" + re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")
        for target, document in PAGES.items()
        for heading in re.findall(r"^#+ (.*)$", document.text, re.MULTILINE)
    }
    links = re.findall(r"\]\((?:([\w-]+)\.md)?#([^)]+)\)", PAGES[page].text)
    linked = {f"{target or page}#{heading}" for target, heading in links if (target or page) in PAGES}
    assert linked <= headings
