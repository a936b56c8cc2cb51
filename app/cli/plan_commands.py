"""The commands `rackplan plan …`, whose options are in `options.json`."""

from collections.abc import Mapping
from typing import Any

from app.cli import plan_options, planning, service
from app.cli.planning import Inputs
from app.cli.summaries import deliver
from app.core.model import Cluster


def plan(kind: str, **options: Any) -> None:
    """Plan with the options of a command, and write the plan."""
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


def inputs_of(options: Mapping[str, Any]) -> Inputs:
    """The files of a command that describe a cluster."""
    parts = {part: options.get(part) for part in ("brokers", "topics", "log_dirs", "groups", "features")}
    return Inputs(options["files"] or (), parts, options["snapshot"], options["cluster"])


def cluster_of(options: Mapping[str, Any]) -> Cluster:
    """The cluster of the files of a command, or of a snapshot of the service."""
    inputs = inputs_of(options)
    if options["url"] is None or not inputs.is_remote:
        return inputs.cluster()
    return service.cluster(options["url"], inputs)


def plan_keys(**options: Any) -> None:
    """Find the partitions of the keys of a file, and write them."""
    fields = plan_options.fields_of(options, plan_options.OF_KIND["keys"])
    body = planning.body_of_keys(
        options["file"], fields, null_marker=options["null_marker"], null_keys=options["null_keys"]
    )
    answer = service.place_keys(options["url"], body) if options["url"] is not None else planning.place_keys(body)
    deliver(answer, options["output"], as_json=options["as_json"])
