"""The kernel without rows: all that it does is what is around a kernel, such as importing the others."""

from collections.abc import Iterator

import pyarrow as pa

from app.jobs.kernels.loop import Kernel, over_ranges

SCHEMA = pa.schema([pa.field("nothing", pa.int64())])
"""Of the rows, of which there are none."""


def _rows(_: bytes, __: int, ___: int) -> Iterator[pa.RecordBatch]:
    return iter(())


KERNEL = Kernel("nothing", bytes, over_ranges(_rows))
