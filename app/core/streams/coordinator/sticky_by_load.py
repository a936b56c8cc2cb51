"""The coordinator's sticky task assignor since Kafka 4.2: tasks stay where they are, then fill processes by load.

Hard constraints: each task is active on one member; a standby is on another process than any other copy of its task.
Goals, in order: members have as many tasks, but for one; tasks stay; each process has tasks of few subtopologies.

Active tasks
    1. By partition, then subtopology text: back to the member on which the task was active, below the quota.
    2. In the same order: to the previous standby owner that is least loaded, below the quota.
    3. By subtopology text, then partition: to the least loaded process, and there to the least loaded member.
Standbys, if `num_standby_replicas` > 0
    1. By partition, then subtopology text, in reverse: to the previous active owner, then to a previous standby owner,
       below the quota over all tasks and if the process does not have the task.
    2. By subtopology text, then partition, in reverse: to the least loaded process that does not have the task.

The load of a process is its number of tasks divided by its number of members. Ties are broken by the rules of Java's
binary heap, into which processes and members come in the order of hash maps. Client tags and racks have no influence.

`Rules` names the differences between releases. Since 4.4 previous standby owners are ranked by the offsets that they
report, and the hash map of processes is filled in another way, which changes the order of ids that share a bin. Before
4.2.2, and in 4.3 before 4.3.2, no previous standby owner gets a standby if the process of the first one has the task.

    P has the member a, Q has b; one stateful subtopology of four tasks, none assigned, one standby

    a → active 0_0 0_2, standby 0_1 0_3        b → active 0_1 0_3, standby 0_0 0_2

Source: KIP-1071; `org.apache.kafka.coordinator.group.streams.assignor.StickyTaskAssignor` of Apache Kafka 4.2 to 4.4.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import inf

from app.core.jvm import JavaHashMap, JavaPriorityQueue, string_hash_order
from app.core.jvm.hashes import STRING
from app.core.kafka_versions import KafkaRange, Replayed
from app.core.streams.coordinator import model
from app.core.streams.coordinator.model import Quota, StreamsGroupAssignment, StreamsMember, Subtopology, Task


@dataclass(frozen=True, slots=True)
class Rules:
    """The differences between releases.

    Parameters
    ----------
    ranks_by_offset : previous standby owners are first the current owners, then members that only report an
        offset of the task, each by offset, the greatest first; else the current owners in member order.
    computes_processes : the hash map of processes is filled with `computeIfAbsent` instead of `putIfAbsent`.
    asks_first : a standby returns to no previous standby owner if the process of the first one has the task.
    replays : the releases that do so.
    """

    ranks_by_offset: bool
    computes_processes: bool
    asks_first: bool
    replays: Replayed


_SOURCE = "org.apache.kafka.coordinator.group.streams.assignor.StickyTaskAssignor"


def _by_load(first: str, last: str, *, asks_first: bool, is_new: bool = False) -> Rules:
    return Rules(is_new, is_new, asks_first, Replayed(_SOURCE, KafkaRange(first, last)))


SINCE_4_2 = _by_load("4.2.0", "4.2.1", asks_first=True)
SINCE_4_2_2 = _by_load("4.2.2", "4.2", asks_first=False)
SINCE_4_3 = _by_load("4.3.0", "4.3.1", asks_first=True)
SINCE_4_3_2 = _by_load("4.3.2", "4.3", asks_first=False)
BEFORE_4_4 = (SINCE_4_2, SINCE_4_2_2, SINCE_4_3, SINCE_4_3_2)
SINCE_4_4 = _by_load("4.4", "4.4", asks_first=False, is_new=True)


def assign(
    members: Sequence[StreamsMember],
    subtopologies: Sequence[Subtopology],
    *,
    num_standby_replicas: int = 0,
    rules: Rules = SINCE_4_4,
) -> StreamsGroupAssignment:
    """Assign tasks as `StickyTaskAssignor` of Kafka 4.2 and later does. O(tasks · log processes), and per standby the
    processes that have the task.

    Parameters
    ----------
    members : of distinct ids.

    Raises
    ------
    NoMembersForTasks : if there are tasks and no members.
    """
    group = _Group(members, subtopologies, num_standby_replicas, rules)
    group.assign_active(model.tasks_of(subtopologies))
    if num_standby_replicas > 0:
        group.assign_standbys(model.tasks_of(subtopologies, stateful_only=True), num_standby_replicas)
    return StreamsGroupAssignment.of(members, group.active, group.standby)


class _Process:
    """A process, its members and how many tasks each has."""

    __slots__ = ("_by_load", "counts", "load", "tasks")

    def __init__(self, members: Sequence[str]) -> None:
        self.counts = dict.fromkeys(model.by_hash(members), 0)
        self.tasks: set[Task] = set()
        self.load = 0.0
        self._by_load: JavaPriorityQueue[str] | None = None

    def add(self, member: str, task: Task) -> int:
        """Add a task to a named member, after which the queue of members is built anew; returns its number of tasks."""
        self._by_load = None
        return self._add(member, task)

    def add_to_least_loaded(self, task: Task) -> tuple[str, int]:
        """Add a task to the least loaded member; returns it and its number of tasks."""
        if self._by_load is None:
            self._by_load = JavaPriorityQueue(self.counts.__getitem__, self.counts)
        member = self._by_load.poll()
        if member is None:
            raise ValueError("a process has at least one member")
        count = self._add(member, task)
        self._by_load.add(member)
        return member, count

    def _add(self, member: str, task: Task) -> int:
        self.tasks.add(task)
        self.counts[member] += 1
        # A process never has a task twice, so that the set counts them.
        self.load = len(self.tasks) / len(self.counts)
        return self.counts[member]


class _Group:
    """The members, their previous tasks, and the assignment so far."""

    def __init__(
        self, members: Sequence[StreamsMember], subtopologies: Sequence[Subtopology], standbys: int, rules: Rules
    ) -> None:
        self._rules = rules
        self.active: dict[str, list[Task]] = {member.id: [] for member in members}
        self.standby: dict[str, list[Task]] = {member.id: [] for member in members}
        in_order = [members[index] for index in string_hash_order([member.id for member in members]).tolist()]
        self._processes = _processes(in_order, rules)
        self._process_of = {member.id: self._processes[member.process_id] for member in members}
        self._previous_active = {task: member.id for member in in_order for task in member.active}
        owners_of = _ranked_by_offset if rules.ranks_by_offset else model.owners_of_standbys
        self._previous_standby = owners_of(in_order)
        n_active = sum(subtopology.partitions for subtopology in subtopologies)
        n_stateful = sum(subtopology.partitions for subtopology in subtopologies if subtopology.is_stateful)
        self._active_quota = Quota(n_active, len(members))
        self._quota = Quota(n_active + n_stateful * standbys, len(members))

    def assign_active(self, tasks: Sequence[Task]) -> None:
        """Assign every task once."""
        remaining = []
        for task in sorted(tasks, key=model.partition_order):
            member = self._previous_active.get(task)
            if member is None or not self._take_active(task, member):
                remaining.append(task)
        unowned = []
        for task in remaining:
            member = self._least_loaded(task, without_task=False)
            if member is None or not self._take_active(task, member):
                unowned.append(task)
        by_load = self._by_load()
        for task in sorted(unowned, key=model.text_order):
            process = by_load.poll()
            if process is None:
                message = f"No process available to assign active task {task[0]}_{task[1]}."
                raise model.no_members(len(unowned), message)
            member, count = process.add_to_least_loaded(task)
            self.active[member].append(task)
            self._record_active(count)
            by_load.add(process)

    def _take_active(self, task: Task, member: str) -> bool:
        """Assign a task to a member unless it is at its quota."""
        process = self._process_of[member]
        if process.counts[member] >= self._active_quota.limit:
            return False
        self.active[member].append(task)
        self._record_active(process.add(member, task))
        return True

    def _record_active(self, count: int) -> None:
        self._active_quota.record(count)
        self._quota.record(count)

    def assign_standbys(self, tasks: Sequence[Task], replicas: int) -> None:
        """Assign each task to as many further processes, as far as there are any."""
        missing: list[tuple[Task, int]] = []
        for task in sorted(tasks, key=model.partition_order, reverse=True):
            for assigned in range(replicas):
                if not any(self._take_standby(task, member) for member in self._previous_owners(task)):
                    missing.append((task, replicas - assigned))
                    break
        by_load = self._by_load()
        for task, count in sorted(missing, key=lambda each: model.text_order(each[0]), reverse=True):
            for _ in range(count):
                if not self._place_standby(task, by_load):
                    break

    def _previous_owners(self, task: Task) -> Iterator[str]:
        """The previous active owner, then the least loaded standby owner, read when the first is not taken."""
        active = self._previous_active.get(task)
        if active is not None:
            yield active
        standby = self._least_loaded(task, without_task=True)
        if standby is not None:
            yield standby

    def _take_standby(self, task: Task, member: str) -> bool:
        process = self._process_of[member]
        if task in process.tasks or process.counts[member] >= self._quota.limit:
            return False
        self.standby[member].append(task)
        self._quota.record(process.add(member, task))
        return True

    def _place_standby(self, task: Task, by_load: JavaPriorityQueue[_Process]) -> bool:
        """Assign a standby to the least loaded process without the task; those passed over return last first."""
        passed: list[_Process] = []
        has_found = False
        while (process := by_load.poll()) is not None:
            passed.append(process)
            if task not in process.tasks:
                member, count = process.add_to_least_loaded(task)
                self.standby[member].append(task)
                self._quota.record(count)
                has_found = True
                break
        for process in reversed(passed):
            by_load.add(process)
        return has_found

    def _least_loaded(self, task: Task, *, without_task: bool) -> str | None:
        """The first previous standby owner of a task, or a later one of less process load and fewer tasks.

        Parameters
        ----------
        without_task : pass over processes that have the task.
        """
        chosen = None
        load, count = inf, inf
        owners = self._previous_standby.get(task, ())
        if without_task and self._rules.asks_first and owners and task in self._process_of[owners[0]].tasks:
            return None
        for member in owners:
            process = self._process_of[member]
            is_free = not without_task or task not in process.tasks
            if is_free and process.load < load and process.counts[member] < count:
                chosen, load, count = member, process.load, process.counts[member]
        return chosen

    def _by_load(self) -> JavaPriorityQueue[_Process]:
        return JavaPriorityQueue(model.load_of, self._processes.values())


def _processes(members: Sequence[StreamsMember], rules: Rules) -> JavaHashMap[str, _Process]:
    """The processes in the order of Kafka's hash map of them, which is made as large as there are members."""
    ids_of: dict[str, list[str]] = {}
    for member in members:
        ids_of.setdefault(member.process_id, []).append(member.id)
    processes: JavaHashMap[str, _Process] = JavaHashMap(STRING, initial_capacity=len(members))
    for process_id, ids in ids_of.items():
        process = _Process(ids)
        if rules.computes_processes:
            processes.compute_if_absent(process_id, lambda made=process: made)  # type: ignore[misc] # bound at once
        else:
            processes[process_id] = process
    return processes


def _ranked_by_offset(members: Sequence[StreamsMember]) -> dict[Task, list[str]]:
    """Standby owners first, then members that only report an offset; each by offset, the greatest first."""
    candidates: dict[Task, list[tuple[bool, int, str]]] = {}
    for member in members:
        standby = frozenset(member.standby)
        for task in standby:
            candidates.setdefault(task, []).append((False, -member.task_offsets.get(task, 0), member.id))
        for task, offset in member.task_offsets.items():
            if task not in standby:
                candidates.setdefault(task, []).append((True, -offset, member.id))
    return {
        task: [member for _, _, member in sorted(ranked, key=lambda each: each[:2])]
        for task, ranked in candidates.items()
    }
