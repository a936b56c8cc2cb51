"""The replica lists of a plan that Kafka never completes while brokers are down."""

from collections.abc import Sequence

import numpy as np

from app.core.measures.tally import positions_of
from app.core.model import NO_REPLICA, Int32s, Int64s
from app.core.reassignment import Incomplete, completion_rule, incomplete
from app.core.replica_lists import stacked
from app.services.reassignment.problem.problem import ReassignmentProblem


def incomplete_lists(problem: ReassignmentProblem, rows: Int64s, before: Int32s, after: Int32s) -> Incomplete:
    """Apply the rule of the problem's release to lists: see `core/reassignment/completion.py`.

    Parameters
    ----------
    rows : (lists,) int64 partition of each, in the order in which they are requested.
    before, after : (lists, widest) int32 positions.
    """
    # Live replicas that steps have added need no place here: they are copied from one that is in sync now.
    topics = problem.scope.described
    in_sync = _by_row(problem, [np.column_stack([topic.leaders, topic.isr]) for topic in topics])[rows]
    # Replicas that a running reassignment removes are there in the first step of their partition.
    leaving = _by_row(problem, [topic.removing for topic in topics])[rows]
    is_later = np.ones(len(rows), np.bool_)
    is_later[np.unique(rows, return_index=True)[1]] = False
    leaving[is_later] = NO_REPLICA
    rule = completion_rule(problem.version, problem.controller)
    return incomplete(np.concatenate([before, leaving], axis=1), after, in_sync, ~problem.brokers.is_offline, rule)


def _by_row(problem: ReassignmentProblem, of_topics: Sequence[Int32s]) -> Int32s:
    """(rows, widest) int32 positions of lists of broker ids by topic of the scope; padding for new partitions."""
    scope, ids = problem.scope, problem.brokers.ids
    lists = stacked(of_topics)
    rows = np.full((len(scope.partition_ids), max(1, lists.shape[1])), NO_REPLICA, np.int32)
    rows[~scope.is_new, : lists.shape[1]] = lists
    positions = positions_of(rows, ids)
    return np.where(positions == len(ids), np.int32(NO_REPLICA), positions)
