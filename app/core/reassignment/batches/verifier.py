"""Violations of batches from any scheduler, by replaying them.

The replay sorts and sums: it shares no code with the scheduler.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from app.core.model import NO_REPLICA, UNKNOWN_SIZE, Int32s, Int64s
from app.core.reassignment.batches.model import Batches, BatchLimits, BrokerDisks, ReassignedPartitions
from app.core.replica_lists import distinct_values, not_among, sums_by, widened

Bools = NDArray[np.bool_]


@dataclass(frozen=True, slots=True, eq=False)
class StepReplay:
    """Steps by row and then by batch, with all replica lists of one width.

    Parameters
    ----------
    batch, row : (steps,) int64. is_first, is_last : (steps,) bool, of their row.
    before, after : (steps, widest) int32. gained : (steps, widest) bool, replicas of `after` that are not in `before`;
        lost : those of `before` that are not in `after`.
    origin, goal : (rows, widest) int32, lists before and after the reassignment.
    size : (steps,) int64 bytes of one replica, 0 if unknown.
    """

    batch: Int64s = field(repr=False)
    row: Int64s = field(repr=False)
    is_first: Bools = field(repr=False)
    is_last: Bools = field(repr=False)
    before: Int32s = field(repr=False)
    after: Int32s = field(repr=False)
    gained: Bools = field(repr=False)
    lost: Bools = field(repr=False)
    origin: Int32s = field(repr=False)
    goal: Int32s = field(repr=False)
    size: Int64s = field(repr=False)

    @property
    def has_data(self) -> Bools:
        """(steps,) bool: whether the step adds or drops a replica."""
        return np.asarray(self.gained.any(axis=1) | self.lost.any(axis=1), np.bool_)


@dataclass(frozen=True, slots=True, eq=False)
class BatchTraffic:
    """Traffic of brokers in batches: (pairs,) arrays, by broker and then by batch, each pair once."""

    broker: Int64s
    batch: Int64s
    replicas: Int64s
    size_bytes: Int64s


def replay(reassigned: ReassignedPartitions, batches: Batches) -> StepReplay:
    """The steps of every row, in order."""
    every = (reassigned.before, reassigned.after, batches.before, batches.after)
    width = max(1, *(lists.shape[1] for lists in every))
    origin, goal = widened(reassigned.before, width), widened(reassigned.after, width)
    batch = np.repeat(np.arange(len(batches)), np.diff(batches.offsets))
    order = np.lexsort((batch, batches.rows))
    row = batches.rows[order].astype(np.int64)
    before, after = widened(batches.before, width)[order], widened(batches.after, width)[order]
    changes = np.diff(row) != 0
    sizes = reassigned.size_bytes[row]
    return StepReplay(
        batch=batch[order],
        row=row,
        is_first=np.concatenate([[True], changes])[: len(row)],
        is_last=np.concatenate([changes, [True]])[: len(row)],
        before=before,
        after=after,
        gained=not_among(after, before),
        lost=not_among(before, after),
        origin=origin,
        goal=goal,
        size=np.where(sizes == UNKNOWN_SIZE, 0, sizes),
    )


def incoming(replayed: StepReplay) -> BatchTraffic:
    """Replicas that brokers receive in each batch."""
    return _traffic(replayed, replayed.after, replayed.gained)


def outgoing(replayed: StepReplay) -> BatchTraffic:
    """Replicas copied from brokers in each batch: a follower fetches from the first replica of the list."""
    leaders = np.broadcast_to(replayed.before[:, :1], replayed.before.shape)
    return _traffic(replayed, leaders, replayed.gained)


def deleted(replayed: StepReplay) -> BatchTraffic:
    """Replicas that brokers delete when a batch completes."""
    return _traffic(replayed, replayed.before, replayed.lost)


def _traffic(replayed: StepReplay, brokers: Int32s, chosen: Bools) -> BatchTraffic:
    step, _ = np.nonzero(chosen)
    n_batches = int(replayed.batch.max(initial=0)) + 1
    pairs = brokers[chosen].astype(np.int64) * n_batches + replayed.batch[step]
    distinct, pair_of, replicas = np.unique(pairs, return_inverse=True, return_counts=True)
    size_bytes = sums_by(pair_of, replayed.size[step], len(distinct))
    return BatchTraffic(distinct // n_batches, distinct % n_batches, replicas, size_bytes)


@dataclass(frozen=True, slots=True)
class BatchViolation:
    """A violated guarantee: its first place, by batch; `count` counts all.

    Parameters
    ----------
    code, detail : of the guarantee. count : number of violations.
    batch, row, broker : of that place, broker by its id; None if it has none.
    value, limit : the figure there, and its limit; None if the guarantee has no figure.
    """

    code: str
    count: int
    detail: str
    batch: int | None = None
    row: int | None = None
    broker: int | None = None
    value: int | None = None
    limit: int | None = None


def batch_violations(
    reassigned: ReassignedPartitions, batches: Batches, limits: BatchLimits, disks: BrokerDisks | None = None
) -> list[BatchViolation]:
    """List every way in which batches do not lead from `before` to `after` within the limits.

    Returns
    -------
    Empty if each row's steps follow one another to exactly `after`, at most one in a batch, copying nothing that
    `after` does not need; lists are of distinct known brokers, never shorter than both ends' nor spanning fewer racks;
    no more than the larger factor + 1 replicas of a partition exist at a time, unless the step removes a cordoned
    broker; lists have no cordoned broker that leaves, unless the limit on what its leader sends forbids to remove it at
    once; no broker exceeds a limit or its disk; leaders change last; and the figures are those of the steps.
    """
    replayed = replay(reassigned, batches)
    violations = [*_paths(replayed), *_lists(reassigned, replayed), *_cordoned(reassigned, replayed, limits)]
    if violations:
        # Replicas of brokers cannot be counted if the steps are not those of the reassignment.
        return violations
    arrivals, departures = incoming(replayed), outgoing(replayed)
    violations += _limits(reassigned, batches, limits, arrivals, departures)
    if disks is not None:
        violations += _disks(reassigned, disks, arrivals, deleted(replayed))
    return [*violations, *_leaders(replayed, batches), *_figures(reassigned, replayed, batches, limits)]


def _paths(replayed: StepReplay) -> Iterator[BatchViolation]:
    previous = np.roll(replayed.after, 1, axis=0)
    expected = np.where(replayed.is_first[:, None], replayed.origin[replayed.row], previous)
    yield from _steps(
        replayed, "step_out_of_place", _differ(expected, replayed.before), "does not begin with its present list"
    )
    missed = replayed.is_last & _differ(replayed.after, replayed.goal[replayed.row])
    yield from _steps(replayed, "goal_missed", missed, "does not end with its final list")
    yield from _steps(replayed, "step_changes_nothing", ~_differ(replayed.before, replayed.after), "is not changed")
    exists = replayed.origin[:, 0] != NO_REPLICA
    yield from _steps(replayed, "partition_is_new", ~exists[replayed.row], "is created, and not moved")
    twice = ~replayed.is_first & (replayed.batch == np.roll(replayed.batch, 1))
    yield from _steps(replayed, "row_twice", twice, "has two steps in one batch")
    copies = sums_by(replayed.row, replayed.gained.sum(axis=1), len(replayed.goal))
    needed = not_among(replayed.goal, replayed.origin).sum(axis=1)
    detour = replayed.is_last & (copies > needed)[replayed.row]
    yield from _steps(replayed, "detour", detour, "copies replicas that it does not need")
    is_in_no_batch = np.bincount(replayed.row, minlength=len(exists)) == 0
    left_out = np.flatnonzero(exists & _differ(replayed.origin, replayed.goal) & is_in_no_batch)
    if len(left_out):
        yield BatchViolation("row_left_out", len(left_out), f"row {left_out[0]} is in no batch", row=int(left_out[0]))


def _lists(reassigned: ReassignedPartitions, replayed: StepReplay) -> Iterator[BatchViolation]:
    lists, n_brokers = replayed.after, len(reassigned.broker_ids)
    length = (lists != NO_REPLICA).sum(axis=1)
    strange = ((lists < NO_REPLICA) | (lists >= n_brokers)).any(axis=1)
    strange |= (np.diff((lists != NO_REPLICA).astype(np.int8), axis=1) > 0).any(axis=1)
    strange |= distinct_values(lists) != length
    if strange.any():
        yield from _steps(replayed, "illegal_list", strange, "has no list of distinct, known brokers")
        return
    factors = np.column_stack([(ends != NO_REPLICA).sum(axis=1) for ends in (replayed.origin, replayed.goal)])
    least, most = factors.min(axis=1)[replayed.row], factors.max(axis=1)[replayed.row] + 1
    transient = (replayed.before != NO_REPLICA).sum(axis=1) + replayed.gained.sum(axis=1)
    if reassigned.is_cordoned is not None:
        removes = (replayed.lost & np.append(reassigned.is_cordoned, False)[replayed.before]).any(axis=1)
        transient = np.where(removes, 0, transient)
    yield from _steps(replayed, "transient_replicas", transient > most, "has more replicas than one beyond its factor")
    yield from _steps(replayed, "too_few_replicas", length < least, "has fewer replicas than before and after")
    if reassigned.rack_of is not None:
        spans = [_racks(reassigned.rack_of, ends) for ends in (replayed.origin, replayed.goal)]
        narrow = _racks(reassigned.rack_of, lists) < np.minimum(*spans)[replayed.row]
        yield from _steps(replayed, "too_few_racks", narrow, "spans fewer racks than before and after")


def _cordoned(reassigned: ReassignedPartitions, replayed: StepReplay, limits: BatchLimits) -> Iterator[BatchViolation]:
    if reassigned.is_cordoned is None:
        return
    leaves = np.append(reassigned.is_cordoned, False)[replayed.after]
    leaves = leaves & not_among(replayed.after, replayed.goal[replayed.row])
    has_leaving: Bools = np.asarray(leaves.any(axis=1), np.bool_)
    # Replicas that are added until the last cordoned broker has left: those of these steps, and of the one after them.
    is_until = has_leaving | np.append(False, has_leaving[:-1] & (np.diff(replayed.row) == 0))
    added = sums_by(replayed.row, np.where(is_until, replayed.gained.sum(axis=1), 0), len(replayed.goal))
    most = limits.max_moves_out_per_broker
    if most is not None:
        has_leaving &= (added <= most)[replayed.row]
    yield from _steps(replayed, "cordoned_broker", has_leaving, "has a cordoned broker that leaves later")


def _limits(
    reassigned: ReassignedPartitions,
    batches: Batches,
    limits: BatchLimits,
    arrivals: BatchTraffic,
    departures: BatchTraffic,
) -> Iterator[BatchViolation]:
    for code, traffic, values, limit, what in (
        ("moves_in", arrivals, arrivals.replicas, limits.max_moves_in_per_broker, "receives {} replicas"),
        ("moves_out", departures, departures.replicas, limits.max_moves_out_per_broker, "sends {} replicas"),
        ("bytes_in", arrivals, arrivals.size_bytes, limits.max_bytes_in_per_broker, "receives {} bytes"),
    ):
        if limit is not None:
            most = np.full(len(values), limit)
            yield from _brokers(reassigned, traffic, code, values, most, what)
    sizes = np.diff(batches.offsets)
    if limits.max_partitions is not None and sizes.max(initial=0) > limits.max_partitions:
        at = np.flatnonzero(sizes > limits.max_partitions)
        value, limit = int(sizes[at[0]]), limits.max_partitions
        detail = f"batch {at[0]} has {value} partitions; {limit} are allowed"
        yield BatchViolation("partitions", len(at), detail, batch=int(at[0]), value=value, limit=limit)


def _disks(
    reassigned: ReassignedPartitions, disks: BrokerDisks, arrivals: BatchTraffic, deletions: BatchTraffic
) -> Iterator[BatchViolation]:
    # A batch's arrivals follow those of earlier batches, and their deletions.
    broker = np.concatenate([arrivals.broker, deletions.broker])
    size = np.concatenate([arrivals.size_bytes, -deletions.size_bytes])
    is_deletion = np.repeat([False, True], [len(arrivals.broker), len(deletions.broker)])
    order = np.lexsort((is_deletion, np.concatenate([arrivals.batch, deletions.batch]), broker))
    running = np.cumsum(size[order])
    begins = np.searchsorted(broker[order], broker[order])
    used = np.empty(len(order), np.int64)
    used[order] = disks.used_bytes[broker[order]] + running - np.concatenate([[0], running])[begins]
    most = disks.max_bytes[arrivals.broker]
    # A disk above its limit may still receive replicas of no bytes, and lose replicas.
    used = np.where(arrivals.size_bytes > 0, used[: len(arrivals.broker)], most)
    yield from _brokers(reassigned, arrivals, "disk", used, most, "uses {} bytes of disk")


def _leaders(replayed: StepReplay, batches: Batches) -> Iterator[BatchViolation]:
    has_data = replayed.has_data
    moving = int(replayed.batch[has_data].max(initial=-1)) + 1
    early = ~has_data & (replayed.batch < moving)
    yield from _steps(replayed, "leaders_not_last", early, "is only reordered, and others move later")
    if moving != batches.moving:
        detail = f"{moving} batches move replicas, not {batches.moving}"
        yield BatchViolation("wrong_figures", 1, detail, value=batches.moving, limit=moving)
    last = np.full(len(replayed.goal), -1)
    np.maximum.at(last, replayed.row[has_data], replayed.batch[has_data])
    changes = replayed.before[:, 0] != replayed.after[:, 0]
    is_removed = not_among(replayed.before[:, :1], replayed.after)[:, 0]
    unneeded = changes & has_data & (~is_removed | (replayed.batch < last[replayed.row]))
    yield from _steps(replayed, "leader_changes_early", unneeded, "changes its leader while data moves")


def _figures(
    reassigned: ReassignedPartitions, replayed: StepReplay, batches: Batches, limits: BatchLimits
) -> Iterator[BatchViolation]:
    n_batches, copies = len(batches), replayed.gained.sum(axis=1)
    arrivals, departures = incoming(replayed), outgoing(replayed)
    unknown = np.where(reassigned.size_bytes[replayed.row] == UNKNOWN_SIZE, copies, 0)
    most_in, most_out = _most(arrivals, n_batches), _most(departures, n_batches)
    for name, stated, counted in (
        ("moved_replicas", batches.moved_replicas, sums_by(replayed.batch, copies, n_batches)),
        ("moved_bytes", batches.moved_bytes, sums_by(replayed.batch, copies * replayed.size, n_batches)),
        ("unknown_sizes", batches.unknown_sizes, sums_by(replayed.batch, unknown, n_batches)),
        ("max_bytes_in", batches.max_bytes_in, most_in),
    ):
        if not np.array_equal(stated, counted):
            yield BatchViolation("wrong_figures", 1, f"{name} are not those of the steps")
    throttle = limits.throttle_bytes_per_s
    seconds = None if throttle is None else np.maximum(most_in, most_out) / throttle
    if (seconds is None) != (batches.seconds is None) or (
        seconds is not None and batches.seconds is not None and not np.allclose(seconds, batches.seconds)
    ):
        yield BatchViolation("wrong_figures", 1, "seconds are not those of the throttle")
    if batches.lower_bound > n_batches:
        detail = f"there are {n_batches} batches, fewer than the lower bound of {batches.lower_bound}"
        yield BatchViolation("wrong_figures", 1, detail, value=batches.lower_bound, limit=n_batches)


def _steps(replayed: StepReplay, code: str, broken: Bools, what: str) -> Iterator[BatchViolation]:
    if broken.any():
        at = np.flatnonzero(broken)
        first = at[np.argmin(replayed.batch[at])]
        batch, row = int(replayed.batch[first]), int(replayed.row[first])
        yield BatchViolation(code, len(at), f"row {row} {what}, in batch {batch}", batch=batch, row=row)


def _brokers(
    reassigned: ReassignedPartitions, traffic: BatchTraffic, code: str, values: Int64s, most: Int64s, what: str
) -> Iterator[BatchViolation]:
    at = np.flatnonzero(values > most)
    if len(at):
        first = at[np.argmin(traffic.batch[at])]
        batch, broker = int(traffic.batch[first]), int(reassigned.broker_ids[traffic.broker[first]])
        value, limit = int(values[first]), int(most[first])
        detail = f"broker {broker} {what.format(value)} in batch {batch}; {limit} are allowed"
        yield BatchViolation(code, len(at), detail, batch=batch, broker=broker, value=value, limit=limit)


def _differ(lists: Int32s, others: Int32s) -> Bools:
    return np.asarray((lists != others).any(axis=1), np.bool_)


def _racks(rack_of: Int32s, lists: Int32s) -> Int64s:
    return distinct_values(np.where(lists == NO_REPLICA, NO_REPLICA, rack_of[lists]))


def _most(traffic: BatchTraffic, n_batches: int) -> Int64s:
    most = np.zeros(n_batches, np.int64)
    np.maximum.at(most, traffic.batch, traffic.size_bytes)
    return most
