"""A dataset of keys, counted key by key and added up: exactly the result of `services.keys` for the same keys."""

import base64
import json
import struct
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import orjson
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.core.keys.model import keys_of
from app.core.keys.partitioners import PARTITIONERS
from app.core.keys.skew import heaviest
from app.core.keys.sweep import KeyTally, suggested
from app.errors import Failure
from app.errors.machine import SparkJobFailed
from app.errors.requests import (
    ColumnNotFound,
    DatasetEmpty,
    DatasetNotAllowed,
    DatasetNotFound,
    DatasetUnreadable,
    KeyColumnOfAnotherType,
    MalformedKey,
    ValueColumnOfAnotherType,
)
from app.jobs import keys as job
from app.jobs.kernels import key_counts
from app.jobs.kernels import keys as keys_kernel
from app.jobs.spark import Spark
from app.jobs.sweeps import run_chunk
from app.services import sweeps
from app.services.keys import Encoding, KeysAnswer, KeysRequest, Written, place_keys
from app.services.limits import Limits
from app.services.sweeps import SweepRequest
from app.services.sweeps import results as sweep_results
from app.services.sweeps.results import ScenarioFilter
from app.store.database import Database
from tests.core.keys.serializers import string_keys

NAMES = ["murmur2_sticky", "murmur2_abs", "consistent", "consistent_random", "random"]
COUNTS = [5, 12, 7]
KEYS: list[str | None] = [*(f"user-{n % 97}" for n in range(2_000)), None, None, "", "ü", *["hot"] * 300]
Row = Mapping[str, Any]


def answered(keys: Sequence[Written | None], encoding: Encoding = Encoding.UTF8) -> KeysAnswer:
    """The service's result for the keys, listed one by one."""
    request = KeysRequest(
        keys=keys, encoding=encoding, partitioners=NAMES, partitions=COUNTS[0], compare_partitions=COUNTS[1:]
    )
    return place_keys(request, Limits(max_key_placements=10**9))


def counted(batches: Sequence[pa.RecordBatch], encoding: str = "utf8") -> list[tuple[bytes | None, int]]:
    """Keys and records as the first kernel counts them."""
    prepared = key_counts.prepare(key_counts.payload(["k"], encoding))
    actual = [row for batch in key_counts.run(prepared, iter(batches)) for row in batch.to_pylist()]
    return [(row["key"], row["records"]) for row in actual]


def column(values: Sequence[object], kind: pa.DataType | None = None) -> pa.RecordBatch:
    return pa.record_batch({"k": pa.array(values, kind)})


@given(st.lists(st.lists(st.none() | st.binary(max_size=3), max_size=20), max_size=5))
def test_every_record_is_counted_however_batches_are_divided(parts: list[list[bytes | None]]) -> None:
    actual = counted([column(part, pa.binary()) for part in parts])
    assert dict(actual) == Counter(key for part in parts for key in part)
    assert len(actual) == len({key for key, _ in actual}), "a task that holds all its counts has no key twice"


@given(st.lists(st.none() | st.integers(-(2**63), 2**63 - 1), min_size=1, max_size=30))
def test_numbers_are_serialised_as_java_does_from_integers_and_from_their_digits(numbers: list[int | None]) -> None:
    expected = Counter(None if n is None else n.to_bytes(8, "big", signed=True) for n in numbers)
    assert dict(counted([column(numbers, pa.int64())], "int64")) == expected
    digits = [None if n is None else str(n) for n in numbers]
    assert dict(counted([column(digits, pa.string())], "int64")) == expected


@given(st.lists(st.lists(st.tuples(st.sampled_from([None, b"a", b"bc"]), st.none() | st.binary(max_size=9)))))
def test_the_bytes_of_values_are_added_up_by_key(parts: list[list[tuple[bytes | None, bytes | None]]]) -> None:
    """From the values or from their lengths, however they come in batches; a value that is null has none."""
    expected: Counter[bytes | None] = Counter()
    for key, value in (record for part in parts for record in part):
        expected[key] += len(value or b"")
    prepared = key_counts.prepare(key_counts.payload(["k", "v"], "utf8"))
    as_it_is, as_its_length = (lambda value: value), (lambda value: None if value is None else len(value))
    for sized, kind in ((as_it_is, pa.binary()), (as_its_length, pa.int32())):
        batches = [
            pa.record_batch(
                {"k": pa.array([k for k, _ in part], pa.binary()), "v": pa.array([sized(v) for _, v in part], kind)}
            )
            for part in parts
        ]
        actual = [row for batch in key_counts.run(prepared, iter(batches)) for row in batch.to_pylist()]
        assert {row["key"]: row["value_bytes"] for row in actual} == expected
        assert sum(row["records"] for row in actual) == sum(map(len, parts))


