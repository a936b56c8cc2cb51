"""The compiled loop of `flow`: shortest distances in a residual network."""

from numba import njit

from app.core.model import Int32s, Int64s


@njit(cache=True, nogil=True)
def relax(tails: Int32s, heads: Int32s, lengths: Int64s, distances: Int64s) -> None:
    """Relax all arcs forwards and backwards until no distance becomes shorter (Bellman-Ford).

    Parameters
    ----------
    tails, heads, lengths : (arcs,); there is no cycle of negative length. distances : (nodes,), made shorter in place.
    """
    shortened = True
    while shortened:
        shortened = False
        for arc in range(len(tails)):
            reached = distances[tails[arc]] + lengths[arc]
            if reached < distances[heads[arc]]:
                distances[heads[arc]] = reached
                shortened = True
        if not shortened:
            return
        for arc in range(len(tails) - 1, -1, -1):
            distances[heads[arc]] = min(distances[heads[arc]], distances[tails[arc]] + lengths[arc])
