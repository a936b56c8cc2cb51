"""A group as a picture: members in their racks, with the partitions read in rack, across racks or unknown."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from app.web.pictures.rack_bars import Bars, EvenShare
from app.web.pictures.rack_columns import LONGEST_NAME, Rack, RackItem, by_place, lay_out
from app.web.pictures.rendering import STYLE, Picture, render
from app.web.pictures.svg import shortened
from app.web.words import counted, number

MOST_RACKS = 60
"""Racks that have a panel of their own; the members of further ones stand together."""
_EMPTY_RACKS = 12
"""Racks without a member that are shown, as long as there are no more of them."""
_PARTS = (("in rack", "in-rack"), ("across racks", "cross-rack"), ("rack unknown", "unknown"))
"""The parts of a bar, from the baseline up, in words and as a class of the style sheet."""


@dataclass(frozen=True, slots=True)
class ReadingMember:
    """A member, and how many partitions it reads in its rack, across racks, and where that is not known."""

    name: str
    rack: str | None
    in_rack: int
    cross_rack: int
    unknown: int

    @property
    def counts(self) -> tuple[int, int, int]:
        """In the order of the parts of a bar."""
        return self.in_rack, self.cross_rack, self.unknown

    @property
    def partitions(self) -> int:
        """The number of partitions that it reads."""
        return sum(self.counts)


@dataclass(frozen=True, slots=True, eq=False)
class ReadingPicture:
    """The contents of a picture.

    Parameters
    ----------
    facts : sentences. racks : of the brokers; those without a member are shown empty.
    members : in the order of the group, in which they stand in their racks.
    """

    title: str
    facts: Sequence[str]
    racks: Sequence[str]
    members: Sequence[ReadingMember] = field(repr=False)


def draw(picture: ReadingPicture, *, style: str = STYLE) -> str:
    """Draw a group.

    Parameters
    ----------
    style : rules that become the document's own; none if the page has them.
    """
    totals = [sum(column) for column in zip(*(member.counts for member in picture.members), strict=True)] or [0, 0, 0]
    legend: list[tuple[str, Mapping[str, str]]] = [
        (words, {"class_": look})
        for (words, look), total in zip(_PARTS, totals, strict=True)
        if total or look == _PARTS[0][1]
    ]
    highest = max([member.partitions for member in picture.members], default=0)
    even = sum(totals) / max(len(picture.members), 1)
    bars = Bars(
        noun="member",
        looks=tuple(look for _, look in _PARTS),
        summed=_summed,
        named=_named,
        highest=highest,
        even_shares=(EvenShare(even, f"the mean of the partitions: {number(even)} a member"),),
    )
    columns = lay_out(_racks(picture))
    return render(Picture(picture.title, _facts(picture), legend, columns, bars), style=style)


def _facts(picture: ReadingPicture) -> list[str]:
    empty = _empty_racks(picture)
    if not empty:
        return list(picture.facts)
    named = ", ".join(empty) if len(empty) <= 3 else counted(len(empty), "rack")
    return [*picture.facts, f"No member is in {'rack ' if len(empty) <= 3 else ''}{named}."]


def _empty_racks(picture: ReadingPicture) -> list[str]:
    racks_of_members = {member.rack for member in picture.members if member.rack}
    return sorted({rack for rack in picture.racks if rack} - racks_of_members) if racks_of_members else []


def _racks(picture: ReadingPicture) -> list[Rack]:
    empty = _empty_racks(picture)
    return by_place(
        [(member.name, member.rack, member) for member in picture.members],
        column=_column,
        empty=empty if len(empty) <= _EMPTY_RACKS else (),
        most=MOST_RACKS,
        more="more racks",
        without="no rack",
    )


def _column(members: Sequence[tuple[str, ReadingMember]]) -> RackItem:
    in_rack, cross_rack, unknown = (sum(column) for column in zip(*(one.counts for _, one in members), strict=True))
    counts = (in_rack, cross_rack, unknown)
    (first_name, first), (last_name, last) = members[0], members[-1]
    split = ", ".join(f"{count:,} {words}" for count, (words, _) in zip(counts, _PARTS, strict=True))
    where = f"rack {first.rack}" if first.rack else "no rack"
    if len(members) == 1:
        tooltip = f"member {first.name}, {where}: {counted(sum(counts), 'partition')}, {split}"
        return RackItem(first_name, tooltip, counts)
    loads = [one.partitions for _, one in members]
    least, most = min(loads), max(loads)
    each = f"{least:,} partitions" if least == most else f"{least:,} to {most:,} partitions"
    tooltip = f"{len(members)} members, {first.name} to {last.name}, {where}: {each} each, {split}"
    name = shortened(f"{first_name}–{last_name}", LONGEST_NAME)
    return RackItem(name, tooltip, counts, stands_for=len(members), least=least, most=most)


def _summed(items: Sequence[RackItem]) -> tuple[str, ...]:
    if not items:
        return "no member", "none"
    in_rack, cross_rack, unknown = (sum(column) for column in zip(*(one.counts for one in items), strict=True))
    partitions = in_rack + cross_rack + unknown
    words = f"{counted(partitions, 'partition')}, {in_rack:,} in rack"
    return words, f"{partitions:,}, {in_rack:,} in rack", f"{partitions:,}"


def _named(items: Sequence[RackItem]) -> str:
    """The number of members: their ids are generated, so the first and the last say nothing."""
    members = sum(one.stands_for for one in items)
    shared = max((one.stands_for for one in items), default=1)
    return counted(members, "member") + (f", {shared} a column" if shared > 1 else "")
