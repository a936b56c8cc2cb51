"""The sticky assignor, Kafka Streams' default before 2.6: tasks stay on their clients unless these are overloaded.

An active task goes to the client that ran it, while that has fewer tasks than its threads' share; then to a client that
had a standby of it, under the same condition. The rest goes, task by task, to the previous client unless it is full and
others are not, else to the least loaded client, preferably one whose tasks have not all been together with this one.
Standbys are placed in the same way. State and lags have no influence, and no probing rebalance follows.

Ties are broken by the iteration order of Java's hash maps.

Source: KIP-925; `LegacyStickyTaskAssignor` of Apache Kafka 4.0.
"""

from collections.abc import Iterable, Sequence

import numpy as np

from app.core.jvm import JavaHashMap, JavaHashSet, hash_order
from app.core.jvm.hashes import TASK_ID, TaskId, int32, uuid_hash_code
from app.core.kafka_versions import Replayed
from app.core.streams.assignors.high_availability import costs_of
from app.core.streams.model import (
    Application,
    PartialAssignment,
    StreamsAssignment,
    StreamsClient,
    StreamsOptions,
    StreamsTasks,
    TaskPartitions,
    inconsistent,
    java_order,
)
from app.core.streams.rack_aware.optimum import STATELESS_COSTS, rack_aware
from app.errors.kafka import ClientWithoutThreads, KafkaError, NoClients, TooManyTasks


