"""Who leads: leaders chosen over the replicas that were placed, and the replica lists that come of it."""

from dataclasses import dataclass, field

import numpy as np

from app.core.model import NO_LEADER, NO_REPLICA, Int32s, Int64s
from app.core.reassignment import LeaderChoice, LeaderProblem, choose_leaders, leader_violations, with_leader_first
from app.errors import NotFeasible
from app.services.reassignment.brokers import Bools
from app.services.reassignment.requests import ReassignmentRequest
from app.services.reassignment.sizes import led_by_others, rates_of, rates_of_others
from app.services.reassignment.soundness import require_sound
from app.services.reassignment.sources import Source


@dataclass(frozen=True, slots=True, eq=False)
class Leading:
    """Replica lists with their leaders first.

    Parameters
    ----------
    after : (rows, widest) int32 positions, padded at the end.
    chosen : the choice over the partitions that are not pinned, with its bound.
    weight : (rows,) int64 what leading comes to. base : (brokers,) int64 of partitions that are not asked about.
    changes : partitions whose preferred leader is another afterwards.
    not_preferred : partitions that another broker leads now than the first of their list.
    """

    after: Int32s = field(repr=False)
    chosen: LeaderChoice
    weight: Int64s = field(repr=False)
    base: Int64s = field(repr=False)
    changes: int
    not_preferred: int

    def loads(self, replicas: Int32s) -> Int64s:
        """(brokers,) int64 what every broker leads, with these lists."""
        found = self.base.copy()
        leads = replicas[:, 0] != NO_REPLICA
        np.add.at(found, replicas[leads, 0], self.weight[leads])
        return found


def lead(request: ReassignmentRequest, source: Source, placed: Int32s) -> Leading:
    """Choose the leaders over (rows, widest) int32 positions.

    Raises
    ------
    NotFeasible : nobody may lead some partition. RatesMissing, ConflictingFields : by ingress, and it is not told.
    """
    lists = _pinned(source, placed)
    is_free = np.ones(len(lists), np.bool_)
    is_free[list(source.pins)] = False
    may_lead = _may_lead(request, source)
    _require_leaders(request, source, lists, may_lead)
    weight, base = _weights(request, source)
    # What is pinned is led by whoever was named first, whatever the others do.
    pinned = ~is_free & (lists[:, 0] != NO_REPLICA)
    fixed = base.copy()
    np.add.at(fixed, lists[pinned, 0], weight[pinned])
    free, before = lists[is_free], source.before[is_free]
    asked = LeaderProblem(
        replicas=free,
        leader=_leaders_now(source)[is_free],
        may_lead=may_lead,
        is_new=(free != NO_REPLICA) & ~(free[:, :, None] == before[:, None, :]).any(axis=2),
        target=source.problem.target & may_lead,
        base=fixed,
        weight=weight[is_free],
    )
    chosen = choose_leaders(asked, request.leaders_balance)
    require_sound(leader_violations(asked, chosen, request.leaders_balance))
    after = lists.copy()
    after[is_free] = with_leader_first(free, chosen.leaders)
    was = source.before[:, 0]
    return Leading(
        after=after,
        chosen=chosen,
        weight=weight,
        base=base,
        changes=int(np.count_nonzero((was != NO_REPLICA) & (after[:, 0] != was))),
        not_preferred=_not_preferred(source),
    )


def _pinned(source: Source, placed: Int32s) -> Int32s:
    """The lists with those of pinned partitions in the order in which they are pinned."""
    # Where there is no partition there is no column either, and each list has a first place.
    lists = placed.copy() if placed.shape[1] else np.full((len(placed), 1), NO_REPLICA, np.int32)
    for row, pin in source.pins.items():
        order = np.searchsorted(source.brokers.ids, np.array(pin.replicas, np.int32))
        lists[row] = NO_REPLICA
        lists[row, : len(order)] = order
    return lists


def _leaders_now(source: Source) -> Int32s:
    """(rows,) int32 who is first in each list now; a successor where that one is replaced, as if nothing changed."""
    first = source.before[:, 0]
    led = np.append(source.brokers.successor_of, np.int32(NO_REPLICA))[first]
    return np.asarray(led, np.int32)


def _may_lead(request: ReassignmentRequest, source: Source) -> Bools:
    """(brokers,) bool. Where leaders stay as they are those stay, too, who are fenced or down and come back."""
    brokers, away = source.brokers, request.evacuate_leaders
    racks = set(away.racks)
    evacuated = brokers.mask(away.brokers) | np.array([broker.rack in racks for broker in brokers.known], np.bool_)
    if request.leaders_balance.tolerance is None:
        return ~evacuated
    return ~(evacuated | brokers.is_offline)


def _require_leaders(request: ReassignmentRequest, source: Source, lists: Int32s, may_lead: Bools) -> None:
    """Raise `NotFeasible` where leaders are to be evacuated from every replica of a partition."""
    away = request.evacuate_leaders
    if not away.brokers and not away.racks:
        return
    can = np.append(may_lead | source.brokers.is_offline, False)[lists].any(axis=1)
    stuck = np.flatnonzero(~can & (lists[:, 0] != NO_REPLICA))
    if not len(stuck):
        return
    named = ", ".join(source.scope.name(row) for row in stuck[:20].tolist())
    detail = f"{len(stuck)} partitions have no replica on a broker that may lead: {named}"
    if request.on_conflict == "relax":
        source.relaxed.note("evacuate_leaders", "", f"{detail}; one of their replicas leads all the same")
        return
    raise NotFeasible(
        detail,
        path=("evacuate_leaders",),
        conflict=[{"constraint": "evacuate_leaders", "pointer": "/evacuate_leaders", "detail": detail}],
        lifted_by=["fewer brokers or racks in evacuate_leaders", "a larger replication factor of these topics"],
        count=len(stuck),
    )


def _weights(request: ReassignmentRequest, source: Source) -> tuple[Int64s, Int64s]:
    scope = source.scope
    if request.balance.leaders_by == "ingress":
        others = led_by_others(source.brokers, scope.others, rates_of_others(request, scope))
        return rates_of(request, scope), others
    return np.ones(len(scope.partition_ids), np.int64), led_by_others(source.brokers, scope.others, None)


def _not_preferred(source: Source) -> int:
    leaders = source.scope.leaders
    return int(np.count_nonzero((leaders != NO_LEADER) & (leaders != source.scope.before[:, 0])))
