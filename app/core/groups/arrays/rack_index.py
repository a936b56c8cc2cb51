"""The racks of members and brokers as numbers, so that compiled loops can compare them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Self

import numpy as np

from app.core.groups.model import Member
from app.core.model import Int32s

LARGEST_TABLE = 1 << 20
"""Broker ids below are looked up in a table as they are; where one is as large, all are numbered first."""


@dataclass(frozen=True, slots=True, eq=False)
class RackIndex:
    """The racks of a group's members and of the brokers, numbered.

    Parameters
    ----------
    of_member : (members,) int32; −1 without a rack, and `""` counts as none.
    of_broker : int32 by broker, as `brokers_of` gives them; −1 without a rack. A broker's `""` is a rack of its own.
    racks : how many there are.
    """

    of_member: Int32s
    of_broker: Int32s = field(repr=False)
    racks: int
    _sparse_ids: Int32s | None = field(repr=False)

    @classmethod
    def of(cls, members: Sequence[Member], rack_of: Mapping[int, str | None]) -> Self:
        """Number the racks."""
        number_of: dict[str, int] = {}
        racked = [(broker, rack) for broker, rack in rack_of.items() if rack is not None and broker >= 0]
        of_broker = {broker: number_of.setdefault(rack, len(number_of)) for broker, rack in racked}
        of_member = [
            number_of.setdefault(member.rack_id, len(number_of)) if member.rack_id else -1 for member in members
        ]
        ids = np.array(sorted(of_broker), np.int32)
        is_sparse = bool(ids.max(initial=-1) >= LARGEST_TABLE)
        places = np.arange(len(ids), dtype=np.int32) if is_sparse else ids
        table = np.full(int(places.max(initial=-1)) + 1, -1, np.int32)
        table[places] = [of_broker[broker] for broker in ids.tolist()]
        return cls(np.array(of_member, np.int32), table, len(number_of), ids if is_sparse else None)

    def brokers_of(self, replicas: Int32s) -> Int32s:
        """Replicas as `of_broker` is indexed; what is out of its bounds has no rack."""
        if self._sparse_ids is None:
            return np.ascontiguousarray(replicas, np.int32)
        places = np.searchsorted(self._sparse_ids, replicas).astype(np.int32)
        is_known = self._sparse_ids[np.minimum(places, len(self._sparse_ids) - 1)] == replicas
        return np.where(is_known, places, np.int32(-1))
