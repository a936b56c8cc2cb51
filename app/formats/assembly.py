"""A cluster from what the Kafka tools print about it: brokers, topics, sizes and consumer groups joined.

Each text is what one tool printed; whichever are there are used.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace

import numpy as np

from app.core.kafka_versions import last_supported
from app.core.model import NO_REPLICA, UNKNOWN_SIZE, Broker, Cluster, Topic
from app.errors.texts import MalformedText
from app.formats import broker_features, broker_lists, group_texts, log_dirs, recorded_groups, topic_describe
from app.formats.broker_features import BrokerReleases
from app.formats.lines import rejection
from app.formats.log_dirs import LogDirs
from app.formats.recorded_groups import JoinedGroups


@dataclass(frozen=True, slots=True)
class Assembled:
    """A cluster, what the log directories hold beyond it, and how its groups were joined.

    Parameters
    ----------
    partitions_without_topic : topic and partition, ascending, of replicas on disk that no topic text describes:
        of topics that are being deleted, or that the describe command left out.
    joined : the cluster's groups, with what could not be joined and what was read as an older version.
    releases : of Kafka, as the brokers report them; None if no text has them.
    """

    cluster: Cluster
    partitions_without_topic: tuple[tuple[str, int], ...] = ()
    joined: JoinedGroups = field(default_factory=JoinedGroups)
    releases: BrokerReleases | None = None


def assemble(
    name: str,
    *,
    brokers_text: str | None = None,
    topics_text: str | None = None,
    log_dirs_text: str | None = None,
    groups_text: str | None = None,
    features_text: str | None = None,
) -> Assembled:
    """Join the texts into one cluster.

    Parameters
    ----------
    name : the cluster's.
    brokers_text : printed by `kafka-broker-api-versions`, ZooKeeper registrations, or bytes of Kafka's protocol as
        text (broker_lists.py). Without it the brokers are those that have a replica, are in sync or have log
        directories, all without a rack.
    topics_text : printed by `kafka-topics --describe`. Without it the cluster has no topics.
    log_dirs_text : printed by `kafka-log-dirs --describe`. A partition that is not in it has an unknown size.
    groups_text : printed by `kafka-consumer-groups`, `kafka-share-groups` or `kafka-streams-groups --describe`, in any
        of their forms one after another, or described by an admin client as JSON. Without it the cluster has no groups.
    features_text : printed by `kafka-features describe`, or lines of a broker's log. Without it the release of Kafka is
        unknown.

    Raises
    ------
    MalformedText
        A text cannot be read, or there is none; names the line, and as its path the part: `brokers`, `topics`,
        `log_dirs`, `groups` or `features`.
    """
    if all(text is None for text in (brokers_text, topics_text, log_dirs_text, groups_text, features_text)):
        raise rejection(None, expected="the text of at least one Kafka tool", actual="none")
    with _named("topics"):
        described = topic_describe.topics(topic_describe.read(topics_text)) if topics_text is not None else ()
    with _named("log_dirs"):
        disks = log_dirs.read(log_dirs_text) if log_dirs_text is not None else LogDirs(())
    with _named("brokers"):
        listed = broker_lists.read(brokers_text) if brokers_text is not None else None
    with _named("groups"):
        joined = recorded_groups.join(group_texts.read(groups_text or ""))
    with _named("features"):
        releases = broker_features.read(features_text) if features_text is not None else None
    brokers = _seen(described, disks) if listed is None else listed
    sizes = dict(log_dirs.sizes(disks))
    topics = tuple([_sized(topic, sizes) for topic in described])
    cordons = log_dirs.cordons(disks)
    cordons = {broker.id: cordons[broker.id] for broker in brokers if broker.id in cordons}
    version = None if releases is None else last_supported(releases.releases)
    cluster = Cluster(name, brokers, topics, joined.groups, cordons, version)
    return Assembled(cluster, tuple(sorted(sizes)), joined, releases)


@contextmanager
def _named(part: str) -> Iterator[None]:
    """Name the text in its rejection."""
    try:
        yield
    except MalformedText as rejected:
        rejected.path = (part,)
        raise


def _seen(topics: Sequence[Topic], disks: LogDirs) -> tuple[Broker, ...]:
    ids = {broker.broker for broker in disks.brokers}
    for topic in topics:
        ids.update(np.unique(topic.replicas).tolist(), np.unique(topic.isr).tolist())
    return tuple([Broker(broker) for broker in sorted(ids - {NO_REPLICA})])


def _sized(topic: Topic, sizes: dict[tuple[str, int], int]) -> Topic:
    """The topic with its partitions' sizes, which are taken out of `sizes`."""
    size_bytes = [sizes.pop((topic.name, partition), UNKNOWN_SIZE) for partition in topic.partition_ids.tolist()]
    return replace(topic, size_bytes=np.array(size_bytes, dtype=np.int64))
