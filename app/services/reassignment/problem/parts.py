"""The parts of a problem: each broker set with its topics, and the other brokers with the other topics.

A part is placed, balanced and proven on its own; without broker sets the whole problem is one part.
"""

import numpy as np

from app.core.model import Int32s, Int64s
from app.core.reassignment.objectives import ReplicaObjective
from app.core.reassignment.problem import Share
from app.core.replica_lists import per_broker
from app.services.reassignment.problem.broker_sets import NO_SET, BrokerSets
from app.services.reassignment.problem.brokers import Bools, BrokerTable
from app.services.reassignment.problem.scope import PartitionScope


def shares_of(
    sets: BrokerSets,
    brokers: BrokerTable,
    scope: PartitionScope,
    objective: ReplicaObjective,
    before: Int32s,
    stays: Int32s,
) -> tuple[Share, ...]:
    """The parts that have partitions, by the name of their set; the brokers outside every set come last.

    Parameters
    ----------
    before : (rows, widest) int32 current brokers. stays : those that may keep their replica; `NO_REPLICA` for others.
    """
    if not sets.names or not len(before):
        everything = np.ones(len(brokers.ids), np.bool_)
        rows = np.arange(len(before))
        return (Share(None, rows, everything, *_balanced(brokers, objective, before, stays, rows, everything)),)
    of_row, shares = sets.of_topic[scope.topic_of], []
    for index in (*range(len(sets.names)), NO_SET):
        rows, inside = np.flatnonzero(of_row == index), sets.mask(index)
        if len(rows):
            name = None if index == NO_SET else sets.names[index]
            shares.append(Share(name, rows, inside, *_balanced(brokers, objective, before, stays, rows, inside)))
    return tuple(shares)


def _balanced(
    brokers: BrokerTable, objective: ReplicaObjective, before: Int32s, stays: Int32s, rows: Int64s, inside: Bools
) -> tuple[Bools, Int64s | None]:
    """(brokers,) bool, brokers inside whose loads are balanced (with `keep`, that receive what has to move); and the
    capped floors of the others.
    """
    here = np.where(inside, objective.base_load, 0)
    loads, kept = (here + per_broker(lists[rows], len(here), objective.load[rows]) for lists in (before, stays))
    balances = objective.balance.tolerance is not None
    target = brokers.balanced(loads, inside) if balances else brokers.may_receive & inside
    return target, brokers.floor_cap(kept, inside, target)
