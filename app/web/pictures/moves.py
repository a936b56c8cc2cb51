"""A reassignment as a picture: each broker before and after, and the transfers between brokers beneath."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from app.core.measures.tally import positions_of
from app.core.measures.transfers import Transfers
from app.core.model import Broker, Int64s
from app.core.replica_lists import sums_by
from app.web.pictures.rack_bars import Bars, brief_number
from app.web.pictures.rack_columns import LEFT, Columns, Rack, RackItem, lay_out, short_names
from app.web.pictures.rendering import STYLE, Beneath, Picture, render
from app.web.pictures.svg import element, escaped
from app.web.words import byte_size, counted, known_size

ROW = 21
_HEAD = 18
_LARGEST, _SMALLEST, _SMALLEST_NUMBERED = 19, 5, 13
_NUMBERED_PITCH, _DIGIT = 16, 6.4
"""Pixels of a column whose squares have numbers, and of a digit with its share of the square's edge."""
_NAME = 7
"""Characters of a sender's name that the margin has room for."""


@dataclass(frozen=True, slots=True)
class Move:
    """A transfer from a sender to a receiver, by name; None is no broker. `is_across`: between racks."""

    sender: str | None
    receiver: str | None
    replicas: int
    size_bytes: int
    unknown_size: int
    is_across: bool

    @property
    def tooltip(self) -> str:
        """The amount in words."""
        size = known_size(self.size_bytes, replicas=self.replicas, unknown=self.unknown_size)
        return f"{counted(self.replicas, 'replica')}, {size}"


@dataclass(frozen=True, slots=True)
class Matrix:
    """Moves under columns.

    Parameters
    ----------
    senders : the names of the rows, in their order. noun : for the ends. by_bytes : whether areas are bytes.
    """

    senders: Sequence[str | None]
    moves: Sequence[Move] = field(repr=False)
    noun: str
    by_bytes: bool


def height(matrix: Matrix) -> float:
    """Pixels that the rows take."""
    return _HEAD + len(matrix.senders) * ROW + 6


def draw_matrix(matrix: Matrix, top: float, columns: Columns) -> list[str]:
    """A square for each move, its area the amount, with the number of replicas if there is space."""
    frame = _Frame(
        x_of={column.item.name: column.x for panel in columns.panels for column in panel.columns},
        right=max([panel.x + panel.width for panel in columns.panels], default=LEFT),
        largest=max([_weight(move, matrix) for move in matrix.moves], default=1),
        has_numbers=columns.pitch >= _NUMBERED_PITCH,
    )
    drawn = [element("text", "from", class_="quiet end", x=LEFT - 10, y=top + 10)]
    if any(move.receiver is None for move in matrix.moves):
        drawn.append(element("text", "dropped", class_="quiet middle", x=frame.right + 30, y=top + 10))
    for index, sender in enumerate(matrix.senders):
        y = top + _HEAD + (index + 0.5) * ROW
        moves = [move for move in matrix.moves if move.sender == sender]
        drawn.append(_row(sender, y, [_cell(move, y, matrix, frame) for move in moves], frame))
    return drawn


@dataclass(frozen=True, slots=True)
class _Frame:
    """Where columns are, where the last panel ends, and the weight of the largest square."""

    x_of: Mapping[str, float]
    right: float
    largest: int
    has_numbers: bool


def _row(sender: str | None, y: float, cells: Sequence[str], frame: _Frame) -> str:
    name = "added" if sender is None else sender
    title = element("title", escaped(name))
    short = name if len(name) <= _NAME else f"…{name[1 - _NAME :]}"  # racks of a region differ at their ends
    return element(
        "g",
        element("text", title, escaped(short), class_="id end", x=LEFT - 10, y=y + 4),
        element("path", class_="thread", d=f"M{LEFT:.2f} {y:.2f}H{frame.right:.2f}"),
        *cells,
        class_="row",
        **({} if sender is None else {"data_item": sender}),
    )


