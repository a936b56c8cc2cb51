"""The report on an assignment of tasks; clients by name."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from app.core.jvm.hashes import TaskId
from app.core.model import Int64s
from app.core.streams.model import UNKNOWN_LAG, Bools, StreamsAssignment, StreamThread, listed_tasks, name_of
from app.core.streams.traffic import RackReads, client_traffic
from app.core.streams.verdicts import Loss, TaskVerdict, losses, tag_verdicts, task_verdicts
from app.services.streams import answers
from app.services.streams.sources import WHOLE_CHANGELOG, StreamsSource


def report(source: StreamsSource, assignment: StreamsAssignment) -> dict[str, Any]:
    """The fields of a plan that describe its assignment."""
    verdicts = task_verdicts(assignment, source.clients, source.tasks.stateful, source.options)
    lost = losses(assignment, source.clients, source.tasks.stateful, source.options)
    return {
        "assignment": tasks_of_clients(source.names, assignment),
        "probing_rebalance": assignment.probing_rebalance,
        "ideal": all(verdict.is_ideal for verdict in verdicts),
        "tasks": _tasks(source, assignment, verdicts),
        "tags": [
            answers.Tag.of(verdict, values=dict(verdict.values), enough=verdict.has_enough)
            for verdict in tag_verdicts(source.clients, source.options)
        ],
        "if_lost": {f"{loss.tag}={loss.value}": _loss(loss) for loss in lost if loss.tag is not None},
        "if_client_lost": {
            name: _loss(loss)
            for name, loss in zip(source.names, (verdict for verdict in lost if verdict.tag is None), strict=True)
        },
        "loads": _loads(source, assignment),
        "movement": _movement(source, assignment),
    }


def tasks_of_clients(names: Sequence[str], assignment: StreamsAssignment) -> dict[str, answers.ClientTasks]:
    """Tasks by client, named by `names`; `standby` has warm-ups, too, as in Kafka's message to a client."""
    return {
        name: answers.ClientTasks(
            active=_named(assignment, assignment.active[place]),
            standby=_named(assignment, assignment.standby[place]),
            warmup=_named(assignment, assignment.warmup[place]),
            members=_members_of(assignment.threads.get(assignment.process_ids[place])),
        )
        for place, name in enumerate(names)
    }


def _members_of(threads: Sequence[StreamThread] | None) -> dict[str, answers.MemberTasks] | None:
    """The tasks of the members of a streams group; None under the classic protocol."""
    if threads is None:
        return None
    return {
        thread.member_id: answers.MemberTasks([*map(name_of, thread.active)], [*map(name_of, thread.standby)])
        for thread in threads
    }


def _tasks(source: StreamsSource, assignment: StreamsAssignment, verdicts: Sequence[TaskVerdict]) -> list[answers.Task]:
    """By task id: its clients, and whether its copies are apart in every tag."""
    verdict_of = {verdict.task: verdict for verdict in verdicts}
    owners, standbys = _clients_of(assignment.active), _clients_of(assignment.standby & ~assignment.warmup)
    warmups = _clients_of(assignment.warmup)
    return [
        answers.Task(
            name_of(task),
            source.names[owners[row][0]] if owners[row] else None,
            [source.names[place] for place in standbys[row]],
            [source.names[place] for place in warmups[row]],
            task in verdict_of,
            **_verdict(verdict_of.get(task)),
        )
        for row, task in enumerate(assignment.task_ids)
    ]


def _clients_of(has_task: Bools) -> list[list[int]]:
    """The clients that hold each task, as listed."""
    tasks, clients = np.nonzero(has_task.T)
    bounds = np.searchsorted(tasks, np.arange(has_task.shape[1] + 1))
    return [clients[start:stop].tolist() for start, stop in zip(bounds[:-1].tolist(), bounds[1:].tolist(), strict=True)]


