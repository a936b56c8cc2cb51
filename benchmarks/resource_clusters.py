"""Clusters of the shapes of Cruise Control's RandomCluster tests, as problems of several resources.

Topics have popularity and replicas have loads by a distribution: uniform, linear or exponential. Replicas are on random
brokers, racks ignored, so that many partitions have two replicas in one rack. One broker has half of the disk, and
150,000 in and out. Loads are in thousandths of the units of capacity, so that they are integers.
"""

from dataclasses import dataclass, replace

import numpy as np

from app.core.model import Int64s
from app.core.reassignment.model import Domain, MovementProblem
from app.core.reassignment.resource_problem import NO_LIMIT, RESOURCES, Limits, ResourceLoads, ResourceProblem

UNIT = 1_000
CAPACITY = (300_000, 300_000, 200_000, 100)
"""Disk, NIC in, NIC out, CPU of a broker."""
WEAK = (150_000, 150_000, 150_000, 100)
"""Of the one smaller broker."""
MEANS = (100.0, 100.0, 100.0, 0.01)
"""Mean loads of a replica (of a leader: NIC out)."""
THRESHOLD = 0.8
"""Of the capacity that may be used."""
ROWS_AT_ONCE = 1 << 16
"""Partitions whose brokers are chosen at once, so that millions of them need no matrix of gigabytes."""


@dataclass(frozen=True, slots=True)
class Shape:
    """A cluster.

    Parameters
    ----------
    distribution : of popularity, of loads and of replicas over brokers. new, dead : brokers that have no replicas yet,
        and that have to lose theirs.
    """

    brokers: int = 40
    racks: int = 10
    topics: int = 3_000
    replicas: int = 50_001
    factor: int = 3
    distribution: str = "exponential"
    new: int = 0
    dead: int = 0
    seed: int = 1


def problem_of(shape: Shape, *, limited: bool = True) -> ResourceProblem:
    """The problem of a cluster: rack-safe, dead brokers emptied, loads below `THRESHOLD` of the capacity if limited."""
    random = np.random.default_rng(shape.seed)
    rows = shape.replicas // shape.factor
    topic_of = _topics(shape, rows, random)
    old = shape.brokers
    brokers = old + shape.new
    current = _replicas(shape, rows, old, random)
    follower = np.zeros((rows, len(RESOURCES)), np.int64)
    for column in (0, 1, 3):
        follower[:, column] = _loads(shape, rows, random) * MEANS[column] * UNIT
    follower[:, 4] = 1
    leader = follower.copy()
    leader[:, 2] = _loads(shape, rows, random) * MEANS[2] * UNIT
    leader[:, 3] *= 2
    leader[:, 5] = 1
    alive = np.arange(brokers) >= shape.dead
    rack_of = (np.arange(brokers) % shape.racks).astype(np.int32)
    safe = Domain(shape.factor, alive, alive, np.zeros(shape.racks, np.int64), np.full(shape.racks, _most(shape)))
    movement = MovementProblem(
        broker_ids=np.arange(brokers, dtype=np.int32),
        rack_of=rack_of,
        target=alive,
        base=np.zeros(brokers, np.int64),
        domains=(safe,),
        domain_of=np.zeros(rows, np.int32),
        current=current,
        is_copied=np.zeros(current.shape, np.bool_),
        must_keep=np.full(rows, -1, np.int32),
        weight=follower[:, 0].copy(),
    )
    capacity = np.zeros((brokers, len(RESOURCES)), np.int64)
    capacity[:, :4] = np.array(CAPACITY) * UNIT
    capacity[-1 - shape.new, :4] = np.array(WEAK) * UNIT
    loads = ResourceLoads(leader, follower, np.zeros((brokers, len(RESOURCES)), np.int64), capacity)
    upper = np.where(capacity > 0, (capacity * THRESHOLD).astype(np.int64), NO_LIMIT)
    limits = Limits(upper, np.zeros(len(RESOURCES), np.bool_)) if limited else Limits.none(brokers)
    return ResourceProblem(movement, loads, limits, current[:, 0].copy(), alive, topic_of)


def without_racks(problem: ResourceProblem) -> ResourceProblem:
    """The same with racks ignored: only dead brokers force moves."""
    movement = problem.movement
    domain = movement.domains[0]
    free = replace(domain, least=np.zeros(1, np.int64), most=np.full(1, domain.factor))
    return replace(problem, movement=replace(movement, domains=(free,), rack_of=np.zeros_like(movement.rack_of)))


def _most(shape: Shape) -> int:
    return -(-shape.factor // shape.racks)


def _loads(shape: Shape, count: int, random: np.random.Generator) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    """Loads of mean 1."""
    if shape.distribution == "uniform":
        return random.uniform(0, 2, count)
    if shape.distribution == "linear":
        return 2 * (np.arange(count)[random.permutation(count)] + 1) / count
    return random.exponential(1.0, count)


def _topics(shape: Shape, rows: int, random: np.random.Generator) -> np.ndarray[tuple[int], np.dtype[np.int32]]:
    weight = _loads(shape, shape.topics, random)
    sample = random.choice(shape.topics, rows, p=weight / weight.sum())
    return np.sort(sample).astype(np.int32)


def _replicas(
    shape: Shape, rows: int, brokers: int, random: np.random.Generator
) -> np.ndarray[tuple[int, int], np.dtype[np.int32]]:
    """Distinct brokers of each row, by weights of the distribution (Efraimidis and Spirakis)."""
    weight: Int64s | np.ndarray[tuple[int], np.dtype[np.float64]] = np.ones(brokers)
    if shape.distribution == "linear":
        weight = np.arange(1, brokers + 1) / brokers
    elif shape.distribution == "exponential":
        weight = np.exp(-2 * np.arange(brokers) / brokers)
    weight = random.permutation(weight)
    chosen = np.empty((rows, shape.factor), np.int32)
    for first in range(0, rows, ROWS_AT_ONCE):
        some = chosen[first : first + ROWS_AT_ONCE]
        keys = random.exponential(1.0, (len(some), brokers)) / weight
        some[:] = np.argsort(keys, axis=1)[:, : shape.factor]
    return chosen
