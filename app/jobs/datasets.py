"""The keys of a dataset, and optionally its values, as rows.

Executors read Parquet and Arrow files in a folder directly into Arrow buffers. Spark's own readers read every other
format, and every URI.

Errors of Spark in their structured form: a condition and its parameters for each cause.

The message of such an error quotes untrusted text (lines of a file, names of columns). Errors are therefore classified
by the exceptions of the JVM, never by their messages.
"""

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

from py4j.protocol import Py4JError, Py4JJavaError
from pyspark.errors import AnalysisException, PySparkException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as sql
from pyspark.sql.types import BinaryType, StringType

from app.errors import Json
from app.errors.machine import SparkJobFailed
from app.errors.quotation import quoted
from app.errors.requests import ColumnNotFound, DatasetNotFound, DatasetUnreadable
from app.jobs.kernels import key_counts
from app.jobs.kernels.loop import Kernel
from app.jobs.sources import Files, Source
from app.services.dataset_roots import is_uri, located

_MOST_CAUSES = 20


@dataclass(frozen=True, slots=True)
class Cause:
    """One exception of a chain.

    Parameters
    ----------
    condition : Spark's error condition, such as `FAILED_READ_FILE.NO_HINT`; None if the exception has none.
    parameters : parameters of the condition, by name.
    message : the message of the exception.
    """

    condition: str | None
    parameters: Mapping[str, str]
    message: str


def causes(error: BaseException | None) -> Iterator[Cause]:
    """The chain of JVM exceptions behind an error of PySpark, the outermost first; may be empty.

    The JVM must still run: the exceptions are its objects.
    """
    exception = _exception_of(error)
    for _ in range(_MOST_CAUSES):
        if exception is None:
            return
        try:
            yield _cause(exception)
            exception = exception.getCause()
        except (Py4JError, OSError):  # the JVM has ended, and with it the rest of the chain
            return


def _exception_of(error: BaseException | None) -> Any:
    if isinstance(error, Py4JJavaError):
        return error.java_exception
    if isinstance(error, PySparkException):
        return getattr(error, "_origin", None)  # PySpark has no public attribute for it
    return None


def _cause(exception: Any) -> Cause:
    message = str(exception.getMessage() or "")
    try:
        return Cause(exception.getCondition(), dict(exception.getMessageParameters()), message)
    except Py4JError:  # an exception that is not Spark's own has neither
        return Cause(None, {}, message)


_ENDINGS: Mapping[str, tuple[str, ...]] = {"parquet": (".parquet", ".pq"), "arrow": (".arrow",)}
"""File name endings of the formats that executors read directly."""
_OF_PATTERNS = str.maketrans({mark: f"\\{mark}" for mark in "\\*?[]{}"})
_NONE = "\ue000"
"""A private-use character of Unicode, which no exchanged text contains."""
_READING_FAILED = "FAILED_READ_FILE"
_MALFORMED = ("MALFORMED_CSV_RECORD", "MALFORMED_RECORD_IN_PARSING")
"""Error conditions of Spark: a file that cannot be read, and malformed records."""
_CORRUPT = "_corrupt_record"
_MOST_COLUMNS_SHOWN = 100
_LONGEST_SCAN = 1 << 28
"""Bytes of a file that are searched for the line of a malformed record."""
_TASKS = 64
"""Upper limit on the tasks that open files; each reads several if there are more."""


