"""The picture of a placement: well-formed whatever it is of, true to the counts, free of anything from elsewhere."""

import re
from collections import Counter
from itertools import pairwise
from random import Random
from xml.etree import ElementTree as ET

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.core.jvm import JavaRandom
from app.core.model import Assignment, Broker, NewTopic, unpadded
from app.core.replicas import admin_utils
from app.web.pictures.placement import PlacementPicture, draw
from app.web.pictures.rack_columns import LEFT, RIGHT, WIDEST, Rack, RackItem, lay_out
from app.web.pictures.rendering import STYLE
from tests.profiles import costly
from tests.web.strategies import assignments, clusters, texts

SVG = "{http://www.w3.org/2000/svg}"
NINE = [
    *[Broker(broker, "use1-az1") for broker in (101, 102, 103)],
    *[Broker(broker, "use1-az2") for broker in (104, 105, 106, 107)],
    *[Broker(broker, "use1-az4") for broker in (108, 109)],
]


@st.composite
def pictures(draw_: st.DrawFn) -> PlacementPicture:
    brokers = draw_(clusters())
    return PlacementPicture(draw_(texts), brokers, draw_(assignments(brokers)))


def read(document: str) -> ET.Element:
    return ET.fromstring(document)  # noqa: S314 — it was drawn just now


def parsed(picture: PlacementPicture) -> ET.Element:
    return read(draw(picture))


def placed(brokers: list[Broker], partitions: int, factor: int) -> dict[str, Assignment]:
    topic = NewTopic("orders", partitions, factor)
    return {"orders": admin_utils.place(brokers, topic, random=JavaRandom(7)).assignment}


def counts_by_broker(root: ET.Element) -> dict[int, tuple[int, int]]:
    """Texts of the tooltips of the bars: broker → (replicas, leaders)."""
    found = {}
    for group in root.iter(f"{SVG}g"):
        if group.get("class") == "column":
            title = group.findtext(f"{SVG}title") or ""
            match = re.match(r"broker (\d+), .*: ([\d,]+) replicas?, leads ([\d,]+)(, fenced)?$", title, re.DOTALL)
            assert match, title
            found[int(match[1])] = (int(match[2].replace(",", "")), int(match[3].replace(",", "")))
    return found


def rows_of(root: ET.Element) -> list[ET.Element]:
    return [group for group in root.iter(f"{SVG}g") if (group.get("class") or "").startswith("row")]


@costly()
@given(pictures())
def test_whatever_the_names_are_it_is_well_formed_and_takes_nothing_from_elsewhere(picture: PlacementPicture) -> None:
    """A rack may have any name, since KIP-36 bounds none; names are text and never markup."""
    root = parsed(picture)
    allowed = {"svg", "title", "desc", "style", "defs", "pattern", "rect", "path", "text", "g"}
    assert {element.tag.removeprefix(SVG) for element in root.iter()} <= allowed
    for element in root.iter():
        for name, value in element.attrib.items():
            assert not name.startswith("on")
            assert "href" not in name
            assert "http" not in value
            assert "url(" not in value or value == "url(#rackplan-fenced)"
    assert not re.search(r"url\(|@import|http", STYLE)


@costly()
@given(pictures())
def test_every_broker_has_a_tooltip_with_its_replicas(picture: PlacementPicture) -> None:
    """Each listed broker has its bar, and each one that only the assignment names; the counts are the rows'."""
    rows = [row for assignment in picture.assignments.values() for row in unpadded(assignment.replicas)]
    replicas = Counter(broker for row in rows for broker in set(row))
    leaders = Counter(row[0] for row in rows if row)
    brokers = {broker.id for broker in picture.brokers} | set(replicas)
    assert counts_by_broker(parsed(picture)) == {broker: (replicas[broker], leaders[broker]) for broker in brokers}


@costly()
@given(pictures(), st.randoms(use_true_random=False))
def test_the_bytes_do_not_hang_on_the_order_in_which_brokers_are_listed(
    picture: PlacementPicture, random: Random
) -> None:
    shuffled = list(picture.brokers)
    random.shuffle(shuffled)
    assert draw(PlacementPicture(picture.title, shuffled, picture.assignments)) == draw(picture)


@costly()
@given(st.lists(st.integers(0, 400), max_size=60))
def test_columns_stay_apart_and_within_the_width(sizes: list[int]) -> None:
    """Everything has one column, in order; panels of a line neither touch nor leave the page, empty ones included."""
    starts = np.cumsum([0, *sizes]).tolist()
    everything = [RackItem(str(i), "", (1,)) for i in range(sum(sizes))]
    racks = [
        Rack(str(i), tuple(everything[start : start + size]))
        for i, (start, size) in enumerate(zip(starts, sizes, strict=False))
    ]
    columns = lay_out(racks)
    assert [column.item for panel in columns.panels for column in panel.columns] == everything
    assert {panel.name for panel in columns.panels} == {rack.name for rack in racks}
    assert columns.width <= WIDEST
    for line in columns.lines:
        right = LEFT - 1.0
        for panel in line:
            assert panel.x > right
            right = panel.x + panel.width
            xs = [column.x for column in panel.columns]
            assert panel.x <= min(xs, default=WIDEST) - columns.pitch / 2 + 1e-6
            assert max(xs, default=0) + columns.pitch / 2 <= right + 1e-6
            assert all(b - a == pytest.approx(columns.pitch) for a, b in pairwise(xs))
        assert right <= WIDEST - RIGHT


