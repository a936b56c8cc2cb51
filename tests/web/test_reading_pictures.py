"""The picture of a group: well-formed whatever it is of, true to the members' partitions, and of bounded size."""

import re
from collections.abc import Sequence
from itertools import pairwise
from random import Random
from xml.etree import ElementTree as ET

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.web.pictures.members import MOST_PLACES, Member, MembersPicture, draw
from app.web.pictures.rack_columns import MOST_COLUMNS, WIDEST, short_names
from app.web.plans.groups import PARTS
from tests.profiles import costly
from tests.web.strategies import readings, texts
from tests.web.test_pictures import SVG, read

LOOKS = ("in-rack", "cross-rack", "unknown")


def picture_of(title: str, facts: Sequence[str], racks: Sequence[str], members: Sequence[Member]) -> MembersPicture:
    return MembersPicture(title, facts, "rack", members, PARTS, "member", "partition", racks)


def group(members: int, *, racks: int = 3, partitions: int = 5) -> MembersPicture:
    """Members dealt to `racks`, which read all but one of their partitions in rack."""
    listed = [Member(f"billing-{i}", f"use1-az{i % racks}", (partitions - 1, 1, 0)) for i in range(members)]
    return picture_of("billing", ["A fact."], [f"use1-az{rack}" for rack in range(racks)], listed)


def columns(root: ET.Element) -> list[ET.Element]:
    return [element for element in root.iter(f"{SVG}g") if element.get("class") == "column"]


def title(column: ET.Element) -> str:
    return column.findtext(f"{SVG}title") or ""


def split(words: str) -> tuple[int, int, int]:
    """The counts at the end of a tooltip."""
    match = re.search(r"([\d,]+) in rack, ([\d,]+) across racks, ([\d,]+) rack unknown$", words)
    assert match, words
    in_rack, cross_rack, unknown = (int(text.replace(",", "")) for text in match.groups())
    return in_rack, cross_rack, unknown


def heights(column: ET.Element) -> dict[str, float]:
    return {
        rect.get("class", ""): float(rect.get("height", 0))
        for rect in column.findall(f"{SVG}rect")
        if rect.get("class") in LOOKS
    }


@pytest.mark.long
@given(readings)
def test_whatever_the_names_are_it_is_well_formed_and_takes_nothing_from_elsewhere(picture: MembersPicture) -> None:
    """Ids, racks and titles are text and never markup."""
    root = read(draw(picture))
    allowed = {"svg", "title", "desc", "style", "rect", "path", "text", "g"}
    assert {element.tag.removeprefix(SVG) for element in root.iter()} <= allowed
    for element in root.iter():
        for name, value in element.attrib.items():
            assert not name.startswith("on")
            assert "href" not in name
            assert "http" not in value
            assert "url(" not in value


@given(readings)
def test_every_member_has_a_tooltip_with_its_reads(picture: MembersPicture) -> None:
    found = [split(title(column)) for column in columns(read(draw(picture)))]
    assert sorted(found) == sorted(member.counts for member in picture.members)


@given(readings)
def test_bars_are_to_one_scale(picture: MembersPicture) -> None:
    """A partition is as high in every bar, and a part without partitions is not drawn."""
    scales = []
    for column in columns(read(draw(picture))):
        counts = dict(zip(LOOKS, split(title(column)), strict=True))
        shown = heights(column)
        assert set(shown) == {look for look, count in counts.items() if count}
        scales += [(height, counts[look]) for look, height in shown.items()]
    highest = max([sum(member.counts) for member in picture.members], default=0)
    for height, count in scales:
        assert height == pytest.approx(92 * count / highest, abs=0.006), "what is written has two decimal places"


@given(readings, st.randoms(use_true_random=False))
def test_the_bytes_hang_on_the_order_of_members_within_a_rack_only(picture: MembersPicture, random: Random) -> None:
    """Racks have no order, and members of different ones none among themselves."""
    racks = list(picture.places)
    random.shuffle(racks)
    by_rack = sorted(picture.members, key=lambda member: member.place or "")
    assert draw(picture_of(picture.title, picture.facts, racks, by_rack)) == draw(picture)


@costly()
@given(st.integers(1, 5000), st.integers(1, 200))
def test_many_members_share_columns_and_none_is_lost(members: int, racks: int) -> None:
    """However large the group is, the picture is not. A column is of one rack as long as each rack has a panel."""
    picture = draw(group(members, racks=racks))
    root = read(picture)
    shown = columns(root)
    assert len(shown) <= MOST_COLUMNS + min(racks, MOST_PLACES + 1)
    parts = [split(title(column)) for column in shown]
    assert [sum(part) for part in zip(*parts, strict=True)] == [4 * members, members, 0]
    assert float(root.get("width", 0)) <= WIDEST
    assert len(picture) < 400_000


