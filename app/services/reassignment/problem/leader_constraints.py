"""Constraints on leaders: the racks that are preferred for them, and minimums of topics on brokers."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from app.core.model import NO_REPLICA, Int32s, Int64s
from app.errors import Json
from app.services.reassignment.problem.brokers import Bools, BrokerTable
from app.services.reassignment.problem.scope import PartitionScope
from app.services.reassignment.requests.request import ReassignmentRequest
from app.services.reassignment.requests.resources import EVERY


@dataclass(frozen=True, slots=True, eq=False)
class PreferredRacks:
    """The ranks of brokers by the racks that are preferred for leaders.

    Parameters
    ----------
    racks : each distinct list of racks.
    rank : (lists, brokers) int32, the place of the broker's rack in the list, or the length of the list.
    list_of : (rows,) int32 index of the partition's list; −1 without any.
    """

    racks: tuple[tuple[str, ...], ...]
    rank: Int32s = field(repr=False)
    list_of: Int32s = field(repr=False)

    def of_replicas(self, replicas: Int32s, rows: Int64s) -> Int32s:
        """(len(rows), width) int32 rank of each replica, 0 for partitions without a list."""
        listed = self.list_of[rows]
        return np.where(listed[:, None] < 0, 0, self.rank[np.maximum(listed, 0)[:, None], replicas]).astype(np.int32)

    def as_json(self, leaders: Int32s) -> dict[str, Json]:
        """How many partitions are led in the first rack of their list, in another one, and in none of them."""
        has_list = (self.list_of >= 0) & (leaders != NO_REPLICA)
        lists = self.list_of[has_list]
        rank = self.rank[lists, leaders[has_list]]
        length = np.array([len(racks) for racks in self.racks], np.int64)[lists]
        first, elsewhere = int(np.count_nonzero(rank == 0)), int(np.count_nonzero(rank == length))
        return {"first": first, "other_listed": len(lists) - first - elsewhere, "elsewhere": elsewhere}


@dataclass(frozen=True, slots=True, eq=False)
class TopicMinimums:
    """Topics with a minimum number of leaders on each broker.

    Parameters
    ----------
    topics : their names. least : (topics,) int64. brokers : (brokers,) bool, those that lead as many.
    topic_of : (rows,) int32 index of the partition's topic among them; −1 for others.
    """

    topics: tuple[str, ...]
    least: Int64s
    brokers: Bools = field(repr=False)
    topic_of: Int32s = field(repr=False)

    def lacking(self, short: Int64s, brokers: BrokerTable) -> str:
        """What (topics, brokers) int64 leaders that are missing mean, in words."""
        words = []
        for topic in np.flatnonzero(short.any(axis=1)).tolist():
            named = brokers.named(short[topic] > 0)
            partitions = int(np.count_nonzero(self.topic_of == topic))
            words.append(
                f"topic {self.topics[topic]} has {partitions} partitions, of which each of "
                f"{np.count_nonzero(self.brokers)} brokers is to lead {self.least[topic]}; with these replicas, "
                f"brokers {named} would lead fewer"
            )
        return "; ".join(words[:20])


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
    return PreferredRacks(lists, np.array(rank, np.int32), index[scope.topic_of])


def _place(racks: Sequence[str], rack: str | None) -> int:
    return racks.index(rack) if rack in racks else len(racks)


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
        topics,
        np.array([minimums[name] for name in topics], np.int64),
        may_lead & ~brokers.is_removed & ~brokers.is_offline,
        index[scope.topic_of],
    )
