"""`kafka`: what Kafka promises today, and no more.

One attribute counts, the first. A partition's replicas span as many of its values as they can, min(factor, values);
what is left over may be anywhere, so that brokers are used by their weight. Further attributes are only measured.

Source: KIP-36, "Proposed Changes". Kafka's own placers walk the racks one after another and thereby deal the replicas
evenly over them, whatever brokers the racks have; this policy keeps the promise and balances the brokers instead.
"""

from app.core.replicas.awareness.layout import WANTED, Demand, Layout
from app.core.replicas.awareness.rules import Rules


def demands(layout: Layout, _: Rules, factor: int) -> tuple[Demand, ...]:
    """One demand for all partitions: a value's first replica is worth something, the others cost nothing."""

    def costs(attribute: int) -> tuple[tuple[int, ...], ...]:
        first = WANTED if attribute == 0 else 0
        return tuple((first, *(0,) * (min(factor, size) - 1)) for size in layout.sizes(attribute))

    return (Demand(factor, tuple(map(costs, range(len(layout.attributes))))),)