def test_each_partition_of_a_small_plan_is_a_row_whose_cells_stand_in_their_racks() -> None:
    """One leader a row, filled, and a cell a replica within its own rack's panel: so one sees that it spans three."""
    found = placed(NINE, 48, 3)
    root = parsed(PlacementPicture("orders", NINE, found))
    panels = {
        rect.findtext(f"{SVG}title"): (float(rect.get("x", 0)), float(rect.get("x", 0)) + float(rect.get("width", 0)))
        for rect in root.iter(f"{SVG}rect")
        if rect.get("class") == "panel"
    }
    rack_of = {broker.id: broker.rack for broker in NINE}
    rows = rows_of(root)
    assert len(rows) == 48
    for row, (partition, replicas) in zip(rows, enumerate(found["orders"].replicas.tolist()), strict=True):
        cells = row.findall(f"{SVG}rect")
        titles = [cell.findtext(f"{SVG}title") for cell in cells]
        expected = [f"orders-{partition} on broker {replicas[0]}: preferred leader"]
        expected += [f"orders-{partition} on broker {replicas[i]}: replica {i + 1} of 3" for i in (1, 2)]
        assert sorted(map(str, titles)) == sorted(expected)
        looks = {words: cell.get("class") for words, cell in zip(titles, cells, strict=True)}
        assert looks == dict(zip(expected, ("leads", "follows", "follows"), strict=True))
        for cell, words in zip(cells, titles, strict=True):
            match = re.search(r"on broker (\d+)", str(words))
            assert match
            left, right = panels[rack_of[int(match[1])]]
            assert left <= float(cell.get("x", 0)) <= right


def test_words_say_that_a_placement_is_rack_safe_and_how_even_it_is() -> None:
    description = parsed(PlacementPicture("orders", NINE, placed(NINE, 48, 3))).findtext(f"{SVG}desc") or ""
    assert "Rack-safe: every partition spans as many racks as it can: 3." in description
    assert re.search(r"A broker leads 5 to 6 partitions \(spread 1\) and holds \d+ to \d+ replicas", description)
    assert "use1-az4: 2 brokers, 48 replicas, " in description
    assert " lead." in description


def test_a_partition_that_spans_too_few_racks_is_marked_and_counted() -> None:
    by_hand = Assignment(np.arange(2, dtype=np.int32), np.array([[101, 102, 103], [101, 104, 108]], np.int32))
    root = parsed(PlacementPicture("by hand", NINE, {"orders": by_hand}))
    assert [row.get("class") for row in rows_of(root)] == ["row crowded", "row"]
    assert "50.0 % rack-safe: 1 of 2 partitions spans fewer racks than it could." in (root.findtext(f"{SVG}desc") or "")


def test_fenced_brokers_are_hatched_and_said() -> None:
    brokers = [*NINE, Broker(110, "use1-az4", fenced=True)]
    picture = draw(PlacementPicture("orders", brokers, placed(NINE, 12, 3)))
    assert "1 of 10 brokers is fenced." in picture
    assert "broker 110, rack use1-az4: 0 replicas, leads 0, fenced" in picture
    assert picture.count('fill="url(#rackplan-fenced)"') == 2  # the broker, and the legend
    assert "rackplan-fenced" not in draw(PlacementPicture("orders", NINE, placed(NINE, 12, 3)))


def test_a_large_plan_has_its_bars_only() -> None:
    brokers = [Broker(broker, f"rack-{broker % 3}") for broker in range(300)]
    root = parsed(PlacementPicture("orders", brokers, placed(brokers, 20_000, 3)))
    assert rows_of(root) == []
    assert len(counts_by_broker(root)) == 300
    assert float(root.get("width", 0)) <= WIDEST


def test_names_that_are_too_long_are_cut_and_whole_in_tooltips() -> None:
    long = "a data centre with a very long name " * 5
    brokers = [Broker(1, long), Broker(2, "<script>"), Broker(3, "")]
    root = parsed(PlacementPicture("orders", brokers, placed(brokers, 3, 2)))
    [heading] = [text for text in root.iter(f"{SVG}text") if text.findtext(f"{SVG}title") == long]
    shown = "".join(heading.itertext()).removeprefix(long)
    assert shown.endswith("…")
    assert long.startswith(shown[:-1])
    assert len(shown) < 30


def test_the_names_of_a_few_racks_are_whole() -> None:
    """Panels of few brokers are as wide as the names of their racks."""
    racks = [f"us-east-1{letter}" for letter in "abc"]
    root = parsed(PlacementPicture("orders", [Broker(at, rack) for at, rack in enumerate(racks)], {}))
    shown = [text.text for text in root.iter(f"{SVG}text") if text.get("class") == "rack"]
    assert [text or "" for text in shown] == racks


@pytest.mark.parametrize(
    ("brokers", "partitions", "factor"),
    [([Broker(1)], 3, 1), ([Broker(i) for i in range(6)], 12, 2), ([Broker(i, f"r{i}") for i in range(80)], 10, 3)],
    ids=["one broker", "no racks", "a rack a broker"],
)
def test_small_and_odd_clusters_are_drawn_as_any_other(brokers: list[Broker], partitions: int, factor: int) -> None:
    root = parsed(PlacementPicture("orders", brokers, placed(brokers, partitions, factor)))
    assert len(counts_by_broker(root)) == len(brokers)


def test_it_has_an_accessible_name_and_follows_the_readers_colours() -> None:
    root = parsed(PlacementPicture("orders: 12 partitions", NINE, placed(NINE, 12, 3)))
    assert root.get("role") == "img"
    assert [child.tag for child in root][:2] == [f"{SVG}title", f"{SVG}desc"]
    assert root.findtext(f"{SVG}title") == "orders: 12 partitions"
    assert "prefers-color-scheme: dark" in (root.findtext(f"{SVG}style") or "")
