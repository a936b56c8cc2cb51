"""`rackplan sweep`, `jobs`, `plans`, `share`, `usage` and `ledger`: what a service has, and what it runs.

Each command imports its dependencies when it runs, so that `rackplan --help` is fast.
"""

from collections.abc import Iterable
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer

from app.cli.output import WRONG_INPUT, fail, hand_over, read_input, table
from app.cli.plan_commands import AsJson, Output, Url

sweep = typer.Typer(help="Run sweeps on a service.", no_args_is_help=True)
jobs = typer.Typer(help="List, show and cancel the jobs of a service.", no_args_is_help=True)
plans = typer.Typer(help="List, show and export the plans of a service.", no_args_is_help=True)

share = typer.Typer(
    help="Create, list and revoke share links, which open a page without an API key.", no_args_is_help=True
)

SweepId = Annotated[str, typer.Argument(help="The sweep's id.")]
JobId = Annotated[str, typer.Argument(help="The job's id.")]
PlanId = Annotated[str, typer.Argument(help="The plan's id.")]
Most = Annotated[int, typer.Option("--limit", help="At most so many, the newest.", min=1, max=10_000)]


@sweep.command("run")
def run_sweep(
    file: Annotated[Path, typer.Argument(help="The JSON of POST /v1/sweeps; `-` is standard input.")],
    watch: Annotated[bool, typer.Option("--watch", help="Wait for its end, with a progress bar.")] = False,
    export: Annotated[str | None, typer.Option(help="With --watch, the scenarios as csv, parquet or arrow.")] = None,
    output: Output = None,
    as_json: AsJson = False,
    url: Url = None,
) -> None:
    """Start a sweep. With --watch wait for its end; the exit code is 1 if it fails."""
    from app.cli import (
        planning,  # noqa: PLC0415 — see the module's docstring
        service,
    )

    if export is not None and not watch:
        raise typer.BadParameter("it needs --watch, since there are no scenarios before", param_hint="--export")
    planning.require("export", export, ("csv", "parquet", "arrow"))
    definition = planning.read_json(file, "sweep")
    with service.connected(address(url)) as client:
        started = client.create_sweep(definition)
        if watch:
            with service.progress("sweep") as show:
                started = started.wait(progress=show)
        if export is not None:
            hand_over(started.export(export).content, output)
        else:
            show_rows([started.raw], ("id", "kind", "state", "scenarios", "done"), output, as_json=as_json, is_one=True)


@sweep.command("list")
def list_sweeps(limit: Most = 20, output: Output = None, as_json: AsJson = False, url: Url = None) -> None:
    """List sweeps, newest first."""
    from app.cli import service  # noqa: PLC0415 — see the module's docstring

    with service.connected(address(url)) as client:
        found = _first(client.list_sweeps(page_size=min(limit, 100)), limit)
        show_rows(found, ("id", "kind", "state", "scenarios", "done", "created_at"), output, as_json=as_json)


@sweep.command("show")
def show_sweep(
    sweep_id: SweepId,
    watch: Annotated[bool, typer.Option("--watch", help="Wait for its end, with a progress bar.")] = False,
    output: Output = None,
    as_json: AsJson = False,
    url: Url = None,
) -> None:
    """Show a sweep, and wait for it with --watch."""
    from app.cli import service  # noqa: PLC0415 — see the module's docstring

    with service.connected(address(url)) as client:
        found = client.get_sweep(sweep_id)
        if watch:
            with service.progress("sweep") as show:
                found = found.wait(progress=show)
        show_rows([found.raw], ("id", "kind", "state", "scenarios", "done"), output, as_json=as_json, is_one=True)


@sweep.command("cancel")
def cancel_sweep(sweep_id: SweepId, output: Output = None, as_json: AsJson = False, url: Url = None) -> None:
    """Cancel a sweep; scenarios that are scored stay."""
    from app.cli import service  # noqa: PLC0415 — see the module's docstring

    with service.connected(address(url)) as client:
        show_rows([client.cancel_sweep(sweep_id).raw], ("id", "kind", "state"), output, as_json=as_json, is_one=True)


@jobs.command("list")
def list_jobs(limit: Most = 20, output: Output = None, as_json: AsJson = False, url: Url = None) -> None:
    """List jobs, newest first."""
    from app.cli import service  # noqa: PLC0415 — see the module's docstring

    with service.connected(address(url)) as client:
        found = _first(client.list_jobs(page_size=min(limit, 100)), limit)
        show_rows(found, ("id", "kind", "state", "created_at", "plan"), output, as_json=as_json)


