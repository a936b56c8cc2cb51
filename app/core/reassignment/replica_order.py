"""The order of each partition's replicas in an answer, homes stand where they stood, the leader too."""

import numpy as np

from app.core.model import Int32s
from app.core.reassignment.problem import NO_HOME, Problem


def in_order(problem: Problem, at: Int32s) -> Int32s:
    """The replicas of each row as an answer lists them.

    Homes that are kept stand where they stood; where the factor has fallen, as near as their order allows. Newcomers
    fill the gaps by ascending position.

    Parameters
    ----------
    at : (rows, widest) int32 brokers, in any order, `factor` of them in each row and -1 behind.
    """
    rows, width = at.shape
    homes = problem.homes
    kept = (homes[:, :, None] == at[:, None, :]).any(axis=2) & (homes != NO_HOME)
    is_new = (at != NO_HOME) & ~(at[:, :, None] == homes[:, None, :]).any(axis=2)
    rank, of_row = np.cumsum(kept, axis=1), kept.sum(axis=1, keepdims=True)
    latest = problem.factors[:, None] - 1 - (of_row - rank)
    column = np.minimum(np.arange(homes.shape[1]), latest)
    ordered = np.full((rows, width), NO_HOME, np.int32)
    row, home = np.nonzero(kept)
    ordered[row, column[row, home]] = homes[row, home]
    # Newcomers come to the front of their row, ascending; the gaps of a row are as many as they are.
    newcomers = np.sort(np.where(is_new, at, np.iinfo(np.int32).max), axis=1)
    gaps = (ordered == NO_HOME) & (np.arange(width) < problem.factors[:, None])
    ordered[gaps] = newcomers[newcomers != np.iinfo(np.int32).max]
    return ordered
