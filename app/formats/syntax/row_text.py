"""Arrays of ids as text, a row a line or item, at the speed of one format operation for many rows.

A Python call per partition would take seconds for a million partitions; one `%` over some ten thousand rows takes
a hundredth of that per row.
"""

from collections.abc import Callable

import numpy as np

from app.core.model import NO_REPLICA, Int32s

_ROWS_AT_ONCE = 1 << 15


def format_rows(matrix: Int32s, template: Callable[[int], str], *, separator: str) -> str:
    """Write each row of ids by the template for its width.

    Parameters
    ----------
    matrix : (rows, widest) int32 ids, padded on the right with `NO_REPLICA`.
    template : says for a number of ids the `%`-template with that many `%d`; other `%` in it must be doubled.
    separator : between two rows.
    """
    is_id = matrix != NO_REPLICA
    widths = is_id.sum(axis=1)
    templates = {width: template(width) for width in np.unique(widths).tolist()}
    parts = []
    for start in range(0, len(matrix), _ROWS_AT_ONCE):
        rows = slice(start, start + _ROWS_AT_ONCE)
        pattern = separator.join([templates[width] for width in widths[rows].tolist()])
        parts.append(pattern % tuple(matrix[rows][is_id[rows]].tolist()))
    return separator.join(parts)


def with_partition_ids(partition_ids: Int32s, *columns: Int32s) -> Int32s:
    """(partitions, 1 + columns' width) int32: the partition ids, then these columns."""
    return np.column_stack([partition_ids, *columns]).astype(np.int32, copy=False)


def literal(text: str) -> str:
    """The text as a `%`-template writes it unchanged."""
    return text.replace("%", "%%")
