"""What one source says of a cluster, whatever its format, and the clusters of several sources joined."""

from collections import ChainMap
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from importlib.resources import files
from itertools import chain
from re import Pattern
from typing import Protocol, TypeAlias

from app.core.kafka_versions import Controller
from app.core.model import Broker, BrokerCapacity
from app.errors.requests import MalformedText
from app.formats.clusters.stated_configs import Configs
from app.formats.clusters.topic_describe import TopicDescription
from app.formats.clusters.topic_rows import PartitionDescription
from app.formats.syntax.lines import alternatives, first_repeated, shown

Partition: TypeAlias = tuple[str, int]
"""A topic's name and a partition of it."""
Moves: TypeAlias = Mapping[Partition, tuple[tuple[int, ...], tuple[int, ...]]]
_STATE_ASSUMED = ("replicas_in_ascending_order", "replicas_in_assumed_order", "state_not_in_source")
"""Codes of notes of sources that do not print leaders and in-sync replicas."""
_FIRST_COUNTS = ("capacities", "ingress_bytes_per_s", "moves", "topic_configs", "default_configs")
"""Contents by key, of which the first source counts."""


@dataclass(frozen=True, slots=True)
class Note:
    """What a source lacks or what was assumed of it; `code` is that of the warning."""

    code: str
    detail: str


_NOTES = dict(line.split(": ", 1) for line in alternatives(files(__package__) / "notes.txt"))


def noted(name: str) -> Note:
    """The note of this name in notes.txt."""
    code, _, detail = _NOTES[name].partition(": ")
    return Note(code, detail)


@dataclass(frozen=True, slots=True)
class Contents:
    """What a source says of a cluster. What is empty, it says nothing of.

    Parameters
    ----------
    brokers : those that it lists; rack and capacity are None if it does not have them.
    observers : ids that are brokers' if no source lists brokers.
    topics : with the replicas of every partition.
    capacities : by broker id, of brokers whose own entry has none; under None those of every other broker.
    size_bytes : of the largest replica of a partition on disk.
    ingress_bytes_per_s : what producers write to a partition, or, for the partition None, to the whole topic.
    moves : of partitions that are being reassigned, the replicas that are added and those that are removed.
    topic_configs : recorded configurations by topic. default_configs : of topics that state none.
    """

    brokers: tuple[Broker, ...] = ()
    observers: tuple[int, ...] = ()
    topics: tuple[TopicDescription, ...] = ()
    capacities: Mapping[int | None, BrokerCapacity] = field(default_factory=dict)
    size_bytes: Mapping[Partition, int] = field(default_factory=dict)
    ingress_bytes_per_s: Mapping[tuple[str, int | None], float] = field(default_factory=dict)
    moves: Moves = field(default_factory=dict)
    topic_configs: Mapping[str, Configs] = field(default_factory=dict)
    default_configs: Configs = field(default_factory=dict)
    controller: Controller | None = None
    kafka_version: str | None = None
    notes: tuple[Note, ...] = ()


@dataclass(frozen=True, slots=True)
class Source:
    """A format by which a tool describes a cluster.

    Parameters
    ----------
    name : the tool, as a person calls it; also the name of its part of a paste.
    line : matches a line that only this tool prints, from which on lines are of it; None if it prints JSON alone.
    row : matches every further line of it, also one that is cut off; other lines are of no tool.
    rows : a pattern of any number of its usual lines, which are taken at once.
    owns : whether a JSON document is of it.
    read : raises `MalformedText`.
    """

    name: str
    read: Callable[[str], Contents]
    line: Pattern[str] | None = None
    row: Pattern[str] | None = None
    owns: Callable[[object], bool] = lambda _document: False
    rows: Pattern[str] | None = None


class Reject(Protocol):
    """Makes the rejection of a line of a text, or of a place in a document."""

    def __call__(self, *, expected: str, actual: str) -> MalformedText: ...


def topic_of(name: str, rows: Sequence[PartitionDescription], reject: Reject) -> TopicDescription:
    """The description of a topic from its partitions; `reject` makes the rejection of what they contradict.

    Each partition is there once, has a replica, and none twice; no id of a leader or an in-sync replica is cut.
    """
    if (partition := first_repeated(row.partition for row in rows)) is not None:
        raise reject(expected="each partition once", actual=f"partition {partition} of topic {name!r} again")
    for row in rows:
        which = f"partition {row.partition} of topic {name!r}"
        if not row.replicas:
            raise reject(expected=f"at least one replica of {which}", actual="none")
        for listed in (row.replicas, row.isr):
            if (broker := first_repeated(listed)) is not None:
                raise reject(expected=f"each replica of {which} once", actual=f"broker {broker} twice")
        if (broken := row.broken_id) is not None:
            raise reject(expected=f"replicas of {which} as leader and in sync", actual=f"{broken}, not a replica")
    return TopicDescription(name, max((len(row.replicas) for row in rows), default=0), tuple(rows))


