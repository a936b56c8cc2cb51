"""The coordinator's task assignor since 4.2, step by step as `tests/vectors/FORMAT-versions.md` states its rules.

It shares nothing with the product: hash maps are lists of chains, and priority queues are lists.
"""

from collections.abc import Callable, Iterable, Sequence
from fractions import Fraction

from app.core.streams.coordinator.model import StreamsMember, Subtopology, Task


def string_hash(text: str) -> int:
    """`String.hashCode` of a text of characters up to U+FFFF, without sign."""
    code = 0
    for character in text:
        code = (31 * code + ord(character)) % 2**32
    return code


def map_order(keys: Iterable[str], *, capacity: int = 16, computed: bool = False) -> list[str]:
    """A HashMap<String> filled by put, or by computeIfAbsent: new keys are in front, and it grows one key later."""
    size = 1
    while size < capacity:
        size *= 2
    table: list[list[str]] = [[] for _ in range(size)]
    count = 0

    def chain(key: str) -> list[str]:
        code = string_hash(key)
        return table[(code ^ (code >> 16)) % len(table)]

    def grow() -> None:
        nonlocal table
        old, table = table, [[] for _ in range(2 * len(table))]
        for each in old:
            for key in each:
                chain(key).append(key)

    for key in keys:
        if key in chain(key):
            continue
        if computed and count > 3 * len(table) // 4:
            grow()
        chain(key).insert(0 if computed else len(chain(key)), key)
        count += 1
        if not computed and count > 3 * len(table) // 4:
            grow()
    return [key for each in table for key in each]


