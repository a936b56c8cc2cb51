"""A cluster from what the Kafka tools print about it: brokers, topics, sizes and consumer groups joined.

Whichever texts are there are used.
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from itertools import chain
from typing import TypeVar

import numpy as np

from app.core.kafka_versions import last_supported
from app.core.model import NO_REPLICA, UNKNOWN_SIZE, Broker, BrokerCapacity, Cluster, Topic
from app.errors.requests import MalformedText
from app.formats.clusters import broker_features, broker_lists, log_dirs, stated_configs, topic_describe
from app.formats.clusters.broker_features import BrokerReleases
from app.formats.clusters.log_dirs import LogDirs, with_log_dirs
from app.formats.clusters.stated_configs import Configs
from app.formats.clusters.topic_describe import TopicDescription
from app.formats.groups import group_texts, recorded_groups
from app.formats.groups.recorded_groups import JoinedGroups
from app.formats.snapshots import pasted, unrecognized
from app.formats.snapshots.pasted import Pasted, Place, Upload
from app.formats.snapshots.plain_names import require_plain_names
from app.formats.sources import deciders, msk_nodes
from app.formats.sources.contents import Contents, Note, contents_of_all, moving, odd_named
from app.formats.sources.sources import SOURCES
from app.formats.syntax.documents import parsed_once
from app.formats.syntax.garbage import uncollected
from app.formats.syntax.lines import numbered, rejection, shown
from app.formats.syntax.quantities import counted

Read = TypeVar("Read")
_REPLICA_ROW = re.compile(r'^[ \t]*(?:- )?(?:\d{1,10}|\{[^{}\n]{1,1000}\}),?[ \t\r]*$|"is_leader":', re.MULTILINE)
"""A broker's id, or a flat object, on a line of its own; or a replica that is an object."""


_REJOINED = Note("prefix_removed", "lines were joined that a terminal wrapped, or rows divided that a shell joined")
_BESIDE = ("capacities", "size_bytes", "ingress_bytes_per_s", "moves", "topic_configs", "default_configs")
"""Contents about brokers and topics that others list."""


@dataclass(frozen=True, slots=True)
class Assembled:
    """A cluster, what the log directories hold beyond it, and how its groups were joined.

    Parameters
    ----------
    partitions_without_topic : topic and partition, ascending, of replicas on disk that no topic text describes:
        of topics that are being deleted, or that the describe command left out.
    joined : the cluster's groups, with what could not be joined and what was read as an older version.
    releases : of Kafka, as the brokers report them; None if no text has them.
    skipped : the lines of the texts that no tool printed as part of its answer.
    notes : what the texts of other tools lack, or what was assumed of them.
    """

    cluster: Cluster
    partitions_without_topic: tuple[tuple[str, int], ...] = ()
    joined: JoinedGroups = field(default_factory=JoinedGroups)
    releases: BrokerReleases | None = None
    skipped: tuple[Place, ...] = ()
    notes: tuple[Note, ...] = ()

    @property
    def unknown(self) -> tuple[Place, ...]:
        """The skipped lines that are neither of a log nor of a shell."""
        return tuple([place for place in self.skipped if place.unknown])

    @property
    def unknown_characters(self) -> int:
        """How much of the texts is unknown: unknown lines that are only joined are no fewer."""
        return sum(len(place.unknown) for place in self.skipped)


