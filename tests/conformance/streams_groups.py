"""Cases of the coordinator's task assignor for streams groups (KIP-1071)."""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from typing import Any

from app.core.streams.coordinator import sticky_by_load, sticky_by_pairs
from app.core.streams.coordinator.model import AssignGroupTasks, MemberTasks, StreamsMember, Subtopology, Task
from tests.conformance.standby_replicas import standby_replicas


def _tasks(listed: Iterable[tuple[str, list[int]]]) -> tuple[Task, ...]:
    return tuple((subtopology, partition) for subtopology, partitions in listed for partition in partitions)


def _member(given: Mapping[str, Any]) -> StreamsMember:
    offsets = {
        (subtopology, partition): offset
        for subtopology, reported in given.get("task_offsets") or ()
        for partition, offset in reported
    }
    active, standby = (_tasks(given.get(role) or ()) for role in ("active", "standby"))
    return StreamsMember(given["id"], given["process_id"], active, standby, offsets)


def _listed(tasks: Iterable[Task]) -> list[list[Any]]:
    by_subtopology: dict[str, list[int]] = {}
    for subtopology, partition in tasks:
        by_subtopology.setdefault(subtopology, []).append(partition)
    return [[subtopology, partitions] for subtopology, partitions in by_subtopology.items()]


def _roles(tasks: MemberTasks) -> dict[str, Any]:
    return {"active": _listed(tasks.active), "standby": _listed(tasks.standby), "warmup": []}


def _answer(assign: AssignGroupTasks) -> Callable[[Mapping[str, Any]], Any]:
    def answer(given: Mapping[str, Any]) -> Any:
        subtopologies = [
            Subtopology(each["id"], each["n_partitions"], each["stateful"]) for each in given["subtopologies"]
        ]
        members = [_member(member) for member in given["members"]]
        assignment = assign(members, subtopologies, num_standby_replicas=standby_replicas(given["configs"]))
        return {"assignment": {member: _roles(tasks) for member, tasks in assignment.members.items()}}

    return answer


def _is_as_good(given: Mapping[str, Any], expected: Any, answered: Any) -> bool:
    """Whether an assignment by chance has the common properties of all runs of Kafka's code.

    The same members; every task as often active and standby as in the measured answer; copies of a task on distinct
    processes; members as balanced in active tasks, but for one.
    """
    process_of = {member["id"]: member["process_id"] for member in given["members"]}
    measured, ours = (_by_role(answer["assignment"]) for answer in (expected, answered))
    copies = [(process_of[member], task) for role in ours.values() for member, task in role]
    return (
        expected["assignment"].keys() == answered["assignment"].keys()
        and all(_tasks_in(ours[role]) == _tasks_in(measured[role]) for role in ours)
        and len(copies) == len(set(copies))
        and _spread(ours["active"], process_of) <= _spread(measured["active"], process_of) + 1
    )


def _by_role(assignment: Mapping[str, Any]) -> dict[str, list[tuple[str, Task]]]:
    return {
        role: [(member, task) for member, roles in assignment.items() for task in _tasks(roles[role])]
        for role in ("active", "standby", "warmup")
    }


def _tasks_in(pairs: Iterable[tuple[str, Task]]) -> list[Task]:
    return sorted(task for _, task in pairs)


def _spread(pairs: Iterable[tuple[str, Task]], members: Iterable[str]) -> int:
    """The difference between the members with the most and the fewest tasks."""
    counts = Counter(member for member, _ in pairs)
    sizes = [counts[member] for member in members]
    return max(sizes, default=0) - min(sizes, default=0)


INVARIANTS: Mapping[str, Callable[[Mapping[str, Any], Any, Any], bool]] = {"streams_group_sticky_4_1": _is_as_good}
"""The compared properties if Kafka's own answer differs from run to run (`hash_sensitivity: identity`)."""

ANSWERS: Mapping[str, Callable[[Mapping[str, Any]], Any]] = {
    "streams_group_sticky_4_1": _answer(sticky_by_pairs.assign),
    "streams_group_sticky_4_2": _answer(partial(sticky_by_load.assign, rules=sticky_by_load.SINCE_4_2_2)),
    "streams_group_sticky_4_3": _answer(partial(sticky_by_load.assign, rules=sticky_by_load.SINCE_4_3)),
    "streams_group_sticky_4_4": _answer(partial(sticky_by_load.assign, rules=sticky_by_load.SINCE_4_4)),
}
