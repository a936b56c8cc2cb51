"""The picture of a reassignment: well-formed whatever it is of, true to the moves, and bounded."""

import re
from collections import Counter
from dataclasses import replace
from random import Random
from xml.etree import ElementTree as ET

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.core.measures.transfers import Transfers, transfers
from app.core.model import UNKNOWN_SIZE, Assignment, Broker, padded
from app.web.pictures.moves import MOST_BROKERS, MOST_RACKS, MovesPicture, draw
from app.web.pictures.rack_columns import WIDEST
from tests.formats.changes import kafkas_own, nothing, worked
from tests.profiles import costly
from tests.web.strategies import clusters, texts

SVG = "{http://www.w3.org/2000/svg}"


@st.composite
def reassignments(draw_: st.DrawFn) -> Transfers:
    brokers = draw_(clusters())
    ids = st.sampled_from([broker.id for broker in brokers] or [1, 2]) | st.integers(0, 5)
    sides = []
    rows = draw_(st.integers(0, 12))
    for _ in range(2):
        listed = [draw_(st.lists(ids, min_size=1, max_size=4, unique=True)) for _ in range(rows)]
        sides.append({"t": Assignment(np.arange(rows, dtype=np.int32), padded(listed))})
    sizes = draw_(st.lists(st.sampled_from([UNKNOWN_SIZE, 0, 7, 2**50]), min_size=rows, max_size=rows))
    return transfers(*sides, sizes={"t": np.array(sizes, np.int64)}, brokers=brokers)


def read(document: str) -> ET.Element:
    return ET.fromstring(document)  # noqa: S314 — it was drawn just now


def parsed(found: Transfers, title: str = "a plan") -> ET.Element:
    return read(draw(MovesPicture(title, ["So much moves."], found)))


def titles(root: ET.Element, kind: str) -> list[str]:
    """Texts of the tooltips of the groups of a class."""
    return [group.findtext(f"{SVG}title") or "" for group in root.iter(f"{SVG}g") if group.get("class") == kind]


def removal(brokers: int, racks: int) -> Transfers:
    """Broker 0 is emptied; every partition of it goes to another broker."""
    ids = np.arange(600, dtype=np.int32)
    before = np.column_stack([ids % brokers, (ids + 1) % brokers]).astype(np.int32)
    after = before.copy()
    after[before == 0] = 2 + ids[: int((before == 0).sum())] % (brokers - 3)
    sides = ({"t": Assignment(ids, rows)} for rows in (before, after))
    listed = [Broker(broker, f"rack-{broker % racks}") for broker in range(brokers)]
    return transfers(*sides, sizes={"t": np.full(600, 1 << 20, np.int64)}, brokers=listed)


@costly()
@given(reassignments(), texts)
def test_whatever_the_names_are_it_is_well_formed_and_takes_nothing_from_elsewhere(
    found: Transfers, title: str
) -> None:
    root = parsed(found, title)
    allowed = {"svg", "title", "desc", "style", "defs", "pattern", "rect", "path", "text", "g"}
    assert {element.tag.removeprefix(SVG) for element in root.iter()} <= allowed
    for element in root.iter():
        for name, value in element.attrib.items():
            assert not name.startswith("on")
            assert "href" not in name
            assert "http" not in value
    assert float(root.get("width", 0)) <= WIDEST


@costly()
@given(reassignments())
def test_every_replica_that_moves_is_in_some_square(found: Transfers) -> None:
    counts = [re.search(r": ([\d,]+) replicas?, ", words) for words in titles(parsed(found), "move")]
    assert sum(int(count[1].replace(",", "")) for count in counts if count) == int(found.flows.replicas.sum())


@given(st.randoms(use_true_random=False))
def test_the_bytes_do_not_hang_on_the_order_in_which_brokers_are_listed(random: Random) -> None:
    own = removal(9, 3)
    shuffled = list(own.brokers)
    random.shuffle(shuffled)
    sides = [
        {topic.topic: Assignment(topic.partition_ids, getattr(topic, side))}
        for topic in own.movement.topics
        for side in ("before", "after")
    ]
    sizes = {"t": np.full(600, 1 << 20, np.int64)}
    again = transfers(sides[0], sides[1], sizes=sizes, brokers=shuffled)
    assert draw(MovesPicture("", [], again)) == draw(MovesPicture("", [], own))


def test_a_worked_example_in_words() -> None:
    """Sizes are not all known, so that bars are of replicas."""
    root = parsed(worked())
    assert titles(root, "move") == [
        "from broker 101 to broker 108: 1 replica, size unknown",
        "from broker 105 to broker 106: 1 replica, 12.3 MiB",
        "from nowhere to broker 105: 1 replica, size unknown",
    ]
    assert titles(root, "column")[1] == (
        "broker 105, az-b: before 2 replicas, 12.3 MiB; gets 1 replica, size unknown; gives 1 replica, 12.3 MiB; "
        "after 2 replicas, ≥ 7 B; leads 1 before and 1 after"
    )
    description = root.findtext(f"{SVG}desc") or ""
    assert description.startswith("So much moves. Most passes from broker 105 to broker 106: 1 replica, 12.3 MiB.")
    assert "az-b: 2 brokers, 4 → 5 replicas." in description


def test_kafkas_own_proposal_is_drawn_in_bytes_under_its_racks() -> None:
    root = parsed(kafkas_own())
    assert len(titles(root, "column")) == 9
    looks = Counter(
        group.find(f"{SVG}rect").get("class")  # type: ignore[union-attr] # every move has its square
        for group in root.iter(f"{SVG}g")
        if group.get("class") == "move"
    )
    assert looks == {"follows": 20, "cross-rack": 28}
    assert "use1-az4: 2 brokers, 49.2 MiB → 45.6 MiB." in (root.findtext(f"{SVG}desc") or "")