def _cell(move: Move, y: float, matrix: Matrix, frame: _Frame) -> str:
    sender = "nowhere" if move.sender is None else f"{matrix.noun} {move.sender}"
    receiver = "nowhere" if move.receiver is None else f"{matrix.noun} {move.receiver}"
    number = f"{move.replicas:,}"
    smallest = max(_SMALLEST_NUMBERED, _DIGIT * len(number)) if frame.has_numbers else _SMALLEST
    size = max(_LARGEST * (_weight(move, matrix) / frame.largest) ** 0.5, smallest)
    x = frame.right + 30 if move.receiver is None else frame.x_of[move.receiver]
    place = {"x": x - size / 2, "y": y - size / 2, "width": size, "height": size, "rx": 2.5}
    tooltip = element("title", escaped(f"from {sender} to {receiver}: {move.tooltip}"))
    parts = [tooltip, element("rect", class_="cross-rack" if move.is_across else "follows", **place)]
    if frame.has_numbers:
        parts.append(element("text", number, class_="moved", x=x, y=y + 4))
    return element("g", *parts, class_="move", **({} if move.receiver is None else {"data_item": move.receiver}))


def _weight(move: Move, matrix: Matrix) -> int:
    return max(move.size_bytes if matrix.by_bytes else move.replicas, 1)


MOST_BROKERS = 40
"""Brokers that have a column and a row of their own; of more, the brokers of a rack share one."""
MOST_RACKS = 30
"""Racks with a column of their own; of more, those that move least share the last one."""
_MOST_OF_MEAN = 2
"""A line from the least to the most is cut at this multiple of the highest bar."""
MOST_MOVERS = 3
"""Brokers that a picture of racks names as those that send most, and as those that get most."""
_PARTS = (("stays", "leads"), ("arrives", "follows"), ("is new", "unknown"))
"""The parts of a bar, from the baseline up, in words and as a class of the style sheet."""
_NO_RACK = "no rack"


@dataclass(frozen=True, slots=True, eq=False)
class MovesPicture:
    """The contents of a picture; `facts` are sentences."""

    title: str
    facts: Sequence[str]
    transfers: Transfers = field(repr=False)


@dataclass(frozen=True, slots=True)
class _Unit:
    """Brokers that share a column: one, or all of a rack or of several. `brokers` are places in the transfers'."""

    name: str
    rack: str
    tooltip: str
    brokers: tuple[int, ...]


def draw(picture: MovesPicture, *, style: str = STYLE) -> str:
    """Draw a reassignment; `style` are rules that become the document's own, none if the page has them.

    Loads are bytes where the sizes of all partitions are known, and replicas elsewhere.
    """
    transfers = picture.transfers
    by_bytes = _by_bytes(transfers)
    units = _units(transfers)
    parts = _parts(transfers, by_bytes=by_bytes)
    before = (transfers.before.size_bytes if by_bytes else transfers.before.replicas).astype(np.int64)
    items = [_item(unit, transfers, parts, before) for unit in units]
    columns = _columns(units, items)
    matrix = _matrix(transfers, units, by_bytes=by_bytes)
    after = [sum(one.counts) for one in items]
    even = sum(after) / max(int(np.count_nonzero(transfers.after.replicas)), 1)
    highest = max([max(sum(one.heights), (one.was or 0) / one.stands_for) for one in items], default=0)
    bars = Bars(
        noun="broker",
        looks=tuple(look for _, look in _PARTS),
        summed=lambda some: _summed(some, by_bytes),
        named=lambda some: counted(sum(one.stands_for for one in some), "broker"),
        highest=max(highest, min(max([one.most or 0 for one in items], default=0), _MOST_OF_MEAN * highest)),
        even=[(even, f"the mean after the plan: {_amount(round(even), by_bytes)} a broker that has any")],
        brief=_brief_bytes if by_bytes else brief_number,
    )
    beneath = Beneath(height(matrix), lambda top: draw_matrix(matrix, top, columns))
    facts = [*picture.facts, *_largest(matrix), *(_movers(transfers) if matrix.noun == "rack" else [])]
    drawing = Picture(picture.title, facts, _legend(parts, matrix), columns, bars, beneath if matrix.moves else None)
    return render(drawing, style=style)


def _by_bytes(transfers: Transfers) -> bool:
    unknown = int(transfers.before.unknown_size.sum()) + int(transfers.after.unknown_size.sum())
    return not unknown and bool(transfers.before.size_bytes.any())


