"""A topology as `Topology#describe()` prints it."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

from app.formats.streams.topology_text import Subtopology

_HEADING, _GLOBAL, _NONE = "Topologies:", " for global store (will not generate tasks)", "none"
_TO, _FROM = "-->", "<--"


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
class Nodes:
    """Nodes that are joined, in the order in which they are printed."""

    id: int
    nodes: tuple[Node, ...]
    is_global: bool = False

    def subtopology(self) -> Subtopology:
        """The expected result of reading them."""
        sources = [node for node in self.nodes if isinstance(node, Source)]
        stores = [store for node in self.nodes if isinstance(node, Processor) for store in node.stores]
        return Subtopology(
            self.id,
            tuple(dict.fromkeys(topic for source in sources for topic in source.topics)),
            tuple(dict.fromkeys(source.pattern for source in sources if source.pattern is not None)),
            tuple(dict.fromkeys(stores)),
            self.is_global,
        )


def write(subtopologies: Sequence[Nodes]) -> str:
    """Print a topology as the library does."""
    parts = [
        f"  Sub-topology: {one.id}{_GLOBAL if one.is_global else ''}\n"
        + "".join([f"    {_node_text(node)}\n" for node in one.nodes])
        + ("" if one.is_global else "\n")
        for one in subtopologies
    ]
    return f"{_HEADING}\n " + "".join(parts)


def _node_text(node: Node) -> str:
    if isinstance(node, Source):
        topics = f"[{', '.join(node.topics)}]" if node.pattern is None else node.pattern
        return f"Source: {node.name} (topics: {topics}){_arrow_text(_TO, node.successors)}"
    if isinstance(node, Processor):
        arrows = _arrow_text(_TO, node.successors) + _arrow_text(_FROM, node.predecessors)
        return f"Processor: {node.name} (stores: [{', '.join(node.stores)}]){arrows}"
    topic = f"topic: {node.topic}" if node.extractor is None else f"extractor class: {node.extractor}"
    return f"Sink: {node.name} ({topic}){_arrow_text(_FROM, node.predecessors)}"


def _arrow_text(arrow: str, names: Sequence[str]) -> str:
    return f"\n      {arrow} {', '.join(names) or _NONE}"
