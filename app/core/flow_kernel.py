"""The compiled loop of `flow`: shortest distances in a residual network."""

from app.core.compiled.arrays import Int32Vector, Int64Vector
from app.core.compiled.loops import compiled


@compiled
def relax(tails: Int32Vector, heads: Int32Vector, lengths: Int64Vector, distances: Int64Vector) -> None:
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
