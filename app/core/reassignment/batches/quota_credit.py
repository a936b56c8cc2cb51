"""Credit of Kafka's replication quotas: how much sooner a batch is complete than if it never exceeded its throttle.

Kafka holds a throttle on average over the last samples (`SimpleRate`), 11 of one second by default, from the begin of
the oldest one on, and by whole fetches:

- a broker that has sent nothing for some of these seconds may send their bytes at once, if it leads a partition that
  others replicate: leaders count all answers to followers, throttled or not, and begin samples by them;
- the last fetch of a batch is not waited for;
- what a fetch has sent beyond 11 s of the throttle is never waited for: at 100 kB/s a fetch of six partitions, 6 MiB,
  takes 11 s and not 63;
- a sample that expires begins anew, and from then on its time counts for the average though nothing was sent: rare
  fetches are let through sooner than by the throttle.
"""

from dataclasses import replace

import numpy as np

from app.core.model import Bools, Float64s, Int64s
from app.core.reassignment.batches import fetches_kernel
from app.core.reassignment.batches.execution import BatchCopies, ReplicationRates, batch_durations

MOST_EVENTS = 400_000
"""Fetches and looks of a simulation, of all batches together; of larger ones only a share of their bytes is."""
_PHASES_MS = (60, 220, 400, 560, 730, 900)
"""Begins of a leader's samples before that of the first batch, beside whole seconds. No snapshot has it, and at low
throttles it decides whether a fetch is let through before or after a pause: durations are the mean over all. These are
not evenly apart, since the looks of a fetcher are."""
_LOOKS_PER_S = 4
_NOT_EXECUTED = -1
_SLOWER, _SLOWER_S = 2, 60
"""A batch takes at most that many times as long, and that much longer, than by `batch_durations`."""
_IN_SYNC_S = 0.2
"""From the last fetch until Kafka completes the reassignment; measured: 0.1 to 0.6 s."""


def quota_credits(
    copies: BatchCopies,
    rates: ReplicationRates,
    began_s: Float64s,
    ended_s: Float64s,
    is_alone: Bools,
    throttles: Float64s | None = None,
    serves: Bools | None = None,
) -> Float64s:
    """(batches,) float64 seconds by which each batch is sooner complete than by `batch_durations`; negative if later.

    The fetches of each batch are simulated with Kafka's defaults, the samples of the batches before it among them, by
    when these were executed. Each follower has one fetcher for each leader (`num.replica.fetchers`). Networks do not
    limit fetches.

    If a batch has too many fetches, a share of each copy is simulated, and the rest is sent at the throttle.

    Parameters
    ----------
    rates : with a throttle.
    began_s, ended_s : (batches,) float64 seconds since any moment, one batch after another; NaN if not executed.
    is_alone : (copies,) bool, whether the follower replicated nothing from that leader before the first batch. Until
        a batch has copied between them, its fetcher pauses for a second (`replica.fetch.backoff.ms`) if the throttle
        is exceeded; others look again when the leader answers.
    throttles : (batches,) bytes per second with which each was executed, infinite without one. Kafka keeps the samples
        when a throttle changes. None: all with that of `rates`.
    serves : (copies,) bool, whether the leader had followers before the first batch: then it begins with the credit of
        a window, and durations are the mean of simulations (`_PHASES_MS`). None: no leader had.

    Returns
    -------
    0 of batches that are not executed, were executed at another throttle, or never complete.

    Complexity: O(`MOST_EVENTS` · log(fetchers)), compiled, and that of `batch_durations`.

    Examples
    --------
    Of 3 MiB at 100 KiB/s each fetch but the first begins when 10.24 s have passed, at the next look, and the last one
    is not waited for.

    >>> from app.core.reassignment.batches.execution import throttled
    >>> copies = BatchCopies(np.array([0]), np.array([0], np.int32), np.array([1], np.int32),
    ...                      np.array([3 * 2**20]), np.zeros(1))
    >>> rates = throttled(100 * 2**10, 2)
    >>> credit = quota_credits(copies, rates, np.zeros(1), np.full(1, 25.0), np.zeros(1, np.bool_))
    >>> (batch_durations(copies, rates, 1) - credit).tolist()
    [20.715]
    """
    unlimited = np.full(len(rates.nic_in), np.inf)
    limit = batch_durations(copies, replace(rates, nic_in=unlimited, nic_out=unlimited), len(began_s))
    order = np.argsort(began_s)[: np.count_nonzero(~np.isnan(began_s))]
    executed = order[np.isfinite(limit[order]) & (limit[order] > 0)]
    if not len(executed):
        return np.zeros(len(began_s))
    fetches, batches = _fetches(copies, rates, executed, is_alone)
    throttle = float(rates.throttle_bytes_per_s or 0)
    throttle_of = np.full(len(executed), throttle) if throttles is None else throttles[executed]
    longest = limit[executed] * throttle / throttle_of
    share = _simulated_shares(fetches, batches, longest)
    simulated = fetches._replace(size=fetches.size * np.repeat(share, np.diff(fetches.offsets[batches])))
    began, ended = (
        np.round((each[executed] - began_s[executed[0]]) * 1000).astype(np.int64) for each in (began_s, ended_s)
    )
    limit_ms = np.round((_SLOWER * share * longest + _SLOWER_S) * 1000).astype(np.int64)
    took: list[Int64s] = []
    for phase in _PHASES_MS if serves is not None and serves.any() else _PHASES_MS[:1]:
        samples, ends = _unused_samples(2 * len(rates.nic_in)), began + limit_ms
        if serves is not None:
            samples.begin[copies.source[serves], 0] = -fetches_kernel.WINDOW_MS - phase
        fetches_kernel.fill_ends(simulated, batches, throttle_of, began, ended, samples, ends)
        took.append(ends - began)
    credit, took_s = np.zeros(len(began_s)), np.mean(took, axis=0) / 1000
    credit[executed] = np.where(throttle_of == throttle, share * longest - took_s - _IN_SYNC_S, 0.0)
    return credit


