"""Replication as fetches: followers fetch from leaders, both of which keep a throttle on average over samples.

A fetcher is a follower's thread for one leader. If the follower has exceeded its throttle it pauses, else it asks for
all its partitions. A leader that has exceeded its own keeps the request; if it still has when the wait ends, it answers
without records. Bytes are counted after they were sent: a fetch that is let through is sent as a whole.

A leader counts every answer to a follower, be it of no byte that is throttled. So it has samples of all the time since
its first follower, and the average of one that has sent nothing for a window is over that window. A follower counts
nothing but throttled bytes.

Sources: Kafka's `RemoteLeaderEndPoint.buildFetch`, `AbstractFetcherThread.maybeFetch`, `ReplicaManager.readFromLog`,
`ReplicationQuotaManager`, `SimpleRate` and `SampledStat`, whose times are milliseconds, too.
"""

import heapq
from typing import NamedTuple

import numpy as np

from app.core.compiled.arrays import FloatMatrix, FloatVector, Int32Vector, Int64Matrix, Int64Vector
from app.core.compiled.loops import compiled, subroutine

WINDOW_MS, SAMPLE_MS, SAMPLES = 11_000, 1_000, 12
"""`replication.quota.window.num` samples of `replication.quota.window.size.seconds`, and the one that is filled."""
FETCH_BYTES, RESPONSE_BYTES = 2.0**20, 10 * 2.0**20
"""`replica.fetch.max.bytes` of a partition, and `replica.fetch.response.max.bytes`."""
BACKOFF_MS, WAIT_MS = 1_000, 500
"""`replica.fetch.backoff.ms` of a follower, and `replica.fetch.wait.max.ms` of a leader."""
_RESPONSE_MS = 5
"""From a leader's answer until its follower counts the bytes."""
_GOLDEN = 0.6180339887498949
"""Multiples of it, less their whole parts, are spread over the time between two looks of a fetcher."""
UNUSED = -(2**62)
"""Begin of a sample that was never used."""
_ASKS, _WAITS, _RECEIVES = 0, 1, 2


class FetchArrays(NamedTuple):
    """Copies by batch and fetcher: (copies,) bytes and bytes per second; of each fetcher, links and first copy.

    source, target : (fetchers,) 0 … n - 1 of leaders and n … 2n - 1 of followers. offsets : (fetchers + 1,) of copies.
    pause_ms : (fetchers,) between two looks of a fetcher whose follower has exceeded the throttle.
    """

    size: FloatVector
    ingress: FloatVector
    source: Int32Vector
    target: Int32Vector
    offsets: Int64Vector
    pause_ms: Int64Vector


class QuotaSamples(NamedTuple):
    """(links, `SAMPLES`) begin, last event and bytes; begin is `UNUSED` of some. (links,) current.

    A leader that has had followers for more than a window has one sample that began before it.
    """

    begin: Int64Matrix
    last: Int64Matrix
    sent: FloatMatrix
    current: Int64Vector


class _Fetchers(NamedTuple):
    """(fetchers,) stage, next pause, bytes in flight, and the queue of copies: a circle within `queue`, from `head` on.

    rest, seen : (copies,) bytes that are not copied, and when that was counted.
    """

    stage: Int64Vector
    pause: Int64Vector
    taken: FloatVector
    head: Int64Vector
    waiting: Int64Vector
    queue: Int64Vector
    rest: FloatVector
    seen: Int64Vector


@compiled
def fill_ends(
    fetches: FetchArrays,
    batches: Int64Vector,
    throttles: FloatVector,
    began: Int64Vector,
    ended: Int64Vector,
    samples: QuotaSamples,
    ends: Int64Vector,
) -> None:
    """Write when each batch is complete, by milliseconds.

    Parameters
    ----------
    batches : (batches + 1,) of fetchers, in the order of their execution. throttles : (batches,) bytes per second.
    began, ended : (batches,) as executed: the samples that a batch leaves are stretched to that duration.
    ends : (batches,) on entry the latest ends, for batches that hardly catch up with new data.
    """
    fetchers, copies = len(fetches.source), len(fetches.size)
    state = _Fetchers(
        np.full(fetchers, _ASKS),
        np.empty(fetchers, np.int64),
        np.zeros(fetchers, np.float64),
        np.zeros(fetchers, np.int64),
        np.diff(fetches.offsets),
        np.arange(copies),
        fetches.size.copy(),
        np.empty(copies, np.int64),
    )
    for batch in range(len(batches) - 1):
        within = (batches[batch], batches[batch + 1])
        ends[batch] = _end(fetches, within, throttles[batch], (began[batch], ends[batch]), samples, state)
        # Of the execution only begin and end are known, between which its samples are stretched.
        stretch = (ended[batch] - began[batch]) / max(ends[batch] - began[batch], 1)
        for link in range(len(samples.current)):
            for place in range(SAMPLES):
                if samples.last[link, place] > began[batch]:
                    for times in (samples.begin, samples.last):
                        since = times[link, place] - began[batch]
                        times[link, place] = began[batch] + int(max(since, 0) * stretch) + min(since, 0)


