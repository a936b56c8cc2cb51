"""Warnings about a snapshot: missing parts, and texts that could not be joined."""

from collections.abc import Iterable, Iterator, Sequence
from itertools import count, groupby
from typing import TYPE_CHECKING

import numpy as np

from app.core.kafka_versions import SUPPORTED, last_supported
from app.core.model import NO_LOG_DIR, Cluster, Topic
from app.core.recorded import RecordedGroup
from app.errors.every import quoted
from app.formats.syntax.lines import shown
from app.services.cautions import Caution, caution

if TYPE_CHECKING:  # the readers of the tools' texts, which a plan of a stored snapshot does without
    from app.formats.clusters.broker_features import BrokerReleases
    from app.formats.groups.recorded_groups import FromTheFuture
    from app.formats.snapshots.assembly import Assembled
    from app.formats.snapshots.pasted import Place

_NAMED = 5
_STEADY = (None, "", "Stable", "STABLE")


def of_cluster(cluster: Cluster) -> list[Caution]:
    """Gaps in a cluster, whichever way it was posted."""
    return [*_of_brokers(cluster), *_of_members(cluster), *_of_partitions(cluster)]


def of_assembly(assembled: "Assembled") -> list[Caution]:
    """Parts of the Kafka tools' texts that could not be joined, or were read as an older version."""
    cautions = [] if not assembled.skipped else [of_skipped_lines(assembled.skipped)]
    cautions += [Caution(note.code, note.detail) for note in assembled.notes]
    if gaps := list(_gaps(assembled.cluster)):
        cautions.append(Caution("rows_may_be_missing", f"rows of the texts may be missing: {_some(gaps)}"))
    if assembled.partitions_without_topic:
        topic, partition = assembled.partitions_without_topic[0]
        first, without = f"{topic}-{partition}", assembled.partitions_without_topic
        cautions.append(caution("partitions_without_topic", without=without, first=first))
    if assembled.joined.disagreements:
        sentences = [f"group {shown(one.group_id)}: {one.detail}" for one in assembled.joined.disagreements]
        cautions.append(caution("group_texts_disagree", sentences=_some(sentences, between="; ")))
    if assembled.joined.undescribed:
        reasons = [f"group {shown(one.group_id)}: {shown(one.detail)}" for one in assembled.joined.undescribed]
        cautions.append(caution("groups_not_described", reasons=_some(reasons, between="; ")))
    if assembled.releases is not None:
        cautions += of_releases(assembled.releases)
    for part in ("subscription", "assignment"):
        if newer := [one for one in assembled.joined.from_the_future if one.part == part]:
            cautions.append(Caution(f"{part}_from_the_future", _read_as_older(newer)))
    return cautions


def of_releases(reported: "BrokerReleases") -> Iterator[Caution]:
    """Assumptions about the release that brokers report, and gaps."""
    version = last_supported(reported.releases)
    if version is None:
        named = ", ".join(reported.releases) or "a metadata.version of no known release"
        yield caution("kafka_version_unsupported", named=named, first=SUPPORTED.from_, last=SUPPORTED.to)
        return
    if len(reported.releases) > 1:
        yield caution("several_kafka_versions", named=", ".join(reported.releases), version=version)
    if not reported.has_patch:
        yield caution("kafka_version_assumed", version=version)
    if reported.finalized is not None and reported.finalized not in reported.releases:
        yield caution("upgrade_not_finalized", finalized=reported.finalized, version=version)


def of_skipped_lines(places: Sequence["Place"]) -> Caution:
    """Which lines were no part of a tool's answer, as ranges by upload."""
    ranges: list[str] = []
    for upload, of_upload in groupby(places, key=lambda place: place.upload.name):
        source = "" if upload is None else f" of {shown(upload)}"
        numbers = [place.line for place in of_upload]
        for _, run in groupby(enumerate(numbers), key=lambda pair: pair[1] - pair[0]):
            (_, first), *rest = run
            ranges.append(f"{first}{f' to {rest[-1][1]}' if rest else ''}{source}")
    unknown = [shown(place.unknown[:40]) for place in places if place.unknown]
    named = f"; {len(unknown)} of them unknown: {_some(unknown)}" if unknown else ""
    return caution("lines_skipped", places=places, ranges=_some(ranges), named=named)


