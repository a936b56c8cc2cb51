"""The type of kernels, and the loop around one on an executor.

A task with a failure of the domain completes, with one additional row: the failure as JSON, in a column of its own. The
driver reads failures from that column alone. The text of a Spark error may quote data (lines of a file, names of
columns), so it is shown in part and never parsed.
"""

from collections.abc import Callable, Hashable, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, TypeAlias, TypeVar

import pyarrow as pa

from app.errors import Failure, crossing

Prepared = TypeVar("Prepared")
Payload: TypeAlias = Hashable
"""Input from which executors prepare a job: values, and functions of modules of executors, sent by name."""

FAILURE = pa.field("failure", pa.binary())
"""The last column of a task's rows: null in the kernel's rows, else the failure (`errors.crossing`)."""
_CACHED_PAYLOADS = 4


def with_failure(schema: pa.Schema) -> pa.Schema:
    """The schema of a task whose kernel has this one: every column nullable, and `FAILURE` after them."""
    return pa.schema([*(field.with_nullable(True) for field in schema), FAILURE])


@dataclass(frozen=True, slots=True)
class Kernel:
    """The work of a job on executors.

    Parameters
    ----------
    name : by which a job names it.
    prepare : the job's payload → the first argument of `run`; called once for each process and payload.
    run : (prepared, the batches of one task) → batches of the schema that the driver declared. Tasks are run again
        if an executor is lost, so that the result must be a function of the arguments.
    """

    name: str
    prepare: Callable[[Any], Any]
    run: Callable[[Any, Iterator[pa.RecordBatch]], Iterator[pa.RecordBatch]]


def over_ranges(
    rows: Callable[[Prepared, int, int], Iterator[pa.RecordBatch]],
) -> Callable[[Prepared, Iterator[pa.RecordBatch]], Iterator[pa.RecordBatch]]:
    """A kernel's `run`, of a function (prepared, start, stop) → batches over indices start … stop − 1.

    Its batches have the columns `start` and `stop`, int64, as `spark.Ranges` gives them.
    """

    def run(prepared: Prepared, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            for start, stop in zip(batch.column("start").to_pylist(), batch.column("stop").to_pylist(), strict=True):
                yield from rows(prepared, start, stop)

    return run


def run_task(
    kernels: Mapping[str, Kernel],
    name: str,
    payload: Payload,
    schema: pa.Schema,
    batches: Iterator[pa.RecordBatch],
    *,
    follows: bool = False,
) -> Iterator[pa.RecordBatch]:
    """Run one task of a job on its executor.

    Parameters
    ----------
    kernels : by name. name : of the kernel to run. payload : for its `prepare`.
    schema : of the batches of the kernel, as the driver declared it.
    batches : the rows of the task.
    follows : whether these are rows of another task, so that their last column is `FAILURE`.

    Yields
    ------
    Batches of `with_failure(schema)`: the kernel's rows, and, if it fails, a row with the failure alone.

    Raises
    ------
    TypeError
        The kernel yields another schema than the driver declared.
    """
    kernel = kernels[name]
    reported = with_failure(schema)
    try:
        rows = _without_failures(batches) if follows else batches
        for batch in kernel.run(_prepared(kernel.prepare, payload), rows):
            if not batch.schema.equals(schema):
                raise TypeError(f"the kernel {name} yields {batch.schema}; {schema} was declared")
            yield pa.record_batch([*batch.columns, pa.nulls(len(batch), FAILURE.type)], schema=reported)
    except Failure as failure:
        nothing = [pa.nulls(1, field.type) for field in schema]
        yield pa.record_batch([*nothing, pa.array([crossing.to_json(failure)], FAILURE.type)], schema=reported)


def results_of(table: pa.Table) -> pa.Table:
    """The kernel's rows of all tasks of a job: `table` without its last column, `FAILURE`.

    Raises
    ------
    Failure
        The first that a task reported, in the order of the rows.
    """
    _raise_first(table.column(table.num_columns - 1))
    return table.select(range(table.num_columns - 1))


def _without_failures(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    for batch in batches:
        _raise_first(batch.column(batch.num_columns - 1))
        yield batch.select(range(batch.num_columns - 1))


def _raise_first(reported: pa.Array | pa.ChunkedArray) -> None:
    if reported.null_count < len(reported):
        raise crossing.from_json(reported.drop_null()[0].as_py())


@lru_cache(maxsize=_CACHED_PAYLOADS)
def _prepared(prepare: Callable[[Any], Any], payload: Payload) -> Any:
    return prepare(payload)
