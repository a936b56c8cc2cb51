"""The member of each partition of a group, as CSV, Markdown and Arrow. These formats are not Kafka's.

CSV, a line a partition; in share groups, where several members read a partition, a line each:

    topic,partition,member_id,rack_id,locality
    orders,0,billing-0,use1-az1,in_rack

`locality` is one of `LOCALITIES`. A partition without member has one line, empty after its id.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial

import numpy as np
from numpy.typing import NDArray

from app.core.model import Int32s, Int64s
from app.formats.tables import topic_tables
from app.formats.tables.topic_tables import CSV_END, MarkdownTable, csv_row, markdown_cell

LOCALITIES = ("in_rack", "cross_rack", "unknown")
"""The member's rack holds a replica of the partition, holds none, or one of the two racks is not known."""
NO_READER = -1
_MARKDOWN_HEAD = ("| partition | member | rack | locality |", "|---:|---|---|---|")


@dataclass(frozen=True, slots=True)
class Reader:
    """A member of the group."""

    member_id: str
    rack_id: str | None


@dataclass(frozen=True, slots=True, eq=False)
class TopicReaders:
    """The readers of the partitions of one topic: a row for each partition and reader.

    Parameters
    ----------
    partitions : (rows,) int32, ascending. readers : (rows,) int32 places in the list of members, or `NO_READER`.
    locality : (rows,) int8 places in `LOCALITIES`; without meaning if there is no member.
    """

    topic: str
    partitions: Int32s = field(repr=False)
    readers: Int32s = field(repr=False)
    locality: NDArray[np.int8] = field(repr=False)


def write_csv(members: Sequence[Reader], topics: Iterable[TopicReaders]) -> bytes:
    """One line a partition and reader under a header line; a million of them take under two seconds."""
    header = ("topic", "partition", "member_id", "rack_id", "locality")
    # The cells after the partition's id are written once for each reader and locality, not for each row.
    tails: dict[int, str] = {}
    blocks = (_csv_rows(members, topic, tails) for topic in topics if len(topic.partitions))
    return topic_tables.write_csv(header, blocks)


def write_markdown(members: Sequence[Reader], topics: Iterable[TopicReaders], *, limit: int) -> str:
    """One table a topic under its name as a heading; `limit` is how many rows are shown in all."""
    tables = [
        MarkdownTable(topic.topic, len(topic.partitions), partial(_markdown_rows, members, topic)) for topic in topics
    ]
    return topic_tables.write_markdown(_MARKDOWN_HEAD, tables, limit=limit, noun="row")


def write_arrow(members: Sequence[Reader], topics: Iterable[TopicReaders]) -> bytes:
    """An Arrow IPC stream with one record batch a topic.

    Columns: `topic` dictionary<int32, string>, `partition` int32, and, null if there is no member or no rack,
    `member_id`, `rack_id` and `locality`, each dictionary<int32, string>.
    """
    import pyarrow as pa  # noqa: PLC0415 — it takes long to import, and only this format needs it

    words = pa.dictionary(pa.int32(), pa.string())
    fields = [pa.field(name, words) for name in ("member_id", "rack_id", "locality")]
    racks = {rack: place for place, rack in enumerate(sorted({member.rack_id for member in members if member.rack_id}))}
    # One place more than there are members: no member is in no rack.
    rack_of = np.array([*(racks.get(member.rack_id or "", -1) for member in members), -1], np.int32)
    names = ([member.member_id for member in members], list(racks), LOCALITIES)
    dictionaries = [pa.array(words_of, type=pa.string()) for words_of in names]
    listed = list(topics)

    def batches() -> Iterator[tuple[Int32s, list[topic_tables.ArrowArray]]]:
        for topic in listed:
            has_no_reader = topic.readers == NO_READER
            places = (topic.readers, rack_of[topic.readers], topic.locality.astype(np.int32))
            masks = (has_no_reader, places[1] < 0, has_no_reader)
            yield (
                topic.partitions,
                [
                    pa.DictionaryArray.from_arrays(pa.array(column, mask=mask), dictionary)
                    for column, mask, dictionary in zip(places, masks, dictionaries, strict=True)
                ],
            )

    return topic_tables.write_arrow(fields, [topic.topic for topic in listed], batches())


def _csv_rows(members: Sequence[Reader], topic: TopicReaders, tails: dict[int, str]) -> str:
    name = csv_row(topic.topic)
    kinds: Int64s = np.where(
        topic.readers == NO_READER, -1, topic.readers.astype(np.int64) * len(LOCALITIES) + topic.locality
    )
    for kind in np.unique(kinds).tolist():
        if kind not in tails:
            tails[kind] = _csv_tail(members, kind)
    rows = zip(topic.partitions.tolist(), kinds.tolist(), strict=True)
    return CSV_END.join([f"{name},{partition}{tails[kind]}" for partition, kind in rows])


def _csv_tail(members: Sequence[Reader], kind: int) -> str:
    if kind < 0:
        return ",,,"
    reader, locality = divmod(kind, len(LOCALITIES))
    member = members[reader]
    return csv_row("", member.member_id, member.rack_id or "", LOCALITIES[locality])


def _markdown_rows(members: Sequence[Reader], topic: TopicReaders, shown: int) -> Iterator[str]:
    columns = (topic.partitions, topic.readers, topic.locality)
    for partition, reader, locality in zip(*(column[:shown].tolist() for column in columns), strict=True):
        if reader == NO_READER:
            yield f"| {partition} |  |  |  |"
            continue
        member = members[reader]
        where = LOCALITIES[locality].replace("_", " ")
        yield f"| {partition} | {markdown_cell(member.member_id)} | {markdown_cell(member.rack_id or '')} | {where} |"
