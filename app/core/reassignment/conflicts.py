"""Conflicts of a problem: its constraints that no placement was found to satisfy together.

A stage raises a conflict, or, if the problem relaxes conflicts, lists it and goes on without the constraint.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from app.core.model import Int64s
from app.core.reassignment.log_dirs import LogDirProblem, PackingConflict
from app.core.reassignment.resources import ResourcePlacement


class Infeasible(Exception):
    """No placement was found within the constraints of a problem; each subclass is about one of them."""


@dataclass(eq=False)
class BudgetConflict(Infeasible):
    """The budget of movement is too small.

    Parameters
    ----------
    least : bytes that the placement with the least movement that was found moves. lower_bound : on the bytes.
    """

    least: int
    lower_bound: int


@dataclass(eq=False)
class SetsConflict(Infeasible):
    """No placement on known replica sets was found. rows : int64 partitions that would be on others."""

    rows: Int64s


@dataclass(eq=False)
class EvacuationConflict(Infeasible):
    """Partitions have no replica on a broker that may lead. rows : int64."""

    rows: Int64s


@dataclass(eq=False)
class MinimumsConflict(Infeasible):
    """Topics lead fewer partitions on brokers than their minimums.

    Parameters
    ----------
    short : (topics, brokers) int64 leaders that are missing. brokers : (brokers,) bool, those that have the minimums.
    """

    short: Int64s
    brokers: NDArray[np.bool_]


@dataclass(eq=False)
class LimitsConflict(Infeasible):
    """A placement over resources exceeds hard limits.

    Parameters
    ----------
    placement : whose excess has the conflicts that are proven. columns : the resources whose limits it exceeds.
    """

    placement: ResourcePlacement
    columns: tuple[int, ...]


@dataclass(eq=False)
class ClosedLogDirs(Infeasible):
    """Replicas arrive at a broker, and none of its log directories may receive.

    Parameters
    ----------
    broker : its position. arriving : the number of replicas.
    """

    broker: int
    arriving: int


@dataclass(eq=False)
class FullLogDirs(Infeasible):
    """The replicas of a broker, by position, do not fit in its log directories.

    Parameters
    ----------
    rows : (replicas,) int64 partitions of the replicas of `problem`. packing : a conflict among them.
    """

    broker: int
    rows: Int64s
    problem: LogDirProblem
    packing: PackingConflict
