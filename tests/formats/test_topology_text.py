"""Output of `Topology#describe()`, and the tasks that follow from it."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.errors.requests import MalformedText
from app.formats.streams.topology_text import Subtopology, read
from tests.formats.strategies import broken, reads_or_rejects, rejected
from tests.formats.writers.topology_text import Node, Nodes, Processor, Sink, Source, write
from tests.profiles import costly

ORDERS = """\
Topologies:
   Sub-topology: 0
    Source: KSTREAM-SOURCE-0000000000 (topics: [orders, returns])
      --> KSTREAM-KEY-SELECT-0000000001
    Processor: KSTREAM-KEY-SELECT-0000000001 (stores: [])
      --> by-customer-repartition-filter
      <-- KSTREAM-SOURCE-0000000000
    Processor: by-customer-repartition-filter (stores: [])
      --> by-customer-repartition-sink
      <-- KSTREAM-KEY-SELECT-0000000001
    Sink: by-customer-repartition-sink (topic: by-customer-repartition)
      <-- by-customer-repartition-filter

  Sub-topology: 1 for global store (will not generate tasks)
    Source: KSTREAM-SOURCE-0000000007 (topics: [countries])
      --> KTABLE-SOURCE-0000000008
    Processor: KTABLE-SOURCE-0000000008 (stores: [countries-store])
      --> none
      <-- KSTREAM-SOURCE-0000000007
  Sub-topology: 2
    Source: KSTREAM-SOURCE-0000000009 (topics: [customers])
      --> KTABLE-SOURCE-0000000010
    Source: by-customer-repartition-source (topics: [by-customer-repartition])
      --> KSTREAM-AGGREGATE-0000000005
    Processor: KSTREAM-AGGREGATE-0000000005 (stores: [totals])
      --> KTABLE-JOINTHIS-0000000012
      <-- by-customer-repartition-source
    Processor: KTABLE-SOURCE-0000000010 (stores: [customers-STATE-STORE-0000000011])
      --> KTABLE-JOINOTHER-0000000013
      <-- KSTREAM-SOURCE-0000000009
    Processor: KTABLE-JOINOTHER-0000000013 (stores: [totals])
      --> KTABLE-MERGE-0000000014
      <-- KTABLE-SOURCE-0000000010
    Processor: KTABLE-JOINTHIS-0000000012 (stores: [customers-STATE-STORE-0000000011])
      --> KTABLE-MERGE-0000000014
      <-- KSTREAM-AGGREGATE-0000000005
    Processor: KTABLE-MERGE-0000000014 (stores: [])
      --> KSTREAM-SINK-0000000015, KSTREAM-SINK-0000000016
      <-- KTABLE-JOINOTHER-0000000013, KTABLE-JOINTHIS-0000000012
    Sink: KSTREAM-SINK-0000000015 (topic: statements)
      <-- KTABLE-MERGE-0000000014
    Sink: KSTREAM-SINK-0000000016 (extractor class: app.ByCountry$$Lambda/0x00007f8a@1b2c3d)
      <-- KTABLE-MERGE-0000000014

"""
PATTERN = """\
Topologies:
   Sub-topology: 0
    Source: in (topics: (eu|us)-[a-z]+\\.orders)
      --> count
    Processor: count (stores: [seen])
      --> none
      <-- in

