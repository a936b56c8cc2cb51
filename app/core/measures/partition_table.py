"""All partitions of a cluster as one table, and the load of its brokers: as they are, or after a loss.

The cost of losing each log directory: a disk fails while its broker stays up.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

import numpy as np

from app.core.measures.losses import LossCounts, ReplicaStates, loss_counts
from app.core.measures.tally import BrokerArrays, positions_of
from app.core.model import NO_LEADER, NO_LOG_DIR, NO_REPLICA, UNKNOWN_SIZE, Bools, Cluster, Float64s, Int32s, Int64s
from app.core.replica_lists import not_among, per_broker, stacked, widened


@dataclass(frozen=True, slots=True, eq=False)
class BrokerLoads:
    """Loads of brokers, by their position in the table, and unavailable partitions.

    Parameters
    ----------
    replicas, leaders, bytes : (brokers,) int64; bytes of replicas whose size is known.
    ingress_bytes_per_s : (brokers,) float64, from producers and from leaders; None if no rate is known.
    offline : (rows,) bool, partitions that no in-sync replica can lead.
    """

    replicas: Int64s
    leaders: Int64s
    bytes: Int64s
    ingress_bytes_per_s: Float64s | None
    offline: Bools = field(repr=False)


@dataclass(frozen=True, slots=True, eq=False)
class PartitionTable:
    """The partitions of a cluster, stacked in the order of its topics.

    Parameters
    ----------
    brokers : the listed ones, and those that only hold replicas. is_listed : (brokers,) bool.
    topics : names. starts : (topics + 1,) int64 first row of each topic.
    partition_ids : (rows,) int32.
    replicas : (rows, widest) int32 positions of brokers, padded with `NO_REPLICA`.
    in_sync : (rows, widest) bool. leaders : (rows,) int32 positions, or `NO_LEADER`.
    size_bytes : (rows,) int64 of one replica; 0 if unknown.
    ingress_bytes_per_s : (rows,) float64, 0 if unknown; None if no rate is known.
    min_isr : (rows,) int32 `min.insync.replicas`, 0 if unknown.
    """

    brokers: BrokerArrays
    is_listed: Bools
    topics: tuple[str, ...]
    starts: Int64s
    partition_ids: Int32s = field(repr=False)
    replicas: Int32s = field(repr=False)
    in_sync: Bools = field(repr=False)
    leaders: Int32s = field(repr=False)
    size_bytes: Int64s = field(repr=False)
    ingress_bytes_per_s: Float64s | None = field(repr=False)
    min_isr: Int32s = field(repr=False)

    @classmethod
    def of(cls, cluster: Cluster) -> "PartitionTable":
        """Stack the topics of a cluster. Complexity: O(replicas · factor)."""
        listed = {broker.id for broker in cluster.brokers}
        brokers = BrokerArrays.of(cluster.known_brokers)
        rows = [len(topic.partition_ids) for topic in cluster.topics]
        replicas = stacked([topic.replicas for topic in cluster.topics])
        replicas = widened(replicas, max(1, replicas.shape[1]))  # each list has a first place, also without topics
        out_of_sync = not_among(replicas, stacked([topic.isr for topic in cluster.topics]))
        rates = [
            np.zeros(count) if topic.ingress_bytes_per_s is None else np.nan_to_num(topic.ingress_bytes_per_s)
            for topic, count in zip(cluster.topics, rows, strict=True)
        ]
        has_rates = any(topic.ingress_bytes_per_s is not None for topic in cluster.topics)
        sizes = np.concatenate([np.zeros(0, np.int64), *(topic.size_bytes for topic in cluster.topics)])
        leading = np.concatenate([np.zeros(0, np.int32), *(topic.leaders for topic in cluster.topics)])
        leaders = positions_of(leading, brokers.ids)
        return cls(
            brokers=brokers,
            is_listed=np.array([broker in listed for broker in brokers.ids.tolist()], np.bool_),
            topics=tuple(topic.name for topic in cluster.topics),
            starts=np.concatenate([[0], np.cumsum(rows, dtype=np.int64)]).astype(np.int64),
            partition_ids=np.concatenate([np.zeros(0, np.int32), *(topic.partition_ids for topic in cluster.topics)]),
            replicas=positions_of(replicas, brokers.ids),
            in_sync=(replicas != NO_REPLICA) & ~out_of_sync,
            leaders=np.where(leaders == len(brokers.ids), NO_LEADER, leaders).astype(np.int32),
            size_bytes=np.where(sizes == UNKNOWN_SIZE, 0, sizes).astype(np.int64),
            ingress_bytes_per_s=np.concatenate([np.zeros(0), *rates]) if has_rates else None,
            min_isr=min_isr_of_rows(cluster),
        )

    def states(self, rows: slice = slice(None)) -> ReplicaStates:
        """The replicas of some rows as a loss meets them: those in sync, and the one that leads."""
        replicas, leaders = self.replicas[rows], self.leaders[rows, None]
        leads = (replicas == leaders) & (leaders != NO_LEADER)
        column = np.where(leads.any(axis=1), leads.argmax(axis=1), NO_LEADER).astype(np.int32)
        in_sync = np.ascontiguousarray(self.in_sync[rows])
        return ReplicaStates(np.ascontiguousarray(replicas), in_sync, column, self.min_isr[rows])

    def rows_of(self, topic: str) -> slice:
        """The rows of a topic, or all rows if the cluster has no topic of this name."""
        if topic not in self.topics:
            return slice(0, len(self.partition_ids))
        index = self.topics.index(topic)
        return slice(int(self.starts[index]), int(self.starts[index + 1]))

    def lost(self, ids: Iterable[int] = (), racks: Iterable[str] = ()) -> Bools:
        """(brokers,) bool: the brokers with these ids or in these racks."""
        rack_ids = [index for index, rack in enumerate(self.brokers.racks) if rack in set(racks)]
        is_lost = np.isin(self.brokers.rack_of, rack_ids)
        return np.asarray(is_lost | np.isin(self.brokers.ids, list(ids)), np.bool_)

    def loads(self, lost: Bools, rows: slice = slice(None)) -> BrokerLoads:
        """Loads of brokers once some are lost.

        A partition whose leader is lost is led by the first in-sync replica of its list that is left, as a controller
        without unclean elections elects it.

        Parameters
        ----------
        lost : (brokers,) bool. rows : the partitions that count.
        """
        replicas, size_bytes, before = self.replicas[rows], self.size_bytes[rows], self.leaders[rows]
        is_left = ~np.append(lost, True)[replicas]  # the padding is -1, which indexes the last entry
        may_lead = is_left & self.in_sync[rows]
        first = np.take_along_axis(replicas, may_lead.argmax(axis=1)[:, None], axis=1)[:, 0]
        stays = (before != NO_LEADER) & ~np.append(lost, True)[before]
        leaders = np.where(stays, before, np.where(may_lead.any(axis=1), first, NO_LEADER)).astype(np.int32)
        # A partition without a leader before has none after: why is unknown.
        leaders[before == NO_LEADER] = NO_LEADER
        left = np.where(is_left, replicas, np.int32(NO_REPLICA))
        count = len(self.brokers.ids)
        rates = self.ingress_bytes_per_s
        return BrokerLoads(
            replicas=per_broker(left, count),
            leaders=per_broker(leaders[:, None], count),
            bytes=per_broker(left, count, size_bytes),
            ingress_bytes_per_s=None if rates is None else per_broker(left, count, np.rint(rates[rows])).astype(float),
            offline=leaders == NO_LEADER,
        )

    def topics_on(self, broker: int, most: int) -> list[tuple[str, int]]:
        """The topics with most replicas on the broker at a position, and how many."""
        counted = self.counts_by_topic((self.replicas == broker).any(axis=1))
        return sorted(counted, key=lambda of_topic: -of_topic[1])[:most]

    def counts_by_topic(self, mask: Bools) -> list[tuple[str, int]]:
        """How many rows of a (rows,) mask each topic has, of those that have any."""
        up_to = np.concatenate([[0], np.cumsum(mask)])
        counts = up_to[self.starts[1:]] - up_to[self.starts[:-1]]
        return [(self.topics[index], int(counts[index])) for index in np.flatnonzero(counts).tolist()]


def min_isr_of_rows(cluster: Cluster) -> Int32s:
    """(rows,) int32 `min.insync.replicas` of each partition, topic after topic; 0 if unknown."""
    least = np.array([topic.min_insync_replicas or 0 for topic in cluster.topics], np.int32)
    return np.repeat(least, [len(topic.partition_ids) for topic in cluster.topics])


def log_dir_losses(cluster: Cluster, table: PartitionTable) -> Mapping[int, Mapping[str, LossCounts]] | None:
    """By broker id and path the loss of each log directory alone; None if no broker's directories are known.

    Replicas in unknown directories are lost with none. Complexity: as of `ReplicaStates.counts`.
    """
    if not cluster.log_dirs:
        return None
    number_of = [len(cluster.log_dirs.get(broker, ())) for broker in table.brokers.ids.tolist()]
    first = np.concatenate([[0], np.cumsum(number_of)]).astype(np.int32)
    of_topics = [
        np.full(topic.replicas.shape, NO_LOG_DIR, np.int32) if topic.log_dirs is None else topic.log_dirs
        for topic in cluster.topics
    ]
    directories = widened(stacked(of_topics), table.replicas.shape[1])
    is_known = directories != NO_LOG_DIR
    groups = np.where(is_known, first[table.replicas] + directories, np.int32(NO_LOG_DIR))
    counts = table.states().counts(groups, int(first[-1]))
    records = loss_counts(counts, is_known=bool(table.min_isr.any()))
    return {
        broker: dict(zip([each.path for each in cluster.log_dirs[broker]], records[start:], strict=False))
        for broker, start in zip(table.brokers.ids.tolist(), first.tolist(), strict=False)
        if broker in cluster.log_dirs
    }