def assemble(name: str, uploads: Sequence[Upload]) -> Assembled:
    """Join the texts into one cluster.

    Each is recognized by its contents (pasted.py), whatever its name and however many tools' output it has:

    brokers : printed by `kafka-broker-api-versions` or `kafka-cluster`, ZooKeeper registrations, or bytes of Kafka's
        protocol as text (broker_lists.py). Without it the brokers are those that have a replica, are in sync or have
        log directories, all without a rack.
    topics : printed by `kafka-topics --describe`. Without it the cluster has no topics.
    log_dirs : printed by `kafka-log-dirs --describe`, or by `kafka-configs --describe`. A partition that is not in it
        has an unknown size, a configuration that no text has is unknown.
    groups : printed by `kafka-consumer-groups`, `kafka-share-groups` or `kafka-streams-groups --describe`, in any
        of their forms one after another, or described by an admin client as JSON. Without it the cluster has no groups.
    features : printed by `kafka-features describe`, or lines of a broker's log in an upload of this name. Without it
        the release of Kafka is that which a tool has logged before its output, else unknown.
    other tools : sources.py. What Kafka's own tools say of a broker or topic counts more.

    Texts that cannot be read as they are, or have unknown lines, are read with lines joined that a terminal wrapped.

    Parameters
    ----------
    name : the cluster's.

    Raises
    ------
    MalformedText
        A text cannot be read, there is none, or a name has a control character; names the line, and as its path the
        upload's part of the form, else `brokers`, `topics`, `log_dirs`, `groups` or `features`.
    """
    if not uploads:
        raise rejection(None, expected="the text of at least one Kafka tool", actual="none")
    best: Assembled | None = None
    rejections: list[MalformedText] = []
    for number, reading in enumerate(pasted.readings(uploads)):
        try:
            with parsed_once(), uncollected():
                found = _assembled(name, pasted.read(reading))
                found = replace(found, notes=(*found.notes, *([_REJOINED] if number else [])))
        except MalformedText as malformed:
            rejections.append(malformed)
            continue
        if best is None or found.unknown_characters < best.unknown_characters:
            best = found
        if not best.unknown:
            break
    if best is None:
        raise rejections[0]
    return best


def _assembled(name: str, texts: Pasted) -> Assembled:
    contents = list(_contents(texts))
    disks = _read(texts, "log_dirs", texts.log_dirs, log_dirs.read) or LogDirs(())
    joined = _read(texts, "groups", texts.groups, _joined) or JoinedGroups()
    features = _read(texts, "features", texts.features, broker_features.read)
    of_disks = Contents(
        size_bytes=log_dirs.sizes(disks), topic_configs=disks.configs.topics, default_configs=disks.configs.defaults([])
    )
    found = contents_of_all([*contents, of_disks])
    described = topic_describe.topics(moving(found.topics, found.moves))
    brokers = _with_capacities(found.brokers or _seen(described, disks, found.observers), found.capacities)
    sizes = dict(found.size_bytes)
    releases = _releases(features, found.kafka_version, texts)
    ids = [broker.id for broker in brokers]
    defaults = {**found.default_configs, **disks.configs.defaults(ids)}
    measured = [
        _measured(_sized(_configured(topic, found, defaults), sizes), found.ingress_bytes_per_s) for topic in described
    ]
    directories, topics = with_log_dirs(measured, disks)
    directories, cordons = _only(ids, directories), _only(ids, log_dirs.cordons(disks))
    version = None if releases is None else last_supported(releases.releases)
    controller = found.controller or broker_features.controller([upload.text for upload in texts.uploads], releases)
    cluster = Cluster(name, brokers, topics, joined.groups, cordons, version, controller, directories)
    if not (brokers or topics or joined.groups or texts.features):
        raise _nothing(texts, found, [one.detail for one in joined.undescribed])
    require_plain_names(cluster, texts.uploads)
    notes = (
        *pasted.notes_of_prefixes(texts.uploads),
        *_applying(found, cluster),
        *_without_header(found.topics),
        *_broken_configs(found.topics),
        *([] if joined.odd_name is None else [odd_named(joined.odd_name)]),
        *deciders.of_configs(disks.configs.deciding),
    )
    return Assembled(cluster, tuple(sorted(sizes)), joined, releases, texts.skipped, notes)


def _nothing(texts: Pasted, found: Contents, undescribed: Sequence[str]) -> MalformedText:
    of_tools = f" of {', '.join(texts.sources)}" if texts.sources else ""
    beside = ", ".join([name.replace("_", " ") for name in _BESIDE if getattr(found, name)])
    alone = [f"{beside} alone; add the output of kafka-topics --describe"] if beside else []
    notes = [note.detail for note in found.notes]
    _, hint = unrecognized.first_hint(texts.uploads[0].text)
    reasons = [*alone, *notes, *undescribed] or ["".join(hint.rpartition("this looks like")[1:])]
    actual = ": ".join([f"none in the texts{of_tools}", *reasons])
    parts = {**{part: getattr(texts, part) for part in pasted.PARTS}, **texts.sources}
    part, text = next((part, text) for part, text in parts.items() if text)
    line, _ = next(numbered(text))
    return texts.located(rejection(line, expected="brokers, topics or groups", actual=actual), part)


