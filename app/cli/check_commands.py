"""`rackplan check`, `diff` and `decode`."""

from pathlib import Path
from typing import Any

import typer

from app.cli import checking
from app.cli.output import hand_over, listed, read_input
from app.cli.plan_commands import cluster_of
from app.formats import decoding
from app.formats.syntax.wire_formats import ByteEncoding, WireFormat


def check(**options: Any) -> None:
    """Check a cluster, or a reassignment of it. The exit code is 3 if a condition of --fail-on holds."""
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
    if not options["desired"]:
        raise typer.BadParameter("state at least one file", param_hint="--desired")
    differences = checking.diff(cluster_of(options), options["desired"])
    written = {name: options[name] for name in ("output", "request")}
    checking.report_differences(differences, **written, as_json=options["as_json"])


def decode(wire_format: WireFormat, file: Path, encoding: ByteEncoding, output: Path | None) -> None:
    """Print bytes or texts of Kafka as JSON."""

    hand_over(decoding.as_json(wire_format, read_input(file), encoding), output)
