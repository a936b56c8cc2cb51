"""The least movement for the end that a given plan reaches, as a lower bound to compare the plan with.

The end is read from the plan: the number of replicas of each partition, brokers that it empties, and, if it leaves
every partition spread over racks, the rack rule. Two minima are computed: for that alone, and with every count within
the band that the plan leaves.
"""

from dataclasses import dataclass, field

import numpy as np

from app.core.model import NO_REPLICA, Bools, Int32s, Int64s
from app.core.reassignment.domains import NoLegalPlacement, PartitionKind, RackRule, find_domains
from app.core.reassignment.model import KEEP, Band, MovementProblem, ReplicaPlacement
from app.core.reassignment.solvers.flow.least_movement import least_movement, movement_within
from app.core.reassignment.verifier import are_spread
from app.core.replica_lists import per_broker


@dataclass(frozen=True, slots=True, eq=False)
class ProposedPlan:
    """A reassignment from any source, as positions of brokers.

    Parameters
    ----------
    broker_ids : (brokers,) int32, ascending. rack_of : (brokers,) int32, as in `MovementProblem`.
    is_listed : (brokers,) bool; the others are offline, and receive only what the plan assigns to them.
    base : (brokers,) int64 replicas of partitions outside the plan.
    before, after : (rows, …) int32 positions, padded with `NO_REPLICA`. weight : (rows,) int64 of moving one replica.
    """

    broker_ids: Int32s
    rack_of: Int32s
    is_listed: Bools
    base: Int64s
    before: Int32s = field(repr=False)
    after: Int32s = field(repr=False)
    weight: Int64s = field(repr=False)


@dataclass(frozen=True, slots=True, eq=False)
class PlanMinimum:
    """The least movement for the end of a plan.

    Parameters
    ----------
    forced : the forced moves alone. as_balanced : with every count within the band that the plan leaves.
    emptied : (brokers,) bool, brokers that the plan empties. spreads_racks : whether the plan satisfies the rack rule.
    """

    forced: ReplicaPlacement
    as_balanced: ReplicaPlacement
    emptied: Bools
    spreads_racks: bool


def least_movement_for(plan: ProposedPlan) -> PlanMinimum:
    """Compute the least movement that reaches the same end as a plan; the plan itself shows that the end is feasible.

    Complexity: two solutions of `least_movement`.
    """
    brokers = len(plan.broker_ids)
    had, has = (plan.base + per_broker(lists, brokers) for lists in (plan.before, plan.after))
    emptied = (had > 0) & (has == 0)
    target = (plan.is_listed & ~emptied) | (has > plan.base)
    problem = _problem(plan, target, spreads_racks=True)
    spreads_racks = problem is not None and bool(are_spread(problem, plan.after).all())
    if problem is None or not spreads_racks:
        problem = _problem(plan, target, spreads_racks=False)
    if problem is None:
        raise RuntimeError("a plan that exists is feasible")
    on_targets = has[target] if target.any() else np.zeros(1, np.int64)
    band = Band(int(on_targets.min()), int(on_targets.max()))
    as_balanced = movement_within(problem, problem.bounds(band))
    return PlanMinimum(least_movement(problem, KEEP), as_balanced, emptied, spreads_racks)


def _problem(plan: ProposedPlan, target: Bools, *, spreads_racks: bool) -> MovementProblem | None:
    """The problem that the plan solves; None if no placement satisfies the rack rule."""
    rack_of = plan.rack_of if spreads_racks else np.zeros_like(plan.rack_of)
    listed = rack_of[plan.is_listed]
    rule = RackRule(len(np.unique(listed)), known=int(listed.max(initial=-1)) + 1)
    factors, kind_of = np.unique((plan.after != NO_REPLICA).sum(axis=1), return_inverse=True)
    kinds = [PartitionKind(int(factor), target, target) for factor in factors]
    try:
        domains, domain_of = find_domains(kinds, kind_of.reshape(-1).astype(np.int32), plan.before, rack_of, rule)
    except NoLegalPlacement:
        return None
    return MovementProblem(
        broker_ids=plan.broker_ids,
        rack_of=rack_of,
        target=target,
        base=plan.base,
        domains=domains,
        domain_of=domain_of,
        current=plan.before,
        is_copied=np.zeros(plan.before.shape, np.bool_),
        must_keep=np.full(len(plan.before), NO_REPLICA, np.int32),
        weight=plan.weight,
    )
