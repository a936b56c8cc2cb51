"""The cost of losing each log directory: a disk fails while its broker stays up."""

from collections.abc import Mapping

import numpy as np

from app.core.measures.losses import LossCounts, loss_counts
from app.core.measures.partition_table import PartitionTable
from app.core.model import NO_LOG_DIR, Cluster, Int32s
from app.core.replica_lists import stacked, widened


def log_dir_losses(cluster: Cluster, table: PartitionTable) -> Mapping[int, Mapping[str, LossCounts]] | None:
    """By broker id and path the loss of each log directory alone; None if no broker's directories are known.

    Replicas in unknown directories are lost with none. Complexity: as of `ReplicaStates.counts`.
    """
    if not cluster.log_dirs:
        return None
    number_of = [len(cluster.log_dirs.get(broker, ())) for broker in table.brokers.ids.tolist()]
    first = np.concatenate([[0], np.cumsum(number_of)]).astype(np.int32)
    directories = stacked([_unknown_as_none(topic.log_dirs, topic.replicas) for topic in cluster.topics])
    directories = widened(directories, table.replicas.shape[1])
    is_known = directories != NO_LOG_DIR
    groups = np.where(is_known, first[table.replicas] + directories, np.int32(NO_LOG_DIR))
    counts = table.states().counts(groups, int(first[-1]))
    records = loss_counts(counts, is_known=bool(table.min_isr.any()))
    return {
        broker: dict(zip([each.path for each in cluster.log_dirs[broker]], records[start:], strict=False))
        for broker, start in zip(table.brokers.ids.tolist(), first.tolist(), strict=False)
        if broker in cluster.log_dirs
    }


def _unknown_as_none(log_dirs: Int32s | None, replicas: Int32s) -> Int32s:
    return np.full(replicas.shape, NO_LOG_DIR, np.int32) if log_dirs is None else log_dirs
