"""Replicas balanced per topic: the solver alone, beside what any answer has to do: count every topic on every broker.

Three brokers are removed from the clusters of `reassignments`, whose topics are balanced, or join topics of very
different sizes of which most brokers have too many or too few. The cluster and each topic are `tight`.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import partial

import numpy as np

from app.core.reassignment.domains import PartitionKind, RackRule, find_domains
from app.core.reassignment.model import TIGHT, MovementProblem, ReplicaPlacement
from app.core.reassignment.solvers.flow.per_topic import TopicBalance, balance_topics
from benchmarks.measure import Floor, Result, interleaved
from benchmarks.reassignments import BROKERS

RACKS, REMOVED = 3, 3


@dataclass(frozen=True, slots=True)
class TopicCase:
    """So many partitions and topics, and how often that is measured."""

    partitions: int
    topics: int
    target_ms: float
    runs: int = 3


CASES = (
    TopicCase(100_000, 1_000, target_ms=5_000),
    TopicCase(1_000_000, 5_000, target_ms=60_000, runs=1),
)


def run() -> Iterator[Result]:
    """Measure every case; what its answer proves is printed beside its time."""
    for case in CASES:
        problem, topics = problem_of(case.partitions, case.topics)
        placement = balance_topics(problem, TIGHT, topics)
        times = interleaved(
            {
                "balance": partial(balance_topics, problem, TIGHT, topics),
                "count": partial(topics.excess, problem, placement.replicas),
            },
            runs=case.runs,
            warm_ups=0,
        )
        yield Result(
            "per_topic",
            {"partitions": case.partitions, "topics": case.topics, "brokers": BROKERS, "removed": REMOVED},
            times["balance"],
            Floor("counting topics on brokers", times["count"]),
            target_ms=case.target_ms,
            facts=_proof(placement),
        )


def _proof(placement: ReplicaPlacement) -> dict[str, int | float | None]:
    certificate = placement.certificate
    return {"moved_bytes": placement.moved, "gap": certificate.gap, "excess": placement.topic_excess}


def problem_of(partitions: int, topics: int) -> tuple[MovementProblem, TopicBalance]:
    """Topics of Pareto sizes in three racks; a fifth of the brokers has joined late, and three are removed."""
    random = np.random.default_rng(1)
    shares = random.pareto(1.1, topics) + 1
    counts = np.maximum(1, (partitions * shares / shares.sum()).astype(np.int64))
    counts[int(counts.argmax())] += partitions - int(counts.sum())
    topic_of = np.repeat(np.arange(topics), counts)
    by_rack = np.arange(BROKERS).reshape(-1, RACKS)
    early = np.where(np.arange(topics) < topics * 7 // 10, len(by_rack) * 4 // 5, len(by_rack))[topic_of]
    nth = np.arange(partitions) - np.repeat(np.cumsum(counts) - counts, counts)
    shift = random.integers(0, len(by_rack), (topics, RACKS))[topic_of]
    current = by_rack[(nth[:, None] + shift) % early[:, None], np.arange(RACKS)].astype(np.int32)
    current = np.take_along_axis(current, (nth[:, None] + np.arange(RACKS)) % RACKS, axis=1)
    stays = np.arange(BROKERS) >= REMOVED
    rack_of = (np.arange(BROKERS) % RACKS).astype(np.int32)
    kinds = [PartitionKind(RACKS, stays, stays, repairs=True)]
    domains, domain_of = find_domains(kinds, np.zeros(partitions, np.int32), current, rack_of, RackRule(RACKS))
    size_bytes = random.lognormal(20, 1.8, topics)[topic_of] * random.lognormal(0, 0.6, partitions)
    problem = MovementProblem(
        broker_ids=np.arange(BROKERS, dtype=np.int32),
        rack_of=rack_of,
        target=stays,
        base=np.zeros(BROKERS, np.int64),
        domains=domains,
        domain_of=domain_of,
        current=current,
        is_copied=np.zeros(current.shape, np.bool_),
        must_keep=np.full(partitions, -1, np.int32),
        weight=size_bytes.astype(np.int64) + 1,
    )
    return problem, TopicBalance(topic_of, topics, [Fraction(0)] * topics)
