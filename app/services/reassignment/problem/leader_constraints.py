"""Constraints on leaders: the racks that are preferred for them, and minimums of topics on brokers."""

from collections.abc import Mapping, Sequence

import numpy as np

from app.core.model import Int64s
from app.core.reassignment.problem import PreferredRacks, TopicMinimums
from app.services.reassignment.problem.brokers import Bools, BrokerTable
from app.services.reassignment.problem.scope import PartitionScope
from app.services.reassignment.requests.request import ReassignmentRequest
from app.services.reassignment.requests.resources import EVERY


def preferred_racks_of(
    request: ReassignmentRequest, brokers: BrokerTable, scope: PartitionScope
) -> PreferredRacks | None:
    """The preferred racks by row; None if the request has none."""
    if not request.preferred_racks:
        return None
    lists = tuple(dict.fromkeys(tuple(racks) for racks in request.preferred_racks.values()))
    default = request.preferred_racks.get(EVERY)
    of_topic = [request.preferred_racks.get(name, default) for name in scope.topics]
    index = np.array([-1 if racks is None else lists.index(tuple(racks)) for racks in of_topic], np.int32)
    rank = [[_place(racks, broker.rack) for broker in brokers.known] for racks in lists]
    lengths = np.array([len(racks) for racks in lists], np.int64)
    return PreferredRacks(np.array(rank, np.int32), lengths, index[scope.topic_of])


def _place(racks: Sequence[str], rack: str | None) -> int:
    return racks.index(rack) if rack in racks else len(racks)


def spread_of(request: ReassignmentRequest, scope: PartitionScope) -> Int64s | None:
    """(rows,) int64 index of each partition's topic in `spread_leaders` by name, −1 of others; None without any."""
    if not request.spread_leaders:
        return None
    index_of = {name: index for index, name in enumerate(sorted(request.spread_leaders))}
    return np.array([index_of.get(name, -1) for name in scope.topics], np.int64)[scope.topic_of]


def topic_minimums_of(
    minimums: Mapping[str, int], brokers: BrokerTable, scope: PartitionScope, may_lead: Bools
) -> TopicMinimums | None:
    """The minimums by row; None without any. They hold on brokers that stay, are up and may lead."""
    if not minimums:
        return None
    topics = tuple(sorted(minimums))
    index_of = {name: index for index, name in enumerate(topics)}
    index = np.array([index_of.get(name, -1) for name in scope.topics], np.int32)
    return TopicMinimums(
        np.array([minimums[name] for name in topics], np.int64),
        may_lead & ~brokers.is_removed & ~brokers.is_offline,
        index[scope.topic_of],
    )
