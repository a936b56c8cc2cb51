"""Replication in discrete time: fetch rounds of replicas that catch up, and quotas by windows, as brokers have them.

Nothing here is of the model: a replica fetches its leader's bytes, a chunk at a time, in turns; every broker may send
and receive as many bytes in a window as its throttle allows, and no more until the next one.
"""

import numpy as np

from app.core.reassignment.batches.execution import BatchCopies

CHUNKS = 20
"""Fetches that the quota of a window is taken in, one copy after another."""


def simulated_seconds(
    copies: BatchCopies, throttle: float, brokers: int, *, window_s: float, most_windows: int, seed: int
) -> float:
    """Seconds until every copy of one batch is in sync; infinite if that takes more windows."""
    turns = np.random.default_rng(seed)
    log_end = copies.size_bytes.astype(np.float64)
    fetched = np.zeros(len(log_end))
    is_in_sync = log_end <= 0
    ends = [(int(one), brokers + int(other)) for one, other in zip(copies.source, copies.target, strict=True)]
    for window in range(1, most_windows + 1):
        log_end = log_end + np.where(is_in_sync, 0.0, copies.ingress_bytes_per_s * window_s)
        quota = np.full(2 * brokers, throttle * window_s)
        chunk = throttle * window_s / CHUNKS / max(len(ends), 1)
        has_fetched = True
        while has_fetched:
            has_fetched = False
            for copy in turns.permutation(np.flatnonzero(~is_in_sync)).tolist():
                one, other = ends[copy]
                amount = min(chunk, log_end[copy] - fetched[copy], quota[one], quota[other])
                if amount > 1e-9 * chunk:
                    fetched[copy] += amount
                    quota[one] -= amount
                    quota[other] -= amount
                    has_fetched = True
        is_in_sync |= fetched >= log_end * (1 - 1e-9)
        if is_in_sync.all():
            return window * window_s
    return float("inf")
