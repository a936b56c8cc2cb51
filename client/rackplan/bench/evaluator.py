"""The judge of KafkaBench: the values of a solution, and everything in which it breaks the rules of its instance.

It imports no planner and computes nothing but sums, so that every planner is judged by the same arithmetic.
"""

from collections import Counter, defaultdict
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from rackplan.bench.solutions import MalformedSolution, assignment_of, lists_of

Rules = Mapping[str, Any]
Solution = Mapping[str, Any]
Key = tuple[str, int]


@dataclass(frozen=True)
class Violation:
    """A rule that a solution breaks: its code, and the partition, task, broker or member that breaks it."""

    code: str
    where: str


@dataclass(frozen=True)
class Score:
    """The values of the objectives, of which an earlier one counts before all later ones, and the violations."""

    values: tuple[int, ...]
    violations: tuple[Violation, ...]

    @property
    def is_feasible(self) -> bool:
        """Whether the solution keeps every rule."""
        return not self.violations


def evaluate(instance: Mapping[str, Any], solution: Solution) -> Score:
    """Judge a solution by the rules of its instance. Raises `MalformedSolution` if it has another form."""
    rules = instance["rules"]
    values, violations = _FORMS[rules["form"]](instance, rules, solution)
    return Score(tuple(values), tuple(violations))


def _reassignment(instance: Mapping[str, Any], rules: Rules, solution: Solution) -> tuple[list[int], list[Violation]]:
    topics = instance["snapshot"]["topics"]
    current = {(topic["name"], each["partition"]): each for topic in topics for each in topic["partitions"]}
    listed = lists_of(solution)
    violations = [Violation("unknown_partition", _name(key)) for key, *_ in listed if key not in current]
    violations += _repeated(key for key, *_ in listed)
    after = {key: partition["replicas"] for key, partition in current.items()}
    after |= {key: replicas for key, replicas, _ in listed if key in current}
    receivers, racks = set(rules["receivers"]), rules["racks"]
    spannable = len({racks[str(broker)] for broker in receivers})
    for key, partition in current.items():
        before, chosen = partition["replicas"], after[key]
        violations += _of_list(_name(key), before, chosen, receivers or set(before), racks)
        if len({racks.get(str(broker)) for broker in chosen}) < min(len(before), spannable):
            violations.append(Violation("too_few_racks", _name(key)))
    violations += _outside_bands(rules, current, after)
    moved = changes = 0
    for key, partition in current.items():
        moved += partition["size_bytes"] * len(set(after[key]) - set(partition["replicas"]))
        changes += after[key][:1] != partition["replicas"][:1]
    values = {"moved_bytes": moved, "leader_changes": changes}
    if "log_dirs" in rules:
        values["moved_log_dir_bytes"], over = _log_dirs(rules, current, after, {key: dirs for key, _, dirs in listed})
        violations += over
    return [values[name] for name in rules["objectives"]], violations


def _of_list(
    name: str, before: Sequence[int], after: Sequence[int], allowed: Container[int], racks: Mapping[str, str]
) -> Iterator[Violation]:
    if len(set(after)) < len(after):
        yield Violation("repeated_broker", name)
    if len(after) != len(before):
        yield Violation("replication_factor", name)
    for broker in after:
        if str(broker) not in racks:
            yield Violation("unknown_broker", f"{name}: {broker}")
        elif broker not in allowed:
            yield Violation("broker_not_allowed", f"{name}: {broker}")


def _outside_bands(
    rules: Rules, current: Mapping[Key, Mapping[str, int]], after: Mapping[Key, Sequence[int]]
) -> Iterator[Violation]:
    """Of each load, and of a topic's replicas, the brokers that are above or below their band."""
    loads: dict[tuple[str, str | None], Counter[int]] = defaultdict(Counter)
    for (topic, partition), replicas in after.items():
        size, rate = (current[topic, partition][name] for name in ("size_bytes", "ingress_bytes_per_s"))
        for broker in replicas:
            loads["replicas", topic][broker] += 1
            loads["replicas", None][broker] += 1
            loads["disk", None][broker] += size
            loads["nic_in", None][broker] += rate
        for leader in replicas[:1]:
            loads["leaders", None][leader] += 1
            loads["nic_out", None][leader] += rate * len(replicas)
    brokers = rules["receivers"] or [int(broker) for broker in rules["racks"]]
    for band in rules["bands"]:
        load, topic = band["load"], band.get("topic")
        for broker in brokers:
            value = loads[load, topic][broker]
            if not band["low"] <= value <= band["high"]:
                of = f" of {topic}" if topic else ""
                where = f"broker {broker}: {load}{of} {value}, band {band['low']} to {band['high']}"
                yield Violation("outside_band", where)


def _log_dirs(
    rules: Rules,
    current: Mapping[Key, Mapping[str, Any]],
    after: Mapping[Key, Sequence[int]],
    stated: Mapping[Key, Sequence[str] | None],
) -> tuple[int, list[Violation]]:
    moved, violations, used = 0, list[Violation](), Counter[tuple[int, str]]()
    limits, drained = rules["log_dirs"]["high"], rules["log_dirs"]["drain"]
    paths = rules["log_dirs"]["paths"]
    for key, partition in current.items():
        before = dict(zip(partition["replicas"], partition["log_dirs"], strict=True))
        named = stated.get(key) or ["any"] * len(after[key])
        for broker, path in zip(after[key], named, strict=True):
            now = before.get(broker, path) if path == "any" else path
            if now not in paths:
                violations.append(Violation("unknown_log_dir", f"{_name(key)}: broker {broker}, {now}"))
                continue
            used[broker, now] += partition["size_bytes"]
            moved += partition["size_bytes"] * (now != before.get(broker))
            if now in drained.get(str(broker), ()):
                violations.append(Violation("log_dir_not_empty", f"{_name(key)}: broker {broker}, {now}"))
    for (broker, path), held in sorted(used.items()):
        if held > limits.get(str(broker), held):
            violations.append(
                Violation("outside_band", f"broker {broker}, {path}: {held} bytes, limit {limits[str(broker)]}")
            )
    return moved, violations


