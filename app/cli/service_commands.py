"""`rackplan sweep`, `jobs`, `plans`, `share`, `usage` and `ledger`: resources and jobs of a service."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeAlias

import typer

from app.cli import service
from app.cli.output import WRONG_INPUT, fail, hand_over, read_input, table, tell
from app.cli.summaries import deliver

_OF_SWEEP = ("id", "kind", "state", "scenarios", "done")
Found: TypeAlias = "Mapping[str, Any] | Sequence[Mapping[str, Any]]"
"""A document of the API, or several."""


def shown(
    find: Callable[..., Found],
    columns: Sequence[str],
    *,
    output: Path | None,
    url: str | None,
    as_json: bool,
    **own: Any,
) -> None:
    """Print the result of a function, whose first parameter is a client of the service, as these columns."""
    with service.connected(address(url)) as client:
        show_rows(find(client, **own), columns, output, as_json=as_json)


def run_sweep(file: Path, watch: bool, export: str | None, output: Path | None, as_json: bool, url: str | None) -> None:
    """Start a sweep. With --watch wait for its end; the exit code is 1 if it fails."""
    from app.cli import planning  # noqa: PLC0415 — few of these commands need the core

    if export is not None and not watch:
        raise typer.BadParameter("it needs --watch, since there are no scenarios before", param_hint="--export")
    planning.require("export", export, ("csv", "parquet", "arrow"))
    definition = planning.read_json(file, "sweep")
    with service.connected(address(url)) as client:
        started = client.create_sweep(definition)
        if watch:
            started = _watched("sweep", started)
        if export is not None:
            hand_over(started.export(export).content, output)
        else:
            show_rows(started.raw, _OF_SWEEP, output, as_json=as_json)


def list_newest(client: Any, operation: str, most: int, **selected: str | None) -> Found:
    """The newest of what an operation of the client lists."""
    found = getattr(client, operation)(page_size=min(most, 100), **selected)
    return [one.raw for one, _ in zip(found, range(most), strict=False)]


def show_sweep(client: Any, sweep_id: str, watch: bool) -> Found:
    """Show a sweep, and wait for it with --watch."""
    found = client.get_sweep(sweep_id)
    return raw(_watched("sweep", found) if watch else found)


def cancel_sweep(client: Any, sweep_id: str) -> Found:
    """Cancel a sweep; scenarios that are scored stay."""
    return raw(client.cancel_sweep(sweep_id))


def show_job(client: Any, job_id: str, watch: bool) -> Found:
    """Show a job; with --watch wait for its end."""
    if watch:
        _watched("job", client.get_job(job_id))
    return raw(client.get_job(job_id))


def cancel_job(client: Any, job_id: str) -> Found:
    """Cancel a job."""
    return raw(client.cancel_job(job_id))


def show_plan(plan_id: str, output: Path | None, as_json: bool, url: str | None) -> None:
    """Show a plan."""
    with service.connected(address(url)) as client:
        deliver(service.as_json(client.get_plan(plan_id).raw), output, as_json=as_json)


def export_plan(
    plan_id: str, file_format: str, from_snapshot: str | None, output: Path | None, url: str | None, **of_file: Any
) -> None:
    """Print a plan as a file. Formats are files for Kafka's tools, tables, and a manifest of Kubernetes."""
    with service.connected(address(url)) as client:
        written = client.export_plan(plan_id, file_format, from_=from_snapshot, **of_file)
        hand_over(written.content, output)


def show_progress(
    plan_id: str,
    snapshot: str | None,
    cluster: str | None,
    log: Path | None,
    output: Path | None,
    as_json: bool,
    url: str | None,
) -> None:
    """Show the progress of a reassignment. Without a later snapshot it is that at the newest one."""
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
        show_rows(found, columns, output, as_json=False)
        show_rows(found["batches"], ("index", *columns[:4]), output, as_json=False)


def create_share_link(kind: str, name: str, days: int, output: Path | None, as_json: bool, url: str | None) -> None:
    """Create a share link of a page. One opens the page with its pictures and files, another its picture alone."""
    with service.connected(address(url)) as client:
        made = client.create_share_link(kind=kind, name=name, days=days).raw
        if as_json or output is not None:
            hand_over(service.as_json(made), output)
            return
        for label in ("id", "page", "picture", "expires_at"):
            typer.echo(f"{label.replace('_at', ''):8} {made[label]}")


def revoke_share_links(share_link_id: str | None, as_json: bool, url: str | None) -> None:
    """Revoke one share link; without an id, revoke all share links of the team."""
    with service.connected(address(url)) as client:
        if share_link_id is None:
            client.revoke_share_links()
        else:
            client.revoke_share_link(share_link_id)
    sentence = "all share links are revoked" if share_link_id is None else "the share link is revoked"
    tell(sentence, {"revoked": share_link_id or "all"}, as_json=as_json)


def show_usage(output: Path | None, as_json: bool, url: str | None) -> None:
    """Show the usage and the quotas of the team; of every team for a key of all teams."""
    with service.connected(address(url)) as client:
        found = client.get_usage().raw["teams"]
    if not as_json and output is None:
        found = [{name: _of_quota(value) for name, value in of.items()} for of in found]
    show_rows(found, tuple(found[0]), output, as_json=as_json)


def show_ledger(cluster: str | None, output: Path | None, as_json: bool, url: str | None) -> None:
    """Show the errors of predicted bytes and seconds over the plans that were executed."""
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


def raw(found: Any) -> Found:
    """The document of the API that a method of the client found."""
    document: Found = found.raw
    return document


def _watched(what: str, running: Any) -> Any:
    """The end of a job or a sweep, with its progress until then."""
    with service.progress(what) as show:
        return running.wait(progress=show)


def show_rows(found: Found, columns: Sequence[str], output: Path | None, *, as_json: bool) -> None:
    """Print documents of the API as a table, or as JSON."""
    if as_json or output is not None:
        hand_over(service.as_json(found), output)
        return
    rows = [found] if isinstance(found, Mapping) else found
    present = [column for column in columns if any(one.get(column) is not None for one in rows)] or columns[:1]
    table(present, [[_cell(one.get(column)) for column in present] for one in rows])


def _cell(value: object) -> object:
    return str(value.get("detail", value)) if isinstance(value, dict) else value
