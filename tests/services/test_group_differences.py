"""The difference of two readings of a group: counted, and partition by partition, by the members' ids."""

from collections.abc import Mapping

import numpy as np
from hypothesis import given

from app.core.model import padded
from app.services.groups import ReaderChange, Reading, reading_difference
from tests import draws as st

Sets = dict[tuple[str, int], frozenset[str]]

member_lists = st.lists(st.sampled_from(["m0", "m1", "m2", "m3", "m4"]), unique=True, max_size=5)


@st.composite
def readings(draw: st.DrawFn, *, most_readers: int = 3) -> Reading:
    """Some members, and their assignment; rows name places, in any order, as share groups have several."""
    members = draw(member_lists)
    places = st.lists(st.integers(0, len(members) - 1), unique=True, max_size=most_readers) if members else st.just([])
    topics = draw(st.dictionaries(st.sampled_from("tuv"), st.lists(places, max_size=5)))
    return Reading(members, {name: padded(rows) for name, rows in topics.items()})


def sets_of(reading: Reading) -> Sets:
    """Who reads each partition that somebody reads."""
    return {
        (topic, partition): frozenset(reading.members[place] for place in row if place >= 0)
        for topic, rows in reading.topics.items()
        for partition, row in enumerate(rows.tolist())
        if any(place >= 0 for place in row)
    }


def counted(before: Sets, after: Sets, staying: set[str]) -> Mapping[str, int]:
    both = before.keys() & after.keys()
    no_readers: frozenset[str] = frozenset()
    return {
        "kept": sum(before[key] == after[key] for key in both),
        "moved": sum(before[key] != after[key] for key in both),
        "taken_up": len(after.keys() - before.keys()),
        "dropped": len(before.keys() - after.keys()),
        "revoked": sum(bool((before[key] - after.get(key, no_readers)) & staying) for key in before),
    }


@given(readings(), readings())
def test_it_counts_and_names_what_differs_by_id_and_not_by_place(before: Reading, after: Reading) -> None:
    was, now = sets_of(before), sets_of(after)
    found = reading_difference(before, after)
    assert found.summary == counted(was, now, set(after.members))
    keys = sorted(key for key in {*was, *now} if was.get(key) != now.get(key))
    assert found.total == len(keys)
    items = found.items(0, found.total)
    assert [(item.topic, item.partition) for item in items if isinstance(item, ReaderChange)] == keys
    for item, key in zip(items, keys, strict=True):
        assert isinstance(item, ReaderChange)
        for stated, side in ((item.before, was), (item.after, now)):
            assert (None if stated is None else frozenset(stated)) == side.get(key)
            assert stated is None or len(set(stated)) == len(stated)


@given(readings())
def test_a_reading_does_not_differ_from_itself_whatever_the_order_of_its_members(reading: Reading) -> None:
    count = len(reading.members)
    # The padding looks up the last entry.
    turned = np.array([*range(count - 1, -1, -1), -1], np.int32)
    same = Reading([*reversed(reading.members)], {name: turned[rows] for name, rows in reading.topics.items()})
    found = reading_difference(reading, same)
    assert (found.total, found.items(0, 10)) == (0, [])
    assert found.summary == {"kept": len(sets_of(reading)), "moved": 0, "taken_up": 0, "dropped": 0, "revoked": 0}


@given(readings(), readings(), st.integers(0, 20), st.integers(0, 20))
def test_pages_are_slices_of_the_whole(before: Reading, after: Reading, start: int, size: int) -> None:
    found = reading_difference(before, after)
    assert found.items(start, start + size) == found.items(0, found.total)[start : start + size]


def test_a_worked_example() -> None:
    """m1 has left: its partitions are moved and not revoked; m0 gives up one partition for m2, and a deleted one."""
    before = Reading(["m0", "m1"], {"t": padded([[0], [0], [1], [0]]), "u": padded([[0]])})
    after = Reading(["m2", "m0"], {"t": padded([[1], [0], [0], [1], [0]])})
    found = reading_difference(before, after)
    assert found.summary == {"kept": 2, "moved": 2, "taken_up": 1, "dropped": 1, "revoked": 2}
    assert found.items(0, 10) == [
        ReaderChange("t", 1, ("m0",), ("m2",)),
        ReaderChange("t", 2, ("m1",), ("m2",)),
        ReaderChange("t", 4, None, ("m2",)),
        ReaderChange("u", 0, ("m0",), None),
    ]


def test_without_readers_nothing_differs() -> None:
    found = reading_difference(Reading([], {}), Reading(["m0"], {"t": padded([[], []])}))
    assert (found.total, found.summary["taken_up"]) == (0, 0)
