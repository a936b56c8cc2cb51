"""A dataset's keys, and perhaps values, as rows: of files that executors open themselves, or by Spark's own readers.

Parquet and Arrow files in a folder go into Arrow's buffers without passing Spark's rows. Everything else, and whatever
a URI names, is Spark's to read.
"""

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from urllib.parse import unquote, urlsplit

from py4j.protocol import Py4JError
from pyspark.errors import AnalysisException, PySparkException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as sql
from pyspark.sql.types import BinaryType, StringType

from app.errors import ColumnNotFound, DatasetNotFound, DatasetUnreadable, Json, SparkJobFailed
from app.errors.quotation import quoted
from app.jobs.kernels import key_counts
from app.jobs.kernels.loop import Kernel
from app.jobs.spark import Files, Source
from app.jobs.spark_errors import causes
from app.services.sweeps.datasets import is_uri, located

_ENDINGS: Mapping[str, tuple[str, ...]] = MappingProxyType({"parquet": (".parquet", ".pq"), "arrow": (".arrow",)})
"""Of the formats that executors open by themselves: what names of files in a folder end with."""
_OF_PATTERNS = str.maketrans({mark: f"\\{mark}" for mark in "\\*?[]{}"})
_NONE = "\ue000"
"""No text that anybody exchanges has this character, which Unicode gives no meaning."""
_READING_FAILED = "FAILED_READ_FILE"
_MALFORMED = ("MALFORMED_CSV_RECORD", "MALFORMED_RECORD_IN_PARSING")
"""Conditions of Spark: a file that cannot be read, and records that are not of its format."""
_CORRUPT = "_corrupt_record"
_MOST_COLUMNS_SHOWN = 100
_LONGEST_SCAN = 1 << 28
"""Bytes of a file in which the line of a malformed record is looked for."""
_TASKS = 64
"""At most so many tasks open files; more small ones are read several in a task."""


@dataclass(frozen=True, slots=True)
class Dataset:
    """A dataset that is allowed.

    Parameters
    ----------
    location : as `services.datasets.located` gives it. roots : that it, and each of its files, has to lie under.
    format : parquet, arrow, csv, json_lines or lines.
    columns : where the keys are, and perhaps where the values; lines have no names.
    """

    location: str
    roots: Sequence[str]
    format: str
    columns: tuple[str, ...]

    def source(self) -> tuple[Kernel, Source]:
        """The rows that hold the keys, and the kernel that counts them.

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
        """Every file, in the order of their names; what begins with `_` or `.` is no data, as Spark has it, too."""
        location = Path(self.location)
        found = [self.location] if location.is_file() else sorted(_data_files(location, _ENDINGS.get(self.format, ())))
        if not found:
            endings = " or ".join(_ENDINGS.get(self.format, ()))
            detail = f"{self.location} is no file, and no folder with files" + (
                f" that end with {endings}" * bool(endings)
            )
            raise DatasetNotFound(detail, path=("dataset", "path"), value=self.location)
        return tuple(located(file, self.roots) for file in found)


@dataclass(frozen=True, slots=True)
class _Read:
    """The columns, by Spark's own readers: text keys as the bytes that they are, of values their length."""

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
            # A field that is empty is none; one that is an empty text has quotes. Spark tells both apart only where
            # what it writes for none is something else than an empty text.
            strict = session.read.options(header=True, enforceSchema=False, mode="FAILFAST", columnPruning=False)
            return strict.options(escape='"', nullValue=_NONE, emptyValue="").csv(paths)
        if self.format == "json_lines":
            # Read once more than needed, since JSON says of which type a field is only where it stands.
            return self._json(session, paths)
        return session.read.text(paths).withColumnRenamed("value", self.columns[0])

    def _json(self, session: SparkSession, paths: list[str]) -> DataFrame:
        """What every line says; the types are found first, and a line that is no JSON fails already then."""
        try:
            return session.read.json(paths, mode="FAILFAST")
        except (PySparkException, Py4JError) as failure:
            if not any((cause.condition or "").startswith(_MALFORMED) for cause in causes(failure)):
                raise
            # Spark does not say which line it is. Every line that is no JSON is the corrupt record of its own row,
            # which Spark lets nobody look at but beside another column.
            schema = f"{_CORRUPT} STRING, other STRING"
            lines = session.read.json(paths, schema, mode="PERMISSIVE", columnNameOfCorruptRecord=_CORRUPT)
            named = lines.select(sql.input_file_name().alias("file"), _CORRUPT, "other")
            first = named.where(sql.col(_CORRUPT).isNotNull()).first()
            if first is None:
                raise
            raise _malformed(self.paths[0], first["file"], first[_CORRUPT]) from failure


def unreadable(failed: SparkJobFailed, path: str) -> DatasetUnreadable | None:
    """What Spark's readers found wrong with a dataset: file, line and record; None if a job failed for another reason.

    Parameters
    ----------
    failed : as `Spark.run` raises it, from Spark's own error. path : of the dataset, as the request names it.
    """
    found = list(causes(failed.__cause__))
    reading = [cause for cause in found if (cause.condition or "").startswith((_READING_FAILED, *_MALFORMED))]
    if not reading:
        return None
    file = next((cause.parameters["path"] for cause in reading if "path" in cause.parameters), None)
    records = [cause.parameters["badRecord"] for cause in reading if "badRecord" in cause.parameters]
    if records:
        return _malformed(path, file, records[-1])
    return _unreadable(path, file, found[-1].message)


def _malformed(path: str, file: str | None, record: str) -> DatasetUnreadable:
    line = None if file is None else _line_of(record, _local_path(file))
    where = "" if line is None else f" at line {line}"
    return _unreadable(path, file, f"malformed record{where}: {quoted(record)}", line=line, record=quoted(record))


def _unreadable(path: str, file: str | None, reason: str, **context: Json) -> DatasetUnreadable:
    named = path if file is None else _local_path(file)
    detail = f"{quoted(named)} cannot be read: {quoted(' '.join(reason.split()), 500)}"
    return DatasetUnreadable(detail, path=("dataset", "path"), value=path, file=named, **context)


def _line_of(record: str, file: str) -> int | None:
    """The number, from 1, of the line that a record is; None where this machine does not have the file as text."""
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
    """A file's path, where Hadoop's URI of it names one of this machine."""
    return unquote(urlsplit(uri).path) if uri.startswith("file:") else uri


def _data_files(folder: Path, endings: tuple[str, ...]) -> list[str]:
    found: list[str] = []
    for parent, folders, names in os.walk(folder):
        folders[:] = [name for name in folders if not name.startswith(("_", "."))]
        data = (name for name in names if not name.startswith(("_", ".")) and name.endswith(endings or ("",)))
        found.extend(os.path.join(parent, name) for name in data)  # noqa: PTH118 — as os.walk has it
    return found


def _as_uri(file: str) -> str:
    """Said to be of this machine: a cluster's own file system may be another."""
    return f"file://{file.translate(_OF_PATTERNS)}"