@dataclass(frozen=True, slots=True)
class Dataset:
    """A dataset under an allowed root.

    Parameters
    ----------
    location : as `services.sweeps.datasets.located` returns it.
    roots : folders and URI prefixes; the dataset and each of its files have to be under one of them.
    format : parquet, arrow, csv, json_lines or lines.
    columns : the key column, and optionally the value column; lines have no names.
    """

    location: str
    roots: Sequence[str]
    format: str
    columns: tuple[str, ...]

    def source(self) -> tuple[Kernel, Source]:
        """The rows with the keys, and the kernel that counts them.

        Raises
        ------
        DatasetNotFound, DatasetNotAllowed
        """
        if is_uri(self.location):
            return key_counts.KERNEL, _Read((self.location,), self.format, self.columns)
        files = self._files()
        if self.format in _ENDINGS:
            return key_counts.OF_FILES, Files(files, self.columns, per_task=-(-len(files) // _TASKS))
        return key_counts.KERNEL, _Read(tuple(_as_uri(file) for file in files), self.format, self.columns)

    def _files(self) -> tuple[str, ...]:
        """Every file, sorted by name; as in Spark, names that begin with `_` or `.` are not data."""
        location = Path(self.location)
        files = [self.location] if location.is_file() else sorted(_data_files(location, _ENDINGS.get(self.format, ())))
        if not files:
            endings = " or ".join(_ENDINGS.get(self.format, ()))
            detail = f"{self.location} is no file, and no folder with files" + (
                f" that end with {endings}" * bool(endings)
            )
            raise DatasetNotFound(detail, path=("dataset", "path"), value=self.location)
        return tuple(located(file, self.roots) for file in files)


@dataclass(frozen=True, slots=True)
class _Read:
    """The columns, by Spark's own readers: text keys as bytes, and the lengths of values."""

    paths: tuple[str, ...]
    format: str
    columns: tuple[str, ...]

    def __call__(self, session: SparkSession) -> DataFrame:
        try:
            return self._selected(self._rows(session))
        except AnalysisException as unknown:
            if unknown.getCondition() == "PATH_NOT_FOUND":
                detail = f"there is nothing at {quoted(self.paths[0])}"
                raise DatasetNotFound(detail, path=("dataset", "path"), value=self.paths[0]) from unknown
            raise _unreadable(self.paths[0], None, str(unknown)) from unknown

    def _selected(self, rows: DataFrame) -> DataFrame:
        for column in self.columns:
            if column not in rows.columns:
                known = [quoted(name) for name in rows.columns[:_MOST_COLUMNS_SHOWN]]
                detail = f"the dataset has no column {column!r}; it has {', '.join(known) or 'none'}"
                raise ColumnNotFound(detail, value=column, known=known)
        key, *values = (sql.col(f"`{column.replace('`', '``')}`") for column in self.columns)
        is_text = isinstance(rows.select(key).schema[0].dataType, StringType)
        selected = [(key.cast("binary") if is_text else key).alias("key")]
        for value in values:
            is_sized = isinstance(rows.select(value).schema[0].dataType, StringType | BinaryType)
            selected.append((sql.octet_length(value) if is_sized else value).alias("value"))
        return rows.select(*selected)

    def _rows(self, session: SparkSession) -> DataFrame:
        paths = list(self.paths)
        if self.format == "parquet":
            return session.read.parquet(*paths)
        if self.format == "csv":
            # An empty field is null, and an empty text is quoted. Spark distinguishes them only if its text for null
            # is not empty.
            strict = session.read.options(header=True, enforceSchema=False, mode="FAILFAST", columnPruning=False)
            return strict.options(escape='"', nullValue=_NONE, emptyValue="").csv(paths)
        if self.format == "json_lines":
            # Needs a pass of its own to find the types of fields, which JSON does not declare.
            return self._json(session, paths)
        return session.read.text(paths).withColumnRenamed("value", self.columns[0])

    def _json(self, session: SparkSession, paths: list[str]) -> DataFrame:
        """The rows of JSON lines. The first pass infers the types, and fails at a line that is not JSON."""
        try:
            return session.read.json(paths, mode="FAILFAST")
        except (PySparkException, Py4JError) as failure:
            if not any((cause.condition or "").startswith(_MALFORMED) for cause in causes(failure)):
                raise
            # Spark does not report the line. In permissive mode each line that is not JSON is the corrupt record of
            # its row, a column that Spark reads only together with another one.
            schema = f"{_CORRUPT} STRING, other STRING"
            lines = session.read.json(paths, schema, mode="PERMISSIVE", columnNameOfCorruptRecord=_CORRUPT)
            named = lines.select(sql.input_file_name().alias("file"), _CORRUPT, "other")
            first = named.where(sql.col(_CORRUPT).isNotNull()).first()
            if first is None:
                raise
            raise _malformed(self.paths[0], first["file"], first[_CORRUPT]) from failure


def unreadable(failed: SparkJobFailed, path: str) -> DatasetUnreadable | None:
    """The failure of a dataset that Spark could not read, with file, line and record; None for any other failed job.

    Parameters
    ----------
    failed : as `Spark.run` raises it, from Spark's own error. path : of the dataset, as the request names it.
    """
    chain = list(causes(failed.__cause__))
    reading = [cause for cause in chain if (cause.condition or "").startswith((_READING_FAILED, *_MALFORMED))]
    if not reading:
        return None
    file = next((cause.parameters["path"] for cause in reading if "path" in cause.parameters), None)
    if records := [cause.parameters["badRecord"] for cause in reading if "badRecord" in cause.parameters]:
        return _malformed(path, file, records[-1])
    return _unreadable(path, file, chain[-1].message)


def _malformed(path: str, file: str | None, record: str) -> DatasetUnreadable:
    line = None if file is None else _line_of(record, _local_path(file))
    where = "" if line is None else f" at line {line}"
    return _unreadable(path, file, f"malformed record{where}: {quoted(record)}", line=line, record=quoted(record))


def _unreadable(path: str, file: str | None, reason: str, **context: Json) -> DatasetUnreadable:
    named = path if file is None else _local_path(file)
    detail = f"{quoted(named)} cannot be read: {quoted(' '.join(reason.split()), 500)}"
    return DatasetUnreadable(detail, path=("dataset", "path"), value=path, file=named, **context)


def _line_of(record: str, file: str) -> int | None:
    """The line number, from 1, of a record; None if this machine does not have the file as text."""
    wanted, read = record.encode(errors="surrogateescape"), 0
    try:
        with Path(file).open("rb") as lines:
            for number, line in enumerate(lines, start=1):
                if line.rstrip(b"\r\n") == wanted:
                    return number
                read += len(line)
                if read > _LONGEST_SCAN:
                    return None
    except (OSError, ValueError):
        return None
    return None


def _local_path(uri: str) -> str:
    """The path of a `file:` URI of Hadoop; any other URI unchanged."""
    return unquote(urlsplit(uri).path) if uri.startswith("file:") else uri


def _data_files(folder: Path, endings: tuple[str, ...]) -> list[str]:
    files: list[str] = []
    for parent, folders, names in os.walk(folder):
        folders[:] = [name for name in folders if not name.startswith(("_", "."))]
        data = (name for name in names if not name.startswith(("_", ".")) and name.endswith(endings or ("",)))
        files.extend(os.path.join(parent, name) for name in data)  # noqa: PTH118 — as os.walk has it
    return files


def _as_uri(file: str) -> str:
    """A `file:` URI: the default file system of a cluster may be another one."""
    return f"file://{file.translate(_OF_PATTERNS)}"