@subroutine
def _end(
    fetches: FetchArrays,
    within: tuple[int, int],
    throttle: float,
    times: tuple[int, int],
    samples: QuotaSamples,
    state: _Fetchers,
) -> int:
    """The time at which fetchers have all of their copies, between the begin and the latest end of `times`."""
    (first, last), (began, latest) = within, times
    state.seen[fetches.offsets[first] : fetches.offsets[last]] = began
    for fetcher in range(first, last):
        # First pauses differ, since fetchers do not all look at the same time.
        state.pause[fetcher] = int((1 - (fetcher - first) * _GOLDEN % 1) * fetches.pause_ms[fetcher])
    left, end = np.full(len(samples.current), throttle), began
    # A time and a fetcher are one number, so that the heap compares integers.
    events = [began * len(fetches.source) + fetcher for fetcher in range(first, last)]
    while len(events) > 0 and end < latest:
        event = heapq.heappop(events)
        now, fetcher = event // len(fetches.source), event % len(fetches.source)
        end = now
        if state.stage[fetcher] == _RECEIVES:
            _record(samples, fetches.target[fetcher], state.taken[fetcher], now)
            state.stage[fetcher] = _ASKS
            if state.waiting[fetcher] == 0:
                continue
        after = _look(fetches, fetcher, now, samples, state, left)
        heapq.heappush(events, (now + after) * len(fetches.source) + fetcher)
    return end


@subroutine
def _look(
    fetches: FetchArrays, fetcher: int, now: int, samples: QuotaSamples, state: _Fetchers, left: FloatVector
) -> int:
    """Ask, fetch or wait, by the quotas of both ends; milliseconds until the next event of the fetcher."""
    source, target = fetches.source[fetcher], fetches.target[fetcher]
    _answer_others(samples, source, now)
    if state.stage[fetcher] == _ASKS and _is_exceeded(samples, target, left[target], now):
        pause = int(state.pause[fetcher])
        state.pause[fetcher] = fetches.pause_ms[fetcher]
        return pause
    if not _is_exceeded(samples, source, left[source], now):
        state.taken[fetcher] = _take(fetches, fetcher, now, state, left)
        _record(samples, source, state.taken[fetcher], now)
        state.stage[fetcher] = _RECEIVES
        return _RESPONSE_MS
    if state.stage[fetcher] == _ASKS:
        state.stage[fetcher] = _WAITS
        return WAIT_MS
    state.stage[fetcher] = _ASKS
    return 0


@subroutine
def _take(fetches: FetchArrays, fetcher: int, now: int, state: _Fetchers, left: FloatVector) -> float:
    """Bytes of one fetch of the copies in the queue, which then begins with those that had none.

    A replica that is complete is no longer throttled, and still counts: others have the throttle less its new data.
    """
    first, taken = fetches.offsets[fetcher], 0.0
    places = fetches.offsets[fetcher + 1] - first
    for _ in range(state.waiting[fetcher]):
        if taken >= RESPONSE_BYTES:
            break
        copy = state.queue[first + state.head[fetcher]]
        state.rest[copy] += fetches.ingress[copy] * (now - state.seen[copy]) / 1000
        state.seen[copy] = now
        size = min(state.rest[copy], FETCH_BYTES, RESPONSE_BYTES - taken)
        state.rest[copy] -= size
        taken += size
        state.head[fetcher] = (state.head[fetcher] + 1) % places
        if state.rest[copy] > 0:
            state.queue[first + (state.head[fetcher] + state.waiting[fetcher] - 1) % places] = copy
        else:
            state.waiting[fetcher] -= 1
            for link in (fetches.source[fetcher], fetches.target[fetcher]):
                left[link] -= fetches.ingress[copy]
    return taken


@subroutine
def _answer_others(samples: QuotaSamples, link: int, now: int) -> None:
    """Begin the samples that a leader had until now by answers without throttled bytes, one a second."""
    place = samples.current[link]
    if samples.begin[link, place] == UNUSED:
        return
    # Of all the time before, the last samples are left.
    samples.begin[link, place] = max(samples.begin[link, place], now - SAMPLES * SAMPLE_MS - SAMPLE_MS // 2)
    while now - samples.begin[link, place] >= SAMPLE_MS:
        ended = samples.begin[link, place] + SAMPLE_MS
        samples.last[link, place] = ended
        place = (place + 1) % SAMPLES
        samples.begin[link, place], samples.sent[link, place] = ended, 0.0
    samples.current[link], samples.last[link, place] = place, now


@subroutine
def _record(samples: QuotaSamples, link: int, sent: float, now: int) -> None:
    """Count bytes in the current sample, or in a new one in place of the oldest."""
    place = samples.current[link]
    if now - samples.begin[link, place] >= SAMPLE_MS:
        place = samples.current[link] = (place + 1) % SAMPLES
        samples.begin[link, place], samples.sent[link, place] = now, 0.0
    samples.last[link, place] = now
    samples.sent[link, place] += sent


@subroutine
def _is_exceeded(samples: QuotaSamples, link: int, throttle: float, now: int) -> bool:
    """Whether the bytes since the begin of the oldest sample are more than the throttle; expired samples begin anew."""
    current, oldest, sent = samples.current[link], now, 0.0
    if samples.begin[link, current] == UNUSED:
        samples.begin[link, current] = samples.last[link, current] = now
    for place in range(SAMPLES):
        if samples.begin[link, place] == UNUSED:
            continue
        if now - samples.last[link, place] >= WINDOW_MS:
            samples.begin[link, place] = samples.last[link, place] = now
            samples.sent[link, place] = 0.0
        oldest = min(oldest, samples.begin[link, place])
        sent += samples.sent[link, place]
    return sent * 1000 > throttle * max(now - oldest, SAMPLE_MS)
