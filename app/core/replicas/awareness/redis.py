"""`redis`: the leader shares its zone with no follower.

The zone is the first attribute. The leader is alone in its zone; the followers are spread over the others, evenly as
`spread` does. So the loss of a zone takes the leader or followers of a partition, never both.

Source: Redis Enterprise Software, "Rack-zone awareness in Redis Enterprise": a primary, its replicas and their
endpoints are in different zones.
"""

from app.core.replicas.awareness.layout import WANTED, Demand, Layout, evenly
from app.core.replicas.awareness.rules import Rules
from app.core.replicas.awareness.spread import demands as spread_demands
from app.errors.requests import TooFewValues


def demands(layout: Layout, rules: Rules, factor: int) -> tuple[Demand, ...]:
    """A demand for the partitions that each zone leads. Raises `TooFewValues` where no zone can lead any."""
    if factor == 1:
        return spread_demands(layout, rules, factor)
    sizes = layout.sizes(0)
    zones = leading(sizes, factor)
    if not zones:
        outside = sum(sizes) - min(sizes)
        raise TooFewValues(
            f"replication factor {factor} needs {factor - 1} outside the leader's {layout.attributes[0]}; of "
            f"{sum(sizes)} brokers over {len(sizes)} values at most {outside} are",
            path=("replication_factor",),
            value=factor,
            maximum=1 + outside,
            attribute=layout.attributes[0],
            values=len(sizes),
        )
    costs = evenly(layout, factor)

    def led_by(zone: int) -> Demand:
        first = tuple((WANTED,) if at == zone else costs_of for at, costs_of in enumerate(costs[0]))
        return Demand(factor, (first, *costs[1:]), zone)

    return tuple(led_by(zone) for zone in zones)


def leading(sizes: list[int], factor: int) -> list[int]:
    """The zones that have brokers enough for all followers outside."""
    return [zone for zone, size in enumerate(sizes) if sum(sizes) - size >= factor - 1]
