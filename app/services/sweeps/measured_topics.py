"""The topics of a capacity sweep from a snapshot and from measured ingress."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, cast
from uuid import UUID

from app.core.capacity.sections import LOCAL_RETENTION_FIELDS, TopicIngress, ingress, topic_document
from app.core.model import Topic
from app.errors.every import ConflictingFields, FieldPath, Json
from app.formats.clusters import ingress_rates
from app.formats.syntax.quantities import first_of
from app.services import snapshots
from app.services.cautions import Caution, caution
from app.services.limits import Limits
from app.services.snapshots import require_distinct
from app.store.unit import UnitOfWork

AT: FieldPath = ("base", "measured")
"""The field of a sweep that this module reads."""
_READ = (
    "name",
    "partitions",
    "replication_factor",
    "ingress_bytes_per_s",
    "peak_ingress_bytes_per_s",
    "retained_bytes",
    "retention_s",
    "retention_bytes",
    "remote_storage",
    *LOCAL_RETENTION_FIELDS,
    "segment_bytes",
    "min_insync_replicas",
)
"""The fields of a topic in `topics_read`."""
_NAMED = 20


def resolve(uow: UnitOfWork, definition: Mapping[str, Json], limits: Limits) -> Mapping[str, Json]:
    """Resolve the topics of `base.measured`; the posted rates are not stored beside them.

    `topics_read` lists the data read of each topic, `warnings` posted data that are not used.

    Raises
    ------
    SnapshotNotFound, LimitExceeded, MalformedText, ImpossibleValue
    ConflictingFields : a topic is not in the snapshot or listed twice, its ingress or its retention is unknown, or
        stated values contradict measured ones.
    """
    base = cast("Mapping[str, Any]", definition["base"])
    measured, stated = base["measured"], base.get("topics") or []
    snapshot, cluster = snapshots.load(uow, UUID(measured["snapshot_id"]))
    rates = _rates(measured.get("bytes_in"))
    by_name = {topic.name: topic for topic in cluster.topics}
    chosen = _chosen(by_name, measured.get("topics"))
    limits.check_number("partitions", sum(len(topic.partition_ids) for topic in chosen), path=(*AT, "snapshot_id"))
    entries, planned = _stated(stated, chosen)
    every = measured.get("every_topic") or {}
    topics = [
        topic_document(
            topic,
            rates.get(topic.name),
            _with_every(every, entries.get(topic.name, {}), is_tiered=topic.has_remote_storage),
        )
        for topic in chosen
    ]
    topics += [dict(_with_every(every, entry, is_tiered=False)) for entry in planned]
    _require_known(topics)
    return {
        **definition,
        "base": {**base, "measured": {name: value for name, value in measured.items() if name != "bytes_in"}},
        "snapshot_content_hash": snapshot.content_hash,
        "topics_read": [_read(topic) for topic in topics],
        "warnings": [
            vars(caution) for caution in (*_unused_rates(rates, by_name, chosen), *_unknown_retention(chosen, topics))
        ],
        "resolved": {"topics": topics},
    }


def _rates(posted: Mapping[str, Any] | None) -> Mapping[str, TopicIngress]:
    path = (*AT, "bytes_in")
    if posted is None:
        return {}
    if len(posted) != 1:
        raise ConflictingFields("bytes_in is either csv or prometheus", path=path)
    if "csv" in posted:
        return ingress(ingress_rates.read_csv(posted["csv"], (*path, "csv")))
    return ingress(ingress_rates.read_prometheus(posted["prometheus"], (*path, "prometheus")))


def _chosen(by_name: Mapping[str, Topic], named: Sequence[str] | None) -> list[Topic]:
    if named is None:
        if not by_name:
            raise ConflictingFields("the snapshot has no topics", path=(*AT, "snapshot_id"))
        return list(by_name.values())
    require_distinct("", named, ConflictingFields, *AT, "topics")
    for place, name in enumerate(named):
        if name not in by_name:
            detail = f"the snapshot has no topic {name}; it has {first_of([*by_name], 10)}"
            raise ConflictingFields(detail, path=(*AT, "topics", place), value=name)
    return [by_name[name] for name in named]


def _stated(
    entries: Sequence[Mapping[str, Any]], chosen: Sequence[Topic]
) -> tuple[dict[str, Mapping[str, Any]], list[Mapping[str, Any]]]:
    """The stated fields of each measured topic, and the topics that are only planned."""
    names = [entry["name"] for entry in entries]
    require_distinct("topic", names, ConflictingFields, "base", "topics", member="name")
    measured = {topic.name for topic in chosen}
    for place, entry in enumerate(entries):
        for needed in ("partitions", "replication_factor"):
            if entry["name"] not in measured and needed not in entry:
                detail = f"topic {entry['name']} is not measured, so it needs a {needed}"
                raise ConflictingFields(detail, path=("base", "topics", place, needed))
    of_measured = {entry["name"]: entry for entry in entries if entry["name"] in measured}
    return of_measured, [entry for entry in entries if entry["name"] not in measured]


def _with_every(every: Mapping[str, Any], own: Mapping[str, Any], *, is_tiered: bool) -> Mapping[str, Any]:
    """The stated fields of a topic, after the fields for all topics; local retention only with remote storage."""
    both = {**every, **own}
    if both.get("remote_storage", is_tiered):
        return both
    return {name: value for name, value in both.items() if name in own or name not in LOCAL_RETENTION_FIELDS}


def _unknown_retention(chosen: Sequence[Topic], topics: Sequence[Mapping[str, Any]]) -> Iterator[Caution]:
    """A warning about topics of which the bytes in remote storage are unknown."""
    unknown = [
        topic.name
        for topic, read in zip(chosen, topics, strict=False)
        if topic.has_remote_storage and read.get("remote_storage") and "retained_bytes_per_partition" in read
    ]
    if unknown:
        yield caution("remote_bytes_unknown", unknown=unknown, topics=tuple(unknown[:_NAMED]))


def _require_known(topics: Sequence[Mapping[str, Any]]) -> None:
    if unknown := [topic["name"] for topic in topics if "ingress_bytes_per_s" not in topic]:
        detail = (
            f"the ingress of {len(unknown)} of {len(topics)} topics is unknown: {first_of(unknown, 10)}; bytes_in can "
            "give it, or ingress_bytes_per_s in base.topics, or leave them out by measured.topics"
        )
        raise ConflictingFields(detail, path=(*AT, "bytes_in"), topics=unknown[:_NAMED])


def _unused_rates(
    rates: Mapping[str, TopicIngress], by_name: Mapping[str, Topic], chosen: Sequence[Topic]
) -> Iterator[Caution]:
    """Warnings about rates of unknown topics and of unknown partitions."""
    if unknown := tuple(sorted(set(rates) - set(by_name))):
        yield caution("rates_of_unknown_topics", unknown=unknown, topics=unknown[:_NAMED])
    for topic in chosen:
        known = set(topic.partition_ids.tolist())
        beyond = sorted(set(rates[topic.name].by_partition) - known) if topic.name in rates else []
        if beyond:
            topics = (topic.name,)
            yield caution("rates_of_unknown_partitions", topic=topic.name, beyond=beyond, topics=topics)


def _read(topic: Mapping[str, Any]) -> dict[str, Json]:
    read, retained = {name: topic[name] for name in _READ if name in topic}, topic.get("retained_bytes_per_partition")
    if retained is not None:
        read["retained_bytes"] = sum(retained) if isinstance(retained, list) else retained * topic["partitions"]
    return read
