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


def consumers(instance: Document, seconds: float = SECONDS) -> Solved:
    """The fewest consumers of each interval, then the least rate moved from the interval before.

    The first bound is a sum of bounds of bin packing. The second is 0, since other assignments of earlier intervals may
    move less.
    """
    rules = instance["rules"]
    [(topic, rates)] = rules["bytes_per_s"].items()
    capacity, total = rules["capacity_bytes_per_s"], 0
    before: dict[int, int] = {}
    intervals = []
    for place in range(rules["intervals"]):
        now = [series[place] for series in rates]
        bound = count = max(-(-sum(now) // capacity), sum(2 * rate > capacity for rate in now))
        packed = None
        while packed is None:
            packed, is_impossible = _packed(now, count, capacity, before, seconds / rules["intervals"])
            bound += is_impossible and bound == count
            count += 1
        total += bound
        before = packed
        assignment: dict[str, dict[str, list[int]]] = {}
        for number, consumer in sorted(packed.items()):
            assignment.setdefault(f"c-{consumer}", {topic: []})[topic].append(number)
        intervals.append({"assignment": assignment})
    return {"intervals": intervals}, [total, 0]


def _packed(
    rates: list[int], count: int, capacity: int, before: dict[int, int], seconds: float
) -> tuple[dict[int, int] | None, bool]:
    """A consumer for each partition with the least moved rate, if one is found, and whether there is proof of none."""
    model = cp_model.CpModel()
    names = range(max(count, 1 + max(before.values(), default=0)))
    on = [[model.new_bool_var("") for _ in names] for _ in rates]
    is_used = [model.new_bool_var("") for _ in names]
    model.add(sum(is_used) <= count)
    for choice in on:
        model.add_exactly_one(choice)
    for place, used in enumerate(is_used):
        model.add(sum(rate * choice[place] for rate, choice in zip(rates, on, strict=True)) <= capacity * used)
    moved = []
    for number, (rate, choice) in enumerate(zip(rates, on, strict=True)):
        for name, chosen in zip(names, choice, strict=True):
            model.add_hint(chosen, before.get(number) == name)
            moved += [rate * chosen] if before and before[number] != name else []
    try:
        value_of, _ = _solved(model, sum(moved), seconds)
    except NotSolved as failure:
        return None, failure.is_impossible
    return {number: next(name for name in names if value_of(choice[name])) for number, choice in enumerate(on)}, False


class NotSolved(Exception):
    """No solution was found in the time; `is_impossible` if there is none."""

    def __init__(self, status: Any) -> None:
        super().__init__(str(status))
        self.is_impossible = status == cp_model.INFEASIBLE


def _solved(model: cp_model.CpModel, cost: Any, seconds: float) -> tuple[Callable[[Any], int], int]:
    """What reads a variable of the best solution, and the lower bound of the cost. Raises `NotSolved`."""
    model.minimize(cost)
    solver = cp_model.CpSolver()
    solver.parameters.num_workers = 1
    solver.parameters.max_time_in_seconds = seconds
    status = solver.solve(model)
    if status not in (cp_model.OPTIMAL, cp_model.FEASIBLE):
        raise NotSolved(status)
    return solver.value, round(solver.best_objective_bound)
