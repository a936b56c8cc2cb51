"""Plans: immutable answers, each stored once by the hash of its request."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any
from uuid import UUID

import numpy as np
import orjson
import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import insert

from app.core import ENGINE_VERSION
from app.core.model import Int32s, Placement
from app.errors import Json
from app.errors.requests import PlanNotFound
from app.store.records import MOST_CHANGES, ExecutedPlan, Ledger, ListedPlan, NewPlan, PlanFilter, PlanHead, PlanTopic
from app.store.snapshots import Snapshots
from app.store.tables import plan_topics, plans
from app.store.transaction import Page, Rows, equal, page_of, uuid7
from app.store.usage import ROW_BYTES
from app.store.webhooks import publish

INT32_BYTES = 4
_STATED = ("kind", "hash", "cluster", "snapshot_id", "labels", "request", "answer", "title", "summary")
"""Columns that are fields of a new plan."""


class Plans(Rows[PlanHead]):
    """Plans in one transaction."""

    _table, _record, _missing = plans, PlanHead, PlanNotFound

    def store(self, plan: NewPlan, *, plan_id: UUID | None = None) -> PlanHead:
        """Store a plan, or return the one that is stored with the same hash.

        Raises `SnapshotNotFound` if its snapshot was deleted while it was planned.
        """
        if plan.snapshot_id is not None:
            Snapshots(self._transaction).lock_shared(plan.snapshot_id)
        row = insert(plans).values({"id": plan_id or uuid7(), "team": self._team, **_values(plan)})
        head = self._written(row.on_conflict_do_nothing(index_elements=[plans.c.team, plans.c.hash]))
        if head is None:
            existing = self.find(plan.hash)
            if existing is None:  # deleted between the two statements
                return self.store(plan, plan_id=plan_id)
            return existing
        if plan.placements:  # a group may subscribe to nothing
            rows = [{"plan_id": head.id, **values} for values in _topic_values(plan.placements)]
            self._writing.execute(plan_topics.insert(), rows)
        data: dict[str, Json] = {
            "plan_id": str(head.id),
            "kind": head.kind,
            "cluster": head.cluster,
            "links": {"plan": f"/v1/plans/{head.id}"},
        }
        publish(self._writing, "plan.created", data, team=self._team)
        return head

    def find(self, plan_hash: str) -> PlanHead | None:
        """The plan of the team with this hash, or None."""
        return self._first(self._selected.where(plans.c.hash == plan_hash, plans.c.team == self._team))

    def requests(self) -> Iterator[tuple[UUID, Mapping[str, Json], str]]:
        """Id, canonical request and hash of every plan, read a few at a time."""
        query = sa.select(plans.c.id, plans.c.request, plans.c.hash)
        for row in self._reading.execution_options(yield_per=100).execute(query):
            yield row[0], row[1], row[2]

    def topics(self, plan_id: UUID) -> list[PlanTopic]:
        """The topics of the plan in the order of the request, without their assignments."""
        c = plan_topics.c
        query = sa.select(c.ordinal, c.name, c.first_partition_id, c.partitions, c.replication_factor)
        rows = self._reading.execute(query.where(c.plan_id == plan_id).order_by(c.ordinal))
        return [PlanTopic(*row) for row in rows]

    def placements(self, plan_id: UUID) -> tuple[Placement, ...]:
        """The assignments of the plan in the order of the request; the arrays are read-only."""
        c = plan_topics.c
        query = sa.select(c.name, c.first_partition_id, c.replication_factor, c.replicas)
        rows = self._reading.execute(query.where(c.plan_id == plan_id).order_by(c.ordinal))
        return tuple(Placement(name, first, _rows(replicas, factor)) for name, first, factor, replicas in rows)

    def rows(self, plan_id: UUID, topic: PlanTopic, *, start: int, stop: int) -> Int32s:
        """Rows start … stop − 1 of one topic's assignment; only these are read."""
        c = plan_topics.c
        width = topic.replication_factor * INT32_BYTES
        piece = sa.func.substring(c.replicas, start * width + 1, (stop - start) * width)
        query = sa.select(piece).where(c.plan_id == plan_id, c.ordinal == topic.ordinal)
        return _rows(self._reading.scalars(query).one(), topic.replication_factor)

    def selected(self, wanted: PlanFilter, *, before: UUID | None, size: int) -> Page[ListedPlan]:
        """Plans, newest first; `before` is the last id of the page before."""
        conditions = (*_conditions(wanted), *self._visible(plans))
        return page_of(self._reading, plans, ListedPlan, *conditions, before=before, size=size)

    def change(
        self, plan_id: UUID, entry: Mapping[str, Json], *, status: str, labels: Mapping[str, str], notes: str | None
    ) -> PlanHead:
        """Change a plan's status, labels or notes and append an entry to its history, or raise `PlanNotFound`."""
        head = self.get(plan_id, for_update=True)
        history = [*head.history, entry][-MOST_CHANGES:]
        values = {"status": status, "labels": labels, "notes": notes, "history": history}
        return self._stored(plans.update().where(plans.c.id == plan_id).values(**values, revision=plans.c.revision + 1))

    def record(self, plan_id: UUID, ledger: Mapping[str, Json]) -> None:
        """Store the entry of a plan in the ledger, in place of the one before, or raise `PlanNotFound`."""
        head = self.get(plan_id, for_update=True)
        if head.ledger == ledger:
            return
        before, after = (0 if entry is None else len(orjson.dumps(entry)) for entry in (head.ledger, ledger))
        values = {"ledger": ledger, "part_bytes": plans.c.part_bytes + after - before, "revision": head.revision + 1}
        self._writing.execute(plans.update().where(plans.c.id == plan_id).values(values))

    def ledger(self, *, cluster: str | None, size: int) -> Ledger:
        """The errors of the plans that were executed, of one cluster or of all; the newest `size` are listed."""
        where = (plans.c.ledger.is_not(None), *equal(plans, cluster=cluster), *self._visible(plans))
        errors = [plans.c.ledger[name].as_float() for name in ("bytes_error", "seconds_error")]
        percentiles = [sa.func.percentile_cont(sa.literal_column("ARRAY[0.5, 0.9]")).within_group(of) for of in errors]
        summary = sa.select(sa.func.count(), *percentiles).where(*where)
        count, of_bytes, of_seconds = self._reading.execute(summary).one()
        listed = sa.select(plans.c.id, plans.c.title, plans.c.cluster, *errors).where(*where)
        rows = self._reading.execute(listed.order_by(plans.c.id.desc()).limit(size))
        return Ledger(count, of_bytes, of_seconds, tuple(ExecutedPlan(*row) for row in rows))