def _group(_: Mapping[str, Any], rules: Rules, solution: Solution) -> tuple[list[int], list[Violation]]:
    members, partitions = rules["members"], rules["partitions"]
    racks = {(topic, number): racks for topic, each in partitions.items() for number, racks in enumerate(each)}
    read, violations = _holders(assignment_of(solution), members, racks)
    counts = Counter(member for _, member in read)
    low, high = len(racks) // len(members), -(-len(racks) // len(members))
    for member in members:
        if not low <= counts[member] <= high:
            where = f"{member}: {counts[member]} partitions, band {low} to {high}"
            violations.append(Violation("outside_band", where))
    owner = {
        (topic, number): name
        for name, member in members.items()
        for topic, owned in member["owned"].items()
        for number in owned
    }
    cross = sum(members[member]["rack"] not in racks[key] for key, member in read)
    return [cross, sum(owner.get(key, member) != member for key, member in read)], violations


def _streams(_: Mapping[str, Any], rules: Rules, solution: Solution) -> tuple[list[int], list[Violation]]:
    clients, copies = rules["clients"], defaultdict[str, list[str]](list)
    imbalance, restored, violations = 0, 0, list[Violation]()
    for client, held in assignment_of(solution).items():
        if client not in clients:
            violations.append(Violation("unknown_client", client))
            continue
        before, active, standby = clients[client], held.get("active", []), held.get("standby", [])
        if not all(isinstance(task, str) for task in [*active, *standby]):
            raise MalformedSolution(f"the tasks of {client} are not a list of ids")
        moved = sorted(set(active) ^ set(before["active"]))
        violations += [Violation("active_task_moved", f"{client}: {task}") for task in moved]
        imbalance += len(standby) ** 2
        restored += len(set(standby) - {*before["active"], *before["standby"]})
        for task in [*active, *standby]:
            copies[task].append(client)
    violations += [Violation("unknown_task", task) for task in sorted(copies.keys() - set(rules["tasks"]))]
    for task in rules["tasks"]:
        if len(copies[task]) != 1 + rules["standbys"]:
            violations.append(Violation("number_of_copies", f"{task}: {len(copies[task])}"))
        if len({clients[client]["zone"] for client in copies[task]}) < len(copies[task]):
            violations.append(Violation("zone_repeated", f"{task}: {', '.join(copies[task])}"))
    return [imbalance, restored], violations


def _consumers(_: Mapping[str, Any], rules: Rules, solution: Solution) -> tuple[list[int], list[Violation]]:
    intervals = solution.get("intervals")
    if not isinstance(intervals, list) or len(intervals) != rules["intervals"]:
        raise MalformedSolution(f"`intervals` has to be a list of {rules['intervals']} assignments")
    rates = {
        (topic, number): series for topic, each in rules["bytes_per_s"].items() for number, series in enumerate(each)
    }
    consumers = moved = 0
    violations, before = list[Violation](), dict[Key, str]()
    for place, interval in enumerate(intervals):
        read, wrong = _holders(assignment_of(interval), None, rates)
        violations += [Violation(each.code, f"interval {place}: {each.where}") for each in wrong]
        loads: Counter[str] = Counter()
        for key, consumer in read:
            loads[consumer] += rates[key][place]
            moved += rates[key][place] * (before.get(key, consumer) != consumer)
        consumers += len(loads)
        before = dict(read)
        violations += [
            Violation("above_capacity", f"interval {place}: {consumer} reads {load} bytes/s")
            for consumer, load in loads.items()
            if load > rules["capacity_bytes_per_s"]
        ]
    return [consumers, moved], violations


def _holders(
    assignment: Mapping[str, Mapping[str, Sequence[Any]]], known: Iterable[str] | None, partitions: Iterable[Key]
) -> tuple[list[tuple[Key, str]], list[Violation]]:
    """The reader of each known partition, and what is wrong: each partition has one, which is known."""
    read, violations, expected = list[tuple[Key, str]](), list[Violation](), set(partitions)
    for holder, topics in assignment.items():
        if known is not None and holder not in known:
            violations.append(Violation("unknown_member", holder))
            continue
        read += [((topic, number), holder) for topic, numbers in topics.items() for number in numbers]
    violations += [Violation("unknown_partition", _name(key)) for key, _ in read if key not in expected]
    violations += _repeated(key for key, _ in read)
    violations += [Violation("unassigned_partition", _name(key)) for key in sorted(expected - {key for key, _ in read})]
    return [each for each in read if each[0] in expected], violations


def _repeated(keys: Iterable[Key]) -> list[Violation]:
    return [Violation("repeated_partition", _name(key)) for key, count in Counter(keys).items() if count > 1]


def _name(key: Key) -> str:
    return f"{key[0]}-{key[1]}"


_FORMS: Mapping[str, Callable[[Mapping[str, Any], Rules, Solution], tuple[list[int], list[Violation]]]] = {
    "reassignment": _reassignment,
    "group": _group,
    "streams": _streams,
    "consumers": _consumers,
}
