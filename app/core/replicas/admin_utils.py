"""AdminUtils: the rack-aware assignment of KIP-36, as the Kafka tools and ZooKeeper-era controllers make it.

Goals, in order
    1. Replicas are spread evenly among brokers.
    2. The followers of one broker's partitions are spread over the other brokers.
    3. Where brokers have racks, a partition's replicas are on as many racks as can be.
Constraint
    The replicas of a partition are on distinct brokers.

Algorithm
    The brokers are listed alternating by rack. Leaders walk it from a start index. Followers walk it from one past the
    leader, shifted by (round × racks), where the round grows with each partition id that the number of brokers
    divides; a broker whose rack already has a replica is passed over while some rack has none.

Six brokers, racks 0:rack1 1:rack3 2:rack3 3:rack2 4:rack2 5:rack1, start index 0, factor 3; the list is 0 3 1 5 4 2:

    partition 0 → 0 3 1      partition 3 → 5 4 2
    partition 1 → 3 1 5      partition 4 → 4 2 0
    partition 2 → 1 5 4      partition 5 → 2 0 3      partition 6 → 0 4 2 (the shift has grown)

The rows repeat with a period of n·(n − 1) / gcd(racks, n − 1) partitions, so that one period is computed and the rest
copied, except where Kafka's 32-bit arithmetic overflows: there every row is computed, wrapping as Java does.

Source: KIP-36, "Proposed Changes"; `org.apache.kafka.admin.AdminUtils`.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import gcd
from typing import Self

import numpy as np

from app.core.jvm import JavaRandom
from app.core.kafka_versions import KafkaRange, Replayed
from app.core.model import INT32_MAX, Broker, Int32s, NewTopic, Placement
from app.core.replicas import admin_utils_kernel as kernel
from app.core.replicas.options import brokers_without_rack, factor_rejected, partitions_rejected
from app.errors.kafka import ArithmeticOverflow, KafkaError

REPLAYS = Replayed("org.apache.kafka.admin.AdminUtils", KafkaRange("4.0", "4.0"))


def place(
    brokers: Sequence[Broker], topic: NewTopic, *, random: JavaRandom, fixed_start_index: int | None = None
) -> Placement:
    """Place the partitions of one topic as AdminUtils does.

    Parameters
    ----------
    brokers : the live brokers. Their order matters where none has a rack; of two with one id the last rack counts.
    topic : `start_partition_id` continues a topic that has that many partitions; below 0 it means 0.
    random : draws the start index and then the shift, if no start index is given.
    fixed_start_index : where to start, for both; None or below 0 means random.

    Raises
    ------
    InvalidPartitions, InvalidReplicationFactor, BrokersWithoutRack : in Kafka's order; no random number is drawn then.
    ArithmeticOverflow : if Kafka's code fails because an `int` overflowed.

    Complexity: O(brokers² · replication factor + partitions), since the rows repeat.

    Examples
    --------
    >>> from app.core.jvm import JavaRandom
    >>> from app.core.model import Broker, NewTopic
    >>> racks = ["rack1", "rack3", "rack3", "rack2", "rack2", "rack1"]
    >>> brokers = [Broker(number, rack) for number, rack in enumerate(racks)]
    >>> place(brokers, NewTopic("t", 3, 3), random=JavaRandom(0), fixed_start_index=0).replicas.tolist()
    [[0, 3, 1], [3, 1, 5], [1, 5, 4]]
    """
    check(brokers, topic)
    walk = BrokerWalk.of(brokers)
    if fixed_start_index is None or fixed_start_index < 0:
        start, shift = random.next_int(len(walk.ids)), random.next_int(len(walk.ids))
    else:
        start = shift = fixed_start_index
    first = max(0, topic.start_partition_id)
    rows = walk.rows(topic.partitions, topic.replication_factor, first=first, start=start, shift=shift)
    return Placement(topic.name, first, rows)


@dataclass(frozen=True, slots=True, eq=False)
class BrokerWalk:
    """The brokers in the order in which leaders walk them.

    Parameters
    ----------
    ids : (n,) int32. racks : (n,) int32, each one's rack as an index; None where racks do not count.
    n_racks : number of racks; 0 if they do not count.
    """

    ids: Int32s
    racks: Int32s | None
    n_racks: int

    @classmethod
    def of(cls, brokers: Sequence[Broker]) -> Self:
        """Alternating by rack where brokers have racks, else in the caller's order."""
        if any(broker.rack is not None for broker in brokers):
            return cls(*_alternated(brokers))
        return cls(np.array([broker.id for broker in brokers], np.int32), None, 0)

    def rows(self, partitions: int, factor: int, *, first: int, start: int, shift: int) -> Int32s:
        """(partitions, factor) int32 broker ids of the partitions from `first` on; raises `ArithmeticOverflow`."""
        n, stride = len(self.ids), self.n_racks or 1
        period = _period(n, stride)
        # The followers look at most factor × n places ahead.
        furthest = (shift + partitions // n + 1) * stride + factor * n
        if max(first + partitions + start, furthest) > INT32_MAX:
            period = partitions

        def compute(rows: Int32s) -> None:
            if self.racks is None:
                failed = kernel.fill_rack_unaware(rows, self.ids, start, shift, first)
            else:
                failed = kernel.fill_rack_aware(rows, self.ids, self.racks, self.n_racks, start, shift, first)
            if failed >= 0:
                raise self._overflow(first + failed, start, index=int(rows[failed, 0]))

        return _repeat(compute, partitions, factor, period)

    def _overflow(self, partition: int, start: int, *, index: int) -> ArithmeticOverflow:
        n = len(self.ids)
        outside = KafkaError("IndexOutOfBoundsException", f"Index {index} out of bounds for length {n}")
        return ArithmeticOverflow(
            f"at partition {partition} and start index {start} a sum passes {INT32_MAX}, where Kafka's own code fails",
            kafka=outside if n > 1 else KafkaError("ArithmeticException"),
            path=("fixed_start_index",),
            value=start,
            partition=partition,
            maximum=INT32_MAX,
        )


def rack_alternated(brokers: Sequence[Broker]) -> list[int]:
    """The broker ids alternating by rack: racks in Java's string order, in each the ids ascending.

    Brokers of which none has a rack stand in one. Raises `BrokersWithoutRack` where only some have one.
    """
    ids: list[int] = _alternated(brokers)[0].tolist()
    return ids


def _alternated(brokers: Sequence[Broker]) -> tuple[Int32s, Int32s, int]:
    """The rack-alternated ids, each one's rack as an index, and the number of racks."""
    rack_of = {broker.id: broker.rack for broker in brokers}
    names = {rack for rack in rack_of.values() if rack is not None}
    if names and None in rack_of.values():
        raise brokers_without_rack(brokers, "NullPointerException")
    # Java compares strings by UTF-16 units: that is the order of their big-endian encoding, not of code points.
    racks = sorted(names, key=lambda rack: rack.encode("utf-16-be", "surrogatepass"))
    index_of: dict[str | None, int] = {rack: index for index, rack in enumerate(racks)} or {None: 0}
    counts = [0] * len(index_of)
    order = []
    for broker_id in sorted(rack_of):
        rack_index = index_of[rack_of[broker_id]]
        order.append((counts[rack_index], rack_index, broker_id))
        counts[rack_index] += 1
    order.sort()
    ids = np.array([broker_id for _, _, broker_id in order], np.int32)
    return ids, np.array([rack_index for _, rack_index, _ in order], np.int32), len(index_of)


def check(brokers: Sequence[Broker], topic: NewTopic) -> None:
    """Raise the errors that `place` raises before it draws, in Kafka's order."""
    factor = topic.replication_factor
    if topic.partitions <= 0:
        raise partitions_rejected(topic.partitions, "Number of partitions must be larger than 0.")
    if factor <= 0:
        raise factor_rejected(factor, "Replication factor must be larger than 0.", brokers=len(brokers))
    if factor > len(brokers):
        message = f"Replication factor: {factor} larger than available brokers: {len(brokers)}."
        raise factor_rejected(factor, message, brokers=len(brokers))
    with_rack = sum(broker.rack is not None for broker in brokers)
    if 0 < with_rack < len(brokers):
        raise brokers_without_rack(brokers, "AdminOperationException")


def _period(n: int, stride: int) -> int:
    """After how many partitions the rows repeat: leaders do after n, the followers' shift is taken modulo n − 1."""
    return n * ((n - 1) // gcd(stride, n - 1)) if n > 1 else 1


def _repeat(compute: Callable[[Int32s], None], partitions: int, factor: int, period: int) -> Int32s:
    """Compute one period of rows and copy it over the rest, in doubling lengths."""
    replicas = np.empty((partitions, factor), np.int32)
    filled = min(period, partitions)
    compute(replicas[:filled])
    while filled < partitions:
        more = min(filled, partitions - filled)
        replicas[filled : filled + more] = replicas[:more]
        filled += more
    return replicas
