"""What balance a reassignment reached: of replicas, leaders and topics, and the movement that other bands cost."""

import numpy as np

from app.core.model import Int32s, Int64s
from app.core.reassignment import Band, ReplicaPlacement, TopicBalance
from app.errors import Json
from app.services.reassignment.brokers import Bools
from app.services.reassignment.movement import Moves
from app.services.reassignment.resolve import ReassignmentProblem, ReassignmentSolution
from app.services.reassignment.resource_reports import goals_json

NAMED_TOPICS = 20
"""How many topics are listed, the least balanced first."""


def balance_json(problem: ReassignmentProblem, solution: ReassignmentSolution) -> dict[str, Json]:
    """The bands of replicas and leaders, the extremes before and after, and what goals reached."""
    target, after, choice = problem.movement.target, solution.leaders.after, solution.leaders.choice
    preferred = problem.leaders.preferred
    replicas: dict[str, Json] = {
        "by": problem.replicas.by,
        **_band(solution.placement.band, problem.replicas.loads(after), target),
        "before": _ends(problem.replicas.loads(problem.before), target),
        "largest_bound": solution.largest_bound,
        "per_topic": None if problem.topics is None else _per_topic(problem, problem.topics, solution.placement, after),
    }
    leaders: dict[str, Json] = {
        "by": problem.leaders.by,
        **_band(choice.band, problem.leaders.loads(after), target),
        "before": _ends(problem.leaders.loads(problem.before), target),
        "largest_bound": choice.largest.lower_bound,
        "changes": choice.certificate.value,
        "bound": choice.certificate.lower_bound,
        "optimal": choice.certificate.optimal,
        "gap": choice.certificate.gap,
        "preferred_racks": None if preferred is None else preferred.as_json(after[:, 0]),
        "solver": choice.certificate.solver,
    }
    goals = None if solution.resources is None else goals_json(solution.resources.placement)
    return {"replicas": replicas, "leaders": leaders, "resources": goals}


def _per_topic(
    problem: ReassignmentProblem, topics: TopicBalance, placement: ReplicaPlacement, after: Int32s
) -> dict[str, Json]:
    """The bands of topics, and the topics that are the least balanced afterwards, then before."""
    movement, brokers = problem.movement, len(problem.brokers.ids)
    low, high = (bounds[:, movement.target] for bounds in topics.bands(movement))
    is_banded = np.array([share is not None for share in topics.tolerance], np.bool_)
    now, then = (topics.table(replicas, brokers)[:, movement.target] for replicas in (after, problem.before))
    spread_now, spread_then = (np.ptp(table, axis=1) if table.size else np.zeros(len(table)) for table in (now, then))
    worst = np.lexsort((-spread_then, -spread_now))
    worst = worst[is_banded[worst]][:NAMED_TOPICS]
    every = np.ones(now.shape[1], np.bool_)
    return {
        "topics": int(np.count_nonzero(is_banded)),
        "excess": placement.topic_excess,
        "worst": [
            {
                "topic": problem.scope.topics[topic],
                "low": _ends(low[topic], every)["smallest"],
                "high": _ends(high[topic], every)["largest"],
                **_ends(now[topic], every),
                "before": _ends(then[topic], every),
            }
            for topic in worst.tolist()
        ],
    }


def _band(band: Band | None, loads: Int64s, target: Bools) -> dict[str, Json]:
    """The band, None if there was none, and the extremes over the target brokers."""
    return {
        "low": None if band is None else band.low,
        "high": None if band is None else band.high,
        **_ends(loads, target),
    }


def _ends(loads: Int64s, target: Bools) -> dict[str, Json]:
    of_targets = loads[target]
    if not len(of_targets):
        return {"smallest": 0, "largest": 0}
    return {"smallest": int(of_targets.min()), "largest": int(of_targets.max())}


def trade_off_point(problem: ReassignmentProblem, placement: ReplicaPlacement) -> dict[str, Json]:
    """One point of movement against balance."""
    per_row = Moves.of(problem, placement.replicas).is_copied.sum(axis=1)
    return {
        "low": None if placement.band is None else placement.band.low,
        "high": None if placement.band is None else placement.band.high,
        "moved_replicas": int(per_row.sum()),
        "moved_bytes": int((per_row * problem.sizes.size_bytes).sum()),
        "optimal": placement.certificate.optimal,
    }
