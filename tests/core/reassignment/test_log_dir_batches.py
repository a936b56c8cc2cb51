"""Moves between log directories in batches: beside the steps of partitions, and no disk above its limit at any step."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given

from app.core.model import Int32s, padded
from app.core.reassignment.batches.cutting import cut_batches
from app.core.reassignment.batches.model import (
    Batches,
    BatchLimits,
    BrokerDisks,
    LogDirMoves,
    ReassignedPartitions,
    ReplicaLogDirs,
)
from app.core.reassignment.batches.verifier import batch_violations
from app.errors.requests import BatchesOutOfDisk, MoveExceedsBatchLimit
from tests import draws as st
from tests.core.reassignment.small_reassignments import MOST_BYTES, all_limits, reassignments
from tests.profiles import examples

DIRECTORIES = 3
NO_LIMIT = 1 << 62


@st.composite
def log_dirs_for(draw: st.DrawFn, reassigned: ReassignedPartitions) -> tuple[BrokerDisks, ReplicaLogDirs]:
    """Up to three directories a broker, some replicas in unknown ones, and limits, some of which are tight."""
    brokers = len(reassigned.broker_ids)
    disks = brokers * (1 + DIRECTORIES)
    used = np.zeros(disks, np.int64)

    def sampled(lists: Int32s) -> Int32s:
        found = np.zeros(lists.shape, np.int32)
        for place in np.argwhere(lists >= 0).tolist():
            broker, directory = int(lists[tuple(place)]), draw(st.integers(-1, DIRECTORIES - 1))
            found[tuple(place)] = broker if directory < 0 else brokers + broker * DIRECTORIES + directory
        return found

    of = ReplicaLogDirs(sampled(reassigned.before), sampled(reassigned.after))
    for place in np.argwhere(reassigned.before >= 0).tolist():
        used[of.before[tuple(place)]] += max(int(reassigned.size_bytes[place[0]]), 0)
    room = [draw(st.integers(-20, 3 * MOST_BYTES) | st.just(NO_LIMIT)) for _ in used]
    paths = tuple([f"/d{number}" for number in range(brokers * DIRECTORIES)])
    return BrokerDisks(used, used + np.array(room, np.int64), paths), of


cases = reassignments().flatmap(lambda reassigned: st.tuples(st.just(reassigned), log_dirs_for(reassigned)))


@given(cases, all_limits)
@examples(200)
def test_batches_reach_every_directory_within_all_limits(
    case: tuple[ReassignedPartitions, tuple[BrokerDisks, ReplicaLogDirs]], limits: BatchLimits
) -> None:
    reassigned, (disks, log_dirs) = case
    try:
        batches = cut_batches(reassigned, limits, disks, log_dirs)
    except (BatchesOutOfDisk, MoveExceedsBatchLimit):
        return
    assert batch_violations(reassigned, batches, limits, disks, log_dirs) == []


@given(cases, all_limits)
@examples(60)
def test_with_free_disks_nothing_is_rejected(
    case: tuple[ReassignedPartitions, tuple[BrokerDisks, ReplicaLogDirs]], limits: BatchLimits
) -> None:
    reassigned, (disks, log_dirs) = case
    free = replace(disks, max_bytes=np.full(len(disks.used_bytes), NO_LIMIT))
    batches = cut_batches(reassigned, limits, free, log_dirs)
    assert batch_violations(reassigned, batches, limits, free, log_dirs) == []


def exchanged(*, room: int) -> tuple[ReassignedPartitions, BrokerDisks, ReplicaLogDirs]:
    """Two replicas of 6 bytes that change places between two disks of 10 bytes, and a third disk with some room."""
    lists = padded([[0], [0]])
    reassigned = ReassignedPartitions(lists, lists, np.array([6, 6]), np.zeros(2, np.int64), np.array([101], np.int32))
    disks = BrokerDisks(np.array([0, 6, 6, 0]), np.array([NO_LIMIT, 10 + room, 10, 10]), ("/d1", "/d2", "/d3"))
    return reassigned, disks, ReplicaLogDirs(padded([[1], [2]]), padded([[2], [1]]))


def test_a_disk_that_is_needed_by_both_of_two_exchanged_replicas_is_named() -> None:
    """A copy needs room while the source is still there: with 4 bytes free on either disk neither can begin."""
    reassigned, disks, log_dirs = exchanged(room=0)
    with pytest.raises(BatchesOutOfDisk, match="log directory /d2 of broker 101 is 2 bytes short") as caught:
        cut_batches(reassigned, BatchLimits(), disks, log_dirs)
    assert caught.value.context["log_dir"] == "/d2"
    reassigned, disks, log_dirs = exchanged(room=2)
    batches = cut_batches(reassigned, BatchLimits(), disks, log_dirs)
    assert batch_violations(reassigned, batches, BatchLimits(), disks, log_dirs) == []
    assert batches.log_dir_moves is not None
    assert (batches.log_dir_moves.batch.tolist(), batches.log_dir_moves.row.tolist()) == ([0, 1], [1, 0])


def made() -> tuple[ReassignedPartitions, Batches, BrokerDisks, ReplicaLogDirs]:
    reassigned, disks, log_dirs = exchanged(room=2)
    return reassigned, cut_batches(reassigned, BatchLimits(), disks, log_dirs), disks, log_dirs


@pytest.mark.parametrize(
    ("changes", "code"),
    [
        ({"batch": np.array([0, 0])}, "row_left_out"),
        ({"target": np.array([1, 1], np.int32)}, "log_dirs"),
        ({"row": np.array([1, 1])}, "row_left_out"),
    ],
)
def test_what_the_verifier_finds(changes: dict[str, np.ndarray], code: str) -> None:
    reassigned, batches, disks, log_dirs = made()
    moves = batches.log_dir_moves
    assert isinstance(moves, LogDirMoves)
    wrong = replace(batches, log_dir_moves=replace(moves, **changes))
    assert code in {one.code for one in batch_violations(reassigned, wrong, BatchLimits(), disks, log_dirs)}


def test_a_disk_above_its_limit_in_between_is_found() -> None:
    """The batches of a roomy disk, on one that is too small for both replicas."""
    reassigned, batches, disks, log_dirs = made()
    small = replace(disks, max_bytes=np.array([NO_LIMIT, 10, 10, 10]))
    [violation] = batch_violations(reassigned, batches, BatchLimits(), small, log_dirs)
    assert (violation.code, violation.value, violation.limit) == ("disk", 12, 10)