def _units(transfers: Transfers) -> list[_Unit]:
    racks: dict[str, list[int]] = defaultdict(list)
    for place, broker in enumerate(transfers.brokers):
        racks[_rack(broker)].append(place)
    ordered = sorted(racks, key=lambda rack: (rack == _NO_RACK, rack))
    if len(transfers.brokers) <= MOST_BROKERS:
        return [
            _Unit(str(transfers.brokers[place].id), rack, f"broker {transfers.brokers[place].id}, {rack}", (place,))
            for rack in ordered
            for place in racks[rack]
        ]
    separate, together = _busiest(ordered, racks, transfers)
    names = short_names(separate)
    if len(set(names)) < len(names):
        names = [f"{place} {name}" for place, name in enumerate(names, start=1)]
    units = [
        _Unit(name, rack, f"{rack}: {counted(len(racks[rack]), 'broker')}", tuple(racks[rack]))
        for name, rack in zip(names, separate, strict=True)
    ]
    if together:
        places = tuple(place for rack in together for place in racks[rack])
        units.append(_Unit(f"{len(together)} more", f"{len(together)} more racks", "the other racks", places))
    return units


def _busiest(
    ordered: Sequence[str], racks: Mapping[str, Sequence[int]], transfers: Transfers
) -> tuple[list[str], list[str]]:
    """The racks with a column of their own, and those that share one."""
    if len(ordered) <= MOST_RACKS:
        return list(ordered), []
    moved = transfers.arriving.replicas + transfers.leaving.replicas
    by_moves = sorted(ordered, key=lambda rack: -int(moved[list(racks[rack])].sum()))
    own = set(by_moves[: MOST_RACKS - 1])
    return [rack for rack in ordered if rack in own], [rack for rack in ordered if rack not in own]


def _rack(broker: Broker) -> str:
    return _NO_RACK if broker.rack is None else broker.rack or "“”"


def _parts(transfers: Transfers, *, by_bytes: bool) -> list[Int64s]:
    """Replicas that stay, arrive and are new, (brokers,) each."""
    if by_bytes:
        return [
            transfers.after.size_bytes - transfers.arriving.size_bytes,
            transfers.arriving.size_bytes,
            np.zeros_like(transfers.created),
        ]
    return [
        transfers.after.replicas - transfers.arriving.replicas - transfers.created,
        transfers.arriving.replicas,
        transfers.created,
    ]


def _item(unit: _Unit, transfers: Transfers, parts: Sequence[Int64s], before: Int64s) -> RackItem:
    places = list(unit.brokers)
    counts = tuple(int(part[places].sum()) for part in parts)
    after = np.sum([part[places] for part in parts], axis=0)
    is_one = len(places) == 1
    return RackItem(
        name=unit.name,
        tooltip=_tooltip(unit, transfers),
        counts=counts,
        stands_for=len(places),
        least=None if is_one else int(np.min(after)),
        most=None if is_one else int(np.max(after)),
        was=int(before[places].sum()),
        is_out=is_one and transfers.brokers[places[0]].fenced,
    )


def _tooltip(unit: _Unit, transfers: Transfers) -> str:
    places = list(unit.brokers)

    def total(counts: Int64s) -> int:
        return int(counts[places].sum())

    def size(of: object) -> str:
        replicas, size_bytes, unknown = (
            total(getattr(of, name)) for name in ("replicas", "size_bytes", "unknown_size")
        )
        return f"{counted(replicas, 'replica')}, {known_size(size_bytes, replicas=replicas, unknown=unknown)}"

    leads = f"leads {total(transfers.before.leaders):,} before and {total(transfers.after.leaders):,} after"
    return (
        f"{unit.tooltip}: before {size(transfers.before)}; gets {size(transfers.arriving)}; "
        f"gives {size(transfers.leaving)}; after {size(transfers.after)}; {leads}"
    )


