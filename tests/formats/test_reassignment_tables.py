"""The partitions that a reassignment changes, as CSV and Arrow."""

import csv
import io

import pyarrow as pa

from app.core.measures.transfers import Transfers
from app.formats.tables.reassignment_tables import write_arrow, write_csv
from tests.formats.changes import kafkas_own, nothing, worked

COLUMNS = ["topic", "partition", "before", "after", "adding_replicas", "removing_replicas", "size_bytes"]
COLUMNS += ["racks_before", "racks_after"]


def records(found: Transfers) -> list[list[object]]:
    listed: list[list[object]] = []
    for p in found.partitions(0, found.movement.total):
        lists = [list(ids) for ids in (p.before or (), p.after, p.adding_replicas, p.removing_replicas)]
        listed.append([p.topic, p.partition, *lists, p.size_bytes, p.racks_before, p.racks_after])
    return listed


def test_a_worked_csv() -> None:
    assert write_csv(worked().changed()) == (
        b"topic,partition,before,after,adding_replicas,removing_replicas,size_bytes,racks_before,racks_after\r\n"
        b"clicks,0,106;101,106;108;105,108;105,101,,2,1\r\n"
        b"orders,3,101;105;108,101;106;108,106,105,12882912,2,2\r\n"
        b"orders,4,101;106,106;101,,,2048,2,2\r\n"
        b"orders,5,,108;101,108;101,,0,0,1\r\n"
    )


def test_a_csv_reader_gets_every_partition_back() -> None:
    for found in (kafkas_own(), nothing()):
        header, *rows = csv.reader(io.StringIO(write_csv(found.changed()).decode(), newline=""))
        assert header == COLUMNS
        assert rows == [
            [";".join(map(str, cell)) if isinstance(cell, list) else str(cell) for cell in record]
            for record in records(found)
        ]


def test_an_arrow_reader_gets_every_partition_back() -> None:
    for found in (worked(), kafkas_own(), nothing()):
        with pa.ipc.open_stream(write_arrow(found.changed())) as stream:
            table = stream.read_all()
        assert table.column_names == COLUMNS
        assert [list(row.values()) for row in table.to_pylist()] == records(found)
