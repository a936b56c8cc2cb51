"""Placements as CSV, Markdown and Arrow."""

import csv
import io

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.core.model import Placement, padded, unpadded
from app.formats.tables.placement_tables import write_arrow, write_csv, write_markdown
from app.formats.tables.topic_tables import without_formula
from tests.formats.strategies import matrix, placements
from tests.profiles import costly

WORKED = [
    Placement("orders", 6, matrix([[101, 105, 108], [104, 109, 102]])),
    Placement("__offsets", 0, padded([[1], [2, 3], []])),
]


def _rows(placed: list[Placement]) -> list[tuple[str, int, list[int]]]:
    return [
        (placement.topic, placement.first_partition_id + i, replicas)
        for placement in placed
        for i, replicas in enumerate(unpadded(placement.replicas))
    ]


class TestCsv:
    @costly()
    @given(placements())
    def test_a_csv_reader_gets_every_partition_back(self, placed: list[Placement]) -> None:
        header, *rows = csv.reader(io.StringIO(write_csv(placed).decode(), newline=""))
        assert header == ["topic", "partition", "leader", "replicas"]
        assert rows == [
            [without_formula(topic), str(partition), str(replicas[0]), ";".join(map(str, replicas))]
            for topic, partition, replicas in _rows(placed)
        ]

    def test_a_worked_example(self) -> None:
        assert write_csv(WORKED) == (
            b"topic,partition,leader,replicas\r\n"
            b"orders,6,101,101;105;108\r\n"
            b"orders,7,104,104;109;102\r\n"
            b"__offsets,0,1,1\r\n"
            b"__offsets,1,2,2;3\r\n"
            b"__offsets,2,,\r\n"
        )

    def test_a_name_that_needs_quotes_is_quoted(self) -> None:
        written = write_csv([Placement('a,"b%d', 0, matrix([[1]]))]).decode()
        assert list(csv.reader(io.StringIO(written, newline="")))[1] == ['a,"b%d', "0", "1", "1"]


class TestMarkdown:
    def test_a_worked_example(self) -> None:
        assert write_markdown(WORKED, limit=3) == (
            "### `orders`\n\n"
            "| partition | leader | replicas |\n|---:|---:|---|\n"
            "| 6 | 101 | 101, 105, 108 |\n| 7 | 104 | 104, 109, 102 |\n\n"
            "### `__offsets`\n\n"
            "| partition | leader | replicas |\n|---:|---:|---|\n"
            "| 0 | 1 | 1 |\n\n"
            "… and 2 more partitions.\n"
        )

    @given(placements(), st.integers(0, 30))
    def test_the_limit_bounds_the_rows_and_the_rest_is_counted(self, placed: list[Placement], limit: int) -> None:
        rows = _rows(placed)
        lines = write_markdown(placed, limit=limit).splitlines()
        assert sum(line.startswith("| ") and not line.startswith("| partition") for line in lines) == min(
            limit, len(rows)
        )
        hidden = max(0, len(rows) - limit)
        assert (f"… and {hidden} more partition" in "\n".join(lines)) is (hidden > 0)


class TestArrow:
    @given(placements())
    def test_an_arrow_reader_gets_every_partition_back(self, placed: list[Placement]) -> None:
        table = pa.ipc.open_stream(write_arrow(placed)).read_all()
        assert str(table.schema.field("topic").type) == "dictionary<values=string, indices=int32, ordered=0>"
        assert table.schema.field("partition").type == pa.int32()
        columns = (table.column(name).to_pylist() for name in ("topic", "partition", "replicas"))
        assert list(zip(*columns, strict=True)) == _rows(placed)

    def test_rows_without_replicas_are_empty_lists(self) -> None:
        table = pa.ipc.open_stream(write_arrow(WORKED)).read_all()
        assert table.column("replicas").to_pylist() == [[101, 105, 108], [104, 109, 102], [1], [2, 3], []]

    @pytest.mark.parametrize("order", ["C", "F"])
    def test_arrays_in_any_layout_are_written_by_rows(self, order: str) -> None:
        replicas = np.array([[1, 2, 3], [4, 5, 6]], dtype=np.int32, order=order)  # type: ignore[call-overload]  # numpy types the layouts one by one
        table = pa.ipc.open_stream(write_arrow([Placement("t", 0, replicas[::-1])])).read_all()
        assert table.column("replicas").to_pylist() == [[4, 5, 6], [1, 2, 3]]
