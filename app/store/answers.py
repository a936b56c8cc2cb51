"""Stored responses to requests with an Idempotency-Key, for repetitions of the same request."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from datetime import timedelta

import sqlalchemy as sa

from app.store.tables import answers
from app.store.transaction import Store


@dataclass(frozen=True, slots=True)
class Answer:
    """A response as it was sent, and the fingerprint of its request."""

    fingerprint: str
    status: int
    headers: Mapping[str, str]
    body: bytes


class Answers(Store):
    """Stored responses in one transaction."""

    def claim(self, principal: str, idempotency_key: str) -> bool:
        """Lock the key until the transaction ends; False if another request has locked it.

        The lock ends with the transaction, however that ends: a process that dies leaves no key locked.
        """
        named = f"{self._team}\n{principal}\n{idempotency_key}"
        claimed = sa.func.pg_try_advisory_xact_lock(sa.func.hashtextextended(named, 0))
        return bool(self._writing.scalar(sa.select(claimed)))

    def find(self, principal: str, idempotency_key: str) -> Answer | None:
        """The stored response for the key, or None."""
        c = answers.c
        query = sa.select(c.fingerprint, c.status, c.headers, c.body).where(
            c.team == self._team, c.principal == principal, c.idempotency_key == idempotency_key
        )
        row = self._reading.execute(query).one_or_none()
        return None if row is None else Answer(*row)

    def store(self, principal: str, idempotency_key: str, answer: Answer) -> None:
        """Store the response for a key that this transaction has claimed."""
        of_key = {"team": self._team, "principal": principal, "idempotency_key": idempotency_key}
        self._writing.execute(answers.insert().values(**of_key, **asdict(answer)))

    def expire(self, *, older_than: timedelta) -> int:
        """Delete the responses that are older; return their number."""
        old = answers.c.created_at < sa.func.now() - older_than
        return self._writing.execute(answers.delete().where(old)).rowcount
