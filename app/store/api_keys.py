"""API keys. A key is shown once, when it is created; only its hash is stored.

Share links that are valid: one row for each, which ends with its revocation or after its expiry. A row has a link's
resource and expiry, but not its signature: a list of links does not open them.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from hashlib import sha256
from secrets import token_urlsafe
from uuid import UUID

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import insert

from app.errors.requests import ApiKeyInUse, ApiKeyNameTaken, ApiKeyNotFound, ShareLinkNotFound
from app.store import audit, transaction
from app.store.tables import api_keys, share_links
from app.store.transaction import Page, Rows, uuid7

PREFIX = "rackplan_"
"""The beginning of every key."""
USE_RECORDED_EVERY = timedelta(minutes=1)


@dataclass(frozen=True, slots=True)
class ApiKey:
    """A key without its secret.

    Parameters
    ----------
    team : whose rows it sees, or `teams.ALL`.
    expires_at : None if it does not expire. last_used_at : to the minute; None if it was never used.
    """

    id: UUID
    team: str
    name: str
    scopes: Sequence[str]
    created_at: datetime
    expires_at: datetime | None
    last_used_at: datetime | None
    revoked_at: datetime | None

    def has_expired(self, now: datetime) -> bool:
        """Whether its expiry has passed."""
        return self.expires_at is not None and self.expires_at <= now


@dataclass(frozen=True, slots=True)
class PresentedKey:
    """The key of a request, by the clock of the database.

    Parameters
    ----------
    is_use_due : whether the last recorded use is so long ago that this one is recorded.
    """

    key: ApiKey
    has_expired: bool
    is_use_due: bool


class ApiKeys(Rows[ApiKey]):
    """API keys in one transaction."""

    _table, _record, _missing = api_keys, ApiKey, ApiKeyNotFound

    def create(
        self, name: str, scopes: Sequence[str], *, team: str | None = None, expires_at: datetime | None = None
    ) -> tuple[ApiKey, str]:
        """Create a key; return its record and its secret, which cannot be read again.

        Parameters
        ----------
        team : by default the transaction's.
        """
        secret = PREFIX + token_urlsafe(32)
        row = insert(api_keys).values(
            id=uuid7(),
            team=team or self._team,
            name=name,
            key_hash=key_hash(secret),
            scopes=list(scopes),
            expires_at=expires_at,
        )
        created = self._written(row.on_conflict_do_nothing(index_elements=[api_keys.c.team, api_keys.c.name]))
        if created is None:
            raise ApiKeyNameTaken(f"there is a key named {name} already", path=("name",), value=name)
        audit.record(self._writing, "key.created", name, team=created.team)
        return created, secret

    def authenticate(self, secret: str) -> PresentedKey | None:
        """The key with this secret, expired or not; None if it is unknown or revoked."""
        has_expired = sa.func.coalesce(api_keys.c.expires_at <= sa.func.now(), False)
        query = sa.select(has_expired, _is_use_due(), *self._columns).where(
            api_keys.c.key_hash == key_hash(secret), api_keys.c.revoked_at.is_(None)
        )
        row = self._reading.execute(query).one_or_none()
        return None if row is None else PresentedKey(ApiKey(*row[2:]), row[0], row[1])

    def note_use(self, key_id: UUID) -> None:
        """Record that a key is used now, at most once a minute; without waiting if another request records it."""
        free = sa.select(api_keys.c.id).where(api_keys.c.id == key_id, _is_use_due()).with_for_update(skip_locked=True)
        used = api_keys.update().where(api_keys.c.id.in_(free)).values(last_used_at=sa.func.now())
        self._writing.execute(used)

    def any_created(self) -> bool:
        """Whether a key was ever created: revoked and expired ones count, so that no service becomes open by either."""
        return bool(self._reading.scalar(sa.select(sa.exists(sa.select(api_keys.c.id)))))

    def any_unrevoked(self) -> bool:
        """Whether there is a key that was not revoked, expired or not."""
        return bool(self._reading.scalar(sa.select(sa.exists().where(api_keys.c.revoked_at.is_(None)))))

    def forget_revoked(self) -> int:
        """Delete every key, all of which have to be revoked, so that none was ever created; return their number.

        Raises `ApiKeyInUse`.
        """
        unrevoked = sa.select(api_keys.c.name).where(api_keys.c.revoked_at.is_(None)).order_by(api_keys.c.id).limit(1)
        name = self._writing.scalar(unrevoked)
        if name is not None:
            raise ApiKeyInUse(f"the key {name} is not revoked; `rackplan keys revoke` revokes it", key=name)
        audit.record(self._writing, "service.opened", "all keys are deleted", team=transaction.ALL)
        return self._writing.execute(api_keys.delete()).rowcount

    def all(self) -> list[ApiKey]:
        """Every key that the transaction sees, oldest first, revoked ones included."""
        query = self._selected.where(*self._visible(api_keys)).order_by(api_keys.c.id)
        return [ApiKey(*row) for row in self._reading.execute(query)]

    def revoke(self, name: str, *, team: str | None = None) -> ApiKey:
        """Revoke a key permanently, or raise `ApiKeyNotFound`. Revoking it again changes nothing.

        Parameters
        ----------
        team : by default the transaction's.
        """
        revoked = (
            api_keys.update()
            .where(api_keys.c.name == name, api_keys.c.team == (team or self._team), *self._visible(api_keys))
            .values(revoked_at=sa.func.coalesce(api_keys.c.revoked_at, sa.func.now()))
        )
        key = self._written(revoked)
        if key is None:
            raise ApiKeyNotFound(f"there is no key named {name}", path=("name",), value=name)
        audit.record(self._writing, "key.revoked", name, team=key.team)
        return key


def _is_use_due() -> sa.ColumnElement[bool]:
    last = api_keys.c.last_used_at
    is_recent = last.between(sa.func.now() - USE_RECORDED_EVERY, sa.func.now() + USE_RECORDED_EVERY)
    return sa.or_(last.is_(None), ~is_recent)  # one in the future was recorded before the clock was set back


def key_hash(secret: str) -> str:
    """The stored hash of a secret."""
    return sha256(secret.encode("utf-8", "surrogateescape")).hexdigest()


@dataclass(frozen=True, slots=True)
class ShareLink:
    """A link that was made.

    Parameters
    ----------
    kind, name : a plan or sweep by its id, or a cluster by its name.
    created_by : name of the key or subject of the token; None if the service was open.
    """

    id: UUID
    team: str
    kind: str
    name: str
    created_by: str | None
    created_at: datetime
    expires_at: datetime


class ShareLinks(Rows[ShareLink]):
    """Share links in one transaction."""

    _table, _record, _missing = share_links, ShareLink, ShareLinkNotFound

    def create(
        self, kind: str, name: str, *, team: str, expires_at: datetime, link_id: UUID | None = None
    ) -> ShareLink:
        """Store a link of a team; links that have expired are deleted."""
        self._writing.execute(share_links.delete().where(share_links.c.expires_at <= sa.func.now()))
        made = {"kind": kind, "name": name, "created_by": audit.acting().name, "expires_at": expires_at}
        return self._inserted(link_id, team=team, **made)

    def expiry_after(self, valid_for: timedelta) -> datetime:
        """When a link expires that is made now, by the clock that decides whether it has."""
        return self._reading.execute(sa.select(sa.func.now() + valid_for)).scalar_one()

    def is_stored(self, link_id: UUID) -> bool:
        """Whether a link was made and not revoked."""
        return self._reading.scalar(sa.select(share_links.c.id).where(share_links.c.id == link_id)) is not None

    def valid(self, *, before: UUID | None, size: int) -> Page[ShareLink]:
        """Links that have not expired, newest first; `before` is the last id of the page before."""
        return self.page(share_links.c.expires_at > sa.func.now(), before=before, size=size)

    def delete_all(self, *, team: str) -> None:
        """Delete the links of a team, or of all."""
        every = share_links.delete()
        self._writing.execute(every if team == transaction.ALL else every.where(share_links.c.team == team))
