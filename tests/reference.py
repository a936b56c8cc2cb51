"""The tables of the reference documents, computed from the code.

`python -m tests.reference` writes them into the documents; the tests of the documentation compare them.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import typer.main
from typer.core import TyperCommand, TyperGroup

from app import cli
from app.api.openapi.document import of_class
from app.api.problems.codes import OF_HTTP
from app.api.problems.responses import status_of
from app.core.measures.violations import VIOLATIONS
from app.errors import Failure
from app.errors.crossing import FAILURES
from app.formats.syntax.wire_formats import WireFormat
from app.services.cautions import CAUTIONS
from app.services.checks import MEASURES
from app.services.limits import Limits
from app.services.oidc.options import OidcOptions
from app.services.plans.exports import FORMATS
from app.settings import Settings
from rackplan.bench import entries
from tests.conftest import ROOT
from tests.documents import Document, code
from tests.peer_figures import CASES

Rows = list[tuple[str, ...]]

SETTINGS = Document(ROOT / "docs" / "settings.md")
PROBLEMS = Document(ROOT / "docs" / "problems.md")
COMMANDS = Document(ROOT / "docs" / "cli.md")
AUTOMATION = Document(ROOT / "docs" / "automation.md")
FORMATS_PAGE = Document(ROOT / "docs" / "formats.md")
BENCH = Document(ROOT / "docs" / "bench.md")


def settings() -> Rows:
    """Every setting: its variable, default and description."""
    meanings = of_class(Settings)
    return [
        (
            code(f"RACKPLAN_{name.upper()}"),
            "" if field.default in (None, (), {}) else code(_default(field.default)),
            meanings[name],
        )
        # The fields of base classes come first; the table ends with OIDC and the limits.
        for name, field in sorted(
            Settings.model_fields.items(),
            key=lambda item: (item[0] in Limits.model_fields, item[0] in OidcOptions.model_fields),
        )
    ]


def problems() -> Rows:
    """Every failure that has a code, by code: its status, empty if no answer has it, and the docstring's first line."""
    failures = [(code(name), _status(failure), _first_line(failure.__doc__)) for name, failure in FAILURES.items()]
    of_http = [(code(name), str(status.value), meaning) for name, (status, meaning) in OF_HTTP.items()]
    return sorted(failures + of_http)


def meanings(codes: Mapping[str, str]) -> Callable[[], Rows]:
    """Every code of a family and its meaning, by code."""
    return lambda: [(code(name), meaning) for name, meaning in sorted(codes.items())]


def commands() -> Rows:
    """Every command: its name and the first line of its help."""
    return [
        (code(" ".join(["rackplan", *words])), _first_line(command.help))
        for words, command in walk(typer.main.get_command(cli.app), [])
    ]


def measures() -> Rows:
    """Every measure of a condition of `rackplan check`."""
    return [(code(name), what) for name, what in MEASURES.items()]


def wire_formats() -> Rows:
    """Every format that `rackplan decode` prints."""
    return [(code(wire_format.value), wire_format.summary) for wire_format in WireFormat]


def exports() -> Rows:
    """Every format of a plan: the end of its file's name, and its media type."""
    return [
        (code(name), code(f"…{written.tail}.{written.suffix}"), code(written.media_type))
        for name, written in FORMATS.items()
    ]


def bench_results() -> Rows:
    """Every instance of KafkaBench: its best known values and bounds, and the results of planners."""
    return [
        (
            code(entry.name),
            ", ".join(map(code, entry.objectives)),
            _values(entry.best),
            _values(entry.bound),
            entry.planner,
            *(_result(entry.results.get(planner)) for planner in ("Rackplan", "Kafka")),
        )
        for entry in entries().values()
    ]


def peer_results() -> Rows:
    """Results of other planners for other clusters."""
    return [
        (
            case.cluster,
            case.name,
            peer.peer,
            f"{peer.moved_replicas:,}",
            f"{peer.moved_bytes:,}",
            "" if peer.leader_changes is None else f"{peer.leader_changes:,}",
        )
        for case in CASES
        for peer in case.peers
    ]


TABLES = (
    (SETTINGS, ("variable", "default", "what"), settings),
    (PROBLEMS, ("code", "status", "meaning"), problems),
    (PROBLEMS, ("code of a warning", "meaning"), meanings(CAUTIONS)),
    (PROBLEMS, ("code of a violation of a placement", "meaning"), meanings(VIOLATIONS["placement"])),
    (PROBLEMS, ("code of a violation of a group's assignment", "meaning"), meanings(VIOLATIONS["group"])),
    (PROBLEMS, ("code of a violation of a task assignment", "meaning"), meanings(VIOLATIONS["tasks"])),
    (COMMANDS, ("command", "what it does"), commands),
    (AUTOMATION, ("measure", "what it is"), measures),
    (FORMATS_PAGE, ("format", "what it contains"), wire_formats),
    (FORMATS_PAGE, ("`format`", "file", "media type"), exports),
    (
        BENCH,
        ("instance", "minimised", "best known", "lower bound", "by", "Rackplan", "Kafka's own code"),
        bench_results,
    ),
    (BENCH, ("cluster", "change", "planner", "moved replicas", "moved bytes", "leader changes"), peer_results),
)


def _values(values: Sequence[int]) -> str:
    return " and ".join(f"{value:,}" for value in values)


def _result(result: Mapping[str, Any] | None) -> str:
    if result is None:
        return ""
    broken = result["violations"]
    return _values(result["values"]) + (f"; {broken} violation{'s' * (broken > 1)}" if broken else "")


def _default(value: object) -> str:
    return ",".join(value) if isinstance(value, tuple) else str(value)


def _status(failure: type[Failure]) -> str:
    status = status_of(failure)
    return "" if status is None else str(status.value)


def walk(command: object, words: Sequence[str]) -> Iterator[tuple[Sequence[str], TyperCommand]]:
    """Every command below one, with its words."""
    if isinstance(command, TyperGroup):
        for name, nested in command.commands.items():
            yield from walk(nested, [*words, name])
    elif isinstance(command, TyperCommand):
        yield words, command


def _first_line(text: str | None) -> str:
    return " ".join((text or "").split("\n\n")[0].split())


def main() -> None:
    """Write every table into its document."""
    for document, headings, rows in TABLES:
        document.replace_table(headings, rows())


if __name__ == "__main__":
    main()
