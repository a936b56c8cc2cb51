"""Replica lists as arrays: one row a partition, brokers as ids or positions, padded with `NO_REPLICA`."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from app.core.model import NO_REPLICA, Bools, Int32s, Int64s


def widened(lists: Int32s, width: int) -> Int32s:
    """(rows, width) int32: the lists with columns of padding added on the right."""
    more = width - lists.shape[1]
    return np.pad(lists, ((0, 0), (0, more)), constant_values=NO_REPLICA) if more else lists


def stacked(lists: Sequence[Int32s]) -> Int32s:
    """(all rows, widest) int32: the lists of several topics below one another."""
    width = max((rows.shape[1] for rows in lists), default=0)
    return np.concatenate([np.empty((0, width), np.int32), *(widened(rows, width) for rows in lists)])


def not_among(lists: Int32s, others: Int32s) -> Bools:
    """(rows, widest) bool: replicas of a row that are not in the same row of the others.

    Complexity: O(rows · widest · widest of the others).

    Examples
    --------
    >>> not_among(np.array([[1, 2, -1]]), np.array([[2, 3]])).tolist()
    [[True, False, False]]
    """
    is_other = lists != NO_REPLICA
    for column in others.T:
        is_other &= lists != column[:, None]
    return np.asarray(is_other, np.bool_)


def senders(lists: Int32s, leaders: Int32s) -> Int32s:
    """(rows,) int32: the broker that new replicas are copied from: the leader while it is in the list, else the first.

    Kafka replaces a leader no sooner than its replica is dropped, and then by the first of the list that is in sync
    (`PartitionChangeBuilder.electAnyLeader`).

    Parameters
    ----------
    lists : (rows, at least 1). leaders : (rows,) int32 as they were before any of the lists, or `NO_REPLICA`.

    Examples
    --------
    >>> senders(np.array([[1, 2], [1, 3]], np.int32), np.array([2, 2], np.int32)).tolist()
    [2, 1]
    """
    leads = (lists == leaders[:, None]) & (lists != NO_REPLICA)
    return np.where(leads.any(axis=1), leaders, lists[:, 0])


def distinct_values(lists: NDArray[np.integer]) -> Int64s:
    """(rows,) int64: number of distinct values in each row; negative ones do not count."""
    ordered = np.sort(lists, axis=1)
    is_first = np.diff(ordered, axis=1, prepend=-1) != 0
    return np.asarray((is_first & (ordered >= 0)).sum(axis=1), np.int64)


def factors_of(lists: Int32s) -> Int64s:
    """(rows,) int64: the number of replicas of each row."""
    return np.asarray(np.count_nonzero(lists != NO_REPLICA, axis=1), np.int64)


def sums_by(index: NDArray[np.integer], amounts: NDArray[np.integer] | int, size: int) -> Int64s:
    """(size,) int64: the amounts of each index, added exactly."""
    sums = np.zeros(size, np.int64)
    np.add.at(sums, index, amounts)
    return sums


def per_broker(replicas: Int32s, brokers: int, load: Int64s | None = None) -> Int64s:
    """(brokers,) int64: the number of replicas at each position, or the sum of their loads.

    Parameters
    ----------
    replicas : (rows, widest) int32 positions of brokers. load : (rows,) int64 of one replica of the row.

    Examples
    --------
    >>> replicas = np.array([[0, 1], [1, -1]], np.int32)
    >>> per_broker(replicas, 3).tolist(), per_broker(replicas, 3, np.array([5, 7])).tolist()
    ([1, 2, 0], [5, 12, 0])
    """
    if load is None:  # the padding is -1, and counted before the first position
        return np.asarray(np.bincount(replicas.ravel() + 1, minlength=brokers + 1)[1:], np.int64)
    is_replica = replicas != NO_REPLICA
    return sums_by(replicas[is_replica], np.repeat(load, is_replica.sum(axis=1)), brokers)


def per_rack(replicas: Int32s, rack_of: Int32s, racks: int) -> Int64s:
    """(rows, racks) int64: the number of replicas of each row in each rack; `rack_of` are the racks of positions."""
    row, column = np.nonzero(replicas != NO_REPLICA)
    cells = row * racks + rack_of[replicas[row, column]]
    return np.bincount(cells, minlength=len(replicas) * racks).reshape(len(replicas), racks).astype(np.int64)


def per_group(
    group_of: Int32s | Int64s, replicas: Int32s, groups: int, brokers: int, load: Int64s | None = None
) -> Int64s:
    """(groups, brokers) int64: the number of replicas of the rows of each group at each position, or their loads."""
    row, column = np.nonzero(replicas != NO_REPLICA)
    cells = group_of[row].astype(np.int64) * brokers + replicas[row, column]
    return sums_by(cells, 1 if load is None else load[row], groups * brokers).reshape(groups, brokers)


def with_leader_first(replicas: Int32s, leaders: Int32s) -> Int32s:
    """Move each partition's leader to the front of its replica list; the others keep their order, padding goes to the
    end.

    Parameters
    ----------
    replicas : (partitions, widest) int32, padded with `NO_REPLICA` anywhere.
    leaders : (partitions,) int32; one that is no replica of its partition, or `NO_LEADER`, leaves the order unchanged.
    """
    rank = np.where(replicas == NO_REPLICA, 2, np.where(replicas == leaders[:, None], 0, 1))
    ordered: Int32s = np.take_along_axis(replicas, np.argsort(rank, axis=1, kind="stable"), axis=1)
    return ordered


def distinct_rows(rows: Int32s | Int64s) -> tuple[Int64s, Int64s]:
    """The first row of each distinct value, by ascending value, and (rows,) int64 the index of the value of each."""
    number = np.zeros(len(rows), np.int64)
    for column in rows.T[(rows != rows[:1]).any(axis=0)]:
        values, place = np.unique(column, return_inverse=True)
        # Numbered anew with each column, so that the product stays within 64 bits.
        _, number = np.unique(number * len(values) + place, return_inverse=True)
    _, first, place = np.unique(number, return_index=True, return_inverse=True)
    return first.astype(np.int64), place.astype(np.int64)
