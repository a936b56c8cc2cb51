"""Who may read what, by classes: topics with the same subscribers are one, members with the same topics are one."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from app.core.groups.arrays.partition_table import PartitionTable
from app.core.groups.model import Member
from app.core.model import Int32s, Int64s

NO_CLASS = -1
"""The class of a topic that nobody reads, and of a member that has nothing to read."""


@dataclass(frozen=True, slots=True, eq=False)
class Readership:
    """The readers of a group in classes; a topic without partitions or absent from the metadata is not read.

    Parameters
    ----------
    topic_class : (topics,) int32, by the table's index; member_class : (members,) int32; `NO_CLASS` where it reads or
        is read by nobody.
    partitions : (topic classes,) int64, how many there are in the class. members : (member classes,) int64.
    reads : (topic classes, member classes) bool.
    """

    topic_class: Int32s
    member_class: Int32s
    partitions: Int64s
    members: Int64s
    reads: NDArray[np.bool_]


def readership(members: Sequence[Member], table: PartitionTable) -> Readership:
    """Sort topics and members into classes.

    A list of topics that several members share as one object, or that reads the same, is looked at once.
    """
    list_of_member, lists = _distinct_lists(members)
    sizes = np.diff(table.starts)
    reads = np.zeros((len(lists), len(table.topics)), np.bool_)
    for row, topics in zip(reads, lists, strict=True):
        row[_known(topics, table.index)] = True
    reads[:, sizes == 0] = False
    topic_class = _classes(reads.T)
    classes_read = _picked(reads, topic_class, axis=1)
    class_of_list = _classes(classes_read)
    member_class = class_of_list[list_of_member]
    is_read = topic_class != NO_CLASS
    has_class = member_class != NO_CLASS
    return Readership(
        topic_class=topic_class,
        member_class=member_class,
        partitions=_sums(topic_class[is_read], sizes[is_read]),
        members=np.bincount(member_class[has_class]).astype(np.int64),
        reads=_picked(classes_read, class_of_list, axis=0).T,
    )


def _distinct_lists(members: Sequence[Member]) -> tuple[Int64s, list[tuple[str, ...]]]:
    """The index of each member's list among the distinct ones, in order of first use."""
    by_identity: dict[int, int] = {}
    by_value: dict[tuple[str, ...], int] = {}
    of_member = np.empty(len(members), np.int64)
    for index, member in enumerate(members):
        # The members hold on to their lists, so that an identity is not used again while this loop runs.
        place = by_identity.get(id(member.topics))
        if place is None:
            place = by_identity[id(member.topics)] = by_value.setdefault(member.topics, len(by_value))
        of_member[index] = place
    return of_member, list(by_value)


def _known(topics: Sequence[str], index: Mapping[str, int]) -> Int64s:
    return np.array([index[name] for name in topics if name in index], np.int64)


def _classes(rows: NDArray[np.bool_]) -> Int32s:
    """Number the rows by what they hold, in order of first appearance; `NO_CLASS` for a row that holds nothing."""
    packed = np.packbits(rows, axis=1)
    numbers: dict[bytes, int] = {}
    classes = np.full(len(rows), NO_CLASS, np.int32)
    for index in np.flatnonzero(rows.any(axis=1)).tolist():
        classes[index] = numbers.setdefault(packed[index].tobytes(), len(numbers))
    return classes


def _picked(rows: NDArray[np.bool_], classes: Int32s, *, axis: int) -> NDArray[np.bool_]:
    """One of each class along the axis, in the order of their numbers."""
    numbers, first = np.unique(classes, return_index=True)
    picked: NDArray[np.bool_] = np.take(rows, first[numbers != NO_CLASS], axis=axis)
    return picked


def _sums(classes: Int32s, sizes: Int64s) -> Int64s:
    sums = np.zeros(int(classes.max(initial=-1)) + 1, np.int64)
    np.add.at(sums, classes, sizes)
    return sums
