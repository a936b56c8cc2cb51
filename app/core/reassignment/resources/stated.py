"""Limits of brokers as a request states them: a share of each capacity, or an amount."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from app.core.model import Int64s
from app.core.reassignment.resources.model import MILLION, NO_CAPACITY, NO_LIMIT, RESOURCES, Limits


@dataclass(frozen=True, slots=True)
class StatedLimit:
    """An upper limit on what a broker has: a share of its capacity, or an amount; a soft one may be exceeded."""

    share: float | None = None
    absolute: float | None = None
    soft: bool = False


def stated_limits(stated: Mapping[str, StatedLimit], capacity: Int64s) -> Limits:
    """The limit of every broker by resource; a share of an unknown capacity is no limit.

    Parameters
    ----------
    stated : by resource. capacity : (brokers, resources) int64, or `NO_CAPACITY`.
    """
    limits = Limits.none(len(capacity))
    for name, limit in stated.items():
        column = RESOURCES.index(name)
        limits.is_soft[column] = limit.soft
        if limit.absolute is not None:
            amount = limit.absolute * (MILLION if name == "cpu" else 1)
            limits.upper[:, column] = min(round(amount), NO_LIMIT)
            continue
        of_broker = capacity[:, column]
        shared = np.floor(of_broker * (limit.share or 0.0)).astype(np.int64)
        limits.upper[:, column] = np.where(of_broker > NO_CAPACITY, shared, NO_LIMIT)
    return limits


def without_removed(limits: Limits, is_removed: NDArray[np.bool_], base: Int64s) -> Limits:
    """The limits, those of removed brokers lowered to what stays there: nothing of the problem does, so that their
    limits are no capacity for the others.

    Parameters
    ----------
    is_removed : (brokers,) bool. base : (brokers, resources) int64 of partitions outside the problem.
    """
    removed = is_removed[:, None]
    lowered = np.where(removed & (limits.upper < NO_LIMIT), np.minimum(limits.upper, base), limits.upper)
    return Limits(lowered, limits.is_soft)
