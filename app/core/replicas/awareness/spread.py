"""`spread`: as even as can be over each attribute in turn.

A row's replicas are dealt evenly over the values of the first attribute; of the rows that are as even as any there, the
evenest over the second attribute are taken, and so on. A value with fewer brokers than its share holds what it can, and
the others share the rest.

Source: Elasticsearch, "Shard allocation awareness". It lets no value hold more than ⌈copies / values⌉ and leaves a copy
unassigned where a value has too few nodes; here the others take it, as `forced` does not.
"""

from app.core.replicas.awareness.layout import Demand, Layout, evenly
from app.core.replicas.awareness.rules import Rules


def demands(layout: Layout, _: Rules, factor: int) -> tuple[Demand, ...]:
    """One demand for all partitions: even everywhere, and any replica may lead."""
    return (Demand(factor, evenly(layout, factor)),)
