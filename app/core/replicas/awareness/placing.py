"""Place the partitions of a topic by a policy, over any attributes of brokers.

Hard constraints
    The replicas of a partition are on distinct live brokers, within the limits of the policy (`policies`).
Goals, in lexicographic order
    1. Each partition has the least cost of the policy, attribute by attribute.
    2. Leaders are proportional to the weights of brokers.
    3. Replicas are proportional to the weights of brokers.

Algorithm
    A table of rows is built and copied; the rows of the last partitions compensate for rounding. The
    rows of least cost are characterised by bounds (`tree`), the number of replicas of each broker follows from the
    weights (`quotas`), their partitions are chosen at random (`rows_kernel`), and leadership is passed on along chains
    of replicas while that improves the balance (`leaders_kernel`).

Four brokers, zones a: 1 2 and b: 3 4, factor 2, `spread`: every partition has one replica on 1 or 2 and one on 3 or 4;
of four partitions each broker leads one and has two.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import isqrt

import numpy as np

from app.core.jvm import JavaRandom
from app.core.model import Broker, Int32s, NewTopic, Placement
from app.core.replicas.awareness.layout import Layout
from app.core.replicas.awareness.rules import POLICIES, Policy, Rules
from app.core.replicas.awareness.tables import Dealer, dealer, table
from app.core.replicas.options import OptionSet, OptionValues, factor_rejected, partitions_rejected
from app.errors import Json
from app.errors.requests import ConflictingFields

LEAST_TABLE = 2048
"""Smallest number of rows of a table that is copied."""


@dataclass(frozen=True, slots=True)
class Aware:
    """The placement by some rules: a `registry.Place`.

    Parameters
    ----------
    present : by broker, the leaders and the replicas that it has already and that are balanced with the new ones. Of a
        topic with copies of a table, the rows after the copies compensate for them.
    """

    rules: Rules
    present: Mapping[int, tuple[int, int]] = field(default_factory=dict, hash=False)

    def after(self, placed: Placement) -> "Aware":
        """The placement of the next topic; if present replicas count, the new ones count too."""
        if not self.present:
            return self
        present = dict(self.present)
        for row in placed.replicas.tolist():
            for place, broker in enumerate(row):
                leads, has = present.get(broker, (0, 0))
                present[broker] = (leads + (place == 0), has + 1)
        return replace(self, present=present)

    def __call__(
        self, brokers: Sequence[Broker], topic: NewTopic, *, random: JavaRandom, fixed_start_index: int | None = None
    ) -> Placement:
        """Place one topic.

        Parameters
        ----------
        brokers : the live ones, in any order, with distinct ids.
        topic : its `start_partition_id` is the id of the first row, and has no other effect.
        random : chooses among rows that are equally good; its state is advanced.

        Returns
        -------
        Rows of one width: the factor, or less if the policy leaves replicas unassigned.

        Raises
        ------
        InvalidPartitions : less than 1. InvalidReplicationFactor : less than 1, or more than the brokers.
        AttributeMissing : as `Rules.require_attributes`. TooFewValues : as the policy. Others : as `Rules.check`.
        ConflictingFields : a start index is given, which this placement does not use.

        Complexity: O(table rows · brokers) for a table of about max(`LEAST_TABLE`, √(partitions · brokers)) rows, and
        O(partitions) for its copies.

        Examples
        --------
        >>> brokers = [Broker(1, "a"), Broker(2, "a"), Broker(3, "b"), Broker(4, "b")]
        >>> placement = Aware(Rules())(brokers, NewTopic("orders", 4, 2), random=JavaRandom(1))
        >>> [len({broker > 2 for broker in row}) for row in placement.replicas.tolist()]
        [2, 2, 2, 2]
        >>> sorted(placement.replicas[:, 0].tolist())
        [1, 2, 3, 4]
        """
        check(brokers, topic, fixed_start_index=fixed_start_index)
        self.rules.check()
        self.rules.require_attributes(brokers)
        layout = Layout.of(brokers, self.rules.attributes)
        demands = POLICIES[self.rules.policy](layout, self.rules, topic.replication_factor)
        rows = self._rows(dealer(layout, demands), topic.partitions, random)
        return Placement(topic.name, topic.start_partition_id, rows)

    def _rows(self, deals: Dealer, partitions: int, random: JavaRandom) -> Int32s:
        """(partitions, row_width) int32 broker ids."""
        ids = deals.layout.ids.tolist()
        # The last rows compensate for rounding in each copy; a broker has about rows · row_width / brokers of them.
        rounding_rows = isqrt(2 * partitions * len(ids) // deals.row_width)
        table_rows = -(-max(LEAST_TABLE, rounding_rows) // len(ids)) * len(ids)
        copies = max(partitions // table_rows - 1, 0)
        last = partitions - copies * table_rows
        rows = np.empty((partitions, deals.row_width), np.int32)
        load = np.zeros((2, len(ids)), np.int64)
        if copies:
            rows[: partitions - last].reshape(copies, table_rows, -1)[:] = table(table_rows, deals, load, random)
            load *= copies
        load += np.array([self.present.get(broker, (0, 0)) for broker in ids], np.int64).T
        rows[partitions - last :] = table(last, deals, load, random)
        return rows


def check(
    brokers: Sequence[Broker], topic: NewTopic, *, fixed_start_index: int | None, algorithm: str = "awareness"
) -> None:
    """Reject requests that no rules allow, in the order of AdminUtils."""
    partitions, factor = topic.partitions, topic.replication_factor
    if fixed_start_index is not None:
        raise ConflictingFields(
            f"{algorithm} chooses brokers at random, without a start index; {fixed_start_index} given",
            path=("fixed_start_index",),
            value=fixed_start_index,
        )
    if partitions <= 0:
        raise partitions_rejected(partitions)
    if not 0 < factor <= len(brokers):
        raise factor_rejected(factor, brokers=len(brokers))


_DEFAULT = Rules()


def _read(values: OptionValues) -> Rules:
    """Fill in the defaults and check. Raises as `Rules.check` does."""
    policy, attributes, forced = (values.get(name) for name in ("policy", "attributes", "forced"))
    rules = Rules(
        policy=_DEFAULT.policy if policy is None else Policy(policy),
        attributes=_DEFAULT.attributes if attributes is None else tuple(attributes),
        forced={name: tuple(listed) for name, listed in (forced or {}).items()},
        load=values.get("load"),
    )
    rules.check()
    return rules


def _canonical(rules: Rules) -> dict[str, Json]:
    forced: dict[str, Json] = {name: rules.forced[name] for name in rules.attributes if name in rules.forced}
    load: dict[str, Json] = {} if rules.load is None else {"load": rules.load}
    return {"policy": rules.policy.value, "attributes": rules.attributes, "forced": forced, **load}


OPTIONS = OptionSet(
    read=_read,
    canonical=_canonical,
    follow=Aware,
    rack_mode_conflict="awareness treats racks as any other attribute and has no rack mode",
)
