"""Eligible brokers of each partition, and how many of its replicas each rack may have."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from app.core.model import NO_REPLICA, Bools, Int32s, Int64s
from app.core.reassignment.model import Domain
from app.core.replica_lists import distinct_rows, per_rack


@dataclass(frozen=True, slots=True, eq=False)
class PartitionKind:
    """Partitions with the same requirements: replication factor and eligible brokers.

    Parameters
    ----------
    factor : replicas of each partition.
    may_keep, may_receive : (brokers,) bool, as in `Domain`.
    repairs : whether partitions that violate the rack rule now have to satisfy it afterwards. Otherwise they may keep
        their current counts per rack, not exceed them, and span no fewer racks.
    to_span : the racks to span, as of `RackRule`, if they differ from those of other kinds; None is the rule's.
    rack : index of the one rack that has all replicas, whatever the rule; None if they are spread.
    """

    factor: int
    may_keep: Bools
    may_receive: Bools
    repairs: bool = True
    to_span: int | None = None
    rack: int | None = None


@dataclass(frozen=True, slots=True)
class RackRule:
    """How the replicas of one partition are spread over racks.

    Parameters
    ----------
    to_span : a partition spans min(factor, to_span) racks, balanced as far as the racks' brokers allow; 1 if racks are
        ignored.
    most : maximum replicas of one partition in a rack; None sets no maximum.
    known : number of racks with a name; higher indices are singleton racks of offline brokers. None: all have a name.
    """

    to_span: int
    most: int | None = None
    known: int | None = None


class NoLegalPlacement(Exception):
    """No legal placement exists for some partitions, whatever moves.

    Parameters
    ----------
    what : `brokers`: fewer eligible brokers than the factor. `racks`: eligible brokers in fewer racks than have to be
        spanned. `rack_places`: too few racks at `most` replicas each.
    needed, there : how many are needed and how many there are (racks, for `rack_places`).
    kind : index of the partition's kind. row : the first partition concerned.
    """

    def __init__(self, what: str, *, needed: int, there: int, kind: int, row: int) -> None:
        super().__init__(f"{what}: {needed} needed, {there} there")
        self.what, self.needed, self.there, self.kind, self.row = what, needed, there, kind, row


def find_domains(
    kinds: Sequence[PartitionKind], kind_of: Int32s, current: Int32s, rack_of: Int32s, rule: RackRule
) -> tuple[tuple[Domain, ...], Int32s]:
    """Find the domain of each partition, with each distinct domain listed once.

    Replicas are balanced over racks of different size. With L the smallest level for which the racks' brokers, at most
    L of each rack, are as many as the factor, a rack has L or L − 1 replicas, or all its brokers if it has fewer. For
    up to as many replicas as racks that is at most one a rack. A broker that may keep a replica and receive none counts
    in its rack only for the partitions that it has.

    Parameters
    ----------
    kinds : the distinct requirements.
    kind_of : (rows,) int32 indices into `kinds`.
    current : (rows, widest) int32, as in `MovementProblem`.
    rack_of : (brokers,) int32, as in `MovementProblem`.
    rule : the spread over racks.

    Returns
    -------
    The domains, and (rows,) int32 indices into them.

    Raises
    ------
    NoLegalPlacement : for the first partition without any.

    Complexity: O(rows · (widest + racks)), and a sort of the rows that have brokers which may only keep.

    Examples
    --------
    Racks 0 and 1 have two brokers each; a partition of three replicas has one or two in each rack.

    >>> every, rack_of = np.ones(4, bool), np.array([0, 0, 1, 1], np.int32)
    >>> kinds, current = [PartitionKind(3, every, every)], np.array([[0, 1, 2], [1, 2, 3]], np.int32)
    >>> domains, domain_of = find_domains(kinds, np.zeros(2, np.int32), current, rack_of, RackRule(to_span=2))
    >>> domains[0].least.tolist(), domains[0].most.tolist(), domain_of.tolist()
    ([1, 1], [2, 2], [0, 0])
    """
    racks = int(rack_of.max(initial=-1)) + 1
    domains: list[Domain] = []
    domain_of = np.empty(len(kind_of), np.int32)
    for number, kind in enumerate(kinds):
        rows = np.flatnonzero(kind_of == number)
        if not len(rows):
            continue
        may_stay = kind.may_keep[current[rows]] & (current[rows] != NO_REPLICA)
        current_per_rack = per_rack(np.where(may_stay, current[rows], NO_REPLICA), rack_of, racks)
        may_only_stay = may_stay & ~kind.may_receive[current[rows]]
        # Rows that are equal in all that matters share a domain; most have no broker that may only keep.
        alike = per_rack(np.where(may_only_stay, current[rows], NO_REPLICA), rack_of, racks)
        if not kind.repairs:
            alike = np.concatenate([alike, current_per_rack], axis=1)
        firsts, place = distinct_rows(alike)
        sizes = np.bincount(rack_of[kind.may_receive], minlength=racks)
        of_kind = rule if kind.to_span is None else replace(rule, to_span=kind.to_span)
        for first in firsts:
            origin = (number, int(rows[first]))
            eligible = sizes + alike[first, :racks]
            least, most = (
                _spread(kind.factor, eligible, of_kind, origin)
                if kind.rack is None
                else _in_rack(kind.factor, eligible, kind.rack, origin)
            )
            domain = Domain(kind.factor, kind.may_keep, kind.may_receive, least, most)
            domains.append(domain if kind.repairs else _no_worse(domain, current_per_rack[first], eligible))
        domain_of[rows] = len(domains) - len(firsts) + place
    return tuple(domains), domain_of


def _spread(factor: int, sizes: Int64s, rule: RackRule, origin: tuple[int, int]) -> tuple[Int64s, Int64s]:
    brokers, racks = int(sizes.sum()), int(np.count_nonzero(sizes))
    if brokers < factor:
        raise NoLegalPlacement("brokers", needed=factor, there=brokers, kind=origin[0], row=origin[1])
    if racks < min(factor, rule.to_span):
        raise NoLegalPlacement("racks", needed=min(factor, rule.to_span), there=racks, kind=origin[0], row=origin[1])
    named, nameless = sizes[: rule.known], sizes[len(sizes[: rule.known]) :]
    # A replica in an unknown rack may be in any rack: it relaxes the other racks' minimum and not their maximum.
    level = _level(factor, named)
    if rule.most is not None and level > rule.most:
        needed = -(-factor // rule.most)
        raise NoLegalPlacement("rack_places", needed=needed, there=racks, kind=origin[0], row=origin[1])
    lower = _level(factor - int(nameless.sum()), named) - 1
    return (
        np.concatenate([np.minimum(named, lower), np.zeros_like(nameless)]),
        np.concatenate([np.minimum(named, level), nameless]),
    )


def _in_rack(factor: int, sizes: Int64s, rack: int, origin: tuple[int, int]) -> tuple[Int64s, Int64s]:
    if sizes[rack] < factor:
        raise NoLegalPlacement("brokers", needed=factor, there=int(sizes[rack]), kind=origin[0], row=origin[1])
    every = np.where(np.arange(len(sizes)) == rack, factor, 0)
    return every, every.copy()


def _level(replicas: int, sizes: Int64s) -> int:
    """The smallest level >= 1 at which the racks, filled up to it, have as many brokers as the replicas need."""
    wanted = min(replicas, int(sizes.sum()))
    return next(level for level in range(1, max(replicas, 1) + 1) if np.minimum(sizes, level).sum() >= wanted)


def _no_worse(domain: Domain, current_per_rack: Int64s, sizes: Int64s) -> Domain:
    """The domain of a partition that may violate the rack rule as it does now, and span no fewer racks.

    If the factor is lowered, the fullest racks lose replicas; if replicas are missing, the emptiest get them.

    Parameters
    ----------
    current_per_rack : (racks,) int64 current replicas that may stay. sizes : (racks,) int64 eligible brokers.
    """
    fewest, most = current_per_rack, current_per_rack
    surplus = int(current_per_rack.sum()) - domain.factor
    if surplus > 0:
        level = next(level for level in range(1, surplus + domain.factor + 1) if _below(most, level) >= domain.factor)
        fewest, most = np.minimum(most, level - 1), np.minimum(most, level)
        if _below(most, level) == domain.factor:
            fewest = most
    for _ in range(-surplus):
        most = most.copy()
        most[np.where(most < sizes, most, sizes.max() + 1).argmin()] += 1
        fewest = most
    lower, upper = np.maximum(fewest, domain.least), np.minimum(most, domain.most)
    if (lower <= upper).all() and lower.sum() <= domain.factor <= upper.sum():
        return domain
    # Without lower bounds two racks above their maximum could have all replicas that a lower factor leaves.
    kept = np.minimum(fewest, 1 if surplus > 0 else 0)
    least, most = np.maximum(np.minimum(domain.least, fewest), kept), np.maximum(domain.most, most)
    return Domain(domain.factor, domain.may_keep, domain.may_receive, least, most)


def _below(per_rack: Int64s, level: int) -> int:
    return int(np.minimum(per_rack, level).sum())
