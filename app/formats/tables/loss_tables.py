"""The loads of remaining brokers after each loss, as CSV. These are ours.

    lost_broker,lost_rack,broker,resource,intact,after_loss,limit,over_limit
    105,,,offline_partitions,,0,,
    105,,,elected_partitions,,13,,
    105,,,reduced_partitions,,39,,
    105,,,unwritable_partitions,,0,,
    105,,,at_min_isr_partitions,,39,,
    105,,101,nic_out,81251,99696,200000,no

Of each loss the partitions that are then offline, have another leader, have fewer replicas, cannot be written and are
at `min.insync.replicas`, without a broker; then a row for each remaining broker and resource. Without a limit of the
request, `limit` is the capacity. Unknown values are empty. Units are those of a plan: bytes, bytes/s, vCPU and counts.
"""

from collections.abc import Iterable
from dataclasses import dataclass

from app.errors import Json
from app.formats.tables.topic_tables import csv_row, write_csv

_COLUMNS = ("lost_broker", "lost_rack", "broker", "resource", "intact", "after_loss", "limit", "over_limit")


@dataclass(frozen=True, slots=True)
class LossRow:
    """A load of a broker without a loss (`intact`) and after it; the limit is the capacity if the request has none.

    Without a broker the value is a number of partitions, and nothing is over a limit.
    """

    lost_broker: int | None
    lost_rack: str | None
    broker: int | None
    resource: str
    intact: Json
    value: Json
    limit: Json = None
    is_over: bool = False


def write_losses_csv(rows: Iterable[LossRow]) -> bytes:
    """A header line, and a line a row."""
    return write_csv(_COLUMNS, map(_line, rows))


def _line(row: LossRow) -> str:
    is_over = None if row.limit is None else ("yes" if row.is_over else "no")
    figures = (row.intact, row.value, row.limit, is_over)
    return csv_row(row.lost_broker, row.lost_rack, row.broker, row.resource, *figures)
