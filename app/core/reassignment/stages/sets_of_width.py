"""Replicas on the replica sets of a scatter width, each with its number of partitions, at the least movement.

The sets are those of `app.core.replicas.copyset_rounds`: each broker is in equally many sets of a round. If a set has
as many partitions as every other one, or one more within a round of disjoint sets, the replicas of brokers differ by at
most one. So sets are balanced instead of brokers, and the least movement is a transportation problem of partitions and
sets, which a minimum-cost flow solves exactly. Its dual prices are prices of sets.
"""

from collections.abc import Iterator, Mapping

import numpy as np

from app.core.certificate import Certificate
from app.core.flow import Network, largest_cost, min_cost_flow
from app.core.model import NO_REPLICA, Bools, Int32s, Int64s
from app.core.reassignment.model import KEEP, Deadline, MovementProblem, ReplicaPlacement
from app.core.reassignment.solvers.flow.least_movement import SOLVER, least_movement
from app.core.reassignment.solvers.flow.places import in_order, moved_weight
from app.core.replica_lists import per_rack
from app.errors.requests import LimitExceeded

_BLOCK = 1 << 21
"""Pairs of a partition and a set that are compared at once."""


def place_on_sets(
    problem: MovementProblem, sets: Mapping[int, Int32s], is_pinned: Bools, is_over: Deadline
) -> ReplicaPlacement:
    """Minimise the moved weight, then the moved replicas, with equally many partitions on each set.

    Parameters
    ----------
    sets : by replication factor, (sets, factor) int32 positions. The first of them have one partition more than the
        others if the number of partitions is no multiple of theirs.
    is_pinned : (rows,) bool, partitions whose lists are given, and which no set counts.
    is_over : whether the deadline has passed; then the moved replicas are not minimised.

    Raises
    ------
    InfeasibleFlow : brokers, racks or replicas that must stay do not allow it.
    LimitExceeded : weights are so large that their sums are not exact.
    """
    lists = least_movement(problem, KEEP, is_over=is_over).replicas.copy()
    lists[~is_pinned] = NO_REPLICA
    bound = moved_weight(problem, lists)
    constraints = ["distinct brokers that each partition may be on", "replicas of a partition spread over racks"]
    for factor, of_factor in sets.items():
        rows = np.flatnonzero(~is_pinned & (problem.factors == factor))
        arcs = _Arcs(problem, rows, of_factor)
        flow = min_cost_flow(arcs.network, [arcs.weight, arcs.copies], is_over=is_over)
        lists[rows, :factor] = of_factor[arcs.chosen(flow.amounts)]
        bound += flow.lower_bounds[0]
        each, more = divmod(len(rows), len(of_factor))
        counts = f"{each} partitions on each of {len(of_factor)} replica sets of {factor} brokers"
        constraints.append(f"{counts}, and one more on the first {more} in the order of rounds" if more else counts)
    moved = moved_weight(problem, lists)
    certificate = Certificate("moved weight", moved, min(bound, moved), SOLVER, tuple(constraints))
    return ReplicaPlacement(in_order(problem, lists), None, certificate)


def sets_of_width_violations(lists: Int32s, sets: Mapping[int, Int32s]) -> list[str]:
    """Violations of (rows, widest) int32 lists: another set, or one with too few or too many partitions."""
    violations = []
    for factor, of_factor in sets.items():
        on_set = np.sort(lists[(lists != NO_REPLICA).sum(axis=1) == factor], axis=1)[:, -factor:]
        # A set may be there several times, and then has several shares of the partitions.
        known, times = np.unique(np.sort(of_factor, axis=1), axis=0, return_counts=True)
        found, counts = np.unique(np.concatenate([known, on_set]), axis=0, return_counts=True)
        fewest, most = len(on_set) // len(of_factor), -(-len(on_set) // len(of_factor))
        if len(found) > len(known):
            violations.append(f"partitions are on {len(found) - len(known)} sets that the scatter width does not have")
        elif ((counts - 1 < fewest * times) | (counts - 1 > most * times)).any():
            violations.append(f"sets of {factor} have {counts.min() - 1} to {counts.max() - 1} partitions")
    return violations


