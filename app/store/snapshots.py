"""Snapshots of clusters, each stored once by its content."""

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import distinct_on, insert

from app.errors import Json
from app.errors.requests import SnapshotInUse, SnapshotNotFound
from app.store.records import Snapshot
from app.store.tables import jobs, plans, snapshots, sweeps
from app.store.transaction import Page, Rows, uuid7


class Snapshots(Rows[Snapshot]):
    """Snapshots in one transaction."""

    _table, _record, _missing, _path = snapshots, Snapshot, SnapshotNotFound, ("snapshot_id",)

    def store(
        self,
        *,
        cluster: str,
        content_hash: str,
        document: bytes,
        summary: Mapping[str, Json],
        columns: bytes | None = None,
        snapshot_id: UUID | None = None,
    ) -> Snapshot:
        """Store a snapshot; if the cluster was in the same state before, that snapshot becomes the newest again,
        with this summary, whose warnings may differ, and gets the columns if it has none.
        """
        row = insert(snapshots).values(
            id=snapshot_id or uuid7(),
            team=self._team,
            cluster=cluster,
            content_hash=content_hash,
            document=document,
            columns=columns,
            summary=summary,
            last_seen_at=_next_seen_at(self._team, cluster),
        )
        upserted = row.on_conflict_do_update(
            index_elements=[snapshots.c.team, snapshots.c.cluster, snapshots.c.content_hash],
            set_={
                "last_seen_at": row.excluded.last_seen_at,
                "summary": row.excluded.summary,
                "columns": sa.func.coalesce(snapshots.c["columns"], row.excluded.columns),
            },
        )
        return self._stored(upserted)

    def documents(self) -> Iterator[tuple[UUID, bytes, str]]:
        """Id, document and content hash of every snapshot, read one at a time: each may have megabytes."""
        query = sa.select(snapshots.c.id, snapshots.c.document, snapshots.c.content_hash)
        for row in self._reading.execution_options(yield_per=1).execute(query):
            yield row[0], row[1], row[2]

    def document(self, snapshot_id: UUID) -> bytes:
        """The canonical document, whose hash is the content hash; raises `SnapshotNotFound`."""
        document = self._content(snapshot_id, "document")
        if document is None:
            raise self._not_found(snapshot_id)
        return document

    def columns(self, snapshot_id: UUID) -> bytes | None:
        """The cluster as columns; None if it is stored as its document alone."""
        return self._content(snapshot_id, "columns")

    def _content(self, snapshot_id: UUID, column: str) -> bytes | None:
        return self._reading.scalar(sa.select(snapshots.c[column]).where(*self._is(snapshot_id)))

    def newest(self, cluster: str) -> Snapshot | None:
        """The snapshot of the latest known state of the cluster, or None."""
        query = self._selected.where(snapshots.c.cluster == cluster, *self._visible(snapshots))
        return self._first(query.order_by(snapshots.c.last_seen_at.desc()).limit(1))

    def seen(self, cluster: str, begin: datetime, end: datetime, *, most: int) -> Page[Snapshot]:
        """Snapshots of a cluster that were first or last stored from `begin` to `end`; `most` at most."""
        times = (snapshots.c.created_at, snapshots.c.last_seen_at)
        return self.page(sa.or_(*(each.between(begin, end) for each in times)), before=None, size=most, cluster=cluster)

    def newest_of_all(self, *, most: int) -> list[Snapshot]:
        """The latest known state of each cluster, by name of the cluster; of `most` clusters at most."""
        c = snapshots.c
        query = self._selected.where(*self._visible(snapshots)).ext(distinct_on(c.cluster))
        rows = self._reading.execute(query.order_by(c.cluster, c.last_seen_at.desc()).limit(most))
        return [Snapshot(*row) for row in rows]

    def clusters(self) -> list[str]:
        """The names of all clusters, in no particular order."""
        return list(self._reading.scalars(sa.select(snapshots.c.cluster).where(*self._visible(snapshots)).distinct()))

    def lock_shared(self, snapshot_id: UUID) -> None:
        """Keep a snapshot of the team from being deleted until the transaction ends, or raise `SnapshotNotFound`."""
        of_team = (snapshots.c.id == snapshot_id, snapshots.c.team == self._team)
        self._lock(snapshot_id, of_team, is_shared=True)

    def _lock(self, snapshot_id: UUID, where: Sequence[sa.ColumnElement[bool]], *, is_shared: bool = False) -> None:
        query = sa.select(snapshots.c.id).where(*where).with_for_update(read=is_shared, key_share=is_shared)
        if self._writing.execute(query).one_or_none() is None:
            raise self._not_found(snapshot_id)

    def delete(self, snapshot_id: UUID) -> None:
        """Delete a snapshot that nothing reads, or raise `SnapshotNotFound` or `SnapshotInUse`.

        Plans are drawn, compared and exported over their snapshot. Sweeps of the kinds that name one make plans of
        their scenarios on it. Capacity sweeps have a copy of their input, and do not count.
        """
        # The row is locked first: a plan or sweep that is stored meanwhile is counted, or does not find the snapshot.
        self._lock(snapshot_id, self._is(snapshot_id))
        named = str(snapshot_id)
        readers = {
            "plans": plans.c.snapshot_id == snapshot_id,
            "sweeps": sweeps.c.definition["snapshot_id"].as_string() == named,
            "jobs": sa.and_(jobs.c.state.in_(("queued", "running")), _names(jobs.c.request, named)),
        }
        counts = sa.select(*(sa.select(sa.func.count()).where(reads).scalar_subquery() for reads in readers.values()))
        used = dict(zip(readers, self._writing.execute(counts).one(), strict=True))
        if any(used.values()):
            stated = ", ".join(f"{name}: {count}" for name, count in used.items() if count)
            detail = f"snapshot {snapshot_id} is in use ({stated}); delete these first, or let the jobs end"
            raise SnapshotInUse(detail, snapshot_id=named, **used)
        self._writing.execute(snapshots.delete().where(snapshots.c.id == snapshot_id))


def _next_seen_at(team: str, cluster: str) -> sa.ColumnElement[datetime]:
    """Now, or just after the cluster was last seen: later snapshots are newer, even if the clock was set back."""
    same = (snapshots.c.team == team, snapshots.c.cluster == cluster)
    latest = sa.select(sa.func.max(snapshots.c.last_seen_at) + timedelta(microseconds=1)).where(*same)
    return sa.func.greatest(sa.func.clock_timestamp(), latest.scalar_subquery())


def _names(request: sa.Column[Any], snapshot_id: str) -> sa.ColumnElement[bool]:
    """Whether the text of a stored request has the id; every kind of plan may name snapshots in fields of its own."""
    return sa.cast(request, sa.Text).contains(snapshot_id, autoescape=True)
