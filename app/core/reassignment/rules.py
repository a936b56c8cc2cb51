"""The constraints and costs of a problem, as the arrays that compiled loops take."""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from app.core.compiled.arrays import BoolMatrix, BoolVector, Int32Matrix, Int32Vector, Int64Matrix, Int64Vector
from app.core.model import NO_REPLICA, Int32s, Int64s
from app.core.reassignment.model import NO_LIMIT, Band, BrokerBounds, MovementProblem, capped_floors
from app.errors.requests import LimitExceeded

LARGEST_SUM = 1 << 60
"""Loads and weights of all replicas are added in 64 bits, with headroom for one class of cost above them."""


class LoadRules(NamedTuple):
    """Eligible brokers of replicas, their load, and the cost of moving them.

    Parameters
    ----------
    rack_of : (brokers,) int32. target : (brokers,) bool. floor_cap : (brokers,) int64 as of `MovementProblem`.
    may_receive : (domains, brokers) bool. factor : (domains,) int64. least, most : (domains, racks) int64.
    domain_of, must_keep : (rows,) int32.
    current : (rows, widest) int32 current brokers that may keep the replica; `NO_REPLICA` for the others.
    stays_free : (rows, widest) bool, current brokers where the replica costs nothing: it is not copied.
    load : (rows,) int64 of one replica. cost : (rows,) int64 of moving one; 0 for new partitions.
    """

    rack_of: Int32Vector
    target: BoolVector
    floor_cap: Int64Vector
    may_receive: BoolMatrix
    factor: Int64Vector
    least: Int64Matrix
    most: Int64Matrix
    domain_of: Int32Vector
    must_keep: Int32Vector
    current: Int32Matrix
    stays_free: BoolMatrix
    load: Int64Vector
    cost: Int64Vector


def load_rules(problem: MovementProblem, load: Int64s) -> LoadRules:
    """The rules of a problem, for one load of each row's replicas.

    Parameters
    ----------
    load : (rows,) int64 >= 0 of one replica.

    Raises
    ------
    LimitExceeded : if loads or weights are so large that they cannot be added exactly.
    """
    factors = problem.factors
    for what, of_row in (("loads", load), ("weights", problem.weight)):
        _check_sum(what, of_row, int(factors.max(initial=1)))
    domain_of = problem.domain_of.astype(np.int32)
    table = problem.table
    may_stay = table.may_receive | table.may_keep
    stays = may_stay[domain_of[:, None], problem.current] | (problem.current == problem.must_keep[:, None])
    stays &= problem.current != NO_REPLICA
    return LoadRules(
        rack_of=problem.rack_of.astype(np.int32),
        target=problem.target.astype(np.bool_),
        floor_cap=np.full(len(problem.base), -1) if problem.floor_cap is None else problem.floor_cap,
        may_receive=table.may_receive,
        factor=table.factor,
        least=table.least,
        most=table.most,
        domain_of=domain_of,
        must_keep=problem.must_keep.astype(np.int32),
        current=np.where(stays, problem.current, NO_REPLICA).astype(np.int32),
        stays_free=stays & ~problem.is_copied,
        load=load.astype(np.int64),
        cost=np.where(problem.is_there, problem.weight, 0).astype(np.int64),
    )


def within_band(rules: LoadRules, band: Band) -> BrokerBounds:
    """The bounds that a band sets on the load of each broker; `NO_LIMIT` above brokers that are no targets."""
    low = np.maximum(capped_floors(band.low, rules.target, rules.floor_cap), 0)
    return BrokerBounds(low, np.where(rules.target, np.int64(band.high), NO_LIMIT))


def moved_weight(rules: LoadRules, at: Int32s) -> int:
    """The cost of a placement, (rows, widest) int32 brokers padded with -1."""
    return int((rules.cost * np.count_nonzero(at != NO_REPLICA, axis=1)).sum() - costs_saved(rules, at).sum())


def costs_saved(rules: LoadRules, at: Int32s) -> Int64s:
    """(rows, widest) int64: the cost that each replica saves by being on a current broker."""
    saved = np.zeros(at.shape, np.int64)
    for current_broker, free in zip(rules.current.T, rules.stays_free.T, strict=True):
        saved += ((at == current_broker[:, None]) & free[:, None]) * rules.cost[:, None]
    return saved


def _check_sum(what: str, of_row: Int64s, factor: int) -> None:
    total, limit = float(of_row.sum(dtype=np.float64)) * factor, LARGEST_SUM
    if total > limit:
        raise LimitExceeded(
            f"the {what} of all replicas come to {total:.3g}; up to {limit} can be added exactly",
            total=total,
            limit=limit,
        )


@dataclass(frozen=True, slots=True, eq=False)
class Region:
    """Brokers that share no partitions' replicas with others.

    Parameters
    ----------
    brokers : (inside,) int64. count : (domains,) int64 replicas of each partition on them.
    """

    brokers: Int64s
    count: Int64s


def regions_of(rules: LoadRules) -> list[Region]:
    """The racks if the number of replicas in each is fixed, else all brokers."""
    most = np.minimum(rules.most, rules.factor[:, None])
    least = np.maximum(rules.least, rules.factor[:, None] - (most.sum(axis=1, keepdims=True) - most))
    if not (least == most).all():
        return [Region(np.arange(len(rules.rack_of)), rules.factor.astype(np.int64))]
    racks = range(rules.least.shape[1])
    of_racks = [Region(np.flatnonzero(rules.rack_of == rack), most[:, rack].astype(np.int64)) for rack in racks]
    return [region for region in of_racks if len(region.brokers)]
