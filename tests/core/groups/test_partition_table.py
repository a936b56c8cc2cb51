"""Lists of members: the same by whichever sort, of small groups and of large ones."""

import numpy as np
import pytest

from app.core.groups.arrays.partition_table import PartitionTable, assignment_of

MEMBERS = tuple(f"member-{number:03}" for number in range(300))


@pytest.mark.parametrize("partitions", [0, 5, 40_000, 400_000])
def test_a_member_lists_the_rows_that_it_has_in_their_order(partitions: int) -> None:
    """Some rows have no member, and some members no row; the largest table is beyond what numpy sorts."""
    starts = np.array([0, partitions // 3, partitions], np.int64)
    table = PartitionTable(("orders", "payments"), starts, {"orders": 0, "payments": 1})
    owners = np.random.default_rng(partitions).integers(-1, len(MEMBERS) - 1, partitions).astype(np.int32)
    assignment = assignment_of(table, owners, MEMBERS)
    rows = starts[assignment.topic_index] + assignment.partitions
    for member, (first, end) in enumerate(zip(assignment.offsets[:-1], assignment.offsets[1:], strict=True)):
        assert np.array_equal(rows[first:end], np.flatnonzero(owners == member))
    assert assignment.offsets[-1] == np.count_nonzero(owners >= 0)
