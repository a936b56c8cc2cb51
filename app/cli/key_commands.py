"""`rackplan keys`: API keys, in the database itself.

Each command imports its dependencies when it runs, so that `rackplan --help` is fast.
"""

import re
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

import typer
from orjson import OPT_APPEND_NEWLINE, OPT_INDENT_2, dumps

from app.cli.output import WRONG_INPUT, fail, hand_over, tell
from app.cli.registration import command
from app.errors.quotation import escaped

if TYPE_CHECKING:
    from app.store.api_keys import ApiKey

_DAYS = {"d": 1, "w": 7}
_LONGEST_DAYS = 36_500


@command("keys create")
def create_key(
    name: str,
    scope: list[str] | None = None,
    team: str = "default",
    all_teams: bool = False,
    expires: str | None = None,
    as_json: bool = False,
) -> None:
    """Create a key and print it. It cannot be shown again; only its hash is stored."""
    expires_at = None if expires is None else _moment(expires)
    from app.cli import serving  # noqa: PLC0415 — see the module's docstring
    from app.services import api_keys  # noqa: PLC0415 — see the module's docstring

    with serving.database(migrated=True) as database, database.begin() as uow:
        made, secret = api_keys.create(
            uow, name=name, scopes=scope or ["plan"], team=_team(team, all_teams=all_teams), expires_at=expires_at
        )
    tell(secret, {"name": made.name, "key": secret}, as_json=as_json)


@command("keys list")
def list_keys(as_json: bool = False) -> None:
    """List all keys, revoked and expired ones too. Secrets are not shown."""
    from app.cli import serving  # noqa: PLC0415 — see the module's docstring
    from app.store import transaction  # noqa: PLC0415 — see the module's docstring

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


@command("keys revoke")
def revoke_key(name: str, team: str = "default", all_teams: bool = False, as_json: bool = False) -> None:
    """Revoke a key permanently."""
    from app.cli import serving  # noqa: PLC0415 — see the module's docstring

    with serving.database(migrated=True) as database, database.begin() as uow:
        uow.api_keys.revoke(name, team=_team(team, all_teams=all_teams))
    tell(f"{escaped(name)} is revoked", {"revoked": name}, as_json=as_json)


@command("keys open")
def open_service(yes: bool = False, as_json: bool = False) -> None:
    """Let everyone on this machine use the service without a key: delete all keys, which have to be revoked.

    Until then a service stays closed once a key was created, also after the last key was revoked. On an address that
    other machines can reach it stays closed anyway.
    """
    from app.cli import serving  # noqa: PLC0415 — see the module's docstring

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
    from app.store import transaction  # noqa: PLC0415 — see the module's docstring

    if all_teams and team != transaction.DEFAULT:
        raise typer.BadParameter("either it or --team is given", param_hint="--all-teams")
    if team == transaction.ALL:
        raise typer.BadParameter("a key of every team is made with --all-teams", param_hint="--team")
    return transaction.ALL if all_teams else team


def _state(key: "ApiKey") -> str:
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
