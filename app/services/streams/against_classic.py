"""A streams group beside the classic protocol: tasks whose copies are all in one zone or rack; JSON.

The coordinator's assignor ignores client tags and racks. Beside its tasks whose copies share one value are those of the
classic high-availability assignor with that tag, and those of the best standbys for the coordinator's active tasks.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from app.core.streams.application import name_of
from app.core.streams.model import UNBOUNDED_LAG, Bools, StreamsAssignment, StreamsClient
from app.core.streams.optimum.best_standbys import best_standbys
from app.core.streams.registry import DEFAULT_CLASSIC, STREAMS_ASSIGNORS
from app.core.streams.standbys import require_tags_within_limits
from app.errors.kafka import KafkaRefuses
from app.errors.requests import ConflictingFields, ImpossibleValue, LimitExceeded
from app.services.streams.optimum import EFFORT
from app.services.streams.sources import StreamsSource

RACK = "rack"
_NAMED_TASKS = 20


def compared_json(source: StreamsSource, assignment: StreamsAssignment) -> dict[str, Any] | None:
    """For each listed tag, and for racks: stateful tasks all of whose copies are on clients with one value of it, so
    that its loss takes them all. None if no clients have tags or racks that count."""
    dimensions = [
        _dimension(source, assignment, name, is_tag, clients) for name, is_tag, clients in _by_dimension(source)
    ]
    if not dimensions or not source.tasks.stateful:
        return None
    return {"assignor": DEFAULT_CLASSIC, "single_value_tasks": dimensions}


def _by_dimension(source: StreamsSource) -> Iterator[tuple[str, bool, list[StreamsClient]]]:
    """The tags that the request lists, else those that all clients have; and racks, as if they were a tag."""
    listed = source.options.rack_aware_assignment_tags
    shared = set.intersection(*(set(client.client_tags) for client in source.clients)) if source.clients else set()
    for tag in dict.fromkeys(listed or sorted(shared)):
        yield tag, True, list(source.clients)
    if any(client.rack_id for client in source.clients):
        in_racks = [
            replace(client, client_tags={RACK: client.rack_id} if client.rack_id else {}) for client in source.clients
        ]
        yield RACK, False, in_racks


def _dimension(
    source: StreamsSource, assignment: StreamsAssignment, name: str, is_tag: bool, clients: Sequence[StreamsClient]
) -> dict[str, Any]:
    values = [client.client_tags.get(name) for client in clients]
    own = single_value_tasks(source, assignment, values)
    classic, best = _classic(source, clients, name), _best(source, assignment, clients, name)
    return {
        "by": name,
        "kind": "tag" if is_tag else "rack",
        "values": len({value for value in values if value is not None}),
        "tasks": len(own),
        "named_tasks": own[:_NAMED_TASKS],
        "of_classic": None if classic is None else len(single_value_tasks(source, classic, values)),
        "of_best_standbys": None if best is None else len(single_value_tasks(source, best, values)),
    }


def single_value_tasks(source: StreamsSource, assignment: StreamsAssignment, values: Sequence[str | None]) -> list[str]:
    """Stateful tasks whose copies are all on clients with the same value; a client without one is like no other."""
    numbers: Mapping[object, int] = {value: number for number, value in enumerate(dict.fromkeys(values))}
    number_of = np.array([numbers[value] for value in values], np.int64)
    copies: Bools = (assignment.active | assignment.standby) & ~assignment.warmup
    row_of = {task: row for row, task in enumerate(assignment.task_ids)}
    named = []
    for task in sorted(set(source.tasks.stateful)):
        holders = np.flatnonzero(copies[:, row_of[task]])
        if len(holders) and len(np.unique(number_of[holders])) == 1 and values[int(holders[0])] is not None:
            named.append(name_of(task))
    return named


def _classic(source: StreamsSource, clients: Sequence[StreamsClient], tag: str) -> StreamsAssignment | None:
    """What the classic assignor makes of the same clients with the tag, once all copies have caught up, so that nothing
    warms up; None if it rejects them."""
    options = replace(source.options, rack_aware_assignment_tags=(tag,), acceptable_recovery_lag=UNBOUNDED_LAG)
    try:
        require_tags_within_limits(clients, options)
        return STREAMS_ASSIGNORS[DEFAULT_CLASSIC].assign(clients, source.tasks, options, source.partitions)
    except (KafkaRefuses, LimitExceeded):
        return None


def _best(
    source: StreamsSource, assignment: StreamsAssignment, clients: Sequence[StreamsClient], tag: str
) -> StreamsAssignment | None:
    """The optimal standbys by the tag, for the same active tasks; None if they were not looked for."""
    options = replace(source.options, rack_aware_assignment_tags=(tag,))
    if not options.num_standby_replicas:
        return assignment
    try:
        return best_standbys(assignment, clients, source.tasks.stateful, options, effort=EFFORT).assignment
    except (LimitExceeded, ImpossibleValue, ConflictingFields):
        return None
