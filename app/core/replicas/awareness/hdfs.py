"""`hdfs`: two copies in one rack, the third in another.

The rack is the first attribute. From three replicas on, the leader and the first follower share a rack, which holds no
third one; the other replicas are spread over the other racks, no more than two in each. Two replicas are in two racks.
A rack with one broker cannot hold two: it leads nothing. Where no rack has two brokers the rule is that of `spread`,
and where the racks are too few or too small for two each, they hold as few as hold all.

Source: HDFS, "Replica Placement"; `BlockPlacementPolicyDefault`. It sets no more than (copies − 1) / racks + 2 in a
rack, and today names the second and third copy of three in one rack rather than the first and second; which of them is
alone is all that differs. KIP-708 names the rule as an example.
"""

from app.core.replicas.awareness.layout import WANTED, Demand, Layout, even, evenly
from app.core.replicas.awareness.rules import Rules
from app.core.replicas.awareness.spread import demands as spread_demands

IN_ONE_RACK = 2


def demands(layout: Layout, rules: Rules, factor: int) -> tuple[Demand, ...]:
    """A demand for the partitions that each rack leads, or one for all where nothing is to be paired."""
    sizes = layout.sizes(0)
    racks = [rack for rack, size in enumerate(sizes) if size >= IN_ONE_RACK]
    if factor <= IN_ONE_RACK or not racks:
        return spread_demands(layout, rules, factor)
    most = limit(sizes, factor)
    costs = evenly(layout, factor)
    bounded = tuple(even(min(size, most)) for size in sizes)

    def led_by(rack: int) -> Demand:
        # Two replicas come before any other cost; a third one costs more than a replica in any other rack.
        dear = (2 * factor + 1,) * max(0, min(sizes[rack], factor) - IN_ONE_RACK)
        first = tuple((WANTED,) * IN_ONE_RACK + dear if at == rack else costs_of for at, costs_of in enumerate(bounded))
        return Demand(factor, (first, *costs[1:]), rack)

    return tuple(led_by(rack) for rack in racks)


def limit(sizes: list[int], factor: int) -> int:
    """How many replicas a rack may hold: two, or as few as hold all."""
    most = IN_ONE_RACK
    while most < factor and sum(min(size, most) for size in sizes) < factor:
        most += 1
    return most