def test_a_column_of_several_is_their_mean_and_shows_how_far_apart_they_are() -> None:
    members = [Member(f"m-{i:04}", "a", (i % 2 * 10, 0, 0)) for i in range(2 * MOST_COLUMNS)]
    first, *_ = columns(read(draw(picture_of("g", [], ["a"], members))))
    assert title(first) == (
        "2 members, m-0000 to m-0001, rack a: 0 to 10 partitions each, 10 in rack, 0 across racks, 0 rack unknown"
    )
    assert heights(first) == {"in-rack": 46}
    [span] = first.findall(f"{SVG}path")
    low, high = map(float, re.findall(r"[MV]?\S+ ([\d.]+)V([\d.]+)", span.get("d", ""))[0])
    assert low - high == pytest.approx(92)


def test_a_worked_example_says_in_words_what_it_shows() -> None:
    members = [
        Member("billing-0", "use1-az1", (4, 0, 0)),
        Member("billing-1", "use1-az2", (3, 1, 0)),
        Member("billing-2", None, (0, 0, 4)),
    ]
    root = read(draw(picture_of("billing", ["A fact."], ["use1-az1", "use1-az2", "use1-az4"], members)))
    assert root.get("role") == "img"
    assert [child.tag for child in root][:2] == [f"{SVG}title", f"{SVG}desc"]
    assert root.findtext(f"{SVG}desc") == (
        "A fact. No member is in rack use1-az4. use1-az1: 1 member, 4 partitions, 4 in rack. use1-az2: 1 member, "
        "4 partitions, 3 in rack. use1-az4: no member. no rack: 1 member, 4 partitions, 0 in rack."
    )
    assert [title(column) for column in columns(root)] == [
        "member billing-0, rack use1-az1: 4 partitions, 4 in rack, 0 across racks, 0 rack unknown",
        "member billing-1, rack use1-az2: 4 partitions, 3 in rack, 1 across racks, 0 rack unknown",
        "member billing-2, no rack: 4 partitions, 0 in rack, 0 across racks, 4 rack unknown",
    ]
    panels = [rect.findtext(f"{SVG}title") for rect in root.iter(f"{SVG}rect") if rect.get("class") == "panel"]
    assert panels == ["use1-az1", "use1-az2", "use1-az4", "no rack"]
    assert "the mean of the partitions: 4 a member" in {
        path.findtext(f"{SVG}title") for path in root.iter(f"{SVG}path")
    }


def test_where_no_member_has_a_rack_the_racks_are_not_drawn() -> None:
    """Then every rack is without a member, which says nothing of any of them."""
    root = read(draw(picture_of("g", [], ["a", "b"], [Member("m", None, (0, 0, 1))])))
    assert [rect.findtext(f"{SVG}title") for rect in root.iter(f"{SVG}rect") if rect.get("class") == "panel"] == [
        "no rack"
    ]


def test_a_group_without_members_is_drawn_as_any_other() -> None:
    assert columns(read(draw(picture_of("g", ["Nobody."], ["a"], [])))) == []


class TestNames:
    """The text beneath the columns."""

    @given(st.lists(texts, max_size=20))
    def test_they_fit(self, names: list[str]) -> None:
        assert all(len(name) <= 16 for name in short_names(names))

    @given(st.lists(st.integers(0, 10_000), unique=True, min_size=2, max_size=30))
    def test_numbered_names_are_distinguished(self, numbers: list[int]) -> None:
        """However long their beginning; a number is never cut in two."""
        names = short_names([f"consumer-of-the-billing-service-{number}" for number in numbers])
        assert len(set(names)) == len(names)
        assert all(name.lstrip("…").isdigit() for name in names)

    def test_short_ones_stay_as_they_are(self) -> None:
        assert short_names(["billing-0", "billing-1"]) == ["billing-0", "billing-1"]
        assert short_names(["the-same-long-name"] * 2) == ["the-same-long-n…"] * 2
        assert short_names(["only-one-with-a-long-name"]) == ["only-one-with-a…"]


def test_members_stand_in_the_groups_order_within_their_rack() -> None:
    root = read(draw(group(12)))
    xs = {title(column).split(",")[0]: float(column.find(f"{SVG}rect").get("x", 0)) for column in columns(root)}  # type: ignore[union-attr] # each has its target
    for rack in range(3):
        own = [xs[f"member billing-{i}"] for i in range(rack, 12, 3)]
        assert all(a < b for a, b in pairwise(own))
