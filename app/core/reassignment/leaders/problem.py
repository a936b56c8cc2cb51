"""What is asked of a choice of preferred leaders, and what is answered."""

from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from app.core.certificate import Certificate
from app.core.model import Int32s, Int64s
from app.core.reassignment.balance import Band

NOBODY = -1
"""Pads rows of replicas; the leader of a new partition before the choice, and of one without replicas after it."""

NOT_A_CANDIDATE = -1
"""The cost of a replica that may not lead."""


@dataclass(frozen=True, slots=True, eq=False)
class LeadersProblem:
    """Partitions to choose a leader for. Rows are partitions; brokers are positions, as in `Problem`.

    Parameters
    ----------
    replicas : (rows, width) int32 brokers the replicas shall be on, distinct in a row, padded with `NOBODY` anywhere.
    leader : (rows,) int32 the preferred leader now, a replica or not, or `NOBODY` where choosing one is no change.
    may_lead : (brokers,) bool. A partition that has no replica on such a broker is led by any of its replicas.
    is_new : (rows, width) bool, replicas that have to be copied first.
    target : (brokers,) bool, the brokers whose leaders are to be balanced; others may lead any number.
    base : (brokers,) int64 >= 0, leaders there (or their ingress) of partitions that are not asked about.
    weight : (rows,) int64 >= 0, what leading the partition comes to: 1, or its ingress in bytes/s.
    """

    replicas: Int32s = field(repr=False)
    leader: Int32s = field(repr=False)
    may_lead: NDArray[np.bool_]
    is_new: NDArray[np.bool_] = field(repr=False)
    target: NDArray[np.bool_]
    base: Int64s
    weight: Int64s = field(repr=False)

    def candidates(self) -> NDArray[np.bool_]:
        """(rows, width) bool: the replicas that may lead."""
        is_there = self.replicas != NOBODY
        may: NDArray[np.bool_] = is_there & self.may_lead[self.replicas]
        may[~may.any(axis=1)] = is_there[~may.any(axis=1)]
        return may

    def without_choice(self) -> int:
        """How many partitions have replicas, but none on a broker that may lead."""
        is_there = self.replicas != NOBODY
        return int(np.count_nonzero(is_there.any(axis=1) & ~(is_there & self.may_lead[self.replicas]).any(axis=1)))

    def is_forced(self) -> NDArray[np.bool_]:
        """(rows,) bool: partitions that have a leader which cannot go on, whatever is chosen."""
        stays = (self.candidates() & (self.replicas == self.leader[:, None])).any(axis=1)
        forced: NDArray[np.bool_] = (self.leader != NOBODY) & ~stays & (self.replicas != NOBODY).any(axis=1)
        return forced

    def part(self, rows: Int64s, leaders: Int32s) -> "LeadersProblem":
        """The problem of some rows alone, while the others are led as `leaders` says: `base` has those as well."""
        others = leaders.copy()
        others[rows] = NOBODY
        return replace(
            self,
            replicas=self.replicas[rows],
            leader=self.leader[rows],
            is_new=self.is_new[rows],
            base=self.loads(others),
            weight=self.weight[rows],
        )

    def loads(self, leaders: Int32s) -> Int64s:
        """(brokers,) int64: what each broker leads under that choice, `base` included."""
        is_led = leaders != NOBODY
        loads = self.base.astype(np.int64)
        np.add.at(loads, leaders[is_led], self.weight[is_led])
        return loads

    def changes(self, leaders: Int32s) -> int:
        """How many partitions that have a leader get another."""
        return int(np.count_nonzero((self.leader != NOBODY) & (leaders != NOBODY) & (leaders != self.leader)))


@dataclass(frozen=True, slots=True, eq=False)
class LeaderChoice:
    """The chosen leaders, and the certificates of how few change and how little the largest broker leads.

    Parameters
    ----------
    leaders : (rows,) int32, a replica of each partition, `NOBODY` if it has none.
    band : the leaders (or their ingress) of the target brokers are within it; None with `keep`, which bounds nothing.
    certificate : of the leader changes, partitions that have a leader and get another, among choices within the band.
    largest : certificate of what the target broker that leads the most leads; with `keep`, among choices that change
        only what is forced.
    without_choice : partitions of which no replica may lead; one of them leads all the same.
    prices : (brokers,) int64 dual prices, from which the bound on changes follows without the solver by
        `changes_bound`. All 0 with `keep`, where the bound is the number of forced changes, and by ingress, where
        `fewest_to_leave` counts it.
    """

    leaders: Int32s = field(repr=False)
    band: Band | None
    certificate: Certificate[int]
    largest: Certificate[int]
    without_choice: int
    prices: Int64s = field(repr=False)
