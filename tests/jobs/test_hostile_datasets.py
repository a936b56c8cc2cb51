"""A dataset is data, whoever wrote it: its lines, columns, keys, folders and file names run nothing.

Each text here is one that executors' failures once travelled as: it ends up in Spark's errors, or in our own, and it
would leave a file behind if anything in the process unpickled it.
"""

import base64
import json
import os
import pickle
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from _pytest.mark import ParameterSet
from hypothesis import given
from hypothesis import strategies as st

from app.errors import Failure, Json, crossing
from app.errors.crossing import FAILURES
from app.errors.kafka import KafkaError, KafkaRefuses
from app.errors.quotation import DETAIL_CHARACTERS, quoted
from app.errors.requests import ColumnNotFound, DatasetUnreadable, KeyColumnOfAnotherType, MalformedKey
from app.jobs.spark import Spark
from tests.jobs.test_key_skew import defined, measured

VALUES = st.none() | st.integers() | st.text(max_size=5)
NESTED = st.lists(VALUES, max_size=3) | st.dictionaries(st.text(max_size=5), VALUES, max_size=3)
CONTEXTS = st.dictionaries(
    st.text(max_size=5).filter(lambda name: name not in ("self", "detail", "path", "file", "many")),
    VALUES | NESTED | st.lists(NESTED, max_size=3) | st.dictionaries(st.text(max_size=5), NESTED, max_size=3),
    max_size=5,
)


def long(form: str) -> ParameterSet:
    """A format that `make test-long` takes; a quick test has another one."""
    return pytest.param(form, marks=pytest.mark.long)


@dataclass(frozen=True)
class Payload:
    """A text that runs a command if it is interpreted."""

    text: str
    mark: Path
    """Is there once the command has run."""


class _Runs:
    def __init__(self, command: str) -> None:
        self._command = command

    def __reduce__(self) -> tuple[Callable[[str], int], tuple[str]]:
        return os.system, (self._command,)


@pytest.fixture
def payload(tmp_path: Path) -> Iterator[Payload]:
    """The text; after the test nothing has run, on the driver or an executor."""
    mark = tmp_path / "ran"
    pickled = base64.b64encode(pickle.dumps(_Runs(f"touch {mark}"))).decode()
    yield Payload(f"rackplan-failure:{pickled}", mark)
    assert not mark.exists(), "a stranger's text ran as code"


def test_the_payload_runs_where_it_is_unpickled(tmp_path: Path) -> None:
    """Without this, the tests below could not fail."""
    pickle.loads(pickle.dumps(_Runs(f"touch {tmp_path / 'ran'}")))  # noqa: S301 — never done in the product
    assert (tmp_path / "ran").exists()


def failure_of(spark: Spark, path: Path, form: str, *, key: str = "k", encoding: str = "utf8") -> Failure:
    with pytest.raises(Failure) as raised:
        measured(spark, defined(path, form, root=path.parent, encoding=encoding, name=key))
    require_bounded(raised.value)
    return raised.value


def require_bounded(failure: Failure) -> None:
    assert len(failure.detail) <= DETAIL_CHARACTERS
    assert failure.detail.isprintable(), "no terminal and no log takes it for its own"


