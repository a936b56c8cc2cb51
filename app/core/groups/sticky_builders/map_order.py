"""In which order Kafka goes through the general builder's map of lists, which decides where a partition is in two."""

from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from app.core.groups.sticky_builders.group import StickyGroup
from app.core.jvm import JavaHashMap
from app.core.jvm.hashes import STRING
from app.core.model import Int64s


class MapOrder:
    """The map while partitions are moved, when only active members are in it, and in the end, when all are again.

    Both are played through on a Java map when they are asked for, which is seldom.
    """

    def __init__(self, group: StickyGroup, active: NDArray[np.bool_]) -> None:
        self._group = group
        self._active = active
        self.was_undone = False

    @cached_property
    def while_moving(self) -> Int64s:
        """(members,) int64 position of each member; of those that are not active, meaningless."""
        return self._positions(self._active_only()[0])

    def in_the_end(self, member: int) -> int:
        """The position of a member when Kafka compares what was owned with what is given."""
        return int(self._final[member])

    @cached_property
    def _final(self) -> Int64s:
        lists, set_aside = self._active_only()
        if self.was_undone:
            copy: JavaHashMap[str, int] = JavaHashMap(STRING)
            copy.update(lists)
            for name in copy:
                del lists[name]
            lists.update(copy)
        lists.update(set_aside)
        return self._positions(lists)

    def _active_only(self) -> tuple[JavaHashMap[str, int], JavaHashMap[str, int]]:
        """The map without those that are not active, and the map that they are kept in meanwhile."""
        ids, order = self._group.ids, self._group.order.tolist()
        lists: JavaHashMap[str, int] = JavaHashMap(STRING)
        topics: JavaHashMap[str, int] = JavaHashMap(STRING, initial_capacity=len(ids))
        set_aside: JavaHashMap[str, int] = JavaHashMap(STRING)
        for member in order:
            lists[ids[member]] = topics[ids[member]] = member
        for name, member in topics.items():
            if not self._active[member]:
                set_aside[name] = lists.pop(name)
        return lists, set_aside

    def _positions(self, lists: JavaHashMap[str, int]) -> Int64s:
        positions = np.full(len(self._group.ids), -1, np.int64)
        positions[list(lists.values())] = np.arange(len(lists))
        return positions
