"""The text of `Topology#describe()` of Kafka Streams: subtopologies, their nodes, and the links between nodes.

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
so that logged descriptions are read. A source's pattern that has the form of a list of topics (`[abc]`) counts as one.
A node's name has no comma before a blank and no bracket after one, as none has that Kafka gives or checks.

Rejected are a named topology (`Topology: name:`), which no public API makes, and a text in which a node names another
that does not name it in return: it was cut off or changed. A cut between two subtopologies cannot be seen.

Not in a description:

- Internal topics are printed without their prefix, the application id. Only its name shows that a topic is internal.
- Changelogs are not printed. A store whose logging is disabled has none, and with `topology.optimization` the source
  topic of a table is its store's. Neither is printed, so `changelog_topics` may have a topic too many.

Source: KIP-120; `InternalTopologyBuilder` of Apache Kafka 4.0.
"""

import re
from dataclasses import dataclass, field

from app.formats.syntax import prefixes
from app.formats.syntax.lines import is_topic_name, last_line, numbered, rejection, shown, whole_number

_HEADING = "Topologies:"
_GLOBAL = " for global store (will not generate tasks)"
_SUBTOPOLOGY = re.compile(rf"Sub-topology: ([0-9]+)({re.escape(_GLOBAL)})?")
_BRACKET = re.compile(r" \((topics|stores|topic|extractor class): ")
_SAYS = {"Source": ("topics",), "Processor": ("stores",), "Sink": ("topic", "extractor class")}
_TO, _FROM = "-->", "<--"
_ARROWS = {"Source": (_TO,), "Processor": (_TO, _FROM), "Sink": (_FROM,)}
_NONE = "none"
_KNOWN = re.compile(r"\s*(?:Topologies:|Sub-topology: |(?:Source|Processor|Sink): |--> |<-- )")
_EXPECTED = "`Topologies:`, `Sub-topology: …`, `Source: …`, `Processor: …`, `Sink: …`, `--> …` or `<-- …`"


@dataclass(frozen=True, slots=True)
class Subtopology:
    """The topics and stores of nodes that are joined, each once and in the order in which they are printed.

    Parameters
    ----------
    id : the number in its tasks' ids.
    source_topics : the topics that sources list; repartition topics without the application id.
    source_patterns : the Java patterns of the sources that list no topics.
    stores : the stores that processors use.
    is_global : it fills a global store, on every client, and has no tasks.
    """

    id: int
    source_topics: tuple[str, ...] = ()
    source_patterns: tuple[str, ...] = ()
    stores: tuple[str, ...] = ()
    is_global: bool = False

    @property
    def is_stateful(self) -> bool:
        """Whether its tasks use stores. Kafka checks changelogs: to it, a store without logging is no state."""
        return not self.is_global and bool(self.stores)

    @property
    def repartition_topics(self) -> tuple[str, ...]:
        """The source topics that have the name of one that Kafka Streams makes between two subtopologies.

        It makes them so that records of one key meet in one task. One's own topic may have such a name, too.
        """
        return tuple([topic for topic in self.source_topics if topic.endswith("-repartition")])

    def changelog_topics(self, application_id: str) -> tuple[str, ...]:
        """The topics that its stores are restored from; a global store is restored from its source topic."""
        return () if self.is_global else tuple([f"{application_id}-{store}-changelog" for store in self.stores])


def read(text: str) -> tuple[Subtopology, ...]:
    """Read the library's description of a topology.

    Raises
    ------
    MalformedText
        A line has no form of the library's, a node or subtopology comes twice, a node lacks its neighbours or names
        one that does not name it (the text was cut off), or there is nothing of a topology; names the line.
    """
    reader = _Reader()
    for line, content in numbered(prefixes.of_one_host(text, lambda line: _KNOWN.match(line) is not None)):
        reader.take(line, content.strip())
    return reader.finished(last_line(text))


@dataclass(slots=True)
class _Node:
    """A node, and of each of its arrows that was read the line and the names."""

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

    def stores(self) -> tuple[str, ...]:
        """The stores of a processor. Raises `MalformedText`."""
        names = _listed(self.value)
        if names is None or "" in names:
            raise self._reject("stores' names in brackets after `stores:`")
        return names

    def topics(self) -> tuple[str, ...]:
        """The topics of a source; empty for a pattern. Raises `MalformedText`."""
        names = _listed(self.value)
        if not self.value or names == ():
            raise self._reject("topics' names in brackets, or a pattern, after `topics:`")
        return names if names is not None and all(map(is_topic_name, names)) else ()

    def check_sink(self) -> None:
        """Raise `MalformedText` if the topic of a sink has an invalid name."""
        if self.key == "topic" and not is_topic_name(self.value):
            raise self._reject("a topic's name after `topic:`")

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
        self._nodes: list[_Node] = []

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

    def finished(self, line: int) -> tuple[Subtopology, ...]:
        self._require_arrows(line, "the end")
        self._close(line, "the end")
        if not self._heading and not self._done:
            raise rejection(line, expected=_EXPECTED, actual="nothing")
        return tuple(self._done.values())

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
        topics: dict[str, None] = {}
        patterns: dict[str, None] = {}
        stores: dict[str, None] = {}
        for node in self._nodes:
            if node.kind == "Source" and (listed := node.topics()):
                topics |= dict.fromkeys(listed)
            elif node.kind == "Source":
                patterns[node.value] = None
            elif node.kind == "Processor":
                stores |= dict.fromkeys(node.stores())
            else:
                node.check_sink()
        self._done[self._id] = Subtopology(self._id, tuple(topics), tuple(patterns), tuple(stores), self._is_global)
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
        self._nodes.append(_Node(line, kind, name, bracket[1], content[bracket.end() : -1]))

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
