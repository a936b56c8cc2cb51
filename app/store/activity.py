"""Jobs, sweeps and the queue at one moment, as counts: for metrics."""

from dataclasses import dataclass, field
from typing import get_args

import sqlalchemy as sa

from app.store.jobs import RUN_JOB
from app.store.sweeps import RUN_SWEEP
from app.store.tables import STATEMENTS, jobs, sweep_chunks, sweeps, webhook_deliveries
from app.store.transaction import Store
from app.store.webhooks import DELIVER, DeliveryState

_RATE_SECONDS = 60


@dataclass(frozen=True, slots=True)
class Due:
    """Tasks of one name that are due and that no worker runs yet; the age of the oldest, in seconds."""

    tasks: int = 0
    oldest_s: float = 0.0


@dataclass(frozen=True, slots=True)
class Activity:
    """Counts of work in progress.

    Parameters
    ----------
    jobs, sweeps : how many there are, by kind, state and the code of the failure, which is empty unless they failed.
    scenarios_per_s : scenarios scored in the last minute over 60 s, for each kind with an unfinished sweep or a rate.
    deliveries : deliveries to webhooks, by state.
    queue : due jobs, sweeps and deliveries, by task.
    """

    jobs: dict[tuple[str, str, str], int]
    sweeps: dict[tuple[str, str, str], int]
    scenarios_per_s: dict[str, float]
    deliveries: dict[str, int]
    queue: dict[str, Due] = field(default_factory=dict)


class Activities(Store):
    """Counts of the rows that a transaction sees."""

    def now(self) -> Activity:
        """Count everything anew; each query reads indexes or one narrow scan."""
        return Activity(
            jobs=self._by_state(jobs),
            sweeps=self._by_state(sweeps),
            scenarios_per_s=self._rates(),
            deliveries=self._deliveries(),
            queue=self._queue(),
        )

    def _by_state(self, table: sa.Table) -> dict[tuple[str, str, str], int]:
        labels = (table.c.kind, table.c.state, sa.func.coalesce(table.c.error["code"].as_string(), ""))
        query = sa.select(*labels, sa.func.count()).group_by(*labels)
        return {(kind, state, code): count for kind, state, code, count in self._reading.execute(query)}

    def _rates(self) -> dict[str, float]:
        recent = sa.func.now() - sa.func.make_interval(0, 0, 0, 0, 0, 0, _RATE_SECONDS)
        size = sweep_chunks.c.stop - sweep_chunks.c.start
        # Sweeps that ended before the minute have no recent chunk: of the others, the ledger is read by its key.
        query = (
            sa.select(sweeps.c.kind, sa.func.coalesce(sa.func.sum(size).filter(sweep_chunks.c.finished_at > recent), 0))
            .join_from(sweeps, sweep_chunks, sweep_chunks.c.sweep_id == sweeps.c.id, isouter=True)
            .where(sa.or_(sweeps.c.finished_at.is_(None), sweeps.c.finished_at > recent))
            .group_by(sweeps.c.kind)
        )
        return {kind: int(scored) / _RATE_SECONDS for kind, scored in self._reading.execute(query)}

    def _deliveries(self) -> dict[str, int]:
        state = webhook_deliveries.c.state
        counts = self._reading.execute(sa.select(state, sa.func.count()).group_by(state))
        return dict.fromkeys(get_args(DeliveryState), 0) | {str(name): int(count) for name, count in counts}

    def _queue(self) -> dict[str, Due]:
        due = {task: Due() for task in (RUN_JOB, RUN_SWEEP, DELIVER)}
        rows = self._reading.execute(sa.text(STATEMENTS["due_tasks"]), {"tasks": list(due)})
        return due | {task: Due(count, max(0.0, float(oldest or 0))) for task, count, oldest in rows}
