"""`rackplan check` and `rackplan diff`, whose options are in `options.json`."""

from typing import Any

import typer

from app.cli.output import listed
from app.cli.plan_commands import TABLE, cluster_of, parameter, register
from app.formats.syntax.garbage import uncollected


def check(**options: Any) -> None:
    """Check a cluster, or a reassignment of it."""
    with uncollected():
        from app.cli import checking  # noqa: PLC0415 — `rackplan --help` is fast without it

    stated = checking.request_of(
        options["limit"] or (),
        options["capacity"] or (),
        options["request"],
        allow_lower_factor=options["allow_lower_factor"],
    )
    gate = checking.Gate(
        files=options["files"] or (),
        reassignments=options["reassignment"] or (),
        desired=options["desired"] or (),
        fail_on=listed(options["fail_on"]),
        merge_running=not options["refuse_running"],
        kafka_version=options["kafka_version"],
        request=stated,
    )
    verdict = checking.check(cluster_of(options), gate)
    written = {name: options[name] for name in ("output", "junit", "sarif", "losses")}
    checking.report(verdict, **written, as_json=options["as_json"])


def diff(**options: Any) -> None:
    """Compare a cluster with topics as they are to be."""
    with uncollected():
        from app.cli import checking  # noqa: PLC0415 — `rackplan --help` is fast without it

    if not options["desired"]:
        raise typer.BadParameter("state at least one file", param_hint="--desired")
    differences = checking.diff(cluster_of(options), options["desired"])
    written = {name: options[name] for name in ("output", "request")}
    checking.report_differences(differences, **written, as_json=options["as_json"])


def register_in(app: typer.Typer) -> None:
    """Register both commands."""
    for run in (check, diff):
        row = TABLE["commands"][run.__name__]
        parameters = [parameter(name, each) for name, each in row["options"].items()]
        register(app, run.__name__, run, parameters, row["help"])