def _read_as_older(newer: Sequence["FromTheFuture"]) -> str:
    members = [f"{shown(one.member_id)} of group {shown(one.group_id)} (version {one.version})" for one in newer]
    return (
        f"the {newer[0].part} of {len(newer)} members is of a version above 3 and was read as version 3, "
        f"without the fields that it added: {_some(members)}"
    )


def _of_brokers(cluster: Cluster) -> Iterator[Caution]:
    listed = {broker.id for broker in cluster.brokers}
    without_rack = tuple(sorted(broker.id for broker in cluster.brokers if broker.rack is None))
    unlisted = tuple(broker for broker in cluster.replica_holders().tolist() if broker not in listed)
    if without_rack:
        name = "brokers_without_rack.all" if len(without_rack) == len(listed) else "brokers_without_rack"
        yield caution(name, listed=listed, brokers=without_rack)
    yield from _of_cordons(cluster)
    yield from _of_moves(cluster)
    yield from _of_log_dirs(cluster)
    if odd := [one for topic in cluster.topics for one in _not_replicas(topic)]:
        yield caution("not_a_replica", odd=odd, some=_some(odd))
    if unlisted:
        yield caution("unlisted_brokers", brokers=unlisted)


def _not_replicas(topic: Topic) -> Iterator[str]:
    """Partitions with a leader, an in-sync or an eligible replica that is not among their replicas, and its id."""
    eligible = [] if topic.elr is None else [topic.elr]
    stated = np.column_stack([topic.leaders, topic.isr, *eligible])
    odd = (stated >= 0) & (stated[:, :, None] != topic.replicas[:, None, :]).all(axis=2)
    for row in np.flatnonzero(odd.any(axis=1)).tolist():
        yield f"{topic.name}-{topic.partition_ids[row]} ({stated[row][odd[row]][0]})"


def _of_moves(cluster: Cluster) -> Iterator[Caution]:
    moving = {topic.name: topic.partition_ids[topic.is_moving].tolist() for topic in cluster.topics}
    if partitions := [f"{topic}-{partition}" for topic, ids in moving.items() for partition in ids]:
        topics = tuple([topic for topic, ids in moving.items() if ids])
        some = _some(partitions)
        yield caution("reassignment_in_progress.snapshot", partitions=partitions, some=some, topics=topics)


def _of_cordons(cluster: Cluster) -> Iterator[Caution]:
    whole = tuple(sorted(broker for broker, cordon in cluster.cordons.items() if cordon.is_whole))
    partly = tuple(sorted(broker for broker, cordon in cluster.cordons.items() if not cordon.is_whole))
    if whole:
        yield caution("cordoned_brokers", brokers=whole)
    if partly:
        yield caution("cordoned_log_dirs", brokers=partly)


def _of_log_dirs(cluster: Cluster) -> Iterator[Caution]:
    offline = {
        broker: [directory.path for directory in directories if directory.is_offline]
        for broker, directories in sorted(cluster.log_dirs.items())
    }
    if brokers := tuple([broker for broker, paths in offline.items() if paths]):
        named = [f"{quoted(path)} of broker {broker}" for broker in brokers for path in offline[broker]]
        yield caution("offline_log_dirs", named=named, some=_some(named), brokers=brokers)
    moving = {
        topic.name: int(np.count_nonzero(topic.future_log_dirs != NO_LOG_DIR))
        for topic in cluster.topics
        if topic.future_log_dirs is not None
    }
    if moving:
        yield caution("log_dir_moves_in_progress", replicas=sum(moving.values()), topics=tuple(sorted(moving)))


