"""Place the partitions of a topic by a policy: the one `place` verb, with attributes.

Hard constraints
    The replicas of a partition are on distinct live brokers. What the policy never breaks, as its own file says.
Goals, in order
    1. Each partition is spread as the policy has it, over each attribute in turn.
    2. Leaders are by weight.
    3. Replicas are by weight.

Algorithm
    Rows are made for a table of partitions and copied; what the table leaves uneven, the rows of the last partitions
    make good. Which rows keep goal 1 is counted (`tree`), how many of them each broker gets follows from the weights
    (`quotas`), a draw says which (`rows_kernel`), and leadership is passed on until no chain betters it
    (`leaders_kernel`).

Four brokers, zones a: 1 2 and b: 3 4, each a rack of its own, factor 2, `spread`: every partition has one of 1 2 and
one of 3 4; of four partitions each broker leads one and holds two.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from math import isqrt
from types import MappingProxyType
from typing import TypeAlias

import numpy as np

from app.core.jvm import JavaRandom
from app.core.model import Broker, Int32s, NewTopic, Placement
from app.core.replicas.awareness import forced, hdfs, kafka, redis, spread
from app.core.replicas.awareness.layout import Demand, Layout
from app.core.replicas.awareness.rules import Policy, Rules
from app.core.replicas.awareness.tables import Load, dealer, table
from app.errors.kafka import InvalidPartitions, InvalidReplicationFactor, KafkaError
from app.errors.requests import ConflictingFields

LEAST_TABLE = 2048
"""Fewer rows are not worth copying."""

Demands: TypeAlias = Callable[[Layout, Rules, int], tuple[Demand, ...]]


@dataclass(frozen=True, slots=True)
class Rule:
    """A policy as the API and the docs tell it, and what it asks of a topic's rows."""

    summary: str
    source: str
    demands: Demands


POLICIES: Mapping[Policy, Rule] = MappingProxyType(
    {
        Policy.SPREAD: Rule("as even as can be over each attribute in turn", "Elasticsearch", spread.demands),
        Policy.FORCED: Rule(
            "the same, but the share of a forced value without live brokers stays unassigned",
            "Elasticsearch",
            forced.demands,
        ),
        Policy.HDFS: Rule("the first two in one rack, the third in another", "HDFS", hdfs.demands),
        Policy.REDIS: Rule("the leader shares its zone with no follower", "Redis Enterprise", redis.demands),
        Policy.KAFKA: Rule("as many racks as can be, and no more", "KIP-36", kafka.demands),
    }
)
"""Every policy; to add one is a file with its `demands`, a name in `Policy`, an entry here and its tests."""


@dataclass(frozen=True, slots=True)
class Aware:
    """The placement that follows some rules: a `registry.Place`."""

    rules: Rules

    def __call__(
        self, brokers: Sequence[Broker], topic: NewTopic, *, random: JavaRandom, fixed_start_index: int | None = None
    ) -> Placement:
        """Place one topic.

        Parameters
        ----------
        brokers : the live ones, in any order; no id twice.
        topic : `start_partition_id` only says what the first partition is called.
        random : draws which of the equally good rows are taken.

        Returns
        -------
        Rows of one width: the factor, or less where the policy leaves replicas unassigned.

        Raises
        ------
        InvalidPartitions, InvalidReplicationFactor : none or fewer; more replicas than brokers.
        AttributeMissing, TooFewValues, and what `Rules.check` does.
        ConflictingFields : a start index is given, which this placement has no use for.
        """
        check(brokers, topic, fixed_start_index=fixed_start_index)
        self.rules.check()
        self.rules.require_attributes(brokers)
        layout = Layout.of(brokers, self.rules.attributes)
        demands = POLICIES[self.rules.policy].demands(layout, self.rules, topic.replication_factor)
        return Placement(topic.name, topic.start_partition_id, _rows(layout, demands, topic.partitions, random))


def _rows(layout: Layout, demands: Sequence[Demand], partitions: int, random: JavaRandom) -> Int32s:
    """(partitions, placed) int32 broker ids."""
    brokers, deals = len(layout.ids), dealer(layout, demands)
    # What is rounded in each copy has to find room in the last rows: a broker has some rows · placed / brokers there.
    rounding_rows = isqrt(2 * partitions * brokers // deals.placed)
    table_rows = -(-max(LEAST_TABLE, rounding_rows) // brokers) * brokers
    copies = max(partitions // table_rows - 1, 0)
    last = partitions - copies * table_rows
    rows = np.empty((partitions, deals.placed), np.int32)
    load = Load.none(layout)
    make = partial(table, layout=layout, demands=demands, deals=deals, random=random)
    if copies:
        rows[: partitions - last].reshape(copies, table_rows, -1)[:] = make(table_rows, load=load)
        load = load.times(copies)
    rows[partitions - last :] = make(last, load=load)
    return rows


def check(brokers: Sequence[Broker], topic: NewTopic, *, fixed_start_index: int | None) -> None:
    """Raise what is wrong whatever the rules are, in the order of AdminUtils."""
    partitions, factor = topic.partitions, topic.replication_factor
    if fixed_start_index is not None:
        raise ConflictingFields(
            f"awareness draws where replicas are, and starts nowhere; start index {fixed_start_index} given",
            path=("fixed_start_index",),
            value=fixed_start_index,
        )
    if partitions <= 0:
        raise InvalidPartitions(
            f"a topic needs 1 partition or more; {partitions} given",
            kafka=KafkaError("InvalidPartitionsException"),
            path=("partitions",),
            value=partitions,
            minimum=1,
        )
    if not 0 < factor <= len(brokers):
        limit = {"minimum": 1} if factor <= 0 else {"maximum": len(brokers)}
        detail = (
            f"a partition needs 1 replica or more; replication factor {factor} given"
            if factor <= 0
            else f"replication factor {factor} needs {factor} brokers; {len(brokers)} given"
        )
        raise InvalidReplicationFactor(
            detail,
            kafka=KafkaError("InvalidReplicationFactorException"),
            path=("replication_factor",),
            value=factor,
            **limit,
        )
