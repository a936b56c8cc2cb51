"""From a request and a cluster to what the solvers are asked."""

from dataclasses import dataclass, field

import numpy as np

from app.core.measures.tally import positions_of
from app.core.model import NO_REPLICA, Cluster, Int32s
from app.core.reassignment import MovementProblem
from app.services.limits import Limits
from app.services.reassignment.brokers import Bools, Brokers, brokers_of
from app.services.reassignment.domains import Domains, Relaxed, domains_of
from app.services.reassignment.requests import PinRequest, ReassignmentRequest
from app.services.reassignment.scope import Scope, scope_of
from app.services.reassignment.sizes import Sizes, held_by_others, sizes_of, weights_of


@dataclass(frozen=True, slots=True, eq=False)
class Source:
    """What a reassignment is planned from.

    Parameters
    ----------
    problem : what the solvers are asked; its rows are those of the scope.
    before : (rows, widest) int32 positions of the scope's replicas as they are, padded with -1.
    counts_bytes : whether `problem.weight` is bytes. pins : by row, those that hold.
    relaxed : what of the request was given up so far.
    """

    brokers: Brokers
    scope: Scope
    sizes: Sizes
    problem: MovementProblem
    before: Int32s = field(repr=False)
    counts_bytes: bool
    pins: dict[int, PinRequest]
    relaxed: Relaxed


def source_of(request: ReassignmentRequest, cluster: Cluster, limits: Limits, *, is_job: bool) -> Source:
    """Read the request against the cluster. Raises what `brokers_of`, `scope_of` and `domains_of` do."""
    brokers = brokers_of(request, cluster)
    scope = scope_of(request, cluster, limits, is_job=is_job)
    sizes = sizes_of(request, scope)
    before = positions_of(scope.before, brokers.ids)
    homes, is_copied = _homes(brokers, before)
    relaxed = Relaxed()
    domains = domains_of(request, brokers, scope, homes, relaxed)
    weight, counts_bytes = weights_of(request, sizes)
    problem = MovementProblem(
        broker_ids=brokers.ids,
        rack_of=brokers.rack_of,
        target=brokers.target,
        base=held_by_others(brokers, scope.others, None),
        domains=domains.domains,
        domain_of=domains.domain_of,
        current=homes,
        is_copied=is_copied,
        must_keep=_must_keep(brokers, domains, before),
        weight=weight,
    )
    return Source(brokers, scope, sizes, problem, before, counts_bytes, dict(domains.pins), relaxed)


def _homes(brokers: Brokers, before: Int32s) -> tuple[Int32s, Bools]:
    """Where replicas are, successors in the places of those that they replace; and which of them are such successors.

    A successor that has a replica of the partition already has no second one: the replaced one's just goes.
    """
    homes, is_copied = before.copy(), np.zeros(before.shape, np.bool_)
    for old in np.flatnonzero(brokers.is_replaced).tolist():
        new = brokers.successor_of[old]
        was_here = homes == old
        is_double = (homes == new).any(axis=1)[:, None]
        homes[was_here] = new
        is_copied |= was_here & ~is_double
        homes[was_here & is_double] = NO_REPLICA
    if not brokers.is_replaced.any():
        return homes, is_copied
    order = np.argsort(homes == NO_REPLICA, axis=1, kind="stable")
    return np.take_along_axis(homes, order, axis=1), np.take_along_axis(is_copied, order, axis=1)


def _must_keep(brokers: Brokers, domains: Domains, before: Int32s) -> Int32s:
    """(rows,) int32 the leader's broker where the factor is lowered and it may stay: what leads then leads on."""
    factors = np.array([domain.factor for domain in domains.domains], np.int64)[domains.domain_of]
    may_keep = np.array([[*domain.may_keep, False] for domain in domains.domains], np.bool_)
    held = np.count_nonzero(before != NO_REPLICA, axis=1)
    leader = before[:, 0]
    stays = (factors < held) & (leader != NO_REPLICA)
    if len(may_keep):
        stays &= may_keep[domains.domain_of, leader]
    # A pin says which replicas there are, and so which one leads.
    stays[list(domains.pins)] = False
    return np.where(stays & ~np.append(brokers.is_removed, False)[leader], leader, np.int32(NO_REPLICA)).astype(
        np.int32
    )
