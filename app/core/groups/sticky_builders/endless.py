"""Whether Kafka would move partitions for ever, which claims of several generations can bring about.

A partition may go back to who owned it in an older generation, or in place of another that has moved the other way, and
then what moves need not come from a fuller member. A pass over the partitions depends on nothing but who holds what and
what has moved; so if it finds both as an earlier pass did, it will again. Passes are compared with one earlier pass,
which is replaced after 1, 2, 4, 8 … more: any cycle is found, whatever its length (R. P. Brent, "An improved Monte
Carlo factorization algorithm", 1980).
"""

import numpy as np

from app.core.groups.sticky_builders.lists_kernel import Lists
from app.core.groups.sticky_builders.moves_kernel import Moves
from app.errors import AssignorNeverEnds


class EndlessPasses:
    """Watches the arrays that passes change."""

    def __init__(self, lists: Lists, moves: Moves) -> None:
        self._lists = lists
        self._moves = moves
        self._passes = 0
        self._compared_until = 1
        self._earlier = self._copy()

    def watch(self) -> None:
        """To be called when a pass ends. Raises AssignorNeverEnds where all is as it was after an earlier one."""
        self._passes += 1
        now = self._copy()
        if all(np.array_equal(then, its) for then, its in zip(self._earlier, now, strict=True)):
            raise AssignorNeverEnds(
                "Kafka's sticky assignor would move the same partitions to and fro for ever, since members claim them "
                f"in several generations; found after {self._passes} passes over the partitions",
                passes=self._passes,
            )
        if self._passes == self._compared_until:
            self._compared_until *= 2
            self._earlier = now

    def _copy(self) -> tuple[np.ndarray[tuple[int, ...], np.dtype[np.generic]], ...]:
        lists, moves = self._lists, self._moves
        twin_is_first = lists.twin_stamp < lists.stamp
        changing = lists.holder, lists.twin_holder, twin_is_first, moves.origin, moves.following, moves.sets
        return tuple(array.copy() for array in changing)