def test_what_a_broker_had_is_an_outline_as_high_as_that_was() -> None:
    root = parsed(removal(9, 3))
    columns = [group for group in root.iter(f"{SVG}g") if group.get("class") == "column"]
    emptied = next(group for group in columns if (group.findtext(f"{SVG}title") or "").startswith("broker 0,"))
    looks = {rect.get("class"): float(rect.get("height", 0)) for rect in emptied.findall(f"{SVG}rect")}
    assert set(looks) == {"unseen", "was"}
    assert looks["was"] > 0


def test_where_nothing_moves_there_are_no_squares() -> None:
    root = parsed(nothing())
    assert titles(root, "move") == []
    assert len(titles(root, "column")) == 2


@pytest.mark.parametrize(
    ("brokers", "racks", "columns", "noun"),
    [
        (MOST_BROKERS, 3, MOST_BROKERS, "broker"),
        (MOST_BROKERS, MOST_BROKERS, MOST_BROKERS, "broker"),
        (MOST_BROKERS + 1, 3, 3, "rack"),
        (200, 100, MOST_RACKS, "rack"),
    ],
)
def test_many_brokers_are_drawn_by_rack_and_many_racks_together(
    brokers: int, racks: int, columns: int, noun: str
) -> None:
    found = removal(brokers, racks)
    root = parsed(found)
    assert len(titles(root, "column")) == columns
    assert len([group for group in root.iter(f"{SVG}g") if group.get("class") == "row"]) <= MOST_RACKS
    moves = titles(root, "move")
    assert moves
    assert all(words.startswith(f"from {noun} ") for words in moves)
    assert float(root.get("width", 0)) <= WIDEST


def test_a_picture_of_racks_names_the_brokers_that_move_most_and_cuts_its_lines() -> None:
    """The line from the least to the most broker of a rack stays below the names and totals of the panel."""
    document = draw(MovesPicture("a plan", [], removal(MOST_BROKERS + 6, 3)))
    root = read(document)
    assert "Broker 0 sends " in document
    assert re.search(r"Broker \d+ gets \d+ \([\d.]+ MiB\), \d+ gets ", document)
    totals = [text for text in root.iter(f"{SVG}text") if " → " in "".join(text.itertext())]
    lowest = max(float(text.get("y", 0)) for text in totals)
    ends = [path.get("d", "") for path in root.iter(f"{SVG}path") if path.get("class") == "span"]
    assert ends
    assert all(float(end.rpartition("V")[2]) > lowest for end in ends)


def test_it_has_an_accessible_name_and_follows_the_readers_colours() -> None:
    root = parsed(worked())
    assert root.get("role") == "img"
    assert [child.tag for child in root][:2] == [f"{SVG}title", f"{SVG}desc"]
    assert "prefers-color-scheme: dark" in (root.findtext(f"{SVG}style") or "")


def test_on_a_page_facts_and_legend_are_the_caption() -> None:
    """As HTML, which a narrow window wraps; the page has the style sheet and the title."""
    picture = MovesPicture("Move one", ["A fact."], worked())
    figure = read(f"<figure>{draw(picture, style='')}</figure>")
    caption = "".join(figure[0].itertext())
    assert figure[0].tag == "figcaption"
    for fact in (*picture.facts, "moves to another rack", "⌀ mean"):
        assert fact in caption
    looks = [element.get("class", "").split() for element in figure[1].iter()]
    assert not any({"title", "fact"} & set(look) for look in looks)
    assert list(figure.iter(f"{SVG}style")) == []


@pytest.mark.parametrize("racks", [2, 3, 6])
def test_a_number_fits_in_its_square(racks: int) -> None:
    """Also where another rack moves many times as much."""
    ids = np.arange(4_000, dtype=np.int32)
    before = (ids % 48)[:, None].astype(np.int32)
    after = np.where(ids[:, None] < 3_000, 0, (before + 1 + ids[:, None] % 7) % 48).astype(np.int32)
    listed = [Broker(broker, f"rack-{broker % racks}") for broker in range(48)]
    sizes = {"t": np.where(ids < 3_000, 1 << 30, 1).astype(np.int64)}
    found = transfers({"t": Assignment(ids, before)}, {"t": Assignment(ids, after)}, sizes=sizes, brokers=listed)
    moves = [each for each in parsed(found).iter(f"{SVG}g") if each.get("class") == "move"]
    assert max(len(move.findtext(f"{SVG}text") or "") for move in moves) >= 3
    for move in moves:
        square = move.find(f"{SVG}rect")
        assert square is not None
        assert float(square.get("width", 0)) >= 6 * len(move.findtext(f"{SVG}text") or "")


def test_no_fact_is_cut_and_names_of_racks_keep_their_ends() -> None:
    """Facts go on in a next line; zones of a region have the same beginning."""
    found = removal(MOST_BROKERS + 6, 3)
    fact = "Every word of a long sentence is on the picture, " * 4
    document = draw(MovesPicture("a plan", [fact], found))
    lines = ["".join(text.itertext()) for text in read(document).iter(f"{SVG}text") if text.get("class") == "fact"]
    assert " ".join(lines).startswith(fact.strip())
    assert not any("…" in line for line in lines)
    zones = [replace(broker, rack=f"us-east-1{'abc'[broker.id % 3]}") for broker in found.brokers]
    named = read(draw(MovesPicture("a plan", [], replace(found, brokers=tuple(zones)))))
    senders = [row.find(f"{SVG}text") for row in named.iter(f"{SVG}g") if row.get("class") == "row"]
    ends = ["".join(text.itertext())[-1] for text in senders if text is not None]
    assert len(ends) == len(set(ends)) > 0
