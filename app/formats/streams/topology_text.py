"""What `Topology#describe()` of Kafka Streams prints: subtopologies, their nodes, and the links between nodes.

    Topologies:
       Sub-topology: 0
        Source: KSTREAM-SOURCE-0000000000 (topics: [orders])
          --> KSTREAM-AGGREGATE-0000000001
        Processor: KSTREAM-AGGREGATE-0000000001 (stores: [totals])
          --> KSTREAM-SINK-0000000002
          <-- KSTREAM-SOURCE-0000000000
        Sink: KSTREAM-SINK-0000000002 (topic: sums)
          <-- KSTREAM-AGGREGATE-0000000001

Read as Kafka 1.1 and later print it, however it is indented. A line that ends in `Topologies:` is in front or not,
so that what a log holds is read. A source's pattern that has the form of a list of topics (`[abc]`) is taken for one.
A node's name has no comma before a blank and no bracket after one, as none has that Kafka gives or checks.

Rejected are a named topology (`Topology: name:`), which no public API makes, and a text in which a node names another
that does not name it in return: it was cut off or changed. A cut between two subtopologies cannot be seen.

Source: KIP-120; `InternalTopologyBuilder` of Apache Kafka 4.0.
"""

import re
from dataclasses import dataclass, field

from app.formats.streams.topology import Node, Processor, Sink, Source, Subtopology, TopologyDescription
from app.formats.syntax.lines import is_topic_name, last_line, numbered, rejection, shown, whole_number

_HEADING = "Topologies:"
_GLOBAL = " for global store (will not generate tasks)"
_SUBTOPOLOGY = re.compile(rf"Sub-topology: ([0-9]+)({re.escape(_GLOBAL)})?")
_BRACKET = re.compile(r" \((topics|stores|topic|extractor class): ")
_SAYS = {"Source": ("topics",), "Processor": ("stores",), "Sink": ("topic", "extractor class")}
_TO, _FROM = "-->", "<--"
_ARROWS = {"Source": (_TO,), "Processor": (_TO, _FROM), "Sink": (_FROM,)}
_NONE = "none"
_EXPECTED = "`Topologies:`, `Sub-topology: …`, `Source: …`, `Processor: …`, `Sink: …`, `--> …` or `<-- …`"


def read(text: str) -> TopologyDescription:
    """Read what the library prints.

    Raises
    ------
    MalformedText
        A line is none of those that it prints, a node or subtopology comes twice, a node lacks its neighbours or names
        one that does not name it (the text was cut off), or there is nothing of a topology; names the line.
    """
    reader = _Reader()
    for line, content in numbered(text):
        reader.take(line, content.strip())
    return reader.finished(last_line(text))


@dataclass(slots=True)
class _OpenNode:
    """A node whose arrows are being read: for each the line and the names."""

    line: int
    kind: str
    name: str
    key: str
    value: str
    arrows: dict[str, tuple[int, tuple[str, ...]]] = field(default_factory=dict)

    @property
    def missing(self) -> str | None:
        """The arrow that comes next."""
        return next((arrow for arrow in _ARROWS[self.kind] if arrow not in self.arrows), None)

    def finished(self) -> Node:
        successors, predecessors = (self.arrows.get(arrow, (0, ()))[1] for arrow in (_TO, _FROM))
        if self.kind == "Processor":
            return Processor(self.name, self._stores(), successors, predecessors)
        if self.kind == "Source":
            topics = self._topics()
            return Source(self.name, topics, None if topics else self.value, successors)
        if self.key != "topic":
            return Sink(self.name, None, self.value, predecessors)
        if not is_topic_name(self.value):
            raise self._reject("a topic's name after `topic:`")
        return Sink(self.name, self.value, None, predecessors)

    def _stores(self) -> tuple[str, ...]:
        names = _listed(self.value)
        if names is None or "" in names:
            raise self._reject("stores' names in brackets after `stores:`")
        return names

    def _topics(self) -> tuple[str, ...]:
        """Empty for a pattern."""
        names = _listed(self.value)
        if not self.value or names == ():
            raise self._reject("topics' names in brackets, or a pattern, after `topics:`")
        return names if names is not None and all(map(is_topic_name, names)) else ()

    def _reject(self, expected: str) -> Exception:
        return rejection(self.line, expected=expected, actual=shown(self.value))


