"""Violations of batches from any scheduler, by replaying them."""

from collections.abc import Iterator, Sequence

import numpy as np

from app.core.model import NO_REPLICA, UNKNOWN_SIZE, Bools, Int32s, Int64s
from app.core.reassignment.batches.model import Batches, BatchLimits, BrokerDisks, ReassignedPartitions, ReplicaLogDirs
from app.core.reassignment.batches.replay import (
    BatchTraffic,
    BatchViolation,
    StepReplay,
    differ,
    disk_violations,
    exceeded,
    replay,
    required_violations,
    violated_steps,
    without_unchanged,
)
from app.core.replica_lists import distinct_values, not_among, sums_by


def batch_violations(
    reassigned: ReassignedPartitions,
    batches: Batches,
    limits: BatchLimits,
    disks: BrokerDisks | None = None,
    log_dirs: ReplicaLogDirs | None = None,
) -> list[BatchViolation]:
    """List every way in which batches do not lead from `before` to `after` within the limits.

    Returns
    -------
    Empty if each row's steps follow one another to exactly `after`, at most one in a batch, copying nothing that
    `after` does not need; lists are of distinct known brokers, never shorter than both ends' nor spanning fewer racks;
    no more than the larger factor + 1 replicas of a partition exist at a time, unless the step removes a cordoned
    broker; lists have no cordoned broker that leaves, unless the limit on copies from its leader forbids removal at
    once; no broker exceeds a limit or its disk; leaders change last; partitions that wait for brokers that are down are
    in batches of their own, after all others, of which the same holds; and the figures match the steps. With log
    directories, also if exactly the required moves between them are made, none while its partition is listed otherwise.
    """
    replayed = replay(reassigned, batches)
    moves = batches.log_dir_moves
    if log_dirs is not None or moves is not None:
        replayed, unlisted = without_unchanged(replayed, moves)
        misplaced = [*unlisted, *required_violations(reassigned, moves, log_dirs)]
        if misplaced:
            return misplaced
    violations = [*_paths(replayed), *_lists(reassigned, replayed), *_cordoned(reassigned, replayed, limits)]
    if violations:
        # Replicas of brokers cannot be counted if the steps do not match the reassignment.
        return violations
    copies = replayed.copies(np.maximum(reassigned.size_bytes, 0))
    within = None if moves is None else BatchTraffic(moves.broker, moves.batch, reassigned.on_disk[moves.row])
    # Moves between log directories are copies of their broker, and count against its limits in both directions.
    sides = [side if within is None else side.joined(within) for side in copies]
    violations += _limits(reassigned, batches, limits, sides)
    if disks is not None:
        violations += disk_violations(reassigned, replayed, disks, log_dirs, moves)
    violations += _leaders(reassigned, replayed, batches)
    return [*violations, *_figures(reassigned, replayed, batches, limits, [*copies, *([within] if within else [])])]


def _paths(replayed: StepReplay) -> Iterator[BatchViolation]:
    strange = differ(replayed.present, replayed.before)
    yield from violated_steps(replayed, "step_out_of_place", strange, "does not begin with its present list")
    missed = replayed.is_last & differ(replayed.after, replayed.goal[replayed.row])
    yield from violated_steps(replayed, "goal_missed", missed, "does not end with its final list")
    yield from violated_steps(
        replayed, "step_changes_nothing", ~differ(replayed.before, replayed.after), "is not changed"
    )
    exists = replayed.origin[:, 0] != NO_REPLICA
    yield from violated_steps(replayed, "partition_is_new", ~exists[replayed.row], "is created, and not moved")
    twice = ~replayed.is_first & (replayed.batch == np.roll(replayed.batch, 1))
    yield from violated_steps(replayed, "row_twice", twice, "has two steps in one batch")
    copies = sums_by(replayed.row, replayed.gained.sum(axis=1), len(replayed.goal))
    needed = not_among(replayed.goal, replayed.origin).sum(axis=1)
    detour = replayed.is_last & (copies > needed)[replayed.row]
    yield from violated_steps(replayed, "detour", detour, "copies replicas that it does not need")
    is_in_no_batch = np.bincount(replayed.row, minlength=len(exists)) == 0
    left_out = np.flatnonzero(exists & differ(replayed.origin, replayed.goal) & is_in_no_batch)
    if len(left_out):
        yield BatchViolation("row_left_out", len(left_out), f"row {left_out[0]} is in no batch", row=int(left_out[0]))


