"""A Streams application as a picture: clients by tag value or rack, with their tasks; or brokers by restart wave."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial

from app.web.pictures.rack_bars import Bars, EvenShare
from app.web.pictures.rack_columns import Rack, RackItem, by_place, lay_out
from app.web.pictures.rendering import STYLE, Picture, render
from app.web.words import counted, number

MOST_PANELS = 60


@dataclass(frozen=True, slots=True)
class TaskClient:
    """A client, where it is (a tag's value, or its rack), and its active tasks, standbys and warm-ups."""

    name: str
    place: str | None
    counts: tuple[int, ...]


@dataclass(frozen=True, slots=True, eq=False)
class TasksPicture:
    """The contents of a picture.

    Parameters
    ----------
    facts : sentences beside it. by : the kind of place, `zone` or `rack`.
    parts : the parts of a bar, from the baseline up, in words and as a class of the style sheet.
    noun, unit, others : for a client; for the unit of the first part, in the singular; and for the other parts.
    """

    title: str
    facts: Sequence[str]
    by: str
    clients: Sequence[TaskClient] = field(repr=False)
    parts: Sequence[tuple[str, str]] = (("active", "leads"), ("standby", "follows"), ("warm-up", "cross-rack"))
    noun: str = "client"
    unit: str = "active task"
    others: str = "standby"


def draw(picture: TasksPicture, *, style: str = STYLE) -> str:
    """Draw an application; `style` are rules that become the document's own, none if the page has them."""
    totals = [sum(column) for column in zip(*(client.counts for client in picture.clients), strict=True)] or [0] * len(
        picture.parts
    )
    legend: list[tuple[str, Mapping[str, str]]] = [
        (words, {"class_": look}) for (words, look), total in zip(picture.parts, totals, strict=True) if total
    ]
    even = totals[0] / max(len(picture.clients), 1)
    bars = Bars(
        noun=picture.noun,
        looks=tuple(look for _, look in picture.parts),
        summed=partial(_summed, picture),
        named=lambda items: counted(sum(one.stands_for for one in items), picture.noun),
        highest=max([sum(client.counts) for client in picture.clients], default=0),
        even_shares=(EvenShare(even, f"the mean of the {picture.unit}s: {number(even)} a {picture.noun}"),),
    )
    return render(Picture(picture.title, picture.facts, legend, lay_out(_panels(picture)), bars), style=style)


def _panels(picture: TasksPicture) -> list[Rack]:
    clients = [(client.name, client.place, client) for client in picture.clients]
    without = f"no {picture.by}"
    return by_place(clients, column=partial(_column, picture), most=MOST_PANELS, more="more", without=without) or [
        Rack(without, ())
    ]


def _column(picture: TasksPicture, clients: Sequence[tuple[str, TaskClient]]) -> RackItem:
    counts = tuple(sum(column) for column in zip(*(one.counts for _, one in clients), strict=True))
    split = ", ".join(f"{count:,} {words}" for count, (words, _) in zip(counts, picture.parts, strict=True))
    (name, first), (_, last) = clients[0], clients[-1]
    if len(clients) == 1:
        return RackItem(name, f"{picture.noun} {first.name}, {first.place or 'place unknown'}: {split}", counts)
    loads = [sum(one.counts) for _, one in clients]
    tooltip = f"{len(clients)} {picture.noun}s, {first.name} to {last.name}: {split} in all"
    return RackItem(f"{name} …", tooltip, counts, stands_for=len(clients), least=min(loads), most=max(loads))


def _summed(picture: TasksPicture, items: Sequence[RackItem]) -> tuple[str, ...]:
    if not items:
        return f"no {picture.noun}", "none"
    active = sum(one.counts[0] for one in items)
    copies = sum(sum(one.counts[1:]) for one in items)
    words = f"{counted(active, picture.unit)}, {copies:,} {picture.others}"
    return words, f"{active:,} + {copies:,}", f"{active + copies:,}"
