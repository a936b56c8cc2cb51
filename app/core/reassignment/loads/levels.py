"""The lowest ceiling and the highest floor of the brokers' loads, if replicas could be cut to pieces.

All partitions of a domain may then be spread alike, so that a flow from domains over their racks to brokers, in units
of load, says whether a band can be kept: a broker takes at most one whole replica of each partition, a rack between its
`least` and `most`. A broker that may only keep what it has takes no more than that. Whatever whole replicas can do,
pieces can; so no placement has a lower ceiling, nor, below that ceiling, a higher floor.

The ceiling is raised to what whole replicas need of their own: of the heaviest k · n + 1 replicas that n brokers must
take, some broker has k + 1.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from app.core.flow import InfeasibleFlow, Network, is_feasible
from app.core.model import Int64s
from app.core.reassignment.loads.rules import Rules
from app.core.reassignment.problem import NO_HOME


def lowest_ceiling(rules: Rules, base_load: Int64s) -> int:
    """No placement's largest load of a target broker is smaller.

    Raises
    ------
    InfeasibleFlow : if some partition cannot be placed at all.
    """
    shares = _shares(rules)
    total = int(shares.whole.sum())
    beyond = total + int(base_load.max(initial=0))
    if not _can_be_kept(rules, shares, base_load, 0, beyond):
        raise InfeasibleFlow
    bases = base_load[rules.target]
    below = int(bases.max(initial=0)) - 1
    if rules.target.all():
        below = max(below, -(-(total + int(base_load.sum())) // max(1, len(base_load))) - 1)
    above, step = below + 1, 1
    while above < beyond and not _can_be_kept(rules, shares, base_load, 0, above):
        below, above, step = above, min(beyond, above + step), 2 * step
    while above - below > 1:
        middle = (above + below) // 2
        if _can_be_kept(rules, shares, base_load, 0, middle):
            above = middle
        else:
            below = middle
    return max(above, _heaviest_together(rules, shares, base_load))


def highest_floor(rules: Rules, base_load: Int64s, ceiling: int) -> int:
    """No placement below the ceiling has a larger smallest load of a target broker; 0 where there is none below it."""
    shares = _shares(rules)
    if not rules.target.any():
        return 0
    below, above = 0, ceiling + 1
    while above - below > 1:
        middle = (above + below) // 2
        if _can_be_kept(rules, shares, base_load, middle, ceiling):
            below = middle
        else:
            above = middle
    return below


@dataclass(frozen=True, slots=True, eq=False)
class _Shares:
    """What each domain has to spread. whole : (domains,) load of all its replicas; partitions : of one of each.

    must, may : (domains, brokers) int64, the least and the most of it that a broker takes.
    """

    whole: Int64s
    partitions: Int64s
    must: Int64s
    may: Int64s


def _shares(rules: Rules) -> _Shares:
    domains, brokers = rules.may_receive.shape
    partitions = np.zeros(domains, np.int64)
    np.add.at(partitions, rules.domain_of, rules.load)
    must, may = np.zeros((domains, brokers), np.int64), np.zeros((domains, brokers), np.int64)
    for home in rules.homes.T:
        held = home != NO_HOME
        np.add.at(may, (rules.domain_of[held], home[held]), rules.load[held])
    may = np.where(rules.may_receive, partitions[:, None], may)
    kept = rules.must_keep != NO_HOME
    np.add.at(must, (rules.domain_of[kept], rules.must_keep[kept]), rules.load[kept])
    return _Shares(partitions * rules.factor, partitions, must, may)


def _can_be_kept(rules: Rules, shares: _Shares, base_load: Int64s, low: int, high: int) -> bool:
    """Whether pieces can be spread so that every target broker's load is within low … high."""
    domains, brokers = shares.may.shape
    racks = rules.least.shape[1]
    total = int(shares.whole.sum())
    least = np.where(rules.target, np.maximum(0, low - base_load), 0)
    most = np.where(rules.target, high - base_load, total)
    domain, broker = np.nonzero(shares.may)
    rack_nodes = domains + np.arange(domains * racks)
    first_broker = domains + domains * racks
    sink = first_broker + brokers
    tails = [np.repeat(np.arange(domains), racks), domains + domain * racks + rules.rack_of[broker]]
    heads = [rack_nodes, first_broker + broker]
    lower = [(rules.least * shares.partitions[:, None]).ravel(), shares.must[domain, broker]]
    upper = [
        np.minimum(rules.most * shares.partitions[:, None], shares.whole[:, None]).ravel(),
        shares.may[domain, broker],
    ]
    return _has_flow(
        np.concatenate([shares.whole, np.zeros(domains * racks + brokers, np.int64), [-total]]),
        np.concatenate([*tails, first_broker + np.arange(brokers)]),
        np.concatenate([*heads, np.full(brokers, sink)]),
        np.concatenate([*lower, least]),
        np.concatenate([*upper, most]),
    )


def _has_flow(supplies: Int64s, tails: Int64s, heads: Int64s, lower: Int64s, upper: Int64s) -> bool:
    if (lower > upper).any():
        return False
    supplies = supplies.copy()
    np.subtract.at(supplies, tails, lower)
    np.add.at(supplies, heads, lower)
    return is_feasible(Network(supplies, tails.astype(np.int32), heads.astype(np.int32), upper - lower))


def _heaviest_together(rules: Rules, shares: _Shares, base_load: Int64s) -> int:
    """What the heaviest replicas put on one broker at least, over all target brokers and over those of each rack."""
    may: NDArray[np.bool_] = np.asarray(shares.may.any(axis=0))
    bounds = [0]
    regions: list[tuple[NDArray[np.bool_], Int64s]] = [(np.full(len(may), True), rules.factor)]
    regions += [(np.asarray(rules.rack_of == rack), least) for rack, least in enumerate(rules.least.T)]
    for inside, of_domain in regions:
        takers = may & inside & rules.target
        copies = np.where(_may_escape(rules, inside & ~rules.target), 0, of_domain[rules.domain_of])
        heaviest = -np.sort(-np.repeat(rules.load, copies))
        if takers.any() and len(heaviest):
            bounds.append(_crowded(heaviest, int(np.count_nonzero(takers))) + int(base_load[takers].min()))
    return max(bounds)


def _may_escape(rules: Rules, beside: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """(rows,) bool, whether a replica may be on one of these brokers, whose loads do not count."""
    escapes: NDArray[np.bool_] = np.asarray((rules.may_receive & beside).any(axis=1))[rules.domain_of]
    for home in rules.homes.T:
        escapes |= (home != NO_HOME) & beside[home]
    return escapes


def _crowded(heaviest: Int64s, brokers: int) -> int:
    """The largest sum of k + 1 replicas that have to be together: the lightest of the first k · brokers + 1."""
    sums = np.concatenate([np.zeros(1, np.int64), np.cumsum(heaviest)])
    k = np.arange((len(heaviest) - 1) // brokers + 1)
    ends = k * brokers + 1
    return int((sums[ends] - sums[ends - k - 1]).max())
