"""Transfers between brokers: rows of senders under the columns of receivers, which show the moves across racks."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from app.web.pictures.rack_columns import LEFT, Columns
from app.web.pictures.svg import element, escaped, shortened
from app.web.words import counted, known_size

ROW = 21
_HEAD = 18
_LARGEST, _SMALLEST, _SMALLEST_NUMBERED = 19, 5, 13
_NUMBERED_PITCH = 16
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
    senders : the names of the rows, in their order. noun : what the ends are. by_bytes : whether areas are bytes.
    """

    senders: Sequence[str | None]
    moves: Sequence[Move] = field(repr=False)
    noun: str
    by_bytes: bool


def height(matrix: Matrix) -> float:
    """Pixels that the rows take."""
    return _HEAD + len(matrix.senders) * ROW + 6


def draw(matrix: Matrix, top: float, columns: Columns) -> list[str]:
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
    return element(
        "g",
        element("text", title, escaped(shortened(name, _NAME)), class_="id end", x=LEFT - 10, y=y + 4),
        element("path", class_="thread", d=f"M{LEFT:.2f} {y:.2f}H{frame.right:.2f}"),
        *cells,
        class_="row",
        **({} if sender is None else {"data_item": sender}),
    )


def _cell(move: Move, y: float, matrix: Matrix, frame: _Frame) -> str:
    sender = "nowhere" if move.sender is None else f"{matrix.noun} {move.sender}"
    receiver = "nowhere" if move.receiver is None else f"{matrix.noun} {move.receiver}"
    smallest = _SMALLEST_NUMBERED if frame.has_numbers else _SMALLEST
    size = max(_LARGEST * (_weight(move, matrix) / frame.largest) ** 0.5, smallest)
    x = frame.right + 30 if move.receiver is None else frame.x_of[move.receiver]
    place = {"x": x - size / 2, "y": y - size / 2, "width": size, "height": size, "rx": 2.5}
    tooltip = element("title", escaped(f"from {sender} to {receiver}: {move.tooltip}"))
    parts = [tooltip, element("rect", class_="cross-rack" if move.is_across else "follows", **place)]
    if frame.has_numbers:
        parts.append(element("text", f"{move.replicas:,}", class_="moved", x=x, y=y + 4))
    received = {} if move.receiver is None else {"data_item": move.receiver}
    return element("g", *parts, class_="move", **received)


def _weight(move: Move, matrix: Matrix) -> int:
    return max(move.size_bytes if matrix.by_bytes else move.replicas, 1)
