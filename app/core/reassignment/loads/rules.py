"""What is asked, as the arrays that compiled loops take."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from app.core.model import Int32s, Int64s
from app.core.reassignment.counts.places import Terms
from app.core.reassignment.model import NO_HOME, Problem
from app.errors import LimitExceeded

LARGEST_SUM = 1 << 60
"""Loads and weights of all replicas are added in 64 bits; a class of cost above them has to fit, too."""


class Rules(NamedTuple):
    """Where replicas may be, what they weigh there and what it costs to move them.

    Parameters
    ----------
    rack_of : (brokers,) int32. target : (brokers,) bool.
    may_receive : (domains, brokers) bool. factor : (domains,) int64. least, most : (domains, racks) int64.
    domain_of, must_keep : (rows,) int32.
    homes : (rows, widest) int32, only those whose replica may stay; the others are `NO_HOME` here.
    stays_free : (rows, widest) bool, the homes that cost nothing: they are not copied to.
    load : (rows,) int64 of one replica. cost : (rows,) int64 of moving one; 0 for partitions that have no home at all.
    """

    rack_of: Int32s
    target: NDArray[np.bool_]
    may_receive: NDArray[np.bool_]
    factor: Int64s
    least: Int64s
    most: Int64s
    domain_of: Int32s
    must_keep: Int32s
    homes: Int32s
    stays_free: NDArray[np.bool_]
    load: Int64s
    cost: Int64s


def rules_of(problem: Problem, load: Int64s) -> Rules:
    """The rules of a problem, for one load of each row's replicas.

    Raises
    ------
    LimitExceeded : if loads or weights are so large that they cannot be added exactly.
    """
    factors = problem.factors
    for what, of_row in (("loads", load), ("weights", problem.weight)):
        _check_sum(what, of_row, int(factors.max(initial=1)))
    domain_of = problem.domain_of.astype(np.int32)
    terms = Terms.of(problem)
    may_stay = terms.may_receive | terms.may_keep
    stays = may_stay[domain_of[:, None], problem.homes] | (problem.homes == problem.must_keep[:, None])
    stays &= problem.homes != NO_HOME
    return Rules(
        rack_of=problem.rack_of.astype(np.int32),
        target=problem.target.astype(np.bool_),
        may_receive=terms.may_receive,
        factor=terms.factor,
        least=terms.least,
        most=terms.most,
        domain_of=domain_of,
        must_keep=problem.must_keep.astype(np.int32),
        homes=np.where(stays, problem.homes, NO_HOME).astype(np.int32),
        stays_free=stays & ~problem.is_copied,
        load=load.astype(np.int64),
        cost=np.where((problem.homes != NO_HOME).any(axis=1), problem.weight, 0).astype(np.int64),
    )


def moved_weight(rules: Rules, at: Int32s) -> int:
    """What it costs to have the replicas at these brokers, (rows, widest) int32 padded with -1."""
    return int((rules.cost * np.count_nonzero(at != NO_HOME, axis=1)).sum() - costs_saved(rules, at).sum())


def costs_saved(rules: Rules, at: Int32s) -> Int64s:
    """(rows, widest) int64, what each of these replicas costs not, because it is at a home of its own."""
    saved = np.zeros(at.shape, np.int64)
    for home, free in zip(rules.homes.T, rules.stays_free.T, strict=True):
        saved += ((at == home[:, None]) & free[:, None]) * rules.cost[:, None]
    return saved


def _check_sum(what: str, of_row: Int64s, factor: int) -> None:
    total, limit = float(of_row.sum(dtype=np.float64)) * factor, LARGEST_SUM
    if total > limit:
        raise LimitExceeded(
            f"the {what} of all replicas come to {total:.3g}; up to {limit} can be added exactly",
            total=total,
            limit=limit,
        )
