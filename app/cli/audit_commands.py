"""`rackplan audit`: the audit log, from the database itself.

Each command imports its dependencies when it runs, so that `rackplan --help` is fast.
"""

import sys
from datetime import UTC, datetime
from enum import StrEnum
from pathlib import Path

import typer

from app.cli.registration import command


class Format(StrEnum):
    """How the entries are written."""

    JSONL = "jsonl"
    CSV = "csv"


@command("audit export")
def export(
    since: datetime | None = None,
    until: datetime | None = None,
    team: str | None = None,
    written: Format = Format.JSONL,
    output: Path | None = None,
) -> None:
    """Write every entry of the audit log, newest first. The export itself is an entry."""
    from app.cli import serving  # noqa: PLC0415 — see the module's docstring
    from app.errors.machine import OutputNotWritable  # noqa: PLC0415 — see the module's docstring
    from app.services import audit as services  # noqa: PLC0415 — see the module's docstring
    from app.store import transaction  # noqa: PLC0415 — see the module's docstring
    from app.store.audit import AuditFilter  # noqa: PLC0415 — see the module's docstring

    if team is not None and not transaction.is_name(team):
        raise typer.BadParameter("no team has this name", param_hint="--team")
    wanted = AuditFilter(since=_in_utc(since), until=_in_utc(until))
    with serving.database(migrated=True) as database, transaction.acting_as(team):
        with database.begin() as uow:
            uow.audit.record("audit.exported", f"team {team}" if team else "every team", team=team or transaction.ALL)
        lines = services.export(database, wanted, services.AuditFormat(written))
        try:
            if output is None:
                sys.stdout.buffer.writelines(lines)
                sys.stdout.buffer.flush()
            else:
                with output.open("xb") as file:
                    file.writelines(lines)
        except OSError as failure:
            raise OutputNotWritable(f"{output or 'standard output'}: {failure.strerror}") from failure


def _in_utc(moment: datetime | None) -> datetime | None:
    return None if moment is None else moment.replace(tzinfo=UTC)