@jobs.command("show")
def show_job(
    job_id: JobId,
    watch: Annotated[bool, typer.Option("--watch", help="Wait for its end.")] = False,
    output: Output = None,
    as_json: AsJson = False,
    url: Url = None,
) -> None:
    """Show a job; with --watch wait for its end."""
    from app.cli import service  # noqa: PLC0415 — see the module's docstring

    with service.connected(address(url)) as client:
        found = client.get_job(job_id)
        if watch:
            with service.progress("job") as show:
                found.wait(progress=show)
            found = client.get_job(job_id)
        show_rows([found.raw], ("id", "kind", "state", "plan", "error"), output, as_json=as_json, is_one=True)


@jobs.command("cancel")
def cancel_job(job_id: JobId, output: Output = None, as_json: AsJson = False, url: Url = None) -> None:
    """Cancel a job."""
    from app.cli import service  # noqa: PLC0415 — see the module's docstring

    with service.connected(address(url)) as client:
        show_rows([client.cancel_job(job_id).raw], ("id", "kind", "state"), output, as_json=as_json, is_one=True)


@plans.command("list")
def list_plans(
    kind: Annotated[str | None, typer.Option(help="replicas, reassignment, group or streams.")] = None,
    cluster: Annotated[str | None, typer.Option(help="Of this cluster.")] = None,
    limit: Most = 20,
    output: Output = None,
    as_json: AsJson = False,
    url: Url = None,
) -> None:
    """List plans, newest first."""
    from app.cli import service  # noqa: PLC0415 — see the module's docstring

    with service.connected(address(url)) as client:
        found = _first(client.list_plans(kind=kind, cluster=cluster, page_size=min(limit, 100)), limit)
        show_rows(found, ("id", "title", "cluster", "status", "created_at"), output, as_json=as_json)


@plans.command("show")
def show_plan(plan_id: PlanId, output: Output = None, as_json: AsJson = False, url: Url = None) -> None:
    """Show a plan."""
    from app.cli import service  # noqa: PLC0415 — see the module's docstring
    from app.cli.output import deliver  # noqa: PLC0415 — as above

    with service.connected(address(url)) as client:
        deliver(service.as_json(client.get_plan(plan_id).raw), output, as_json=as_json)


@plans.command("export")
def export_plan(
    plan_id: PlanId,
    file_format: Annotated[str, typer.Option("--format", help="A format of docs/formats.md.")] = "reassignment",
    topic: Annotated[str | None, typer.Option(help="Of one topic.")] = None,
    batch: Annotated[int | None, typer.Option(help="For the format batch: its number, from 1.")] = None,
    inverse: Annotated[bool, typer.Option("--inverse", help="For the format batch: its rollback.")] = False,
    from_snapshot: Annotated[
        str | None, typer.Option("--from", help="For batch and rollback: a later snapshot, to go on or back from.")
    ] = None,
    output: Output = None,
    url: Url = None,
) -> None:
    """Print a plan as a file. Formats are those of Kafka's tools, tables, and a manifest of Kubernetes."""
    from app.cli import service  # noqa: PLC0415 — see the module's docstring

    with service.connected(address(url)) as client:
        written = client.export_plan(
            plan_id, file_format, topic=topic, batch=batch, inverse=inverse, from_=from_snapshot
        )
        hand_over(written.content, output)


@plans.command("progress")
def show_progress(
    plan_id: PlanId,
    snapshot: Annotated[str | None, typer.Option(help="The id of a later snapshot.")] = None,
    cluster: Annotated[str | None, typer.Option(help="The newest snapshot of this cluster, in place of an id.")] = None,
    log: Annotated[Path | None, typer.Option(help="The run.log of the execution, for the ledger.")] = None,
    output: Output = None,
    as_json: AsJson = False,
    url: Url = None,
) -> None:
    """Show the progress of a reassignment. Without a later snapshot it is that at the newest one."""
    from app.cli import service  # noqa: PLC0415 — see the module's docstring

    if snapshot is not None and cluster is not None:
        raise typer.BadParameter("either it or --cluster is given", param_hint="--snapshot")
    with service.connected(address(url)) as client:
        stated = {"cluster": cluster, "snapshot_id": snapshot}
        named = {name: value for name, value in stated.items() if value is not None}
        if log is not None:
            named["log"] = read_input(log).decode(errors="replace")
        found = client.plan_progress(plan_id, **named).raw
        if as_json or output is not None:
            hand_over(service.as_json(found), output)
            return
        columns = ("state", "replicas_left", "bytes_left", "seconds_left", "drifted_partitions", "next")
        show_rows([found], columns, output, as_json=False)
        show_rows(found["batches"], ("index", *columns[:4]), output, as_json=False)


class Shared(StrEnum):
    """The pages that a link can be for."""

    PLAN = "plan"
    SWEEP = "sweep"
    CLUSTER = "cluster"


