"""The high-availability assignor, Kafka Streams' default since 2.6: balanced first, then to where the state is.

Stateful tasks are dealt in turn to the clients by process id and evened out by threads; standbys follow by their
policy. Then whatever would run where its state is too old runs on a caught-up client instead, by preference one that
would have its standby, and the planned place warms up, up to `max_warmup_replicas` at a time. A probing rebalance
follows as long as anything had to go elsewhere. Stateless tasks fill up whoever has the fewest active tasks a thread.

Source: KIP-441, KIP-708, KIP-925; `HighAvailabilityTaskAssignor` of Apache Kafka 4.0.
"""

from collections.abc import Sequence

import numpy as np

from app.core.jvm.hash_map import spread
from app.core.jvm.hashes import uuid_hash_code
from app.core.model import Int64s
from app.core.streams.application import Application, Holdings
from app.core.streams.model import (
    RUNNING_ACTIVE,
    UNBOUNDED_LAG,
    Bools,
    StreamsAssignment,
    StreamsClient,
    StreamsOptions,
    StreamsTasks,
    TaskPartitions,
)
from app.core.streams.rack_aware.optimum import STATELESS_COSTS, RackAware, rack_aware
from app.core.streams.standbys.choice import policy_for

TRAFFIC_COST, NON_OVERLAP_COST = 10, 1
"""The costs of KIP-925 for stateful tasks where none are set."""


def assign(
    clients: Sequence[StreamsClient],
    tasks: StreamsTasks,
    options: StreamsOptions,
    partitions: TaskPartitions | None = None,
) -> StreamsAssignment:
    """Assign tasks as `HighAvailabilityTaskAssignor` does.

    Parameters
    ----------
    clients : previous tasks count only through their lags. partitions : None where KIP-925 is to stay off.

    Raises
    ------
    NoClients : where there is none, and a task.
    UnknownTaskLag : a stateful task whose lag nobody knows on some client.
    TaskPartitionsUnknown : KIP-925 is on and a task has no partitions.
    """
    application = Application(clients, tasks)
    held = Holdings.none(application)
    racks = rack_aware(application, options, partitions)
    costs = costs_of(options, TRAFFIC_COST, NON_OVERLAP_COST)
    _place_active(application, held, racks, costs)
    _place_standbys(application, held, options, racks, costs)
    moved = _move_to_state(application, held, options) if len(application.stateful) else 0
    _place_stateless(application, held, racks)
    return application.answer(held, probing_rebalance=moved > 0)


def costs_of(options: StreamsOptions, traffic_cost: int, non_overlap_cost: int) -> tuple[int, int]:
    """The costs of traffic and of a move: as set, else an assignor's own."""
    return (
        traffic_cost if options.traffic_cost is None else options.traffic_cost,
        non_overlap_cost if options.non_overlap_cost is None else options.non_overlap_cost,
    )


def _place_active(application: Application, held: Holdings, racks: RackAware | None, costs: tuple[int, int]) -> None:
    from app.core.streams import loads_kernel as kernel  # noqa: PLC0415 — numba takes long to import

    rows = application.stateful
    if not len(rows):
        return
    application.require_clients("NoSuchElementException")
    n_clients = len(application.clients)
    held.active[np.arange(len(rows)) % n_clients, rows] = True
    anywhere = np.ones((n_clients, n_clients), np.bool_)
    kernel.balance(held.active, held.standby, held.counts, application.capacities, anywhere)
    if racks is not None:
        racks.optimise_active(held, rows, costs)


def _place_standbys(
    application: Application, held: Holdings, options: StreamsOptions, racks: RackAware | None, costs: tuple[int, int]
) -> None:
    from app.core.streams import loads_kernel as kernel  # noqa: PLC0415 — numba takes long to import

    if options.num_standby_replicas == 0:
        return
    policy = policy_for(options)
    policy.place(application, held, options)
    kernel.balance(held.standby, held.active, held.counts, application.capacities, policy.may_move(application))
    if racks is not None:
        racks.optimise_standbys(held, costs, policy.tags_held and policy.tags_held(application))


def _move_to_state(application: Application, held: Holdings, options: StreamsOptions) -> int:
    """Move tasks to clients that are caught up; returns how many movements there were."""
    from app.core.streams.assignors import client_queue_kernel as queues  # noqa: PLC0415 — numba takes long to import
    from app.core.streams.assignors import movements_kernel as kernel  # noqa: PLC0415 — as above

    lags = application.lags
    caught_up = _caught_up(lags, options.acceptable_recovery_lag)
    counts = held.counts
    hashes = np.array([spread(uuid_hash_code(client.process_id)) for client in application.clients], np.int64)
    warmups_left = np.array([options.max_warmup_replicas], np.int64)
    moved = 0
    for move in (kernel.move_active, kernel.move_standbys):
        queue = queues.queue_of(counts, application.capacities, hashes)
        moved += move(held.active, held.standby, held.warmup, caught_up, lags, queue, warmups_left)
    return moved


def _caught_up(lags: Int64s, acceptable_recovery_lag: int) -> Bools:
    """(clients, tasks) bool: who has so much of a task's state that it may run it."""
    if acceptable_recovery_lag == UNBOUNDED_LAG:
        return np.ones(lags.shape, np.bool_)
    caught_up: Bools = (lags == RUNNING_ACTIVE) | ((lags >= 0) & (lags <= acceptable_recovery_lag))
    return caught_up


def _place_stateless(application: Application, held: Holdings, racks: RackAware | None) -> None:
    from app.core.streams import loads_kernel as kernel  # noqa: PLC0415 — numba takes long to import

    rows = application.stateless
    if not len(rows):
        return
    application.require_clients("NullPointerException")
    kernel.deal_to_least_loaded(rows, held.active, application.capacities)
    if racks is not None:
        racks.optimise_active(held, rows, STATELESS_COSTS)
