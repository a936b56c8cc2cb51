"""Placements as tables for people and programs: CSV, Markdown, Arrow. These are ours, not Kafka's.

CSV, lines ended by CR LF (RFC 4180); `replicas` joins the broker ids by `;`, the preferred leader first:

    topic,partition,leader,replicas
    orders,0,101,101;105;108

A partition without replicas has an empty leader and empty replicas.
"""

import io
from collections.abc import Iterable, Iterator, Sequence

import numpy as np

from app.core.model import NO_REPLICA, Int32s, Placement, unpadded
from app.formats.row_text import format_rows, literal, with_partition_ids

_CSV_END = "\r\n"


def write_csv(placements: Iterable[Placement]) -> bytes:
    """One line a partition under a header line; a million partitions take under three seconds."""
    parts = [f"topic,partition,leader,replicas{_CSV_END}"]
    for placement in placements:
        if len(placement.replicas):
            parts += [_csv_rows(placement), _CSV_END]
    return "".join(parts).encode()


def write_markdown(placements: Iterable[Placement], *, limit: int) -> str:
    """One table a topic under its name as a heading.

    Parameters
    ----------
    limit : how many partitions are shown in all; the last line says how many are not.
    """
    blocks: list[str] = []
    left, hidden = limit, 0
    for placement in placements:
        shown = max(0, min(left, len(placement.replicas)))
        left -= shown
        hidden += len(placement.replicas) - shown
        if shown:
            blocks.append("\n".join(_markdown_lines(placement, shown)))
    if hidden:
        blocks.append(f"… and {hidden} more {'partition' if hidden == 1 else 'partitions'}.")
    return "\n\n".join(blocks) + "\n" if blocks else ""


def write_arrow(placements: Iterable[Placement]) -> bytes:
    """An Arrow IPC stream with one record batch a topic.

    Columns: `topic` dictionary<int32, string>, `partition` int32, `replicas` list<int32>. Where no row is padded the
    batch's replicas are the placement's own array, not a copy; the stream's bytes are then written once.
    """
    # Loaded here, since it takes longer than most requests and few ask for Arrow.
    import pyarrow as pa  # noqa: PLC0415 — it takes long to import, and only this format needs it

    listed = list(placements)
    names = pa.array([placement.topic for placement in listed], type=pa.string())
    fields = [
        pa.field("topic", pa.dictionary(pa.int32(), pa.string()), nullable=False),
        pa.field("partition", pa.int32(), nullable=False),
        pa.field("replicas", pa.list_(pa.field("item", pa.int32(), nullable=False)), nullable=False),
    ]
    schema = pa.schema(fields)
    stream = io.BytesIO()
    with pa.ipc.new_stream(stream, schema) as writer:
        for index, placement in enumerate(listed):
            count = len(placement.replicas)
            offsets, values = _list_parts(placement.replicas)
            topic = pa.DictionaryArray.from_arrays(pa.array(np.full(count, index, dtype=np.int32)), names)
            first = placement.first_partition_id
            partition = pa.array(np.arange(first, first + count, dtype=np.int32))
            replicas = pa.ListArray.from_arrays(pa.array(offsets), pa.array(values), type=schema.field("replicas").type)
            writer.write_batch(pa.record_batch([topic, partition, replicas], schema=schema))
    return stream.getvalue()


def _csv_rows(placement: Placement) -> str:
    topic = literal(_csv_field(placement.topic))

    def template(width: int) -> str:
        # The partition id and the leader come first; the leader opens the replicas once more.
        replicas = ";".join(["%d"] * (width - 2))
        return f"{topic},%d,{'%d' if replicas else ''},{replicas}"

    leaders = placement.replicas[:, :1]
    matrix = with_partition_ids(placement, leaders, placement.replicas)
    return format_rows(matrix, template, separator=_CSV_END)


def _csv_field(text: str) -> str:
    if any(sign in text for sign in ',"\r\n'):
        return '"' + text.replace('"', '""') + '"'
    return text


def _markdown_lines(placement: Placement, shown: int) -> Iterator[str]:
    yield f"### `{placement.topic}`"
    yield ""
    yield "| partition | leader | replicas |"
    yield "|---:|---:|---|"
    rows: Sequence[Sequence[int]] = unpadded(placement.replicas[:shown])
    for partition, replicas in enumerate(rows, start=placement.first_partition_id):
        leader = replicas[0] if replicas else ""
        yield f"| {partition} | {leader} | {', '.join(map(str, replicas))} |"


def _list_parts(replicas: Int32s) -> tuple[Int32s, Int32s]:
    """The offsets and values of an Arrow list array: (rows + 1,) and (all replicas,) int32."""
    held = replicas != NO_REPLICA
    offsets = np.zeros(len(replicas) + 1, dtype=np.int32)
    np.cumsum(held.sum(axis=1), out=offsets[1:])
    return offsets, replicas.reshape(-1) if held.all() else replicas[held]
