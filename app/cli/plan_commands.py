"""The commands `rackplan plan …`, whose options are in `options.json`.

Each command imports its dependencies when it runs, so that `rackplan --help` is fast.
"""

import inspect
import json
from collections.abc import Callable, Mapping, Sequence
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from app.cli import service
from app.cli.output import AsJson, deliver
from app.formats.syntax.garbage import uncollected

if TYPE_CHECKING:
    from app.cli.planning import Inputs
    from app.core.model import Cluster

Files = Annotated[
    list[Path] | None,
    typer.Argument(
        help="Texts of Kafka's tools, or a snapshot's JSON: any number in any order, recognized by their contents; "
        "`-` is standard input."
    ),
]
Snapshot = Annotated[
    str | None, typer.Option(help="A file of `rackplan snapshot`, or the id of a snapshot of the service.")
]
Brokers = Annotated[
    Path | None, typer.Option(help="kafka-broker-api-versions, ZooKeeper registrations or metadata bytes.")
]
Topics = Annotated[Path | None, typer.Option(help="The output of kafka-topics --describe.")]
LogDirs = Annotated[Path | None, typer.Option(help="The output of kafka-log-dirs --describe.")]
Groups = Annotated[Path | None, typer.Option(help="kafka-consumer-groups --describe and the like, or groups as JSON.")]
Features = Annotated[Path | None, typer.Option(help="The output of kafka-features describe, or a broker's log.")]
ClusterName = Annotated[
    str | None,
    typer.Option(help="The cluster's name; without files, the newest snapshot that the service has of it."),
]
Capacity = Annotated[
    list[str] | None,
    typer.Option(help="Capacities, by commas: disk=BYTES, nic_in=, nic_out=BYTES_PER_S, cpu=, or 101:disk=BYTES."),
]
Limit = Annotated[
    list[str] | None,
    typer.Option(help="Limits of brokers, separated by commas: disk=0.8 of the capacity or disk=80%, replicas=4000."),
]
Request = Annotated[
    Path | None,
    typer.Option(
        help="The JSON of the API's request, without snapshot_id, or a KafkaRebalance, in place of its options."
    ),
]
KafkaVersion = Annotated[str | None, typer.Option(help="The release of Kafka, such as 4.2. Default: the snapshot's.")]
ExportFormat = Annotated[str | None, typer.Option(help="Print this format, such as csv; a wrong name lists all.")]
Output = Annotated[Path | None, typer.Option(help="Write to this file.", dir_okay=False)]
Url = Annotated[str | None, typer.Option(envvar="RACKPLAN_URL", help="Use the service at this address.")]

Desired = Annotated[
    list[Path] | None,
    typer.Option(
        help="Topics as they are to be: YAML of Strimzi, topicctl and others, Terraform's JSON; a file or a folder."
    ),
]
KeyFile = Annotated[Path, typer.Argument(help="One key a line; `-` is standard input.")]
_TYPES: Mapping[str, Any] = {
    "texts": (list[str] | None, None),
    "text": (str | None, None),
    "whole": (int | None, None),
    "number": (float | None, None),
    "file": (Path | None, None),
    "files": (list[Path] | None, None),
    "flag": (bool, False),
}
TABLE: Mapping[str, Any] = json.loads(files("app.cli").joinpath("options.json").read_bytes())
"""The commands that make plans, by kind, and others, by name, each with its help and its options."""
OPTIONS: Mapping[str, Any] = TABLE["plans"]
"""By kind of plan its help, the files that describe its cluster, and its options.

An option has the field that it states, if that has another name, and how it is read: by a name of `plan_options`, or
the value that a flag stands for.
"""
plan = typer.Typer(help="Make plans from files, or on a service.", no_args_is_help=True)


_OF_RESULTS = ("kafka_version", "export", "output", "as_json", "url")


def _shared(
    file: KeyFile,
    files: Files = None,
    snapshot: Snapshot = None,
    brokers: Brokers = None,
    topics: Topics = None,
    log_dirs: LogDirs = None,
    groups: Groups = None,
    features: Features = None,
    cluster: ClusterName = None,
    request: Request = None,
    kafka_version: KafkaVersion = None,
    export: ExportFormat = None,
    output: Output = None,
    as_json: AsJson = False,
    url: Url = None,
    limit: Limit = None,
    capacity: Capacity = None,
    desired: Desired = None,
) -> None:
    """The parameters that commands share; this function is never called."""


