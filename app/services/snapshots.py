"""Keep a cluster as it was, and find it again."""

from collections.abc import Sequence
from hashlib import sha256
from uuid import UUID

from app.core.model import Broker, Cluster
from app.errors import DuplicateBroker, DuplicateTopic, SnapshotChanged
from app.formats import snapshot_json
from app.services.cautions import Caution
from app.services.limits import Limits
from app.store.database import UnitOfWork
from app.store.snapshots import Snapshot


def keep(
    uow: UnitOfWork,
    cluster: Cluster,
    limits: Limits,
    *,
    cautions: Sequence[Caution] = (),
    snapshot_id: UUID | None = None,
) -> Snapshot:
    """Keep a cluster as it was. The same state of the same cluster is one snapshot, however often it is seen.

    Raises `DuplicateBroker`, `DuplicateTopic`, `LimitExceeded`.
    """
    check_brokers(cluster.brokers, limits)
    topics = [topic.name for topic in cluster.topics]
    if (twice := first_repeated(topics)) is not None:
        raise DuplicateTopic(
            f"topic {topics[twice]} is listed twice", path=("topics", twice, "name"), value=topics[twice]
        )
    document = snapshot_json.write(cluster)
    return uow.snapshots.keep(
        snapshot_id=snapshot_id,
        cluster=cluster.name,
        content_hash=sha256(document).hexdigest(),
        document=document,
        summary={
            "brokers": len(cluster.brokers),
            "racks": len({broker.rack for broker in cluster.brokers if broker.rack is not None}),
            "topics": len(cluster.topics),
            "partitions": sum(len(topic.partition_ids) for topic in cluster.topics),
            "warnings": [caution.as_json() for caution in (*_cautions(cluster), *cautions)],
        },
    )


def load(uow: UnitOfWork, snapshot_id: UUID) -> tuple[Snapshot, Cluster]:
    """A snapshot and the cluster that it holds, or `SnapshotNotFound`."""
    return uow.snapshots.get(snapshot_id), snapshot_json.read(uow.snapshots.document(snapshot_id))


def is_fresh(uow: UnitOfWork, snapshot: Snapshot) -> bool:
    """Whether the cluster was last seen in the state of this snapshot."""
    newest = uow.snapshots.newest(snapshot.cluster)
    return newest is not None and newest.id == snapshot.id


def require_unchanged(uow: UnitOfWork, cluster: str, content_hashes: Sequence[str]) -> None:
    """Raise `SnapshotChanged` unless the cluster was last seen in one of these states."""
    newest = uow.snapshots.newest(cluster)
    if newest is None or newest.content_hash not in content_hashes:
        seen = None if newest is None else newest.content_hash
        raise SnapshotChanged(
            f"cluster {cluster} was last seen as {seen}; If-Match names {', '.join(content_hashes) or 'nothing'}",
            cluster=cluster,
            content_hash=seen,
        )


def check_brokers(brokers: Sequence[Broker], limits: Limits) -> None:
    """Raise `DuplicateBroker` or `LimitExceeded` where the list of brokers cannot be."""
    limits.check_count("brokers", brokers, path=("brokers",))
    ids = [broker.id for broker in brokers]
    if (twice := first_repeated(ids)) is not None:
        raise DuplicateBroker(f"broker {ids[twice]} is listed twice", path=("brokers", twice, "id"), value=ids[twice])


def first_repeated(values: Sequence[int] | Sequence[str]) -> int | None:
    """The index of the first value that was there before, or None."""
    seen = set()
    for index, value in enumerate(values):
        if value in seen:
            return index
        seen.add(value)
    return None


def _cautions(cluster: Cluster) -> list[Caution]:
    listed = {broker.id for broker in cluster.brokers}
    without_rack = tuple(sorted(broker.id for broker in cluster.brokers if broker.rack is None))
    unlisted = tuple(broker for broker in cluster.replica_holders().tolist() if broker not in listed)
    found = []
    if without_rack:
        found.append(
            Caution(
                "brokers_without_rack",
                f"{len(without_rack)} of {len(listed)} brokers have no rack; "
                + (
                    "no placement can be rack-aware"
                    if len(without_rack) == len(listed)
                    else "enforced mode refuses them"
                ),
                without_rack,
            )
        )
    if unlisted:
        found.append(
            Caution(
                "unlisted_brokers",
                f"{len(unlisted)} brokers hold replicas and are not listed, as when they are down; "
                "nothing new is placed on them",
                unlisted,
            )
        )
    return found