def contents_of_all(sources: Sequence[Contents]) -> Contents:
    """The sources as one. Of what several say, the first one counts; of sizes the largest, of fenced either.

    Of descriptions of a topic the first whole one counts.

    A note names the first rack and the first partition in which they differ.
    """
    brokers: dict[int, Broker] = {}
    topics: dict[str, TopicDescription] = {}
    sizes: dict[Partition, int] = {}
    for source in sources:
        for broker in source.brokers:
            brokers[broker.id] = merged(brokers.get(broker.id, broker), broker)
        for topic in source.topics:
            if topic.name not in topics or topic.is_whole > topics[topic.name].is_whole:
                topics[topic.name] = topic
        for partition, size in source.size_bytes.items():
            sizes[partition] = max(size, sizes.get(partition, 0))
    every = {one.name: [getattr(source, one.name) for source in sources] for one in fields(Contents)}
    has_states = all(note.code not in _STATE_ASSUMED for note in chain(*every["notes"]))
    differing = [_disagreements(source, brokers, topics, has_states=has_states) for source in sources]
    return Contents(
        brokers=tuple([brokers[broker] for broker in sorted(brokers)]),
        observers=tuple(chain(*every["observers"])),
        topics=tuple(topics.values()),
        size_bytes=sizes,
        **{name: dict(ChainMap(*map(dict, every[name]))) for name in _FIRST_COUNTS},
        controller=next(filter(None, every["controller"]), None),
        kafka_version=next(filter(None, every["kafka_version"]), None),
        notes=(*dict.fromkeys(chain(*every["notes"])), *chain(*differing)),
    )


def _disagreements(
    source: Contents, brokers: Mapping[int, Broker], topics: Mapping[str, TopicDescription], *, has_states: bool
) -> Iterator[Note]:
    """The first rack and the first partition in which a source differs from what counts.

    Leaders and in-sync replicas are compared if all sources state them.
    """
    is_assumed = any(note.code == "racks_assumed" for note in source.notes)
    racks = [one for one in source.brokers if one.rack not in (None, brokers[one.id].rack)]
    for one in racks[: not is_assumed]:
        yield disagreeing(f"broker {one.id} is in rack {brokers[one.id].rack} and in {one.rack}")
    for topic in [topic for topic in source.topics if topics[topic.name] is not topic]:
        rows = {row.partition: row for row in topics[topic.name].partitions}
        for row in topic.partitions:
            known = rows.get(row.partition, row._replace(replicas=()))
            if {*known.replicas} != {*row.replicas}:
                yield disagreeing(f"{topic.name}-{row.partition} has other replicas")
                return
            if has_states and (known.leader, {*known.isr}) != (row.leader, {*row.isr}):
                yield disagreeing(f"{topic.name}-{row.partition} has another leader or other in-sync replicas")
                return


def disagreeing(detail: str) -> Note:
    """The note that texts differ in this."""
    return Note("texts_disagree", f"texts differ: {detail}; the first counts")


def other_namespace(name: str) -> Iterator[Note]:
    """The note that the partitions of a namespace are left out, unless it is one that Redpanda keeps its own in."""
    if name not in ("kafka_internal", "redpanda"):
        yield Note("resources_not_read", f"partitions of the namespace {shown(name)} are not read")


def odd_named(name: str) -> Note:
    """The note that the values of a field are not read, whose name no tool prints."""
    return Note("rows_may_be_missing", f"values of a name that no tool prints: {shown(name)}")


def moving(topics: Sequence[TopicDescription], moves: Moves) -> Sequence[TopicDescription]:
    """The topics, with the reassignments of `moves` where a topic's own text has none."""
    return [_moving(topic, moves) for topic in topics] if moves else topics


def _moving(topic: TopicDescription, moves: Moves) -> TopicDescription:
    rows: list[PartitionDescription] = []
    for row in topic.partitions:
        adding, removing = moves.get((topic.name, row.partition), ((), ()))
        known = row.adding or row.removing or not {*adding, *removing} <= set(row.replicas)
        rows.append(row if known else row._replace(adding=adding, removing=removing))
    return replace(topic, partitions=tuple(rows))


def merged(known: Broker, other: Broker) -> Broker:
    """A broker of two sources: of what both say, the first one counts, but fenced is fenced in either."""
    return replace(
        known,
        rack=other.rack if known.rack is None else known.rack,
        fenced=known.fenced or other.fenced,
        capacity=other.capacity if known.capacity is None else known.capacity,
    )
