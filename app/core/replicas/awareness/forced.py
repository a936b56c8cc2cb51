"""`forced`: the share of a value that has no live broker stays unassigned.

Of an attribute with forced values, no value holds more than ⌈factor / values⌉ of a partition's replicas, where the
values are those that were listed and those that live brokers have. What finds no place under that limit is not placed,
so that the survivors are not crowded and have room when the others come back. Beneath the limit replicas are spread as
`spread` does.

Source: Elasticsearch, "Forced awareness"; `AwarenessAllocationDecider`.
"""

from app.core.replicas.awareness.layout import Demand, Layout, even, evenly
from app.core.replicas.awareness.rules import Rules


def demands(layout: Layout, rules: Rules, factor: int) -> tuple[Demand, ...]:
    """One demand for all partitions, with a limit for each value of a forced attribute."""
    costs = list(evenly(layout, factor))
    for attribute, most in limits(layout, rules, factor).items():
        costs[attribute] = tuple(even(min(most, size)) for size in layout.sizes(attribute))
    return (Demand(factor, tuple(costs)),)


def limits(layout: Layout, rules: Rules, factor: int) -> dict[int, int]:
    """By the index of each forced attribute, how many replicas of a partition one of its values may hold."""
    return {
        index: -(-factor // len({*layout.values[index], *rules.forced[name]}))
        for index, name in enumerate(layout.attributes)
        if name in rules.forced
    }
