"""The sticky assignor, Kafka Streams' default before 2.6: tasks stay on their clients unless these are overloaded.

An active task goes to the client that ran it, while that has fewer tasks than its threads' share; then to a client that
had a standby of it, under the same condition. The rest goes, task by task, to the previous client unless it is full and
others are not, else to the least loaded client, preferably one whose tasks have not all been together with this one.
Standbys are placed in the same way. State and lags have no influence, and no probing rebalance follows.

Ties are broken by the iteration order of Java's hash maps.

Source: KIP-925; `LegacyStickyTaskAssignor` of Apache Kafka 4.0.
"""

from collections.abc import Sequence

from app.core.kafka_versions import Replayed
from app.core.streams.application import Application, PartialAssignment
from app.core.streams.assignors.high_availability import costs_of
from app.core.streams.assignors.sticky_tasks import StickyPlacement
from app.core.streams.model import StreamsAssignment, StreamsClient, StreamsOptions, StreamsTasks, TaskPartitions
from app.core.streams.rack_aware.optimum import STATELESS_COSTS, rack_aware

TRAFFIC_COST, NON_OVERLAP_COST = 1, 10
"""Default costs of KIP-925 for stateful tasks."""

REPLAYS = Replayed("org.apache.kafka.streams.processor.internals.assignment.LegacyStickyTaskAssignor")
PRIOR_REPLAYS = Replayed("org.apache.kafka.streams.processor.internals.assignment.FallbackPriorTaskAssignor")


def assign(
    clients: Sequence[StreamsClient],
    tasks: StreamsTasks,
    options: StreamsOptions,
    partitions: TaskPartitions | None = None,
) -> StreamsAssignment:
    """Assign tasks as `LegacyStickyTaskAssignor` does.

    Parameters
    ----------
    clients : in the order in which they are put into the map of clients; their lags have no influence.
    partitions : None if KIP-925 is to be off.

    Raises
    ------
    NoClients : if no client has a thread.
    ClientWithoutThreads : if a client without threads is compared with others.
    TaskPartitionsUnknown : if KIP-925 is on and a task has no partitions.
    TooManyTasks : if the number of pairs of tasks overflows 32 bits.

    Complexity: O(tasks · clients²), and the flows of KIP-925.

    Examples
    --------
    >>> from uuid import UUID
    >>> from app.core.streams.model import StreamsClient, StreamsOptions, StreamsTasks
    >>> ids = [(0, partition) for partition in range(4)]
    >>> clients = [StreamsClient(UUID(int=1), previous_active=[(0, 3)]), StreamsClient(UUID(int=2))]
    >>> answer = assign(clients, StreamsTasks(ids, ids), StreamsOptions())
    >>> answer.of_client(0).active
    ((0, 1), (0, 3))
    """
    return _assign(clients, tasks, options, partitions, keeps_active=False)


def assign_prior(
    clients: Sequence[StreamsClient],
    tasks: StreamsTasks,
    options: StreamsOptions,
    partitions: TaskPartitions | None = None,  # noqa: ARG001 — the fallback uses no racks
) -> StreamsAssignment:
    """Assign tasks as `FallbackPriorTaskAssignor` does, which Kafka uses while it cannot fetch the lags.

    Every active task stays on its client, whatever the load; otherwise as `assign`, without racks. A probing rebalance
    always follows.
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
    partial = PartialAssignment.empty(application)
    placement = StickyPlacement(application, partial)
    placement.place_active(keeps_active=keeps_active)
    racks = rack_aware(application, options, partitions)
    costs = costs_of(options, TRAFFIC_COST, NON_OVERLAP_COST)
    if racks is not None:
        racks.optimise_active(partial, application.stateful, costs)
        racks.optimise_active(partial, application.stateless, STATELESS_COSTS)
        placement.refresh()
    placement.place_standbys(options.num_standby_replicas)
    if racks is not None and options.num_standby_replicas > 0:
        racks.optimise_standbys(partial, costs, None)
    return application.answer(partial, probing_rebalance=keeps_active)
