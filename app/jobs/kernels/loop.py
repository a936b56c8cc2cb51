"""What a kernel is, and the loop around it on an executor."""

import base64
import pickle
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, TypeVar

import pyarrow as pa

from app.errors import Failure

Prepared = TypeVar("Prepared")

_CARRIED = re.compile(r"rackplan-failure:([A-Za-z0-9+/=]+)")
_PAYLOADS_KEPT = 4


@dataclass(frozen=True, slots=True)
class Kernel:
    """What a job does on executors.

    Parameters
    ----------
    name : what a job calls it by.
    prepare : makes of the job's payload what `run` needs; done once per process and payload.
    run : (prepared, the batches of one task) → batches of the schema that the driver declared. Tasks are run again
        where an executor was lost, so the same batches have to give the same answer.
    """

    name: str
    prepare: Callable[[bytes], Any]
    run: Callable[[Any, Iterator[pa.RecordBatch]], Iterator[pa.RecordBatch]]


def over_ranges(
    rows: Callable[[Prepared, int, int], Iterator[pa.RecordBatch]],
) -> Callable[[Prepared, Iterator[pa.RecordBatch]], Iterator[pa.RecordBatch]]:
    """Make of (prepared, start, stop) → batches, over indices start … stop − 1, what a kernel's `run` is.

    The batches it takes have the columns `start` and `stop`, int64, as `spark.Ranges` gives them.
    """

    def run(prepared: Prepared, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            for start, stop in zip(batch.column("start").to_pylist(), batch.column("stop").to_pylist(), strict=True):
                yield from rows(prepared, start, stop)

    return run


def run_task(
    kernels: Mapping[str, Kernel],
    name: str,
    payload: bytes,
    schema: pa.Schema,
    batches: Iterator[pa.RecordBatch],
) -> Iterator[pa.RecordBatch]:
    """Run one task of a job on the executor that has it.

    Raises
    ------
    RuntimeError
        A failure of the domain, as `carried` finds it again on the driver.
    TypeError
        The kernel yields another schema than the driver declared.
    """
    kernel = kernels[name]
    try:
        for batch in kernel.run(_prepared(kernel.prepare, payload), batches):
            if not batch.schema.equals(schema):
                raise TypeError(f"the kernel {name} yields {batch.schema}; {schema} was declared")
            yield batch
    except Failure as failure:
        # Spark brings nothing but the text of an exception to the driver.
        raise RuntimeError(f"rackplan-failure:{base64.b64encode(pickle.dumps(failure)).decode()}") from failure


def carried(text: str) -> Failure | None:
    """The failure that an executor's error text carries, if it carries one."""
    found = _CARRIED.search(text)
    if found is None:
        return None
    # Written by `run_task`, which is no less our own code than this.
    failure = pickle.loads(base64.b64decode(found[1]))  # noqa: S301
    return failure if isinstance(failure, Failure) else None


@lru_cache(maxsize=_PAYLOADS_KEPT)
def _prepared(prepare: Callable[[bytes], Any], payload: bytes) -> Any:
    return prepare(payload)
