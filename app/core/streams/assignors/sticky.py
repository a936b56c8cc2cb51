"""The sticky assignor, Kafka Streams' default before 2.6: tasks stay where they were while no client has too many.

Active tasks go back to who ran them while he has fewer than his threads' share, then to who had a standby, then, task
by task, to who had it before unless he is full and others are not, else to the least loaded client, if possible one
whose tasks have not all been together with this one before. Standbys follow in the same manner. State and lag play no
part, and no probing rebalance follows.

Of clients and tasks that are equal in all this, the first in the order of Java's hash maps decides.

Source: KIP-925; `LegacyStickyTaskAssignor` of Apache Kafka 4.0.
"""

from collections.abc import Sequence

from app.core.streams.application import Application, Holdings
from app.core.streams.assignors.high_availability import costs_of
from app.core.streams.assignors.sticky_hands import StickyHands
from app.core.streams.model import StreamsAssignment, StreamsClient, StreamsOptions, StreamsTasks, TaskPartitions
from app.core.streams.rack_aware.optimum import STATELESS_COSTS, rack_aware

TRAFFIC_COST, NON_OVERLAP_COST = 1, 10
"""The costs of KIP-925 for stateful tasks where none are set."""


def assign(
    clients: Sequence[StreamsClient],
    tasks: StreamsTasks,
    options: StreamsOptions,
    partitions: TaskPartitions | None = None,
) -> StreamsAssignment:
    """Assign tasks as `LegacyStickyTaskAssignor` does.

    Parameters
    ----------
    clients : in the order in which they go into the map of clients; their lags play no part.
    partitions : None where KIP-925 is to stay off.

    Raises
    ------
    NoClients : where no client has a thread.
    ClientWithoutThreads : where one has none and is compared with others.
    TaskPartitionsUnknown : KIP-925 is on and a task has no partitions.
    TooManyTasks : where pairs of tasks overflow 32 bits.
    """
    return _assign(clients, tasks, options, partitions, keeps_active=False)


def assign_prior(
    clients: Sequence[StreamsClient],
    tasks: StreamsTasks,
    options: StreamsOptions,
    partitions: TaskPartitions | None = None,  # noqa: ARG001 — the fallback looks at no racks
) -> StreamsAssignment:
    """Assign tasks as `FallbackPriorTaskAssignor` does, which Kafka takes while it cannot learn the lags.

    Every active task stays where it was, whatever the load; all else is as `assign` has it, without racks. A probing
    rebalance always follows.
    """
    return _assign(clients, tasks, options, None, keeps_active=True)


def _assign(
    clients: Sequence[StreamsClient],
    tasks: StreamsTasks,
    options: StreamsOptions,
    partitions: TaskPartitions | None,
    *,
    keeps_active: bool,
) -> StreamsAssignment:
    application = Application(clients, tasks)
    held = Holdings.none(application)
    hands = StickyHands(application, held)
    hands.place_active(keeps_active=keeps_active)
    racks = rack_aware(application, options, partitions)
    costs = costs_of(options, TRAFFIC_COST, NON_OVERLAP_COST)
    if racks is not None:
        racks.optimise_active(held, application.stateful, costs)
        racks.optimise_active(held, application.stateless, STATELESS_COSTS)
        hands.look_again()
    hands.place_standbys(options.num_standby_replicas)
    if racks is not None and options.num_standby_replicas > 0:
        racks.optimise_standbys(held, costs, None)
    return application.answer(held, probing_rebalance=keeps_active)
