"""Which replicas are in sync and live: they are kept before others, and one of them leads."""

from collections.abc import Collection
from dataclasses import replace
from itertools import combinations

import numpy as np

from app.core.model import NO_REPLICA, Int32s
from app.core.reassignment import Domain, MovementProblem, can_be_placed, part_of
from app.core.replica_lists import not_among
from app.services.reassignment.problem.brokers import Bools, BrokerTable
from app.services.reassignment.problem.scope import PartitionScope


def ready_replicas(brokers: BrokerTable, scope: PartitionScope, before: Int32s) -> Bools:
    """(rows, widest) bool, replicas that are in sync on a broker that is live: Kafka can elect them.

    If a snapshot reports none in sync, those on live brokers count.

    Parameters
    ----------
    before : (rows, widest) int32 positions of `scope.before`.
    """
    is_live = np.append(~brokers.is_offline, False)[before]
    is_known = np.asarray(scope.in_sync.any(axis=1))[:, None]
    return np.asarray(is_live & (scope.in_sync | ~is_known), np.bool_)


def kept_first(
    brokers: BrokerTable, scope: PartitionScope, before: Int32s, is_ready: Bools, current: Int32s, is_copied: Bools
) -> Bools | None:
    """As `MovementProblem.in_sync`; None if it is all current brokers.

    If no replica that is ready may stay, those in sync on a dead broker are kept first, else those on live brokers. The
    replicas of a pinned partition are all alike.

    Parameters
    ----------
    before, is_ready : as of `ready_replicas`. current, is_copied : as of `MovementProblem`.
    """
    is_live, stays = np.append(~brokers.is_offline, False)[before], np.append(~brokers.is_removed, False)[before]
    rank = np.where(is_ready, 3, np.where(scope.in_sync, 2, np.where(is_live, 1, 0)))
    best = np.where(stays, rank, 0).max(axis=1, initial=0)[:, None]
    first = is_ready | (stays & (rank == best) & (best > 0))
    kept = (current != NO_REPLICA) & ~not_among(current, np.where(first, before, NO_REPLICA)) & ~is_copied
    kept[list(scope.pins)] = current[list(scope.pins)] != NO_REPLICA
    return None if (kept | is_copied | (current == NO_REPLICA)).all() else kept


def leaders_to_keep(
    brokers: BrokerTable, scope: PartitionScope, movement: MovementProblem, before: Int32s, pins: Collection[int]
) -> Int32s:
    """(rows,) int32 as `MovementProblem.must_keep` of partitions whose factor is lowered: the preferred leader.

    If it is out of sync and others are not: the present leader if that is in sync, else the first of the list that is.

    Parameters
    ----------
    before : (rows, widest) int32 positions of `scope.before`. pins : the rows of pins, which determine their leaders.
    """
    current, stays = movement.current, _may_stay(movement)
    # A successor has to be copied, and leads all the same.
    in_sync = stays if movement.in_sync is None else stays & (movement.in_sync | movement.is_copied)
    has_behind = np.logical_and((stays & ~in_sync).any(axis=1), in_sync.any(axis=1))[:, None]
    is_preferred = current == before[:, :1]
    is_eligible = np.where(has_behind, in_sync & ~movement.is_copied, stays & is_preferred)
    is_eligible &= ~np.append(brokers.is_removed, False)[current]
    is_leader = brokers.ids[current] == scope.leaders[:, None]
    order = np.where(is_eligible, np.where(is_preferred, 0, np.where(is_leader, 1, 2)), 3)
    at = order.argmin(axis=1)[:, None]
    kept = np.where(np.take_along_axis(is_eligible, at, axis=1), np.take_along_axis(current, at, axis=1), NO_REPLICA)
    is_lowered = movement.factors < np.count_nonzero(before != NO_REPLICA, axis=1)
    is_lowered[list(pins)] = False
    return np.where(is_lowered, kept[:, 0], NO_REPLICA).astype(np.int32)


def with_source_kept(movement: MovementProblem, is_ready: Bools, before: Int32s) -> MovementProblem:
    """The problem in which no partition loses its replicas in sync without a new one, which is copied from them.

    If none in sync may stay, so many others may not stay either that one replica at least is new. If that has no legal
    placement, the partition counts as one without replicas in sync.

    Parameters
    ----------
    is_ready, before : as of `ready_replicas`.
    """
    if movement.in_sync is None or not len(movement.current):
        return movement
    stays, factors = _may_stay(movement) & ~movement.is_copied, movement.factors
    is_source = ~not_among(movement.current, np.where(is_ready, before, NO_REPLICA)) & (movement.current != NO_REPLICA)
    is_at_risk = is_ready.any(axis=1) & ~(stays & is_source).any(axis=1)
    rows = np.flatnonzero(is_at_risk & (np.count_nonzero(stays, axis=1) >= factors) & (factors > 0))
    domains, domain_of, in_sync = list(movement.domains), movement.domain_of.copy(), movement.in_sync.copy()
    for row in rows.tolist():
        # Those that are kept first are tried first.
        order = np.argsort(~in_sync[row], kind="stable")
        others = movement.current[row, order[stays[row, order]]].tolist()
        for kept in combinations(others, int(factors[row]) - 1):
            domain = _without(movement.domains[movement.domain_of[row]], set(others).difference(kept))
            alone = replace(part_of(movement, np.array([row]), movement.target), domains=(domain,))
            if can_be_placed(alone).all():
                domain_of[row] = len(domains)
                domains.append(domain)
                break
        else:
            in_sync[row] = False
    return replace(movement, domains=tuple(domains), domain_of=domain_of, in_sync=in_sync)


def _without(domain: Domain, brokers: Collection[int]) -> Domain:
    """The domain of a partition that has no replica on these brokers."""
    others = np.ones_like(domain.may_keep)
    others[list(brokers)] = False
    return replace(domain, may_keep=domain.may_keep & others, may_receive=domain.may_receive & others)


def _may_stay(movement: MovementProblem) -> Bools:
    """(rows, widest) bool, current brokers that may keep the replica."""
    may_keep = np.array([[*domain.may_keep, False] for domain in movement.domains], np.bool_)
    if not len(may_keep):
        return np.zeros(movement.current.shape, np.bool_)
    return np.asarray(may_keep[movement.domain_of[:, None], movement.current], np.bool_)