def _verdict(verdict: TaskVerdict | None) -> dict[str, Any]:
    if verdict is None:
        return {"ideal": None, "missing_standbys": 0, "repeated_tags": [], "shared": []}
    repeated = dict.fromkeys(shared_value.tag for shared_value in verdict.shared if shared_value.value is not None)
    return {
        "ideal": verdict.is_ideal,
        "missing_standbys": verdict.missing_standbys,
        "repeated_tags": list(repeated),
        "shared": [*map(answers.SharedValue.of, verdict.shared)],
    }


def _loss(loss: Loss) -> answers.Loss:
    lags = [lag if lag != UNKNOWN_LAG and lag < WHOLE_CHANGELOG else None for lag in loss.survivor_lag.tolist()]
    return answers.Loss(
        clients=loss.n_clients,
        without_survivor=[*map(name_of, loss.without_survivor)],
        promoted=[*map(answers.PromotedTask, map(name_of, loss.promoted), lags)],
        moved=[*map(name_of, loss.moved)],
    )


def _loads(source: StreamsSource, assignment: StreamsAssignment) -> answers.StreamsLoads:
    counts = {
        "active": assignment.active.sum(axis=1),
        "standby": (assignment.standby & ~assignment.warmup).sum(axis=1),
        "warmup": assignment.warmup.sum(axis=1),
    }
    traffic = None if source.partitions is None else client_traffic(assignment, source.clients, source.partitions)
    per_client = [
        answers.ClientLoad.of(
            client,
            process_id=name,
            client_tags=dict(client.client_tags),
            **{kind: int(numbers[place]) for kind, numbers in counts.items()},
            sources=None if traffic is None else _total([traffic[place].sources]),
            changelogs=None if traffic is None else _total([traffic[place].changelogs]),
        )
        for place, (name, client) in enumerate(zip(source.names, source.clients, strict=True))
    ]
    return answers.StreamsLoads(
        **{kind: _evenness(numbers) for kind, numbers in counts.items()},
        sources=None if traffic is None else _total([numbers.sources for numbers in traffic]),
        changelogs=None if traffic is None else _total([numbers.changelogs for numbers in traffic]),
        per_client=per_client,
    )


def _evenness(counts: Int64s) -> answers.Count:
    least, most = int(counts.min(initial=counts.max(initial=0))), int(counts.max(initial=0))
    return answers.Count(least, most, most - least, int(counts.sum()))


def _total(of_clients: Sequence[RackReads]) -> answers.Reads:
    columns = zip(*((reads.partitions, reads.crossing, reads.unknown) for reads in of_clients), strict=True)
    return answers.Reads(*(map(sum, columns) if of_clients else (0, 0, 0)))


def _movement(source: StreamsSource, assignment: StreamsAssignment) -> answers.TaskMovement:
    """Tasks that move, and the state that has to be copied for them."""
    was_active = listed_tasks(assignment.task_ids, (client.previous_active for client in source.clients))
    had = was_active | listed_tasks(assignment.task_ids, (client.previous_standby for client in source.clients))
    ran = was_active.any(axis=0)
    stays = (was_active & assignment.active).any(axis=0)
    [has_state] = listed_tasks(assignment.task_ids, [source.tasks.stateful])
    copied = (assignment.active | assignment.standby) & ~had & has_state
    times: Mapping[TaskId, int] = dict(zip(assignment.task_ids, copied.sum(axis=0).tolist(), strict=True))
    known = source.state_bytes
    return answers.TaskMovement(
        active_kept=int(np.count_nonzero(stays)),
        active_moved=int(np.count_nonzero(ran & ~stays)),
        active_started=int(np.count_nonzero(assignment.active.any(axis=0) & ~ran)),
        restored_copies=int(copied.sum()),
        restored_bytes=sum(times[task] * size for task, size in known.items() if task in times) if known else None,
    )


def _named(assignment: StreamsAssignment, has_task: Bools) -> list[str]:
    return list(map(name_of, assignment.ids(has_task)))
