"""`rackplan check` and `rackplan diff`, whose options are in `options.json`."""

from typing import Any

import typer

from app.cli.output import listed
from app.cli.plan_commands import cluster_of
from app.cli.registration import TABLE, parameter, register
from app.formats.syntax.garbage import uncollected


def check(**options: Any) -> None:
    """Check a cluster, or a reassignment of it. The exit code is 3 if a condition of --fail-on holds."""
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


for _run in (check, diff):
    _rows = TABLE["commands"][_run.__name__]
    register(_run.__name__, _run, [parameter(name, row) for name, row in _rows.items()])
