"""Replicas that move for the balance of leaders: forced moves first or, if the problem is small, all together."""

from dataclasses import replace

import numpy as np

from app.core.reassignment.goals.answers import EXACT_SOLVER
from app.core.reassignment.goals.exact import Stages, is_small_band
from app.core.reassignment.model import KEEP, ReplicaPlacement
from app.core.reassignment.parts import ProblemPart
from app.core.reassignment.problem import BudgetConflict, Problem
from app.core.reassignment.resource_problem import RESOURCES, ResourceProblem
from app.core.reassignment.rules import load_rules
from app.core.reassignment.solvers.exact.placement_model import NotProven
from app.core.reassignment.solvers.flow.destinations import spread_destinations
from app.core.reassignment.solvers.flow.least_movement import BudgetTooSmall, least_movement
from app.core.reassignment.solvers.flow.places import in_order
from app.core.reassignment.solvers.leaders.by_moves import MovedForLeaders, move_for_leaders
from app.core.reassignment.solvers.search.search import first_leaders, led_by


def move_for_balance(problem: Problem) -> tuple[list[MovedForLeaders], list[BudgetConflict]]:
    """Each part, with forced moves and those that the band of leaders needs. Raises `BudgetConflict`."""
    moved, conflicts = list[MovedForLeaders](), list[BudgetConflict]()
    for part in problem.parts:
        forced = least_movement(part.movement, KEEP, is_over=problem.is_over)
        if problem.movement.share is None:
            forced = spread_destinations(part.movement, forced, part.ties)
        try:
            moved.append(_moved(problem, part, forced, problem.max_moved_bytes))
        except BudgetTooSmall as short:
            conflicts.append(problem.relax(BudgetConflict(short.minimum, short.minimum)))
            moved.append(_moved(problem, part, forced, short.minimum))
    return moved, conflicts


def _moved(problem: Problem, part: ProblemPart, forced: ReplicaPlacement, budget: int | None) -> MovedForLeaders:
    objective = problem.leaders
    moved = move_for_leaders(
        part.movement,
        forced.replicas,
        objective.may_lead,
        objective.base_load,
        objective.balance,
        budget=budget,
        fewest_changes=objective.fewest_changes,
        is_ready=problem.ready(forced.replicas, part.rows),
        is_over=problem.is_over,
    )
    if moved.placement.certificate.optimal or budget is not None or objective.fewest_changes:
        return moved
    return replace(moved, placement=_exactly(problem, part, moved))


def _exactly(problem: Problem, part: ProblemPart, moved: MovedForLeaders) -> ReplicaPlacement:
    """The placement, or the best one with leaders within its bounds if the problem is small and that is proven."""
    movement, objective, column = part.movement, problem.leaders, RESOURCES.index("leaders")
    none, placement = np.zeros(len(part.rows), np.int64), moved.placement
    rules = load_rules(movement, none)
    if not is_small_band(rules):
        return placement
    resources = replace(
        ResourceProblem.of_one_load(movement, column, none + 1, none, objective.base_load),
        leader=problem.current_leaders()[part.rows],
        may_lead=objective.may_lead,
        is_ready=problem.ready(movement.current, part.rows),
    )
    start = led_by(placement.replicas, first_leaders(resources, placement.replicas))
    stages, led = Stages(resources, rules, start, problem.is_over), movement.target & objective.may_lead
    stages.lower[led, column], stages.upper[led, column] = moved.bounds.low[led], moved.bounds.high[led]
    try:
        least = stages.moved()
    except NotProven:
        return placement
    proof = replace(placement.certificate, value=least, lower_bound=least, solver=EXACT_SOLVER)
    return replace(placement, replicas=in_order(movement, stages.at), certificate=proof)