@pytest.mark.parametrize("values", [pa.array([1.5]), pa.array([-1]), pa.array([[b"a"]])], ids=str)
def test_a_column_without_values_is_named(values: pa.Array) -> None:
    prepared = key_counts.prepare(key_counts.payload(["k", "v"], "utf8"))
    batch = pa.record_batch({"k": pa.array(["a"]), "v": values})
    with pytest.raises(ValueColumnOfAnotherType, match="'v'"):
        list(key_counts.run(prepared, iter([batch])))


def test_base64_that_is_written_in_two_ways_is_one_key() -> None:
    assert counted([column(["YQ==", "YR==", "YQ=="])], "base64") == [(b"a", 3)]


def test_texts_of_every_arrow_type_are_the_same_keys() -> None:
    kinds = [pa.string(), pa.large_string(), pa.binary(), pa.large_binary(), pa.dictionary(pa.int32(), pa.string())]
    batches = [column(["a", None, "a"], pa.string() if pa.types.is_dictionary(kind) else kind) for kind in kinds]
    batches[-1] = pa.record_batch({"k": batches[-1].column(0).dictionary_encode()})
    for batch in batches:
        assert dict(counted([batch])) == {b"a": 2, None: 1}


@pytest.mark.parametrize(
    ("encoding", "values", "kind", "failure"),
    [
        ("utf8", [1], pa.int64(), KeyColumnOfAnotherType),
        ("utf8", [1.5], pa.float64(), KeyColumnOfAnotherType),
        ("int64", [1.5], pa.float64(), KeyColumnOfAnotherType),
        ("base64", [1], pa.int32(), KeyColumnOfAnotherType),
        ("utf8", [["a"]], pa.list_(pa.string()), KeyColumnOfAnotherType),
        ("base64", ["a"], pa.string(), MalformedKey),
        ("int32", [2**31], pa.int64(), MalformedKey),
        ("int32", ["2147483648"], pa.string(), MalformedKey),
        ("int64", ["9223372036854775808"], pa.string(), MalformedKey),
        ("int64", ["1_0"], pa.string(), MalformedKey),
        ("int64", [""], pa.string(), MalformedKey),
        ("int64", [b"\xff"], pa.binary(), MalformedKey),
    ],
)
def test_a_column_without_keys_of_the_encoding_is_named(
    encoding: str, values: list[object], kind: pa.DataType, failure: type[Failure]
) -> None:
    with pytest.raises(failure, match="'k'"):
        counted([column(values, kind)], encoding)


@given(st.lists(st.sampled_from(["", "a", "b", "cc", "dd", "ü"]), max_size=60), st.integers(0, 4))
def test_a_tally_of_counts_equals_that_of_the_records(written: list[str], most: int) -> None:
    """Heaviest keys have the weights that the whole list gives them; equals are in the order of their bytes."""
    tally = KeyTally([PARTITIONERS["murmur2"]], [3], most)
    counts = Counter(key.encode() for key in written)
    for key, records in counts.items():
        tally.add(keys_of([key]), np.array([records]), np.array([7]))
    expected = heaviest(string_keys(written), most=len(counts)) if most else ()
    assert tally.heaviest == sorted(((h.key, h.weight) for h in expected), key=lambda h: (-h[1], h[0]))[:most]
    assert (tally.keys, tally.records) == (len(counts), len(written))
    assert tally.sums[0].records.sum() == len(written)
    assert tally.sums[0].record_bytes.sum() == sum(len(key.encode()) for key in written) + 7 * len(counts)


def test_the_smallest_count_of_similar_balance_is_suggested() -> None:
    assert suggested([(48, 1.2), (12, 1.33), (24, 1.25)]) == 24
    assert suggested([(12, 1.0)]) == 12


def defined(path: Path, form: str, *, root: Path, encoding: str = "utf8", name: str = "k", most: int = 3) -> Row:
    """A sweep's definition, as the service resolves it."""
    dataset = {"path": str(path), "format": form, "key_encoding": encoding}
    if form != "lines":
        dataset["key_column"] = name
    return {
        "dataset": dataset,
        "partitioners": NAMES,
        "partitions": COUNTS[0],
        "compare_partitions": COUNTS[1:],
        "heaviest": most,
        "resolved": {"location": str(path), "roots": [str(root)]},
    }


def measured(spark: Spark, definition: Row) -> list[Row]:
    return [orjson.loads(row) for _, row in job.score(spark, definition, group="of a test")]


