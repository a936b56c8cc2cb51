"""The problem of choosing preferred leaders, its answer and the verifier.

What is asked of a choice of preferred leaders, and what is answered.

Whether an answer keeps what was asked of it, found without any solver.
"""

from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from app.core.certificate import Certificate
from app.core.model import Int32s, Int64s
from app.core.reassignment.model import KEEP, Balance, Band

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


def leader_violations(problem: LeadersProblem, answer: LeaderChoice, balance: Balance) -> list[str]:
    """Say every way in which chosen leaders are not as asked, or are not what the answer says of them.

    Returns
    -------
    Sentences; none where every partition is led by one of its replicas that may, target brokers are within the band,
    `keep` changed nothing that was not forced, and changes, largest load and partitions without choice are as counted.
    """
    leaders = answer.leaders
    if leaders.shape != problem.leader.shape:
        return [f"{len(leaders)} leaders were chosen for {len(problem.leader)} partitions"]
    has_replicas = (problem.replicas != NOBODY).any(axis=1)
    is_theirs = (problem.replicas == leaders[:, None]).any(axis=1)
    if not is_theirs[has_replicas].all() or (leaders[~has_replicas] != NOBODY).any():
        strangers = np.count_nonzero(has_replicas & ~is_theirs) + np.count_nonzero(leaders[~has_replicas] != NOBODY)
        return [f"{strangers} partitions are led by a broker without a replica of them"]
    found = []
    may = (problem.candidates() & (problem.replicas == leaders[:, None])).any(axis=1)
    if barred := np.count_nonzero(has_replicas & ~may):
        found.append(f"{barred} partitions are led by a broker that may not lead, although another replica's may")
    kept = (leaders == problem.leader) | problem.is_forced() | (problem.leader == NOBODY) | ~has_replicas
    if balance == KEEP and not kept.all():
        found.append(f"{np.count_nonzero(~kept)} leaders changed that could stay")
    loads = problem.loads(leaders)[problem.target]
    if answer.band is not None and len(loads):
        outside = np.count_nonzero((loads < answer.band.low) | (loads > answer.band.high))
        if outside:
            found.append(f"{outside} brokers lead fewer than {answer.band.low} or more than {answer.band.high}")
    return found + _miscounted(problem, answer, int(loads.max(initial=0)))


def _miscounted(problem: LeadersProblem, answer: LeaderChoice, largest: int) -> list[str]:
    said_and_so = {
        "leader changes": (answer.certificate.value, problem.changes(answer.leaders)),
        "led by the largest": (answer.largest.value, largest),
        "partitions without choice": (answer.without_choice, problem.without_choice()),
    }
    found = [f"{what}: {said} said, {so} counted" for what, (said, so) in said_and_so.items() if said != so]
    if any(claim.lower_bound > claim.value for claim in (answer.certificate, answer.largest)):
        found.append("a bound is above what was reached")
    return found
