"""Which brokers each partition may be on and how it is to be spread over racks: what the caller's rules come to."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from app.core.model import Int32s, Int64s
from app.core.reassignment.model import NO_HOME, Domain


@dataclass(frozen=True, slots=True, eq=False)
class Kind:
    """Partitions of which a caller asks the same: the factor, who may keep a replica and who may receive one.

    Parameters
    ----------
    may_keep, may_receive : (brokers,) bool.
    """

    factor: int
    may_keep: NDArray[np.bool_]
    may_receive: NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class RackRule:
    """How the replicas of one partition are spread over racks.

    Parameters
    ----------
    to_span : a partition has to be in min(factor, to_span) racks, and as evenly as their brokers allow. 1 where racks
        do not count.
    most : replicas of one partition that a rack may have; None sets no such limit.
    known : how many racks have a name; those of a higher index are single brokers that are down, in racks that nobody
        knows. None: all have.
    repairs : whether partitions that break the rule now have to follow it afterwards. Otherwise they may stay as
        crowded as they are, and become no more so.
    """

    to_span: int
    most: int | None = None
    known: int | None = None
    repairs: bool = True


class NotFeasible(Exception):
    """No legal place exists for some partitions, whatever moves.

    Parameters
    ----------
    what : `brokers`: fewer may hold a replica than the factor. `racks`: those that may are in too few racks to span.
        `rack_places`: the racks have too few places at `most` replicas each.
    needed, there : how many of them (of racks, where places are short).
    kind : index of the caller's kind. row : the first partition that it is so for.
    """

    def __init__(self, what: str, *, needed: int, there: int, kind: int, row: int) -> None:
        super().__init__(f"{what}: {needed} needed, {there} there")
        self.what, self.needed, self.there, self.kind, self.row = what, needed, there, kind, row


def domains_of(
    kinds: Sequence[Kind], kind_of: Int32s, homes: Int32s, rack_of: Int32s, rule: RackRule
) -> tuple[tuple[Domain, ...], Int32s]:
    """The domain of each partition, and each domain once.

    Racks that differ in size are filled evenly: with L the smallest level at which the racks' brokers, at most L of
    each rack, are as many as the factor, a rack takes L of them or L - 1, or all that it has if those are fewer. With
    no more replicas than racks that is one a rack. A broker that may keep what it has and receive nothing is one of
    its rack for the partitions that are there.

    Parameters
    ----------
    kind_of : (rows,) int32 indices into `kinds`. homes : (rows, widest) int32, as in `Problem`.
    rack_of : (brokers,) int32.

    Returns
    -------
    The domains, and (rows,) int32 indices into them.

    Raises
    ------
    NotFeasible
    """
    racks = int(rack_of.max(initial=-1)) + 1
    found: list[Domain] = []
    domain_of = np.empty(len(kind_of), np.int32)
    for number, kind in enumerate(kinds):
        rows = np.flatnonzero(kind_of == number)
        if not len(rows):
            continue
        keeps = kind.may_keep[homes[rows]] & (homes[rows] != NO_HOME)
        kept = _per_rack(homes[rows], keeps, rack_of, racks)
        keeps_only = keeps & ~kind.may_receive[homes[rows]]
        # Rows that can be told apart by nothing that matters here share a domain; the most have no such home at all.
        alike = _per_rack(homes[rows], keeps_only, rack_of, racks)
        if not rule.repairs:
            alike = np.concatenate([alike, kept], axis=1)
        firsts, place = _distinct(alike)
        sizes = np.bincount(rack_of[kind.may_receive], minlength=racks)
        for first in firsts:
            told = (number, int(rows[first]))
            least, most = _spread(kind.factor, sizes + alike[first, :racks], rule, told)
            domain = Domain(kind.factor, kind.may_keep, kind.may_receive, least, most)
            found.append(domain if rule.repairs else _no_worse(domain, kept[first]))
        domain_of[rows] = len(found) - len(firsts) + place
    return tuple(found), domain_of


def _per_rack(homes: Int32s, counted: NDArray[np.bool_], rack_of: Int32s, racks: int) -> Int64s:
    """(rows, racks) int64: how many of the counted homes each row has in each rack."""
    row, column = np.nonzero(counted)
    numbers = row * racks + rack_of[homes[row, column]]
    return np.bincount(numbers, minlength=len(homes) * racks).reshape(len(homes), racks).astype(np.int64)


def _distinct(rows: Int64s) -> tuple[Int64s, Int64s]:
    """The first of each distinct row, and (rows,) which of them each row is like."""
    if not rows.any():  # the usual case, without sorting a million rows
        return np.zeros(1, np.int64), np.zeros(len(rows), np.int64)
    _, first, place = np.unique(rows, axis=0, return_index=True, return_inverse=True)
    return first.astype(np.int64), place.reshape(-1)


def _spread(factor: int, sizes: Int64s, rule: RackRule, told: tuple[int, int]) -> tuple[Int64s, Int64s]:
    brokers, racks = int(sizes.sum()), int(np.count_nonzero(sizes))
    if brokers < factor:
        raise NotFeasible("brokers", needed=factor, there=brokers, kind=told[0], row=told[1])
    if racks < min(factor, rule.to_span):
        raise NotFeasible("racks", needed=min(factor, rule.to_span), there=racks, kind=told[0], row=told[1])
    named, nameless = sizes[: rule.known], sizes[len(sizes[: rule.known]) :]
    # What is in a rack that nobody knows may be in any: the others take no more for it, and need take no less.
    level = _level(factor, named)
    if rule.most is not None and level > rule.most:
        needed = -(-factor // rule.most)
        raise NotFeasible("rack_places", needed=needed, there=racks, kind=told[0], row=told[1])
    lower = _level(factor - int(nameless.sum()), named) - 1
    return (
        np.concatenate([np.minimum(named, lower), np.zeros_like(nameless)]),
        np.concatenate([np.minimum(named, level), nameless]),
    )


def _level(replicas: int, sizes: Int64s) -> int:
    """The smallest number from 1 on of which so many of each rack, or all that it has, are as many as the replicas."""
    wanted = min(replicas, int(sizes.sum()))
    return next(level for level in range(1, max(replicas, 1) + 1) if np.minimum(sizes, level).sum() >= wanted)


def _no_worse(domain: Domain, kept: Int64s) -> Domain:
    """The domain of a partition that may stay as crowded as it is."""
    if (kept <= domain.most).all():
        return domain
    least, most = np.minimum(domain.least, kept), np.maximum(domain.most, kept)
    return Domain(domain.factor, domain.may_keep, domain.may_receive, least, most)
