"""The kernels and the loop around them, with no Spark."""

from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.core.keys.partitioners import PARTITIONERS, partition
from app.errors.kafka import InvalidPartitions
from app.errors.requests import ColumnNotFound, LimitExceeded
from app.jobs.kernels import key_counts
from app.jobs.kernels import keys as keys_kernel
from app.jobs.kernels.loop import Kernel, over_ranges, results_of, run_task, with_failure
from app.jobs.kernels.registry import KERNELS

SQUARES = pa.schema([pa.field("square", pa.int64(), nullable=False)])
KEYS = st.lists(st.one_of(st.none(), st.binary(max_size=40)), max_size=60)
TYPES = {"binary": pa.binary(), "large_binary": pa.large_binary()}


def squares(factor: int, start: int, stop: int) -> Iterator[pa.RecordBatch]:
    """A kernel over indices that the eye can check."""
    yield pa.RecordBatch.from_arrays(
        [pa.array([factor * i * i for i in range(start, stop)], pa.int64())], schema=SQUARES
    )


SQUARE = Kernel("squares", int, over_ranges(squares))


def ranges(*pairs: tuple[int, int]) -> Iterator[pa.RecordBatch]:
    yield pa.RecordBatch.from_pydict({"start": [start for start, _ in pairs], "stop": [stop for _, stop in pairs]})


def test_a_kernel_over_ranges_gets_each_range_and_the_prepared_payload() -> None:
    batches = list(run_task({"squares": SQUARE}, "squares", b"10", SQUARES, ranges((0, 3), (5, 6))))
    assert [batch.column(0).to_pylist() for batch in batches] == [[0, 10, 40], [250]]


def test_another_schema_than_was_declared_is_rejected() -> None:
    """Spark would read the bytes of one type as another's, or say so in an incomprehensible way."""
    declared = pa.schema([("square", pa.int32())])
    with pytest.raises(TypeError, match="squares yields square: int64"):
        list(run_task({"squares": SQUARE}, "squares", b"1", declared, ranges((0, 1))))


def refuse(_: int, start: int, stop: int) -> Iterator[pa.RecordBatch]:
    """A kernel that rejects every range but the first."""
    if start:
        raise LimitExceeded("too many: 5 of 4", path=("axes", 0), limit=4, range=[start, stop])
    yield from squares(1, start, stop)


REFUSE = {"refuse": Kernel("refuse", int, over_ranges(refuse))}


def test_a_failure_is_a_row_beside_what_was_yielded_before_it() -> None:
    batches = list(run_task(REFUSE, "refuse", b"1", SQUARES, ranges((0, 3), (3, 5), (5, 9))))
    assert [len(batch) for batch in batches] == [3, 1], "nothing is done after it"
    assert all(batch.schema == with_failure(SQUARES) for batch in batches)
    with pytest.raises(LimitExceeded) as raised:
        results_of(pa.Table.from_batches(batches))
    assert (raised.value.detail, raised.value.path) == ("too many: 5 of 4", ("axes", 0))
    assert raised.value.context == {"limit": 4, "range": [3, 5]}


def test_a_step_hands_on_the_failure_of_the_one_before() -> None:
    before = list(run_task(REFUSE, "refuse", b"1", SQUARES, ranges((0, 3), (3, 5))))
    kernel = Kernel("copy", int, lambda _, batches: (batch.cast(SQUARES) for batch in batches))
    batches = list(run_task({"copy": kernel}, "copy", b"1", SQUARES, iter(before), follows=True))
    assert batches[0].column(0).to_pylist() == [0, 1, 4]
    with pytest.raises(LimitExceeded, match="too many: 5 of 4"):
        results_of(pa.Table.from_batches(batches))


def test_results_are_what_the_kernel_yielded() -> None:
    batches = run_task({"squares": SQUARE}, "squares", b"10", SQUARES, ranges((0, 3)))
    assert results_of(pa.Table.from_batches(list(batches))).to_pydict() == {"square": [0, 10, 40]}