def _columns(units: Sequence[_Unit], items: Sequence[RackItem]) -> Columns:
    """Racks as panels; where those need several lines, or are columns themselves, one panel for all."""
    if all(len(unit.brokers) == 1 for unit in units):
        by_rack: dict[str, list[RackItem]] = defaultdict(list)
        for unit, one in zip(units, items, strict=True):
            by_rack[unit.rack].append(one)
        columns = lay_out([Rack(rack, tuple(columns_of_rack)) for rack, columns_of_rack in by_rack.items()])
        if len(columns.lines) == 1:
            return columns
        return lay_out([Rack("brokers", tuple(items))])
    return lay_out([Rack("racks", tuple(items))])


def _matrix(transfers: Transfers, units: Sequence[_Unit], *, by_bytes: bool) -> Matrix:
    none = len(units)  # the unit of brokers without a column, and of no broker
    unit_of = np.full(len(transfers.brokers) + 1, none, np.int64)
    for at, unit in enumerate(units):
        unit_of[list(unit.brokers)] = at
    ids = np.array([broker.id for broker in transfers.brokers], np.int32)
    flows = transfers.flows
    ends = [unit_of[positions_of(side[:, None], ids)[:, 0]] for side in (flows.senders, flows.receivers)]
    pairs, place = np.unique(ends[0] * (none + 1) + ends[1], return_inverse=True)
    columns = (flows.replicas, flows.size_bytes, flows.unknown_size)
    sums = [sums_by(place, values, len(pairs)).tolist() for values in columns]
    names, racks = [*(unit.name for unit in units), None], [*(unit.rack for unit in units), None]
    rows = zip(*(each.tolist() for each in np.divmod(pairs, none + 1)), *sums, strict=True)
    moves = [
        Move(
            names[one],
            names[other],
            replicas,
            size_bytes,
            unknown,
            none not in (one, other) and racks[one] != racks[other],
        )
        for one, other, replicas, size_bytes, unknown in rows
    ]
    sending = {move.sender for move in moves}
    senders = [name for name in names if name in sending]
    noun = "broker" if all(len(unit.brokers) == 1 for unit in units) else "rack"
    return Matrix(senders, moves, noun, by_bytes)


def _largest(matrix: Matrix) -> list[str]:
    between = [move for move in matrix.moves if move.sender is not None and move.receiver is not None]
    if not between:
        return []
    most = max(between, key=lambda move: (move.size_bytes, move.replicas))
    where = f"from {matrix.noun} {most.sender} to {matrix.noun} {most.receiver}"
    if most.sender == most.receiver:
        where = f"within {matrix.noun} {most.sender}"
    means = ["A bar is the mean of a rack; a line reaches from its least broker to its most."]
    return [f"Most passes {where}: {most.tooltip}.", *(means if matrix.noun == "rack" else [])]


def _movers(transfers: Transfers) -> list[str]:
    """The brokers that send and receive most replicas, of those that share a column."""
    sentences = []
    for verb, of in (("sends", transfers.leaving), ("gets", transfers.arriving)):
        places = [place for place in np.argsort(-of.replicas, kind="stable")[:MOST_MOVERS] if of.replicas[place]]
        named = [
            f"{transfers.brokers[place].id} {verb} {of.replicas[place]:,} ({byte_size(int(of.size_bytes[place]))})"
            for place in places
        ]
        sentences += [f"Broker {', '.join(named)}."] if named else []
    return sentences


def _legend(parts: Sequence[Int64s], matrix: Matrix) -> list[tuple[str, Mapping[str, str]]]:
    shown = [(words, {"class_": look}) for (words, look), part in zip(_PARTS, parts, strict=True) if part.any()]
    across = [("moves to another rack", {"class_": "cross-rack"})] if any(m.is_across for m in matrix.moves) else []
    return [*shown, ("before", {"class_": "was"}), *across]


def _summed(items: Sequence[RackItem], by_bytes: bool) -> tuple[str, ...]:
    before, after = sum(one.was or 0 for one in items), sum(sum(one.counts) for one in items)
    words = f"{_amount(before, by_bytes)} → {_amount(after, by_bytes)}"
    return (words if by_bytes else f"{words} replicas"), words


def _amount(value: int, by_bytes: bool) -> str:
    return byte_size(value) if by_bytes else f"{value:,}"


def _brief_bytes(value: float) -> str:
    number, unit = byte_size(value).split()
    return number if unit == "B" else number + unit[:2]
