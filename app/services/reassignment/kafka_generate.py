"""What Kafka's own tool would move for the same topics and brokers, as a comparison in every plan."""

from dataclasses import dataclass, field
from itertools import pairwise

import numpy as np

from app.core.kafka_versions import KafkaVersion
from app.core.model import Int64s
from app.core.replicas.generate_movement import STRIPED_SINCE, CurrentTopic, movement_by_seed
from app.errors import Failure, Json
from app.services.reassignment.problem.brokers import BrokerTable
from app.services.reassignment.problem.scope import PartitionScope

SEEDS = 20
"""The runs of the tool of a small cluster; fewer of a larger one."""
FEWEST_SEEDS = 3
MOST_PARTITIONS = 50_000
"""The tool is not compared beyond this, which takes about half a second."""
_WORK = 600_000
_WORK_OF_A_TOPIC = 100
"""Placing a topic takes as long as so many partitions of it, beside its own."""


@dataclass(frozen=True, slots=True, eq=False)
class GeneratedMovement:
    """The movement of several runs of `kafka-reassign-partitions --generate`.

    Parameters
    ----------
    algorithm : the placement algorithm of the release, as `/v1/plans/replicas` has it.
    moved_replicas, moved_bytes : (runs,) int64; empty if nothing was compared, for the reason `left_out`.
    """

    algorithm: str
    moved_replicas: Int64s = field(default_factory=lambda: np.zeros(0, np.int64), repr=False)
    moved_bytes: Int64s = field(default_factory=lambda: np.zeros(0, np.int64), repr=False)
    left_out: str | None = None

    def as_json(self) -> dict[str, Json]:
        """The document of the API."""
        return {
            "algorithm": self.algorithm,
            "seeds": len(self.moved_replicas),
            "moved_replicas": _range(self.moved_replicas),
            "moved_bytes": _range(self.moved_bytes),
            "left_out": self.left_out,
        }


def generated_movement(
    brokers: BrokerTable, scope: PartitionScope, size_bytes: Int64s, *, version: KafkaVersion
) -> GeneratedMovement:
    """Run the tool for the partitions of the scope that exist, on the brokers that may receive replicas.

    The tool knows no other change: replication factors stay, and new partitions are none of its topics. The seeds are
    the same in every plan, so that plans for the same topics and brokers are compared with the same runs.

    Parameters
    ----------
    size_bytes : (rows,) int64 bytes of one replica, 0 if unknown.
    """
    algorithm = "striped" if version >= STRIPED_SINCE else "admin_utils"
    partitions = int(np.count_nonzero(~scope.is_new))
    runs = min(SEEDS, _WORK // max(partitions + _WORK_OF_A_TOPIC * len(scope.topics), 1))
    if partitions > MOST_PARTITIONS or runs < FEWEST_SEEDS:
        reason = f"{partitions} partitions of {len(scope.topics)} topics take too long to place {FEWEST_SEEDS} times"
        return GeneratedMovement(algorithm, left_out=reason)
    rows = {
        name: np.flatnonzero(~scope.is_new[start:stop]) + start
        for name, (start, stop) in zip(scope.topics, pairwise(scope.starts.tolist()), strict=True)
    }
    topics = {name: CurrentTopic(scope.before[of], size_bytes[of]) for name, of in rows.items() if len(of)}
    if not topics:
        return GeneratedMovement(algorithm, left_out="no partition may move")
    listed = [broker for broker, receives in zip(brokers.known, brokers.may_receive.tolist(), strict=True) if receives]
    # Not 0, 1, 2 …: consecutive seeds have similar first draws in java.util.Random.
    seeds = (np.random.SeedSequence(0).generate_state(runs, np.uint64) >> 16).tolist()
    try:
        moved = movement_by_seed(listed, topics, seeds, version=version, is_rack_aware=bool(brokers.racks))
    except Failure as failure:
        return GeneratedMovement(algorithm, left_out=f"the tool rejects it: {failure.detail}")
    return GeneratedMovement(algorithm, *moved)


def _range(moved: Int64s) -> Json:
    if not len(moved):
        return None
    # The lower one of two in the middle, so that it is the figure of a run.
    return {"min": int(moved.min()), "median": int(np.sort(moved)[(len(moved) - 1) // 2]), "max": int(moved.max())}
