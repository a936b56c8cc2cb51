"""The partitions that members of the snapshot's groups read, as rows, with the racks of the members."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

import numpy as np

from app.core.measures.traffic import read_traffic
from app.core.model import NO_RACK, Int32s, Int64s
from app.core.recorded import RecordedGroup, TopicPartitions
from app.services.reassignment.problem.resources import Resources
from app.services.reassignment.problem.scope import PartitionScope


@dataclass(frozen=True, slots=True, eq=False)
class GroupReads:
    """Reads: a partition and the group that reads it.

    Parameters
    ----------
    group_ids : the groups with members that read partitions.
    group_of, rows : (reads,) int64 index of the group, and row of the partition in `Resources.rows`.
    to_rack : (reads,) int32 rack of the member; `NO_RACK` if it is unknown, the number of racks if no broker is there.
    """

    group_ids: tuple[str, ...]
    group_of: Int64s = field(repr=False)
    rows: Int64s = field(repr=False)
    to_rack: Int32s = field(repr=False)

    def crossing(self, resources: Resources, replicas: Int32s) -> list[list[float]]:
        """For each group, the bytes/s from rack to rack, and those of which a rack is unknown.

        Parameters
        ----------
        replicas : (rows of the scope, widest) int32 positions, leaders first.
        """
        lists, traffic = resources.rows(replicas)
        # Offline brokers of unknown rack are in racks of their own, after all others.
        rack_of = np.where(resources.rack_of < len(resources.racks), resources.rack_of, NO_RACK).astype(np.int32)
        rates = traffic.ingress[self.rows].astype(np.float64)
        follower_fetching = resources.follower_fetching
        found = read_traffic(lists[self.rows], rack_of, self.to_rack, rates, follower_fetching=follower_fetching)
        sums = [np.bincount(self.group_of, each, len(self.group_ids)) for each in (found.cross_rack, found.unknown)]
        by_group: list[list[float]] = np.column_stack(sums).tolist()
        return by_group


def group_reads(groups: Iterable[RecordedGroup], scope: PartitionScope, racks: Sequence[str]) -> GroupReads:
    """Find the reads of groups whose partitions have one member each; those of share groups are left out."""
    topics = _topics(scope)
    rack_numbers = {None: NO_RACK, "": NO_RACK} | {rack: number for number, rack in enumerate(racks)}
    runs = [
        (group.group_id, rack_numbers.get(member.rack_id, len(racks)), _rows(run, *topics[run.topic]))
        for group in groups
        if group.type != "share"
        for member in group.members
        for run in member.assigned or ()
        if run.topic in topics
    ]
    number_of = {group: number for number, group in enumerate(dict.fromkeys(group for group, _, _ in runs))}
    lengths = [len(rows) for _, _, rows in runs]
    columns = np.array([(number_of[group], rack) for group, rack, _ in runs], np.int64).reshape(-1, 2)
    group_of, to_rack = np.repeat(columns, lengths, axis=0).T
    rows = np.concatenate([np.zeros(0, np.int64), *(rows for _, _, rows in runs)])
    return GroupReads(tuple(number_of), group_of, rows, to_rack.astype(np.int32))


def _topics(scope: PartitionScope) -> dict[str, tuple[int, Int32s]]:
    """By name of each topic, the first of its rows in `Resources.rows`, and its partition ids, ascending."""
    named = [*zip(scope.topics, np.split(scope.partition_ids, scope.starts[1:-1]), strict=False)]
    named += [(topic.name, topic.partition_ids) for topic in scope.others]
    starts = np.cumsum([0, *(len(ids) for _, ids in named)]).tolist()
    return {name: (start, ids) for start, (name, ids) in zip(starts, named, strict=False)}


def _rows(run: TopicPartitions, start: int, ids: Int32s) -> Int64s:
    """The rows of those partitions of a topic that there are."""
    numbers = np.array(run.partitions, np.int64)
    places = np.searchsorted(ids, numbers)
    return np.asarray(start + places[np.isin(numbers, ids)], np.int64)