def test_every_kernel_has_the_name_that_it_is_looked_up_by() -> None:
    assert all(kernel.name == name for name, kernel in KERNELS.items())


@given(keys=KEYS, sizes=st.lists(st.integers(0, 20), max_size=5), kind=st.sampled_from(sorted(TYPES)))
def test_counts_are_the_cores_however_the_keys_are_cut_into_batches(
    keys: list[bytes | None], sizes: list[int], kind: str
) -> None:
    """Hashing is per key, so where a batch begins, and which slice of Arrow's buffers it is, changes nothing."""
    names, counts = ["murmur2_adaptive", "consistent_random"], [3, 7]
    column = pa.array(keys, TYPES[kind])
    cuts = np.minimum(np.cumsum([0, *sizes, len(keys)]), len(keys)).tolist()
    ones, zeros = (pa.array([value] * len(keys), pa.int64()) for value in (1, 0))
    of_column = [[column[a:b], ones[a:b], zeros[a:b]] for a, b in pairwise(cuts)]
    batches = [pa.RecordBatch.from_arrays(part, key_counts.SCHEMA.names) for part in of_column]
    payload = keys_kernel.payload(names, counts, heaviest=1)
    rows = [
        row
        for batch in run_task(KERNELS, "keys", payload, keys_kernel.SCHEMA, iter(batches))
        for row in batch.to_pylist()
        if row["what"] == "load"
    ]
    found = {(row["partitioner"], row["partitions"], row["partition"]): row for row in rows}
    assert len(found) == len(rows)
    whole = keys_kernel.keys_of_column(column)
    assert [whole[index] for index in range(len(whole))] == keys
    for name in names:
        for count in counts:
            placed = np.maximum(partition(PARTITIONERS[name], whole, count), -1)
            for where in range(-1, count):
                row = found.get((name, count, where), {"records": 0, "record_bytes": 0})
                assert row["records"] == np.count_nonzero(placed == where)
                assert row["record_bytes"] == sum(len(keys[at] or b"") for at in np.flatnonzero(placed == where))


def test_a_payload_that_no_topic_can_have_is_rejected_by_its_field() -> None:
    with pytest.raises(InvalidPartitions) as raised:
        keys_kernel.prepare(keys_kernel.payload(["murmur2"], [3, 0], heaviest=1))
    assert raised.value.path == ("partition_counts", 1)


@pytest.mark.parametrize("suffix", ["parquet", "arrow"])
def test_files_say_what_their_values_say(tmp_path: Path, suffix: str) -> None:
    """A file is only another place where the batches come from."""
    keys = pa.array([b"a", None, b"", b"bob"] * 50_000)
    table = pa.table({"value": pa.nulls(len(keys)), "key": keys})
    path = tmp_path / f"records.{suffix}"
    if suffix == "arrow":
        with pa.ipc.new_file(path, table.schema) as file:
            file.write_table(table, max_chunksize=1_000)
    else:
        pq.write_table(table, path)
    payload = key_counts.payload(["key"], "utf8")
    rows = pa.RecordBatch.from_pydict({"path": [str(path)], "columns": [["key"]]})
    batches = iter(table.select(["key"]).to_batches())
    found = [
        list(run_task(KERNELS, name, payload, key_counts.SCHEMA, over))
        for name, over in (("key_counts_of_files", iter([rows])), ("key_counts", batches))
    ]
    assert found[0] == found[1]
    assert sum(found[0][0].column("records").to_pylist()) == len(keys)
    missing = pa.RecordBatch.from_pydict({"path": [str(path)], "columns": [["kye"]]})
    failed = list(run_task(KERNELS, "key_counts_of_files", payload, key_counts.SCHEMA, iter([missing])))
    with pytest.raises(ColumnNotFound, match="kye"):
        results_of(pa.Table.from_batches(failed))


def test_keys_of_another_type_are_rejected() -> None:
    with pytest.raises(TypeError, match="keys are binary or string; the column is int64"):
        keys_kernel.keys_of_column(pa.array([1, 2]))
