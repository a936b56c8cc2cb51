"""`rackplan snapshot`: a running cluster as it is now, read with an admin client.

It reads and never changes anything: the brokers, the partitions of every topic and their configurations, reassignments
in progress, the log directories and the features of the brokers, and groups. It needs the permission `Describe` on the
cluster, on the topics and on the groups, and `DescribeConfigs` on the topics.

This module needs the extra `kafka`.
"""

from base64 import urlsafe_b64encode
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import filterfalse
from typing import Any, TypeAlias, TypeVar
from uuid import UUID

import numpy as np
from kafka.admin import ConfigResource
from kafka.errors import ClusterAuthorizationFailedError, IncompatibleBrokerVersion, RetriableError, for_code

from app.cli.live_client import CLIENT_ERRORS, AdminClient, connected, one_line, within
from app.cli.live_groups import groups
from app.core.kafka_versions import last_supported
from app.core.model import NO_REPLICA, UNKNOWN_SIZE, Broker, Cluster, Topic, padded
from app.errors.machine import ClusterUnreachable
from app.formats.clusters.broker_features import METADATA_VERSION, BrokerReleases, of_features, release_of_level
from app.formats.clusters.log_dirs import BrokerLogDirs, LogDir, LogDirReplica, LogDirs, cordons, sizes, with_log_dirs
from app.formats.clusters.stated_configs import RECORDED, recorded
from app.services.snapshots import of_releases

Members: TypeAlias = Mapping[str, Any]
Moves: TypeAlias = Mapping[tuple[str, int], Members]
"""Reassignments in progress, by topic and partition: `replicas`, `adding_replicas` and `removing_replicas`."""

T = TypeVar("T")

_MAX_BROKERS_TRIED = 5


@dataclass(frozen=True, slots=True)
class LiveSnapshot:
    """A cluster as it is now. `cautions`: the parts that could not be read, a sentence each."""

    cluster: Cluster
    cautions: tuple[str, ...] = ()


def take(bootstrap: str, *, name: str | None, properties: Mapping[str, object], timeout_s: float) -> LiveSnapshot:
    """Read a running cluster.

    Parameters
    ----------
    bootstrap : `host:port`, several separated by commas, tried in this order.
    name : the cluster's; Kafka's own cluster id if None.
    properties : of the client, as `live_client.properties` gives them.
    timeout_s : the timeout of the whole call, in seconds.

    Raises
    ------
    ClusterUnreachable
        No server answers like a Kafka broker, the cluster rejects the client, or the timeout is over; has the reason.
    ConflictingFields
        `bootstrap` is not `host:port`.
    """

    def read() -> LiveSnapshot:
        with connected(bootstrap, properties, timeout_s=timeout_s) as admin:
            return _read(admin, name)

    return within(timeout_s, read)


def _read(admin: AdminClient, name: str | None) -> LiveSnapshot:
    cautions: list[str] = []
    described: Members = _answer_of_any_broker("the brokers", admin.describe_cluster)
    brokers = sorted(map(_broker, described["brokers"]), key=lambda broker: broker.id)
    # Topics and reassignments come in two answers. A reassignment that ends or begins between them would leave
    # replicas that look settled and are not, so the reassignments are read on both sides.
    before = _moves(admin, cautions)
    listed: list[Members] = _answer_of_any_broker("the topics", admin.describe_topics)
    moves = {**before, **_moves(admin, cautions)}
    readable = list(filter(_is_readable, listed))
    cautions += map(_left_out, filterfalse(_is_readable, listed))
    topics = [_topic(topic, moves) for topic in sorted(readable, key=lambda topic: str(topic["name"]))]
    topics = _configured(admin, topics, cautions)
    live = [broker.id for broker in brokers if not broker.fenced]
    disks = _log_dirs(admin, live, topics, cautions)
    releases = _releases(admin, cautions)
    says_fenced = any("is_fenced" in broker for broker in described["brokers"])
    directories, sized = with_log_dirs(list(_sized(topics, disks)), disks)
    cluster = Cluster(
        name=name or described["cluster_id"] or "live",
        brokers=tuple(brokers),
        topics=sized,
        groups=groups(admin, live, [topic.name for topic in sized], cautions),
        cordons=cordons(disks),
        kafka_version=None if releases is None else last_supported(releases.releases),
        # Brokers under ZooKeeper have no metadata.version, and only Kafka 4 says which brokers are fenced.
        reported_controller="kraft" if releases is not None or says_fenced else None,
        log_dirs=directories,
    )
    return LiveSnapshot(cluster, tuple(dict.fromkeys(cautions)))