def _contents(texts: Pasted) -> Iterator[Contents]:
    """What Kafka's own tools say of brokers and topics, then what each other tool says."""
    topics = _read(texts, "topics", texts.topics, topic_describe.read) or ()
    brokers = _read(texts, "brokers", texts.brokers, broker_lists.read) or ()
    found = (_other_factors, _not_in_sync, _changed, _without_elr)
    yield Contents(brokers, topics=topics, notes=tuple(chain.from_iterable(notes(topics) for notes in found)))
    for source, text in texts.sources.items():
        with _located(texts, source):
            contents = SOURCES[source].read(text)
        yield replace(contents, notes=(*contents.notes, *_uneven(contents, text)))


def _other_factors(topics: Sequence[TopicDescription]) -> Iterator[Note]:
    """The first topic none of whose partitions has the replication factor of its header."""
    for topic in topics:
        factors = {len(row.replicas) - moving for row in topic.partitions for moving in (0, len(row.adding))}
        if factors and topic.replication_factor not in factors:
            detail = f"ReplicationFactor of topic {topic.name} is {topic.replication_factor}, that of no partition"
            yield Note("texts_disagree", detail)
            return


def _not_in_sync(topics: Sequence[TopicDescription]) -> Iterator[Note]:
    """The first leader that is a replica and not in sync, as of a row whose end is lost: a leader always is."""
    for topic in topics:
        for row in topic.partitions:
            if row.leader not in row.isr and row.leader in row.replicas:
                detail = f"leader {row.leader} of {topic.name}-{row.partition} is not among its in-sync replicas"
                yield Note("texts_disagree", detail)
                return


def _without_elr(topics: Sequence[TopicDescription]) -> Iterator[Note]:
    """The first topic whose rows have no eligible leader replicas, if those of another topic have them."""
    have = [one.partitions[0].elr is not None for one in topics if one.partitions]
    if True in have and False in have:
        name = [one.name for one in topics if one.partitions][have.index(False)]
        detail = f"rows of topic {name} have no Elr, as of another release of kafka-topics, and those of others have it"
        yield Note("texts_disagree", f"texts differ: {detail}")


def _changed(topics: Sequence[TopicDescription]) -> Iterator[Note]:
    """The first partition that was printed twice, with another state."""
    for topic in topics:
        if topic.changed is not None:
            detail = f"{topic.name}-{topic.changed} has two leaders or sets of in-sync replicas; the last row counts"
            yield Note("texts_disagree", f"texts differ: {detail}")
            return


def _without_header(topics: Sequence[TopicDescription]) -> Iterator[Note]:
    """The topics of which there are rows alone."""
    if parts := [topic.name for topic in topics if not topic.is_whole]:
        detail = "have no header, as --under-replicated-partitions prints them: other partitions and topics are unknown"
        yield Note("rows_may_be_missing", f"rows of {counted(len(parts), 'topic')} ({parts[0]} first) {detail}")


def _broken_configs(topics: Sequence[TopicDescription]) -> Iterator[Note]:
    """The first topic with a configuration that Kafka would not take, as of a line that was cut off or joined."""
    for topic in topics:
        if (broken := stated_configs.invalid(topic.configs)) is not None:
            detail = f"a line of topic {topic.name} may be cut off or joined with another: {shown(broken)} is left out"
            yield Note("rows_may_be_missing", detail)
            return


def _uneven(contents: Contents, text: str) -> Iterator[Note]:
    """A topic whose partitions differ in their numbers of replicas, if a replica is a row, which may be missing."""
    if _REPLICA_ROW.search(text):
        for topic in contents.topics:
            if len({len(row.replicas) for row in topic.partitions}) > 1:
                detail = f"a row of a replica may be missing: partitions of topic {topic.name} differ in their number"
                yield Note("rows_may_be_missing", detail)


def _read(texts: Pasted, part: str, text: str | None, read: Callable[[str], Read]) -> Read | None:
    """The contents of a part of the texts, or None without the part. Raises `MalformedText` with upload and line."""
    with _located(texts, part):
        return None if text is None else read(text)


