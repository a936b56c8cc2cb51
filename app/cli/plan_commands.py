"""The commands `rackplan plan …`, whose options are in `options.json`.

Each command imports its dependencies when it runs, so that `rackplan --help` is fast.
"""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from app.cli import service
from app.cli.output import deliver
from app.cli.registration import TABLE, parameter, register
from app.formats.syntax.garbage import uncollected

if TYPE_CHECKING:
    from app.cli.planning import Inputs
    from app.core.model import Cluster

OPTIONS: Mapping[str, Any] = TABLE["plans"]
"""By kind of plan its help, the files that describe its cluster, and its options.

An option has the field that it states, if that has another name, and how it is read: by a name of `plan_options`, or
the value that a flag stands for.
"""
_OF_RESULTS = ("kafka_version", "export", "output", "as_json", "url")


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

    own = row["options"]
    before = ["files", "snapshot", *row["parts"], "cluster", "request"] if "parts" in row else ["file"]
    after = [name for name in _OF_RESULTS if name != "export" or "parts" in row]
    # An argument of its own comes before the files, which take all that follow.
    names = sorted([*before, *own, *after], key=lambda name: "argument" not in own.get(name, ()))
    register(f"plan {kind}", command, [parameter(name, own.get(name, {})) for name in names], row["help"])


for _kind, _row in OPTIONS.items():
    _register(_kind, _row)
