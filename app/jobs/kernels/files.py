"""Files that an executor reads itself, into Arrow's own buffers.

Data that Spark reads passes through its rows, one value at a time, and then to Python; a file that every executor can
open by its path needs neither. Spark reads object stores and other formats.
"""

from collections.abc import Iterator, Sequence

import pyarrow as pa
import pyarrow.parquet as pq

ROWS_AT_ONCE = 65_536


def batches_of(path: str, columns: Sequence[str]) -> Iterator[pa.RecordBatch]:
    """Columns of a Parquet file, or of an Arrow file if its name ends with `.arrow`.

    Raises
    ------
    OSError, pyarrow.ArrowInvalid
        The file cannot be read, or is of neither format.
    KeyError
        It has no column of one of these names; the error's argument is that name.
    """
    if path.endswith(".arrow"):
        with pa.memory_map(path) as mapped:
            file = pa.ipc.open_file(mapped)
            _require(columns, file.schema)
            for index in range(file.num_record_batches):
                yield file.get_batch(index).select(columns)
        return
    with pq.ParquetFile(path, memory_map=True) as parquet:
        _require(columns, parquet.schema_arrow)
        # One thread: the other processors have tasks of their own.
        for batch in parquet.iter_batches(ROWS_AT_ONCE, columns=list(columns), use_threads=False):
            yield batch.select(columns)  # in the requested order, not the file's


def _require(columns: Sequence[str], schema: pa.Schema) -> None:
    for column in columns:
        if column not in schema.names:
            raise KeyError(column)
