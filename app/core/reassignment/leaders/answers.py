"""Chosen leaders with their certificates, in the words of the method that chose them."""

from dataclasses import dataclass

import numpy as np

from app.core.certificate import Certificate
from app.core.model import Int32s, Int64s
from app.core.reassignment.leaders.problem import LeaderChoice, LeaderProblem
from app.core.reassignment.model import Band

SOLVER_BY_COUNT = "flow between brokers, by distances"
SOLVER_BY_TOPIC = "ortools min-cost flow"
SOLVER_BY_INGRESS = "flow between brokers, rounded and repaired"


@dataclass(frozen=True, slots=True)
class Method:
    """The words of a method's certificates. limit : what a band allows, formatted with its bounds."""

    solver: str
    largest: str
    limit: str


_KEPT = "leaders that may stay do"
_OF_CHANGED = (
    "leaders of partitions whose replicas stay do as well; others change if that makes the largest broker smaller"
)
BY_COUNT = Method(SOLVER_BY_COUNT, "leaders of the largest broker", "{} to {} leaders a broker")
BY_TOPIC = Method(
    SOLVER_BY_TOPIC, "leaders of the largest broker", "{} to {} leaders a broker; then the least excess of topics"
)
BY_INGRESS = Method(SOLVER_BY_INGRESS, "ingress of the largest broker, bytes/s", "at most {1} bytes/s led by a broker")


def answer(
    problem: LeaderProblem,
    leaders: Int32s,
    method: Method,
    band: Band | None,
    changes_bound: int,
    largest_bound: int,
    prices: Int64s | None = None,
) -> LeaderChoice:
    """The choice with its two certificates.

    Parameters
    ----------
    band : None with `keep`. changes_bound, largest_bound : lower bounds on the leader changes, and on the largest
        load of a target broker. prices : (brokers,) int64 that prove the changes; None if there are none.
    """
    unbanded = _OF_CHANGED if problem.may_change.any() else _KEPT
    limit = unbanded if band is None else method.limit.format(band.low, band.high)
    constraints = ("a replica of each partition leads", limit)
    largest = int(problem.loads(leaders)[problem.target].max(initial=0))
    return LeaderChoice(
        leaders=leaders,
        band=band,
        certificate=Certificate("leader changes", problem.changes(leaders), changes_bound, method.solver, constraints),
        largest=Certificate(method.largest, largest, largest_bound, method.solver, constraints),
        without_choice=problem.without_choice(),
        prices=np.zeros(len(problem.base), np.int64) if prices is None else prices,
    )
