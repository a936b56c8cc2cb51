"""API keys. A key is shown once, when it is created; only its hash is stored."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from hashlib import sha256
from secrets import token_urlsafe
from uuid import UUID

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import insert

from app.errors.lookups import ApiKeyNameTaken, ApiKeyNotFound
from app.store.ids import uuid7
from app.store.tables import api_keys
from app.store.transaction import Store, columns_of

_PREFIX = "rackplan_"


@dataclass(frozen=True, slots=True)
class ApiKey:
    """A key without its secret."""

    id: UUID
    name: str
    scopes: Sequence[str]
    created_at: datetime
    revoked_at: datetime | None


_COLUMNS = columns_of(api_keys, ApiKey)


class ApiKeys(Store):
    """API keys in one transaction."""

    def create(self, name: str, scopes: Sequence[str]) -> tuple[ApiKey, str]:
        """Create a key; return its record and its secret, which cannot be read again."""
        secret = _PREFIX + token_urlsafe(32)
        row = insert(api_keys).values(id=uuid7(), name=name, key_hash=_hash(secret), scopes=list(scopes))
        created = self._writing.execute(
            row.on_conflict_do_nothing(index_elements=[api_keys.c.name]).returning(*_COLUMNS)
        ).one_or_none()
        if created is None:
            raise ApiKeyNameTaken(f"there is a key named {name} already", path=("name",), value=name)
        return ApiKey(*created), secret

    def authenticate(self, secret: str) -> ApiKey | None:
        """The key with this secret, or None if there is none or it was revoked."""
        query = sa.select(*_COLUMNS).where(api_keys.c.key_hash == _hash(secret), api_keys.c.revoked_at.is_(None))
        row = self._reading.execute(query).one_or_none()
        return None if row is None else ApiKey(*row)

    def any_valid(self) -> bool:
        """Whether there is a key that was not revoked."""
        return bool(self._reading.scalar(sa.select(sa.exists().where(api_keys.c.revoked_at.is_(None)))))

    def all(self) -> list[ApiKey]:
        """Every key, oldest first, revoked ones included."""
        return [ApiKey(*row) for row in self._reading.execute(sa.select(*_COLUMNS).order_by(api_keys.c.id))]

    def revoke(self, name: str) -> ApiKey:
        """Revoke a key permanently, or raise `ApiKeyNotFound`. Revoking it again changes nothing."""
        revoked = (
            api_keys.update()
            .where(api_keys.c.name == name)
            .values(revoked_at=sa.func.coalesce(api_keys.c.revoked_at, sa.func.now()))
            .returning(*_COLUMNS)
        )
        row = self._writing.execute(revoked).one_or_none()
        if row is None:
            raise ApiKeyNotFound(f"there is no key named {name}", path=("name",), value=name)
        return ApiKey(*row)


def _hash(secret: str) -> str:
    return sha256(secret.encode("utf-8", "surrogateescape")).hexdigest()