class _Arcs:
    """The transportation problem of partitions and sets.

    An arc goes from a partition to each set with a replica that stays, and to the hub of its domain, from which each
    set is reached that receives all replicas. Nodes are partitions, sets and hubs, in this order.

    Attributes
    ----------
    weight, copies : (arcs,) int64, what is copied if a partition is on the set.
    """

    def __init__(self, problem: MovementProblem, rows: Int64s, sets: Int32s) -> None:
        domains, (number, factor) = len(problem.domains), sets.shape
        first, ends = len(rows), len(rows) + number
        row, index, kept = (np.concatenate(each) for each in zip(*_staying(problem, rows, sets), strict=True))
        free = np.flatnonzero(problem.must_keep[rows] == NO_REPLICA)
        domain, receives = np.nonzero(_receive(problem, sets))
        self.copies = np.concatenate([factor - kept, np.full(len(free), factor), np.zeros(len(domain), np.int64)])
        tails = np.concatenate([row, free, ends + domain])
        heads = np.concatenate([first + index, ends + problem.domain_of[rows[free]], first + receives])
        is_there = problem.is_there[rows]
        weight = np.append(np.where(is_there, problem.weight[rows], 0), np.zeros(number + domains, np.int64))
        of_set = len(rows) // number + (np.arange(number) < len(rows) % number)
        supplies = np.concatenate([np.ones(len(rows), np.int64), -of_set, np.zeros(domains, np.int64)])
        capacities = np.where(tails < ends, 1, len(rows)).astype(np.int64)
        self.network = Network(supplies, tails.astype(np.int32), heads.astype(np.int32), capacities)
        heaviest, most = int(weight.max()) * factor, largest_cost(len(supplies))
        if heaviest > most:
            raise LimitExceeded(
                f"the copies of a partition come to {heaviest} bytes; up to {most} can be minimised exactly for "
                f"{len(rows)} partitions",
                total=heaviest,
                limit=most,
            )
        self.weight, self.partitions, self.sets = weight[tails] * self.copies, len(rows), number

    def chosen(self, amounts: Int64s) -> Int64s:
        """(partitions,) int64 the set of each partition. Those of a hub take its sets in turn: these cost the same."""
        chosen, ends = np.empty(self.partitions, np.int64), self.partitions + self.sets
        tails, heads = (np.repeat(each, amounts) for each in (self.network.tails, self.network.heads))
        is_direct, is_of_hub = (tails < self.partitions) & (heads < ends), tails >= ends
        chosen[tails[is_direct]] = heads[is_direct] - self.partitions
        to_hub, from_hub = np.flatnonzero(heads >= ends), np.flatnonzero(is_of_hub)
        to_hub = to_hub[np.argsort(heads[to_hub], kind="stable")]
        from_hub = from_hub[np.argsort(tails[from_hub], kind="stable")]
        chosen[tails[to_hub]] = heads[from_hub] - self.partitions
        return chosen


def _staying(problem: MovementProblem, rows: Int64s, sets: Int32s) -> Iterator[tuple[Int64s, Int64s, Int64s]]:
    """Partitions, by their place in `rows`, the sets that they may be on with replicas that stay, and how many of these
    need no copy. Block by block.
    """
    is_on = np.zeros((len(problem.broker_ids) + 1, len(sets)), np.int8)  # the last broker is the padding
    is_on[sets.T, np.arange(len(sets))] = 1
    receiving = problem.table.may_receive.astype(np.int64) @ is_on[:-1]
    in_racks, size, may_stay = _in_racks(problem, sets), max(1, _BLOCK // max(1, len(sets))), problem.may_stay
    for start in range(0, max(1, len(rows)), size):
        some = rows[start : start + size]
        current, domain, must = problem.current[some], problem.domain_of[some], problem.must_keep[some]
        stays, receives = may_stay[some], problem.table.may_receive[domain[:, None], current]
        in_sync = stays if problem.in_sync is None else stays & problem.in_sync[some]
        kept, copied, synced, closed = (
            is_on[np.where(which, current, NO_REPLICA)].sum(axis=1, dtype=np.int64)
            for which in (stays, stays & problem.is_copied[some], in_sync, stays & ~receives)
        )
        factor = sets.shape[1]
        is_legal = (kept > 0) & (receiving[domain] + closed == factor) & in_racks[domain]
        is_legal &= ((must == NO_REPLICA)[:, None] | (is_on[must] > 0)) & ((synced > 0) | (kept < factor))
        row, index = np.nonzero(is_legal)
        yield start + row, index, (kept - copied)[row, index]


def _in_racks(problem: MovementProblem, sets: Int32s) -> Bools:
    """(domains, sets) bool: whether a set has as many brokers in each rack as the domain asks for."""
    racks = per_rack(sets, problem.rack_of, problem.racks)
    least, most = problem.table.least[:, None, :], problem.table.most[:, None, :]
    return np.asarray(((racks >= least) & (racks <= most)).all(axis=2), np.bool_)


def _receive(problem: MovementProblem, sets: Int32s) -> Bools:
    """(domains, sets) bool: whether all brokers of a set may receive a partition of the domain."""
    return np.asarray(problem.table.may_receive[:, sets].all(axis=2) & _in_racks(problem, sets), np.bool_)