def _conditions(selected: PlanFilter) -> Iterable[sa.ColumnElement[bool]]:
    yield from equal(plans, kind=selected.kind, status=selected.status, cluster=selected.cluster)
    if selected.topic is not None:
        named = sa.select(plan_topics.c.plan_id).where(plan_topics.c.name == selected.topic)
        yield plans.c.id.in_(named)
    if selected.labels:
        yield plans.c.labels.contains(dict(selected.labels))
    if selected.created_after is not None:
        yield plans.c.created_at >= selected.created_after
    if selected.created_before is not None:
        yield plans.c.created_at < selected.created_before


def _values(plan: NewPlan) -> dict[str, Any]:
    """The columns of a new plan, but its id and its team."""
    return {name: getattr(plan, name) for name in _STATED} | {
        "engine_version": plan.request.get("engine_version", ENGINE_VERSION),
        "prediction": plan.answer["prediction"],
        "seed": plan.answer["seed"],
        "part_bytes": sum(placement.replicas.size * INT32_BYTES + ROW_BYTES for placement in plan.placements),
    }


def _topic_values(placements: Sequence[Placement]) -> Iterator[dict[str, Any]]:
    """The columns of the topics of a new plan, but its id."""
    for ordinal, placement in enumerate(placements):
        yield {
            "ordinal": ordinal,
            "name": placement.topic,
            "first_partition_id": placement.first_partition_id,
            "partitions": placement.replicas.shape[0],
            "replication_factor": placement.replicas.shape[1],
            "replicas": np.ascontiguousarray(placement.replicas, "<i4").data,
        }


def _rows(replicas: bytes, factor: int) -> Int32s:
    """A stored assignment as an array of brokers, a row a partition; it is read-only."""
    return np.frombuffer(replicas, "<i4").reshape(-1, factor)
