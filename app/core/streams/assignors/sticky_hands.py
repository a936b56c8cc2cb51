"""How the sticky assignor hands out tasks one by one, in the order of Java's hash maps."""

from collections.abc import Iterable, Sequence

import numpy as np

from app.core.jvm import JavaHashMap, JavaHashSet, hash_order
from app.core.jvm.hashes import TASK_ID, TaskId, int32, uuid_hash_code
from app.core.streams.application import Application, Holdings, inconsistent, java_order
from app.core.streams.assignors.task_pairs import TaskPairs
from app.errors import ClientWithoutThreads, KafkaError, NoClients


class StickyHands:
    """What each client holds so far, and what it held before. Clients and tasks go by their place in the application.

    Parameters
    ----------
    held : nothing as yet; changed in place.
    """

    def __init__(self, application: Application, held: Holdings) -> None:
        self._application = application
        self._held = held
        self._capacities = application.capacities.tolist()
        listed = np.argsort(application.place_of).tolist()
        self._hashes = np.array([uuid_hash_code(client.process_id) for client in application.clients], np.int32)
        self._orders = [java_order(client.process_id) for client in application.clients]
        self._everybody = self._hash_order(listed)
        self._tasks: list[set[int]] = [set() for _ in listed]
        self._loads = [0.0] * len(listed)
        self._all_have_threads = all(capacity > 0 for capacity in self._capacities)
        self._pairs = TaskPairs(len(dict.fromkeys(application.tasks.ids)))
        self._had_active: dict[int, int] = {}
        self._had_standby: dict[int, list[int]] = {}
        self._previous: JavaHashMap[TaskId, int] = JavaHashMap(TASK_ID)
        self._remember()

    def place_active(self, *, keeps_active: bool) -> None:
        """Place all active tasks, stateful or not.

        Parameters
        ----------
        keeps_active : whether a task stays where it was whatever the load.
        """
        threads = sum(self._capacities)
        if threads == 0:
            raise NoClients("no client has a stream thread", kafka=KafkaError("IllegalStateException"))
        application = self._application
        every: JavaHashSet[TaskId] = JavaHashSet(TASK_ID)
        for task in application.tasks.ids:
            every.add(task)
        share = len(every) // threads
        assigned: JavaHashSet[TaskId] = JavaHashSet(TASK_ID)
        for task, client in self._previous.items():
            if task in every and (keeps_active or self._is_below(client, share)):
                self._give_active(application.row_of[task], client)
                assigned.add(task)
        left = _without(every, assigned)
        for task in list(left):
            row = application.row_of[task]
            for client in self._had_standby.get(row, ()):
                if self._is_below(client, share):
                    self._give_active(row, client)
                    left.remove_by_iterator(task)
                    break
        for task in sorted(left):
            row = application.row_of[task]
            self._give_active(row, self._client_for(row, self._everybody))

    def look_again(self) -> None:
        """Learn what each client holds after others have moved tasks."""
        both = self._held.active | self._held.standby
        self._tasks = [set(np.flatnonzero(own).tolist()) for own in both]
        for client in self._everybody:
            self._weigh(client)

    def place_standbys(self, num_standby_replicas: int) -> None:
        """Place standbys of all stateful tasks, as many as there are clients for."""
        application = self._application
        stateful: JavaHashSet[TaskId] = JavaHashSet(TASK_ID)
        if num_standby_replicas > 0:
            for task in application.tasks.stateful:
                stateful.add(task)
        for task in stateful:
            row = application.row_of[task]
            for _ in range(num_standby_replicas):
                without = self._hash_order([client for client in self._everybody if row not in self._tasks[client]])
                if not without:
                    break
                client = self._client_for(row, without)
                self._give(row, client)
                self._held.standby[client, row] = True

    def _remember(self) -> None:
        """Who had which task: where two say they ran it, the last in hash order; who had standbys, in hash order."""
        application = self._application
        had_standby: dict[int, list[int]] = {}
        for place in self._everybody:
            client = application.clients[place]
            for task in sorted(set(client.previous_active)):
                self._previous[task] = place
            for task in set(client.previous_standby):
                if task in application.row_of:
                    had_standby.setdefault(application.row_of[task], []).append(place)
        self._had_standby = {row: self._hash_order(places) for row, places in had_standby.items()}
        self._had_active = {
            application.row_of[task]: place for task, place in self._previous.items() if task in application.row_of
        }

    def _hash_order(self, places: Sequence[int], *, copied: bool = False) -> list[int]:
        """Clients as a HashSet iterates over them: one that they were put into as listed, or a copy of a set."""
        capacity = None if not copied else max(int(len(places) / 0.75) + 1, 16)
        orders = [self._orders[place] for place in places]
        order = hash_order(self._hashes[list(places)], initial_capacity=capacity, order=orders)
        return [places[at] for at in order.tolist()]

    def _is_below(self, client: int, share: int) -> bool:
        return self._n_active(client) < int32(self._capacities[client] * share)

    def _n_active(self, client: int) -> int:
        # Standbys come later, so that all that a client holds is active.
        return len(self._tasks[client])

    def _give_active(self, row: int, client: int) -> None:
        if row in self._tasks[client]:
            raise inconsistent(self._application, row, "is given to a client twice", "IllegalArgumentException")
        self._give(row, client)
        self._held.active[client, row] = True

    def _give(self, row: int, client: int) -> None:
        self._pairs.add(row, self._tasks[client])
        self._tasks[client].add(row)
        self._weigh(client)

    def _weigh(self, client: int) -> None:
        if self._capacities[client] > 0:
            self._loads[client] = len(self._tasks[client]) / self._capacities[client]

    def _client_for(self, row: int, among: Sequence[int]) -> int:
        """Who gets a task, of some clients in hash order."""
        if len(among) == 1:
            return among[0]
        previous = self._had_active.get(row)
        candidate = previous if previous in among else self._previous_standby(row, among)
        if candidate is None:
            return self._least_loaded(row, among)
        if not self._is_overloaded(candidate):
            return candidate
        standby = self._previous_standby(row, among)
        if standby is None or self._is_overloaded(standby):
            return self._least_loaded(row, among)
        return standby

    def _previous_standby(self, row: int, among: Sequence[int]) -> int | None:
        ids = self._had_standby.get(row)
        if ids is None:
            return None
        # Kafka copies the set and then removes from the copy.
        within = [client for client in self._hash_order(ids, copied=True) if client in among]
        return self._least_loaded(row, within) if within else None

    def _is_overloaded(self, client: int) -> bool:
        """Whether a client has a task for each thread, and somebody has more to spare."""
        if len(self._tasks[client]) < self._capacities[client]:
            return False
        return any(self._has_more_to_spare(other, client) for other in self._everybody)

    def _least_loaded(self, row: int, among: Iterable[int]) -> int:
        among = list(among)
        found = self._least_loaded_of(row, among, needs_new_pair=True)
        if found is None:
            found = self._least_loaded_of(row, among, needs_new_pair=False)
        return among[0] if found is None else found

    def _least_loaded_of(self, row: int, among: Sequence[int], *, needs_new_pair: bool) -> int | None:
        best: int | None = None
        for client in among:
            if not self._tasks[client]:
                return client
            if (best is None or self._has_more_to_spare(client, best)) and (
                not needs_new_pair or self._pairs.has_new(row, self._tasks[client])
            ):
                best = client
        return best

    def _has_more_to_spare(self, one: int, other: int) -> bool:
        capacity, other_capacity = self._capacities[one], self._capacities[other]
        if not self._all_have_threads and (capacity <= 0 or other_capacity <= 0):
            without = self._application.clients[one if capacity <= 0 else other]
            raise ClientWithoutThreads(
                f"client {without.process_id} has no stream thread, and is compared by tasks a thread",
                kafka=KafkaError("IllegalStateException"),
                process_id=str(without.process_id),
            )
        load, other_load = self._loads[one], self._loads[other]
        return load < other_load or (load == other_load and bool(capacity > other_capacity))


def _without(every: JavaHashSet[TaskId], assigned: JavaHashSet[TaskId]) -> JavaHashSet[TaskId]:
    """A copy of a set after `removeAll`, which goes through the smaller of the two."""
    left = JavaHashSet.copy_of(list(every), TASK_ID)
    if len(left) > len(assigned):
        for task in assigned:
            left.discard(task)
    else:
        for task in list(left):
            if task in assigned:
                left.remove_by_iterator(task)
    return left