def _answer_of_any_broker(what: str, request: Callable[[], T], *, brokers: int = _MAX_BROKERS_TRIED) -> T:
    """The answer of any broker. The client draws a broker, and none twice that does not answer."""
    try:
        return request()
    except CLIENT_ERRORS as failed:
        if brokers > 1 and isinstance(failed, RetriableError):
            return _answer_of_any_broker(what, request, brokers=brokers - 1)
        raise ClusterUnreachable(f"{what} could not be read: {one_line(failed)}") from None


def _releases(admin: AdminClient, cautions: list[str]) -> BrokerReleases | None:
    """The release of the brokers by their features; None if they have no `metadata.version`, as under ZooKeeper."""

    def described() -> Mapping[str, Members]:
        try:
            features: Mapping[str, Members] = admin.describe_features()
        except IncompatibleBrokerVersion:  # before 2.4
            return {}
        return features

    try:
        features = _answer_of_any_broker("the features of the brokers", described)
    except ClusterUnreachable as failed:
        cautions.append(f"the release of Kafka is unknown: {failed.detail}")
        return None
    levels = features.get(METADATA_VERSION, {})
    if "supported" not in levels:
        return None
    finalized = levels.get("finalized", (0, 0))[1]
    reported = of_features(release_of_level(levels["supported"][1]), release_of_level(finalized))
    cautions += [caution.detail for caution in of_releases(reported)]
    return reported


def _broker(members: Members) -> Broker:
    # Only Kafka 4.0 and later list fenced brokers; older versions leave them out.
    return Broker(members["broker_id"], members["rack"], bool(members.get("is_fenced")))


def _is_readable(topic: Members) -> bool:
    return bool(topic["partitions"]) or not topic["error_code"]


def _left_out(topic: Members) -> str:
    return (
        f"topic {topic['name']} is left out, its partitions could not be read: {for_code(topic['error_code']).__name__}"
    )


def _moves(admin: AdminClient, cautions: list[str]) -> Moves:
    """The reassignments in progress; a caution if the cluster does not list them."""
    try:
        listed: Mapping[tuple[str, int], Members] = admin.list_partition_reassignments()
    except (IncompatibleBrokerVersion, ClusterAuthorizationFailedError) as failure:
        cautions.append(f"the cluster does not list reassignments in progress: {type(failure).__name__}")
        return {}
    except CLIENT_ERRORS as failed:
        raise ClusterUnreachable(f"reassignments in progress could not be read: {one_line(failed)}") from None
    return {(topic, partition): members for (topic, partition), members in listed.items()}


def _topic(members: Members, moves: Moves) -> Topic:
    """The topic, without sizes. The replicas of a partition in a reassignment come from that answer."""
    name = members["name"]
    partitions = sorted(members["partitions"], key=lambda partition: int(partition["partition_index"]))
    moving = [moves.get((name, partition["partition_index"]), {}) for partition in partitions]
    return Topic(
        name=name,
        partition_ids=np.array([partition["partition_index"] for partition in partitions], np.int32),
        replicas=padded([m.get("replicas", p["replica_nodes"]) for p, m in zip(partitions, moving, strict=True)]),
        leaders=np.array([partition["leader_id"] for partition in partitions], np.int32),
        isr=padded([partition["isr_nodes"] for partition in partitions]),
        adding=padded([move.get("adding_replicas", ()) for move in moving]),
        removing=padded([move.get("removing_replicas", ()) for move in moving]),
        size_bytes=np.full(len(partitions), UNKNOWN_SIZE, np.int64),
        topic_id=_topic_id(members),
    )


