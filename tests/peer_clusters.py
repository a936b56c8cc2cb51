"""Clusters on which other planners were measured, and the evaluator that measured all of them.

a: the captured nine brokers. b: 30 brokers in 3 racks, 3,000 partitions of 60 topics, sizes log-normal; 6 brokers
joined after 70 % of the topics were created. c: the same shape with 300 brokers, 100,000 partitions and 2,000 topics.
br: b with a replica of about 5 % of the partitions in the rack of another.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from random import Random

import numpy as np

from app.core.model import NO_REPLICA, Broker, Cluster, Float64s, Int32s, Int64s, Topic
from app.core.replica_lists import per_broker
from tests.services.reassignments import captured

FACTOR = 3
LATE = 0.2
"""Share of brokers that joined late."""
EARLY_TOPICS = 0.7
SIZE_MEAN, SIZE_SPREAD = 20, 1.8
"""Of the logarithm of a topic's size."""
RETENTION_S = 7 * 86_400


@dataclass(frozen=True, slots=True)
class Shape:
    """A random cluster; the same seed is the same cluster."""

    brokers: int
    partitions: int
    topics: int
    seed: int
    racks: int = 3


SHAPES: Mapping[str, Shape] = {"b": Shape(30, 3_000, 60, 7), "c": Shape(300, 100_000, 2_000, 11)}


@cache
def cluster(name: str) -> Cluster:
    """The cluster a, b, c or br."""
    if name == "a":
        return captured()
    return _generated(SHAPES[name[0]], misplaces=name.endswith("r"))


def _generated(shape: Shape, *, misplaces: bool) -> Cluster:
    random = Random(shape.seed)
    rack_of = {broker: f"r{(broker - 1) % shape.racks}" for broker in range(1, shape.brokers + 1)}
    topics = list(_topics(shape, rack_of, random))
    if misplaces:
        _misplace([lists for _, lists, _, _ in topics], rack_of)
    return Cluster(
        f"peers-{shape.brokers}",
        tuple(Broker(broker, rack) for broker, rack in rack_of.items()),
        tuple(_topic(name, lists, sizes, rates) for name, lists, sizes, rates in topics),
    )


_Listed = tuple[str, list[list[int]], list[int], list[float]]


