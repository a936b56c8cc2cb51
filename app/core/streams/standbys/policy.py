"""What a rule for standbys is: it places them, and it says which may be moved afterwards."""

from collections.abc import Callable
from dataclasses import dataclass

from app.core.streams.application import Application, Holdings
from app.core.streams.model import Bools, StreamsOptions


@dataclass(frozen=True, slots=True)
class StandbyPolicy:
    """One rule for standbys.

    Parameters
    ----------
    place : adds standbys of the stateful tasks to what is held; the active tasks are there already.
    may_move : (clients, clients) bool: from whom to whom a standby may go when the load is balanced.
    tags_held : (clients, tag values) bool, where KIP-925 must not lower how many tag values hold a task; None where it
        may swap any two standbys.
    """

    name: str
    summary: str
    place: Callable[[Application, Holdings, StreamsOptions], None]
    may_move: Callable[[Application], Bools]
    tags_held: Callable[[Application], Bools] | None = None