def _configured(admin: AdminClient, topics: Sequence[Topic], cautions: list[str]) -> list[Topic]:
    """The topics with their configurations, defaults included; a caution if they could not be read."""
    requested = [ConfigResource("topic", topic.name, dict.fromkeys(sorted(RECORDED))) for topic in topics]
    if not requested:
        return []
    try:
        answer: Mapping[str, Mapping[str, Mapping[str, Members]]] = _answer_of_any_broker(
            "the configurations of topics", lambda: admin.describe_configs(requested, config_filter="all")
        )
    except ClusterUnreachable as failed:
        cautions.append(failed.detail)
        return list(topics)
    stated = answer["topic"]
    if unknown := [topic.name for topic in topics if not stated.get(topic.name)]:
        cautions.append(f"the configurations of {len(unknown)} topics could not be read, of {unknown[0]} first")
    return [
        replace(topic, configs=recorded((name, str(of["value"])) for name, of in stated.get(topic.name, {}).items()))
        for topic in topics
    ]


def _topic_id(members: Members) -> str | None:
    """The topic's id as Kafka's tools print it; the client has it as a UUID, and none from a broker before 2.8."""
    uuid = UUID(str(members.get("topic_id") or UUID(int=0)))
    return urlsafe_b64encode(uuid.bytes).decode().removesuffix("==") if uuid.int else None


def _log_dirs(admin: AdminClient, brokers: Iterable[int], topics: Sequence[Topic], cautions: list[str]) -> LogDirs:
    """The log directories of each broker; a caution names the brokers that did not return them."""
    partitions_by_broker = _partitions_by_broker(topics)
    answers: list[BrokerLogDirs] = []
    silent: list[str] = []
    for broker in brokers:
        if broker not in partitions_by_broker:
            continue
        try:
            answer: list[Members] = admin.describe_log_dirs(partitions_by_broker[broker], brokers=[broker])
        except CLIENT_ERRORS as failed:
            silent.append(f"{broker} ({one_line(failed)})")
            continue
        log_dirs = answer[0]["log_dirs"]
        if not log_dirs:
            # Every broker has a log directory. None is the answer to a principal that may not see them.
            silent.append(f"{broker} (it names no log directory)")
        answers.append(BrokerLogDirs(broker, tuple(map(_log_dir, log_dirs))))
    if silent:
        cautions.append(f"sizes are without the brokers that did not return their log directories: {', '.join(silent)}")
    return LogDirs(tuple(answers))


def _partitions_by_broker(topics: Sequence[Topic]) -> Mapping[int, Mapping[str, list[int]]]:
    """Partitions by broker and topic, so that a broker is asked only for its own."""
    by_broker: dict[int, dict[str, list[int]]] = defaultdict(dict)
    for topic in topics:
        for broker in np.unique(topic.replicas).tolist():
            if broker != NO_REPLICA:
                by_broker[broker][topic.name] = topic.partition_ids[(topic.replicas == broker).any(axis=1)].tolist()
    return by_broker


def _log_dir(members: Members) -> LogDir:
    return LogDir(
        path=members["log_dir"],
        replicas=tuple(
            [
                LogDirReplica(
                    topic=topic["name"],
                    partition=partition["partition_index"],
                    size_bytes=partition["partition_size"],
                    is_future=partition["is_future_key"],
                )
                for topic in members["topics"]
                for partition in topic["partitions"]
            ]
        ),
        error=for_code(members["error_code"]).__name__ if members["error_code"] else None,
        # Brokers before 4.3 do not return it.
        cordoned=members.get("is_cordoned"),
        # Before 3.3 they are not returned; a broker that does not know them returns −1.
        total_bytes=_space(members, "total_bytes"),
        usable_bytes=_space(members, "usable_bytes"),
    )


def _space(members: Members, name: str) -> int | None:
    value = members.get(name)
    return value if isinstance(value, int) and value >= 0 else None


def _sized(topics: Iterable[Topic], disks: LogDirs) -> Iterable[Topic]:
    largest = sizes(disks)
    for topic in topics:
        size_bytes = [largest.get((topic.name, partition), UNKNOWN_SIZE) for partition in topic.partition_ids.tolist()]
        yield replace(topic, size_bytes=np.array(size_bytes, np.int64))
