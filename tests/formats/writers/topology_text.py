"""A topology as `Topology#describe()` prints it."""

from collections.abc import Sequence

from app.formats.streams.topology import Node, Processor, Source, TopologyDescription

_HEADING, _GLOBAL, _NONE = "Topologies:", " for global store (will not generate tasks)", "none"
_TO, _FROM = "-->", "<--"


def write(description: TopologyDescription) -> str:
    """Print a topology as the library does; what `read` read of a text of its own layout comes back verbatim."""
    parts = [
        f"  Sub-topology: {one.id}{_GLOBAL if one.is_global else ''}\n"
        + "".join([f"    {_node_text(node)}\n" for node in one.nodes])
        + ("" if one.is_global else "\n")
        for one in description.subtopologies
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
