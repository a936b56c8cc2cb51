"""The verifier: say every way in which an assignment of tasks, made by anyone, is illegal or fragile."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from app.core.jvm.hashes import TaskId
from app.core.model import Int64s
from app.core.streams.model import Bools, StreamsAssignment, StreamsClient, StreamsOptions, StreamsTasks

NAMED_TASKS = 100
"""How many tasks a violation names; it counts them all."""


@dataclass(frozen=True, slots=True)
class TaskViolation:
    """One way in which an assignment is wrong. `tasks` names the first `NAMED_TASKS` by id, `count` counts all."""

    code: str
    severity: str
    """`illegal`: a task runs nowhere or twice, or a copy is where it must not be. `fragile`: legal, with few copies."""
    count: int
    tasks: tuple[TaskId, ...]
    detail: str


def violations(
    assignment: StreamsAssignment, clients: Sequence[StreamsClient], tasks: StreamsTasks, options: StreamsOptions
) -> list[TaskViolation]:
    """Say every way in which an assignment is not one that the application could have.

    Parameters
    ----------
    assignment : whose clients and tasks may be any; clients, tasks, options : those that it has to fit.

    Returns
    -------
    Empty where every task is active on one known client; no client has two copies of a task; standbys are of stateful
    tasks and, warm-ups aside, as many as were asked for or as there are other clients; warm-ups are standbys, and no
    more at a time than allowed. What has more warm-ups than that names no task.

    Source: KIP-441.
    """
    known = {client.process_id for client in clients}
    strangers = np.array([process_id not in known for process_id in assignment.process_ids], np.bool_)
    ids, stateful = set(tasks.ids) | set(tasks.stateful), set(tasks.stateful)
    unknown = np.array([task not in ids for task in assignment.task_ids], np.bool_)
    has_state = np.array([task in stateful for task in assignment.task_ids], np.bool_)
    active, standby, warmup = assignment.active, assignment.standby, assignment.warmup
    held = active | standby | warmup
    on_strangers: Bools = held[strangers].sum(axis=0) > 0
    beside: Bools = (active & standby).sum(axis=0) > 0
    cold: Bools = (warmup & ~standby).sum(axis=0) > 0
    n_held: Int64s = held.sum(axis=0)
    n_standbys: Int64s = standby.sum(axis=0)
    copies: Int64s = (standby & ~warmup).sum(axis=0)
    wanted = max(min(options.num_standby_replicas, len(known) - 1), 0)
    times: Int64s = active.sum(axis=0)
    rules = (
        ("unknown_client", "illegal", on_strangers, "are on a client that is not of the application"),
        ("unknown_task", "illegal", (n_held > 0) & unknown, "are not tasks of the application"),
        ("not_active", "illegal", (times == 0) & ~unknown, "run nowhere"),
        ("doubly_active", "illegal", times > 1, "run more than once"),
        ("beside_active", "illegal", beside, "have a standby on the client that runs them"),
        ("stateless_standby", "illegal", (n_standbys > 0) & ~has_state & ~unknown, "have a standby and no state"),
        ("not_a_standby", "illegal", cold, "warm up where they have no standby"),
        (
            "too_many_standbys",
            "illegal",
            copies > max(options.num_standby_replicas, 0),
            "have more standbys than asked",
        ),
        ("too_few_standbys", "fragile", (copies < wanted) & has_state, "have fewer standbys than asked and possible"),
    )
    found = [_violation(assignment, code, severity, rows, what) for code, severity, rows, what in rules if np.any(rows)]
    found += _missing(assignment, ids)
    n_warmups = int(warmup.sum())
    if n_warmups > options.max_warmup_replicas:
        detail = f"{n_warmups} warm-ups at a time, where {options.max_warmup_replicas} are allowed"
        found.append(TaskViolation("too_many_warmups", "illegal", n_warmups, (), detail))
    return found


def _missing(assignment: StreamsAssignment, ids: set[TaskId]) -> list[TaskViolation]:
    """Tasks that the assignment does not know run nowhere."""
    missing = sorted(ids - set(assignment.task_ids))
    if not missing:
        return []
    detail = f"{len(missing)} of {len(ids)} tasks are not in the assignment"
    return [TaskViolation("not_assigned", "illegal", len(missing), tuple(missing[:NAMED_TASKS]), detail)]


def _violation(assignment: StreamsAssignment, code: str, severity: str, rows: Bools, what: str) -> TaskViolation:
    named = sorted(assignment.task_ids[row] for row in np.flatnonzero(rows).tolist())
    detail = f"{len(named)} of {len(assignment.task_ids)} tasks {what}"
    return TaskViolation(code, severity, len(named), tuple(named[:NAMED_TASKS]), detail)
