"""Commands are rows of `options.json`: the help, the function that runs, and the options with their types and bounds.

`shared` has the rows of options that several commands have, `commands` each command, and `plans` whole kinds of plan.
A function is imported when its command runs, so that `rackplan --help` is fast.
"""

import inspect
import json
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from importlib.resources import files
from pathlib import Path
from typing import Any, Literal

import typer

from app.deferred import Registry
from app.formats.syntax.garbage import uncollected
from app.formats.syntax.wire_formats import ByteEncoding, WireFormat

_TYPES: Mapping[str, Any] = {
    "texts": (list[str] | None, None),
    "text": (str | None, None),
    "whole": (int | None, None),
    "number": (float | None, None),
    "file": (Path | None, None),
    "files": (list[Path] | None, None),
    "flag": (bool, False),
    "moment": (datetime | None, None),
    "entries": (Literal["jsonl", "csv"], None),
    "page": (Literal["plan", "sweep", "cluster"], None),
    "wire_format": (WireFormat, None),
    "encoding": (ByteEncoding, None),
}
_TYPER_KEYS = ("help", "min", "max", "exists", "dir_okay", "file_okay", "envvar", "formats", "metavar")
TABLE: Mapping[str, Any] = json.loads(files("app.cli").joinpath("options.json").read_bytes())
PLANS: Mapping[str, Any] = TABLE["plans"]
"""By kind of plan its help, the files that describe its cluster, and its options.

An option has the field that it states, if that has another name, and how it is read: by a name of `plan_options`, or
the value that a flag stands for.
"""
_OF_RESULTS = ("kafka_version", "export", "output", "as_json", "url")
FUNCTIONS = Registry[Callable[..., Any]](
    {
        **{path: row["run"] for path, row in TABLE["commands"].items()},
        **{f"plan {kind}": "app.cli.plan_commands:plan" for kind in PLANS},
        "plan keys": "app.cli.plan_commands:plan_keys",
        "shown": "app.cli.service_commands:shown",
    }
)
app = typer.Typer(
    name="rackplan",
    help="Predict and plan the placement of Kafka replicas, consumers, Streams tasks and keys.",
    no_args_is_help=True,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
)
_GROUPS = {name: typer.Typer(name=name, help=text, no_args_is_help=True) for name, text in TABLE["groups"].items()}
for _group in _GROUPS.values():
    app.add_typer(_group)


def _parameter(name: str, row: Mapping[str, Any]) -> inspect.Parameter:
    """The parameter of a row; one without help adds to the shared row."""
    row = row if "help" in row else {**TABLE["shared"][name], **row}
    annotation, default = _TYPES[row.get("type", "text")]
    value = ... if "required" in row else row.get("default", default)
    settings = {key: row[key] for key in _TYPER_KEYS if key in row}
    names = row.get("spelled", [f"--{name.replace('_', '-')}"])
    info = typer.Argument(value, **settings) if "argument" in row else typer.Option(value, *names, **settings)
    return inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=info, annotation=annotation)


def _register(path: str, doc: str, parameters: Sequence[inspect.Parameter], **stated: Any) -> None:
    """Register a command, whose function gets the options by their names, and what is stated for it."""

    def command(**options: Any) -> None:
        with uncollected():
            function = FUNCTIONS[path]
        if "columns" in stated:
            FUNCTIONS["shown"](function, **stated, **options)
        else:
            function(**stated, **options)

    command.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined] # read by inspect
    command.__annotations__ = {each.name: each.annotation for each in parameters}
    group, _, name = path.rpartition(" ")
    _GROUPS.get(group, app).command(name, help=doc)(command)


def _plan_parameters(row: Mapping[str, Any]) -> list[inspect.Parameter]:
    """Parameters of `rackplan plan KIND`: the options of files precede its own; the options of results follow."""
    own = row["options"]
    before = ["files", "snapshot", *row["parts"], "cluster", "request"] if "parts" in row else ["file"]
    after = [name for name in _OF_RESULTS if name != "export" or "parts" in row]
    # An argument of its own comes before the files, which take all that follow.
    names = sorted([*before, *own, *after], key=lambda name: "argument" not in own.get(name, ()))
    return [_parameter(name, own.get(name, {})) for name in names]


for _path, _row in TABLE["commands"].items():
    _help = _row["help"]
    if _path == "decode":
        _help += "\n\n\b\n" + "\n".join(f"{one.value}: {one.summary}" for one in WireFormat)
    _stated = {name: _row[name] for name in ("columns", "operation") if name in _row}
    _register(_path, _help, [_parameter(*each) for each in _row["options"].items()], **_stated)
for _kind, _row in PLANS.items():
    _register(f"plan {_kind}", _row["help"], _plan_parameters(_row), **({} if _kind == "keys" else {"kind": _kind}))
