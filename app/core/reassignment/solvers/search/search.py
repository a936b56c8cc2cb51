"""Local search for a placement within ceilings, floors and limits, with little movement.

1. Changes lower the penalty of the worst broker, by the largest decrease for the weight moved (`search_kernel`).
2. Moves and leader changes that the penalty does not need are undone, the costliest first (`undo_kernel`).
"""

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from app.core.model import NO_LEADER, NO_REPLICA, Bools, Int32s, Int64s
from app.core.reassignment.model import Deadline
from app.core.reassignment.resource_problem import NO_LIMIT, Bounds, ResourceProblem, SearchedPlacement, loads_of
from app.core.reassignment.rules import LoadRules, costs_saved, load_rules, moved_weight
from app.core.reassignment.solvers.leaders.problem import leader_candidates
from app.core.reassignment.solvers.search import search_kernel, undo_kernel
from app.core.reassignment.solvers.search.heaviest_first import initial_placement
from app.core.reassignment.solvers.search.state_kernel import NOWHERE, SearchState
from app.core.replica_lists import not_among

STEPS = 1_000
"""Changes after which the search ends if they lowered the penalty too little."""
SLOTS_AT_ONCE = 1 << 17
"""The replicas of a broker, times its turns between two looks at the deadline; a turn looks at those of some others."""
MAX_ROUNDS = 500
SLOWEST = 0.9
"""The search ends if `STEPS` changes leave more than this share of the penalty."""
MAX_UNDO_PASSES = 2
UNDONE_AT_ONCE = 2_000
HARD, SOFT = 1e4, 1e2
"""Weights of limits, beside 1 for the least goals."""
SEED = 0x5DEECE66D
CONSTANTS = (0.25, 1.0)
"""What a move costs beside its bytes in further searches, as a multiple of the mean bytes of a replica."""
SEARCHES_OF_FEW, FEW_SLOTS = 8, 3_000
"""Further searches of a problem with few replicas, and the most that it has."""


def least_of_searches(
    problem: ResourceProblem, rules: LoadRules, start: Int32s, bounds: Bounds, is_over: Deadline
) -> SearchedPlacement:
    """The best placement of several searches, in most of which a move costs its bytes and a constant.

    Changes are chosen by the decrease of the penalty for the weight moved. If few replicas have most of the bytes,
    these are moves of many light replicas, although a few heavier ones would do, and together move less. With a
    constant for each move there are fewer. A last search by the weight alone then undoes what is not needed. The
    constants do not depend on what is minimised, so that one objective finds what another one does.

    Parameters are those of `search`; `rules.load` are the bytes of replicas, or 1.
    """
    best = search(problem, rules, start, bounds, is_over)
    is_moved = rules.cost > 0
    sizes = rules.load[is_moved]
    is_equal, mean = bool(sizes.min(initial=NO_LIMIT) >= sizes.max(initial=0)), sizes.sum() / max(1, len(sizes))
    for number in range(SEARCHES_OF_FEW if start.size <= FEW_SLOTS else 0 if is_equal else len(CONSTANTS)):
        if is_over():
            break
        constant = math.ceil(CONSTANTS[number % len(CONSTANTS)] * mean)
        raised = rules if is_equal else rules._replace(cost=np.where(is_moved, rules.load + constant, 0))
        seed = SEED if number < len(CONSTANTS) and not is_equal else number
        found = search(problem, raised, start, bounds, is_over, seed=seed)
        if not is_equal:
            found = search(problem, rules, found.at, bounds, is_over)
        best = min((best, found), key=lambda each: (each.penalty, each.moved))
    return best


