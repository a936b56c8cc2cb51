"""What each batch moves, and how long that takes."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from app.core.model import UNKNOWN_SIZE, Int64s
from app.core.reassignment.batches.model import BatchLimits, Reassigned
from app.core.reassignment.batches.steps import Chains


@dataclass(frozen=True, slots=True, eq=False)
class Figures:
    """(batches,) arrays, as `Batches` has them."""

    moved_replicas: Int64s
    moved_bytes: Int64s
    unknown_sizes: Int64s
    max_bytes_in: Int64s
    seconds: NDArray[np.float64] | None


def figures(reassigned: Reassigned, chains: Chains, batch_of: Int64s, n_batches: int, limits: BatchLimits) -> Figures:
    """Count what the steps move in each of the batches; `batch_of` is (steps,) int64."""
    n_adds = np.diff(chains.adds_from)
    chain, batch = np.repeat(chains.chain_of, n_adds), np.repeat(batch_of, n_adds)
    size = chains.size[chain]
    moved_bytes = np.zeros(n_batches, np.int64)
    np.add.at(moved_bytes, batch, size)
    bytes_in = _most(batch, chains.adds, size, n_batches)
    seconds = None
    if limits.throttle_bytes_per_s is not None:
        busiest = np.maximum(bytes_in, _most(batch, chains.source[chain], size, n_batches))
        seconds = busiest / limits.throttle_bytes_per_s
    return Figures(
        moved_replicas=np.bincount(batch, minlength=n_batches),
        moved_bytes=moved_bytes,
        unknown_sizes=np.bincount(
            batch[reassigned.size_bytes[chains.rows[chain]] == UNKNOWN_SIZE], minlength=n_batches
        ),
        max_bytes_in=bytes_in,
        seconds=seconds,
    )


def _most(batch: Int64s, broker: NDArray[np.integer], size: Int64s, n_batches: int) -> Int64s:
    """(batches,) int64: the most bytes that one broker has in each batch."""
    most = np.zeros(n_batches, np.int64)
    if len(batch):
        # Sorted and added up, since a table of batches × brokers may be far larger than the moves.
        order = np.lexsort((broker, batch))
        batch, broker = batch[order], broker[order]
        begins = np.flatnonzero(np.diff(batch, prepend=-1) | np.diff(broker, prepend=-1))
        np.maximum.at(most, batch[begins], np.add.reduceat(size[order], begins))
    return most
