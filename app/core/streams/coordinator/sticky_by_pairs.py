"""The coordinator's sticky task assignor of Kafka 4.1: tasks stay where they are, and pairs of tasks are kept apart.

Hard constraints: each task is active on one member; a standby is on another process than any other copy of its task.
Goals, in order: members have as many active tasks, but for one; tasks stay; two tasks share as few processes as can be.

Active tasks, in the order of a hash set, each time over all that are left
    1. Back to the member on which the task was active, below the quota.
    2. To the least loaded process that had it as a standby, below the quota.
    3. To the least loaded process, and there to the member with the fewest tasks.
Standbys, if `num_standby_replicas` > 0, task by task, on processes that do not have the task
    1. The previous active owner, if its process has room or is least loaded, and has a task that shares no process with
       this one yet (or no task).
    2. The least loaded of the previous standby owners' processes, if it has room or is least loaded.
    3. The least loaded process.
    In 2 and 3, processes with a task that shares no process with this one yet come before all others.

The load of a process is its number of tasks divided by its number of members; it has room while that is below 1.
Between processes of equal load, Kafka's own code chooses by identity hash codes, which differ from run to run. The
first process in the order of a hash map is taken here, and the assignment states that there was such a choice
(`by_chance`).

    P has the member a, Q has b; one stateful subtopology of four tasks, none assigned, one standby: two tasks each are
    active on a and b and standby on the other; which two is by chance

Source: KIP-1071; `org.apache.kafka.coordinator.group.streams.assignor.StickyTaskAssignor` of Apache Kafka 4.1.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import groupby

from app.core.jvm import JavaHashSet, string_hash_order
from app.core.jvm.hashes import int32
from app.core.kafka_versions import KafkaRange, Replayed
from app.core.streams.coordinator import model
from app.core.streams.coordinator.model import Quota, StreamsGroupAssignment, StreamsMember, Subtopology, Task
from app.errors.kafka import KafkaError, TooManyTasks

REPLAYS = Replayed("org.apache.kafka.coordinator.group.streams.assignor.StickyTaskAssignor", KafkaRange("4.1", "4.1"))


def assign(
    members: Sequence[StreamsMember], subtopologies: Sequence[Subtopology], *, num_standby_replicas: int = 0
) -> StreamsGroupAssignment:
    """Assign tasks as `StickyTaskAssignor` of Kafka 4.1 does.

    O(tasks · processes) for active tasks, O(standbys · processes · tasks / 64) for standbys.

    Parameters
    ----------
    members : of distinct ids; their offsets are not read.

    Raises
    ------
    NoMembersForTasks : if there are tasks and no members.
    TooManyTasks : if the number of pairs of tasks overflows 32 bits.
    """
    group = _Group(members, subtopologies)
    group.assign_active(_hash_set(model.tasks_of(subtopologies)))
    if num_standby_replicas > 0:
        group.assign_standbys(_hash_set(model.tasks_of(subtopologies, stateful_only=True)), num_standby_replicas)
    return replace(StreamsGroupAssignment.of(members, group.active, group.standby), by_chance=group.by_chance)


def _hash_set(tasks: Iterable[Task]) -> list[Task]:
    ordered = JavaHashSet(model.STREAMS_TASK)
    for task in tasks:
        ordered.add(task)
    return list(ordered)


class _Process:
    """A process, its members in hash order, how many tasks each has, and the set of its tasks as bits."""

    __slots__ = ("active", "bits", "counts", "load", "n_tasks")

    def __init__(self, members: Sequence[str]) -> None:
        self.counts = dict.fromkeys(model.by_hash(members), 0)
        self.bits = 0
        self.active = self.n_tasks = 0
        self.load = 0.0

    def add(self, member: str, bit: int) -> None:
        self.bits |= bit
        self.counts[member] += 1
        self.n_tasks += 1
        self.load = self.n_tasks / len(self.counts)

    def has_room(self) -> bool:
        """Whether it has fewer tasks than members."""
        return self.n_tasks < len(self.counts)

    def least_loaded(self) -> str:
        """The first member with the fewest tasks."""
        return min(self.counts, key=self.counts.__getitem__)


class _Group:
    """The members, their previous tasks, and the assignment so far."""

    def __init__(self, members: Sequence[StreamsMember], subtopologies: Sequence[Subtopology]) -> None:
        self.active: dict[str, list[Task]] = {member.id: [] for member in members}
        self.standby: dict[str, list[Task]] = {member.id: [] for member in members}
        self.by_chance = False
        in_order = [members[index] for index in string_hash_order([member.id for member in members]).tolist()]
        ids_of: dict[str, list[str]] = {}
        for member in in_order:
            ids_of.setdefault(member.process_id, []).append(member.id)
        self._processes = [_Process(ids_of[process_id]) for process_id in model.by_hash(list(ids_of))]
        self._process_of = {member: process for process in self._processes for member in process.counts}
        self._previous_active = {task: member.id for member in in_order for task in member.active}
        self._previous_standby = model.owners_of_standbys(in_order)
        tasks = model.tasks_of(subtopologies)
        _require_pairs(len(tasks))
        self._bit_of = {task: 1 << index for index, task in enumerate(tasks)}
        self._quota = Quota(len(tasks), len(members))

    def assign_active(self, tasks: Sequence[Task]) -> None:
        """Assign every task once. A task that is on no process yet is a new pair for all of them."""
        remaining = [task for task in tasks if not self._take_active(task, self._previous_active.get(task))]
        unowned = [task for task in remaining if not self._take_active(task, self._active_from_standby(task))]
        for task in unowned:
            if not self._processes:
                text = f"TaskId[subtopologyId={task[0]}, partition={task[1]}]"
                raise model.no_members(len(unowned), "No member available to assign active task {}." + text)
            process = self._first_of(self._processes)
            self._add_active(task, process, process.least_loaded())

    def _active_from_standby(self, task: Task) -> str | None:
        """The owner of the task's standby whose process is least loaded."""
        owners = self._previous_standby.get(task)
        if not owners:
            return None
        return self._owner_in(self._first_of(self._distinct_processes(owners)), owners)

    def _take_active(self, task: Task, member: str | None) -> bool:
        """Assign a task to a member, if there is one and it is below the quota."""
        if member is None or self._process_of[member].counts[member] >= self._quota.limit:
            return False
        self._add_active(task, self._process_of[member], member)
        return True

    def _add_active(self, task: Task, process: _Process, member: str) -> None:
        self.active[member].append(task)
        process.add(member, self._bit_of[task])
        process.active += 1
        # Kafka compares the process's number of active tasks with the quota of a member.
        self._quota.record(process.active)

    def assign_standbys(self, tasks: Sequence[Task], replicas: int) -> None:
        """Assign each task to as many further processes, as far as there are any."""
        for task in tasks:
            bit = self._bit_of[task]
            owners = self._previous_standby.get(task, [])
            for _ in range(replicas):
                available = [process for process in self._processes if not process.bits & bit]
                if not available:
                    break
                member = self._standby_owner(bit, self._previous_active.get(task), owners)
                if member is None:
                    member = self._first_of(self._with_new_pair(bit, available)).least_loaded()
                self.standby[member].append(task)
                self._process_of[member].add(member, bit)

    def _standby_owner(self, bit: int, active: str | None, owners: Sequence[str]) -> str | None:
        """A previous owner of the task that may have its standby."""
        if active is not None:
            process = self._process_of[active]
            if not process.bits & bit and self._is_balanced(process) and self._has_new_pair(bit, process):
                return active
        free = [owner for owner in owners if not self._process_of[owner].bits & bit]
        if free:
            process = self._first_of(self._with_new_pair(bit, self._distinct_processes(free)))
            if self._is_balanced(process):
                return self._owner_in(process, free)
        return None

    def _distinct_processes(self, members: Iterable[str]) -> list[_Process]:
        wanted = {id(self._process_of[member]) for member in members}
        return [process for process in self._processes if id(process) in wanted]

    def _owner_in(self, process: _Process, owners: Sequence[str]) -> str:
        inside = [owner for owner in owners if owner in process.counts]
        self.by_chance |= len(inside) > 1
        return inside[0]

    def _first_of(self, processes: Iterable[_Process]) -> _Process:
        """The least loaded of the processes, which are not none; the first if several are."""
        by_load = sorted(processes, key=model.load_of)
        self.by_chance |= len(by_load) > 1 and by_load[0].load == by_load[1].load
        return by_load[0]

    def _is_balanced(self, process: _Process) -> bool:
        return process.has_room() or process.load <= min(map(model.load_of, self._processes))

    def _with_new_pair(self, bit: int, processes: Sequence[_Process]) -> Iterable[_Process]:
        """The least loaded of the processes to which the task brings a new pair; all of them if it brings none."""
        partners = self._partners(bit)
        for _, level in groupby(sorted(processes, key=model.load_of), key=model.load_of):
            fitting = [process for process in level if not process.bits or process.bits & ~partners]
            if fitting:
                return fitting
        return processes

    def _has_new_pair(self, bit: int, process: _Process) -> bool:
        """Whether some task of a process shares no process with the task; an empty process if not all pairs do."""
        if process.bits:
            return bool(process.bits & ~self._partners(bit))
        return any(self._lacks_pairs())

    def _lacks_pairs(self) -> Iterator[bool]:
        """Whether some other task shares no process with it, for each task."""
        every = (1 << len(self._bit_of)) - 1
        return (self._partners(bit) | bit != every for bit in self._bit_of.values())

    def _partners(self, bit: int) -> int:
        """The tasks, as bits, that share a process with a task: tasks never leave a process here."""
        partners = 0
        for process in self._processes:
            if process.bits & bit:
                partners |= process.bits
        return partners


def _require_pairs(tasks: int) -> None:
    """Kafka makes a hash set as large as there are pairs of tasks, in 32-bit arithmetic."""
    if int32(tasks * (tasks - 1)) < 0:
        raise TooManyTasks(
            f"the pairs of {tasks} tasks overflow 32 bits, where Kafka's own code fails",
            kafka=KafkaError("IllegalArgumentException"),
            path=("subtopologies",),
            tasks=tasks,
        )
