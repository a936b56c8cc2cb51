"""What is said of an assignment of tasks, as JSON; clients by the names that they were given."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from app.core.jvm.hashes import TaskId
from app.core.model import Int64s
from app.core.streams.application import name_of
from app.core.streams.model import UNKNOWN_LAG, Bools, StreamsAssignment
from app.core.streams.traffic import Reads, client_traffic
from app.core.streams.verdicts import Loss, TaskVerdict, losses, tag_verdicts, task_verdicts
from app.errors import Json
from app.services.streams.sources import WHOLE_CHANGELOG, StreamsSource


def report(source: StreamsSource, found: StreamsAssignment) -> dict[str, Any]:
    """All that a plan says of its assignment."""
    verdicts = task_verdicts(found, source.clients, source.tasks.stateful, source.options)
    lost = losses(found, source.clients, source.tasks.stateful, source.options)
    return {
        "assignment": assignment_json(source, found),
        "probing_rebalance": found.probing_rebalance,
        "ideal": all(verdict.is_ideal for verdict in verdicts),
        "tasks": tasks_json(source, found, verdicts),
        "tags": [
            {
                "tag": its.tag,
                "values": dict(its.values),
                "needed": its.needed,
                "without": its.without,
                "enough": its.has_enough,
            }
            for its in tag_verdicts(source.clients, source.options)
        ],
        "if_lost": {f"{loss.tag}={loss.value}": _loss(loss) for loss in lost if loss.tag is not None},
        "if_client_lost": {
            name: _loss(loss) for name, loss in zip(source.names, (its for its in lost if its.tag is None), strict=True)
        },
        "loads": _loads(source, found),
        "movement": _movement(source, found),
    }


def assignment_json(source: StreamsSource, found: StreamsAssignment) -> dict[str, Any]:
    """Tasks by client; `standby` has warm-ups, too, as what Kafka sends a client has."""
    return {
        name: {
            "active": _named(found, found.active[place]),
            "standby": _named(found, found.standby[place]),
            "warmup": _named(found, found.warmup[place]),
        }
        for place, name in enumerate(source.names)
    }


def tasks_json(
    source: StreamsSource, found: StreamsAssignment, verdicts: Sequence[TaskVerdict]
) -> list[dict[str, Any]]:
    """By task id: who has it, and whether its copies are as far apart as they should be."""
    verdict_of = {verdict.task: verdict for verdict in verdicts}
    owners, standbys = _clients_of(found.active), _clients_of(found.standby & ~found.warmup)
    warmups = _clients_of(found.warmup)
    return [
        {
            "task": name_of(task),
            "active": source.names[owners[row][0]] if owners[row] else None,
            "standby": [source.names[place] for place in standbys[row]],
            "warmup": [source.names[place] for place in warmups[row]],
            "stateful": task in verdict_of,
            **_verdict(verdict_of.get(task)),
        }
        for row, task in enumerate(found.task_ids)
    ]


def _clients_of(held: Bools) -> list[list[int]]:
    """The clients that hold each task, as listed."""
    tasks, clients = np.nonzero(held.T)
    bounds = np.searchsorted(tasks, np.arange(held.shape[1] + 1))
    return [clients[start:stop].tolist() for start, stop in zip(bounds[:-1].tolist(), bounds[1:].tolist(), strict=True)]


def _verdict(verdict: TaskVerdict | None) -> dict[str, Any]:
    if verdict is None:
        return {"ideal": None, "missing_standbys": 0, "repeated_tags": [], "shared": []}
    shared = [{"tag": its.tag, "value": its.value, "copies": its.copies} for its in verdict.shared]
    repeated = dict.fromkeys(its.tag for its in verdict.shared if its.value is not None)
    return {
        "ideal": verdict.is_ideal,
        "missing_standbys": verdict.missing_standbys,
        "repeated_tags": list(repeated),
        "shared": shared,
    }


def _loss(loss: Loss) -> dict[str, Any]:
    lags = [lag if lag != UNKNOWN_LAG and lag < WHOLE_CHANGELOG else None for lag in loss.survivor_lag.tolist()]
    return {
        "clients": loss.n_clients,
        "without_survivor": [name_of(task) for task in loss.without_survivor],
        "promoted": [
            {"task": name_of(task), "survivor_lag": lag} for task, lag in zip(loss.promoted, lags, strict=True)
        ],
        "moved": [name_of(task) for task in loss.moved],
    }


def _loads(source: StreamsSource, found: StreamsAssignment) -> dict[str, Any]:
    counts = {
        "active": found.active.sum(axis=1),
        "standby": (found.standby & ~found.warmup).sum(axis=1),
        "warmup": found.warmup.sum(axis=1),
    }
    traffic = None if source.partitions is None else client_traffic(found, source.clients, source.partitions)
    per_client = [
        {
            "process_id": name,
            "capacity": client.capacity,
            "rack_id": client.rack_id,
            "client_tags": dict(client.client_tags),
            **{kind: int(its[place]) for kind, its in counts.items()},
            "sources": None if traffic is None else _reads(traffic[place].sources),
            "changelogs": None if traffic is None else _reads(traffic[place].changelogs),
        }
        for place, (name, client) in enumerate(zip(source.names, source.clients, strict=True))
    ]
    return {
        **{kind: _evenness(its) for kind, its in counts.items()},
        "sources": None if traffic is None else _total(its.sources for its in traffic),
        "changelogs": None if traffic is None else _total(its.changelogs for its in traffic),
        "per_client": per_client,
    }


def _evenness(counts: Int64s) -> dict[str, Json]:
    least, most = int(counts.min(initial=counts.max(initial=0))), int(counts.max(initial=0))
    return {"min": least, "max": most, "spread": most - least, "total": int(counts.sum())}


def _reads(reads: Reads) -> dict[str, Json]:
    return {"partitions": reads.partitions, "cross_rack": reads.crossing, "unknown": reads.unknown}


def _total(of_clients: Iterator[Reads]) -> dict[str, Json]:
    listed = list(of_clients)
    sums = (sum(its.partitions for its in listed), sum(its.crossing for its in listed))
    return {"partitions": sums[0], "cross_rack": sums[1], "unknown": sum(its.unknown for its in listed)}


def _movement(source: StreamsSource, found: StreamsAssignment) -> dict[str, Json]:
    """What moves from where tasks were, and the state that has to be copied for it."""
    row_of = {task: row for row, task in enumerate(found.task_ids)}
    was_active, had = (np.zeros(found.active.shape, np.bool_) for _ in range(2))
    for place, client in enumerate(source.clients):
        active = [row_of[task] for task in client.previous_active if task in row_of]
        was_active[place, active] = had[place, active] = True
        had[place, [row_of[task] for task in client.previous_standby if task in row_of]] = True
    ran = was_active.any(axis=0)
    stays = (was_active & found.active).any(axis=0)
    has_state = np.isin(np.arange(len(found.task_ids)), [row_of[task] for task in source.tasks.stateful])
    copied = (found.active | found.standby) & ~had & has_state
    times: Mapping[TaskId, int] = dict(zip(found.task_ids, copied.sum(axis=0).tolist(), strict=True))
    known = source.state_bytes
    return {
        "active_kept": int(np.count_nonzero(stays)),
        "active_moved": int(np.count_nonzero(ran & ~stays)),
        "active_started": int(np.count_nonzero(found.active.any(axis=0) & ~ran)),
        "restored_copies": int(copied.sum()),
        "restored_bytes": sum(times[task] * size for task, size in known.items() if task in times) if known else None,
    }


def _named(found: StreamsAssignment, held: Bools) -> list[str]:
    return [name_of(found.task_ids[row]) for row in np.flatnonzero(held).tolist()]
