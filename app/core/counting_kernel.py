"""A stable sort by small integers in linear time, of loops and of Python."""

import numpy as np

from app.core.compiled.arrays import Int64Vector
from app.core.compiled.loops import compiled
from app.core.model import Int64s


@compiled
def grouped(values: Int64Vector, keys: Int64Vector, size: int) -> tuple[Int64s, Int64s]:
    """Values by key, those of one key in order.

    Parameters
    ----------
    values : (n,) int64. keys : (n,) int64 in 0 … size − 1.

    Returns
    -------
    offsets : (size + 1,) int64; the values of a key are sorted[offsets[key] : offsets[key + 1]]. sorted : (n,) int64.
    """
    offsets = np.zeros(size + 1, np.int64)
    for key in keys:
        offsets[key + 1] += 1
    offsets = np.cumsum(offsets)
    free = offsets.copy()
    out = np.empty(len(values), np.int64)
    for place in range(len(values)):
        out[free[keys[place]]] = values[place]
        free[keys[place]] += 1
    return offsets, out
