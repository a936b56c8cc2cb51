"""`docs/groups.md` agrees with the code, and shows the real output."""

from typing import Any, get_args

import httpx
import pytest
from pydantic import TypeAdapter

from app.api.groups import PlanGroupRequest
from app.core.groups.registry import ASSIGNORS, LIBRARY_ASSIGNORS
from app.services.groups.requests import ClientLibrary
from tests.conftest import ROOT
from tests.documents import Document, code, replay
from tests.warnings_made import codes_made

DOC = Document(ROOT / "docs" / "groups.md")


@pytest.mark.long
@pytest.mark.slow
def test_every_request_prints_what_is_shown(client: httpx.Client) -> None:
    replay(DOC, str(client.base_url).rstrip("/"))


def test_the_assignors_are_the_registrys() -> None:
    assert DOC.table("assignor", "runs on", "protocol", "racks", "keeps", "what") == [
        (
            code(one.name),
            one.runs_on,
            one.protocol.value,
            "yes" if one.is_rack_aware else "no",
            "no" if one.owned_in is None else "yes",
            one.summary,
        )
        for one in ASSIGNORS.values()
    ]


def test_the_libraries_are_those_that_differ() -> None:
    rows = DOC.table("library", "assignor", "replayed", "does it hold?")
    own = {row[:2]: row[2] for row in rows if row[2] != "Kafka's own"}
    assert own == {
        (code(library), code(name)): f"its own, of {assignor.library.holds}"
        for (library, name), assignor in LIBRARY_ASSIGNORS.items()
        if assignor.library is not None
    }
    assert {row[0] for row in rows} == {code(library) for library in get_args(ClientLibrary)}


def test_the_events_are_the_operations() -> None:
    schema = TypeAdapter(PlanGroupRequest).json_schema()
    named = {name for model in schema["properties"]["events"]["items"]["oneOf"] for name in _fields(schema, model)}
    assert {event.strip("`") for event, _ in DOC.table("event", "what happens")} == named


def _fields(schema: dict[str, Any], model: dict[str, str]) -> list[str]:
    return list(schema["$defs"][model["$ref"].rpartition("/")[2]]["properties"])


def test_every_warning_that_a_plan_can_carry_is_there() -> None:
    made = codes_made([*(ROOT / "app/services/groups").glob("*.py"), *(ROOT / "app/core/groups/measures").glob("*.py")])
    assert {warning.strip("`") for warning, _ in DOC.table("code", "what it says")} == made


@pytest.mark.parametrize("path", DOC.links())
def test_links_lead_somewhere(path: str) -> None:
    assert (DOC.path.parent / path).exists()
