"""Lower bounds: the lowest ceiling and the highest floor of loads.

They are those of the relaxation in which replicas may be split (`bands`), with the partitions of a domain as a group: a
broker has at most one whole replica of each partition, a rack between its `least` and `most`, and a broker that may
only keep replicas no more than it has. The ceiling is raised to what whole replicas require: of the heaviest k · n + 1
replicas that n brokers must have, some broker has k + 1.
"""

import numpy as np

from app.core.model import NO_REPLICA, Bools, Int32s, Int64s
from app.core.reassignment.bounds.bands import GroupedLoads
from app.core.reassignment.rules import LoadRules
from app.core.replica_lists import sums_by


def lowest_ceiling(rules: LoadRules, base_load: Int64s) -> int:
    """A lower bound on the largest load of a target broker.

    Complexity: O(log(total load)) maximum flows over domains, racks and brokers.

    Raises
    ------
    InfeasibleFlow : if some partition has no legal placement.
    """
    groups = _grouped_loads(rules, base_load)
    return max(groups.lowest_ceiling(), _whole_replica_bound(rules, groups))


def highest_floor(rules: LoadRules, base_load: Int64s, ceiling: int) -> int:
    """An upper bound on the smallest load of a target broker, among placements below the ceiling; 0 if there are
    none.
    """
    return _grouped_loads(rules, base_load).highest_floor(ceiling)


def _grouped_loads(rules: LoadRules, base_load: Int64s) -> GroupedLoads:
    """The load that each domain spreads."""
    domains, brokers = rules.may_receive.shape
    partitions = sums_by(rules.domain_of, rules.load, domains)
    must, may = (_in_domains(rules, replicas, brokers) for replicas in (rules.must_keep[:, None], rules.current))
    may = np.where(rules.may_receive, partitions[:, None], may)
    total = partitions * rules.factor
    domain, broker = np.nonzero(may)
    return GroupedLoads(
        total=total,
        least=rules.least * partitions[:, None],
        most=np.minimum(rules.most * partitions[:, None], total[:, None]),
        group=domain,
        broker=broker,
        must=must[domain, broker],
        may=may[domain, broker],
        rack_of=rules.rack_of,
        target=rules.target,
        base=base_load,
        floor_cap=rules.floor_cap,
    )


def _in_domains(rules: LoadRules, replicas: Int32s, brokers: int) -> Int64s:
    """(domains, brokers) int64: the load of these replicas, (rows, …) int32, by domain."""
    row, column = np.nonzero(replicas != NO_REPLICA)
    cells = rules.domain_of[row].astype(np.int64) * brokers + replicas[row, column]
    return sums_by(cells, rules.load[row], len(rules.factor) * brokers).reshape(len(rules.factor), brokers)


def _whole_replica_bound(rules: LoadRules, groups: GroupedLoads) -> int:
    """The least load that the heaviest whole replicas put on one broker, over all targets and over those of each
    rack.
    """
    may = np.isin(np.arange(len(groups.base)), groups.broker)
    bounds = [0]
    regions: list[tuple[Bools, Int64s]] = [(np.full(len(may), True), rules.factor)]
    regions += [(np.asarray(rules.rack_of == rack), least) for rack, least in enumerate(rules.least.T)]
    for inside, of_domain in regions:
        receivers = may & inside & rules.target
        copies = np.where(_may_leave_targets(rules, inside & ~rules.target), 0, of_domain[rules.domain_of])
        heaviest = -np.sort(-np.repeat(rules.load, copies))
        if receivers.any() and len(heaviest):
            bounds.append(
                _heaviest_share(heaviest, int(np.count_nonzero(receivers))) + int(groups.base[receivers].min())
            )
    return max(bounds)


def _may_leave_targets(rules: LoadRules, beside: Bools) -> Bools:
    """(rows,) bool: whether a replica may be on one of these brokers, whose loads do not count."""
    leaves: Bools = np.asarray((rules.may_receive & beside).any(axis=1))[rules.domain_of]
    for current_broker in rules.current.T:
        leaves |= (current_broker != NO_REPLICA) & beside[current_broker]
    return leaves


def _heaviest_share(heaviest: Int64s, brokers: int) -> int:
    """The largest sum of k + 1 replicas that have to share a broker: the lightest of the first k · brokers + 1."""
    sums = np.concatenate([np.zeros(1, np.int64), np.cumsum(heaviest)])
    k = np.arange((len(heaviest) - 1) // brokers + 1)
    ends = k * brokers + 1
    return int((sums[ends] - sums[ends - k - 1]).max())
