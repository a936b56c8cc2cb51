"""Instances of KafkaBench as integer models, which share with the planner nothing but the instance.

Each function returns a solution and a lower bound for each objective. The bounds hold even if the time is over before a
model is solved to optimality.
"""

from collections import defaultdict
from collections.abc import Callable, Mapping
from math import gcd
from typing import Any

from ortools.sat.python import cp_model

Document = Mapping[str, Any]
Solved = tuple[Document, list[int]]
SECONDS = 60.0
WORKERS = 4
"""More than the cores, since the searches of neighbourhoods are workers of their own."""


def reassigned(instance: Document, seconds: float = SECONDS) -> Solved:
    """The least moved bytes or leader changes: Booleans for the replicas and the leader of each partition."""
    rules, model = instance["rules"], cp_model.CpModel()
    topics, receivers = instance["snapshot"]["topics"], rules["receivers"]
    unit = gcd(*(each["size_bytes"] for topic in topics for each in topic["partitions"]))
    loads: dict[tuple[str, str | None], dict[int, list[Any]]] = defaultdict(lambda: defaultdict(list))
    on: dict[tuple[str, int], dict[int, tuple[Any, Any]]] = {}
    cost = []
    for topic in topics:
        for partition in topic["partitions"]:
            before, rate = partition["replicas"], partition["ingress_bytes_per_s"]
            size, place = partition["size_bytes"] // unit, {}
            by_rack: dict[str, list[Any]] = defaultdict(list)
            for broker in receivers or before:
                is_on, leads = place[broker] = model.new_bool_var(""), model.new_bool_var("")
                model.add_implication(leads, is_on)
                model.add_hint(is_on, broker in before)
                by_rack[rules["racks"][str(broker)]].append(is_on)
                loads["replicas", None][broker].append(is_on)
                loads["replicas", topic["name"]][broker].append(is_on)
                loads["leaders", None][broker].append(leads)
                loads["disk", None][broker].append(size * is_on)
                loads["nic_in", None][broker].append(rate * is_on)
                loads["nic_out", None][broker].append(rate * len(before) * leads)
                if rules["objectives"] == ["moved_bytes"] and broker not in before:
                    cost.append(size * is_on)
                if rules["objectives"] == ["leader_changes"] and broker != before[0]:
                    cost.append(leads)
            model.add(sum(is_on for is_on, _ in place.values()) == len(before))
            model.add_exactly_one(leads for _, leads in place.values())
            for inside in by_rack.values() if receivers else ():  # a factor is at most the number of racks
                model.add_at_most_one(inside)
            on[topic["name"], partition["partition"]] = place
    for band in rules["bands"]:
        scale = unit if band["load"] == "disk" else 1
        for broker in receivers or [int(broker) for broker in rules["racks"]]:
            terms = sum(loads[band["load"], band.get("topic")][broker])
            model.add_linear_constraint(terms, -(-band["low"] // scale), band["high"] // scale)
    value_of, bound = _solved(model, sum(cost), seconds)
    lists = []
    for (name, number), place in on.items():
        chosen = [broker for broker in place if value_of(place[broker][0])]
        chosen.sort(key=lambda broker: not value_of(place[broker][1]))
        lists.append({"topic": name, "partition": number, "replicas": chosen})
    return {"partitions": lists}, [bound * (unit if rules["objectives"] == ["moved_bytes"] else 1)]


def log_dirs(instance: Document, seconds: float = SECONDS) -> Solved:
    """The least bytes moved between directories: a model for each broker."""
    rules = instance["rules"]["log_dirs"]
    held: dict[int, list[tuple[dict[str, Any], int, int, str]]] = defaultdict(list)
    lists = []
    for topic in instance["snapshot"]["topics"]:
        for each in topic["partitions"]:
            row = {"topic": topic["name"], "partition": each["partition"], "replicas": each["replicas"]}
            lists.append(row | {"log_dirs": ["any"] * len(each["replicas"])})
            for place, (broker, path) in enumerate(zip(each["replicas"], each["log_dirs"], strict=True)):
                held[broker].append((lists[-1], place, each["size_bytes"], path))
    total = 0
    for broker, replicas in held.items():
        model, moved = cp_model.CpModel(), []
        unit = gcd(*(size for *_, size, _ in replicas))
        paths = [path for path in rules["paths"] if path not in rules["drain"].get(str(broker), ())]
        inside = [{path: model.new_bool_var("") for path in paths} for _ in replicas]
        for (*_, size, path), choice in zip(replicas, inside, strict=True):
            model.add_exactly_one(choice.values())
            for other, chosen in choice.items():
                model.add_hint(chosen, other == path)
            moved += [size // unit * chosen for other, chosen in choice.items() if other != path]
        for path in paths:
            filled = [size // unit * choice[path] for (*_, size, _), choice in zip(replicas, inside, strict=True)]
            model.add(sum(filled) <= rules["high"][str(broker)] // unit)
        value_of, bound = _solved(model, sum(moved), seconds / len(held))
        total += bound * unit
        for (row, place, _, path), choice in zip(replicas, inside, strict=True):
            [now] = [other for other, chosen in choice.items() if value_of(chosen)]
            row["log_dirs"][place] = "any" if now == path else now
    return {"partitions": lists}, [total]


def assigned(instance: Document, seconds: float = SECONDS) -> Solved:
    """The fewest partitions read across racks, then the fewest moved, of members that are balanced by count."""
    members, model = instance["rules"]["members"], cp_model.CpModel()
    racks = {
        (topic, number): racks
        for topic, partitions in instance["rules"]["partitions"].items()
        for number, racks in enumerate(partitions)
    }
    on = {key: {name: model.new_bool_var("") for name in members} for key in racks}
    low, high = len(racks) // len(members), -(-len(racks) // len(members))
    for choice in on.values():
        model.add_exactly_one(choice.values())
    for name in members:
        model.add_linear_constraint(sum(choice[name] for choice in on.values()), low, high)
    crossed = [on[key][name] for key in on for name in members if members[name]["rack"] not in racks[key]]
    stays = [
        on[topic, number][name]
        for name in members
        for topic, owned in members[name]["owned"].items()
        for number in owned
    ]
    owned = len(stays)  # each partition has an owner
    value_of, bounds = _in_turn(model, [sum(crossed), owned - sum(stays)], seconds)
    assignment: dict[str, dict[str, list[int]]] = {name: defaultdict(list) for name in members}
    for (topic, number), choice in on.items():
        assignment[next(name for name in members if value_of(choice[name]))][topic].append(number)
    return {"assignment": assignment}, bounds


def standbys(instance: Document, seconds: float = SECONDS) -> Solved:
    """The least imbalance of standbys, then the fewest restored copies; active tasks stay."""
    rules, model = instance["rules"], cp_model.CpModel()
    clients, restored = rules["clients"], []
    on = {task: {name: model.new_bool_var("") for name in clients} for task in rules["tasks"]}
    for task, choice in on.items():
        model.add(sum(choice.values()) == rules["standbys"])
        for zone in {each["zone"] for each in clients.values()}:
            inside = [name for name in clients if clients[name]["zone"] == zone]
            is_active = any(task in clients[name]["active"] for name in inside)
            model.add(sum(choice[name] for name in inside) <= 1 - is_active)
        restored += [choice[name] for name in clients if task not in clients[name]["standby"]]
    squares = []
    for name in clients:
        count = model.new_int_var(0, len(on), "")
        model.add(count == sum(choice[name] for choice in on.values()))
        squares.append(model.new_int_var(0, len(on) ** 2, ""))
        model.add_multiplication_equality(squares[-1], [count, count])
    value_of, bounds = _in_turn(model, [sum(squares), sum(restored)], seconds)
    return {
        "assignment": {
            name: {"active": each["active"], "standby": [task for task in on if value_of(on[task][name])]}
            for name, each in clients.items()
        }
    }, bounds


def consumers(instance: Document, seconds: float = SECONDS) -> Solved:
    """The fewest consumers of each interval, then the least rate moved between all intervals.

    The first bound is a sum of bounds of bin packing, the second one that of the model of all intervals with these
    numbers of consumers.
    """
    rules = instance["rules"]
    [(topic, series)] = rules["bytes_per_s"].items()
    capacity, total, packed = rules["capacity_bytes_per_s"], 0, list[list[int]]()
    intervals = [list(rates) for rates in zip(*series, strict=True)]
    for rates in intervals:
        bound = count = max(-(-sum(rates) // capacity), sum(2 * rate > capacity for rate in rates))
        readers = None
        while readers is None:
            try:
                [readers], _ = _packed([rates], [count], capacity, packed[-1:], seconds / len(intervals), packed[-1:])
            except NotSolved as failure:
                bound += failure.is_impossible and bound == count
                count += 1
        packed.append(readers)
        total += bound
    counts = [len(set(readers)) for readers in packed]
    packed, moved = _packed(intervals, counts, capacity, [], seconds, packed)
    return {"intervals": [{"assignment": _assignment(topic, readers)} for readers in packed]}, [total, moved]


def _assignment(topic: str, readers: list[int]) -> Document:
    names = sorted(set(readers))
    return {f"c-{name}": {topic: [number for number, each in enumerate(readers) if each == name]} for name in names}


def _packed(
    intervals: list[list[int]],
    counts: list[int],
    capacity: int,
    before: list[list[int]],
    seconds: float,
    hint: list[list[int]],
) -> tuple[list[list[int]], int]:
    """The consumer of each partition in each interval with the least moved rate, and the lower bound of that rate.

    Parameters
    ----------
    intervals, counts : the rates of the partitions, and the largest number of consumers, of each interval.
    before : the consumers of the partitions in the interval before the first one, if there is one.
    hint : a solution to begin with, or none.

    Raises
    ------
    NotSolved
    """
    model, moved = cp_model.CpModel(), []
    names = range(max([*counts, *(1 + max(readers) for readers in before)]))
    on = [[[model.new_bool_var("") for _ in names] for _ in rates] for rates in intervals]
    earlier: list[Any] = [[[reader == name for name in names] for reader in readers] for readers in before]
    for place, (rates, count) in enumerate(zip(intervals, counts, strict=True)):
        used = [model.new_bool_var("") for _ in names]
        model.add(sum(used) <= count)
        for name in names if hint else ():
            model.add_hint(used[name], name in hint[place])
        for name in names:
            model.add(sum(rate * on[place][row][name] for row, rate in enumerate(rates)) <= capacity * used[name])
        for row, rate in enumerate(rates):
            model.add_exactly_one(on[place][row])
            for name in names if hint else ():
                model.add_hint(on[place][row][name], name == hint[place][row])
            if earlier:
                moves = model.new_bool_var("")
                for name in names:
                    model.add(on[place][row][name] - earlier[-1][row][name] <= moves)
                moved.append(rate * moves)
                if len(hint) == len(intervals) > 1:
                    model.add_hint(moves, hint[place][row] != hint[place - 1][row])
        earlier.append(on[place])
    value_of, bound = _solved(model, sum(moved), seconds)
    return [[next(name for name in names if value_of(row[name])) for row in rows] for rows in on], bound


def _in_turn(model: cp_model.CpModel, costs: list[Any], seconds: float) -> tuple[Callable[[Any], int], list[int]]:
    """Minimise each cost among the solutions that are best for those before it. Raises `NotSolved`."""
    bounds = []
    for cost in costs:
        value_of, bound = _solved(model, cost, seconds)
        bounds.append(bound)
        model.add(cost <= value_of(cost))
    return value_of, bounds


class NotSolved(Exception):
    """No solution was found in the time; `is_impossible` if it is proven that no solution exists."""

    def __init__(self, status: Any) -> None:
        super().__init__(str(status))
        self.is_impossible = status == cp_model.INFEASIBLE


def _solved(model: cp_model.CpModel, cost: Any, seconds: float) -> tuple[Callable[[Any], int], int]:
    """What reads a variable of the best solution, and the lower bound of the cost. Raises `NotSolved`."""
    model.minimize(cost)
    solver = cp_model.CpSolver()
    solver.parameters.num_workers = WORKERS
    solver.parameters.symmetry_level = 0
    solver.parameters.max_time_in_seconds = seconds
    status = solver.solve(model)
    if status not in (cp_model.OPTIMAL, cp_model.FEASIBLE):
        raise NotSolved(status)
    return solver.value, round(solver.best_objective_bound)
