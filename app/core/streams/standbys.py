"""Standby placement of the high-availability assignor: the policies, and Kafka's limits on client tags.

`BY_LOAD` (KIP-441, Kafka's `DefaultStandbyTaskAssignor`)
    Each standby goes to the client with the fewest tasks a thread that has no copy of the task yet.

`BY_TAGS` (KIP-708, Kafka's `ClientTagAwareStandbyTaskAssignor`)
    Standbys of a task are apart from its active task and from each other in every listed tag. A tag counts while it has
    more values than the task has copies; after that it is no constraint, since no client would satisfy it. Of the
    remaining clients, the one with the fewest tasks a thread gets the standby. If none remains, the task's other
    standbys are placed by load after all tasks have been visited: placement never fails. Whether a tag is dropped is
    checked with the values of the last chosen client only, as in Kafka: a value that an earlier copy blocked stays
    blocked until a later copy's client has that tag too.

Hard constraint of both: no client has two copies of a task, so that there may be fewer standbys than requested. Ties go
to the lowest process id.

Source: KIP-441, KIP-708; Apache Kafka 4.0.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from app.core.jvm import JavaHashMap
from app.core.jvm.hashes import TASK_ID, TaskId
from app.core.model import NO_CLIENT, Int64s
from app.core.streams import standbys_kernel as kernel
from app.core.streams.model import (
    Application,
    Bools,
    PartialAssignment,
    StreamsClient,
    StreamsOptions,
    inconsistent,
    tag_vectors,
)
from app.errors import FieldPath
from app.errors.kafka import KafkaError, TagsBeyondLimits

MOST_TAGS = 5
LONGEST_KEY = 20
LONGEST_VALUE = 30
"""In UTF-16 units, as Java counts the length of a string."""


@dataclass(frozen=True, slots=True)
class StandbyPolicy:
    """One policy of standby placement.

    Parameters
    ----------
    place : adds standbys of the stateful tasks to an assignment that has the active tasks.
    may_move : (clients, clients) bool: from which client to which a standby may move when loads are balanced.
    client_tag_values : (clients, tag values) bool, if KIP-925 must not lower the number of tag values of a task's
        copies; None if it may swap any two standbys.
    """

    place: Callable[[Application, PartialAssignment, StreamsOptions], None]
    may_move: Callable[[Application], Bools]
    client_tag_values: Callable[[Application], Bools] | None = None


def policy_for(options: StreamsOptions) -> StandbyPolicy:
    """`BY_TAGS` if any tags are listed, else `BY_LOAD`.

    Kafka 4.0 also has a policy by racks, but does not pass it any racks.
    """
    return BY_TAGS if options.rack_aware_assignment_tags else BY_LOAD


def require_tags_within_limits(clients: Sequence[StreamsClient], options: StreamsOptions) -> None:
    """Reject client tags with which Kafka Streams does not start: too many, or too long.

    Tags are in every subscription, and so in the group's metadata, which is why they are limited. A client that lacks a
    tag which it lists itself does not start either. Other clients may list fewer tags, so that this is not rejected.

    Raises
    ------
    TagsBeyondLimits : more than `MOST_TAGS` tags are listed, or a client has more, or a key or a value is too long.

    Source: KIP-708, `StreamsConfig` of Apache Kafka 4.0.
    """
    tags = options.rack_aware_assignment_tags
    if len(tags) > MOST_TAGS:
        _reject(f"{len(tags)} tags in rack.aware.assignment.tags", MOST_TAGS, ("rack_aware_assignment_tags",))
    for index, client in enumerate(clients):
        path: FieldPath = ("clients", index, "client_tags")
        if len(client.client_tags) > MOST_TAGS:
            _reject(f"client {client.process_id} has {len(client.client_tags)} tags", MOST_TAGS, path)
        for key, value in client.client_tags.items():
            for part, text, longest in (("key", key, LONGEST_KEY), ("value", value, LONGEST_VALUE)):
                if (length := len(text.encode("utf-16-le", "surrogatepass")) // 2) > longest:
                    detail = f"the {part} of tag {key!r} of client {client.process_id} has {length} characters"
                    _reject(detail, longest, (*path, key))


def _reject(detail: str, most: int, path: FieldPath) -> None:
    raise TagsBeyondLimits(f"{detail}; {most} are allowed", kafka=KafkaError("ConfigException"), path=path, most=most)


def _place_by_load(application: Application, partial: PartialAssignment, options: StreamsOptions) -> None:
    requested = np.full(len(application.stateful), options.num_standby_replicas, np.int64)
    kernel.place_on_least_loaded(application.stateful, requested, _clients(application, partial))


def _clients(application: Application, partial: PartialAssignment) -> kernel.Clients:
    return kernel.Clients(partial.active, partial.standby, partial.counts, application.capacities)


def _may_move_anywhere(application: Application) -> Bools:
    return np.ones((len(application.clients), len(application.clients)), np.bool_)


BY_LOAD = StandbyPolicy(_place_by_load, _may_move_anywhere)
"""Each standby to the client with the fewest tasks a thread: `DefaultStandbyTaskAssignor` of Kafka Streams."""


def _place_by_tags(application: Application, partial: PartialAssignment, options: StreamsOptions) -> None:
    rows, clients = application.stateful, _clients(application, partial)
    values = tag_vectors(application.clients, options.rack_aware_assignment_tags)
    remaining = np.full(len(rows), options.num_standby_replicas, np.int64)
    is_complete, active_twice = kernel.place_apart_by_tags(rows, remaining, values, clients)
    if active_twice != NO_CLIENT:
        raise inconsistent(application, int(rows[active_twice]), "is active twice", "NullPointerException")
    if is_complete.all():
        return
    order = _order_of_incomplete(application, is_complete)
    kernel.place_on_least_loaded(rows[order], remaining[order], clients)


def _may_move_to_same_tags(application: Application) -> Bools:
    """A standby may move to a client that has all tags of its current client, listed or not."""
    allowed = [
        [source.client_tags.items() <= destination.client_tags.items() for destination in application.clients]
        for source in application.clients
    ]
    return np.array(allowed, np.bool_).reshape(len(application.clients), len(application.clients))


def _client_tag_values(application: Application) -> Bools:
    """(clients, tag values) bool: the value of each tag that a client has, of listed and other tags."""
    number_of: dict[tuple[str, str], int] = {}
    for client in application.clients:
        for tag in client.client_tags.items():
            number_of.setdefault(tag, len(number_of))
    has_value = np.zeros((len(application.clients), len(number_of)), np.bool_)
    for index, client in enumerate(application.clients):
        has_value[index, [number_of[tag] for tag in client.client_tags.items()]] = True
    return has_value


def _order_of_incomplete(application: Application, is_complete: Bools) -> Int64s:
    """Indices into the stateful tasks of the incomplete ones, in the order of the HashMap that Kafka stores them in."""
    tasks: JavaHashMap[TaskId, int] = JavaHashMap(TASK_ID)
    for index, row in enumerate(application.stateful.tolist()):
        tasks[application.task_ids[row]] = index
    for index in np.flatnonzero(is_complete).tolist():
        del tasks[application.task_ids[int(application.stateful[index])]]
    return np.array(list(tasks.values()), np.int64)


BY_TAGS = StandbyPolicy(_place_by_tags, _may_move_to_same_tags, _client_tag_values)
"""KIP-708: away from the active task and from each other in every listed tag, as far as the clients allow:
`ClientTagAwareStandbyTaskAssignor` of Kafka Streams."""