_SHARED = inspect.signature(_shared).parameters


def parameter(name: str, row: Mapping[str, Any]) -> inspect.Parameter:
    """The parameter of a row of `options.json`; one without help is shared."""
    if "help" not in row:
        return _SHARED[name]
    bounds = {bound: row[bound] for bound in ("min", "max", "dir_okay") if bound in row}
    spelled = row.get("spelled", [f"--{name.replace('_', '-')}"])
    annotation, default = _TYPES[row.get("type", "text")]
    value = ... if "required" in row else default
    info = (
        typer.Argument(value, help=row["help"])
        if "argument" in row
        else typer.Option(value, *spelled, help=row["help"], **bounds)
    )
    return inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=info, annotation=annotation)


def register(
    group: typer.Typer,
    name: str,
    command: Callable[..., None],
    parameters: Sequence[inspect.Parameter],
    doc: str | None,
) -> None:
    """Register a function as a command with these parameters, which it gets by name, and this docstring."""
    named = [each.replace(kind=inspect.Parameter.KEYWORD_ONLY) for each in parameters]
    command.__signature__ = inspect.Signature(named)  # type: ignore[attr-defined] # read by inspect
    command.__annotations__ = {each.name: each.annotation for each in named}
    command.__doc__ = doc
    group.command(name)(command)


def _plan(kind: str, options: Mapping[str, Any]) -> None:
    """Plan with the options of a command, and write the plan."""
    with uncollected():
        from app.cli import plan_options, planning  # noqa: PLC0415 — see the module's docstring

    stated = dict(options)
    if kind == "reassignment":
        stated["topic"] = plan_options.named_topics(options["topic"], options["topics_to_move"])
    fields = plan_options.fields_of(stated, plan_options.OF_KIND[kind])
    body = planning.body_of(fields, options["request"])
    export = planning.Export(options["export"], options.get("batch"), options.get("inverse", False))
    inputs = inputs_of(options)
    if options["url"] is not None:
        answer = service.make_plan(options["url"], kind, body, inputs, export)
    else:
        answer = planning.make(kind, body, inputs, export)
    deliver(answer, options["output"], as_json=options["as_json"] or export.name is not None)


def inputs_of(options: Mapping[str, Any]) -> "Inputs":
    """The files of a command that describe a cluster."""
    from app.cli.planning import Inputs  # noqa: PLC0415 — see the module's docstring

    parts = {part: options.get(part) for part in ("brokers", "topics", "log_dirs", "groups", "features")}
    return Inputs(options["files"] or (), parts, options["snapshot"], options["cluster"])


def cluster_of(options: Mapping[str, Any]) -> "Cluster":
    """The cluster of the files of a command, or of a snapshot of the service."""
    inputs = inputs_of(options)
    if options["url"] is None or not inputs.is_remote:
        return inputs.cluster()
    return service.cluster(options["url"], inputs)


def _plan_keys(options: Mapping[str, Any]) -> None:
    """Find the partitions of the keys of a file, and write them."""
    with uncollected():
        from app.cli import plan_options, planning  # noqa: PLC0415 — see the module's docstring

    fields = plan_options.fields_of(options, plan_options.OF_KIND["keys"])
    body = planning.body_of_keys(
        options["file"], fields, null_marker=options["null_marker"], null_keys=options["null_keys"]
    )
    answer = service.place_keys(options["url"], body) if options["url"] is not None else planning.place_keys(body)
    deliver(answer, options["output"], as_json=options["as_json"])


def _register(kind: str, row: Mapping[str, Any]) -> None:
    """Register `rackplan plan KIND`: the options of files precede its own; the options of results follow."""

    def command(**options: Any) -> None:
        if kind == "keys":
            _plan_keys(options)
        else:
            _plan(kind, options)

    own = {name: parameter(name, each) for name, each in row["options"].items()}
    before = ["files", "snapshot", *row["parts"], "cluster", "request"] if "parts" in row else ["file"]
    after = [name for name in _OF_RESULTS if name != "export" or "parts" in row]
    # An argument of its own comes before the files, which take all that follow.
    names = sorted([*before, *own, *after], key=lambda name: "argument" not in row["options"].get(name, ()))
    register(plan, kind, command, [own[name] if name in own else _SHARED[name] for name in names], row["help"])


for _kind, _row in OPTIONS.items():
    _register(_kind, _row)
