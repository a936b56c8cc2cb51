"""What was answered to an Idempotency-Key, so that the same request gets the same answer again."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta

import sqlalchemy as sa

from app.store.tables import answers
from app.store.transaction import Store


@dataclass(frozen=True, slots=True)
class Answer:
    """An answer as it went out, and the fingerprint of the request that it was given to."""

    fingerprint: str
    status: int
    headers: Mapping[str, str]
    body: bytes


class Answers(Store):
    """The answers that a transaction sees."""

    def claim(self, principal: str, idempotency_key: str) -> bool:
        """Hold the key until the transaction ends, or say that another request holds it now.

        The lock goes with the transaction, however it ends: a process that dies leaves no key behind as in flight.
        """
        claimed = sa.func.pg_try_advisory_xact_lock(sa.func.hashtextextended(f"{principal}\n{idempotency_key}", 0))
        return bool(self._writing.scalar(sa.select(claimed)))

    def find(self, principal: str, idempotency_key: str) -> Answer | None:
        """What was answered to that key, or None."""
        c = answers.c
        query = sa.select(c.fingerprint, c.status, c.headers, c.body).where(
            c.principal == principal, c.idempotency_key == idempotency_key
        )
        row = self._reading.execute(query).one_or_none()
        return None if row is None else Answer(*row)

    def keep(self, principal: str, idempotency_key: str, answer: Answer) -> None:
        """Keep an answer under a key that this transaction has claimed."""
        self._writing.execute(
            answers.insert().values(
                principal=principal,
                idempotency_key=idempotency_key,
                fingerprint=answer.fingerprint,
                status=answer.status,
                headers=answer.headers,
                body=answer.body,
            )
        )

    def forget(self, *, older_than: timedelta) -> int:
        """Forget the answers older than that; say how many there were."""
        old = answers.c.created_at < sa.func.now() - older_than
        return self._writing.execute(answers.delete().where(old)).rowcount
