"""Sessions of browsers that have signed in. The cookie has the secret of a session; only its hash is stored."""

from collections.abc import Mapping
from datetime import timedelta
from hashlib import sha256
from secrets import token_urlsafe
from typing import Any

import sqlalchemy as sa

from app.store.tables import sessions
from app.store.transaction import Store


class Sessions(Store):
    """Sessions in one transaction, which is the service's own: the role of requests does not have them."""

    def create(self, caller: Mapping[str, Any], *, issuer: str, valid_for: timedelta) -> str:
        """Begin a session; return its secret. Sessions that have expired are deleted."""
        self._writing.execute(sessions.delete().where(sessions.c.expires_at <= sa.func.now()))
        secret = token_urlsafe(32)
        row = {"secret_hash": _hash(secret), "issuer": issuer, "caller": caller}
        self._writing.execute(sessions.insert().values(**row, expires_at=sa.func.now() + valid_for))
        return secret

    def find(self, secret: str, *, issuer: str) -> Mapping[str, Any] | None:
        """The caller of a session that has not expired; None if there is none."""
        c = sessions.c
        query = sa.select(c.caller).where(
            c.secret_hash == _hash(secret), c.issuer == issuer, c.expires_at > sa.func.now()
        )
        caller: Mapping[str, Any] | None = self._reading.scalar(query)
        return caller

    def end(self, secret: str) -> Mapping[str, Any] | None:
        """End a session; return its caller, or None if there is none."""
        ended = sessions.delete().where(sessions.c.secret_hash == _hash(secret)).returning(sessions.c.caller)
        caller: Mapping[str, Any] | None = self._writing.scalar(ended)
        return caller


def _hash(secret: str) -> str:
    return sha256(secret.encode("utf-8", "surrogateescape")).hexdigest()