@pytest.mark.slow
class TestLines:
    """The content of a file."""

    @pytest.mark.long
    def test_a_malformed_line_of_csv_is_named_with_its_file(
        self, spark: Spark, tmp_path: Path, payload: Payload
    ) -> None:
        (tmp_path / "data.csv").write_text(f"n,k\n1,a\n{payload.text},3,4\n")
        failure = failure_of(spark, tmp_path / "data.csv", "csv")
        assert isinstance(failure, DatasetUnreadable)
        record = f"{payload.text},3,4"
        assert failure.detail == (f"{tmp_path}/data.csv cannot be read: malformed record at line 3: {quoted(record)}")
        assert (failure.context["line"], failure.context["file"]) == (3, f"{tmp_path}/data.csv")

    @pytest.mark.long
    def test_a_malformed_line_of_json_is_named_with_its_file(
        self, spark: Spark, tmp_path: Path, payload: Payload
    ) -> None:
        folder = tmp_path / "data"
        folder.mkdir()
        (folder / "a.jsonl").write_text('{"k": "a"}\n')
        (folder / "b.jsonl").write_text(f'{{"k": "a"}}\n{{"k": {payload.text}\n')
        failure = failure_of(spark, folder, "json_lines")
        assert isinstance(failure, DatasetUnreadable)
        assert failure.detail.startswith(f"{folder}/b.jsonl cannot be read: malformed record at line 2: ")
        assert quoted(f'{{"k": {payload.text}') in failure.detail

    @pytest.mark.long
    def test_a_line_with_the_controls_of_a_terminal_is_escaped_and_shortened(
        self, spark: Spark, tmp_path: Path
    ) -> None:
        (tmp_path / "data.csv").write_text("n,k\n1,a\n\x1b[2J\u202e," + "x" * 100_000 + ",4\n")
        failure = failure_of(spark, tmp_path / "data.csv", "csv")
        assert "\\x1b[2J\\u202e," in failure.detail
        assert len(failure.detail) < 1_000

    @pytest.mark.long
    def test_a_key_is_shown_and_no_more(self, spark: Spark, tmp_path: Path, payload: Payload) -> None:
        pq.write_table(pa.table({"k": [payload.text]}), tmp_path / "a.parquet")
        assert isinstance(failure_of(spark, tmp_path / "a.parquet", "parquet", encoding="int64"), MalformedKey)
        (tmp_path / "a.csv").write_text(f"k\n{payload.text}\n")
        assert isinstance(failure_of(spark, tmp_path / "a.csv", "csv", encoding="base64"), MalformedKey)


@pytest.mark.slow
class TestNames:
    """Names of columns, folders and files, and metadata of schemas."""

    @pytest.mark.parametrize("form", [long("parquet"), "csv", long("json_lines"), long("arrow")])
    def test_a_requested_column(self, spark: Spark, tmp_path: Path, payload: Payload, form: str) -> None:
        failure = failure_of(spark, _keys(tmp_path, form, {"k": ["a"]}), form, key=payload.text)
        assert isinstance(failure, ColumnNotFound)
        assert failure.context["value"] in (payload.text, quoted(payload.text, crossing.LONGEST_VALUE))

    @pytest.mark.long
    @pytest.mark.parametrize("form", ["parquet", long("csv"), long("json_lines"), long("arrow")])
    def test_a_column_that_is_there(self, spark: Spark, tmp_path: Path, payload: Payload, form: str) -> None:
        """Its keys are counted under the name that it has, backticks and dots included."""
        name = f"{payload.text}`.k`) or `"
        path = _keys(tmp_path, form, {name: ["a", "b", "a"]})
        rows = measured(spark, defined(path, form, root=tmp_path, name=name))
        assert rows[0]["records"] == 3
        assert isinstance(failure_of(spark, path, form, key=name, encoding="int64"), MalformedKey)

    @pytest.mark.long
    def test_a_column_of_another_type(self, spark: Spark, tmp_path: Path, payload: Payload) -> None:
        path = _keys(tmp_path, "parquet", {payload.text: [1.5]})
        assert isinstance(failure_of(spark, path, "parquet", key=payload.text), KeyColumnOfAnotherType)

    @pytest.mark.long
    def test_two_columns_of_one_name(self, spark: Spark, tmp_path: Path, payload: Payload) -> None:
        path = tmp_path / "a.csv"
        path.write_text(f"{payload.text},{payload.text}\n1,2\n")
        failure = failure_of(spark, path, "csv", key=payload.text)
        assert isinstance(failure, ColumnNotFound | DatasetUnreadable)

    @pytest.mark.long
    def test_metadata_of_a_schema(self, spark: Spark, tmp_path: Path, payload: Payload) -> None:
        """Readers of Parquet take schemas of their own from there; pyarrow's extension types, too."""
        marks = dict.fromkeys(("org.apache.spark.sql.parquet.row.metadata", "pandas"), payload.text)
        marks["ARROW:extension:name"] = "arrow.py_extension_type"
        marks["ARROW:extension:metadata"] = payload.text
        for number, further in enumerate([{}, {"ARROW:schema": payload.text}]):
            field = pa.field("k", pa.string(), metadata=marks | further)
            path = tmp_path / f"{number}.parquet"
            table = pa.table({"k": ["a", "b"]}, schema=pa.schema([field], metadata=marks | further))
            pq.write_table(table, path)
            if further:
                assert isinstance(failure_of(spark, path, "parquet"), DatasetUnreadable), "it is no schema of Arrow's"
            else:
                assert measured(spark, defined(path, "parquet", root=tmp_path))[0]["records"] == 2

    @pytest.mark.long
    def test_folders_and_files(self, spark: Spark, tmp_path: Path, payload: Payload) -> None:
        """A folder's name is a column's value to Spark, where it has an `=`."""
        mark = payload.text[:200].replace("/", "_")
        folder = tmp_path / "data" / f"k={mark}"
        folder.mkdir(parents=True)
        name = f"{mark[:150].replace(':', '_')}\n`$(touch ran)`.csv"
        (folder / name).write_text("n,k\n1,a\n1,2,3\n")
        failure = failure_of(spark, tmp_path / "data", "csv")
        assert isinstance(failure, DatasetUnreadable)
        (folder / name).write_text("n,v\n1,a\n")
        assert measured(spark, defined(tmp_path / "data", "csv", root=tmp_path, name="v"))[0]["records"] == 1

    @pytest.mark.long
    def test_a_file_that_is_none_of_its_format(self, spark: Spark, tmp_path: Path, payload: Payload) -> None:
        for form in ("parquet", "arrow"):
            path = tmp_path / f"{payload.text[:100].replace('/', '_')}\n.{form}"
            path.write_text(payload.text)
            assert isinstance(failure_of(spark, path, form), DatasetUnreadable)


