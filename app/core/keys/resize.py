"""Effect of a change of the partition count: the keys that move, beside the expectation for a uniform hash.

A key that moves has its older records in one partition and its newer ones in another: their order is lost, a compacted
topic keeps both, and state that was built from the old partition misses the new records.
"""

from dataclasses import dataclass
from math import gcd

import numpy as np

from app.core.model import Int32s


@dataclass(frozen=True, slots=True)
class Resize:
    """Keys under two partition counts; shares are of the keys that have a partition under both."""

    partitions_before: int
    """Partition count of the request."""
    partitions_after: int
    """The other partition count."""
    keys: int
    """Number of keys that have a partition under both counts."""
    moved_keys: int
    """Number of keys that change partition."""
    moved_share: float
    """Share of keys that change partition."""
    expected_moved_share: float
    """Share of keys that change partition if the hash is uniform."""
    moved_weight_share: float
    """Share of the weights; of the keys if there are no weights."""


def expected_moved_share(before: int, after: int) -> float:
    """The share of keys that change partition from one count to another if the hash is uniform.

    A key stays if h mod a = h mod b. Over lcm(a, b) consecutive hashes that happens once for each partition that
    both counts have, so min(a, b) / lcm(a, b) = gcd(a, b) / max(a, b) of the keys stay.
    """
    return 1.0 - gcd(before, after) / max(before, after)


def resize(
    key_partitions_before: Int32s, key_partitions_after: Int32s, *, partitions_before: int, partitions_after: int
) -> Resize:
    """Compare the (keys,) int32 partitions under both counts; negative ones (without key, rejected) are left out."""
    compared = (key_partitions_before >= 0) & (key_partitions_after >= 0)
    moved = compared & (key_partitions_before != key_partitions_after)
    keys, moved_keys = int(np.count_nonzero(compared)), int(np.count_nonzero(moved))
    moved_share = moved_keys / keys if keys else 0.0
    return Resize(
        partitions_before=partitions_before,
        partitions_after=partitions_after,
        keys=keys,
        moved_keys=moved_keys,
        moved_share=moved_share,
        expected_moved_share=expected_moved_share(partitions_before, partitions_after),
        moved_weight_share=moved_share,
    )
