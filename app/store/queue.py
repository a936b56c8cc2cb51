"""Tasks on the queue, written in the transaction of the rows that they refer to: both are stored, or neither."""

from collections.abc import Mapping
from datetime import timedelta

import orjson
import sqlalchemy as sa

from app import tracing

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
    # Only if there is a trace: workers of earlier releases do not know the argument.
    traced = {} if (origin := tracing.origin()) is None else {"traceparent": origin}
    values = {"queue": queue, "task": task, "args": orjson.dumps({**arguments, **traced}).decode(), "seconds": seconds}
    connection.execute(_DEFER, values)
