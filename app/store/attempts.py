"""Deadlines and failed attempts, which jobs and sweeps have in the same columns."""

from datetime import timedelta
from typing import Literal
from uuid import UUID

import sqlalchemy as sa

from app.store.transaction import Record, Rows

ENDED = ("succeeded", "failed", "cancelled")
"""The states of ended runs."""
Count = Literal["failures", "losses"]
"""Attempts that failed unexpectedly, and workers that were lost during one."""


class Attempted(Rows[Record]):
    """Jobs or sweeps in one transaction."""

    def seconds_left(self, row_id: UUID, *, limit_s: int) -> float | None:
        """The seconds until the deadline, by the clock of the database; None if the row has ended or does not exist.

        The time begins with the first start, and the deadline is the shorter one of the limit and the row's own.
        """
        c = self._table.c
        deadline_s = sa.func.least(limit_s, sa.func.coalesce(c.deadline_s, limit_s))
        elapsed = sa.func.now() - sa.func.coalesce(c.started_at, sa.func.now())
        # If the clock was set back, no attempt gets more than its deadline.
        since = sa.func.greatest(elapsed, timedelta())
        query = sa.select(deadline_s - sa.func.extract("epoch", since)).where(c.id == row_id, c.state.not_in(ENDED))
        left = self._reading.scalar(query)
        return None if left is None else float(left)

    def deadline(self, row_id: UUID, *, limit_s: int) -> int:
        """The deadline in seconds: the row's own, up to the limit."""
        own = self._reading.scalar(sa.select(self._table.c.deadline_s).where(self._table.c.id == row_id))
        return limit_s if own is None else min(int(own), limit_s)

    def count_attempt(self, row_id: UUID, counted: Count) -> int:
        """Count one more failed attempt or lost worker, of a sweep for its chunk in progress.

        Returns the count, which is 0 if the row does not exist.
        """
        column = self._table.c[counted]
        counting = self._table.update().where(self._table.c.id == row_id).values({column: column + 1}).returning(column)
        return self._writing.scalar(counting) or 0
