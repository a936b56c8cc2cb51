"""A document as tests read it: its tables, and its blocks of commands and what they print."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path


@dataclass(frozen=True)
class Document:
    """A Markdown file."""

    path: Path

    @property
    def text(self) -> str:
        return self.path.read_text(encoding="utf-8")

    @property
    def blocks(self) -> list[tuple[str, str]]:
        """Every block of code: its language, and what it holds."""
        return re.findall(r"```(\w+)\n(.*?)```", self.text, re.DOTALL)

    def commands(self) -> Iterator[tuple[str, str]]:
        """Every command that is followed by what it prints."""
        for (kind, command), (printed_kind, printed) in pairwise(self.blocks):
            if kind == "sh" and printed_kind in ("json", "text"):
                yield command, printed

    def table(self, *headings: str) -> list[tuple[str, ...]]:
        """The rows of the one table with these headings, cells as they are written."""
        lines = self.text.splitlines()
        start = lines.index(f"| {' | '.join(headings)} |") + 2
        rows = []
        for line in lines[start:]:
            if not line.startswith("|"):
                break
            rows.append(tuple(cell.strip() for cell in line.strip("|").split("|")))
        return rows

    def links(self) -> list[str]:
        """Where it leads to within the repository."""
        return sorted(set(re.findall(r"\]\((?!http)([^)#]+)\)", self.text)))


def code(name: str) -> str:
    """A name as documents write it."""
    return f"`{name}`"