class Heap:
    """`java.util.PriorityQueue`: a binary heap whose comparisons are strict where Java's are."""

    def __init__(self, key: Callable[[str], Fraction | int], items: Iterable[str]) -> None:
        self._key, self._items = key, list[str]()
        for item in items:
            self.add(item)

    def add(self, item: str) -> None:
        self._items.append(item)
        at = len(self._items) - 1
        while at and self._key(item) < self._key(self._items[(at - 1) // 2]):
            self._items[at] = self._items[(at - 1) // 2]
            at = (at - 1) // 2
        self._items[at] = item

    def poll(self) -> str | None:
        if not self._items:
            return None
        first, last = self._items[0], self._items.pop()
        if not self._items:
            return first
        at = 0
        while 2 * at + 1 < len(self._items):
            child = 2 * at + 1
            if child + 1 < len(self._items) and self._key(self._items[child]) > self._key(self._items[child + 1]):
                child += 1
            if self._key(last) <= self._key(self._items[child]):
                break
            self._items[at] = self._items[child]
            at = child
        self._items[at] = last
        return first


class Group:
    """A group whose tasks are handed out one by one."""

    def __init__(
        self, members: Sequence[StreamsMember], subtopologies: Sequence[Subtopology], standbys: int, *, release: str
    ) -> None:
        by_id = {member.id: member for member in members}
        self.members = [by_id[member] for member in map_order(by_id)]
        self.process_of = {member.id: member.process_id for member in members}
        self.processes = map_order(
            (member.process_id for member in self.members), capacity=len(members), computed=release == "4.4"
        )
        self.of_process = {
            process: map_order(member.id for member in self.members if member.process_id == process)
            for process in self.processes
        }
        self.active: dict[str, list[Task]] = {member.id: [] for member in members}
        self.standby: dict[str, list[Task]] = {member.id: [] for member in members}
        self.within: dict[str, Heap] = {}
        self.release, self.standbys = release, standbys
        self.tasks = [(each.id, number) for each in subtopologies for number in range(each.partitions)]
        self.stateful = [task for task in self.tasks if any(s.id == task[0] and s.is_stateful for s in subtopologies)]
        # Tasks and members that are left, for active tasks alone and for all.
        self.left = [[len(self.tasks), len(members)], [len(self.tasks) + standbys * len(self.stateful), len(members)]]

    def count(self, member: str) -> int:
        return len(self.active[member]) + len(self.standby[member])

    def load(self, process: str) -> Fraction:
        own = self.of_process[process]
        return Fraction(sum(map(self.count, own)), len(own))

    def has(self, process: str, task: Task) -> bool:
        return any(task in self.active[member] + self.standby[member] for member in self.of_process[process])

    def quota(self, which: int) -> int:
        tasks, members = self.left[which]
        return -(-tasks // members) if members else 0

    def record(self, member: str, which: int) -> None:
        if self.count(member) == self.quota(which):
            self.left[which][0] -= self.count(member)
            self.left[which][1] -= 1

    def give(self, task: Task, member: str, tasks: dict[str, list[Task]]) -> None:
        tasks[member].append(task)
        for which in (0, 1) if tasks is self.active else (1,):
            self.record(member, which)

    def give_named(self, task: Task, member: str, tasks: dict[str, list[Task]]) -> None:
        self.within.pop(self.process_of[member], None)
        self.give(task, member, tasks)

    def give_least(self, task: Task, process: str, tasks: dict[str, list[Task]]) -> None:
        if process not in self.within:
            self.within[process] = Heap(self.count, self.of_process[process])
        member = self.within[process].poll()
        assert member is not None
        self.give(task, member, tasks)
        self.within[process].add(member)

    def standby_owners(self, task: Task) -> list[str]:
        """Of the current assignment; since 4.4 by offset, then those that only report one."""
        owners = [member for member in self.members if task in member.standby]
        if self.release == "4.4":
            only = [member for member in self.members if task in member.task_offsets and task not in member.standby]
            for ranked in (owners, only):
                ranked.sort(key=lambda member: -member.task_offsets.get(task, 0))
            owners += only
        return [member.id for member in owners]

    def least_owner(self, owners: Sequence[str]) -> str | None:
        """A later one wins with strictly lower loads of its process and of itself."""
        best = None
        for member in owners:
            if best is None or (
                self.load(self.process_of[member]) < self.load(self.process_of[best])
                and self.count(member) < self.count(best)
            ):
                best = member
        return best

    def active_owner(self, task: Task) -> str | None:
        owners = [member.id for member in self.members if task in member.active]
        return owners[-1] if owners else None

    def assign(self) -> dict[str, tuple[list[Task], list[Task]]]:
        for owner_of in (self.active_owner, lambda task: self.least_owner(self.standby_owners(task))):
            taken = {task for own in self.active.values() for task in own}
            for task in sorted((task for task in self.tasks if task not in taken), key=lambda each: each[::-1]):
                member = owner_of(task)
                if member is not None and self.count(member) < self.quota(0):
                    self.give_named(task, member, self.active)
        taken = {task for own in self.active.values() for task in own}
        queue = Heap(self.load, self.processes)
        for task in sorted(task for task in self.tasks if task not in taken):
            process = queue.poll()
            assert process is not None
            self.give_least(task, process, self.active)
            queue.add(process)
        self.assign_standbys()
        return {member: (sorted(self.active[member]), sorted(self.standby[member])) for member in self.active}

    def assign_standbys(self) -> None:
        missing: list[tuple[Task, int]] = []
        for task in sorted(self.stateful, key=lambda each: each[::-1], reverse=True):
            for done in range(self.standbys):
                owners = [self.active_owner(task)]
                free = [m for m in self.standby_owners(task) if not self.has(self.process_of[m], task)]
                owners.append(self.least_owner(free))
                for member in owners:
                    fits = member is not None and not self.has(self.process_of[member], task)
                    if member is not None and fits and self.count(member) < self.quota(1):
                        self.give_named(task, member, self.standby)
                        break
                else:
                    missing.append((task, self.standbys - done))
                    break
        queue = Heap(self.load, self.processes)
        for task, count in sorted(missing, reverse=True):
            for _ in range(count):
                passed: list[str] = []
                while (process := queue.poll()) is not None and self.has(process, task):
                    passed.append(process)
                if process is not None:
                    self.give_least(task, process, self.standby)
                    queue.add(process)
                for each in reversed(passed):
                    queue.add(each)