"""

NAMES = [*"abcdefghij", "a.b", "a-b", "in", "out", "none-", "Sink", "KSTREAM-SINK-0000000001", "--", "x y"]
TOPICS = st.sampled_from(["t", "u", "v.w", "by-key-repartition", "A_1"])


@st.composite
def topologies(draw: st.DrawFn) -> tuple[Nodes, ...]:
    """Some subtopologies; each a source, processors one after another, and sinks that all read the last."""
    names = iter(draw(st.permutations(NAMES)))
    ids = sorted(draw(st.lists(st.integers(0, 99), unique=True, max_size=3)))
    return tuple([draw(_subtopologies(number, [next(names) for _ in range(6)])) for number in ids])


@st.composite
def _subtopologies(draw: st.DrawFn, number: int, names: list[str]) -> Nodes:
    processors = draw(st.integers(1, 3))
    chain, sinks = names[: processors + 1], names[processors + 1 : draw(st.integers(processors + 1, 6))]
    topics = tuple(draw(st.lists(TOPICS, min_size=1, max_size=3)))
    pattern = draw(st.none() | st.sampled_from(["orders-.*", "a|b", "(x)?y", "[a-z]+", "plain"]))
    nodes: list[Node] = [Source(chain[0], () if pattern else topics, pattern, (chain[1],))]
    for place in range(1, len(chain)):
        successors = (chain[place + 1],) if place + 1 < len(chain) else tuple(sinks)
        stores = tuple(draw(st.lists(st.sampled_from(NAMES), max_size=2)))
        nodes.append(Processor(chain[place], stores, successors, (chain[place - 1],)))
    for sink in sinks:
        topic = draw(st.none() | TOPICS)
        nodes.append(Sink(sink, topic, None if topic else "some.Extractor@1f", (chain[-1],)))
    return Nodes(number, tuple(nodes), draw(st.booleans()))


class TestByHand:
    def test_subtopologies(self) -> None:
        first, countries, third = read(ORDERS)
        assert (first.id, countries.id, third.id) == (0, 1, 2)
        assert (first.is_global, countries.is_global, third.is_global) == (False, True, False)
        assert (first.is_stateful, countries.is_stateful, third.is_stateful) == (False, False, True)
        assert first.source_topics == ("orders", "returns")
        assert third.repartition_topics == ("by-customer-repartition",)
        assert third.source_topics == ("customers", "by-customer-repartition")
        assert third.stores == ("totals", "customers-STATE-STORE-0000000011")

    def test_changelogs_have_the_application_id_in_front(self) -> None:
        first, countries, third = read(ORDERS)
        assert third.changelog_topics("shop") == (
            "shop-totals-changelog",
            "shop-customers-STATE-STORE-0000000011-changelog",
        )
        assert first.changelog_topics("shop") == countries.changelog_topics("shop") == ()

    def test_a_pattern(self) -> None:
        (found,) = read(PATTERN)
        assert (found.source_topics, found.source_patterns) == ((), (r"(eu|us)-[a-z]+\.orders",))
        assert found.is_stateful

    @pytest.mark.parametrize(
        ("printed", "topics", "pattern"),
        [
            ("[a, b-c]", ("a", "b-c"), None),
            ("[a-z]", ("a-z",), None),
            ("[a-z]+", (), "[a-z]+"),
            ("[^a]", (), "[^a]"),
            ("orders", (), "orders"),
            ("a) (stores: [b]", (), "a) (stores: [b]"),
        ],
    )
    def test_topics_or_pattern(self, printed: str, topics: tuple[str, ...], pattern: str | None) -> None:
        (found,) = read(PATTERN.replace(r"(eu|us)-[a-z]+\.orders", printed))
        assert found == Subtopology(0, topics, () if pattern is None else (pattern,), ("seen",))

    def test_a_heading_alone_has_no_subtopology(self) -> None:
        assert read("Topologies:\n ") == ()

    @pytest.mark.parametrize(
        "text",
        [
            ORDERS.replace("\n", "\r\n"),
            re.sub(r"(?m)^ +", "", ORDERS),
            re.sub(r"(?m)^ +", "\t", ORDERS),
            ORDERS.replace("Topologies:", "12:00:01 INFO shop.Main - Topologies:"),
            ORDERS.replace("Topologies:", "[2025-01-27 19:50:51,936] INFO Topologies: (shop.Main)"),
            ORDERS.removeprefix("Topologies:\n"),
            "\n\n" + ORDERS.rstrip(),
        ],
    )
    def test_how_it_was_pasted_does_not_matter(self, text: str) -> None:
        assert read(text) == read(ORDERS)


HEAD = "Topologies:\n   Sub-topology: 0\n"
SOURCE = "    Source: in (topics: [a])\n      --> out\n"
SINK = "    Sink: out (topic: b)\n      <-- in\n"
PROCESSOR = "    Processor: mid (stores: [])\n      --> none\n      <-- none\n"


class TestRejections:
    def test_the_text_they_start_from_is_read(self) -> None:
        assert read(HEAD + SOURCE + SINK + PROCESSOR) == (Subtopology(0, ("a",)),)

    @pytest.mark.parametrize(
        ("text", "line", "says"),
        [
            ("", 1, "found nothing"),
            ("hello", 1, "`Topologies:`"),
            ("Sub-topologies:\n", 1, "`Topologies:`"),
            ("Topology: blue:\n   Sub-topology: 0\n", 1, "a topology without a name"),
            (HEAD + SOURCE + SINK + "\nTopology: blue:\n", 8, "a topology without a name"),
            (HEAD + SOURCE + SINK + "\nTopologies:\n", 8, "one topology"),
            ("Topologies:\nTopologies:\n", 2, "one topology"),
            (HEAD.removeprefix("Topologies:\n") + SOURCE + SINK + "Topologies:\n", 6, "one topology"),
            ("Topologies:\n" + SOURCE, 2, "`Sub-topology: …` before its nodes"),
            (HEAD, 2, "nodes of subtopology 0, found the end"),
            (HEAD + "  Sub-topology: 1\n", 3, "nodes of subtopology 0"),
            (HEAD + SOURCE + SINK + "  Sub-topology: 0\n", 7, "each subtopology once, found 0 again"),
            ("Sub-topology: 2147483648\n", 1, "after `Sub-topology:`"),
            ("Sub-topology: 1 for global store\n", 1, "`Sub-topology: …`"),
            ("Sub-topology: x\n", 1, "`Sub-topology: …`"),
            (HEAD + SOURCE + SOURCE + SINK, 5, "each node once, found 'in' again"),
            (HEAD + "    Source: in (topics: [a])\n" + SINK, 4, "`-->` of node 'in'"),
            (HEAD + SOURCE + "    Sink: out (topic: b)\n", 5, "`<--` of node 'out', found the end"),
            (HEAD + SOURCE + SINK + PROCESSOR.replace("      --> none\n", ""), 8, "`-->` and nodes' names"),
            (HEAD + SOURCE + "      <-- x\n" + SINK, 5, "`Source: …`"),
            (HEAD + SOURCE + "      --> x\n" + SINK, 5, "`Source: …`"),
            (HEAD + "    --> x\n", 3, "`Source: …`"),
            (HEAD + SOURCE.replace("out", "") + SINK, 4, "or `--> none`"),
            (HEAD + SOURCE, 4, "that name 'in' after `<--`, found 'out'"),
            (HEAD + SOURCE.replace("out", "none") + SINK, 6, "that name 'out' after `-->`, found 'in'"),
            (HEAD + SOURCE + SINK.replace("<-- in", "<-- none"), 4, "found 'out'"),
            (HEAD + SOURCE.replace("(topics: [a])", "(topics: [a]"), 3, "`Source: <name> (topics: …)`"),
            (HEAD + SOURCE.replace("topics", "stores"), 3, "`Source: <name> (topics: …)`"),
            (HEAD + SOURCE.replace("[a]", "") + SINK, 3, "or a pattern, after `topics:`"),
            (HEAD + SOURCE.replace("in ", ""), 3, "`Source: <name> (topics: …)`"),
            (HEAD + SOURCE.replace("[a]", "[]") + SINK, 3, "topics' names in brackets"),
            (HEAD + SOURCE + SINK.replace("(topic: b)", "(topic: b c)"), 5, "a topic's name after `topic:`"),
            (HEAD + SOURCE + SINK + PROCESSOR.replace("[]", "a"), 7, "stores' names in brackets"),
            (HEAD + SOURCE + SINK + PROCESSOR.replace("[]", "[a, ]"), 7, "stores' names in brackets"),
            ("Source: " + " (topics: " * 5000, 1, "`Source: <name> (topics: …)`"),
        ],
    )
    def test_a_malformed_text_is_named_by_line_and_expectation(self, text: str, line: int, says: str) -> None:
        rejection = rejected(read, text)
        assert says in rejection.detail
        assert rejection.line == line

    @pytest.mark.parametrize("text", [ORDERS, PATTERN])
    def test_a_cut_passes_only_between_subtopologies(self, text: str) -> None:
        """Wherever else the text ends, something is named that is not there."""
        ends = {match.end() for match in re.finditer(r"(?m)^      (?:-->|<--).*$(?=\n\n|\n  Sub|\n*\Z)", text)}
        for length in range(len("Topologies:\n "), len(text.rstrip())):
            left = text[:length].rstrip()
            if len(left) in ends or left == "Topologies:":
                read(left)
            else:
                rejected(read, text[:length])


class TestLaws:
    @given(topologies())
    def test_what_is_written_is_read(self, printed: tuple[Nodes, ...]) -> None:
        """Topics, patterns and stores each once, in their order."""
        assert read(write(printed)) == tuple([one.subtopology() for one in printed])


class TestFuzz:
    @given(st.text())
    def test_any_text_reads_or_is_rejected(self, text: str) -> None:
        reads_or_rejects(read, text)

    @costly(200)
    @given(st.data())
    @pytest.mark.parametrize("text", [ORDERS, PATTERN])
    def test_any_broken_text_reads_or_is_rejected(self, text: str, data: st.DataObject) -> None:
        reads_or_rejects(read, data.draw(broken(text)))


def test_prefixes_of_lines_are_removed() -> None:
    """A line keeps its number."""
    expected = read(ORDERS)
    for prefix in ("kafka-1  | ", "### ", "2026-01-31T12:00:00Z "):
        text = "".join(f"{prefix}{line}\n" for line in ORDERS.rstrip("\n").split("\n"))
        assert read(text) == expected
        with pytest.raises(MalformedText, match="line 4: "):
            read(text.replace("--> KSTREAM-KEY", "-> KSTREAM-KEY"))