def search(
    problem: ResourceProblem, rules: LoadRules, start: Int32s, bounds: Bounds, is_over: Deadline, *, seed: int = SEED
) -> SearchedPlacement:
    """Lower the penalty from a start, then undo what it does not need.

    Parameters
    ----------
    start : (rows, widest) int32, the leader in column 0; a legal placement.
    is_over : whether the deadline has passed; then the placement so far is returned.
    seed : of the samples.
    """
    state = begun(problem, rules, start, bounds, seed)
    before = np.inf
    at_once = max(1, min(STEPS, SLOTS_AT_ONCE * len(state.penalty) // max(1, start.size)))
    for _ in range(MAX_ROUNDS):
        if not _lower(rules, state, at_once, is_over):
            break
        penalty = _penalty(rules, state)
        if penalty > before * SLOWEST:
            break
        before = penalty
    for _ in range(MAX_UNDO_PASSES):
        if is_over() or not _undo(rules, state, is_over):
            break
    leaders = state.at[:, 0] if state.at.shape[1] else problem.leader
    loads = loads_of(problem.loads, problem.movement.rack_of, state.at, leaders)
    return SearchedPlacement(state.at, loads, state.counts, _penalty(rules, state), moved_weight(rules, state.at))


def _lower(rules: LoadRules, state: SearchState, at_once: int, is_over: Deadline) -> bool:
    """Make `STEPS` changes, `at_once` turns of a broker between two looks at the deadline; False once it has passed."""
    done = 0
    while done < STEPS:
        if is_over():
            return False
        made, is_stuck = search_kernel.lower_penalty(rules, state, at_once)
        if is_stuck:
            return False
        done += made
    return True


def _undo(rules: LoadRules, state: SearchState, is_over: Deadline) -> int:
    away = rules.cost[:, None] > costs_saved(rules, state.at)
    away &= state.at >= 0
    changed = away.any(axis=1) | (state.at[:, :1] != state.leader[:, None]).any(axis=1)
    changed |= (state.behind != NO_REPLICA).any(axis=1)
    row = np.flatnonzero(changed)
    rows: Int32s = row[np.argsort(-rules.cost[row], kind="stable")].astype(np.int32)
    undone = 0
    for first in range(0, len(rows), UNDONE_AT_ONCE):
        if is_over():
            break
        undone += undo_kernel.undo(rules, state, rows[first : first + UNDONE_AT_ONCE])
    return undone


def bounded_resources(problem: ResourceProblem, bounds: Bounds) -> Int64s:
    """The resources that a search has: those with bounds or limits, and one in any case."""
    bounded = np.flatnonzero((bounds.unit > 0).any(axis=0) | (problem.limits.upper < NO_LIMIT).any(axis=0))
    return bounded if len(bounded) else np.zeros(1, np.int64)


def begun(problem: ResourceProblem, rules: LoadRules, start: Int32s, bounds: Bounds, seed: int) -> SearchState:
    """The search at its start, with the resources that it has."""
    loads, limits = problem.loads, problem.limits
    is_limited, bounded = limits.upper < NO_LIMIT, bounded_resources(problem, bounds)

    def of_bounded(values: NDArray[Any], dtype: type = np.int64) -> NDArray[Any]:
        return np.ascontiguousarray(values[:, bounded], dtype)

    reads = np.zeros_like(loads.of_leader[:0]) if loads.reads is None else loads.reads.load
    reads = of_bounded(reads)
    topic_of = None if not len(bounds.topic_most) else problem.topic_of
    weight = np.where(limits.is_soft, SOFT, HARD)
    positive = rules.cost[rules.cost > 0]
    brokers, slots = len(problem.movement.broker_ids), start.size
    state = SearchState(
        of_leader=of_bounded(loads.of_leader),
        of_follower=of_bounded(loads.of_follower),
        of_reads=reads if reads.any() else reads[:0],
        share=np.zeros(0, np.int64) if loads.reads is None else loads.reads.client_share.astype(np.int64),
        ceiling=of_bounded(bounds.ceiling),
        floor=of_bounded(bounds.floor),
        limit=of_bounded(limits.upper),
        unit=of_bounded(bounds.unit, np.float64),
        limit_unit=of_bounded(np.where(is_limited, weight / np.maximum(limits.upper, 1), 0.0), np.float64),
        may_lead=problem.may_lead.astype(np.bool_),
        leader=problem.leader.astype(np.int32),
        behind=problem.behind,
        topic_of=np.zeros(0, np.int32) if topic_of is None else topic_of.astype(np.int32),
        topic_most=bounds.topic_most,
        topic_least=bounds.topic_least,
        topic_unit=bounds.topic_unit,
        per_cost=1.0 / float(positive.mean()) if len(positive) else 1.0,
        at=np.ascontiguousarray(start.copy(), np.int32),
        loads=of_bounded(loads.base),
        counts=np.zeros((len(bounds.topic_most), brokers), np.int64),
        first=np.full(brokers, NOWHERE, np.int64),
        after=np.full(slots, NOWHERE, np.int64),
        before=np.full(slots, NOWHERE, np.int64),
        penalty=np.zeros(brokers),
        of_topics=np.zeros(brokers),
        is_stuck=np.zeros(brokers, np.bool_),
        seed=np.array([seed], np.int64),
        singles=np.zeros(1, np.int64),
        unused=np.zeros(0, np.int64),
    )
    search_kernel.begin(rules, state)
    return state


def _penalty(rules: LoadRules, state: SearchState) -> float:
    """The sum of all violations."""
    penalty = float(state.penalty.sum())
    if len(state.topic_of):
        counts = state.counts[:, rules.target]
        above = np.maximum(counts - state.topic_most[:, None], state.topic_least[:, None] - counts)
        penalty += float((np.maximum(above, 0) * state.topic_unit[:, None]).sum())
    return penalty


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


def candidates(problem: ResourceProblem, at: Int32s) -> Bools:
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
