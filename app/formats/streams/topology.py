"""A Kafka Streams topology as the library describes it: its subtopologies, their topics and stores.

What a description (`topology_text`) does not contain:

- Internal topics are printed without their prefix, the application id. Only its name shows that a topic is internal.
- Changelogs are not printed. A store whose logging is disabled has none, and with `topology.optimization` the source
  topic of a table is that of its store. Neither is printed, so `changelog_topics` may have a topic too many.
- The topic of a sink that chooses it for each record is unknown.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TypeAlias


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
    def stores(self) -> tuple[str, ...]:
        """The stores that processors use, each once."""
        return _each_once(store for node in self.nodes if isinstance(node, Processor) for store in node.stores)

    @property
    def is_stateful(self) -> bool:
        """Whether its tasks use stores. Kafka checks changelogs: to it, a store without logging is no state."""
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


def is_repartition_topic(topic: str) -> bool:
    """Whether a topic has the name of one that Kafka Streams makes between two subtopologies; one's own may, too."""
    return topic.endswith("-repartition")


def _each_once(names: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(names))
