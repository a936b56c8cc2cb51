"""A cluster as it stands, and what is tried on it."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from app.core.capacity.axes import Axis
from app.core.model import Int32s, Int64s
from app.core.reassignment.model import KEEP, TIGHT, Balance
from app.core.reassignment.what_if.axes import ADD, REMOVE, count, values_of
from app.errors import Json


@dataclass(frozen=True, slots=True)
class StandingBroker:
    """A broker that has or may get replicas.

    Parameters
    ----------
    rack : None where it has none, or is down and nobody knows it. receives : whether it may get new replicas; one that
        is fenced or down keeps what it has.
    """

    id: int
    rack: str | None
    receives: bool = True


@dataclass(frozen=True, slots=True, eq=False)
class Standing:
    """Brokers, and where the partitions are that may move.

    Parameters
    ----------
    brokers : by ascending id.
    counts_racks : whether racks count; then a broker without one is down, and stands in a rack of its own.
    spans_all : whether partitions have to span the racks that there are before anyone goes, and not only those that
        are left.
    topics : their names. starts : (topics + 1,) int64, where each one's rows begin.
    homes : (rows, widest) int32 positions in `brokers`, the preferred leader first, padded with `NO_HOME`.
    size_bytes : (rows,) int64; 0 where nobody knows.
    base, base_bytes : (brokers,) int64 replicas there of partitions that may not move, and their bytes.
    """

    brokers: tuple[StandingBroker, ...] = field(repr=False)
    counts_racks: bool
    spans_all: bool
    topics: tuple[str, ...] = field(repr=False)
    starts: Int64s = field(repr=False)
    homes: Int32s = field(repr=False)
    size_bytes: Int64s = field(repr=False)
    base: Int64s = field(repr=False)
    base_bytes: Int64s = field(repr=False)


@dataclass(frozen=True, slots=True, eq=False)
class WhatIfs:
    """What is tried on a cluster: every combination of the axes' values, of which the last axis varies fastest.

    Parameters
    ----------
    balance : None is tight where brokers are added and keep elsewhere. racks_of_added : whom they are dealt to in turn;
        None deals them to the racks with the fewest brokers. minds_bytes : whether few bytes are to move, or few
        replicas.
    """

    standing: Standing
    axes: tuple[Axis, ...]
    balance: Balance | None
    racks_of_added: tuple[str, ...] | None
    minds_bytes: bool

    @property
    def count(self) -> int:
        """How many scenarios there are."""
        return count(self.axes)

    def trial(self, index: int) -> "Trial":
        """Scenario `index`; IndexError beyond the last one."""
        values = values_of(self.axes, index)
        return Trial(values, values.get(REMOVE), values.get(ADD, 0))

    def balance_of(self, trial: "Trial") -> Balance:
        """How even brokers are to be: new ones are there to take their share."""
        return self.balance or (TIGHT if trial.added else KEEP)


@dataclass(frozen=True, slots=True)
class Trial:
    """One scenario: the broker that is removed, None for none, and how many are added."""

    axes: Mapping[str, Json]
    removed: int | None
    added: int
