"""Credit of Kafka's replication quotas: how much sooner a batch is complete that soon follows another.

Kafka holds a throttle on average over the last samples (`SimpleRate`), 11 of one second by default, from the begin of
the oldest one on. A broker that has sent nothing for some of these seconds may send their bytes at once, until the
samples before them have expired; if it has just done that, it waits longer. A pause of 11 s leaves no sample.
"""

import numpy as np

from app.core.model import Float64s
from app.core.reassignment.batches.execution import BatchCopies, ReplicationRates, batch_durations

WINDOW_S = 11.0
"""`replication.quota.window.num` samples of `replication.quota.window.size.seconds`."""
MOST_RECENT = 11
"""Batches in a window, at most; others before them are ignored."""
_LOOK_S = 0.25
_LOOKS_S = np.arange(0.0, WINDOW_S + _LOOK_S, _LOOK_S)[:, None]
_AT_ONCE_S = 1e-6


def quota_credits(copies: BatchCopies, rates: ReplicationRates, began_s: Float64s, ended_s: Float64s) -> Float64s:
    """(batches,) float64 seconds by which each batch is sooner complete than after a pause; negative if it is later.

    Up to t seconds after the begin a broker can send the throttle times the time since its oldest sample, less the
    bytes in the samples, which are sent evenly while a batch lasts. If it can send in t what takes D seconds of its
    throttle, it has D / t of its throttle in the model of `batch_durations`. At the end of 11 s it has sent no more
    than without credit, so that only the rest of D beyond a multiple of 11 s is sooner complete.

    Parameters
    ----------
    rates : with a throttle.
    began_s, ended_s : (batches,) float64 seconds since any moment, one batch after another; NaN if not executed.

    Complexity: O(batches · (brokers + copies)), and that of `batch_durations`.

    Examples
    --------
    Two batches of 50 bytes at 10 bytes per second, 4 s apart.

    >>> from app.core.reassignment.batches.execution import throttled
    >>> copies = BatchCopies(np.array([0, 1]), np.array([0, 0], np.int32), np.array([1, 1], np.int32),
    ...                      np.array([50, 50]), np.zeros(2))
    >>> quota_credits(copies, throttled(10, 2), np.array([0.0, 9.0]), np.array([5.0, 10.0])).round(6).tolist()
    [0.0, 4.0]
    """
    credit = np.zeros(len(began_s))
    order = np.argsort(began_s)[: np.count_nonzero(~np.isnan(began_s))]
    for place, batch in enumerate(order.tolist()):
        recent = order[max(place - MOST_RECENT, 0) : place]
        recent = recent[ended_s[recent] > began_s[batch] - WINDOW_S]
        if len(recent):
            its = _of_batch(copies, batch)
            needed = _seconds_of_links(its, rates)
            sent = np.array([_seconds_of_links(_of_batch(copies, other), rates) for other in recent.tolist()])
            rest = needed % WINDOW_S
            began, ended = began_s[recent] - began_s[batch], ended_s[recent] - began_s[batch]
            taken = needed - rest + _seconds_taken(rest, sent, began, ended)
            raised = (rates.throttle_bytes_per_s or 0) * needed / np.maximum(taken, _AT_ONCE_S)
            receives, sends = np.split(np.minimum(np.concatenate([rates.nic_in, rates.nic_out]), raised), 2)
            sooner = ReplicationRates(None, receives, sends, rates.record_batch_bytes)
            credit[batch] = (batch_durations(its, rates, 1) - batch_durations(its, sooner, 1))[0]
    return credit


def _seconds_taken(needed: Float64s, sent: Float64s, began: Float64s, ended: Float64s) -> Float64s:
    """(links,) seconds in which each link sends `needed` seconds of its throttle, at most 11.

    sent : (batches, links) seconds of the throttle that earlier batches sent. began, ended : (batches,) at most 0.
    """
    since = np.maximum(began, _LOOKS_S - WINDOW_S)
    left = np.where(ended < since, 0.0, (ended - since + _AT_ONCE_S) / (ended - began + _AT_ONCE_S))
    oldest = np.where((left[:, :, None] > 0) & (sent > 0), since[:, :, None], 0.0).min(axis=1)
    spare = _LOOKS_S - oldest - left @ sent - needed
    first, links = (spare >= -_AT_ONCE_S).argmax(axis=0), np.arange(len(needed))
    taken = np.maximum(_LOOKS_S[first, 0] - np.clip(spare[first, links], 0.0, _LOOK_S), 0.0)
    return np.where((spare >= -_AT_ONCE_S).any(axis=0), taken, needed)


def _of_batch(copies: BatchCopies, batch: int) -> BatchCopies:
    """The copies of one batch, as those of the first."""
    its = slice(*np.searchsorted(copies.batch, (batch, batch + 1)).tolist())
    return BatchCopies(
        copies.batch[its] - batch,
        copies.source[its],
        copies.target[its],
        copies.size_bytes[its],
        copies.ingress_bytes_per_s[its],
    )


def _seconds_of_links(copies: BatchCopies, rates: ReplicationRates) -> Float64s:
    """(2 · brokers,) float64 seconds that each broker needs at the throttle to receive its bytes, then to send them."""
    size, brokers = copies.size_bytes * rates.sent_per_copied, len(rates.nic_in)
    both = [np.bincount(ends, size, brokers) for ends in (copies.target, copies.source)]
    return np.concatenate(both) / (rates.throttle_bytes_per_s or 1)