def _of_members(cluster: Cluster) -> Iterator[Caution]:
    if all(broker.rack is None for broker in cluster.brokers):
        return
    groups = []
    for group in cluster.groups:
        # Racks are unknown to the tools of Streams and share groups, and the coordinator ignores them there.
        without = (
            [] if group.type in ("share", "streams") else [member for member in group.members if not member.rack_id]
        )
        if without:
            unsaid = sum(member.topics is None for member in without)
            sentence = f"{len(without)} of {len(group.members)} members of group {shown(group.group_id)}"
            groups.append(sentence + (f" (unknown for {unsaid})" if unsaid else ""))
    if groups:
        yield Caution("members_without_rack", f"brokers have racks and members have none: {_some(groups)}")


def _of_partitions(cluster: Cluster) -> Iterator[Caution]:
    known = {topic.name: _partitions(topic) for topic in cluster.topics}
    topics, partitions = [], []
    for group in cluster.groups:
        named = _named_partitions(group)
        missing = sorted(({topic for topic, _ in named} | _subscribed(group)) - known.keys())
        beyond = sorted((topic, one) for topic, one in named if topic in known and one not in known[topic])
        if missing:
            topics.append(f"{len(missing)} of group {shown(group.group_id)}, {shown(missing[0])} first")
        if beyond:
            (topic, partition), *_ = beyond
            partitions.append(f"{len(beyond)} of group {shown(group.group_id)}, {topic}-{partition} first")
    if topics:
        yield Caution("group_topics_missing", f"groups name topics that the snapshot lacks: {_some(topics)}")
    if partitions:
        yield caution("group_partitions_missing", some=_some(partitions))


def _gaps(cluster: Cluster) -> Iterator[str]:
    """Partitions that a topic, or a group with members, has none of.

    While a group rebalances, partitions without a committed offset have no row.
    """
    counts = {}
    for topic in cluster.topics:
        counts[topic.name] = len(topic.partition_ids)
        gaps = np.flatnonzero(topic.partition_ids != np.arange(len(topic.partition_ids)))
        yield from [f"there is no partition {one} of topic {topic.name}" for one in gaps[:1].tolist()]
    for group in cluster.groups:
        by_topic: dict[str, set[int]] = {}
        has_all = bool(group.members) or group.type in ("share", "streams")  # whose tables of offsets have no members
        for name, partition in _named_partitions(group) if has_all and group.state in _STEADY else ():
            by_topic.setdefault(name, set()).add(partition)
        for name, partition in _active_tasks(group) if group.state in _STEADY else ():
            by_topic.setdefault(f"task {name}", set()).add(partition)
        for name, known in sorted(by_topic.items()):
            lacking = next(one for one in count() if one not in known)
            if lacking < counts.get(name, max(known)):
                yield f"group {shown(group.group_id)} has no {name}-{lacking}"


def _partitions(topic: Topic) -> frozenset[int]:
    return frozenset(topic.partition_ids.tolist())


def _named_partitions(group: RecordedGroup) -> set[tuple[str, int]]:
    """Partitions that the group has offsets of, or its members own or owned."""
    named = {(offset.topic, offset.partition) for offset in group.offsets}
    for member in group.members:
        for topic, partitions in (*(member.assigned or ()), *(member.owned or ())):
            named.update((topic, partition) for partition in partitions)
    return named


def _active_tasks(group: RecordedGroup) -> Iterator[tuple[str, int]]:
    """The subtopology and the partition of each active task."""
    for member in group.members:
        for task in () if member.tasks is None else member.tasks.active:
            subtopology, _, partition = task.rpartition("_")
            yield subtopology, int(partition)


def _subscribed(group: RecordedGroup) -> set[str]:
    return {topic for member in group.members for topic in member.topics or ()}


def _some(named: Iterable[str], *, between: str = ", ") -> str:
    """The first ones and the number of the rest: a snapshot may have thousands of groups."""
    listed = list(named)
    more = [f"and {len(listed) - _NAMED} more"] if len(listed) > _NAMED else []
    return between.join([*listed[:_NAMED], *more])