class StickyPlacement:
    """Tasks of each client, previous and new. Clients and tasks are numbered as in the application.

    Parameters
    ----------
    partial : empty; changed in place.
    """

    def __init__(self, application: Application, partial: PartialAssignment) -> None:
        self._application = application
        self._partial = partial
        self._capacities = application.capacities.tolist()
        listed = np.argsort(application.place_of).tolist()
        self._hashes = np.array([uuid_hash_code(client.process_id) for client in application.clients], np.int32)
        self._orders = [java_order(client.process_id) for client in application.clients]
        self._all_clients = self._hash_order(listed)
        self._tasks: list[set[int]] = [set() for _ in listed]
        self._loads = [0.0] * len(listed)
        self._all_have_threads = all(capacity > 0 for capacity in self._capacities)
        self._pairs = TaskPairs(len(dict.fromkeys(application.tasks.ids)))
        self._previous_active: dict[int, int] = {}
        self._previous_standbys: dict[int, list[int]] = {}
        self._previous: JavaHashMap[TaskId, int] = JavaHashMap(TASK_ID)
        self._read_previous()

    def place_active(self, *, keeps_active: bool) -> None:
        """Place all active tasks, stateful or not.

        Parameters
        ----------
        keeps_active : whether a task stays on its client whatever the load.
        """
        threads = sum(self._capacities)
        if threads == 0:
            raise NoClients("no client has a stream thread", kafka=KafkaError("IllegalStateException"))
        application = self._application
        all_tasks: JavaHashSet[TaskId] = JavaHashSet(TASK_ID)
        for task in application.tasks.ids:
            all_tasks.add(task)
        share = len(all_tasks) // threads
        assigned: JavaHashSet[TaskId] = JavaHashSet(TASK_ID)
        for task, client in self._previous.items():
            if task in all_tasks and (keeps_active or self._is_below(client, share)):
                self._assign_active(application.row_of[task], client)
                assigned.add(task)
        unassigned = _difference(all_tasks, assigned)
        for task in list(unassigned):
            row = application.row_of[task]
            for client in self._previous_standbys.get(row, ()):
                if self._is_below(client, share):
                    self._assign_active(row, client)
                    unassigned.remove_by_iterator(task)
                    break
        for task in sorted(unassigned):
            row = application.row_of[task]
            self._assign_active(row, self._client_for(row, self._all_clients))

    def refresh(self) -> None:
        """Read the tasks of each client after KIP-925 has moved some."""
        copies = self._partial.active | self._partial.standby
        self._tasks = [set(np.flatnonzero(tasks).tolist()) for tasks in copies]
        for client in self._all_clients:
            self._update_load(client)

    def place_standbys(self, num_standby_replicas: int) -> None:
        """Place the standbys of all stateful tasks, up to the number of other clients."""
        application = self._application
        stateful: JavaHashSet[TaskId] = JavaHashSet(TASK_ID)
        if num_standby_replicas > 0:
            for task in application.tasks.stateful:
                stateful.add(task)
        for task in stateful:
            row = application.row_of[task]
            for _ in range(num_standby_replicas):
                candidates = self._hash_order(
                    [client for client in self._all_clients if row not in self._tasks[client]]
                )
                if not candidates:
                    break
                client = self._client_for(row, candidates)
                self._assign(row, client)
                self._partial.standby[client, row] = True

    def _read_previous(self) -> None:
        """Read the previous client of each active task (of two, the last in hash order) and of its standbys."""
        application = self._application
        standbys: dict[int, list[int]] = {}
        for place in self._all_clients:
            client = application.clients[place]
            for task in sorted(set(client.previous_active)):
                self._previous[task] = place
            for task in set(client.previous_standby):
                if task in application.row_of:
                    standbys.setdefault(application.row_of[task], []).append(place)
        self._previous_standbys = {row: self._hash_order(places) for row, places in standbys.items()}
        self._previous_active = {
            application.row_of[task]: place for task, place in self._previous.items() if task in application.row_of
        }

    def _hash_order(self, places: Sequence[int], *, copied: bool = False) -> list[int]:
        """Clients in the iteration order of a HashSet to which they were added as listed, or of a copy of a set."""
        capacity = None if not copied else max(int(len(places) / 0.75) + 1, 16)
        codes = self._hashes[list(places)]
        order = hash_order(codes, initial_capacity=capacity, order=lambda index: self._orders[places[index]])
        return [places[index] for index in order.tolist()]

    def _is_below(self, client: int, share: int) -> bool:
        return self._n_active(client) < int32(self._capacities[client] * share)

    def _n_active(self, client: int) -> int:
        # Standbys are placed later, so that all tasks of a client are active.
        return len(self._tasks[client])

    def _assign_active(self, row: int, client: int) -> None:
        if row in self._tasks[client]:
            raise inconsistent(self._application, row, "is given to a client twice", "IllegalArgumentException")
        self._assign(row, client)
        self._partial.active[client, row] = True

    def _assign(self, row: int, client: int) -> None:
        self._pairs.add(row, self._tasks[client])
        self._tasks[client].add(row)
        self._update_load(client)

    def _update_load(self, client: int) -> None:
        if self._capacities[client] > 0:
            self._loads[client] = len(self._tasks[client]) / self._capacities[client]

    def _client_for(self, row: int, among: Sequence[int]) -> int:
        """The client for a task, of the given clients in hash order."""
        if len(among) == 1:
            return among[0]
        previous = self._previous_active.get(row)
        candidate = previous if previous in among else self._client_with_standby(row, among)
        if candidate is None:
            return self._least_loaded(row, among)
        if not self._is_overloaded(candidate):
            return candidate
        standby = self._client_with_standby(row, among)
        if standby is None or self._is_overloaded(standby):
            return self._least_loaded(row, among)
        return standby

    def _client_with_standby(self, row: int, among: Sequence[int]) -> int | None:
        clients = self._previous_standbys.get(row)
        if clients is None:
            return None
        # Kafka copies the set and then removes from the copy.
        candidates = [client for client in self._hash_order(clients, copied=True) if client in among]
        return self._least_loaded(row, candidates) if candidates else None

    def _is_overloaded(self, client: int) -> bool:
        """Whether a client has at least one task for each thread, and another client has more capacity left."""
        if len(self._tasks[client]) < self._capacities[client]:
            return False
        return any(self._has_more_slack(other, client) for other in self._all_clients)

    def _least_loaded(self, row: int, among: Iterable[int]) -> int:
        among = list(among)
        client = self._least_loaded_of(row, among, needs_new_pair=True)
        if client is None:
            client = self._least_loaded_of(row, among, needs_new_pair=False)
        return among[0] if client is None else client

    def _least_loaded_of(self, row: int, among: Sequence[int], *, needs_new_pair: bool) -> int | None:
        best: int | None = None
        for client in among:
            if not self._tasks[client]:
                return client
            if (best is None or self._has_more_slack(client, best)) and (
                not needs_new_pair or self._pairs.has_new(row, self._tasks[client])
            ):
                best = client
        return best

    def _has_more_slack(self, client: int, other: int) -> bool:
        capacity, other_capacity = self._capacities[client], self._capacities[other]
        if not self._all_have_threads and (capacity <= 0 or other_capacity <= 0):
            threadless = self._application.clients[client if capacity <= 0 else other]
            raise ClientWithoutThreads(
                f"client {threadless.process_id} has no stream thread, and is compared by tasks a thread",
                kafka=KafkaError("IllegalStateException"),
                process_id=str(threadless.process_id),
            )
        load, other_load = self._loads[client], self._loads[other]
        return load < other_load or (load == other_load and bool(capacity > other_capacity))