def _fetches(
    copies: BatchCopies, rates: ReplicationRates, executed: Int64s, is_alone: Bools
) -> tuple[fetches_kernel.FetchArrays, Int64s]:
    """The copies that have bytes by batch and fetcher, and (batches + 1,) the first fetcher of each batch."""
    brokers, place = len(rates.nic_in), np.full(int(copies.batch.max(initial=0)) + 1, _NOT_EXECUTED)
    place[executed] = np.arange(len(executed))
    rows = np.flatnonzero((copies.size_bytes > 0) & (place[copies.batch] != _NOT_EXECUTED))
    keys = (place[copies.batch[rows]] * brokers + copies.source[rows]) * brokers + copies.target[rows]
    rows = rows[np.argsort(keys, kind="stable")]
    distinct, first = np.unique(np.sort(keys), return_index=True)
    _, begins = np.unique(distinct % brokers**2, return_index=True)
    is_first = np.isin(np.arange(len(distinct)), begins)  # a follower goes on to replicate what it has copied before
    fetches = fetches_kernel.FetchArrays(
        np.asarray(copies.size_bytes[rows] * rates.sent_per_copied, np.float64),
        copies.ingress_bytes_per_s[rows] * rates.sent_per_copied,
        copies.source[rows[first]].astype(np.int32),
        (copies.target[rows[first]] + brokers).astype(np.int32),
        np.append(first, len(rows)).astype(np.int64),
        np.where(is_alone[rows[first]] & is_first, fetches_kernel.BACKOFF_MS, fetches_kernel.WAIT_MS // 2),
    )
    return fetches, np.searchsorted(distinct, np.arange(len(executed) + 1) * brokers**2).astype(np.int64)


def _simulated_shares(fetches: fetches_kernel.FetchArrays, batches: Int64s, limit: Float64s) -> Float64s:
    """(batches,) the share of each copy with which a batch has its part of `MOST_EVENTS`."""
    of_copies = np.add.reduceat(np.ceil(fetches.size / fetches_kernel.FETCH_BYTES), fetches.offsets[batches[:-1]])
    events = of_copies + _LOOKS_PER_S * limit * np.diff(batches)
    return np.minimum(MOST_EVENTS / len(limit) / events, 1.0)


def _unused_samples(links: int) -> fetches_kernel.QuotaSamples:
    samples = (links, fetches_kernel.SAMPLES)
    begin = np.full(samples, fetches_kernel.UNUSED)
    return fetches_kernel.QuotaSamples(begin, begin.copy(), np.zeros(samples), np.zeros(links, np.int64))