class TestCrossing:
    """How failures come from executors."""

    @pytest.mark.parametrize("kind", list(FAILURES.values()), ids=lambda kind: kind.__name__)
    def test_every_failure_comes_back_as_itself(self, kind: type[Failure]) -> None:
        further = {"kafka": KafkaError("SomeException", "why")} if issubclass(kind, KafkaRefuses) else {}
        failure = kind("why", path=("topics", 0), limit=3, known=["a", {"b": None}], **further)  # type: ignore[arg-type] # by name
        again = crossing.from_json(crossing.to_json(failure))
        assert type(again) is kind
        assert again.__dict__ == failure.__dict__ | {"context": json.loads(json.dumps(failure.context))}

    @given(detail=st.text(max_size=20), context=CONTEXTS, times=st.sampled_from([1, 3_000]))
    def test_whatever_a_failure_quotes_it_is_bounded_and_printable(
        self, detail: str, context: dict[str, Json], times: int
    ) -> None:
        quoted_often: dict[str, Any] = {"file": detail * times, "many": [detail] * times, **context}
        failure = DatasetUnreadable(detail * times, **quoted_often)
        written = crossing.to_json(failure)
        assert len(written) < 50_000
        require_bounded(crossing.from_json(written))

    @pytest.mark.parametrize(
        "text",
        [
            b"",
            b"{",
            b"null",
            b"[]",
            b'{"code": "none of ours", "detail": "", "path": [], "context": {}}',
            b'{"code": "limit_exceeded"}',
            b'{"code": ["limit_exceeded"], "detail": "", "path": [], "context": {}}',
            b'{"code": "limit_exceeded", "detail": "", "path": 5, "context": {}}',
            b'{"code": "limit_exceeded", "detail": "", "path": [], "context": {"detail": 1}}',
            pickle.dumps(_Runs("true")),
        ],
    )
    def test_an_invalid_failure_is_rejected(self, text: bytes) -> None:
        with pytest.raises(ValueError):  # noqa: PT011 — JSON's own error is one, too
            crossing.from_json(text)


def _keys(folder: Path, form: str, columns: dict[str, list[object]]) -> Path:
    """A file of one column."""
    path, table = folder / f"data.{form}", pa.table(columns)
    if form == "parquet":
        pq.write_table(table, path)
    elif form == "arrow":
        with pa.ipc.new_file(path, table.schema) as file:
            file.write_table(table)
    elif form == "csv":
        name, values = next(iter(columns.items()))
        path.write_text("".join(f'"{field}"\n' for field in [name, *values]))
    else:
        path.write_text("".join(json.dumps(row) + "\n" for row in table.to_pylist()))
    return path
