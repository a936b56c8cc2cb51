"""`rackplan keys`, `audit`, `migrate`, `backup` and `restore`: commands on the database itself."""

import re
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path

import typer
from orjson import OPT_APPEND_NEWLINE, OPT_INDENT_2, dumps

from app.cli import serving
from app.cli.output import WRONG_INPUT, fail, hand_over, tell
from app.errors.machine import OutputNotWritable
from app.errors.quotation import escaped
from app.services import api_keys, audit, backups
from app.store import backup, migrations, transaction
from app.store.api_keys import ApiKey
from app.store.audit import AuditFilter

_DAYS = {"d": 1, "w": 7}
_LONGEST_DAYS = 36_500


def migrate(revision: str, as_json: bool) -> None:
    """Upgrade the schema of the database."""

    with serving.database() as database:
        with database.engine.connect() as connection:
            before = migrations.current(connection)
        if revision not in ("head", "base", *migrations.revisions()):
            raise typer.BadParameter(f"there is no {revision}; the newest is {migrations.newest()}", param_hint="--to")
        if revision == "base":
            migrations.downgrade(database.engine, revision)
        else:
            migrations.upgrade(database.engine, revision)
        with database.engine.connect() as connection:
            after = migrations.current(connection)
    tell(f"schema: {before or 'none'} → {after or 'none'}", {"before": before, "after": after}, as_json=as_json)


def write_backup(file: Path, as_json: bool) -> None:
    """Write a backup of the database to a file. The service may run meanwhile."""

    with serving.database() as database:
        manifest = backup.write(database, file)
    rows, tables, size = manifest.rows, len(manifest.tables), file.stat().st_size
    facts = {"file": str(file), "rows": rows, "tables": tables, "schema": manifest.revision, "bytes": size}
    sentence = f"{file}: {rows} rows of {tables} tables, schema {manifest.revision}, {size} bytes"
    tell(sentence, facts, as_json=as_json)


def restore_backup(file: Path, overwrite: bool, as_json: bool) -> None:
    """Restore a backup into an empty database. It is migrated, and the hash of every plan and snapshot verified."""

    with serving.database() as database:
        manifest = backup.restore(database, file, overwrite=overwrite)
        verified = backups.verify(database)
    rows, tables, before, after = manifest.rows, len(manifest.tables), manifest.revision, migrations.newest()
    facts = {"rows": rows, "tables": tables, "before": before, "after": after, "verified": verified}
    sentence = f"{rows} rows of {tables} tables, schema {before} → {after}; {verified} hashes of plans and snapshots"
    tell(f"{sentence} verified", facts, as_json=as_json)


def create_key(
    name: str, scope: list[str] | None, team: str, all_teams: bool, expires: str | None, as_json: bool
) -> None:
    """Create a key and print it. It cannot be shown again; only its hash is stored."""
    expires_at = None if expires is None else _moment(expires)
    with serving.database(migrated=True) as database, database.begin() as uow:
        made, secret = api_keys.create(
            uow, name=name, scopes=scope or ["plan"], team=_team(team, all_teams=all_teams), expires_at=expires_at
        )
    tell(secret, {"name": made.name, "key": secret}, as_json=as_json)


def list_keys(as_json: bool) -> None:
    """List all keys, revoked and expired ones too. Secrets are not shown."""

    with serving.database(migrated=True) as database, database.begin() as uow:
        listed = list(uow.api_keys.all())
        if as_json:
            hand_over(dumps(listed, option=OPT_INDENT_2 | OPT_APPEND_NEWLINE), None)
            return
        for key in listed:
            used = "never used" if key.last_used_at is None else f"used {key.last_used_at:%Y-%m-%d %H:%M}"
            team = "all teams" if key.team == transaction.ALL else key.team
            fields = (key.name, team, ",".join(key.scopes), f"{key.created_at:%Y-%m-%d %H:%M}", used, _state(key))
            typer.echo("\t".join(map(escaped, fields)))


def revoke_key(name: str, team: str, all_teams: bool, as_json: bool) -> None:
    """Revoke a key permanently."""

    with serving.database(migrated=True) as database, database.begin() as uow:
        uow.api_keys.revoke(name, team=_team(team, all_teams=all_teams))
    tell(f"{escaped(name)} is revoked", {"revoked": name}, as_json=as_json)


def open_service(yes: bool, as_json: bool) -> None:
    """Let everyone on this machine use the service without a key: delete all keys, which have to be revoked.

    Until then a service stays closed once a key was created, also after the last key was revoked. On an address that
    other machines can reach it stays closed anyway.
    """

    with serving.database(migrated=True) as database, database.begin() as uow:
        count = uow.api_keys.forget_revoked()
        if not yes:
            uow.rollback()
    if yes:
        sentence = f"{count} revoked keys are deleted; the service is open to every process of this machine"
        tell(sentence, {"deleted": count}, as_json=as_json)
    else:
        detail = f"{count} revoked keys would be deleted, and the service be open; add --yes"
        fail("Nothing is changed", detail, {}, code=WRONG_INPUT)


def _team(team: str, *, all_teams: bool) -> str:

    if all_teams and team != transaction.DEFAULT:
        raise typer.BadParameter("either it or --team is given", param_hint="--all-teams")
    if team == transaction.ALL:
        raise typer.BadParameter("a key of every team is made with --all-teams", param_hint="--team")
    return transaction.ALL if all_teams else team


def _state(key: ApiKey) -> str:
    if key.revoked_at is not None:
        return f"revoked {key.revoked_at:%Y-%m-%d %H:%M}"
    if key.expires_at is None:
        return "valid"
    return f"{'expired' if key.has_expired(datetime.now(UTC)) else 'valid until'} {key.expires_at:%Y-%m-%d %H:%M}"


def _moment(text: str) -> datetime:
    """The moment that a text states, in UTC unless it says otherwise; a usage error if it states none."""
    duration = re.fullmatch(r"([1-9][0-9]{0,5})([dw])", text, re.ASCII)
    if duration is not None:
        days = int(duration[1]) * _DAYS[duration[2]]
        if days <= _LONGEST_DAYS:
            return datetime.now(UTC) + timedelta(days=days)
    try:
        stated = datetime.fromisoformat(text)
    except ValueError:
        raise typer.BadParameter(
            f"an expiry is a number of days or weeks up to {_LONGEST_DAYS} days, or a date: 90d, 12w, 2027-01-31",
            param_hint="--expires",
        ) from None
    return stated if stated.tzinfo else stated.replace(tzinfo=UTC)


def export_audit_log(
    since: datetime | None, until: datetime | None, team: str | None, written: str, output: Path | None
) -> None:
    """Write every entry of the audit log, newest first. The export itself is an entry."""

    if team is not None and not transaction.is_name(team):
        raise typer.BadParameter("no team has this name", param_hint="--team")
    wanted = AuditFilter(since=_in_utc(since), until=_in_utc(until))
    with serving.database(migrated=True) as database, transaction.acting_as(team):
        with database.begin() as uow:
            uow.audit.record("audit.exported", f"team {team}" if team else "every team", team=team or transaction.ALL)
        lines = audit.export(database, wanted, audit.AuditFormat(written))
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
