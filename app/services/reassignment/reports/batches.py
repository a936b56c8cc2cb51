"""The batches of a reassignment, their order of execution, and every step as the answer stores it."""

from base64 import b64encode
from dataclasses import fields
from zlib import compress

import numpy as np

from app.core.model import NO_REPLICA, Int32s, Int64s
from app.core.reassignment import Batches, ExecutionStep
from app.errors import Json
from app.services.reassignment.planning.solution import Executions, ReassignmentSolution
from app.services.reassignment.problem.problem import ReassignmentProblem
from app.services.reassignment.reports.log_dirs import batch_json as log_dirs_of_batch
from app.services.reassignment.reports.log_dirs import step_log_dirs

NAMED_PARTITIONS = 100
"""How many partitions of a batch are named; it counts them all, and its file has them all."""


def batch_json(problem: ReassignmentProblem, steps: Batches, number: int) -> dict[str, Json]:
    """One batch, counted from 0: its partitions and what it moves."""
    where = steps.steps(number)
    scope, rows = problem.scope, steps.rows[where]
    named = rows[:NAMED_PARTITIONS]
    names = (scope.topics[topic] for topic in scope.topic_of[named].tolist())
    partitions: list[Json] = [
        {"topic": topic, "partition": partition}
        for topic, partition in zip(names, scope.partition_ids[named].tolist(), strict=True)
    ]
    return {
        "partitions": partitions,
        "count": len(rows),
        "moves_data": bool(steps.moves_data[number]),
        "moved_replicas": int(steps.moved_replicas[number]),
        "moved_bytes": int(steps.moved_bytes[number]),
        "unknown_size_replicas": int(steps.unknown_sizes[number]),
        "max_bytes_in": int(steps.max_bytes_in[number]),
        **log_dirs_of_batch(problem, steps, number),
    }


def execution_json(executions: Executions) -> dict[str, Json]:
    """The orders of execution, by name."""
    return {
        each.name: [execution_step_json(step) for step in getattr(executions, each.name)] for each in fields(executions)
    }


def execution_step_json(step: ExecutionStep) -> dict[str, Json]:
    """One step of an execution; batches are numbered from 1."""
    number = None if step.batch is None else step.batch + 1  # as its files are numbered
    return {"action": step.action.value, "batch": number, "brokers": list(step.brokers)}


def steps_json(problem: ReassignmentProblem, steps: Batches) -> dict[str, Json]:
    """Every step of every batch as the answer stores it: int32 arrays, zlib, base64; exports.py reads them."""
    scope, ids = problem.scope, np.append(problem.brokers.ids, np.int32(NO_REPLICA))
    return {
        "topics": scope.topics,
        "width": int(steps.before.shape[1]),
        "waiting": steps.waiting,
        "offsets": steps.offsets.tolist(),
        "topic_of": _packed(scope.topic_of[steps.rows]),
        "partition_ids": _packed(scope.partition_ids[steps.rows]),
        "before": _packed(ids[steps.before]),
        "after": _packed(ids[steps.after]),
    }


def packed_log_dirs(problem: ReassignmentProblem, solution: ReassignmentSolution) -> dict[str, Json]:
    """The log directories of all steps, if files name some."""
    found = step_log_dirs(problem, solution)
    if not found:
        return {}
    return {"log_dirs": {name: each if name == "paths" else _packed(each) for name, each in found.items()}}


def _packed(numbers: Int32s | Int64s) -> str:
    # The fastest level: even a million steps shrink to a few percent.
    return b64encode(compress(np.ascontiguousarray(numbers, "<i4").tobytes(), 1)).decode()