def _difference(tasks: JavaHashSet[TaskId], removed: JavaHashSet[TaskId]) -> JavaHashSet[TaskId]:
    """A copy of a set after `removeAll`, which iterates over the smaller of the two."""
    remaining = JavaHashSet.copy_of(list(tasks), TASK_ID)
    if len(remaining) > len(removed):
        for task in removed:
            remaining.discard(task)
    else:
        for task in list(remaining):
            if task in removed:
                remaining.remove_by_iterator(task)
    return remaining


class TaskPairs:
    """Unordered pairs of tasks that have been on one client (Kafka's `TaskPairs`).

    Parameters
    ----------
    tasks : number of tasks; when all of their pairs are known, none counts as new.

    Raises
    ------
    TooManyTasks : if the number of pairs overflows 32 bits to below zero.
    """

    def __init__(self, tasks: int) -> None:
        doubled = int32(tasks * (tasks - 1))
        self._most = -(-doubled // 2) if doubled < 0 else doubled // 2
        if self._most < 0:
            raise TooManyTasks(
                f"{tasks} tasks make more pairs than fit 32 bits", kafka=KafkaError("IllegalArgumentException")
            )
        self._known: dict[int, set[int]] = {}
        self._size = 0

    def add(self, task: int, others: set[int]) -> None:
        """Record that a task is placed beside others."""
        known = self._known.setdefault(task, set())
        new_pairs = others - known
        known |= new_pairs
        for other in new_pairs:
            if other != task:
                self._known.setdefault(other, set()).add(task)
        self._size += len(new_pairs)

    def has_new(self, task: int, others: set[int]) -> bool:
        """Whether a task forms a new pair with any of the others; False if all pairs are known."""
        if self._size == self._most:
            return False
        return not others <= self._known.get(task, set())


TRAFFIC_COST, NON_OVERLAP_COST = 1, 10
"""Default costs of KIP-925 for stateful tasks."""

REPLAYS = Replayed("org.apache.kafka.streams.processor.internals.assignment.LegacyStickyTaskAssignor")
PRIOR_REPLAYS = Replayed("org.apache.kafka.streams.processor.internals.assignment.FallbackPriorTaskAssignor")


def assign(
    clients: Sequence[StreamsClient],
    tasks: StreamsTasks,
    options: StreamsOptions,
    partitions: TaskPartitions | None = None,
    *,
    keeps_active: bool = False,
) -> StreamsAssignment:
    """Assign tasks as `LegacyStickyTaskAssignor` does.

    Parameters
    ----------
    clients : in the order in which they are put into the map of clients; their lags have no influence.
    partitions : None if KIP-925 is to be off.
    keeps_active : whether every active task stays on its client, whatever the load, and a probing rebalance follows.

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


def assign_prior(
    clients: Sequence[StreamsClient],
    tasks: StreamsTasks,
    options: StreamsOptions,
    partitions: TaskPartitions | None = None,  # noqa: ARG001 — the fallback uses no racks
) -> StreamsAssignment:
    """Assign tasks as `FallbackPriorTaskAssignor` does, which Kafka uses while it cannot fetch the lags: every active
    task stays on its client; otherwise as `assign`, without racks.
    """
    return assign(clients, tasks, options, keeps_active=True)
