"""Sweeps: their definitions, the ledger of scored chunks, and a row a scenario."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any, TypeAlias
from uuid import UUID

import orjson
import psycopg
import sqlalchemy as sa
from psycopg.types.json import Jsonb

from app.errors import Json
from app.errors.requests import SweepNotFound
from app.store.queue import ENDED, Attempted, defer
from app.store.tables import sweep_chunks, sweep_rows, sweeps
from app.store.transaction import Page, driver_failures
from app.store.usage import ROW_BYTES
from app.store.webhooks import publish

RUN_SWEEP = "run_sweep"
"""Name of the queue task that scores one chunk of a sweep; its argument is the id of the sweep."""
RowDocument: TypeAlias = Mapping[str, Any]
"""A scored scenario."""


@dataclass(frozen=True, slots=True)
class Sweep:
    """A sweep: queued, running, succeeded, failed or cancelled.

    Parameters
    ----------
    waiting : why it is paused; None if it is not. error : why it failed.
    """

    id: UUID
    team: str
    kind: str
    state: str
    definition: Mapping[str, Json]
    scenarios: int
    labels: Mapping[str, str]
    principal: str
    waiting: Mapping[str, Json] | None
    error: Mapping[str, Json] | None
    created_at: datetime
    started_at: datetime | None
    finished_at: datetime | None

    @property
    def has_ended(self) -> bool:
        """Whether the sweep is succeeded, failed or cancelled."""
        return self.state in ENDED


@dataclass(frozen=True, slots=True)
class Progress:
    """Progress of a sweep.

    Parameters
    ----------
    done : scored scenarios.
    rate_per_s : scenarios per second over the last chunks together; None if no chunk is scored.
    fastest_per_s : of the fastest of these chunks. The first chunks of a worker also load compiled loops.
    """

    done: int
    rate_per_s: float | None
    fastest_per_s: float | None


@dataclass(frozen=True, slots=True)
class Order:
    """Sort order of rows: by a field, or by index if it is None. Rows without a value are last."""

    field: str | None = None
    descending: bool = False


@dataclass(frozen=True, slots=True)
class RowFilter:
    """Selects rows with these values of fields, and these texts of axis values."""

    values: Mapping[str, Json] = field(default_factory=dict)
    axes: Mapping[str, str] = field(default_factory=dict)

    def conditions(self) -> list[sa.ColumnElement[bool]]:
        row = sweep_rows.c.row
        equal = [row.contains(dict(self.values))] if self.values else []
        # Step by step: a path of several steps is one array literal, which a comma or brace in a name would change.
        return [*equal, *(row["axes"][name].astext == text for name, text in self.axes.items())]


class Sweeps(Attempted[Sweep]):
    """Sweeps in one transaction."""

    _table, _record, _missing = sweeps, Sweep, SweepNotFound

    def create(
        self,
        *,
        kind: str,
        definition: Mapping[str, Json],
        scenarios: int,
        labels: Mapping[str, str],
        principal: str,
        sweep_id: UUID | None = None,
        deadline_s: int | None = None,
    ) -> Sweep:
        """Store a sweep; `go_on` puts its first chunk on the queue."""
        return self._inserted(
            sweep_id,
            kind=kind,
            state="queued",
            definition=definition,
            scenarios=scenarios,
            labels=labels,
            principal=principal,
            deadline_s=deadline_s,
        )

    def enqueue(self, sweep_id: UUID, *, after: timedelta | None = None) -> None:
        """Put the next chunk on the queue."""
        defer(self._writing, RUN_SWEEP, {"sweep_id": str(sweep_id)}, after=after)

    def count_unfinished(self, principal: str) -> int:
        """Number of unfinished sweeps of this principal."""
        query = sa.select(sa.func.count()).where(
            sweeps.c.principal == principal, sweeps.c.state.not_in(ENDED), sweeps.c.team == self._team
        )
        return self._reading.scalars(query).one()

    def progress(self, sweep_id: UUID, *, recent: int = 3) -> Progress:
        """Progress of the sweep; rates cover the last `recent` chunks."""
        size = sweep_chunks.c.stop - sweep_chunks.c.start
        of_sweep = sweep_chunks.c.sweep_id == sweep_id
        done = self._reading.scalars(sa.select(sa.func.coalesce(sa.func.sum(size), 0)).where(of_sweep)).one()
        newest = sa.select(size.label("size"), sweep_chunks.c.seconds).where(of_sweep)
        last = newest.order_by(sweep_chunks.c.start.desc()).limit(recent).subquery()
        sums = (sa.func.sum(last.c.size), sa.func.sum(last.c.seconds), sa.func.max(last.c.size / last.c.seconds))
        scored, seconds, fastest = self._reading.execute(sa.select(*sums)).one()
        rates = (float(scored) / float(seconds), float(fastest)) if seconds else (None, None)
        return Progress(int(done), *rates)

    def start(self, sweep_id: UUID) -> None:
        """Mark the sweep as running and not waiting."""
        started = sa.func.coalesce(sweeps.c.started_at, sa.func.now())
        self._set(sweep_id, state="running", started_at=started, waiting=None)

    def record(
        self, sweep_id: UUID, start: int, rows: Sequence[tuple[int, bytes]], *, stop: int, seconds: float
    ) -> None:
        """Store the rows of a chunk and its line of the ledger. Raises `QuotaExceeded`."""
        line = sweep_chunks.insert().values(sweep_id=sweep_id, start=start, stop=stop, seconds=seconds)
        self._writing.execute(line)
        added = sum(len(row) + ROW_BYTES for _, row in rows)
        self._set(sweep_id, failures=0, losses=0, part_bytes=sweeps.c.part_bytes + added)
        self._copy(sweep_id, rows)

    def wait(self, sweep_id: UUID, reason: Mapping[str, Json]) -> None:
        """Record why the sweep is paused."""
        self._set(sweep_id, waiting=reason)

    def end(self, sweep_id: UUID, state: str, *, error: Mapping[str, Json] | None = None) -> None:
        self._set(sweep_id, state=state, error=error, waiting=None, finished_at=sa.func.now())
        kind, team = self._reading.execute(sa.select(sweeps.c.kind, sweeps.c.team).where(sweeps.c.id == sweep_id)).one()
        data: dict[str, Json] = {
            "sweep_id": str(sweep_id),
            "kind": kind,
            "state": state,
            "error_code": None if error is None else error["code"],
            "links": {"sweep": f"/v1/sweeps/{sweep_id}"},
        }
        publish(self._writing, "sweep.ended", data, team=team)

    def expire(self, *, older_than: timedelta) -> int:
        """Delete the sweeps that ended longer ago, with their rows; return their number."""
        old = sweeps.delete().where(sweeps.c.finished_at < sa.func.now() - older_than)
        return self._writing.execute(old).rowcount

    # -- rows --------------------------------------------------------------------------------------------------------

    def rows(
        self, sweep_id: UUID, *, where: RowFilter, order: Order, after: tuple[float | None, int] | None, size: int
    ) -> Page[tuple[int, RowDocument]]:
        """A page of rows, each with its index.

        `after` identifies the last row of the previous page: its value of the order's field, and its index.
        """
        index, row = sweep_rows.c.index, sweep_rows.c.row
        query = sa.select(index, row).where(sweep_rows.c.sweep_id == sweep_id, *where.conditions())
        if order.field is None:
            query = query.order_by(index.desc() if order.descending else index)
            if after is not None:
                query = query.where(index < after[1] if order.descending else index > after[1])
        else:
            last = sa.literal(float("-inf") if order.descending else float("inf"), sa.Double)
            value = sa.func.coalesce(sa.cast(row[order.field].astext, sa.Double), last)
            query = query.order_by(value.desc() if order.descending else value, index)
            if after is not None:
                bound = last if after[0] is None else sa.literal(after[0], sa.Double)
                beyond = value < bound if order.descending else value > bound
                query = query.where(sa.or_(beyond, sa.and_(value == bound, index > after[1])))
        rows = [(number, document) for number, document in self._reading.execute(query.limit(size + 1))]
        return Page.of(rows, size)

    def row(self, sweep_id: UUID, index: int) -> RowDocument | None:
        """One row, or None if the scenario has not been scored."""
        return next((row for _, row in self.chosen(sweep_id, [index])), None)

    def count(self, sweep_id: UUID, *, where: RowFilter) -> int:
        """Number of selected rows."""
        query = sa.select(sa.func.count()).select_from(sweep_rows)
        return self._reading.scalars(query.where(sweep_rows.c.sweep_id == sweep_id, *where.conditions())).one()

    def numbers(self, sweep_id: UUID, fields: Sequence[str], *, where: RowFilter) -> list[tuple[Any, ...]]:
        """The index and these fields, as numbers, of every selected row, by index."""
        columns = [sa.cast(sweep_rows.c.row[field].astext, sa.Double) for field in fields]
        return self._by_index(sweep_id, columns, where.conditions())

    def chosen(self, sweep_id: UUID, indices: Iterable[int]) -> list[tuple[int, RowDocument]]:
        """These rows, by index."""
        return self._by_index(sweep_id, [sweep_rows.c.row], [sweep_rows.c.index.in_(list(indices))])

    def having(self, sweep_id: UUID, field: str, values: Sequence[int]) -> list[tuple[int, RowDocument]]:
        """The rows in which this field has one of these values, by index."""
        value = sa.cast(sweep_rows.c.row[field].astext, sa.BigInteger)
        return self._by_index(sweep_id, [sweep_rows.c.row], [value.in_(list(values))])

    def _by_index(
        self, sweep_id: UUID, columns: Sequence[sa.ColumnElement[Any]], conditions: Sequence[sa.ColumnElement[bool]]
    ) -> list[tuple[Any, ...]]:
        query = sa.select(sweep_rows.c.index, *columns).where(sweep_rows.c.sweep_id == sweep_id, *conditions)
        return [tuple(values) for values in self._reading.execute(query.order_by(sweep_rows.c.index))]

    def _set(self, sweep_id: UUID, **values: object) -> None:
        self._writing.execute(sweeps.update().where(sweeps.c.id == sweep_id).values(**values))

    def _copy(self, sweep_id: UUID, rows: Sequence[tuple[int, bytes]]) -> None:
        """Insert rows by COPY in binary, which is several times as fast as INSERT."""
        driver: psycopg.Connection[Any] = self._writing.connection.driver_connection  # type: ignore[assignment] # SQLAlchemy types no driver
        with (
            driver_failures(),
            driver.cursor() as cursor,
            cursor.copy("COPY sweep_rows (sweep_id, index, row) FROM STDIN (FORMAT BINARY)") as copy,
        ):
            copy.set_types(["uuid", "int4", "jsonb"])
            for index, row in rows:
                copy.write_row((sweep_id, index, Jsonb(orjson.Fragment(row), dumps=orjson.dumps)))
