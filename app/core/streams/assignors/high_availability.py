"""The high-availability assignor, Kafka Streams' default since 2.6: balance first, then the location of state.

Stateful tasks are assigned round-robin to the clients by process id and balanced by threads; standbys are placed by
their policy. Then a task whose planned client lags too far runs on a caught-up client instead, preferably one with its
standby, and the planned client warms up, up to `max_warmup_replicas` at a time. A probing rebalance follows as long as
any task had to be moved like this. Stateless tasks go to the clients with the fewest active tasks a thread.

Source: KIP-441, KIP-708, KIP-925; `HighAvailabilityTaskAssignor` of Apache Kafka 4.0.
"""

from collections.abc import Sequence

import numpy as np

from app.core.jvm.hash_map import spread
from app.core.jvm.hashes import uuid_hash_code
from app.core.kafka_versions import Replayed
from app.core.model import Int64s
from app.core.streams import loads_kernel
from app.core.streams.assignors import client_queue_kernel, movements_kernel
from app.core.streams.model import (
    RUNNING_ACTIVE,
    UNBOUNDED_LAG,
    Application,
    Bools,
    PartialAssignment,
    StreamsAssignment,
    StreamsClient,
    StreamsOptions,
    StreamsTasks,
    TaskPartitions,
)
from app.core.streams.rack_aware.optimum import STATELESS_COSTS, RackAware, rack_aware
from app.core.streams.standbys import policy_for

TRAFFIC_COST, NON_OVERLAP_COST = 10, 1
"""Default costs of KIP-925 for stateful tasks."""

REPLAYS = Replayed("org.apache.kafka.streams.processor.internals.assignment.HighAvailabilityTaskAssignor")


def assign(
    clients: Sequence[StreamsClient],
    tasks: StreamsTasks,
    options: StreamsOptions,
    partitions: TaskPartitions | None = None,
) -> StreamsAssignment:
    """Assign tasks as `HighAvailabilityTaskAssignor` does.

    Parameters
    ----------
    clients : their previous tasks have an influence only through the lags.
    partitions : None if KIP-925 is to be off.

    Raises
    ------
    NoClients : if there are tasks and no client.
    UnknownTaskLag : if the lag of a stateful task on some client is unknown.
    TaskPartitionsUnknown : if KIP-925 is on and a task has no partitions.

    Complexity: O(tasks · clients) for balance and standbys, and the flows of KIP-925.

    Examples
    --------
    >>> from uuid import UUID
    >>> from app.core.streams.model import StreamsClient, StreamsOptions, StreamsTasks
    >>> ids = [(0, partition) for partition in range(4)]
    >>> clients = [StreamsClient(UUID(int=1), default_lag=0), StreamsClient(UUID(int=2), default_lag=0)]
    >>> answer = assign(clients, StreamsTasks(ids, ids), StreamsOptions(num_standby_replicas=1))
    >>> answer.of_client(0).active, answer.of_client(0).standby
    (((0, 0), (0, 2)), ((0, 1), (0, 3)))
    """
    application = Application(clients, tasks)
    partial = PartialAssignment.empty(application)
    racks = rack_aware(application, options, partitions)
    costs = costs_of(options, TRAFFIC_COST, NON_OVERLAP_COST)
    _place_active(application, partial, racks, costs)
    _place_standbys(application, partial, options, racks, costs)
    moved = _move_to_state(application, partial, options) if len(application.stateful) else 0
    _place_stateless(application, partial, racks)
    return application.answer(partial, probing_rebalance=moved > 0)


def costs_of(options: StreamsOptions, traffic_cost: int, non_overlap_cost: int) -> tuple[int, int]:
    """Traffic cost and non-overlap cost: as set in the options, else the assignor's defaults."""
    return (
        traffic_cost if options.traffic_cost is None else options.traffic_cost,
        non_overlap_cost if options.non_overlap_cost is None else options.non_overlap_cost,
    )


def _place_active(
    application: Application, partial: PartialAssignment, racks: RackAware | None, costs: tuple[int, int]
) -> None:
    rows = application.stateful
    if not len(rows):
        return
    application.require_clients("NoSuchElementException")
    n_clients = len(application.clients)
    partial.active[np.arange(len(rows)) % n_clients, rows] = True
    anywhere = np.ones((n_clients, n_clients), np.bool_)
    loads_kernel.balance(partial.active, partial.standby, partial.counts, application.capacities, anywhere)
    if racks is not None:
        racks.optimise_active(partial, rows, costs)


def _place_standbys(
    application: Application,
    partial: PartialAssignment,
    options: StreamsOptions,
    racks: RackAware | None,
    costs: tuple[int, int],
) -> None:
    if options.num_standby_replicas == 0:
        return
    policy = policy_for(options)
    policy.place(application, partial, options)
    loads_kernel.balance(
        partial.standby, partial.active, partial.counts, application.capacities, policy.may_move(application)
    )
    if racks is not None:
        racks.optimise_standbys(partial, costs, policy.client_tag_values and policy.client_tag_values(application))


def _move_to_state(application: Application, partial: PartialAssignment, options: StreamsOptions) -> int:
    """Move tasks to caught-up clients; returns the number of movements."""
    lags = application.lags
    is_caught_up = _caught_up(lags, options.acceptable_recovery_lag)
    counts = partial.counts
    hashes = np.array([spread(uuid_hash_code(client.process_id)) for client in application.clients], np.int64)
    warmups_left = np.array([options.max_warmup_replicas], np.int64)
    copies = movements_kernel.Copies(partial.active, partial.standby, partial.warmup, is_caught_up, lags, warmups_left)
    moved = 0
    for move in (movements_kernel.move_active, movements_kernel.move_standbys):
        queue = client_queue_kernel.queue_of(counts, application.capacities, hashes)
        moved += move(copies, queue)
    return moved


def _caught_up(lags: Int64s, acceptable_recovery_lag: int) -> Bools:
    """(clients, tasks) bool: whether the lag is within `acceptable.recovery.lag`."""
    if acceptable_recovery_lag == UNBOUNDED_LAG:
        return np.ones(lags.shape, np.bool_)
    caught_up: Bools = (lags == RUNNING_ACTIVE) | ((lags >= 0) & (lags <= acceptable_recovery_lag))
    return caught_up


def _place_stateless(application: Application, partial: PartialAssignment, racks: RackAware | None) -> None:
    rows = application.stateless
    if not len(rows):
        return
    application.require_clients("NullPointerException")
    loads_kernel.assign_to_least_loaded(rows, partial.active, application.capacities)
    if racks is not None:
        racks.optimise_active(partial, rows, STATELESS_COSTS)