def _lists(reassigned: ReassignedPartitions, replayed: StepReplay) -> Iterator[BatchViolation]:
    lists, n_brokers = replayed.after, len(reassigned.broker_ids)
    length = (lists != NO_REPLICA).sum(axis=1)
    strange = ((lists < NO_REPLICA) | (lists >= n_brokers)).any(axis=1)
    strange |= (np.diff((lists != NO_REPLICA).astype(np.int8), axis=1) > 0).any(axis=1)
    strange |= distinct_values(lists) != length
    if strange.any():
        yield from violated_steps(replayed, "illegal_list", strange, "has no list of distinct, known brokers")
        return
    factors = np.column_stack([(ends != NO_REPLICA).sum(axis=1) for ends in (replayed.origin, replayed.goal)])
    least, most = factors.min(axis=1)[replayed.row], factors.max(axis=1)[replayed.row] + 1
    transient = (replayed.before != NO_REPLICA).sum(axis=1) + replayed.gained.sum(axis=1)
    if reassigned.is_barred is not None:
        removes = (replayed.lost & np.append(reassigned.is_barred, False)[replayed.before]).any(axis=1)
        transient = np.where(removes, 0, transient)
    yield from violated_steps(
        replayed, "transient_replicas", transient > most, "has more replicas than one beyond its factor"
    )
    yield from violated_steps(replayed, "too_few_replicas", length < least, "has fewer replicas than before and after")
    if reassigned.rack_of is not None:
        spans = [_racks(reassigned.rack_of, ends) for ends in (replayed.origin, replayed.goal)]
        narrow = _racks(reassigned.rack_of, lists) < np.minimum(*spans)[replayed.row]
        yield from violated_steps(replayed, "too_few_racks", narrow, "spans fewer racks than before and after")


def _cordoned(reassigned: ReassignedPartitions, replayed: StepReplay, limits: BatchLimits) -> Iterator[BatchViolation]:
    if reassigned.is_barred is None:
        return
    leaves = np.append(reassigned.is_barred, False)[replayed.after]
    leaves = leaves & not_among(replayed.after, replayed.goal[replayed.row])
    has_leaving: Bools = np.asarray(leaves.any(axis=1), np.bool_)
    # Replicas that are added until the last cordoned broker has left: in these steps, and in the one after them.
    is_until = has_leaving | np.append(False, has_leaving[:-1] & (np.diff(replayed.row) == 0))
    added = sums_by(replayed.row, np.where(is_until, replayed.gained.sum(axis=1), 0), len(replayed.goal))
    most = limits.max_moves_out_per_broker
    if most is not None:
        has_leaving &= (added <= most)[replayed.row]
    yield from violated_steps(replayed, "cordoned_broker", has_leaving, "has a cordoned broker that leaves later")


def _limits(
    reassigned: ReassignedPartitions, batches: Batches, limits: BatchLimits, sides: Sequence[BatchTraffic]
) -> Iterator[BatchViolation]:
    arrivals, departures = sides
    for code, traffic, is_bytes, most, what in (
        ("moves_in", arrivals, False, limits.max_moves_in_per_broker, "receives {} replicas"),
        ("moves_out", departures, False, limits.max_moves_out_per_broker, "sends {} replicas"),
        ("bytes_in", arrivals, True, limits.max_bytes_in_per_broker, "receives {} bytes"),
    ):
        if most is None:
            continue
        brokers, numbers, replicas, size_bytes = traffic.sums()
        values = size_bytes if is_bytes else replicas
        yield from exceeded(reassigned, code, what, (brokers, numbers, values, np.full(len(values), most)))
    sizes = np.diff(batches.offsets)
    if limits.max_partitions is not None and sizes.max(initial=0) > limits.max_partitions:
        at = np.flatnonzero(sizes > limits.max_partitions)
        value, limit = int(sizes[at[0]]), limits.max_partitions
        detail = f"batch {at[0]} has {value} partitions; {limit} are allowed"
        yield BatchViolation("partitions", len(at), detail, batch=int(at[0]), value=value, limit=limit)


