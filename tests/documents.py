"""A document as tests read it: its tables, and its blocks of commands and output."""

import re
import subprocess
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from difflib import unified_diff
from itertools import pairwise
from pathlib import Path
from tempfile import NamedTemporaryFile

from tests import shell
from tests.conftest import ROOT

ID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}")
MOMENT = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z")


@dataclass(frozen=True)
class Document:
    """A Markdown file."""

    path: Path

    @property
    def text(self) -> str:
        return self.path.read_text(encoding="utf-8")

    @property
    def blocks(self) -> list[tuple[str, str]]:
        """Every block of code: its language and its text."""
        return re.findall(r"```(\w+)\n(.*?)```", self.text, re.DOTALL)

    def commands(self) -> Iterator[tuple[str, str]]:
        """Every command that is followed by its output, and that output."""
        for (kind, command), (printed_kind, printed) in pairwise(self.blocks):
            if kind == "sh" and printed_kind in ("json", "text"):
                yield command, printed

    def table(self, *headings: str) -> list[tuple[str, ...]]:
        """The rows of the one table with these headings, cells as they are written."""
        start, end = self._span(headings)
        return [
            tuple(cell.strip() for cell in line.strip("|").split("|")) for line in self.text.splitlines()[start:end]
        ]

    def replace_table(self, headings: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
        """Write other rows into the one table with these headings."""
        start, end = self._span(headings)
        lines = self.text.splitlines()
        lines[start:end] = [f"| {' | '.join(row)} |".replace("|  |", "| |") for row in rows]
        self.path.write_text("\n".join(lines) + "\n", encoding="utf-8")

    def _span(self, headings: Sequence[str]) -> tuple[int, int]:
        lines = self.text.splitlines()
        start = lines.index(f"| {' | '.join(headings)} |") + 2
        end = start
        while end < len(lines) and lines[end].startswith("|"):
            end += 1
        return start, end

    def links(self) -> list[str]:
        """The paths within the repository that it links to."""
        return sorted(set(re.findall(r"\]\((?!http)([^)#]+)[^)]*\)", self.text)))

    def broken_links(self) -> list[str]:
        """The links whose file does not exist, or whose heading the file does not have."""
        broken = []
        for path, fragment in re.findall(r"\]\((?!http)([^)#]*)#?([^)]*)\)", self.text):
            target = self.path.parent / path if path else self.path
            if not target.exists() or (fragment and fragment not in Document(target).anchors()):
                broken.append(f"{path}#{fragment}")
        return broken

    def anchors(self) -> set[str]:
        """Its headings as fragments of a link."""
        return {
            re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")
            for heading in re.findall(r"^#+ (.*)$", self.text, re.MULTILINE)
        }


def code(name: str) -> str:
    """A name as documents write it."""
    return f"`{name}`"


def run(command: str, address: str, variables: Path | None = None) -> str:
    """The output of a document's command, run in the repository, with the service at another address.

    Parameters
    ----------
    variables : a file that has the shell's variables from one command to the next.
    """
    addressed = command.replace("http://127.0.0.1:8080", address).replace(".venv/bin/rackplan", str(shell.rackplan()))
    if variables is not None:
        addressed = f"set -a; . {variables}; {addressed}\nexport -p > {variables}"
    done = subprocess.run(["bash", "-c", addressed], cwd=ROOT, capture_output=True, text=True, check=False, timeout=120)
    assert done.returncode == 0, done.stderr
    return done.stdout


def settled(text: str) -> str:
    """A text without the ids and moments that differ from run to run."""
    return MOMENT.sub("<moment>", ID.sub("<id>", text)).strip()


def difference(documented: str, printed: str) -> str:
    """The lines that differ, marked as in a patch."""
    return "\n".join(unified_diff(settled(documented).splitlines(), settled(printed).splitlines(), lineterm=""))


def replay(document: Document, address: str, is_run: Callable[[str], bool] = lambda _: True) -> None:
    """Run a document's commands in one shell's variables, and compare their output with the documented output.

    Ids differ: the ids that the service gives replace the document's ids in later commands.

    Parameters
    ----------
    is_run : whether a command is run.
    """
    actual_ids: dict[str, str] = {}
    documented = [(command, output) for command, output in document.commands() if is_run(command)]
    assert documented
    with NamedTemporaryFile() as variables:
        for command, output in documented:
            for documented_id, actual_id in actual_ids.items():
                command = command.replace(documented_id, actual_id)  # noqa: PLW2901 — as a reader would type it
            printed = run(command, address, Path(variables.name))
            assert settled(printed) == settled(output), f"{command}\n{difference(output, printed)}"
            actual_ids |= dict(zip(ID.findall(output), ID.findall(printed), strict=True))
