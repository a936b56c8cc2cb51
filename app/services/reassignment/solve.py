"""Plan the problem of a request, and look up the supplements of its report."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import pairwise
from time import monotonic
from typing import Literal, cast

import numpy as np

from app.core.kafka_versions import KafkaVersion
from app.core.measures.tally import Tally
from app.core.measures.violations import Violation, violations
from app.core.model import Int64s
from app.core.reassignment.batches.model import Batches
from app.core.reassignment.model import KEEP
from app.core.reassignment.plan import Moves, Plan, bytes_bound, plan
from app.core.reassignment.problem import Infeasible
from app.core.reassignment.solvers.flow.per_topic import TooManyPairs
from app.core.reassignment.stages.resources import limits_are_infeasible
from app.core.replicas.generate_movement import STRIPED_SINCE, CurrentTopic, movement_by_seed
from app.errors import every as errors
from app.services.bodies import AnswerRecord
from app.services.reassignment.failures import failure_of, relaxations_of
from app.services.reassignment.problem.brokers import BrokerTable
from app.services.reassignment.problem.problem import Option, ReassignmentProblem, Relaxation, explained, tally_of
from app.services.reassignment.problem.resources import Rebalances, rebalances_of
from app.services.reassignment.problem.scope import PartitionScope

SEEDS = 20
"""The runs of the tool of a small cluster; fewer of a larger one."""
FEWEST_SEEDS = 3
MOST_PARTITIONS = 50_000
"""The tool is not compared beyond this, which takes about half a second."""
_WORK = 600_000
_WORK_OF_A_TOPIC = 100
"""Time to place a topic of no partitions, in partitions."""


class MovementRange(AnswerRecord):
    """The movement of several runs; the median is one run's."""

    min: int
    """Smallest amount of a run."""
    median: int
    """Amount of the median run."""
    max: int
    """Largest amount of a run."""


class GeneratedMovement(AnswerRecord, schema="KafkaGenerateDocument"):
    """Movement by `kafka-reassign-partitions --generate` of the release for the same topics on the brokers that may
    receive replicas. It draws a random seed; the runs have the same seeds in every plan.
    """

    algorithm: Literal["striped", "admin_utils"]
    """`striped` since 4.1, `admin_utils` before."""
    seeds: int
    """The number of runs: 20, fewer of a large cluster."""
    moved_replicas: MovementRange | None
    """Number of replicas that the runs move; null if there is no comparison."""
    moved_bytes: MovementRange | None
    """Bytes that the runs move, of replicas of known size; null if there is no comparison."""
    left_out: str | None
    """Why there is no comparison; null if there is one."""


