"""The loop of `places.in_order`."""

import numpy as np
from numba import njit

from app.core.model import Int32s


@njit(cache=True, nogil=True)
def put_in_order(homes: Int32s, chosen: Int32s, ordered: Int32s) -> None:
    """Fill `ordered`, (rows, widest): kept homes in their order, newcomers in the gaps, then at the end.

    Parameters
    ----------
    chosen : (rows, widest), ascending, so that the padding comes first. ordered : padded, as it comes.
    """
    widest = chosen.shape[1]
    newcomers = np.empty(widest, np.int32)
    for row in range(len(chosen)):
        new = 0
        for place in range(widest):
            broker = chosen[row, place]
            if broker >= 0 and not _has(homes[row], broker):
                newcomers[new] = broker
                new += 1
        filled, used = 0, 0
        for column in range(homes.shape[1]):
            home = homes[row, column]
            if home < 0:
                break
            if _has(chosen[row], home):
                ordered[row, filled] = home
                filled += 1
            elif used < new:
                ordered[row, filled] = newcomers[used]
                filled += 1
                used += 1
        while used < new:
            ordered[row, filled] = newcomers[used]
            filled += 1
            used += 1


@njit(cache=True, nogil=True)
def _has(row: Int32s, broker: int) -> bool:
    for place in range(len(row)):  # noqa: SIM110 — a generator is slower here, if it compiles at all
        if row[place] == broker:
            return True
    return False
