"""The documentation as a whole: its index, its links, and the reference tables that follow from the code."""

import re
from collections.abc import Callable
from pathlib import Path

import pytest

from tests import reference
from tests.conftest import ROOT
from tests.documents import Document, replay

DOCS = [Document(path) for path in sorted((ROOT / "docs").glob("*.md"))]
CONTRIBUTING = Document(ROOT / "CONTRIBUTING.md")
ALL = [Document(ROOT / "README.md"), CONTRIBUTING, *DOCS]
PROSE = [
    *(document.path for document in ALL),
    *sorted((ROOT / "docs" / "decisions").glob("*.md")),
    *sorted((ROOT / "app" / "web" / "templates").glob("*.html")),
]
NOT_OURS = re.compile(r"\b(nobody|whom|minded|dearer|would rather|to and fro)\b", re.IGNORECASE)
"""Words that make a person of a broker, or a riddle of a term; the glossary has the terms to use."""


@pytest.mark.parametrize("document", ALL, ids=lambda document: str(document.path.relative_to(ROOT)))
def test_links_lead_somewhere(document: Document) -> None:
    assert document.broken_links() == []


@pytest.mark.long
def test_the_commands_of_a_first_change_print_what_is_shown() -> None:
    replay(CONTRIBUTING, "")


def test_the_index_lists_every_document() -> None:
    index = Document(ROOT / "docs" / "README.md")
    assert {path.name for path in (ROOT / "docs").glob("*.md")} - {"README.md"} <= set(index.links())


@pytest.mark.parametrize(
    ("document", "headings", "rows"), reference.TABLES, ids=[rows.__name__ for _, _, rows in reference.TABLES]
)
def test_the_reference_is_the_code(
    document: Document, headings: tuple[str, ...], rows: Callable[[], reference.Rows]
) -> None:
    """`python -m tests.reference` writes the tables."""
    assert document.table(*headings) == rows()


def test_the_glossary_is_sorted() -> None:
    """Term by term within each part, so that a reader finds them."""
    for part in (ROOT / "docs" / "glossary.md").read_text(encoding="utf-8").split("\n## ")[1:]:
        terms = [line.split("|")[1].strip().lower() for line in part.splitlines() if line.startswith("| ")][1:]
        assert terms == sorted(terms)


def test_conformance_prints_what_is_shown() -> None:
    text = (ROOT / "docs" / "predictions.md").read_text(encoding="utf-8")
    cases = sum(
        1 for line in (ROOT / "tests/vectors/admin_utils.jsonl").read_text(encoding="utf-8").splitlines() if line
    )
    assert f"admin_utils [4.0]: {cases} cases, 0 mismatches" in text


@pytest.mark.parametrize("path", PROSE, ids=lambda path: str(path.relative_to(ROOT)))
def test_prose_uses_the_terms_of_the_glossary(path: Path) -> None:
    """Code is not prose: an account may be called `nobody`."""
    prose = re.sub(r"```.*?```|`[^`]*`", "", path.read_text(encoding="utf-8"), flags=re.DOTALL)
    assert NOT_OURS.findall(prose) == []
