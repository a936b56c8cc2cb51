"""`/plans/compare`: two plans of one kind side by side."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from http import HTTPStatus
from typing import Annotated, Any, TypeAlias
from uuid import UUID

import numpy as np
from fastapi import APIRouter, Query, Response
from numpy.typing import NDArray

from app.core.measures.movement import Movement, TopicMovement
from app.core.model import NO_REPLICA, Int32s
from app.errors import Failure
from app.services import consumers, groups, plans, reassignment, replicas, restarts, streams
from app.services.plans import Plan
from app.services.plans.kinds import KINDS
from app.store.database import Database, UnitOfWork
from app.store.records import ListedPlan, PlanFilter
from app.web.clusters.view import ClusterView, place
from app.web.lists import as_id
from app.web.pages import page
from app.web.plans.selection import differing, twins

MOST_ROWS = 100


@dataclass(frozen=True, slots=True)
class ComparedRow:
    """A partition or task, and where each plan places it; None if a plan does not have it."""

    name: str
    first: str | None
    second: str | None


def compared_rows(uow: UnitOfWork, first: Plan, second: Plan) -> Mapping[str, Any]:
    """Changes of the second plan against the first one: `GET /v1/plans/{second}/diff?against={first}` in words.

    The plans may be of different snapshots: each has the whole placement of its topics, members or tasks. `unit` is a
    row, `place` where it is, `counts` are as in the API by name, and `rows` the first that differ, of `total`.
    """
    found = KINDS[second.head.kind].difference(uow, second, first.head.id)
    unit, place, row = _ROWS[second.head.kind]
    counts = [(name.replace("_", " "), value) for name, value in found.summary.items() if isinstance(value, int)]
    rows = [row(item) for item in found.items(0, MOST_ROWS)]
    return {"unit": unit, "place": place, "counts": counts, "total": found.total, "rows": rows}


def _joined(values: Iterable[object] | None) -> str | None:
    return None if values is None else ", ".join(map(str, values)) or "none"


def _of_partition(change: Any) -> ComparedRow:
    """A row of replicas, whose items are brokers, or of a group, whose items are members."""
    return ComparedRow(f"{change.topic}-{change.partition}", _joined(change.before), _joined(change.after))


def _of_task(change: Any) -> ComparedRow:
    return ComparedRow(change.task, _holders(change.before), _holders(change.after))


def _of_number(name: str, change: Any) -> ComparedRow:
    """A row of a broker with its wave, or of an interval with its consumers."""
    before, after = (None if number is None else str(number) for number in (change.before, change.after))
    return ComparedRow(str(getattr(change, name)), before, after)


def _holders(holders: Any) -> str | None:
    """`client-1; standby client-2, client-3`."""
    if holders is None:
        return None
    standby = f"; standby {', '.join(holders.standby)}" if holders.standby else ""
    return f"{holders.active or 'none'}{standby}"


_ROWS: Mapping[str, tuple[str, str, Callable[[Any], ComparedRow]]] = {
    replicas.KIND: ("Partition", "Replicas", _of_partition),
    groups.KIND: ("Partition", "Members", _of_partition),
    streams.KIND: ("Task", "Clients", _of_task),
    restarts.KIND: ("Broker", "Wave", partial(_of_number, "broker")),
    consumers.KIND: ("Interval", "Consumers", partial(_of_number, "interval")),
}
"""By kind, the noun of a row, its place, and how a difference of it is written."""


Bools: TypeAlias = NDArray[np.bool_]
MOST_PLANS = 50
MOST_BROKERS = 300
Text = Annotated[str, Query(max_length=100)]


@dataclass(frozen=True, slots=True)
class ComparedPartition:
    """A partition that plans change otherwise; `None` where one does not change it."""

    topic: str
    partition: int
    before: Sequence[int]
    first: Sequence[int] | None
    second: Sequence[int] | None


@dataclass(frozen=True, slots=True)
class ComparedChanges:
    """Partitions that both plans change alike or otherwise, and that one of them changes; the first that differ."""

    alike: int
    otherwise: int
    only_first: int
    only_second: int
    partitions: Sequence[ComparedPartition]

    @property
    def different(self) -> int:
        """Partitions that the plans do not change alike."""
        return self.otherwise + self.only_first + self.only_second


def router(database: Database) -> APIRouter:
    """The page that compares plans."""
    routes = APIRouter(include_in_schema=False)

    @routes.get("/plans/compare")
    def compare(a: Text = "", b: Text = "", plan: Annotated[Sequence[str], Query()] = ()) -> Response:
        a, b, *_ = (a, b) if a or b else (*plan, "", "")  # boxes of a list are of one name
        try:
            with database.begin() as uow:
                return _page(uow, as_id(a), as_id(b))
        except Failure as failure:
            with database.begin() as uow:
                return _page(uow, None, None, problem=failure.detail)

    return routes


def _page(uow: UnitOfWork, first: UUID | None, second: UUID | None, *, problem: str = "") -> Response:
    one = None if first is None else plans.load(uow, first)
    other = None if second is None else plans.load(uow, second)
    values: dict[str, Any] = {}
    if one is not None and other is not None:
        problem = _incomparable(one, other)
        values = {} if problem else _values(uow, one, other)
    choices = others(uow, one)
    cluster = None if one is None else one.head.cluster
    return page(
        "plans_compared.html",
        status=HTTPStatus.UNPROCESSABLE_ENTITY if problem else HTTPStatus.OK,
        first=one,
        second=other,
        choices=choices,
        twins=twins(uow, choices),
        place=place(uow, ClusterView(cluster, "plans")) if cluster else None,
        problem=problem,
        compared=values,
        most_rows=MOST_ROWS,
        largest_loads=_largest_loads,
    )


def _largest_loads(answer: Mapping[str, Any]) -> list[tuple[str, float, float]]:
    """By resource, the largest load of any broker as a share of its capacity, after the plan and its worst loss."""
    largest: dict[str, tuple[float, float]] = {}
    for loads in (answer.get("loads") or {}).values():
        for resource, load in loads.items():
            if load["capacity"]:
                worst = max(load["after"], *(load["after_worst_loss"][of] or 0 for of in ("broker", "rack")))
                after, lost = largest.get(resource, (0.0, 0.0))
                shares = load["after"] / load["capacity"], worst / load["capacity"]
                largest[resource] = max(after, shares[0]), max(lost, shares[1])
    return [(resource, *shares) for resource, shares in largest.items()]


def others(uow: UnitOfWork, plan: Plan | None) -> Sequence[ListedPlan]:
    """The newest plans of the kind and cluster of a plan, or of all."""
    alike = PlanFilter() if plan is None else PlanFilter(kind=plan.head.kind, cluster=plan.head.cluster)
    return uow.plans.selected(alike, before=None, size=MOST_PLANS).items


def _incomparable(one: Plan, other: Plan) -> str:
    if one.head.kind != other.head.kind:
        return f"a {one.head.kind} plan and a {other.head.kind} plan have nothing in common"
    if one.head.cluster != other.head.cluster:
        return f"the plans are for two clusters, {one.head.cluster or 'none'} and {other.head.cluster or 'none'}"
    return ""


def _values(uow: UnitOfWork, one: Plan, other: Plan) -> dict[str, Any]:
    values: dict[str, Any] = {
        "fields": differing(one.head.request, other.head.request),
        "is_same_snapshot": one.head.snapshot_id == other.head.snapshot_id,
    }
    if one.head.kind != reassignment.KIND:
        return values | {"differences": compared_rows(uow, one, other)}
    moved = [reassignment.compared(plan, plans.made_on(uow, plan.head)).movement for plan in (one, other)]
    answers: list[Any] = [plan.head.answer["movement"] for plan in (one, other)]
    return values | {
        "changes": compared_changes(*moved),
        "brokers": _brokers(*answers)[:MOST_BROKERS],
    }


def compared_changes(first: Movement, second: Movement) -> ComparedChanges:
    """The changes of two plans, partition by partition.

    Complexity: O(changed partitions · log) by topic, and a record for each of the first `MOST_ROWS` that differ.
    """
    counts = np.zeros(4, np.int64)
    rows: list[ComparedPartition] = []
    one, other = ({topic.topic: topic for topic in side.topics if len(topic.rows)} for side in (first, second))
    for name in sorted(one.keys() | other.keys()):
        sides = one.get(name), other.get(name)
        ids = np.unique(np.concatenate([_changed(side) for side in sides]))
        is_first, is_second = (_changes(side, ids) for side in sides)
        is_alike = is_first & is_second & _same(*(_lists(side, ids) for side in sides))
        is_both = is_first & is_second & ~is_alike
        counts += [is_alike.sum(), is_both.sum(), (is_first & ~is_second).sum(), (is_second & ~is_first).sum()]
        for at in np.flatnonzero(~is_alike)[: MOST_ROWS - len(rows)].tolist():
            known = sides[0] if is_first[at] and sides[0] is not None else sides[1]
            before = [] if known is None else _replica_list(known, known.before, int(ids[at]))
            lists = [
                _replica_list(side, side.after, int(ids[at])) if side is not None and changes[at] else None
                for side, changes in zip(sides, (is_first, is_second), strict=True)
            ]
            rows.append(ComparedPartition(name, int(ids[at]), before, *lists))
    alike, otherwise, only_first, only_second = counts.tolist()
    return ComparedChanges(alike, otherwise, only_first, only_second, rows)


def _changes(topic: TopicMovement | None, ids: Int32s) -> Bools:
    """(ids,) bool: whether a plan changes these partitions."""
    return np.isin(ids, _changed(topic))


def _changed(topic: TopicMovement | None) -> Int32s:
    """The ids of the partitions that a plan changes."""
    return np.zeros(0, np.int32) if topic is None else topic.partition_ids[topic.rows]


def _lists(topic: TopicMovement | None, ids: Int32s) -> Int32s:
    """(ids, widest) int32: the lists of a plan, padding for partitions that it does not know."""
    if topic is None:
        return np.full((len(ids), 1), NO_REPLICA, np.int32)
    rows = np.minimum(np.searchsorted(topic.partition_ids, ids), len(topic.partition_ids) - 1)
    is_there = topic.partition_ids[rows] == ids
    return np.where(is_there[:, None], topic.after[rows], NO_REPLICA).astype(np.int32)


def _same(one: Int32s, other: Int32s) -> Bools:
    """(ids,) bool: whether two lists are equal, whatever the padding after them."""
    width = max(one.shape[1], other.shape[1])
    padded = [
        np.pad(lists, ((0, 0), (0, width - lists.shape[1])), constant_values=NO_REPLICA) for lists in (one, other)
    ]
    return np.asarray((padded[0] == padded[1]).all(axis=1), np.bool_)


def _replica_list(topic: TopicMovement, lists: Int32s, partition: int) -> list[int]:
    row = lists[int(np.searchsorted(topic.partition_ids, partition))]
    return [int(broker) for broker in row[row != NO_REPLICA]]


def _brokers(first: Sequence[Mapping[str, Any]], second: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Every broker of either plan, with its row after each; None after a plan that does not know it."""
    sides = [{row["broker"]: row for row in side} for side in (first, second)]
    return [
        {"id": broker, "now": sides[0].get(broker) or sides[1][broker], "after": [side.get(broker) for side in sides]}
        for broker in sorted(sides[0].keys() | sides[1].keys())
    ]
