"""The verifier: every way in which an assignment of tasks, however it was made, is illegal or fragile."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from app.core.jvm.hashes import TaskId
from app.core.model import Int64s
from app.core.streams.model import Bools, StreamsAssignment, StreamsClient, StreamsOptions, StreamsTasks

NAMED_TASKS = 100
"""The largest number of tasks that a violation names; it counts all."""


@dataclass(frozen=True, slots=True)
class TaskViolation:
    """One violation of an assignment.

    Parameters
    ----------
    code : stable.
    severity : `illegal`: a task runs on no client or on two, or has a forbidden copy. `fragile`: legal, few copies.
    count : all tasks that are concerned.
    tasks : the first `NAMED_TASKS` of them, by id.
    detail : a sentence with numbers.
    """

    code: str
    severity: str
    count: int
    tasks: tuple[TaskId, ...]
    detail: str


def violations(
    assignment: StreamsAssignment, clients: Sequence[StreamsClient], tasks: StreamsTasks, options: StreamsOptions
) -> list[TaskViolation]:
    """List every violation of an assignment.

    Parameters
    ----------
    assignment : of any clients and tasks.
    clients, tasks, options : the application that it is verified against.

    Returns
    -------
    Empty if every task is active on one known client; no client has two copies of a task; standbys are of stateful
    tasks and, warm-ups aside, as many as requested or as there are other clients; warm-ups are standbys, and not more
    at a time than allowed. The violation for too many warm-ups names no task.

    Source: KIP-441.
    """
    known = {client.process_id for client in clients}
    is_unknown_client = np.array([process_id not in known for process_id in assignment.process_ids], np.bool_)
    ids, stateful = set(tasks.ids) | set(tasks.stateful), set(tasks.stateful)
    unknown = np.array([task not in ids for task in assignment.task_ids], np.bool_)
    has_state = np.array([task in stateful for task in assignment.task_ids], np.bool_)
    active, standby, warmup = assignment.active, assignment.standby, assignment.warmup
    has_copy = active | standby | warmup
    on_unknown_client: Bools = has_copy[is_unknown_client].sum(axis=0) > 0
    beside_active: Bools = (active & standby).sum(axis=0) > 0
    warmup_only: Bools = (warmup & ~standby).sum(axis=0) > 0
    n_copies: Int64s = has_copy.sum(axis=0)
    n_standbys: Int64s = standby.sum(axis=0)
    copies: Int64s = (standby & ~warmup).sum(axis=0)
    requested = max(min(options.num_standby_replicas, len(known) - 1), 0)
    times: Int64s = active.sum(axis=0)
    rules = (
        ("unknown_client", "illegal", on_unknown_client, "are on a client that is not of the application"),
        ("unknown_task", "illegal", (n_copies > 0) & unknown, "are not tasks of the application"),
        ("not_active", "illegal", (times == 0) & ~unknown, "run nowhere"),
        ("doubly_active", "illegal", times > 1, "run more than once"),
        ("beside_active", "illegal", beside_active, "have a standby on the client that runs them"),
        ("stateless_standby", "illegal", (n_standbys > 0) & ~has_state & ~unknown, "have a standby and no state"),
        ("not_a_standby", "illegal", warmup_only, "warm up where they have no standby"),
        (
            "too_many_standbys",
            "illegal",
            copies > max(options.num_standby_replicas, 0),
            "have more standbys than requested",
        ),
        (
            "too_few_standbys",
            "fragile",
            (copies < requested) & has_state,
            "have fewer standbys than requested and possible",
        ),
    )
    result = [
        _violation(assignment, code, severity, rows, predicate)
        for code, severity, rows, predicate in rules
        if np.any(rows)
    ]
    result += _missing(assignment, ids)
    n_warmups = int(warmup.sum())
    if n_warmups > options.max_warmup_replicas:
        detail = f"{n_warmups} warm-ups at a time, where {options.max_warmup_replicas} are allowed"
        result.append(TaskViolation("too_many_warmups", "illegal", n_warmups, (), detail))
    return result


def _missing(assignment: StreamsAssignment, ids: set[TaskId]) -> list[TaskViolation]:
    """Tasks of the application that the assignment does not contain."""
    missing = sorted(ids - set(assignment.task_ids))
    if not missing:
        return []
    detail = f"{len(missing)} of {len(ids)} tasks are not in the assignment"
    return [TaskViolation("not_assigned", "illegal", len(missing), tuple(missing[:NAMED_TASKS]), detail)]


def _violation(assignment: StreamsAssignment, code: str, severity: str, rows: Bools, predicate: str) -> TaskViolation:
    concerned = sorted(assignment.ids(rows))
    detail = f"{len(concerned)} of {len(assignment.task_ids)} tasks {predicate}"
    return TaskViolation(code, severity, len(concerned), tuple(concerned[:NAMED_TASKS]), detail)