def _only(ids: Sequence[int], of_brokers: Mapping[int, Read]) -> dict[int, Read]:
    """What there is of these brokers, in their order."""
    return {broker: of_brokers[broker] for broker in ids if broker in of_brokers}


def _joined(text: str) -> JoinedGroups:
    return recorded_groups.join(group_texts.read(text))


@contextmanager
def _located(texts: Pasted, part: str) -> Iterator[None]:
    """Name the upload and its line in the rejection."""
    try:
        yield
    except MalformedText as malformed:
        raise texts.located(malformed, part) from None


def _seen(topics: Sequence[Topic], disks: LogDirs, observers: Sequence[int]) -> tuple[Broker, ...]:
    ids = set(observers) | {broker.broker for broker in disks.brokers}
    for topic in topics:
        ids.update(np.unique(topic.replicas).tolist(), np.unique(topic.isr).tolist())
    return tuple([Broker(broker) for broker in sorted(ids - {NO_REPLICA})])


def _with_capacities(brokers: Sequence[Broker], capacities: Mapping[int | None, BrokerCapacity]) -> tuple[Broker, ...]:
    """The brokers, those without a capacity with that of `capacities`."""
    other = capacities.get(None)
    return tuple([replace(one, capacity=one.capacity or capacities.get(one.id, other)) for one in brokers])


def _applying(found: Contents, cluster: Cluster) -> tuple[Note, ...]:
    """The notes without those that another text made void, and one about reassignments that no topic text shows."""
    racks = {broker.rack for broker in cluster.brokers}
    void = set() if None in racks else {"racks_not_in_source"}
    if not any(rack is not None and rack.startswith(msk_nodes.SUBNET) for rack in racks):
        void.add("racks_assumed")
    moving = {
        (topic.name, partition)
        for topic in cluster.topics
        for partition in topic.partition_ids[topic.is_moving].tolist()
    }
    notes = [note for note in found.notes if note.code not in void]
    if unknown := [f"{topic}-{partition}" for topic, partition in found.moves if (topic, partition) not in moving]:
        detail = (
            f"the list of reassignments names {counted(len(unknown), 'partition')} whose topic text has other replicas "
            f"or is missing, {unknown[0]} first; take both at one moment"
        )
        notes.append(Note("reassignment_in_progress", detail))
    return tuple(notes)


def _releases(features: BrokerReleases | None, stated: str | None, texts: Pasted) -> BrokerReleases | None:
    """The releases in a broker's log, else of another tool, else in the log of Kafka's tools, else of the features."""
    if features is not None and features.has_patch:
        return features
    release = re.match(r"\d{1,3}\.\d{1,3}(?:\.\d{1,3})?", stated or "", re.ASCII)
    if features is None and release is not None:
        return BrokerReleases((release[0],), has_patch=release[0].count(".") == 2)
    return broker_features.logged([upload.text for upload in texts.uploads]) or features


def _measured(topic: Topic, rates: Mapping[tuple[str, int | None], float]) -> Topic:
    """The topic with the ingress rates of its partitions; a rate of the whole topic is divided among them."""
    if not rates:
        return topic
    partitions = topic.partition_ids.tolist()
    even = rates.get((topic.name, None), np.nan) / max(len(partitions), 1)
    known = np.array([rates.get((topic.name, partition), even) for partition in partitions], np.float64)
    return topic if np.isnan(known).all() else replace(topic, ingress_bytes_per_s=known)


def _configured(topic: Topic, found: Contents, defaults: Configs) -> Topic:
    """The topic with the configurations of other texts, and the defaults of the cluster for those that none states."""
    known = {**defaults, **found.topic_configs.get(topic.name, {}), **topic.configs}
    return topic if known == topic.configs else replace(topic, configs=known)


def _sized(topic: Topic, sizes: dict[tuple[str, int], int]) -> Topic:
    """The topic with its partitions' sizes, which are taken out of `sizes`."""
    size_bytes = [sizes.pop((topic.name, partition), UNKNOWN_SIZE) for partition in topic.partition_ids.tolist()]
    return replace(topic, size_bytes=np.array(size_bytes, dtype=np.int64))
