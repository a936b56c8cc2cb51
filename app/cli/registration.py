"""Commands are functions, which have the types and defaults of their options; `options.json` has the rest.

A row of it has the help of an option, how it is spelled, and its bounds. `shared` has the rows of options that several
commands have, `commands` the rows of each command, and `plans` whole kinds of plan: see `plan_commands.py`.
"""

import inspect
import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from importlib.resources import files
from pathlib import Path
from typing import Any, TypeVar

import typer

_Command = TypeVar("_Command", bound=Callable[..., None])
_TYPES: Mapping[str, Any] = {
    "texts": (list[str] | None, None),
    "text": (str | None, None),
    "whole": (int | None, None),
    "number": (float | None, None),
    "file": (Path | None, None),
    "files": (list[Path] | None, None),
    "flag": (bool, False),
}
_TYPER_KEYS = ("help", "min", "max", "exists", "dir_okay", "file_okay", "envvar", "formats", "metavar")
TABLE: Mapping[str, Any] = json.loads(files("app.cli").joinpath("options.json").read_bytes())
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


def parameter(name: str, row: Mapping[str, Any]) -> inspect.Parameter:
    """The parameter of a row that has its type, too; one without help is shared."""
    row = row if "help" in row else TABLE["shared"][name]
    annotation, default = _TYPES[row.get("type", "text")]
    default = inspect.Parameter.empty if "required" in row else default
    typed = inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=annotation)
    return _described(typed, row)


def described(path: str, parameters: Iterable[inspect.Parameter]) -> Sequence[inspect.Parameter]:
    """Parameters of a function with their rows of the table; `path` is the command, such as `keys create`."""
    rows = TABLE["commands"].get(path, {})
    return [_described(each, rows.get(each.name) or TABLE["shared"][each.name]) for each in parameters]


def _described(typed: inspect.Parameter, row: Mapping[str, Any]) -> inspect.Parameter:
    value = ... if typed.default is inspect.Parameter.empty else typed.default
    settings = {key: row[key] for key in _TYPER_KEYS if key in row}
    names = row.get("spelled", [f"--{typed.name.replace('_', '-')}"])
    info = typer.Argument(value, **settings) if "argument" in row else typer.Option(value, *names, **settings)
    return typed.replace(kind=inspect.Parameter.KEYWORD_ONLY, default=info)


def command(path: str, *, doc: str | None = None) -> Callable[[_Command], _Command]:
    """Register a function as a command; its help is the docstring, if no other is stated."""

    def registered(function: _Command) -> _Command:
        register(path, function, described(path, inspect.signature(function).parameters.values()), doc)
        return function

    return registered


def register(
    path: str, function: Callable[..., None], parameters: Sequence[inspect.Parameter], doc: str | None = None
) -> None:
    """Register a function as a command with these parameters, which it gets by name, and this help."""
    function.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined] # read by inspect
    function.__annotations__ = {each.name: each.annotation for each in parameters}
    group, _, name = path.rpartition(" ")
    _GROUPS.get(group, app).command(name, help=doc)(function)
