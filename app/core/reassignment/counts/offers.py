"""Which receivers a partition is offered where a rack may have several of its replicas.

There each receiver is an arc of its own in the flow (see `network`), and all partitions times all receivers soon are
too many. As long as they are not, all are offered. Otherwise each partition is offered some: brokers that lack
replicas, others evenly spread over the rack, each partition starting elsewhere, and whichever it asked for when prices
were known. That makes the flow a search among fewer placements, and the bound, which knows no offers, says whether any
is missed.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from app.core.model import Int32s, Int64s
from app.core.reassignment.counts.pricing import Terms
from app.core.reassignment.problem import Problem

ALL = 600_000
"""As many offers are made without choosing."""
SOME = 8
"""How many brokers that lack replicas, and how many others, a partition is offered in a rack where not all are; as many
more as it can put there, so that there always is a place."""
_SCATTER = 2_654_435_761


@dataclass(frozen=True, slots=True, eq=False)
class Offers:
    """Pairs of a partition (an index into the rows of a network) and a receiver, each once.

    Parameters
    ----------
    row : (offers,) int64. broker : (offers,) int32.
    """

    row: Int64s
    broker: Int32s


def offers(problem: Problem, terms: Terms, rows: Int64s, *, lacking: NDArray[np.bool_], asked: Int64s) -> Offers:
    """What the partitions `rows` are offered.

    Parameters
    ----------
    lacking : (brokers,) bool, who has too few replicas. asked : partition times brokers plus broker, of each broker
        that a partition asked for.
    """
    brokers = len(problem.broker_ids)
    several = terms.most > 1
    sets, set_of = np.unique(terms.may_receive, axis=0, return_inverse=True)
    domain = problem.domain_of[rows]
    row_set = set_of.reshape(-1)[domain]
    offered = [np.empty(0, np.int64)]
    takers = [
        (
            np.flatnonzero((row_set == number) & several[domain, rack]),
            np.flatnonzero(receives & (problem.rack_of == rack)),
        )
        for number, receives in enumerate(sets)
        for rack in range(problem.racks)
    ]
    is_all = sum(len(taking) * len(receivers) for taking, receivers in takers) <= ALL
    for taking, receivers in takers:
        chosen = [receivers] if is_all else [receivers[lacking[receivers]], receivers]
        enough = len(receivers) if is_all else SOME + int(terms.most.max()) + problem.homes.shape[1]
        offered += [(taking[:, None] * brokers + _scattered(rows[taking], some, enough)).ravel() for some in chosen]
    offered.append(np.searchsorted(rows, asked // brokers) * brokers + asked % brokers)
    pairs = np.unique(np.concatenate(offered))
    row, broker = pairs // brokers, (pairs % brokers).astype(np.int32)
    own = (problem.homes[rows[row]] == broker[:, None]).any(axis=1) & terms.may_keep[domain[row], broker]
    fits = ~own & several[domain[row], problem.rack_of[broker]] & terms.may_receive[domain[row], broker]
    return Offers(row[fits], broker[fits])


def _scattered(rows: Int64s, receivers: Int64s, enough: int) -> Int64s:
    """(rows, at most `enough`) of the receivers, evenly spread; where a row starts hangs on its number alone."""
    if not len(receivers):
        return np.empty((len(rows), 0), np.int64)
    some = min(enough, len(receivers))
    steps = np.arange(some) * len(receivers) // some
    starts = (rows * _SCATTER >> 7) % len(receivers)
    return np.asarray(receivers[(starts[:, None] + steps) % len(receivers)], np.int64)
