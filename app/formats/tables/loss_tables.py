"""The loads of remaining brokers after each loss, as CSV. These are ours.

    lost_broker,lost_rack,broker,resource,intact,after_loss,limit,over_limit
    105,,,offline_partitions,,0,,
    105,,,elected_partitions,,13,,
    105,,,reduced_partitions,,39,,
    105,,101,nic_out,81251,99696,200000,no

Of each loss the partitions that are then offline, have another leader and have fewer replicas, without a broker; then a
row for each remaining broker and resource. Without a limit of the request, `limit` is the capacity. What is unknown is
empty. Units are those of a plan: bytes, bytes/s, vCPU and counts.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from app.errors import Json
from app.formats.tables.topic_tables import csv_row, write_csv

_COLUMNS = ("lost_broker", "lost_rack", "broker", "resource", "intact", "after_loss", "limit", "over_limit")


@dataclass(frozen=True, slots=True)
class LossWide:
    """A count of partitions after the loss of a broker or a rack."""

    lost_broker: int | None
    lost_rack: str | None
    what: str
    count: int


@dataclass(frozen=True, slots=True)
class RemainingLoad:
    """A load of a broker without a loss (`intact`) and after it; the limit is the capacity if the request has none."""

    lost_broker: int | None
    lost_rack: str | None
    broker: int
    resource: str
    intact: Json
    value: Json
    limit: Json
    is_over: bool


def write_losses_csv(rows: Iterable[LossWide | RemainingLoad]) -> bytes:
    """A header line, and a line a row."""
    return write_csv(_COLUMNS, (csv_row(*cells) for cells in _cells(rows)))


def _cells(rows: Iterable[LossWide | RemainingLoad]) -> Iterator[Sequence[str]]:
    for row in rows:
        lost = (_text(row.lost_broker), row.lost_rack or "")
        if isinstance(row, LossWide):
            yield (*lost, "", row.what, "", str(row.count), "", "")
        else:
            is_over = "" if row.limit is None else ("yes" if row.is_over else "no")
            figures = (_text(row.intact), _text(row.value), _text(row.limit), is_over)
            yield (*lost, str(row.broker), row.resource, *figures)


def _text(value: Json) -> str:
    return "" if value is None else str(value)
