"""Distance of an assignment from the optimum: in its standbys, in reads across racks, in its clients.

A streams group beside the classic protocol: tasks whose copies are all in one zone or rack.

The coordinator's assignor ignores client tags and racks. Its number of tasks whose copies share one value is
compared with the classic high-availability assignor with that tag, and with the best standbys for the coordinator's
active tasks.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

import numpy as np

from app.core.streams.additions import Addition, smallest_addition
from app.core.streams.model import (
    UNBOUNDED_LAG,
    Application,
    Bools,
    PartialAssignment,
    RackAwareStrategy,
    StreamsAssignment,
    StreamsClient,
    name_of,
)
from app.core.streams.optimum.best_standbys import FLOW, best_standbys
from app.core.streams.optimum.quality import StandbyQuality, standby_quality
from app.core.streams.rack_aware.optimum import rack_aware
from app.core.streams.rack_aware.racks import why_off
from app.core.streams.registry import DEFAULT_CLASSIC, STREAMS_ASSIGNORS, StreamsAssignor
from app.core.streams.standbys import require_tags_within_limits
from app.errors.every import ConflictingFields, ImpossibleValue, KafkaRefuses, LimitExceeded
from app.services.cautions import Caution
from app.services.streams import answers
from app.services.streams.sources import StreamsSource

EFFORT = 0.2
"""Deterministic seconds of the solver, where it is one that may not end: a second or so by the clock."""


def best_of(source: StreamsSource, assignment: StreamsAssignment) -> tuple[answers.BestStandbys | None, list[Caution]]:
    """The best standbys for the active tasks of an assignment, beside its own; None without standbys.

    If there are too many kinds of clients to search them all, a warning says so.
    """
    stateful = source.tasks.stateful
    if not source.options.num_standby_replicas or not stateful:
        return None, []
    try:
        own = standby_quality(assignment, source.clients, stateful, source.options)
        best = best_standbys(assignment, source.clients, stateful, source.options, effort=EFFORT)
    except (LimitExceeded, ImpossibleValue, ConflictingFields) as failure:
        return None, [Caution("best_standbys_not_known", f"the best standbys were not looked for: {failure.detail}")]
    differs = (best.assignment.standby != (assignment.standby & ~assignment.warmup)).any(axis=0)
    report = answers.BestStandbys(
        standby={
            name: [name_of(best.assignment.task_ids[row]) for row in np.flatnonzero(tasks).tolist()]
            for name, tasks in zip(source.names, best.assignment.standby, strict=True)
        },
        differing_tasks=[name_of(assignment.task_ids[row]) for row in np.flatnonzero(differs).tolist()],
        quality=_quality(best.quality),
        of_the_assignor=_quality(own),
        certificate=answers.StandbyCertificate.of(
            best.certificate,
            imbalance_bound=float(best.certificate.lower_bound),
            restored_bound=best.restored.lower_bound,
        ),
    )
    return report, []


def rack_aware_of(
    source: StreamsSource, assignment: StreamsAssignment, assignor: StreamsAssignor
) -> answers.RackAware | None:
    """KIP-925's cross-rack traffic beside the minimum by an exact flow, for as many tasks a client; None if off.

    The plan shows Kafka's own optimum, replayed; the flow's costs the same, and may put other tasks elsewhere.
    """
    if source.options.rack_aware_assignment_strategy is RackAwareStrategy.NONE or not assignor.uses_racks:
        return None
    off = why_off(source.clients, source.options, source.partitions)
    application = Application(source.clients, source.tasks)
    racks = rack_aware(application, source.options, source.partitions)
    if off is not None or racks is None:
        return answers.RackAware(False, "replay", None if off is None else off.detail, None, None, None)
    places = application.place_of
    holdings = PartialAssignment(assignment.active[places], assignment.standby[places], assignment.warmup[places])
    of_kind = (application.stateful, application.stateless)  # Kafka lets each change places among its own
    return answers.RackAware(
        on=True,
        shows="replay",
        why_off=None,
        sources_across_racks=sum(racks.active_cost(holdings, rows, 1) for rows in of_kind if len(rows)),
        fewest_possible=sum(racks.cheapest_active(holdings, rows, (1, 0)).cost for rows in of_kind),
        solver=FLOW,
    )


def addition_of(source: StreamsSource) -> tuple[answers.Addition | None, list[Caution]]:
    """The fewest clients whose addition lets every task have its copies apart; None without tags to be apart in."""
    if not source.options.num_standby_replicas or not source.options.rack_aware_assignment_tags:
        return None, []
    try:
        addition: Addition = smallest_addition(source.clients, source.options)
    except LimitExceeded as failure:
        return None, [Caution("addition_not_known", f"which clients to add was not looked for: {failure.detail}")]
    name_by_id = dict(zip((client.process_id for client in source.clients), source.names, strict=True))
    report = answers.Addition(
        clients=[_values(client.values) for client in addition.clients],
        new_values=dict(addition.new_values),
        clients_apart_already=addition.apart,
        clients_without_a_tag=[name_by_id[process_id] for process_id in addition.lacking],
    )
    return report, []


def _values(values: Mapping[str, str | int]) -> dict[str, str | None]:
    """A value that no client has yet is null."""
    return {tag: value if isinstance(value, str) else None for tag, value in values.items()}


def _quality(quality: StandbyQuality) -> answers.StandbyQuality:
    return answers.StandbyQuality.of(quality, imbalance=float(quality.imbalance), spread=float(quality.spread))


RACK = "rack"
_NAMED_TASKS = 20


def compared_with_classic(source: StreamsSource, assignment: StreamsAssignment) -> answers.ComparedWithClassic | None:
    """For each listed tag, and for racks: stateful tasks all of whose copies are on clients with one value of it, so
    that its loss takes them all. None if no clients have tags or racks that count."""
    dimensions = [
        _dimension(source, assignment, name, is_tag, clients) for name, is_tag, clients in _by_dimension(source)
    ]
    if not dimensions or not source.tasks.stateful:
        return None
    return answers.ComparedWithClassic(DEFAULT_CLASSIC, dimensions)


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
) -> answers.SingleValueTasks:
    values = [client.client_tags.get(name) for client in clients]
    own = single_value_tasks(source, assignment, values)
    classic, best = _classic(source, clients, name), _best(source, assignment, clients, name)
    return answers.SingleValueTasks(
        by=name,
        kind="tag" if is_tag else "rack",
        values=len({value for value in values if value is not None}),
        tasks=len(own),
        named_tasks=own[:_NAMED_TASKS],
        of_classic=None if classic is None else len(single_value_tasks(source, classic, values)),
        of_best_standbys=None if best is None else len(single_value_tasks(source, best, values)),
    )


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
    """The classic assignor's assignment of the same clients with the tag, once all copies have caught up, so that
    nothing warms up; None if it rejects them."""
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
