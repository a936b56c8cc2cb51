"""A later state of a cluster from texts that have its topics alone."""

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from app.core.model import UNKNOWN_SIZE, Cluster, Topic
from app.services.limits import Limits
from app.services.snapshots.cautions import of_assembly
from app.services.snapshots.records import load, newest, store
from app.store.records import Snapshot

if TYPE_CHECKING:
    from app.formats.snapshots.assembly import Assembled
    from app.store.database import UnitOfWork


def store_later(uow: "UnitOfWork", assembled: "Assembled", limits: Limits) -> Snapshot:
    """Store what texts of a cluster report now as its newest snapshot.

    If they list no brokers, as `kafka-topics --describe` alone does not, brokers with racks and capacities, cordons,
    release, topics and groups that they lack are those of the newest snapshot, and so are sizes of partitions. Raises
    `SnapshotNotFound` if there is none.
    """
    _, before = load(uow, newest(uow, assembled.cluster.name).id)
    cluster = _completed(assembled.cluster, before)
    # What the texts lack is not missing any longer, so that the cautions about it are left out.
    cautions = of_assembly(assembled) if cluster is assembled.cluster else ()
    return store(uow, cluster, limits, cautions=cautions)


def _completed(now: Cluster, before: Cluster) -> Cluster:
    if any(broker.rack is not None or broker.fenced for broker in now.brokers):
        return now
    known = {broker.id for broker in before.brokers}
    topics = {topic.name: topic for topic in before.topics}
    groups = {group.group_id: group for group in (*before.groups, *now.groups)}
    return replace(
        before,
        brokers=(*before.brokers, *(broker for broker in now.brokers if broker.id not in known)),
        topics=tuple(_sized(topic, topics.get(topic.name)) for topic in now.topics) or before.topics,
        log_dirs=now.log_dirs or before.log_dirs,
        groups=tuple(groups[name] for name in sorted(groups)),
    )


def _sized(topic: Topic, before: Topic | None) -> Topic:
    """The topic with the sizes that its partitions had before, where the texts have none."""
    if before is None:
        return topic
    sizes = dict(zip(before.partition_ids.tolist(), before.size_bytes.tolist(), strict=True))
    earlier = np.array([sizes.get(partition, UNKNOWN_SIZE) for partition in topic.partition_ids.tolist()], np.int64)
    return replace(topic, size_bytes=np.where(topic.size_bytes == UNKNOWN_SIZE, earlier, topic.size_bytes))
