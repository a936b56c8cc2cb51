"""Assignments as CSV, Markdown and Arrow."""

import csv
import io

import numpy as np
import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from app.formats.tables.reader_tables import (
    LOCALITIES,
    NO_READER,
    Reader,
    TopicReaders,
    write_arrow,
    write_csv,
    write_markdown,
)
from app.formats.tables.topic_tables import without_formula
from tests.formats.strategies import topic_names

Group = tuple[list[Reader], list[TopicReaders]]
texts = st.text(st.characters(exclude_categories=["C"]), min_size=1, max_size=12)


def topic(name: str, *rows: tuple[int, int, str]) -> TopicReaders:
    """A topic of these partitions, readers and localities."""
    partitions, readers, where = zip(*rows, strict=True) if rows else ((), (), ())
    where_at = np.array([LOCALITIES.index(word) for word in where], np.int8)
    return TopicReaders(name, np.array(partitions, np.int32), np.array(readers, np.int32), where_at)


MEMBERS = [Reader("billing-0", "use1-az1"), Reader("billing|1", None)]
WORKED = [
    topic("orders", (0, 0, "in_rack"), (1, 0, "cross_rack"), (1, 1, "unknown")),
    topic("payments", (0, NO_READER, "unknown")),
]


@st.composite
def groups(draw: st.DrawFn) -> Group:
    ids = draw(st.lists(texts, unique=True, max_size=5))
    members = [Reader(member_id, draw(st.none() | texts)) for member_id in ids]
    readers = st.integers(NO_READER, len(members) - 1)
    rows = st.lists(st.tuples(st.integers(0, 20), readers, st.sampled_from(LOCALITIES)), max_size=8)
    names = draw(st.lists(topic_names, unique=True, max_size=4))
    return members, [topic(name, *sorted(draw(rows))) for name in names]


def rows_of(
    members: list[Reader], topics: list[TopicReaders]
) -> list[tuple[str, int, str | None, str | None, str | None]]:
    found: list[tuple[str, int, str | None, str | None, str | None]] = []
    for each in topics:
        columns = (each.partitions, each.readers, each.locality)
        for partition, reader, where in zip(*(column.tolist() for column in columns), strict=True):
            if reader == NO_READER:
                found.append((each.topic, partition, None, None, None))
            else:
                found.append(
                    (each.topic, partition, members[reader].member_id, members[reader].rack_id, LOCALITIES[where])
                )
    return found


@given(groups())
def test_a_csv_reader_gets_every_row_back(group: Group) -> None:
    header, *rows = csv.reader(io.StringIO(write_csv(*group).decode(), newline=""))
    assert header == ["topic", "partition", "member_id", "rack_id", "locality"]
    assert rows == [["" if cell is None else without_formula(str(cell)) for cell in row] for row in rows_of(*group)]


@given(groups())
def test_an_arrow_reader_gets_every_row_back(group: Group) -> None:
    table = pa.ipc.open_stream(write_arrow(*group)).read_all()
    assert table.column_names == ["topic", "partition", "member_id", "rack_id", "locality"]
    assert list(zip(*(table.column(name).to_pylist() for name in table.column_names), strict=True)) == rows_of(*group)


@given(groups(), st.integers(0, 30))
def test_the_limit_of_a_markdown_table_bounds_its_rows_and_the_rest_is_counted(group: Group, limit: int) -> None:
    rows = rows_of(*group)
    lines = write_markdown(*group, limit=limit).splitlines()
    shown = [line for line in lines if line.startswith("| ") and not line.startswith("| partition")]
    assert len(shown) == min(limit, len(rows))
    # Five bars a line, and those in names are no bars.
    assert all(line.replace("\\\\", "").replace("\\|", "").count("|") == 5 for line in shown)
    hidden = max(0, len(rows) - limit)
    assert (f"… and {hidden} more row" in "\n".join(lines)) is (hidden > 0)


def test_worked_examples() -> None:
    assert write_csv(MEMBERS, WORKED) == (
        b"topic,partition,member_id,rack_id,locality\r\n"
        b"orders,0,billing-0,use1-az1,in_rack\r\n"
        b"orders,1,billing-0,use1-az1,cross_rack\r\n"
        b"orders,1,billing|1,,unknown\r\n"
        b"payments,0,,,\r\n"
    )
    assert write_markdown(MEMBERS, WORKED, limit=3) == (
        "### `orders`\n\n"
        "| partition | member | rack | locality |\n|---:|---|---|---|\n"
        "| 0 | billing-0 | use1-az1 | in rack |\n"
        "| 1 | billing-0 | use1-az1 | cross rack |\n"
        "| 1 | billing\\|1 |  | unknown |\n\n"
        "… and 1 more row.\n"
    )
