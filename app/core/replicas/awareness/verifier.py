"""The verifier of aware placements: partitions that violate a policy, whichever planner placed them."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from app.core.measures.tally import positions_of
from app.core.measures.violations import NAMED_PARTITIONS, Violation
from app.core.model import Broker, Placement
from app.core.replicas.awareness import verifier_kernel as kernel
from app.core.replicas.awareness.layout import Layout
from app.core.replicas.awareness.rules import POLICIES, Rules
from app.core.replicas.awareness.tables import dealer


def broken(placement: Placement, brokers: Sequence[Broker], rules: Rules, factor: int) -> list[Violation]:
    """List the partitions of a placement that violate a policy, or cost more than the least that is possible.

    Parameters
    ----------
    placement : of one topic. brokers : the live ones, with every attribute of the rules.
    rules : the policy and its attributes. factor : the requested replicas of a partition.

    Returns
    -------
    Empty if every partition has as many replicas as the policy can place, on distinct live brokers, at least cost.
    Otherwise one violation, which names the first partitions.

    Raises
    ------
    TooFewValues : no placement satisfies the policy.
    """
    rows = _broken_rows(placement, brokers, rules, factor)
    if not len(rows):
        return []
    named = tuple((placement.first_partition_id + rows[:NAMED_PARTITIONS]).tolist())
    over = ", ".join(rules.attributes)
    detail = (
        f"{len(rows)} of {len(placement.replicas)} partitions of {placement.topic} violate the policy "
        f"{rules.policy.value} over {over}"
    )
    return [Violation("policy_broken", "fragile", placement.topic, len(rows), named, detail)]


def _broken_rows(placement: Placement, brokers: Sequence[Broker], rules: Rules, factor: int) -> NDArray[np.int64]:
    layout = Layout.of(brokers, rules.attributes)
    demands = POLICIES[rules.policy](layout, rules, factor)
    deals = dealer(layout, demands)
    led_by = {demand.leading_value: index for index, demand in enumerate(demands)}
    demand_of = [led_by.get(value, led_by.get(None, -1)) for value in layout.value_of[0].tolist()]
    is_broken = np.zeros(len(placement.replicas), np.bool_)
    kernel.judge(
        positions_of(placement.replicas, layout.ids),
        layout.value_of,
        np.stack([demand.table(layout) for demand in demands]),
        np.array(deals.least, np.int64),
        np.array([*demand_of, -1], np.int64),
        deals.row_width,
        is_broken,
    )
    return np.flatnonzero(is_broken)
