"""A Kafka Streams topology as the library describes it: its subtopologies, their topics and stores, and their tasks.

What a description (`topology_text`) does not contain:

- Internal topics are printed without their prefix, the application id. Only its name shows that a topic is internal.
- Changelogs are not printed. A store whose logging is disabled has none, and with `topology.optimization` the source
  topic of a table is that of its store. Neither is printed, so `changelog_topics` may have a topic too many.
- The topic of a sink that chooses it for each record is unknown.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import TypeAlias

from app.core.streams.model import StreamsTasks
from app.errors.kafka import KafkaError, SubscribedTopicMissing

_NO_TOPICS: Mapping[str, Collection[str]] = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class Source:
    """A node that reads topics: those listed, or, if there is a Java pattern, all that match it."""

    name: str
    topics: tuple[str, ...] = ()
    pattern: str | None = None
    successors: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Processor:
    """A node that works on records, with the stores that it uses."""

    name: str
    stores: tuple[str, ...] = ()
    successors: tuple[str, ...] = ()
    predecessors: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Sink:
    """A node that writes to a topic, or, if there is an extractor, to the one that it names for each record."""

    name: str
    topic: str | None = None
    extractor: str | None = None
    predecessors: tuple[str, ...] = ()


Node: TypeAlias = Source | Processor | Sink


@dataclass(frozen=True, slots=True)
class Subtopology:
    """Nodes that are joined, in the order in which they are printed.

    Parameters
    ----------
    id : the number in its tasks' ids.
    is_global : it fills a global store, on every client, and has no tasks.
    """

    id: int
    nodes: tuple[Node, ...]
    is_global: bool = False

    @property
    def source_topics(self) -> tuple[str, ...]:
        """The topics that sources list, each once; repartition topics without the application id."""
        return _each_once(topic for node in self.nodes if isinstance(node, Source) for topic in node.topics)

    @property
    def source_patterns(self) -> tuple[str, ...]:
        """The patterns of the sources that list no topics."""
        return _each_once(node.pattern for node in self.nodes if isinstance(node, Source) and node.pattern is not None)

    @property
    def sink_topics(self) -> tuple[str, ...]:
        """The topics that sinks write to, as far as they are known."""
        return _each_once(node.topic for node in self.nodes if isinstance(node, Sink) and node.topic is not None)

    @property
    def stores(self) -> tuple[str, ...]:
        """The stores that processors use, each once."""
        return _each_once(store for node in self.nodes if isinstance(node, Processor) for store in node.stores)

    @property
    def is_stateful(self) -> bool:
        """Whether its tasks use stores. Kafka asks for changelogs: to it, a store without logging is no state."""
        return not self.is_global and bool(self.stores)

    @property
    def repartition_topics(self) -> tuple[str, ...]:
        """Those of its source topics that Kafka Streams makes itself, so that records of one key meet in one task."""
        return tuple([topic for topic in self.source_topics if is_repartition_topic(topic)])

    def changelog_topics(self, application_id: str) -> tuple[str, ...]:
        """The topics that its stores are restored from; a global store is restored from its source topic."""
        return () if self.is_global else tuple([f"{application_id}-{store}-changelog" for store in self.stores])


@dataclass(frozen=True, slots=True)
class TopologyDescription:
    """The subtopologies, in the order in which they are printed."""

    subtopologies: tuple[Subtopology, ...] = ()

    @property
    def global_stores(self) -> tuple[str, ...]:
        """The stores that every client holds whole."""
        return _each_once(store for one in self.subtopologies if one.is_global for store in one.stores)


def is_repartition_topic(topic: str) -> bool:
    """Whether a topic has the name of one that Kafka Streams makes between two subtopologies; one's own may, too."""
    return topic.endswith("-repartition")


def tasks(
    description: TopologyDescription,
    partition_counts: Mapping[str, int],
    *,
    application_id: str | None = None,
    matching: Mapping[str, Collection[str]] = _NO_TOPICS,
) -> StreamsTasks:
    """The application's tasks: `<subtopology>_<partition>` for each partition of a subtopology's largest source topic.

    Parameters
    ----------
    partition_counts : by topic. A repartition topic is looked up with the application id in front, if one is given, and
        else as it is printed.
    matching : the topics that match each source pattern, of which some may not exist yet: a Java pattern is not
        evaluated here.

    Returns
    -------
    The tasks ascending. Those of stateful subtopologies are the stateful ones.

    Raises
    ------
    SubscribedTopicMissing
        A source topic's partitions are not known, or no topics were given for a pattern; Kafka's client stops on a
        topic that does not exist.
    """
    counts = {
        one.id: max(
            [_count(topic, one, partition_counts, application_id) for topic in _topics(one, matching)], default=0
        )
        for one in sorted(description.subtopologies, key=lambda one: one.id)
        if not one.is_global
    }
    stateful = {one.id for one in description.subtopologies if one.is_stateful}
    ids = [(subtopology, partition) for subtopology, count in counts.items() for partition in range(count)]
    return StreamsTasks(ids, [task for task in ids if task[0] in stateful])


def _topics(subtopology: Subtopology, matching: Mapping[str, Collection[str]]) -> Iterator[str]:
    yield from subtopology.source_topics
    for pattern in subtopology.source_patterns:
        if pattern not in matching:
            raise _missing(f"topics that match {pattern!r}", subtopology, pattern)
        yield from matching[pattern]


def _count(topic: str, subtopology: Subtopology, counts: Mapping[str, int], application_id: str | None) -> int:
    names = [topic]
    if application_id is not None and is_repartition_topic(topic):
        names.insert(0, f"{application_id}-{topic}")
    for name in names:
        if name in counts:
            return counts[name]
    raise _missing(f"partitions of topic {topic!r}", subtopology, topic)


def _missing(what: str, subtopology: Subtopology, topic: str) -> SubscribedTopicMissing:
    return SubscribedTopicMissing(
        f"subtopology {subtopology.id} reads {what}, of which nothing is known",
        kafka=KafkaError("MissingSourceTopicException"),
        subtopology=subtopology.id,
        topic=topic,
    )


def _each_once(names: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(names))
