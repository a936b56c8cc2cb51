"""API keys: their scopes, and the rules for a new one."""

from collections.abc import Sequence
from datetime import datetime
from enum import StrEnum
from typing import TYPE_CHECKING

from app.errors.every import InvalidField, quoted
from app.services.callers import OIDC_PREFIX
from app.store import transaction
from app.store.unit import UnitOfWork

if TYPE_CHECKING:
    from app.store.api_keys import ApiKey

LONGEST_NAME = 100


class Scope(StrEnum):
    """The scope of a key; each scope includes those before it."""

    READ = "read"
    PLAN = "plan"
    SWEEP = "sweep"
    ADMIN = "admin"


def create(
    uow: UnitOfWork, *, name: str, scopes: Sequence[str], team: str | None = None, expires_at: datetime | None = None
) -> tuple["ApiKey", str]:
    """Store a new key; return its record and its secret, which cannot be read again.

    Parameters
    ----------
    team : whose rows it sees, or `teams.ALL`; None is the team of the transaction.

    Raises
    ------
    InvalidField : the name is empty, too long or not printable, a scope is unknown, the team is no name, or the expiry
        is not in the future.
    ApiKeyNameTaken : the team has a key of the name already.
    """
    if not (0 < len(name) <= LONGEST_NAME and name.isprintable()):
        detail = (
            f"{quoted(name) or 'an empty name'} is no name of a key: it has 1 to {LONGEST_NAME} printable characters"
        )
        raise InvalidField(detail, path=("name",), limit=LONGEST_NAME)
    if name.startswith(OIDC_PREFIX):
        raise InvalidField(f"names that begin with {OIDC_PREFIX} are those of the OIDC issuer", path=("name",))
    unknown = [scope for scope in scopes if scope not in list(Scope)]
    if unknown or not scopes:
        found = f"unknown scope {quoted(unknown[0])}" if unknown else "a key needs a scope"
        raise InvalidField(f"{found}; the scopes are {', '.join(Scope)}", path=("scopes",), known=list(Scope))
    if team not in (None, transaction.ALL) and not transaction.is_name(str(team)):
        detail = (
            f"{quoted(str(team)) or 'an empty text'} is no name of a team: it has 1 to {transaction.LONGEST} lower-case"
        )
        detail += " letters, digits, `-` and `_`, and begins with a letter or a digit"
        raise InvalidField(detail, path=("team",), limit=transaction.LONGEST)
    if expires_at is not None and uow.api_keys.is_past(expires_at):
        raise InvalidField(f"the expiry {expires_at:%Y-%m-%d %H:%M} UTC is not in the future", path=("expires_at",))
    return uow.api_keys.create(name, scopes, team=team, expires_at=expires_at)