class _Reader:
    """Takes one line after the other; knows the subtopology that is open and its nodes, of which the last is."""

    def __init__(self) -> None:
        self._done: dict[int, Subtopology] = {}
        self._names: set[str] = set()
        self._heading = False
        self._id: int | None = None
        self._is_global = False
        self._nodes: list[_OpenNode] = []

    def take(self, line: int, content: str) -> None:
        if content.startswith((_TO, _FROM)):
            self._take_arrow(line, content)
            return
        self._require_arrows(line, shown(content))
        kind = content.partition(": ")[0]
        if kind in _SAYS:
            self._take_node(line, kind, content)
        elif subtopology := _SUBTOPOLOGY.fullmatch(content):
            self._close(line, shown(content))
            self._open(line, subtopology[1], is_global=subtopology[2] is not None)
        elif content.endswith(_HEADING):
            if self._heading or self._id is not None:
                raise rejection(line, expected="one topology", actual=f"{shown(content)} again")
            self._heading = True
        else:
            named = kind == "Topology"
            raise rejection(line, expected="a topology without a name" if named else _EXPECTED, actual=shown(content))

    def finished(self, line: int) -> TopologyDescription:
        self._require_arrows(line, "the end")
        self._close(line, "the end")
        if not self._heading and not self._done:
            raise rejection(line, expected=_EXPECTED, actual="nothing")
        return TopologyDescription(tuple(self._done.values()))

    def _require_arrows(self, line: int, actual: str) -> None:
        missing = self._nodes[-1].missing if self._nodes else None
        if missing is not None:
            raise rejection(line, expected=f"`{missing}` of node {shown(self._nodes[-1].name)}", actual=actual)

    def _open(self, line: int, digits: str, *, is_global: bool) -> None:
        number = whole_number(digits)
        if number is None:
            raise rejection(line, expected="a number from 0 to 2147483647 after `Sub-topology:`", actual=shown(digits))
        if number in self._done:
            raise rejection(line, expected="each subtopology once", actual=f"{number} again")
        self._id, self._is_global = number, is_global

    def _close(self, line: int, actual: str) -> None:
        """End the open subtopology."""
        if self._id is None:
            return
        if not self._nodes:
            raise rejection(line, expected=f"nodes of subtopology {self._id}", actual=actual)
        self._require_answers()
        self._done[self._id] = Subtopology(self._id, tuple([node.finished() for node in self._nodes]), self._is_global)
        self._nodes = []

    def _require_answers(self) -> None:
        """If a node names another one after an arrow, the other one names the node after the opposite arrow."""
        stated = {
            (arrow, node.name, name)
            for node in self._nodes
            for arrow, (_, names) in node.arrows.items()
            for name in names
        }
        for node in self._nodes:
            for arrow, (line, names) in node.arrows.items():
                back = _FROM if arrow == _TO else _TO
                for name in names:
                    if (back, name, node.name) not in stated:
                        expected = f"nodes of the subtopology that name {shown(node.name)} after `{back}`"
                        raise rejection(line, expected=expected, actual=shown(name))

    def _take_node(self, line: int, kind: str, content: str) -> None:
        bracket = _BRACKET.search(content)
        name = "" if bracket is None else content[len(kind) + 2 : bracket.start()]
        if bracket is None or not content.endswith(")") or bracket[1] not in _SAYS[kind] or not name:
            expected = " or ".join([f"`{kind}: <name> ({key}: …)`" for key in _SAYS[kind]])
            raise rejection(line, expected=expected, actual=shown(content))
        if self._id is None:
            raise rejection(line, expected="`Sub-topology: …` before its nodes", actual=shown(content))
        if name in self._names:
            raise rejection(line, expected="each node once", actual=f"{shown(name)} again")
        self._names.add(name)
        self._nodes.append(_OpenNode(line, kind, name, bracket[1], content[bracket.end() : -1]))

    def _take_arrow(self, line: int, content: str) -> None:
        arrow, names = content[:3], content[3:].strip()
        missing = self._nodes[-1].missing if self._nodes else None
        if arrow != missing or not names:
            expected = _EXPECTED if missing is None else f"`{missing}` and nodes' names, or `{missing} {_NONE}`"
            raise rejection(line, expected=expected, actual=shown(content))
        self._nodes[-1].arrows[arrow] = line, () if names == _NONE else tuple(names.split(", "))


def _listed(value: str) -> tuple[str, ...] | None:
    """The names between brackets, None without brackets."""
    if not value.startswith("[") or not value.endswith("]"):
        return None
    return tuple(value[1:-1].split(", ")) if len(value) > 2 else ()
