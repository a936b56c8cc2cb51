"""The parts of a problem: each broker set with its topics, and the other brokers with the other topics.

A part is placed, balanced and proven on its own; without broker sets the whole problem is one part.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from app.core.model import Int32s, Int64s
from app.core.reassignment import MovementProblem, TieBreaks, TopicBalance, part_of
from app.core.replica_lists import per_broker
from app.services.reassignment.problem.broker_sets import NO_SET, BrokerSets
from app.services.reassignment.problem.brokers import Bools, BrokerTable
from app.services.reassignment.problem.loads import ReplicaObjective
from app.services.reassignment.problem.scope import PartitionScope


@dataclass(frozen=True, slots=True, eq=False)
class Share:
    """The partitions and brokers of a part.

    Parameters
    ----------
    name : of the broker set; None outside every set. rows : (part,) int64, ascending.
    brokers : (brokers,) bool, the brokers of the set. target : those whose loads are balanced; with `keep`, those that
        receive what has to move. floor_cap : (brokers,) int64 or None, as of `MovementProblem`.
    """

    name: str | None
    rows: Int64s = field(repr=False)
    brokers: Bools = field(repr=False)
    target: Bools = field(repr=False)
    floor_cap: Int64s | None = field(repr=False)


@dataclass(frozen=True, slots=True, eq=False)
class ProblemPart:
    """A part of a problem. movement, ties, topics : as of the whole problem, of the rows of the share."""

    share: Share
    movement: MovementProblem
    ties: TieBreaks
    topics: TopicBalance | None

    @property
    def rows(self) -> Int64s:
        """(part,) int64 rows of the whole problem."""
        return self.share.rows


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


def parts_of(
    shares: Sequence[Share], movement: MovementProblem, ties: TieBreaks, topics: TopicBalance | None
) -> tuple[ProblemPart, ...]:
    """The part of each share."""
    if len(shares) == 1:
        return (ProblemPart(shares[0], movement, ties, topics),)
    return tuple(
        ProblemPart(
            share,
            replace(part_of(movement, share.rows, share.target), floor_cap=share.floor_cap),
            replace(ties, size_bytes=ties.size_bytes[share.rows], topic_of=ties.topic_of[share.rows]),
            None if topics is None else _topics_of(topics, share.rows),
        )
        for share in shares
    )


def _topics_of(topics: TopicBalance, rows: Int64s) -> TopicBalance:
    used, topic_of = np.unique(topics.topic_of[rows], return_inverse=True)
    return replace(
        topics,
        topic_of=topic_of.reshape(-1).astype(np.int64),
        topics=len(used),
        tolerance=tuple(topics.tolerance[topic] for topic in used.tolist()),
    )


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
