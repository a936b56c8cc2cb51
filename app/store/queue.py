"""Tasks on the queue, written in the transaction of the rows that they refer to: both are stored, or neither.

Deadlines and failed attempts, which jobs and sweeps have in the same columns.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Literal
from uuid import UUID

import orjson
import sqlalchemy as sa

from app import tracing
from app.store.tables import STATEMENTS
from app.store.transaction import Record, Rows, Store

JOBS, DELIVERIES = "default", "webhooks"
"""The queues: jobs and chunks of sweeps, few of which run at a time; and deliveries, which mostly wait for answers."""

ENDED = ("succeeded", "failed", "cancelled")
"""The states of ended runs."""
Count = Literal["failures", "losses"]
"""Attempts that failed unexpectedly, and workers that were lost during one."""

TAKE = STATEMENTS["take_task"]
"""Takes the next task of the team whose turn it is. The migration has the function."""


def defer(
    connection: sa.Connection,
    task: str,
    arguments: Mapping[str, str | int],
    *,
    after: timedelta | None = None,
    queue: str = JOBS,
) -> None:
    """Put a task on a queue; with `after` it starts no sooner than that."""
    seconds = None if after is None else after.total_seconds()
    # Only if there is a trace: workers of earlier releases do not know the argument.
    traced = {} if (origin := tracing.origin()) is None else {"traceparent": origin}
    values = {"queue": queue, "task": task, "args": orjson.dumps({**arguments, **traced}).decode(), "seconds": seconds}
    connection.execute(sa.text(STATEMENTS["defer_task"]), values)


@dataclass(frozen=True, slots=True)
class RepeatedTask:
    """A task that is on the queue again."""

    id: int
    name: str
    arguments: Mapping[str, str | int]


class Queue(Store):
    """The queue in one transaction, which is the service's own."""

    def silent_workers(self, *, seconds: float) -> dict[int, datetime]:
        """The last heartbeat of each worker that has had none for so long.

        A heartbeat in the future counts, too: the clock of the database was set back since. One look tells no dead
        worker from a clock that was set forward a moment ago.
        """
        rows = self._reading.execute(sa.text(STATEMENTS["silent_workers"]), {"seconds": seconds})
        return {worker: last for worker, last in rows}  # noqa: C416 -- rows are no pairs to the type checker

    def repeat_tasks(self, workers: Mapping[int, datetime]) -> list[RepeatedTask]:
        """Put tasks on the queue again that workers were at which are removed, or have had no heartbeat since the one
        stated. Transactions of several callers share no task.
        """
        dead = {"ids": list(workers), "heartbeats": list(workers.values())}
        return [RepeatedTask(*row) for row in self._writing.execute(sa.text(STATEMENTS["repeat_tasks"]), dead)]

    def bring_forward(self, queue: str, *, later_than: timedelta) -> int:
        """Make tasks due that are scheduled later than any is; return their number.

        The clock of the database was set back since, and they would wait for as long.
        """
        values = {"queue": queue, "seconds": later_than.total_seconds()}
        return self._writing.execute(sa.text(STATEMENTS["bring_tasks_forward"]), values).rowcount


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
