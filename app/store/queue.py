"""Tasks on the queue, written in the transaction of the rows that they refer to: both are stored, or neither."""

from collections.abc import Mapping
from datetime import timedelta

import orjson
import sqlalchemy as sa

_DEFER = sa.text(
    "SELECT procrastinate_defer_jobs_v1(ARRAY[ROW('default', :task, 0, NULL, NULL, CAST(:args AS jsonb), "
    "now() + make_interval(secs => CAST(:seconds AS double precision)))::procrastinate_job_to_defer_v1])"
)


def defer(
    connection: sa.Connection, task: str, arguments: Mapping[str, str], *, after: timedelta | None = None
) -> None:
    """Put a task on the queue; with `after` it starts no sooner than that."""
    seconds = None if after is None else after.total_seconds()
    connection.execute(_DEFER, {"task": task, "args": orjson.dumps(arguments).decode(), "seconds": seconds})
