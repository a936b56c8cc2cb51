"""Tasks on the queue, written in the transaction of the rows that they refer to: both are stored, or neither."""

from collections.abc import Mapping
from datetime import timedelta

import orjson
import sqlalchemy as sa

JOBS, DELIVERIES = "default", "webhooks"
"""The queues: jobs and chunks of sweeps, few of which run at a time; and deliveries, which mostly wait for answers."""

_DEFER = sa.text(
    "SELECT procrastinate_defer_jobs_v1(ARRAY[ROW(:queue, :task, 0, NULL, NULL, CAST(:args AS jsonb), "
    "now() + make_interval(secs => CAST(:seconds AS double precision)))::procrastinate_job_to_defer_v1])"
)


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
    values = {"queue": queue, "task": task, "args": orjson.dumps(arguments).decode(), "seconds": seconds}
    connection.execute(_DEFER, values)
