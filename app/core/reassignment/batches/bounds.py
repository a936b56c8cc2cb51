"""No schedule of these steps has fewer batches than this."""

import numpy as np

from app.core.model import Int64s
from app.core.reassignment.batches.model import BatchLimits, Reassigned
from app.core.reassignment.batches.steps import NO_LIMIT, Chains, Reordered


def lower_bound(reassigned: Reassigned, chains: Chains, reordered: Reordered, limits: BatchLimits) -> int:
    """As few batches as the steps could be in, if that.

    Batches that move replicas: the most of what each limit alone calls for, as ⌈replicas that a broker takes in all /
    those it takes in one batch⌉, and the steps of the partition that has most. Then come those for the final orders.
    """
    brokers = len(reassigned.broker_ids)
    chain_of_add = np.repeat(chains.chain_of, np.diff(chains.adds_from))
    moves_in = np.bincount(chains.adds, minlength=brokers)
    moves_out = np.bincount(chains.source[chain_of_add], minlength=brokers)
    bytes_in = np.zeros(brokers, np.int64)
    np.add.at(bytes_in, chains.adds, chains.size[chain_of_add])
    at_once = limits.max_partitions or NO_LIMIT
    moving = max(
        _batches(moves_in, limits.max_moves_in_per_broker),
        _batches(moves_out, limits.max_moves_out_per_broker),
        _batches(bytes_in, limits.max_bytes_in_per_broker),
        -(-len(chains.before) // at_once),
        int(np.diff(chains.first).max(initial=0)),
    )
    return moving + -(-len(reordered.rows) // at_once)


def _batches(totals: Int64s, limit: int | None) -> int:
    return 0 if limit is None else -(-int(totals.max(initial=0)) // limit)