def _leaders(reassigned: ReassignedPartitions, replayed: StepReplay, batches: Batches) -> Iterator[BatchViolation]:
    has_data, moves = replayed.has_data, batches.log_dir_moves
    moved_within = np.zeros(0, np.int64) if moves is None else moves.batch
    is_waiting = replayed.batch >= len(batches) - batches.waiting
    waits = np.zeros_like(is_waiting) if reassigned.waits is None else reassigned.waits[replayed.row]
    yield from violated_steps(replayed, "waits_not_last", is_waiting != waits, "is not with those that wait, or alone")
    last_moves = [int(replayed.batch[has_data & each].max(initial=-1)) for each in (~is_waiting, is_waiting)]
    last_moves[0] = max(last_moves[0], int(moved_within.max(initial=-1)))
    early = ~has_data & (replayed.batch <= np.where(is_waiting, last_moves[1], last_moves[0]))
    yield from violated_steps(replayed, "leaders_not_last", early, "is only reordered, and others move later")
    moves_data = np.isin(np.arange(len(batches)), np.concatenate([replayed.batch[has_data], moved_within]))
    if not np.array_equal(moves_data, batches.moves_data):
        yield BatchViolation("wrong_figures", 1, "the batches that move replicas are others")
    last = np.full(len(replayed.goal), -1)
    np.maximum.at(last, replayed.row[has_data], replayed.batch[has_data])
    changes = replayed.before[:, 0] != replayed.after[:, 0]
    is_removed = not_among(replayed.before[:, :1], replayed.after)[:, 0]
    unneeded = changes & has_data & (~is_removed | (replayed.batch < last[replayed.row]))
    yield from violated_steps(replayed, "leader_changes_early", unneeded, "changes its leader while data moves")


def _figures(
    reassigned: ReassignedPartitions,
    replayed: StepReplay,
    batches: Batches,
    limits: BatchLimits,
    traffic: Sequence[BatchTraffic],
) -> Iterator[BatchViolation]:
    """Figures other than those of the steps. traffic : arrivals, departures and moves within brokers, if there are."""
    n_batches, arrivals, most = len(batches), traffic[0], [each.most(len(batches)) for each in traffic]
    unknown = np.where(reassigned.size_bytes[replayed.row] == UNKNOWN_SIZE, replayed.gained.sum(axis=1), 0)
    for name, counted in {
        "moved_replicas": np.bincount(arrivals.batch, minlength=n_batches),
        "moved_bytes": sums_by(arrivals.batch, arrivals.size_bytes, n_batches),
        "unknown_sizes": sums_by(replayed.batch, unknown, n_batches),
        "max_bytes_in": most[0],
    }.items():
        if not np.array_equal(getattr(batches, name), counted):
            yield BatchViolation("wrong_figures", 1, f"{name} are not those of the steps")
    throttle, stated = limits.throttle_bytes_per_s, batches.seconds
    seconds = None if throttle is None else np.max(most, axis=0) / throttle
    if (seconds is None) != (stated is None) or (
        seconds is not None and stated is not None and not np.allclose(seconds, stated)
    ):
        yield BatchViolation("wrong_figures", 1, "seconds are not those of the throttle")
    if batches.lower_bound > n_batches:
        detail = f"there are {n_batches} batches, fewer than the lower bound of {batches.lower_bound}"
        yield BatchViolation("wrong_figures", 1, detail, value=batches.lower_bound, limit=n_batches)


def _racks(rack_of: Int32s, lists: Int32s) -> Int64s:
    return distinct_values(np.where(lists == NO_REPLICA, NO_REPLICA, rack_of[lists]))
