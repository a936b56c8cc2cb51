"""Tasks on the queue, written in the transaction of the rows that they refer to: both are stored, or neither."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta

import orjson
import sqlalchemy as sa

from app import tracing
from app.store.statements import STATEMENTS
from app.store.transaction import Store

JOBS, DELIVERIES = "default", "webhooks"
"""The queues: jobs and chunks of sweeps, few of which run at a time; and deliveries, which mostly wait for answers."""

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
