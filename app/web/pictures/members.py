"""Members in their places with bars: consumers of a group, clients of an application."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import partial

from app.web.pictures.rack_bars import Bars
from app.web.pictures.rack_columns import LONGEST_NAME, RackItem, by_place, lay_out
from app.web.pictures.rendering import STYLE, Picture, render
from app.web.pictures.svg import shortened
from app.web.words import counted, extent, number

MOST_PLACES = 60
"""Places that have a panel of their own; the members of further ones share one."""
_MOST_EMPTY = 12
"""Places without a member that are shown, as long as there are no more of them."""


@dataclass(frozen=True, slots=True)
class Member:
    """A member, its place such as a rack (None if unknown), and its counts in the order of the parts of a bar."""

    name: str
    place: str | None
    counts: tuple[int, ...]


@dataclass(frozen=True, slots=True, eq=False)
class MembersPicture:
    """The contents of a picture.

    Parameters
    ----------
    facts : sentences. by : the kind of place, such as `rack`.
    members : in their order, in which they are drawn in their place.
    parts : of a bar, from the baseline up, in words and as a class of the style sheet.
    noun, unit : of a member, and of the sum of its counts. places : known ones; those without a member are empty.
    """

    title: str
    facts: Sequence[str]
    by: str
    members: Sequence[Member] = field(repr=False)
    parts: Sequence[tuple[str, str]]
    noun: str
    unit: str
    places: Sequence[str] = ()


def draw(picture: MembersPicture, *, style: str = STYLE) -> str:
    """Draw members; `style` are rules that become the document's own, none if the page has them."""
    totals = _totals(picture, [member.counts for member in picture.members])
    legend = [(words, {"class_": look}) for (words, look), total in zip(picture.parts, totals, strict=True) if total]
    mean = sum(totals) / max(len(picture.members), 1)
    known = {member.place for member in picture.members if member.place}
    empty = sorted({place for place in picture.places if place} - known) if known else []
    named = f"{picture.by} {', '.join(empty)}" if len(empty) <= 3 else counted(len(empty), picture.by)
    facts = [*picture.facts, f"No {picture.noun} is in {named}."] if empty else picture.facts
    bars = Bars(
        noun=picture.noun,
        looks=tuple(look for _, look in picture.parts),
        summed=partial(_summed, picture),
        named=partial(_named, picture.noun),
        highest=max([sum(member.counts) for member in picture.members], default=0),
        even=[(mean, f"the mean of the {picture.unit}s: {number(mean)} a {picture.noun}")],
    )
    racks = by_place(
        [(member.name, member.place, member) for member in picture.members],
        column=partial(_column, picture),
        empty=empty if len(empty) <= _MOST_EMPTY else (),
        most=MOST_PLACES,
        more=f"more {picture.by}s",
        without=f"no {picture.by}",
    )
    return render(Picture(picture.title, facts, legend, lay_out(racks), bars), style=style)


def _totals(picture: MembersPicture, counts: Sequence[Sequence[int]]) -> tuple[int, ...]:
    """The sum of each part."""
    return tuple(sum(of[at] for of in counts) for at in range(len(picture.parts)))


def _column(picture: MembersPicture, members: Sequence[tuple[str, Member]]) -> RackItem:
    counts = _totals(picture, [one.counts for _, one in members])
    (first_name, first), (last_name, last) = members[0], members[-1]
    split = ", ".join(f"{count:,} {words}" for count, (words, _) in zip(counts, picture.parts, strict=True))
    where = f"{picture.by} {first.place}" if first.place else f"no {picture.by}"
    if len(members) == 1:
        amount = counted(sum(counts), picture.unit)
        return RackItem(first_name, f"{picture.noun} {first.name}, {where}: {amount}, {split}", counts)
    loads = [sum(one.counts) for _, one in members]
    least, most = min(loads), max(loads)
    each = f"{extent(least, most)} {picture.unit}s each"
    tooltip = f"{len(members)} {picture.noun}s, {first.name} to {last.name}, {where}: {each}, {split}"
    name = shortened(f"{first_name}–{last_name}", LONGEST_NAME)
    return RackItem(name, tooltip, counts, stands_for=len(members), least=least, most=most)


def _summed(picture: MembersPicture, items: Sequence[RackItem]) -> tuple[str, ...]:
    if not items:
        return f"no {picture.noun}", "none"
    counts = _totals(picture, [one.counts for one in items])
    first = f"{counts[0]:,} {picture.parts[0][0]}"
    return f"{counted(sum(counts), picture.unit)}, {first}", f"{sum(counts):,}, {first}", f"{sum(counts):,}"


def _named(noun: str, items: Sequence[RackItem]) -> str:
    """The number of members: their ids are generated, so the first and the last say nothing."""
    shared = max((one.stands_for for one in items), default=1)
    return counted(sum(one.stands_for for one in items), noun) + (f", {shared} a column" if shared > 1 else "")
