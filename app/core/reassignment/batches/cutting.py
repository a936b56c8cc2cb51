"""Cut a reassignment into batches that Kafka executes one after another."""

import numpy as np

from app.core.model import Int64s
from app.core.reassignment.batches.bounds import lower_bound
from app.core.reassignment.batches.figures import figures
from app.core.reassignment.batches.model import Batches, BatchLimits, Disks, Reassigned
from app.core.reassignment.batches.packing import is_hottest_first, pack
from app.core.reassignment.batches.steps import NO_LIMIT, steps


def cut(reassigned: Reassigned, limits: BatchLimits, disks: Disks | None = None) -> Batches:
    """Cut a reassignment into batches, so that no broker exceeds a limit at any time while they run.

    First the batches that move replicas, then those that give lists their final order: leaders change last, but for
    partitions whose leader goes. `steps` says what each partition goes through, `packing` in which order.

    Parameters
    ----------
    disks : what brokers use at any time stays within it. What a batch deletes is free after it.

    Raises
    ------
    MoveExceedsBatchLimit
        One replica alone is more than `max_bytes_in_per_broker`.
    BatchesOutOfDisk
        At some point no further step fits on the disks.
    """
    chains, reordered = steps(reassigned, limits, hottest_first=is_hottest_first(limits, disks))
    batch_of = pack(reassigned, chains, limits, disks)
    moving = int(batch_of.max(initial=-1)) + 1
    at_the_end = moving + np.arange(len(reordered.rows)) // (limits.max_partitions or NO_LIMIT)
    batch = np.concatenate([batch_of, at_the_end])
    rows = np.concatenate([chains.rows[chains.chain_of], reordered.rows])
    order = np.lexsort((rows, batch))
    n_batches = int(batch.max(initial=-1)) + 1
    counted = figures(reassigned, chains, batch_of, n_batches, limits)
    return Batches(
        rows=rows[order],
        offsets=_offsets(batch, n_batches),
        before=np.concatenate([chains.before, reordered.before])[order],
        after=np.concatenate([chains.after, reordered.after])[order],
        moving=moving,
        moved_replicas=counted.moved_replicas,
        moved_bytes=counted.moved_bytes,
        unknown_sizes=counted.unknown_sizes,
        max_bytes_in=counted.max_bytes_in,
        seconds=counted.seconds,
        lower_bound=lower_bound(reassigned, chains, reordered, limits),
    )


def _offsets(batch: Int64s, n_batches: int) -> Int64s:
    return np.concatenate([[0], np.cumsum(np.bincount(batch, minlength=n_batches))]).astype(np.int64)
