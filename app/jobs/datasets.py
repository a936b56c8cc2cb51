"""A dataset's keys, and perhaps values, as rows: of files that executors open themselves, or by Spark's own readers.

Parquet and Arrow files in a folder go into Arrow's buffers without passing Spark's rows. Everything else, and whatever
a URI names, is Spark's to read.
"""

import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType

from pyspark.errors import AnalysisException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as sql
from pyspark.sql.types import BinaryType, StringType

from app.errors import ColumnNotFound, DatasetNotFound, DatasetUnreadable, SparkJobFailed
from app.jobs.kernels import key_counts
from app.jobs.kernels.loop import Kernel
from app.jobs.spark import Files, Source
from app.services.sweeps.datasets import is_uri, located

_ENDINGS: Mapping[str, tuple[str, ...]] = MappingProxyType({"parquet": (".parquet", ".pq"), "arrow": (".arrow",)})
"""Of the formats that executors open by themselves: what names of files in a folder end with."""
_OF_PATTERNS = str.maketrans({mark: f"\\{mark}" for mark in "\\*?[]{}"})
_NONE = "\ue000"
"""No text that anybody exchanges has this character, which Unicode gives no meaning."""
_OF_READERS = re.compile(
    r"(?:\[(?:MALFORMED_RECORD|FAILED_READ_FILE|CANNOT_READ_FILE)[A-Z_.]*\] "
    r"|IllegalArgumentException: (?=CSV header))([^\n]*)"
)
"""Where Spark's errors say, among their traces, what a reader met."""
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
            rows = self._rows(session)
            for column in self.columns:
                if column not in rows.columns:
                    there = ", ".join(rows.columns)
                    detail = f"the dataset has no column {column!r}; it has {there or 'none'}"
                    raise ColumnNotFound(detail, value=column, known=rows.columns)
        except AnalysisException as unknown:
            if unknown.getCondition() == "PATH_NOT_FOUND":
                detail = f"there is nothing at {self.paths[0]}"
                raise DatasetNotFound(detail, path=("dataset", "path"), value=self.paths[0]) from unknown
            raise
        key, *values = (sql.col(f"`{column.replace('`', '``')}`") for column in self.columns)
        is_text = isinstance(rows.select(key).schema[0].dataType, StringType)
        told = [(key.cast("binary") if is_text else key).alias("key")]
        for value in values:
            is_sized = isinstance(rows.select(value).schema[0].dataType, StringType | BinaryType)
            told.append((sql.octet_length(value) if is_sized else value).alias("value"))
        return rows.select(*told)

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
            return session.read.json(paths, mode="FAILFAST")
        return session.read.text(paths).withColumnRenamed("value", self.columns[0])


def unreadable(failed: SparkJobFailed, path: str) -> DatasetUnreadable | None:
    """What Spark's readers found wrong with a dataset; None where a job failed for another reason."""
    said = list(
        dict.fromkeys(found.split("SQLSTATE")[0].strip() for found in _OF_READERS.findall(str(failed.__cause__)))
    )
    if not said:
        return None
    return DatasetUnreadable(f"{path} cannot be read: {' '.join(said)}", path=("dataset", "path"), value=path)


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
