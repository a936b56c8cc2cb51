"""A placement as a picture: brokers in their racks with their replicas, and the partitions beneath if there are few."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from app.core.measures.placement import PlacementMeasures, measure
from app.core.measures.tally import Tally, tally
from app.core.model import NO_REPLICA, Assignment, Broker
from app.deferred import IMPORTING
from app.web.pictures import partition_matrix, rack_bars
from app.web.pictures.rack_bars import Bars, EvenShare
from app.web.pictures.rack_columns import Columns, Rack, RackItem, lay_out
from app.web.pictures.rendering import STYLE, Beneath, Picture, render
from app.web.words import counted, number, share


@dataclass(frozen=True, slots=True, eq=False)
class PlacementPicture:
    """The contents of a picture: assignments by topic, in the order in which they are drawn.

    Replicas on brokers that are not listed get a panel of their own.
    """

    title: str
    brokers: Sequence[Broker]
    assignments: Mapping[str, Assignment] = field(repr=False)


def draw(picture: PlacementPicture, *, style: str = STYLE) -> str:
    """Draw a placement.

    Parameters
    ----------
    style : the style sheet of the document; empty if the page has it.
    """
    counts = tally(picture.assignments, picture.brokers)
    unlisted = _unlisted(counts)
    shown = tally(picture.assignments, (*counts.brokers, *unlisted)) if unlisted else counts
    columns = lay_out(_racks(shown, unlisted))
    has_fenced = any(broker.fenced for broker in shown.brokers)
    legend: list[tuple[str, Mapping[str, str]]] = [
        ("preferred leader", {"class_": "leads"}),
        ("follower", {"class_": "follows"}),
        *([("fenced broker", rack_bars.OUT)] if has_fenced else []),
    ]
    sentences = facts(measure(counts), counts)
    drawing = Picture(picture.title, sentences, legend, columns, _bars(shown), _partitions(shown, columns))
    return render(drawing, style=style)


def facts(measures: PlacementMeasures, counts: Tally) -> list[str]:
    """The facts that the picture shows, as sentences."""
    sentences = [_rack_safety(measures)]
    leaders, replicas = measures.leaders, measures.replicas
    sentences.append(
        f"A broker leads {_range(leaders.min, leaders.max)} partitions (spread {number(leaders.spread)}) and holds "
        f"{_range(replicas.min, replicas.max)} replicas (spread {number(replicas.spread)})."
    )
    if fenced := sum(broker.fenced for broker in counts.brokers):
        verb = "is" if fenced == 1 else "are"
        sentences.append(f"{fenced} of {counted(len(counts.brokers), 'broker')} {verb} fenced.")
    return sentences


def _rack_safety(measures: PlacementMeasures) -> str:
    safe = measures.rack_safe_share
    if safe is None:
        return "No broker has a rack, so racks are not measured."
    if safe == 1:
        spanned = measures.racks_per_partition
        racks = "" if spanned is None or not spanned.max else f": {_range(spanned.min, spanned.max)}"
        return f"Rack-safe: every partition spans as many racks as it can{racks}."
    crowded = round((1 - safe) * measures.partitions)
    return (
        f"{share(safe)} rack-safe: {crowded:,} of {counted(measures.partitions, 'partition')} "
        f"{'spans' if crowded == 1 else 'span'} fewer racks than {'it' if crowded == 1 else 'they'} could."
    )


def _range(low: int, high: int) -> str:
    return number(low) if low == high else f"{number(low)} to {number(high)}"


def _unlisted(counts: Tally) -> tuple[Broker, ...]:
    with IMPORTING:
        from app.core.measures.tally_kernel import UNKNOWN_BROKER  # noqa: PLC0415 — numba is imported late

    broker_ids = [
        np.unique(assignment.replicas[(faults & UNKNOWN_BROKER).astype(np.bool_)])
        for assignment, faults in zip(counts.assignments.values(), counts.faults, strict=True)
    ]
    listed = {broker.id for broker in counts.brokers} | {NO_REPLICA}
    ids = {broker for of_topic in broker_ids for broker in of_topic.tolist()} - listed
    return tuple([Broker(broker, fenced=True) for broker in sorted(ids)])  # they are down


def _racks(shown: Tally, unlisted: tuple[Broker, ...]) -> list[Rack]:
    """By name, then the brokers without a rack, then the unlisted ones."""
    unlisted_ids = {broker.id for broker in unlisted}
    racks: dict[tuple[int, str], list[RackItem]] = defaultdict(list)
    for broker, (leaders, replicas, _) in zip(shown.brokers, shown.per_broker.tolist(), strict=True):
        order = 2 if broker.id in unlisted_ids else 1 if broker.rack is None else 0
        racks[order, broker.rack or ""].append(_item(broker, leaders, replicas))
    names = {1: "no rack", 2: "unlisted"}
    return [Rack(names.get(order, rack or "“”"), tuple(racks[order, rack])) for order, rack in sorted(racks)]


def _item(broker: Broker, leaders: int, replicas: int) -> RackItem:
    where = "no rack" if broker.rack is None else f"rack {broker.rack}"
    tooltip = f"broker {broker.id}, {where}: {counted(replicas, 'replica')}, leads {leaders:,}"
    return RackItem(
        name=str(broker.id),
        tooltip=tooltip + (", fenced" if broker.fenced else ""),
        counts=(leaders, replicas - leaders),
        is_out=broker.fenced,
    )


def _bars(shown: Tally) -> Bars:
    leaders, replicas = (shown.per_broker[:, column].tolist() for column in (0, 1))
    live = max(sum(not broker.fenced for broker in shown.brokers), 1)
    even = [("leaders", sum(leaders) / live), ("replicas", sum(replicas) / live)]
    return Bars(
        noun="broker",
        looks=("leads", "follows"),
        summed=_summed,
        named=_named,
        highest=max(replicas, default=0),
        even_shares=tuple(
            EvenShare(value, f"the mean of the {what}: {number(value)} a broker")
            for what, value in even
            if what == "replicas" or value < even[1][1]
        ),
    )


def _summed(items: Sequence[RackItem]) -> tuple[str, ...]:
    leaders = sum(one.counts[0] for one in items)
    replicas = leaders + sum(one.counts[1] for one in items)
    return f"{counted(replicas, 'replica')}, {leaders:,} lead", f"{replicas:,}, {leaders:,} lead", f"{replicas:,}"


def _named(items: Sequence[RackItem]) -> str:
    first, last = items[0].name, items[-1].name
    return f"brokers {first}–{last}" if len(items) > 1 else f"broker {first}"


def _partitions(shown: Tally, columns: Columns) -> Beneath | None:
    rows = partition_matrix.rows_of(shown, columns)
    if not rows:
        return None
    return Beneath(
        partition_matrix.height(rows),
        lambda top: partition_matrix.draw(rows, top, columns, has_racks=bool(shown.racks)),
    )
