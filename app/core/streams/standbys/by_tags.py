"""KIP-708's rule for standbys: away from the active task and from each other in every listed tag.

A tag counts as long as it has more values than the task has copies so far; from then on it is no constraint, since it
would leave nobody. Of the clients that remain, the one with the fewest tasks a thread takes the standby. Where none
remains, the task's other standbys are placed when all tasks have had their turn, by load alone: it never fails.

Whether a tag was given up is asked with the values of the client that was chosen last only, as Kafka does: a value that
an earlier copy blocked stays blocked until a later copy's client has that tag too.

Source: KIP-708, `ClientTagAwareStandbyTaskAssignor` of Apache Kafka 4.0.
"""

import numpy as np

from app.core.jvm import JavaHashMap
from app.core.jvm.hashes import TASK_ID, TaskId
from app.core.model import Int64s
from app.core.streams.application import Application, Holdings, inconsistent
from app.core.streams.client_tags import tag_vectors
from app.core.streams.model import Bools, StreamsOptions
from app.core.streams.standbys.policy import StandbyPolicy


def place(application: Application, held: Holdings, options: StreamsOptions) -> None:
    """Place standbys of all stateful tasks: apart by tags, then by load."""
    from app.core.streams.standbys import placing_kernel as kernel  # noqa: PLC0415 — numba takes long to import

    values = tag_vectors(application.clients, options.rack_aware_assignment_tags)
    remaining = np.full(len(application.stateful), options.num_standby_replicas, np.int64)
    settled, twice = kernel.apart_by_tags(
        application.stateful, remaining, values, held.active, held.standby, held.counts, application.capacities
    )
    if twice != kernel.NOBODY:
        raise inconsistent(application, int(application.stateful[twice]), "is active twice", "NullPointerException")
    if settled.all():
        return
    order = _order_of_pending(application, settled)
    kernel.to_least_loaded(
        application.stateful[order], remaining[order], held.active, held.standby, held.counts, application.capacities
    )


def may_move(application: Application) -> Bools:
    """A standby may go to a client that has all tags of the one it leaves, listed ones or not."""
    allowed = [
        [source.client_tags.items() <= destination.client_tags.items() for destination in application.clients]
        for source in application.clients
    ]
    return np.array(allowed, np.bool_).reshape(len(application.clients), len(application.clients))


def tags_held(application: Application) -> Bools:
    """(clients, tag values) bool: which value of which tag a client has, listed tags or not."""
    numbers: dict[tuple[str, str], int] = {}
    for client in application.clients:
        for tag in client.client_tags.items():
            numbers.setdefault(tag, len(numbers))
    held = np.zeros((len(application.clients), len(numbers)), np.bool_)
    for place_, client in enumerate(application.clients):
        held[place_, [numbers[tag] for tag in client.client_tags.items()]] = True
    return held


def _order_of_pending(application: Application, settled: Bools) -> Int64s:
    """Where among the stateful tasks the pending ones are, in the order of the HashMap that Kafka keeps them in."""
    tasks: JavaHashMap[TaskId, int] = JavaHashMap(TASK_ID)
    for at, row in enumerate(application.stateful.tolist()):
        tasks[application.task_ids[row]] = at
    for at in np.flatnonzero(settled).tolist():
        del tasks[application.task_ids[int(application.stateful[at])]]
    return np.array(list(tasks.values()), np.int64)


BY_TAGS = StandbyPolicy(
    "by_tags",
    "KIP-708: away from the active task and from each other in every listed tag, as far as the clients allow",
    place,
    may_move,
    tags_held,
)
