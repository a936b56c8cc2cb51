"""The options of `rackplan check` and `rackplan diff`."""

from pathlib import Path
from typing import Annotated

import typer

from app.cli.output import AsJson, listed
from app.cli.plan_commands import (
    Brokers,
    Capacity,
    ClusterName,
    Features,
    Files,
    Groups,
    KafkaVersion,
    Limit,
    LogDirs,
    Snapshot,
    Topics,
    Url,
    cluster_of,
)
from app.formats.syntax.garbage import uncollected

Desired = Annotated[
    list[Path] | None,
    typer.Option(
        help="Topics as they are to be: YAML of Strimzi, topicctl and others, Terraform's JSON; a file or a folder."
    ),
]


def check(
    files: Files = None,
    snapshot: Snapshot = None,
    brokers: Brokers = None,
    topics: Topics = None,
    log_dirs: LogDirs = None,
    groups: Groups = None,
    features: Features = None,
    cluster: ClusterName = None,
    reassignment: Annotated[
        list[Path] | None,
        typer.Option(help="What is to be executed: files for Kafka, outputs of --generate, or plans' JSON."),
    ] = None,
    desired: Desired = None,
    fail_on: Annotated[
        list[str] | None,
        typer.Option(help="Conditions, separated by commas: violations, skew>0.1 (docs/automation.md)."),
    ] = None,
    junit: Annotated[Path | None, typer.Option(help="Write JUnit's XML to this file.", dir_okay=False)] = None,
    sarif: Annotated[Path | None, typer.Option(help="Write SARIF 2.1.0 to this file.", dir_okay=False)] = None,
    refuse_running: Annotated[
        bool, typer.Option("--refuse-running", help="Fail if partitions are being reassigned already.")
    ] = False,
    allow_lower_factor: Annotated[
        bool,
        typer.Option("--allow-lower-factor", help="Of a reassignment: lower replication factors are a warning."),
    ] = False,
    limit: Limit = None,
    capacity: Capacity = None,
    request: Annotated[
        Path | None,
        typer.Option(help="Capacity, limits, traffic and defaults of the cluster, the JSON of POST /v1/checks."),
    ] = None,
    losses: Annotated[
        Path | None,
        typer.Option(
            help="Write the loads after each loss of a broker or rack to this file, as CSV.",
            dir_okay=False,
        ),
    ] = None,
    kafka_version: KafkaVersion = None,
    output: Annotated[Path | None, typer.Option(help="Write JSON to this file, too.", dir_okay=False)] = None,
    as_json: AsJson = False,
    url: Url = None,
) -> None:
    """Check a cluster, or a reassignment of it. The exit code is 3 if a condition of --fail-on holds."""
    options = dict(locals())
    with uncollected():
        from app.cli import checking  # noqa: PLC0415 — `rackplan --help` is fast without it

    stated = checking.request_of(limit or (), capacity or (), request, allow_lower_factor=allow_lower_factor)
    gate = checking.Gate(
        *(files or (), reassignment or (), desired or (), listed(fail_on), not refuse_running, kafka_version, stated)
    )
    verdict = checking.check(cluster_of(options), gate)
    checking.report(verdict, output=output, junit=junit, sarif=sarif, losses=losses, as_json=as_json)


def diff(
    desired: Desired = None,
    files: Files = None,
    snapshot: Snapshot = None,
    brokers: Brokers = None,
    topics: Topics = None,
    log_dirs: LogDirs = None,
    features: Features = None,
    cluster: ClusterName = None,
    request: Annotated[
        Path | None,
        typer.Option(help="Write the request for `rackplan plan reassignment --request` here.", dir_okay=False),
    ] = None,
    output: Annotated[Path | None, typer.Option(help="Write JSON to this file, too.", dir_okay=False)] = None,
    as_json: AsJson = False,
    url: Url = None,
) -> None:
    """Compare a cluster with topics as they are to be."""
    options = dict(locals())
    with uncollected():
        from app.cli import checking  # noqa: PLC0415 — as above

    if not desired:
        raise typer.BadParameter("state at least one file", param_hint="--desired")
    differences = checking.diff(cluster_of(options), desired)
    checking.report_differences(differences, output=output, request=request, as_json=as_json)
