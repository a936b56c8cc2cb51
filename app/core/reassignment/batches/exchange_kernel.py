"""In which order a partition exchanges its replicas, so that no list spans fewer racks than both ends do.

Replicas are replaced within their rack where they can be: that neither opens a rack nor gives one up. Of the other
pairs, those that open a rack come first. After j of them min(j, opened) racks are opened and at most min(j, given up)
are gone: while j <= opened that is no fewer racks than at first, and afterwards no fewer than at last. Additional
replicas come before all pairs, which opens racks earlier still, and surplus ones go in the last step.
"""

from numba import njit

from app.core.model import Int32s


@njit(cache=True, nogil=True)
def exchange(old: Int32s, new: Int32s, rack_of: Int32s, adds: Int32s, drops: Int32s) -> tuple[int, int]:
    """Write what is added and what is dropped in the order of the steps, and give how many either is.

    old, new : (widest,) int32 positions, padded with -1. adds, drops : (widest,) int32, overwritten. After the e
        additional replicas, if there are any, `adds[e + i]` replaces `drops[i]`; the first of `old` is dropped last.
    """
    n_adds, n_drops = missing(new, old, adds), missing(old, new, drops)
    leader_goes = n_drops > 0 and drops[0] == old[0]
    if leader_goes:
        _move(drops, 0, n_drops - 1)
    n_within = _pair_within_racks(adds, n_adds, drops, n_drops, rack_of)
    opened = n_within
    for k in range(n_within, n_adds):
        # Those that open a rack stand before k already, so that none of the same rack is taken for another.
        if not _is_held(rack_of[adds[k]], old, new, adds[:opened], rack_of):
            _move(adds, k, opened)
            opened += 1
    n_additional = max(n_adds - n_drops, 0)
    for k in range(n_additional):
        _move(adds, n_within + k, k)
    if leader_goes:
        at = place(drops, old[0])
        if at < n_within:
            _move(adds, n_additional + at, n_adds - 1)
        _move(drops, at, n_drops - 1)
    return n_adds, n_drops


@njit(cache=True, nogil=True)
def missing(replicas: Int32s, others: Int32s, found: Int32s) -> int:
    """Write the replicas that are not among the others, in their order, and give how many there are."""
    n_found = 0
    for broker in replicas:
        if broker >= 0 and place(others, broker) < 0:
            found[n_found] = broker
            n_found += 1
    return n_found


@njit(cache=True, nogil=True)
def place(replicas: Int32s, broker: int) -> int:
    """Where a broker stands among the replicas, or -1."""
    for at in range(len(replicas)):
        if replicas[at] == broker:
            return at
    return -1


@njit(cache=True, nogil=True)
def _move(brokers: Int32s, at: int, to: int) -> None:
    """Take a broker out and put it elsewhere, the others in their order."""
    broker = brokers[at]
    step = 1 if to > at else -1
    for k in range(at, to, step):
        brokers[k] = brokers[k + step]
    brokers[to] = broker


@njit(cache=True, nogil=True)
def _pair_within_racks(adds: Int32s, n_adds: int, drops: Int32s, n_drops: int, rack_of: Int32s) -> int:
    """Put pairs of one rack first, at the same places on both sides; gives how many pairs that makes."""
    n_within = 0
    for drop in range(n_drops):
        for add in range(n_within, n_adds):
            if rack_of[adds[add]] == rack_of[drops[drop]]:
                _move(adds, add, n_within)
                _move(drops, drop, n_within)
                n_within += 1
                break
    return n_within


@njit(cache=True, nogil=True)
def _has_rack(brokers: Int32s, rack: int, rack_of: Int32s) -> bool:
    for broker in brokers:  # noqa: SIM110 — numba compiles no generator expressions
        if rack_of[broker] == rack:
            return True
    return False


@njit(cache=True, nogil=True)
def _is_held(rack: int, old: Int32s, new: Int32s, adds: Int32s, rack_of: Int32s) -> bool:
    """Whether a replica that stays is in the rack, or one of `adds`."""
    for broker in old:
        if broker >= 0 and rack_of[broker] == rack and place(new, broker) >= 0:
            return True
    return _has_rack(adds, rack, rack_of)
