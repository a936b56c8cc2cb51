"""Deadlines and failed attempts, which jobs and sweeps have in the same columns."""

from datetime import timedelta
from typing import Literal
from uuid import UUID

import sqlalchemy as sa

Count = Literal["failures", "losses"]
"""Attempts that failed unexpectedly, and workers that were lost during one."""


def seconds_left(
    connection: sa.Connection, table: sa.Table, row_id: UUID, *, limit_s: int, ended: tuple[str, ...]
) -> float | None:
    """The seconds until the deadline, by the clock of the database; None if the row has ended or does not exist.

    The time begins with the first start, and the deadline is the shorter one of the limit and the row's own.
    """
    deadline_s = sa.func.least(limit_s, sa.func.coalesce(table.c.deadline_s, limit_s))
    elapsed = sa.func.now() - sa.func.coalesce(table.c.started_at, sa.func.now())
    since = sa.func.greatest(elapsed, timedelta())  # if the clock was set back, no attempt gets more than its deadline
    query = sa.select(deadline_s - sa.func.extract("epoch", since)).where(
        table.c.id == row_id, table.c.state.not_in(ended)
    )
    left = connection.scalar(query)
    return None if left is None else float(left)


def deadline_of(connection: sa.Connection, table: sa.Table, row_id: UUID, *, limit_s: int) -> int:
    """The deadline in seconds: the row's own, up to the limit."""
    own = connection.scalar(sa.select(table.c.deadline_s).where(table.c.id == row_id))
    return limit_s if own is None else min(int(own), limit_s)


def count(connection: sa.Connection, table: sa.Table, row_id: UUID, counted: Count) -> int:
    """Count one more; return the count, which is 0 if the row does not exist."""
    column = table.c[counted]
    counting = table.update().where(table.c.id == row_id).values({column: column + 1}).returning(column)
    return connection.scalar(counting) or 0