def _topics(shape: Shape, rack_of: Mapping[int, str], random: Random) -> Iterator[_Listed]:
    """Names, replica lists, sizes and ingress rates."""
    ids = list(rack_of)
    early = ids[: shape.brokers - int(shape.brokers * LATE) // shape.racks * shape.racks]
    for number, partitions in enumerate(_partitions_of_topics(shape, random)):
        pool = early if number < shape.topics * EARLY_TOPICS else ids
        by_rack = [[broker for broker in pool if rack_of[broker] == f"r{rack}"] for rack in range(shape.racks)]
        for brokers in by_rack:
            random.shuffle(brokers)
        order = [by_rack[at % shape.racks][at // shape.racks] for at in range(len(pool))]
        start, shift = random.randrange(len(order)), random.randrange(len(order))
        base = random.lognormvariate(SIZE_MEAN, SIZE_SPREAD)
        lists, sizes, rates = [], [], []
        for partition in range(partitions):
            shift += partition > 0 and partition % len(order) == 0
            lists.append(_striped(order, rack_of, start + partition, shift))
            sizes.append(int(base * random.lognormvariate(0, 0.6)) + 1)
            rates.append(sizes[-1] / RETENTION_S * random.uniform(0.7, 1.4))
        yield f"t{number:05d}", lists, sizes, rates


def _partitions_of_topics(shape: Shape, random: Random) -> list[int]:
    weights = [random.paretovariate(1.1) for _ in range(shape.topics)]
    total = sum(weights)
    counts = [max(1, int(shape.partitions * weight / total)) for weight in weights]
    while sum(counts) != shape.partitions:
        topic = random.randrange(shape.topics)
        step = 1 if sum(counts) < shape.partitions else -1
        if counts[topic] + step >= 1:
            counts[topic] += step
    return counts


def _striped(order: Sequence[int], rack_of: Mapping[int, str], first: int, shift: int) -> list[int]:
    """A list with one replica in each rack, followers behind the leader at a distance."""
    brokers = len(order)
    replicas = [order[first % brokers]]
    step = 0
    while len(replicas) < FACTOR:
        broker = order[(first + 1 + (shift + step) % (brokers - 1)) % brokers]
        step += 1
        if rack_of[broker] not in {rack_of[replica] for replica in replicas}:
            replicas.append(broker)
    return replicas


def _misplace(topics: Sequence[list[list[int]]], rack_of: Mapping[int, str]) -> None:
    """Move a follower of about 5 % of the partitions to the rack of the leader, in place."""
    random = Random(5)
    for lists in topics:
        for replicas in lists:
            if random.random() < 0.05:
                place = random.randrange(1, len(replicas))
                same_rack = [
                    broker for broker in rack_of if rack_of[broker] == rack_of[replicas[0]] and broker not in replicas
                ]
                replicas[place] = random.choice(same_rack)


def _topic(name: str, lists: list[list[int]], sizes: list[int], rates: list[float]) -> Topic:
    replicas, nothing = np.array(lists, np.int32), np.empty((len(lists), 0), np.int32)
    return Topic(
        name=name,
        partition_ids=np.arange(len(lists), dtype=np.int32),
        replicas=replicas,
        leaders=replicas[:, 0],
        isr=replicas,
        adding=nothing,
        removing=nothing,
        size_bytes=np.array(sizes, np.int64),
        ingress_bytes_per_s=np.array(rates, np.float64),
    )


@dataclass(frozen=True, slots=True)
class Figures:
    """Moved bytes of a placement, and the largest and the smallest load of the remaining brokers, over their mean."""

    moved_replicas: int
    moved_bytes: int
    leader_changes: int
    replicas: tuple[float, float]
    leaders: tuple[float, float]
    bytes: tuple[float, float]
    rack_violations: int


def evaluate(
    before: Cluster,
    after: Mapping[str, Int32s],
    *,
    removed: Sequence[int] = (),
    added: Mapping[int, str] = {},
) -> Figures:
    """Measure any planner's placement; topics that are not in it stay.

    Parameters
    ----------
    after : by topic (partitions, width) int32 broker ids, padded with `NO_REPLICA`.
    """
    rack_of = {broker.id: broker.rack for broker in before.brokers} | dict(added)
    ids = np.array(sorted(rack_of), np.int32)
    left = ~np.isin(ids, removed)
    racks = np.array([sorted(map(str, set(rack_of.values()))).index(str(rack_of[int(broker)])) for broker in ids])
    spans = len(set(racks[left].tolist()))
    moved = moved_bytes = changes = violations = 0
    loads = _Loads(len(ids))
    for topic in before.topics:
        lists = after.get(topic.name, topic.replicas)
        there = lists != NO_REPLICA
        is_new = there & ~(lists[:, :, None] == topic.replicas[:, None, :]).any(axis=2)
        moved += int(is_new.sum())
        moved_bytes += int((is_new.sum(axis=1) * topic.size_bytes).sum())
        changes += int((lists[:, 0] != topic.replicas[:, 0]).sum())
        at = np.where(there, np.searchsorted(ids, lists), NO_REPLICA).astype(np.int32)
        of_racks = np.where(there, racks[at], NO_REPLICA)
        distinct = np.array([len(set(row) - {NO_REPLICA}) for row in of_racks.tolist()])
        violations += int((distinct < np.minimum(there.sum(axis=1), spans)).sum())
        loads.add(at, topic.size_bytes)
    return Figures(
        moved,
        moved_bytes,
        changes,
        _spread(loads.replicas[left]),
        _spread(loads.leaders[left]),
        _spread(loads.bytes[left]),
        violations,
    )


@dataclass(slots=True)
class _Loads:
    brokers: int
    replicas: Int64s = field(init=False)
    leaders: Int64s = field(init=False)
    bytes: Int64s = field(init=False)

    def __post_init__(self) -> None:
        self.replicas, self.leaders, self.bytes = (np.zeros(self.brokers, np.int64) for _ in range(3))

    def add(self, at: Int32s, size_bytes: Int64s) -> None:
        self.replicas += per_broker(at, self.brokers)
        self.leaders += per_broker(np.ascontiguousarray(at[:, :1]), self.brokers)
        self.bytes += per_broker(at, self.brokers, size_bytes)


def _spread(loads: Int64s | Float64s) -> tuple[float, float]:
    mean = float(loads.mean())
    return round(float(loads.max()) / mean, 3), round(float(loads.min()) / mean, 3)