@share.command("create")
def create_share_link(
    kind: Annotated[Shared, typer.Argument(help="The kind of page.")],
    name: Annotated[str, typer.Argument(help="The id of the plan or sweep, or the name of the cluster.")],
    days: Annotated[int, typer.Option(help="Days after which the link expires.", min=1, max=365)] = 7,
    output: Output = None,
    as_json: AsJson = False,
    url: Url = None,
) -> None:
    """Create a share link of a page. One opens the page with its pictures and files, another its picture alone."""
    from app.cli import service  # noqa: PLC0415 — see the module's docstring

    with service.connected(address(url)) as client:
        made = client.create_share_link(kind=kind.value, name=name, days=days).raw
        if as_json or output is not None:
            hand_over(service.as_json(made), output)
            return
        for label in ("id", "page", "picture", "expires_at"):
            typer.echo(f"{label.replace('_at', ''):8} {made[label]}")


@share.command("list")
def list_share_links(limit: Most = 20, output: Output = None, as_json: AsJson = False, url: Url = None) -> None:
    """List the share links that are valid, newest first."""
    from app.cli import service  # noqa: PLC0415 — see the module's docstring

    with service.connected(address(url)) as client:
        found = _first(client.list_share_links(page_size=min(limit, 100)), limit)
        show_rows(found, ("id", "kind", "name", "created_by", "expires_at"), output, as_json=as_json)


@share.command("revoke")
def revoke_share_links(
    share_link_id: Annotated[
        str | None, typer.Argument(metavar="[ID]", help="The link's id, as `share list` has it. Default: all links.")
    ] = None,
    url: Url = None,
) -> None:
    """Revoke one share link; without an id, revoke all share links of the team."""
    from app.cli import service  # noqa: PLC0415 — see the module's docstring

    with service.connected(address(url)) as client:
        if share_link_id is None:
            client.revoke_share_links()
        else:
            client.revoke_share_link(share_link_id)
    typer.echo("all share links are revoked" if share_link_id is None else "the share link is revoked")


def show_usage(output: Output = None, as_json: AsJson = False, url: Url = None) -> None:
    """Show the usage and the quotas of the team; of every team for a key of all teams."""
    from app.cli import service  # noqa: PLC0415 — see the module's docstring

    with service.connected(address(url)) as client:
        found = client.get_usage().raw["teams"]
    if not as_json and output is None:
        found = [{name: _of_quota(value) for name, value in of.items()} for of in found]
    show_rows(found, tuple(found[0]), output, as_json=as_json)


def show_ledger(
    cluster: Annotated[str | None, typer.Option(help="Of this cluster.")] = None,
    output: Output = None,
    as_json: AsJson = False,
    url: Url = None,
) -> None:
    """Show the errors of predicted bytes and seconds over the plans that were executed."""
    from app.cli import service  # noqa: PLC0415 — see the module's docstring

    with service.connected(address(url)) as client:
        found = client.get_ledger(cluster=cluster).raw
    if as_json or output is not None:
        hand_over(service.as_json(found), output)
        return
    typer.echo(f"{found['count']} plans were executed with their log recorded.")
    errors = [(name, found[f"{name}_error"] or {"median": None, "p90": None}) for name in ("bytes", "seconds")]
    table(("error", "median", "p90"), [(name, _percent(of["median"]), _percent(of["p90"])) for name, of in errors])


def _percent(value: float | None) -> str:
    return "unknown" if value is None else f"{value:.1%}"


def _of_quota(value: Any) -> Any:
    """`12 of 100`, or the name of a team."""
    if not isinstance(value, dict):
        return value
    return f"{value['used']}" if value["limit"] is None else f"{value['used']} of {value['limit']}"


def address(url: str | None) -> str:
    """The address of the service; without one the command ends."""
    if url is None:
        fail("No service", "the command needs a service; set RACKPLAN_URL, or state --url", {}, code=WRONG_INPUT)
    return url


def _first(found: Iterable[Any], limit: int) -> list[Any]:
    return [one.raw for one, _ in zip(found, range(limit), strict=False)]


def show_rows(
    found: list[Any], columns: tuple[str, ...], output: Path | None, *, as_json: bool, is_one: bool = False
) -> None:
    """Print documents of the API as a table, or as JSON: a list, or the one that there is."""
    from app.cli.service import as_json as written  # noqa: PLC0415 — see the module's docstring

    if as_json or output is not None:
        hand_over(written(found[0] if is_one else found), output)
        return
    present = [column for column in columns if any(one.get(column) is not None for one in found)] or list(columns[:1])
    table(present, [[_cell(one.get(column)) for column in present] for one in found])


def _cell(value: object) -> object:
    return str(value.get("detail", value)) if isinstance(value, dict) else value
