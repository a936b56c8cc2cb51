"""The partitions, tasks or brokers that two plans of one kind place differently, or restart in other waves."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from app.services import consumers, groups, replicas, restarts, streams
from app.services.plans import Plan
from app.services.plans.kinds import KINDS
from app.store.database import UnitOfWork

MOST_ROWS = 100


@dataclass(frozen=True, slots=True)
class ComparedRow:
    """A partition or task, and where each plan places it; None if a plan does not have it."""

    name: str
    first: str | None
    second: str | None


@dataclass(frozen=True, slots=True)
class ComparedRows:
    """How two plans differ.

    Parameters
    ----------
    unit : what a row is. place : where it is. counts : by name, as the API counts a difference.
    rows : the first that differ, of `total`.
    """

    unit: str
    place: str
    counts: Sequence[tuple[str, int]]
    total: int
    rows: Sequence[ComparedRow]


def compared_rows(uow: UnitOfWork, first: Plan, second: Plan) -> ComparedRows:
    """What the second plan changes against the first one: `GET /v1/plans/{second}/diff?against={first}` in words.

    The plans may be of different snapshots: each has the whole placement of its topics, members or tasks.
    """
    found = KINDS[second.head.kind].difference(uow, second, first.head.id)
    unit, place, row = _ROWS[second.head.kind]
    counts = [(name.replace("_", " "), value) for name, value in found.summary.items() if isinstance(value, int)]
    return ComparedRows(unit, place, counts, found.total, [row(item) for item in found.items(0, MOST_ROWS)])


def _listed(values: Iterable[object] | None) -> str | None:
    return None if values is None else ", ".join(map(str, values)) or "none"


def _of_partition(change: Any) -> ComparedRow:
    """A row of replicas, whose items are brokers, or of a group, whose items are members."""
    return ComparedRow(f"{change.topic}-{change.partition}", _listed(change.before), _listed(change.after))


def _of_task(change: Any) -> ComparedRow:
    return ComparedRow(change.task, _holders(change.before), _holders(change.after))


def _of_broker(change: Any) -> ComparedRow:
    before, after = (None if wave is None else str(wave) for wave in (change.before, change.after))
    return ComparedRow(str(change.broker), before, after)


def _of_interval(change: Any) -> ComparedRow:
    before, after = (None if count is None else str(count) for count in (change.before, change.after))
    return ComparedRow(str(change.interval), before, after)


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
    restarts.KIND: ("Broker", "Wave", _of_broker),
    consumers.KIND: ("Interval", "Consumers", _of_interval),
}
"""What a row of each kind is, where it is, and how a difference of it is written."""