def generated_movement(
    brokers: BrokerTable, scope: PartitionScope, size_bytes: Int64s, *, version: KafkaVersion
) -> GeneratedMovement:
    """Run the tool for the partitions of the scope that exist, on the brokers that may receive replicas.

    The tool knows no other change: replication factors stay, and new partitions are none of its topics. The seeds are
    the same in every plan, so that plans for the same topics and brokers are compared with the same runs.

    Parameters
    ----------
    size_bytes : (rows,) int64 bytes that a new replica copies, 0 if unknown.
    """
    algorithm: Literal["striped", "admin_utils"] = "striped" if version >= STRIPED_SINCE else "admin_utils"
    partitions = int(np.count_nonzero(~scope.is_new))
    runs = min(SEEDS, _WORK // max(partitions + _WORK_OF_A_TOPIC * len(scope.topics), 1))
    if partitions > MOST_PARTITIONS or runs < FEWEST_SEEDS:
        reason = f"{partitions} partitions of {len(scope.topics)} topics take too long to place {FEWEST_SEEDS} times"
        return GeneratedMovement(algorithm, 0, None, None, reason)
    rows = {
        name: np.flatnonzero(~scope.is_new[start:stop]) + start
        for name, (start, stop) in zip(scope.topics, pairwise(scope.starts.tolist()), strict=True)
    }
    topics = {name: CurrentTopic(scope.before[of], size_bytes[of]) for name, of in rows.items() if len(of)}
    if not topics:
        return GeneratedMovement(algorithm, 0, None, None, "no partition may move")
    listed = [broker for broker, receives in zip(brokers.known, brokers.may_receive.tolist(), strict=True) if receives]
    # Not 0, 1, 2 …: consecutive seeds have similar first draws in java.util.Random.
    seeds = (np.random.SeedSequence(0).generate_state(runs, np.uint64) >> 16).tolist()
    try:
        moved = movement_by_seed(listed, topics, seeds, version=version, is_rack_aware=bool(brokers.racks))
    except errors.Failure as failure:
        return GeneratedMovement(algorithm, 0, None, None, f"the tool rejects it: {failure.detail}")
    replicas, size = map(_range, moved)
    return GeneratedMovement(algorithm, runs, replicas, size, None)


def _range(moved: Int64s) -> MovementRange:
    # The lower one of two in the middle, so that it is the figure of a run.
    return MovementRange(int(moved.min()), int(np.sort(moved)[(len(moved) - 1) // 2]), int(moved.max()))


@dataclass(frozen=True, slots=True, eq=False)
class ReassignmentSolution(Plan):
    """The plan of a problem, with supplements for its report.

    Parameters
    ----------
    relaxed : all relaxed constraints.
    generated : movement by Kafka's own tool. rebalances : the groups that rebalance.
    tally, tally_before : the scope's partitions with the plan, and before it.
    violations : of the partitions with the plan, by topic.
    """

    steps: Batches
    relaxed: tuple[Relaxation, ...]
    generated: GeneratedMovement
    rebalances: Rebalances
    tally: Tally
    tally_before: Tally
    seconds: float
    violations: Sequence[Violation]


def solve(problem: ReassignmentProblem) -> ReassignmentSolution:
    """Place replicas, choose leaders, and cut the moves into batches. Raises as the planner's `solve` does."""
    try:
        found = planned(problem, in_batches=True)
    except (errors.NotFeasible, errors.BudgetBelowMinimum) as refused:
        raise explained(refused, problem.options(), partial(_attempt, problem, refused)) from None
    if found.steps is None:
        raise RuntimeError("the moves are not cut into batches")
    scope, tally = problem.scope, tally_of(problem, problem.as_ids(found.leaders.after))
    return ReassignmentSolution(
        **{name: getattr(found, name) for name in Plan.__dataclass_fields__},
        relaxed=relaxed_by(problem, found),
        generated=generated_movement(problem.brokers, scope, problem.sizes.copied_bytes, version=problem.version),
        rebalances=rebalances_of(problem.subscriptions, problem.brokers, scope, found.steps),
        tally=tally,
        tally_before=tally_of(problem, scope.before, is_before=True),
        seconds=monotonic() - problem.started_s,
        violations=violations(tally, problem.in_rack),
    )


def planned(problem: ReassignmentProblem, *, in_batches: bool = False) -> Plan:
    """The plan of a problem, whose failures name partitions, brokers and fields of the request.

    Raises `BudgetBelowMinimum`, `NotFeasible`, `NoLogDirLeft`, `LogDirsTooSmall` unless conflicts are relaxed,
    `LimitExceeded`, and `MoveExceedsBatchLimit`, `BatchesOutOfDisk` with the partition.
    """
    try:
        return plan(problem, in_batches=in_batches)
    except Infeasible as conflict:
        raise failure_of(problem, conflict) from None
    except TooManyPairs as large:
        raise errors.LimitExceeded(
            f"partitions with several replicas in a rack have {large.pairs} pairs of a partition and a broker there; "
            f"balance.per_topic is solved with up to {large.limit}",
            path=("balance", "per_topic"),
            value=large.pairs,
            limit=large.limit,
        ) from None
    except (errors.MoveExceedsBatchLimit, errors.BatchesOutOfDisk) as failure:
        # The core knows rows; a caller knows partitions.
        context = {name: value for name, value in failure.context.items() if name != "row"}
        partition = problem.scope.name(cast("int", failure.context["row"]))
        detail = f"{partition}: {failure.detail}"
        path = failure.path if isinstance(failure, errors.MoveExceedsBatchLimit) else problem.disk_path
        raise type(failure)(detail, path=path, partition=partition, **context) from None


def relaxed_by(problem: ReassignmentProblem, found: Plan) -> tuple[Relaxation, ...]:
    """All relaxed constraints, of the problem and of its plan."""
    return (*problem.relaxed, *(each for conflict in found.conflicts for each in relaxations_of(problem, conflict)))


def least_repair(problem: ReassignmentProblem) -> tuple[int, int, int]:
    """Bytes and replicas that the problem moves at least, and the lower bound on the bytes. Raises as `planned`."""
    placement = planned(problem).placement
    copied = Moves.of(problem, placement.replicas).is_copied.sum(axis=1)
    moved_bytes = int((copied * problem.sizes.copied_bytes).sum())
    return moved_bytes, int(copied.sum()), bytes_bound(problem, placement, moved_bytes)


def _attempt(problem: ReassignmentProblem, refused: errors.Failure, dropped: Sequence[Option]) -> None:
    """Plan a refused problem without some options, as far as that decides whether it is refused.

    Raises as `resolve` and `planned` do.
    """
    left = problem.without(dropped)
    if "required" in refused.context:  # limits that are proven to conflict
        if limits_are_infeasible(left):
            raise errors.NotFeasible("no placement is within the limits")
        if left.leaders.minimums is None and not left.leaders.evacuates:  # nothing else refuses it
            return
    if isinstance(refused, errors.BudgetBelowMinimum):  # no balance decides it
        objective = None if left.objective is None else replace(left.objective, priorities=())
        left = replace(left, objective=objective, replicas=replace(left.replicas, balance=KEEP))
    planned(left)
