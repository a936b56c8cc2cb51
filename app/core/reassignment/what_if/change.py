"""A scenario as the problem that solvers are asked: one broker less, some more."""

from collections.abc import Sequence

import numpy as np

from app.core.model import NO_REPLICA, Int32s, Int64s
from app.core.reassignment.domains import NoLegalPlacement as NoDomain
from app.core.reassignment.domains import PartitionKind, RackRule, find_domains
from app.core.reassignment.model import MovementProblem
from app.core.reassignment.what_if.arrivals import arrivals
from app.core.reassignment.what_if.standing import Standing, StandingBroker, Trial, WhatIfs
from app.errors import NotFeasible


def changed(what_ifs: WhatIfs, trial: Trial) -> MovementProblem:
    """The partitions, and where they may be in this scenario; positions are those of the standing, then newcomers'.

    Raises `NotFeasible` where what is left has no room for some partition, `ImpossibleValue` as `arrivals` does.
    """
    standing = what_ifs.standing
    newcomers = arrivals(what_ifs, trial)
    brokers = (*standing.brokers, *newcomers)
    racks = racks_of(standing)
    ids = np.array([broker.id for broker in brokers], np.int32)
    stays = np.ones(len(ids), np.bool_) if trial.removed is None else ids != trial.removed
    receives = stays & np.array([broker.receives for broker in brokers], np.bool_)
    rack_of = rack_indices(standing, brokers)
    factors, kind_of = np.unique((standing.homes != NO_REPLICA).sum(axis=1), return_inverse=True)
    kinds = [PartitionKind(int(factor), stays, receives) for factor in factors]
    usable = len(np.unique(rack_of[receives]))
    rule = RackRule(max(len(racks) if standing.spans_all else usable, 1))
    try:
        domains, domain_of = find_domains(kinds, kind_of.astype(np.int32), standing.homes, rack_of, rule)
    except NoDomain as short:
        raise _refusal(standing, trial, short, lost=_lost(racks, rack_of[receives])) from None
    return MovementProblem(
        broker_ids=ids,
        rack_of=rack_of,
        target=receives,
        base=_beside(standing.base, len(newcomers)),
        domains=domains,
        domain_of=domain_of,
        current=standing.homes,
        is_copied=np.zeros(standing.homes.shape, np.bool_),
        must_keep=np.full(len(standing.homes), NO_REPLICA, np.int32),
        weight=standing.size_bytes if what_ifs.minds_bytes else np.ones(len(standing.homes), np.int64),
    )


def racks_of(standing: Standing) -> tuple[str, ...]:
    """The racks that count, by name."""
    if not standing.counts_racks:
        return ()
    return tuple(sorted({broker.rack for broker in standing.brokers if broker.rack is not None}))


def rack_indices(standing: Standing, brokers: Sequence[StandingBroker]) -> Int32s:
    """(brokers,) int32 as `MovementProblem.rack_of`: racks by name, then one for each broker of unknown rack."""
    racks = racks_of(standing)
    if not racks:
        return np.zeros(len(brokers), np.int32)
    index_of = {rack: index for index, rack in enumerate(racks)}
    unknown = iter(range(len(racks), len(racks) + len(brokers)))
    return np.array([next(unknown) if its.rack is None else index_of[its.rack] for its in brokers], np.int32)


def _beside(held: Int64s, newcomers: int) -> Int64s:
    """What brokers hold that does not move; newcomers hold nothing."""
    return np.concatenate([held, np.zeros(newcomers, np.int64)])


def _lost(racks: Sequence[str], left: Int32s) -> list[str]:
    """The racks of which no broker is left that may receive anything."""
    return [rack for index, rack in enumerate(racks) if index not in left]


def _refusal(standing: Standing, trial: Trial, short: NoDomain, *, lost: Sequence[str]) -> NotFeasible:
    topic = standing.topics[int(np.searchsorted(standing.starts, short.row, side="right")) - 1]
    factor = int((standing.homes[short.row] != NO_REPLICA).sum())
    what = f"{short.needed} {short.what} are needed for factor {factor} on topic {topic}; {short.there} are left"
    gone = f" ({', '.join(lost[:5])} {'has' if len(lost) == 1 else 'have'} no broker that receives)" if lost else ""
    return NotFeasible(what + gone, topic=topic, needed=short.needed, there=short.there, removed=trial.removed)
