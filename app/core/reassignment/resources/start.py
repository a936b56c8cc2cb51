"""The placement with forced moves alone: where a search starts, and what the movement is counted from."""

import numpy as np
from numpy.typing import NDArray

from app.core.model import NO_LEADER, Int32s
from app.core.reassignment.leaders.problem import leader_candidates
from app.core.reassignment.loads.local_search import initial_placement
from app.core.reassignment.loads.rules import LoadRules, load_rules
from app.core.reassignment.resources.model import ResourceProblem
from app.core.replica_lists import not_among


def rules_of(problem: ResourceProblem) -> LoadRules:
    """Eligible brokers and the cost of moves. Its load is that of the disk, or one a replica if no size is known.

    Raises
    ------
    LimitExceeded : if loads or weights are so large that they cannot be added exactly.
    """
    for load in (problem.loads.of_leader, problem.loads.of_follower):
        for of_row in load.T:
            load_rules(problem.movement, of_row)
    disk = problem.loads.of_follower[:, 0]
    return load_rules(problem.movement, disk if disk.any() else np.ones_like(disk))


def start_of(problem: ResourceProblem, rules: LoadRules) -> Int32s:
    """(rows, widest) int32: the fewest moves, the leader in column 0; leaders change if they have to.

    Raises
    ------
    InfeasibleFlow : if some partition has no legal placement.
    """
    at = initial_placement(rules, problem.loads.base[:, 0]).at
    return led_by(at, first_leaders(problem, at))


def first_leaders(problem: ResourceProblem, at: Int32s) -> Int32s:
    """(rows,) int32: the current leader if it may lead, else the first current broker that may, else any replica."""
    leaders = np.full(len(at), NO_LEADER, np.int32)
    if not at.shape[1]:
        return leaders
    may = candidates(problem, at)
    wanted = np.column_stack([problem.leader, problem.movement.current])
    for preferred in wanted.T:
        has = ((at == preferred[:, None]) & may).any(axis=1)
        leaders = np.where((leaders == NO_LEADER) & has, preferred, leaders).astype(np.int32)
    rows = np.flatnonzero(leaders == NO_LEADER)
    leaders[rows] = at[rows, may[rows].argmax(axis=1)]
    return leaders


def candidates(problem: ResourceProblem, at: Int32s) -> NDArray[np.bool_]:
    """(rows, widest) bool: replicas that may lead, as `leader_candidates`."""
    return leader_candidates(at, problem.may_lead, not_among(at, problem.behind))


def led_by(at: Int32s, leaders: Int32s) -> Int32s:
    """(rows, widest) int32: the same replicas with the leader in column 0."""
    ordered = at.copy()
    rows = np.arange(len(at))
    if len(at) and at.shape[1]:
        column = (at == leaders[:, None]).argmax(axis=1)
        ordered[rows, column], ordered[:, 0] = at[:, 0], at[rows, column]
    return ordered
