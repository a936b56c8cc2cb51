"""Placements as tables for people and programs: CSV, Markdown, Arrow. These are ours, not Kafka's.

CSV; `replicas` joins the broker ids by `;`, the preferred leader first:

    topic,partition,leader,replicas
    orders,0,101,101;105;108

A partition without replicas has an empty leader and empty replicas.
"""

from collections.abc import Iterable, Iterator, Sequence
from functools import partial

from app.core.model import Int32s, Placement, unpadded
from app.formats.syntax.row_text import format_rows, literal, with_partition_ids
from app.formats.tables import topic_tables
from app.formats.tables.topic_tables import CSV_END, MarkdownTable, csv_row

_MARKDOWN_HEAD = ("| partition | leader | replicas |", "|---:|---:|---|")


def write_csv(placements: Iterable[Placement]) -> bytes:
    """One line a partition under a header line; a million partitions take under three seconds."""
    blocks = (_csv_rows(placement) for placement in placements if len(placement.replicas))
    return topic_tables.write_csv(("topic", "partition", "leader", "replicas"), blocks)


def write_markdown(placements: Iterable[Placement], *, limit: int) -> str:
    """One table a topic under its name as a heading.

    Parameters
    ----------
    limit : how many partitions are shown in all; the last line says how many are not.
    """
    tables = [
        MarkdownTable(placement.topic, len(placement.replicas), partial(_markdown_rows, placement))
        for placement in placements
    ]
    return topic_tables.write_markdown(_MARKDOWN_HEAD, tables, limit=limit, noun="partition")


def write_arrow(placements: Iterable[Placement]) -> bytes:
    """An Arrow IPC stream with one record batch a topic.

    Columns: `topic` dictionary<int32, string>, `partition` int32, `replicas` list<int32>. If no row is padded, the
    batch's replicas are the placement's own array, not a copy.
    """
    replicas = topic_tables.replica_lists("replicas")
    listed = list(placements)

    def batches() -> Iterator[tuple[Int32s, list[topic_tables.ArrowArray]]]:
        for placement in listed:
            yield placement.assignment.partition_ids, [topic_tables.replica_column(placement.replicas)]

    return topic_tables.write_arrow([replicas], [placement.topic for placement in listed], batches())


def _csv_rows(placement: Placement) -> str:
    topic = literal(csv_row(placement.topic))

    def template(width: int) -> str:
        # The partition id and the leader come first; the leader opens the replicas once more.
        replicas = ";".join(["%d"] * (width - 2))
        return f"{topic},%d,{'%d' if replicas else ''},{replicas}"

    leaders = placement.replicas[:, :1]
    matrix = with_partition_ids(placement.assignment.partition_ids, leaders, placement.replicas)
    return format_rows(matrix, template, separator=CSV_END)


def _markdown_rows(placement: Placement, shown: int) -> Iterator[str]:
    rows: Sequence[Sequence[int]] = unpadded(placement.replicas[:shown])
    for partition, replicas in enumerate(rows, start=placement.first_partition_id):
        leader = replicas[0] if replicas else ""
        yield f"| {partition} | {leader} | {', '.join(map(str, replicas))} |"
