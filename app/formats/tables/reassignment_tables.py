"""The partitions that a reassignment changes, as CSV and Arrow: a row a partition. These are ours, not Kafka's.

CSV; replicas are joined by `;`, the preferred leader first:

    topic,partition,before,after,adding_replicas,removing_replicas,size_bytes,racks_before,racks_after
    orders,3,101;105;108,101;106;108,106,105,12897484,3,3

A new partition has an empty `before`, and one of unknown size an empty `size_bytes`.
"""

from collections.abc import Iterable, Iterator
from itertools import tee

import numpy as np

from app.core.measures.transfers import ChangedRows
from app.core.model import NO_REPLICA, UNKNOWN_SIZE, Int32s
from app.formats.syntax.row_text import format_rows
from app.formats.tables import topic_tables
from app.formats.tables.topic_tables import CSV_END, csv_row

_LISTS = ("before", "after", "adding_replicas", "removing_replicas")
_COUNTS = ("size_bytes", "racks_before", "racks_after")


def write_csv(topics: Iterable[ChangedRows]) -> bytes:
    """One line a partition under a header line; a million partitions take under ten seconds."""
    return topic_tables.write_csv(("topic", "partition", *_LISTS, *_COUNTS), map(_csv_rows, topics))


def write_arrow(topics: Iterable[ChangedRows]) -> bytes:
    """An Arrow IPC stream with one record batch a topic.

    Columns: `topic` dictionary<int32, string>, `partition` int32, `before`, `after`, `adding_replicas` and
    `removing_replicas` list<int32>, `size_bytes` int64, null if unknown, `racks_before` and `racks_after`
    int32.
    """
    import pyarrow as pa  # noqa: PLC0415 — it takes long to import, and only this format needs it

    def batches(listed: Iterable[ChangedRows]) -> Iterator[tuple[Int32s, list[topic_tables.ArrowArray]]]:
        for changed in listed:
            size = pa.array(changed.size_bytes, mask=changed.size_bytes == UNKNOWN_SIZE)
            racks = [pa.array(changed.racks_before), pa.array(changed.racks_after)]
            yield changed.partition_ids, [*map(topic_tables.replica_column, _lists(changed)), size, *racks]

    fields = [
        *map(topic_tables.replica_lists, _LISTS),
        pa.field("size_bytes", pa.int64()),
        *(pa.field(name, pa.int32(), nullable=False) for name in _COUNTS[1:]),
    ]
    named, listed = tee(topics)
    return topic_tables.write_arrow(fields, [changed.topic for changed in named], batches(listed))


def _lists(changed: ChangedRows) -> tuple[Int32s, Int32s, Int32s, Int32s]:
    return (
        changed.before,
        changed.after,
        _without(changed.after, changed.before),
        _without(changed.before, changed.after),
    )


def _without(rows: Int32s, others: Int32s) -> Int32s:
    """The rows with padding in place of the brokers that the other side has too."""
    is_in_others = (rows[:, :, None] == others[:, None, :]).any(axis=2)
    return np.where(is_in_others, np.int32(NO_REPLICA), rows)


def _csv_rows(changed: ChangedRows) -> str:
    name = csv_row(changed.topic)
    lists = [_joined(rows) for rows in _lists(changed)]
    sizes = ["" if size == UNKNOWN_SIZE else size for size in changed.size_bytes.tolist()]
    columns = (
        changed.partition_ids.tolist(),
        *lists,
        sizes,
        changed.racks_before.tolist(),
        changed.racks_after.tolist(),
    )
    return CSV_END.join([f"{name},{','.join(map(str, row))}" for row in zip(*columns, strict=True)])


def _joined(rows: Int32s) -> list[str]:
    return format_rows(rows, lambda width: ";".join(["%d"] * width), separator="\n").split("\n")
