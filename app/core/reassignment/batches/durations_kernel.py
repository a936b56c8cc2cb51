"""Replication as a fluid: concurrent copies share the capacities of their ends, and new data keep coming.

Every copy has a source and a target, each a link of a capacity. Rates are max-min fair (progressive filling): links
whose share is the least of all links of their copies are saturated, and give each of their copies that share. Rates
change only when a copy is complete. Copies end together if they end within a hundredth of the least duration
that the busiest link allows, or of the time since the begin, if that is longer: durations are at most that share too
long, and a batch has some hundred events, however many copies. It is three hundredths of more than 10,000 copies.
"""

from typing import NamedTuple

import numpy as np

from app.core.compiled.arrays import FloatVector, Int32Vector, Int64Vector
from app.core.compiled.loops import compiled, subroutine

_MERGED, _MERGED_OF_MANY, _MANY = 0.01, 0.03, 10_000
_ROUNDING = 1 + 1e-12


class CopyArrays(NamedTuple):
    """Copies by batch: (copies,) links 0 … n - 1 of sources and n … 2n - 1 of targets, bytes, bytes per second."""

    source: Int32Vector
    target: Int32Vector
    size: FloatVector
    ingress: FloatVector


class _Links(NamedTuple):
    """(2n,) the capacity of links besides present traffic; the rest of it and each copy's share, in one filling."""

    room: FloatVector
    left: FloatVector
    share: FloatVector
    waiting: Int64Vector
    is_least: Int64Vector


@compiled
def fill_durations(
    copies: CopyArrays, offsets: Int64Vector, throttle: float, nic: FloatVector, seconds: FloatVector
) -> None:
    """Write the duration of every batch: infinite if it never completes, NaN if a rate is not known.

    offsets : (batches + 1,) of copies. nic : (2n,) bytes per second besides the present traffic, infinite if unknown.
    """
    n_links = len(nic)
    links = _Links(
        nic.copy(),
        np.zeros(n_links, np.float64),
        np.zeros(n_links, np.float64),
        np.zeros(n_links, np.int64),
        np.zeros(n_links, np.int64),
    )
    rest, rate = copies.size.copy(), np.zeros(len(copies.size), np.float64)
    for batch in range(len(offsets) - 1):
        active = np.empty(offsets[batch + 1] - offsets[batch], np.int64)
        n = 0
        is_known = True
        for copy in range(offsets[batch], offsets[batch + 1]):
            one, other = copies.source[copy], copies.target[copy]
            links.room[one], links.room[other] = nic[one], nic[other]
            if copies.size[copy] > 0:
                active[n] = copy
                n += 1
                is_known = is_known and not np.isinf(min(throttle, nic[one], nic[other]))
        elapsed = 0.0 if is_known else np.nan
        merged = _MERGED if n <= _MANY else _MERGED_OF_MANY
        shortest = _busiest(copies, active[:n], throttle, links) if is_known else 0.0
        while is_known and n > 0 and elapsed < np.inf:
            _fill(copies, active[:n], throttle, links, rate)
            step = _step(copies, active[:n], rest, rate, max(elapsed, shortest) * merged)
            elapsed += step
            if step < np.inf:
                n = _advance(copies, active[:n], links, rest, rate, step)
        seconds[batch] = elapsed


@subroutine
def _busiest(copies: CopyArrays, active: Int64Vector, throttle: float, links: _Links) -> float:
    """Seconds that the busiest link needs for its bytes."""
    for copy in active:
        links.share[copies.source[copy]] = links.share[copies.target[copy]] = 0.0
    longest = 0.0
    for copy in active:
        for link in (copies.source[copy], copies.target[copy]):
            links.share[link] += copies.size[copy]
            capacity = min(throttle, links.room[link])
            if capacity > 0:
                longest = max(longest, links.share[link] / capacity)
    return longest


@subroutine
def _fill(copies: CopyArrays, active: Int64Vector, throttle: float, links: _Links, rate: FloatVector) -> None:
    """Write the max-min fair rate of every active copy."""
    for copy in active:
        one, other = copies.source[copy], copies.target[copy]
        links.left[one], links.left[other] = min(throttle, links.room[one]), min(throttle, links.room[other])
        links.waiting[one] = links.waiting[other] = 0
    for copy in active:
        links.waiting[copies.source[copy]] += 1
        links.waiting[copies.target[copy]] += 1
    unshared = active.copy()
    n = len(unshared)
    while n > 0:
        _find_least(copies, unshared[:n], links)
        stays = 0
        for copy in unshared[:n]:
            one, other = copies.source[copy], copies.target[copy]
            if links.is_least[one] + links.is_least[other] > 0:
                rate[copy] = min(links.share[one], links.share[other])
                for link in (one, other):
                    links.left[link] = max(links.left[link] - rate[copy], 0.0)
                    links.waiting[link] -= 1
            else:
                unshared[stays] = copy
                stays += 1
        n = stays


@subroutine
def _find_least(copies: CopyArrays, unshared: Int64Vector, links: _Links) -> None:
    """Find the links whose share is the least among all copies that have no rate yet."""
    for copy in unshared:
        for link in (copies.source[copy], copies.target[copy]):
            links.share[link] = links.left[link] / links.waiting[link]
            links.is_least[link] = 1
    for copy in unshared:
        one, other = copies.source[copy], copies.target[copy]
        if links.share[one] > links.share[other]:
            links.is_least[one] = 0
        elif links.share[other] > links.share[one]:
            links.is_least[other] = 0


@subroutine
def _step(copies: CopyArrays, active: Int64Vector, rest: FloatVector, rate: FloatVector, least: float) -> float:
    """Seconds to the next event, at least `least` unless all end before; infinite if no copy ever catches up."""
    first, last = np.inf, 0.0
    for copy in active:
        net = rate[copy] - copies.ingress[copy]
        end = rest[copy] / net if net > 0 else np.inf
        first, last = min(first, end), max(last, end)
    return min(max(first, least), last) if first < np.inf else np.inf


@subroutine
def _advance(
    copies: CopyArrays, active: Int64Vector, links: _Links, rest: FloatVector, rate: FloatVector, step: float
) -> int:
    """Let time pass; the number of copies that are not complete, which `active` then begins with."""
    stays = 0
    for copy in active:
        net = rate[copy] - copies.ingress[copy]
        if net > 0 and rest[copy] <= net * step * _ROUNDING:
            # In sync, a replica is no longer throttled, and still receives new data.
            for link in (copies.source[copy], copies.target[copy]):
                links.room[link] = max(links.room[link] - copies.ingress[copy], 0.0)
        else:
            rest[copy] -= net * step
            active[stays] = copy
            stays += 1
    return stays