def require_same(rows: Sequence[Row], expected_answer: KeysAnswer, keys: Sequence[object]) -> None:
    """Every figure equals the service's for the keys one by one."""
    assert len(rows) == len(NAMES) * len(COUNTS)
    for index, row in enumerate(rows):
        placed = expected_answer.partitioners[index // len(COUNTS)]
        at = index % len(COUNTS)
        assert row["axes"] == {"partitioner": placed.partitioner, "partitions": COUNTS[at]}
        assert (row["records"], row["records_without_key"]) == (len(keys), sum(key is None for key in keys))
        assert row["keys"] == len({key for key in keys if key is not None})
        if at == 0:
            assert row["records_per_partition"] == placed.skew.per_partition.tolist()
            assert (row["max_over_mean"], row["gini"]) == (placed.skew.max_over_mean, placed.skew.gini)
            assert row["moved_share"] == row["expected_moved_share"] == 0
        else:
            resize = placed.resizes[at - 1]
            assert (row["moved_share"], row["expected_moved_share"]) == (
                resize.moved_share,
                resize.expected_moved_share,
            )
        assert sum(row["records_per_partition"]) + row["records_without_partition"] == len(keys)
    actual = [(heavy["records"], heavy["key_base64"]) for heavy in rows[0]["heaviest_keys"]]
    expected = expected_answer.heaviest_keys
    assert [records for records, _ in actual] == [heavy.weight for heavy in expected][: len(actual)]
    first = keys[expected[0].first_index]
    hashed = first.encode() if isinstance(first, str) else struct.pack(">i", first)
    assert actual[0] == (expected[0].weight, base64.b64encode(hashed).decode())


def written_parquet(folder: Path) -> None:
    """In two files, one of them in a folder of its own, beside files without data."""
    (folder / "part=1").mkdir(parents=True)
    pq.write_table(pa.table({"n": range(1_000), "k": KEYS[:1_000]}), folder / "a.parquet", row_group_size=300)
    pq.write_table(pa.table({"k": KEYS[1_000:]}), folder / "part=1" / "b.parquet")
    (folder / "_SUCCESS").touch()
    (folder / "readme.txt").write_text("no data")


def written_arrow(folder: Path) -> None:
    folder.mkdir()
    table = pa.table({"k": KEYS})
    with pa.ipc.new_file(folder / "a.arrow", table.schema) as file:
        file.write_table(table, max_chunksize=700)


def written_csv(folder: Path) -> None:
    """A quoted empty field is an empty key, a bare one none; a name that is a pattern is still one file's."""
    folder.mkdir()
    for name, keys in (("a[1].csv", KEYS[:500]), ("b.csv", KEYS[500:])):
        fields = ("" if key is None else f'"{key}"' for key in keys)
        (folder / name).write_text("n,k\n" + "".join(f"1,{field}\n" for field in fields))


def written_json(folder: Path) -> None:
    folder.mkdir()
    lines = (json.dumps({"n": {"deep": [1]}} if key is None else {"k": key, "n": {"deep": [2]}}) for key in KEYS)
    (folder / "a.jsonl").write_text("\n".join(lines) + "\n")


WRITTEN = {"parquet": written_parquet, "csv": written_csv, "arrow": written_arrow, "json_lines": written_json}
LATER = ("arrow", "json_lines")
"""Formats that `make test-long` measures whole."""


@pytest.mark.slow
@pytest.mark.parametrize("form", ["parquet", "csv", *(pytest.param(form, marks=pytest.mark.long) for form in LATER)])
def test_a_dataset_is_measured_like_its_keys_one_by_one(spark: Spark, tmp_path: Path, form: str) -> None:
    WRITTEN[form](tmp_path / "data")
    rows = measured(spark, defined(tmp_path / "data", form, root=tmp_path))
    require_same(rows, answered(KEYS), KEYS)


@pytest.mark.slow
@pytest.mark.parametrize(
    "datasets",
    [
        [("parquet", "a.parquet", "v"), ("arrow", "a.arrow", "v")],
        pytest.param(
            [
                ("parquet", "a.parquet", "size"),
                ("json_lines", "a.jsonl", "v"),
                ("json_lines", "a.jsonl", "size"),
            ],
            marks=pytest.mark.long,
        ),
    ],
)
def test_a_record_has_the_bytes_of_its_key_and_of_its_value(
    spark: Spark, tmp_path: Path, datasets: Sequence[tuple[str, str, str]]
) -> None:
    """However the dataset is written, and whether it has the values or their lengths."""
    values = [None if n % 5 == 0 else "ü" * (n % 7) for n in range(len(KEYS))]
    sizes = [len((value or "").encode()) for value in values]
    table = pa.table({"size": sizes, "k": KEYS, "v": values})
    pq.write_table(table, tmp_path / "a.parquet")
    with pa.ipc.new_file(tmp_path / "a.arrow", table.schema) as file:
        file.write_table(table)
    lines = (json.dumps({"v": v, "size": s} | ({} if k is None else {"k": k})) for s, k, v in table_rows(table))
    (tmp_path / "a.jsonl").write_text("\n".join(lines))
    total = sum(sizes) + sum(len((key or "").encode()) for key in KEYS)
    for form, name, column in datasets:
        definition = dict(defined(tmp_path / name, form, root=tmp_path))
        definition["dataset"] = definition["dataset"] | {"value_column": column}
        rows = measured(spark, definition)
        require_same(rows, answered(KEYS), KEYS)
        by_hash = rows[NAMES.index("murmur2_abs") * len(COUNTS)]
        without_key = sum(size for size, key in zip(sizes, KEYS, strict=True) if key is None)
        assert sum(by_hash["bytes_per_partition"]) == total - without_key


def table_rows(table: pa.Table) -> list[tuple[int, str | None, str | None]]:
    return [(row["size"], row["k"], row["v"]) for row in table.to_pylist()]


@pytest.mark.slow
def test_each_line_is_a_key(spark: Spark, tmp_path: Path) -> None:
    keys = [key for key in KEYS if key is not None]
    (tmp_path / "keys.txt").write_text("\n".join(keys) + "\n")
    rows = measured(spark, defined(tmp_path / "keys.txt", "lines", root=tmp_path))
    require_same(rows, answered(keys), keys)


@pytest.mark.slow
def test_numbers_in_parquet_and_in_csv_are_the_same_keys(spark: Spark, tmp_path: Path) -> None:
    numbers: list[int | None] = [n % 53 - 20 for n in range(700)]
    pq.write_table(pa.table({"k": pa.array(numbers, pa.int32())}), tmp_path / "a.parquet")
    (tmp_path / "a.csv").write_text("k\n" + "".join(f"{n}\n" for n in numbers))
    expected_answer = answered(numbers, Encoding.INT32)
    for form in ("parquet", "csv"):
        definition = defined(tmp_path / f"a.{form}", form, root=tmp_path, encoding="int32")
        require_same(measured(spark, definition), expected_answer, numbers)


def broken(folder: Path) -> dict[str, tuple[Path, str, type[Failure], str]]:
    """Datasets that cannot be measured: path, format, failure, its detail."""
    pq.write_table(pa.table({"n": [1]}), folder / "other.parquet")
    pq.write_table(pa.table({"k": [1]}), folder / "number.parquet")
    pq.write_table(pa.table({"k": pa.array([], pa.string())}), folder / "none.parquet")
    (folder / "text.parquet").write_text("PAR1 this is not")
    (folder / "text.arrow").write_text("neither")
    (folder / "a.csv").write_text("n,m\n1,2\n")
    (folder / "header.csv").write_text("n,k\n")
    (folder / "a.jsonl").write_text('{"n": 1}\n')
    (folder / "number.jsonl").write_text('{"k": 1}\n')
    (folder / "damaged.jsonl").write_text('{"k": "a"}\n{"k": \n')
    (folder / "empty.txt").touch()
    (folder / "short.csv").write_text("n,k\n1,a\n2\n")
    (folder / "headers").mkdir()
    (folder / "headers" / "a.csv").write_text("n,k\n1,a\n")
    (folder / "headers" / "b.csv").write_text("k,n\na,1\n")
    (folder / "folder").mkdir()
    (folder / "out.txt").symlink_to("/etc/passwd")
    (folder / "linked").mkdir()
    (folder / "linked" / "out.txt").symlink_to("/etc/passwd")
    return {
        "a column that is not there": (folder / "other.parquet", "parquet", ColumnNotFound, "'k'"),
        "a column of numbers": (folder / "number.parquet", "parquet", KeyColumnOfAnotherType, "int64"),
        "no rows": (folder / "none.parquet", "parquet", DatasetEmpty, "no records"),
        "no Parquet": (folder / "text.parquet", "parquet", DatasetUnreadable, "text.parquet"),
        "no Arrow": (folder / "text.arrow", "arrow", DatasetUnreadable, "text.arrow"),
        "a CSV column that is not there": (folder / "a.csv", "csv", ColumnNotFound, "n, m"),
        "a header alone": (folder / "header.csv", "csv", DatasetEmpty, "no records"),
        "a field that is nowhere": (folder / "a.jsonl", "json_lines", ColumnNotFound, "'k'"),
        "a field of numbers": (folder / "number.jsonl", "json_lines", KeyColumnOfAnotherType, "int64"),
        "damaged JSON": (folder / "damaged.jsonl", "json_lines", DatasetUnreadable, "malformed record at line 2"),
        "a short row": (folder / "short.csv", "csv", DatasetUnreadable, "malformed record at line 3"),
        "two headers": (folder / "headers", "csv", DatasetUnreadable, "b.csv.*CSV header"),
        "no lines": (folder / "empty.txt", "lines", DatasetEmpty, "no records"),
        "nothing": (folder / "missing", "parquet", DatasetNotFound, "missing"),
        "an empty folder": (folder / "folder", "csv", DatasetNotFound, "folder"),
        "no file of the format": (folder / "folder", "arrow", DatasetNotFound, r"\.arrow"),
        "a link that leads out": (folder / "linked", "lines", DatasetNotAllowed, "linked/out.txt"),
    }


QUICK = ("no rows", "a CSV column that is not there", "damaged JSON", "nothing", "a link that leads out")


@pytest.mark.slow
@pytest.mark.parametrize(
    "names", [QUICK, pytest.param((), marks=pytest.mark.long)], ids=["each way to fail", "every format"]
)
def test_an_unreadable_dataset_says_why(spark: Spark, tmp_path: Path, names: Sequence[str]) -> None:
    datasets = broken(tmp_path)
    for name, (path, form, failure, expected_answer) in ((name, datasets[name]) for name in names or datasets):
        with pytest.raises(Failure, match=expected_answer) as raised:
            measured(spark, defined(path, form, root=tmp_path))
        assert type(raised.value) is failure, (name, raised.value)
        assert not isinstance(raised.value, SparkJobFailed)


@pytest.mark.slow
def test_a_sweep_is_one_chunk_whose_rows_are_stored(spark: Spark, database: Database, tmp_path: Path) -> None:
    written_parquet(tmp_path / "data")
    definition = dict(defined(tmp_path / "data", "parquet", root=tmp_path))
    del definition["resolved"]
    limits = Limits(dataset_roots=(str(tmp_path),))
    with database.begin() as uow:
        sweep = sweeps.submit(uow, SweepRequest("key_skew", definition), limits, principal="of a test")
    run_chunk(database, spark, sweep.id, limits=limits)
    with database.begin() as uow:
        assert uow.sweeps.get(sweep.id).state == "succeeded"
        page = sweep_results.scenarios(
            uow, sweep.id, ScenarioFilter(), sort="index", descending=False, after=None, size=len(NAMES) * len(COUNTS)
        )
        summary = sweep_results.summary(uow, sweep.id, ScenarioFilter())
    require_same([row for _, row in page.items], answered(KEYS), KEYS)
    assert (summary.scenarios, summary.failed) == (len(NAMES) * len(COUNTS), 0)


@pytest.mark.slow
def test_a_sweep_over_an_empty_dataset_fails(spark: Spark, database: Database, tmp_path: Path) -> None:
    definition = dict(defined(tmp_path / "gone", "csv", root=tmp_path))
    limits = Limits(dataset_roots=(str(tmp_path),))
    with database.begin() as uow:
        sweep = sweeps.submit(uow, SweepRequest("key_skew", definition), limits, principal="of a test")
    run_chunk(database, spark, sweep.id, limits=limits)
    with database.begin() as uow:
        ended = uow.sweeps.get(sweep.id)
    assert ended.state == "failed"
    assert ended.error is not None
    assert ended.error["code"] == "dataset_not_found"


def test_the_second_kernel_yields_sums_alone() -> None:
    prepared = keys_kernel.prepare(keys_kernel.payload(["murmur2"], [4], heaviest=1))
    counts = [pa.array([b"a", b"b", None]), pa.array([2, 3, 5]), pa.array([0, 70, 0])]
    batch = pa.record_batch(counts, schema=key_counts.SCHEMA)
    rows = [row for actual in keys_kernel.run(prepared, iter([batch])) for row in actual.to_pylist()]
    by = {what: [row for row in rows if row["what"] == what] for what in ("total", "null", "heavy", "load", "moved")}
    assert [(row["keys"], row["records"]) for row in by["total"]] == [(2, 10)]
    assert [row["records"] for row in by["null"]] == [5]
    assert [(row["key"], row["records"]) for row in by["heavy"]] == [(b"b", 3)]
    assert sum(row["records"] for row in by["load"]) == 10, "murmur2 without a policy hashes no key as an empty one"
    assert sum(row["record_bytes"] for row in by["load"]) == 2 + 3 + 70
    assert [row["records"] for row in by["moved"]] == [0]
