"""Where two partitioners send the same key to different partitions.

Producers that disagree scatter a key's records: joins by partition miss, compaction keeps a value for each side.
"""

from dataclasses import dataclass
from itertools import combinations
from typing import TypeAlias

import numpy as np

from app.core.keys.partitioners import WITHOUT_KEY
from app.core.model import Int32s

Placed: TypeAlias = dict[str, Int32s]


@dataclass(frozen=True, slots=True)
class Disagreement:
    """Two partitioners over the same keys and partition count.

    Parameters
    ----------
    keys : how many go by their key with both.
    differing_keys, differing_share : of these, sent to different partitions. Unrelated hashes differ on
        1 − 1/partitions of them.
    one_sided : keys that one of the two takes for none, and the other does not.
    examples : indices of the first keys that differ or are one-sided.
    """

    first: str
    second: str
    keys: int
    differing_keys: int
    differing_share: float
    one_sided: int
    examples: tuple[int, ...]


def disagreements(placed: Placed, *, most_examples: int = 10) -> tuple[Disagreement, ...]:
    """Compare every two of the partitioners, by name, over their (keys,) int32 partitions."""
    return tuple(
        _disagreement(first, second, placed, most_examples=most_examples) for first, second in combinations(placed, 2)
    )


def _disagreement(first: str, second: str, placed: Placed, *, most_examples: int) -> Disagreement:
    ours, theirs = placed[first], placed[second]
    lacks, lacked = ours == WITHOUT_KEY, theirs == WITHOUT_KEY
    one_sided = lacks != lacked
    compared = ~lacks & ~lacked
    differing = compared & (ours != theirs)
    keys, differing_keys = int(np.count_nonzero(compared)), int(np.count_nonzero(differing))
    return Disagreement(
        first=first,
        second=second,
        keys=keys,
        differing_keys=differing_keys,
        differing_share=differing_keys / keys if keys else 0.0,
        one_sided=int(np.count_nonzero(one_sided)),
        examples=tuple(np.flatnonzero(differing | one_sided)[:most_examples].tolist()),
    )
