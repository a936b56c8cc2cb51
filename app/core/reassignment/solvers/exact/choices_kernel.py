"""The cheapest choices of every partition, of replicas and a leader among them, under dual prices."""

from typing import NamedTuple

import numpy as np

from app.core.compiled.arrays import BoolVector, FloatMatrix, FloatVector, Int32Cube, Int32Matrix, Int32Vector
from app.core.compiled.loops import compiled, subroutine
from app.core.model import NO_REPLICA
from app.core.reassignment.bounds.prices_kernel import (
    Candidates,
    PricedLoads,
    choose,
    list_costs,
    may_replace,
    no_candidates,
)
from app.core.reassignment.rules import LoadRules


class CheapestChoices(NamedTuple):
    """What choices are compared with, and the cheapest ones so far.

    Parameters
    ----------
    may_lead : (brokers,) bool. leader : (rows,) int32 current one. other_leader : the cost of another.
    known : (rows, widest) int32, a choice of each row that is not listed, its leader in column 0.
    noise : (many,) float64, added to costs in turn: of many choices that cost the same, some are listed.
    at : (rows, most, widest) int32, the leader in column 0. cost : (rows, most) float64, ascending; infinite if there
        are fewer. least : (rows,) float64 cost of the cheapest choice, which may be the known one.
    """

    may_lead: BoolVector
    leader: Int32Vector
    other_leader: float
    known: Int32Matrix
    noise: FloatVector
    at: Int32Cube
    cost: FloatMatrix
    least: FloatVector


@compiled
def list_cheapest_choices(rules: LoadRules, loads: PricedLoads, choices: CheapestChoices) -> None:
    """List of every row the cheapest legal set, and that with one broker replaced, each with any leader of it."""
    of = no_candidates(rules)
    choices.cost[:], choices.least[:] = np.inf, np.inf
    for row in range(len(rules.cost)):
        factor = rules.factor[rules.domain_of[row]]
        list_costs(rules, loads, row, of)
        choose(rules, row, of)
        if factor == 0 or of.members[factor - 1] < 0:
            continue
        total = 0.0
        for place in range(factor):
            total += of.follows[of.members[place]]
        _list_leaders(choices, row, of, factor, total)
        for place in range(factor):
            member = of.members[place]
            for broker in range(len(rules.rack_of)):
                if _may_join(rules, row, of, member, broker):
                    of.members[place] = broker
                    _list_leaders(choices, row, of, factor, total + of.follows[broker] - of.follows[member])
                    of.members[place] = member


@subroutine
def _may_join(rules: LoadRules, row: int, of: Candidates, member: int, broker: int) -> bool:
    """Whether a broker may have the replica of a member of the cheapest legal set."""
    if not np.isfinite(of.follows[broker]):
        return False
    for place in range(rules.factor[rules.domain_of[row]]):
        if of.members[place] == broker:
            return False
    return bool(may_replace(rules, row, of, member, broker))


@subroutine
def _list_leaders(choices: CheapestChoices, row: int, of: Candidates, factor: int, of_replicas: float) -> None:
    """List a set of brokers with each leader that it may have."""
    for place in range(factor):
        leader = of.members[place]
        if not choices.may_lead[leader]:
            continue
        cost = of_replicas + of.extra[leader]
        if leader != choices.leader[row]:
            cost += choices.other_leader
        choices.least[row] = min(choices.least[row], cost)
        # Neighbouring rows, sets and leaders have different noise.
        turn = row + leader
        for other in range(factor):
            turn += of.members[other] * of.members[other]
        cost += choices.noise[turn % len(choices.noise)]
        if cost < choices.cost[row, -1] and not _is_known(choices.known[row], of, factor, leader):
            _insert(choices, row, of, factor, leader, cost)


@subroutine
def _is_known(known: Int32Vector, of: Candidates, factor: int, leader: int) -> bool:
    """Whether a set of brokers and its leader are the known choice."""
    if known[0] != leader:
        return False
    for place in range(factor):
        is_there = False
        for other in known:
            is_there = is_there or other == of.members[place]
        if not is_there:
            return False
    return True


@subroutine
def _insert(choices: CheapestChoices, row: int, of: Candidates, factor: int, leader: int, cost: float) -> None:
    """List a choice in the order of costs, in place of the costliest one."""
    at, costs = choices.at[row], choices.cost[row]
    position = len(costs) - 1
    while position > 0 and cost < costs[position - 1]:
        costs[position], at[position] = costs[position - 1], at[position - 1]
        position -= 1
    costs[position], at[position] = cost, NO_REPLICA
    at[position, 0], column = leader, 1
    for place in range(factor):
        if of.members[place] != leader:
            at[position, column] = of.members[place]
            column += 1
