"""Preferred leaders: the exchange graph of brokers beside the flow solvers, which see every partition as a node.

The partitions of `reassignments`, of which the brokers removed there lead none any more. Measured is the choice of
leaders; its floor is what the flow solvers need for the same: by count the band's feasibility and the fewest changes,
by ingress a single test of feasibility, of which a lower bound takes several. A ratio below 1 says that the exchange
graph is faster. See docs/decisions/0015.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import NDArray

from app.core.flow import Network, is_feasible, min_cost_flow
from app.core.model import Int64s
from app.core.reassignment.model import TIGHT
from app.core.reassignment.solvers.leaders.choosing import choose_leaders
from app.core.reassignment.solvers.leaders.problem import LeaderChoice, LeaderProblem, change_costs, change_unit
from benchmarks.measure import Floor, Result, interleaved
from benchmarks.reassignments import REMOVED, cluster_of


@dataclass(frozen=True, slots=True)
class LeaderCase:
    """Partitions, how their leaders are balanced, and how often that is measured."""

    partitions: int
    leaders_by: str
    runs: int = 3


CASES = (
    LeaderCase(100_000, "count"),
    LeaderCase(100_000, "ingress"),
    LeaderCase(1_000_000, "count", runs=1),
    LeaderCase(1_000_000, "ingress", runs=1),
)


def run() -> Iterator[Result]:
    """Measure every case; both ways have to come to the same number of changes by count."""
    for case in CASES:
        problem = _problem(case)
        choice = choose_leaders(problem, TIGHT)
        solvers = _by_count if case.leaders_by == "count" else _by_ingress
        assert solvers(problem, choice), "the flow solvers come to another optimum"
        times = interleaved(
            {"exchange": partial(choose_leaders, problem, TIGHT), "solvers": partial(solvers, problem, choice)},
            runs=case.runs,
            warm_ups=0,
        )
        yield Result(
            "leaders",
            {"partitions": case.partitions, "brokers": len(problem.base), "leaders_by": case.leaders_by},
            times["exchange"],
            Floor("the flow solvers of app.core.flow", times["solvers"]),
            facts={"changes": choice.certificate.value, "largest": choice.largest.value},
        )


def _problem(case: LeaderCase) -> LeaderProblem:
    cluster = cluster_of(case.partitions)
    ids = np.array([broker.id for broker in cluster.brokers], np.int32)
    replicas = np.concatenate([np.searchsorted(ids, topic.replicas) for topic in cluster.topics]).astype(np.int32)
    may_lead = ~np.isin(ids, REMOVED)
    ones = np.ones(len(replicas), np.int64)
    is_by_count = case.leaders_by == "count"
    return LeaderProblem(
        replicas=replicas,
        leader=replicas[:, 0].copy(),
        may_change=np.zeros(len(replicas), np.bool_),
        may_lead=may_lead,
        is_new=np.zeros(replicas.shape, np.bool_),
        target=may_lead,
        base=np.zeros(len(ids), np.int64),
        weight=ones if is_by_count else np.random.default_rng(1).integers(1, 1_001, len(replicas)),
    )


def _by_count(problem: LeaderProblem, choice: LeaderChoice) -> bool:
    """Whether a minimum-cost flow within the same band changes as few leaders."""
    if choice.band is None:
        raise RuntimeError("tight has a band")
    network, cells = _network(problem, choice.band.low, choice.band.high)
    costs, unit = change_costs(problem), change_unit(problem)
    per_arc = np.concatenate([costs[cells].astype(np.int64), np.zeros(len(problem.base), np.int64)])
    changes = min_cost_flow(network, [per_arc]).costs[0] // unit
    forced = int(np.count_nonzero(problem.is_forced()))
    return is_feasible(network) and changes + forced == choice.certificate.value


def _by_ingress(problem: LeaderProblem, choice: LeaderChoice) -> bool:
    """Whether split leadership is feasible at what was reached."""
    return is_feasible(_network(problem, 0, choice.largest.value)[0])


def _network(problem: LeaderProblem, low: int, high: int) -> tuple[Network, NDArray[np.bool_]]:
    """Partitions to their candidates, and candidates to a sink within the bounds; and the arcs' cells of `replicas`."""
    rows, brokers = len(problem.replicas), len(problem.base)
    total = int(problem.weight.sum())
    lows: Int64s = np.where(problem.target, low, 0)
    highs: Int64s = np.where(problem.target, high, total)
    cells = problem.candidates()
    row, column = np.nonzero(cells)
    tails = np.concatenate([row, rows + np.arange(brokers)])
    heads = np.concatenate([rows + problem.replicas[row, column], np.full(brokers, rows + brokers)])
    supplies = np.concatenate([problem.weight, -lows, [int(lows.sum()) - total]])
    capacities = np.concatenate([problem.weight[row], highs - lows])
    return Network(supplies, tails.astype(np.int32), heads.astype(np.int32), capacities), cells
