"""Rates of intervals of one length from amounts at irregular times."""

import numpy as np

from app.core.model import Float64s


def resampled(times: Float64s, written: Float64s, step_s: int) -> Float64s:
    """Mean rates in consecutive intervals of `step_s`; what is written between two times is spread evenly over them.

    The first interval begins at the first time. The last one ends at the last time, so that all bytes count: it lasts
    from half a step to one and a half.

    Parameters
    ----------
    times : (n,) seconds in any order, at least two different ones. written : (n, partitions) bytes until then.

    Returns
    -------
    (intervals, partitions) float64 bytes/s.
    """
    times, order = np.unique(times, return_index=True)
    count = max(1, round(float(times[-1] - times[0]) / step_s))
    edges = times[0] + step_s * np.arange(count + 1.0)
    edges[-1] = times[-1]
    until = np.column_stack([np.interp(edges, times, column) for column in written[order].T])
    return np.asarray(np.diff(until, axis=0) / np.diff(edges)[:, None], np.float64)
